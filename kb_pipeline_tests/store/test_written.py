"""What a build need not read again, because it has just written it."""

from pathlib import Path

import pytest

from kb_pipeline.errors import StoreError
from kb_pipeline.records import Item
from kb_pipeline.store.commits import Group
from kb_pipeline.store.kb import Kb


@pytest.fixture
def kb(tmp_path: Path) -> Kb:
    return Kb(tmp_path)


def publish(kb: Kb, *statements: str) -> list[Path]:
    """Commit an item a statement; their files."""
    groups = [Group(key=f"kb_{n}", records=(Item(id=f"kb_{n}", statement=s),)) for n, s in enumerate(statements)]
    kb.commit("tags", None, kb.manifest("tags"), groups)
    return [kb.folder / min(entry.outputs) for entry in kb.manifest("tags")]


def statement(kb: Kb, key: str = "kb_0") -> str:
    entry = kb.manifest("tags")[key]
    assert kb.present(entry)
    (read,) = kb.read("tags", entry)
    assert isinstance(read, Item)
    return read.statement


def save(path: Path, before: str, after: str) -> None:
    path.write_text(path.read_text().replace(before, after))


def test_what_a_person_wrote_before_the_first_look_is_seen(kb: Kb) -> None:
    """A file that is not as the commit left it is read from disk."""
    with kb.written.holding():
        (path,) = publish(kb, "A fact.")
        save(path, "A fact.", "A person's fact.")
        assert statement(kb) == "A person's fact."


def test_a_file_that_was_looked_at_is_not_opened_again(kb: Kb) -> None:
    """What a person changes or removes later in a build is for the next one."""
    with kb.written.holding():
        one, two = publish(kb, "A fact.", "Another fact.")
        assert (statement(kb, "kb_0"), statement(kb, "kb_1")) == ("A fact.", "Another fact.")
        save(one, "A fact.", "A person's fact.")
        two.unlink()
        assert (statement(kb, "kb_0"), statement(kb, "kb_1")) == ("A fact.", "Another fact.")
    assert statement(kb) == "A person's fact."
    assert not kb.present(kb.manifest("tags")["kb_1"])
    with pytest.raises(StoreError, match="is missing"):
        kb.read("tags", kb.manifest("tags")["kb_1"])


def test_a_file_removed_before_the_first_look_is_gone(kb: Kb) -> None:
    """Nothing is taken to stand where nothing does."""
    with kb.written.holding():
        (path,) = publish(kb, "A fact.")
        path.unlink()
        assert not kb.present(kb.manifest("tags")["kb_0"])


def test_the_last_commit_counts(kb: Kb) -> None:
    """Of what was written twice the newer is read; what the second commit left alone is read from disk."""
    with kb.written.holding():
        publish(kb, "A fact.", "Another fact.")
        assert statement(kb, "kb_1") == "Another fact."
        _, path = publish(kb, "A newer fact.", "Another fact.")
        assert statement(kb) == "A newer fact."
        save(path, "Another fact.", "A person's fact.")
        assert statement(kb, "kb_1") == "A person's fact."


def test_nothing_is_held_between_builds(kb: Kb) -> None:
    """Where others may write, every read is one from disk; a build within a build ends with the outer one."""
    (path,) = publish(kb, "A fact.")
    assert statement(kb) == "A fact."
    save(path, "A fact.", "A person's fact.")
    assert statement(kb) == "A person's fact."
    with kb.written.holding():
        with kb.written.holding():
            publish(kb, "A newer fact.")
            assert statement(kb) == "A person's fact."
        path.unlink()
        assert kb.present(kb.manifest("tags")["kb_0"])
    assert not kb.present(kb.manifest("tags")["kb_0"])
