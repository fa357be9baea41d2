"""Large files that are read often: parsed once, and the lines of what did not change written back."""

from pathlib import Path

from kb_pipeline.records import Cluster, Occurrence
from kb_pipeline.store.codecs import json_lines
from kb_pipeline.store.commits import Group
from kb_pipeline.store.files import file_hash
from kb_pipeline.store.kb import Kb
from kb_pipeline.store.parsed import Parsed


def cluster(key: str, topic: str = "") -> Cluster:
    return Cluster(
        id=key, occurrences=(Occurrence(draft="d", text_key="t", doc_id="s/a", chunk_hash="c", topic=topic),)
    )


def publish(kb: Kb, *clusters: Cluster) -> bytes:
    """The bytes that stand after ``clusters`` were published."""
    kb.commit("dedup", None, kb.manifest("dedup"), [Group(key="clusters", records=clusters)])
    return (kb.folder / "dedup" / "clusters.jsonl").read_bytes()


def test_a_file_is_parsed_once_while_it_stays_the_same(tmp_path: Path) -> None:
    """Who reads it again gets the same records, and new ones where it was written since."""
    publish(Kb(tmp_path), cluster("kb_1"))
    kb = Kb(tmp_path)
    entry = kb.manifest("dedup")["clusters"]
    first = kb.read("dedup", entry)
    assert kb.read("dedup", entry) is first
    (kb.folder / "dedup" / "clusters.jsonl").write_bytes(json_lines([cluster("kb_1", "another")]))
    assert kb.read("dedup", entry) == (cluster("kb_1", "another"),)


def test_only_what_changed_is_encoded_again(tmp_path: Path) -> None:
    """Records that are handed on as they were read keep their lines; the bytes are those of a first commit."""
    publish(Kb(tmp_path), cluster("kb_1"), cluster("kb_2"), cluster("kb_3"))
    kb = Kb(tmp_path)
    one, _, three = kb.read("dedup", kb.manifest("dedup")["clusters"])
    assert isinstance(one, Cluster)
    assert isinstance(three, Cluster)
    now = (one, cluster("kb_2", "moved"), three, cluster("kb_4"))
    assert publish(kb, *now) == json_lines(now) == publish(Kb(tmp_path / "fresh"), *now)


def test_lines_are_taken_from_our_own_bytes_alone(tmp_path: Path) -> None:
    """A file that says the same in other bytes gives no lines, so that it is written as we write it."""
    said, foreign = json_lines([cluster("kb_1")]), json_lines([cluster("kb_1")]).replace(b":", b": ")
    record, parsed = cluster("kb_1"), Parsed(tmp_path)
    for data, lines in ((said, {id(record): said.rstrip()}), (foreign, {})):
        (tmp_path / "clusters.jsonl").write_bytes(data)
        parsed.put("clusters.jsonl", (record,), data)
        assert parsed.lines({"clusters.jsonl": file_hash(said)}) == lines
