"""The dedup stage over inputs in memory: what a change reaches, and that it gives what a build from scratch gives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.engines.extractive.judge import judge_pairs
from kb_pipeline.errors import StoreError
from kb_pipeline.records import (
    Cluster,
    Conflict,
    DedupDecision,
    Draft,
    Extraction,
    HumanDecision,
    Meta,
    Pair,
    Record,
    Verdict,
)
from kb_pipeline.rules import pairs as pairs_rules
from kb_pipeline.rules.clusters import vetoes
from kb_pipeline.rules.ids import digest, draft_hash, item_id
from kb_pipeline.services.embedder import open_embedder
from kb_pipeline.services.pool import WorkerPool
from kb_pipeline.settings import Options, Settings
from kb_pipeline.stages import dedup
from kb_pipeline.store.codecs import json_lines
from kb_pipeline.world import Changes, Output, World
from kb_pipeline_tests.fakes import FixedClock

Sources = Mapping[str, tuple[tuple[str, ...], str | None]]
"""A document's paragraphs (a chunk each; ``|`` separates drafts, ``#`` a context) and its effective date, by id."""


@dataclass
class Memory:
    """Inputs held in memory; ``read`` lists the documents whose drafts were asked for."""

    sources: Sources
    read: list[str] = field(default_factory=list)

    def keys(self, stage: str) -> list[str]:
        return sorted(self.sources)

    def encoded(self, stage: str, key: str) -> bytes:
        return json_lines(self.records(stage, key))

    def broken(self, stage: str, key: str) -> bool:
        return False

    def faults(self, stage: str) -> Mapping[str, str]:
        return {}

    def records(self, stage: str, key: str) -> tuple[Record, ...]:
        if key not in self.sources:
            return ()
        paragraphs, date = self.sources[key]
        if stage == "normalized":
            return (meta(key, date),)
        self.read.append(key)
        return tuple(extraction(paragraph) for paragraph in paragraphs)


@dataclass
class Published:
    """What the stage published before."""

    upserts: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)

    def inputs(self) -> Mapping[str, str]:
        return {}

    def removed(self) -> frozenset[str]:
        return frozenset()

    def keys(self) -> list[str]:
        return sorted(self.upserts)

    def records(self, key: str) -> tuple[Record, ...]:
        return self.upserts.get(key, ())


@dataclass
class Judge:
    """An engine that judges as ``by`` says and keeps what it was asked."""

    by: Callable[[Sequence[Pair]], list[Verdict]] = judge_pairs
    asked: list[Pair] = field(default_factory=list)
    name: str = "judge@1"

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        self.asked.extend(pairs)
        return self.by(pairs)


def meta(doc: str, date: str | None) -> Meta:
    return Meta(
        doc_id=doc,
        source_id=doc.split("/")[0],
        title="",
        uri=doc,
        source_type="doc",
        license="",
        language="en",
        raw_sha256="",
        text_sha256="",
        effective_date=date,
        fetched_at="",
        converter="",
        converter_version="",
    )


def draft(text: str, topic: str = "") -> Draft:
    statement, _, context = text.partition("#")
    return Draft(
        hash=draft_hash(statement, context or None),
        statement=statement,
        context=context or None,
        topic=topic,
        source_span=statement,
        start=0,
        end=len(statement),
        engine="test",
    )


def extraction(paragraph: str) -> Extraction:
    parts = paragraph.split("|")
    drafts = tuple(draft(part, digest(paragraph) if len(parts) > 1 else "") for part in parts)
    return Extraction(chunk_hash=digest(paragraph), drafts=drafts)


def world(engine: Any = None, threshold: float = 0.5) -> World:
    nothing: Any = None
    return World(
        settings=Settings(root=Path(), options=Options(dedup_candidate=threshold)),
        engine=engine if engine is not None else cast(Any, Judge()),
        embedder=open_embedder("hashing"),
        converter=nothing,
        fetcher=nothing,
        index=nothing,
        clock=FixedClock(),
    )


def build(sources: Sources, before: Output | None = None, old: Sources | None = None, w: World | None = None) -> Output:
    """Run the stage: from scratch, or after ``before`` was made of ``old``."""
    published = Published(before.upserts if before else {})
    if before is None or old is None:
        changes = Changes({"atomic_items": frozenset(sources)}, everything=True)
    else:
        edited = frozenset(doc for doc in {*old, *sources} if old.get(doc) != sources.get(doc))
        changes = Changes({"atomic_items": edited, "normalized": edited}, everything=False)
    return dedup.run(changes, Memory(sources), published, w or world())


def clusters(output: Output) -> tuple[Cluster, ...]:
    return cast(tuple[Cluster, ...], output.upserts["clusters"])


def decisions(output: Output) -> tuple[DedupDecision, ...]:
    return cast(tuple[DedupDecision, ...], output.upserts["decisions"])


def drafts(cluster: Cluster) -> frozenset[str]:
    return frozenset(o.draft for o in cluster.occurrences)


def without_ids(output: Output) -> set[tuple[Any, ...]]:
    """The clusters with every id replaced by the drafts that it stands for."""
    named = {c.id: drafts(c) for c in clusters(output)}
    return {
        (
            c.occurrences,
            named[c.superseded_by] if c.superseded_by else None,
            frozenset(named[r] for r in c.related),
            c.needs_review,
        )
        for c in clusters(output)
    }


def doc(*paragraphs: str, date: str | None = None) -> tuple[tuple[str, ...], str | None]:
    return paragraphs, date


def test_equal_statements_are_one_cluster_with_both_documents() -> None:
    """The same sentence in two sources, in another case and without its stop, is one cluster with two occurrences."""
    output = build({"a/x.md": doc("The cache holds blocks."), "b/y.md": doc("the cache holds blocks")})
    (cluster,) = clusters(output)
    assert [o.doc_id for o in cluster.occurrences] in (["a/x.md", "b/y.md"], ["b/y.md", "a/x.md"])
    assert cluster.id == item_id(draft("The cache holds blocks.").hash)
    assert decisions(output) == ()


def test_a_draft_twice_in_one_chunk_counts_once() -> None:
    """A document that holds one draft twice in one chunk gives one occurrence; in two chunks, two."""
    (one,) = clusters(build({"a/x.md": doc("Blocks are fixed.|Blocks are fixed.")}))
    assert len(one.occurrences) == 1
    assert len(clusters(build({"a/x.md": doc("Blocks are fixed.", "blocks are fixed")}))[0].occurrences) == 2


def test_the_same_words_in_another_order_merge() -> None:
    """A sentence whose adverbial moved to the front is the same item."""
    output = build(
        {
            "a/x.md": doc("Kafka guarantees ordering within a partition."),
            "b/y.md": doc("Within a partition, Kafka guarantees ordering."),
        }
    )
    (cluster,) = clusters(output)
    (line,) = decisions(output)
    assert len(cluster.occurrences) == 2
    assert (line.decision, line.by, line.guard) == ("merge", "rule", "")
    assert line.a < line.b


@pytest.mark.parametrize(
    ("a", "b", "guard"),
    [
        ("The default block size is 16 tokens.", "The default block size is 32 tokens.", "numbers"),
        ("The fix was released in 2.7.4.", "The fix was released in 2.7.5.", "versions"),
        ("The lease lasts 10 minutes.", "The lease lasts 10 seconds.", "units"),
        ("The proxy buffers the responses.", "The proxy never buffers the responses.", "negation"),
        ("Compression is enabled by default.", "Compression is disabled by default.", "antonyms"),
        ("All requests are logged to disk.", "Some requests are logged to disk.", "scope"),
        ("The tokenizer is written in Rust.", "The tokenizer is written in Go.", "entities"),
        ("It is faster than before#vLLM", "It is faster than before#SGLang", "context"),
    ],
)
def test_a_guard_keeps_two_items(a: str, b: str, guard: str) -> None:
    """Statements that differ in what a merge would destroy stay two items, related, with the guard on record."""
    output = build({"a/x.md": doc(a), "b/y.md": doc(b)})
    first, second = clusters(output)
    (line,) = decisions(output)
    assert (line.decision, line.guard) == ("keep_both", guard)
    assert line.reason
    assert first.related == (second.id,)
    assert second.related == (first.id,)


def test_a_higher_version_in_the_text_supersedes() -> None:
    """What v0.6 says replaces what v0.5 said; the chain of three leads to the newest."""
    versions = [f"In v0.{n} the default block size is {2**n} tokens." for n in (4, 5, 6)]
    output = build({"a/x.md": doc(*versions)})
    ids = [next(c for c in clusters(output) if draft(v).hash in drafts(c)) for v in versions]
    assert [c.superseded_by for c in ids] == [ids[2].id, ids[2].id, None]


def test_the_newer_of_one_lineage_supersedes_until_it_is_gone() -> None:
    """A later version of a document supersedes its own older figure; without it the older item lives again."""
    old = {"docs/guide-v0.5.md": doc("The server listens on port 8000.")}
    both = {**old, "docs/guide-v0.6.md": doc("The server listens on port 8080.")}
    first = build(both)
    by_text = {next(iter(drafts(c))): c for c in clusters(first)}
    older = by_text[draft("The server listens on port 8000.").hash]
    newer = by_text[draft("The server listens on port 8080.").hash]
    assert older.superseded_by == newer.id
    (alone,) = clusters(build(old, first, both))
    assert (alone.id, alone.superseded_by) == (older.id, None)


def test_a_chain_leads_to_the_newest_and_each_ends_when_the_next_begins() -> None:
    """All older figures point to the newest; an item's end is the date of what replaced it, and goes with it."""
    texts = [f"The relay keeps {n} spare blocks." for n in (16, 32, 64)]
    sources = {f"s/relay-v{n}.md": doc(text, date=f"202{n}-01-01") for n, text in zip((3, 4, 5), texts, strict=True)}

    def ends(output: Output) -> dict[str, tuple[str | None, str | None]]:
        text_of = {draft(text).hash: text for text in texts}
        ids = {cluster.id: text_of[next(iter(drafts(cluster)))] for cluster in clusters(output)}
        return {
            ids[c.id]: (ids[c.superseded_by] if c.superseded_by else None, c.superseded_on) for c in clusters(output)
        }

    first = build(sources)
    assert ends(first) == {
        texts[0]: (texts[2], "2024-01-01"),
        texts[1]: (texts[2], "2025-01-01"),
        texts[2]: (None, None),
    }
    without_middle = {key: value for key, value in sources.items() if "v4" not in key}
    second = build(without_middle, first, sources)
    assert ends(second) == {texts[0]: (texts[2], "2025-01-01"), texts[2]: (None, None)}
    oldest = {"s/relay-v3.md": sources["s/relay-v3.md"]}
    assert ends(build(oldest, second, without_middle)) == {texts[0]: (None, None)}


KINDS = ("spare", "outer")


def test_a_judges_supersede_takes_its_direction_from_evidence() -> None:
    """That two statements disagree is the judge's to say; which is newer, the versions of their document say, or
    nobody."""
    judge = Judge(lambda pairs: [Verdict(decision="supersede", newer="a", reason="the way changed") for _ in pairs])
    texts = [
        f"When the queue of the relay is full, the relay writes every message to the {kind} disk" for kind in KINDS
    ]
    lineage = {"d/relay-v1.2.md": doc(texts[0]), "d/relay-v1.3.md": doc(texts[1])}
    (line,) = decisions(build(lineage, w=world(judge, threshold=0.4)))
    assert (line.decision, line.by) == ("supersede", "judge")
    assert {line.a: "a", line.b: "b"}[draft(texts[1]).hash] == line.newer
    assert line.reason.startswith("the way changed; ")
    apart = {"d/relay.md": doc(texts[0]), "e/relay.md": doc(texts[1])}
    (line,) = decisions(build(apart, w=world(judge, threshold=0.4)))
    assert (line.decision, line.needs_review) == ("keep_both", True)
    assert "the way changed" in line.reason


def test_explicit_dates_of_one_lineage_give_the_order_and_a_changed_date_turns_it() -> None:
    """Effective dates of one lineage decide, and a document whose date alone changed is judged again."""
    texts = ("The retry limit is 5 attempts.", "The retry limit is 3 attempts.")
    sources = {
        "s/limits-2024-01-01.md": doc(texts[0], date="2024-01-01"),
        "s/limits-2025-01-01.md": doc(texts[1], date="2025-01-01"),
    }
    first = build(sources)
    newer = next(line.newer for line in decisions(first))
    changed = {**sources, "s/limits-2024-01-01.md": doc(texts[0], date="2026-01-01")}
    second = build(changed, first, sources)
    assert {newer, next(line.newer for line in decisions(second))} == {"a", "b"}
    undated = {**sources, "s/limits-2024-01-01.md": doc(texts[0])}
    (line,) = decisions(build(undated))
    assert (line.decision, line.needs_review) == ("keep_both", True)


def test_figures_of_one_document_are_no_conflict() -> None:
    """Two figures that one document states side by side are kept without asking a person."""
    (line,) = decisions(build({"a/x.md": doc("The small pool holds 16 blocks.", "The small pool holds 32 blocks.")}))
    assert (line.decision, line.needs_review) == ("keep_both", False)


def test_the_judge_is_asked_only_what_rules_leave_open() -> None:
    """Pairs with a guard or with the same words never reach the engine; what it says is recorded as the judge's."""
    judge = Judge(lambda pairs: [Verdict(decision="merge", reason="the same to me") for _ in pairs])
    sources = {
        "a/x.md": doc("The scheduler evicts the oldest waiting request first.", "The pool holds 16 spare blocks."),
        "b/y.md": doc("The scheduler evicts the oldest pending request first.", "The pool holds 32 spare blocks."),
    }
    w = world(judge, threshold=0.7)
    output = build(sources, w=w)
    asked = [line for line in decisions(output) if line.by == "judge"]
    assert all(line.guard == "" and line.engine == "judge@1" for line in asked)
    assert len(asked) == len(judge.asked)
    assert {line.guard for line in decisions(output) if line.by == "rule"} >= {"numbers"}


def test_workers_decide_what_this_process_would() -> None:
    """Pairs that worker processes weighed, and drafts that they read, give the same records as here."""
    sources = {
        f"s/{n}-v{n % 3}.0.md": doc(f"The pool holds {n // 2} spare blocks.", f"The pool of node {n} is full.")
        for n in range(24)
    }
    with WorkerPool(2, patience=0) as pool:
        there = build(sources, w=replace(world(), pool=pool))
    here = build(sources)
    assert len(decisions(here)) > 200
    assert there.upserts == here.upserts


def test_a_document_that_cannot_be_decoded_is_named() -> None:
    """Whoever decodes it, its own error says which document it is."""

    class Broken(Memory):
        def encoded(self, stage: str, key: str) -> bytes:
            return b"{broken"

        def records(self, stage: str, key: str) -> tuple[Record, ...]:
            raise StoreError("is broken.", where=f"kb/{stage}/{key}.jsonl")

    changes = Changes({"atomic_items": frozenset({"a/x.md"})}, everything=True)
    with pytest.raises(StoreError, match=r"kb/atomic_items/a/x\.md"):
        dedup.run(changes, Broken({"a/x.md": doc("The pool is full.")}), Published(), world())


def test_drafts_split_from_one_sentence_are_related() -> None:
    """Items of one topic name each other."""
    first, second = clusters(
        build({"a/x.md": doc("Paging removes fragmentation.|Throughput doubles for long prompts.")})
    )
    assert (first.related, second.related) == ((second.id,), (first.id,))


RETRIES = ("The retry limit is 5 attempts.", "The retry limit is 3 attempts.")
BOTH = {"a/x.md": doc(RETRIES[0]), "b/y.md": doc(RETRIES[1])}
LEFT, RIGHT = (draft_hash(statement, None) for statement in RETRIES)


def decided(action: Any, *, left: str = LEFT, right: str = RIGHT, at: int = 1) -> HumanDecision:
    """What a person decided of the two."""
    return HumanDecision(
        at=f"2026-01-01T00:00:0{at}Z", action=action, items=(), left=(left,), right=(right,) if right else ()
    )


def reconsidered(first: Output, *lines: HumanDecision, full: bool = False) -> Output:
    """What comes of ``BOTH`` once ``lines`` are on record."""
    changes = Changes({"atomic_items": frozenset(BOTH) if full else frozenset()}, everything=full)
    return dedup.run(changes, Memory(BOTH), Published({**first.upserts, "human": lines}), world())


@pytest.mark.parametrize("full", [False, True])
def test_a_persons_decision_outranks_every_later_run(full: bool) -> None:
    """A human's merge of two different figures holds, in a run over everything too, and ends with the decision."""
    first = build(BOTH)
    again = reconsidered(first, decided("merge"), full=full)
    assert [line.by for line in decisions(again)] == ["human"]
    assert len(clusters(again)) == 1
    undone = reconsidered(again, full=full)
    assert (decisions(undone), len(clusters(undone))) == (decisions(first), 2)


def test_the_later_of_two_decisions_counts() -> None:
    """Merged, then kept apart: apart; the order of the lines in the file says nothing."""
    lines = decided("keep", at=2), decided("merge", at=1)
    assert len(clusters(reconsidered(build(BOTH), *lines))) == 2


def test_a_person_may_say_which_replaces_which() -> None:
    """The left side of a person's decision supersedes the right one."""
    old, new = {c.occurrences[0].draft: c for c in clusters(reconsidered(build(BOTH), decided("supersede")))}, LEFT
    assert old[RIGHT].superseded_by == old[new].id


def test_what_disagrees_without_order_is_a_conflict_until_it_is_decided() -> None:
    """Two figures of one thing stay, linked, with both quotes; a decision ends it, undoing brings it back."""
    first = build(BOTH)
    (conflict,) = first.upserts["conflicts"]
    assert isinstance(conflict, Conflict)
    assert (conflict.kind, {q.text for q in conflict.quotes}) == ("number", set(RETRIES))
    assert [c.related for c in clusters(first)] == [(c.id,) for c in reversed(clusters(first))]
    for action in ("keep", "merge", "supersede"):
        again = reconsidered(first, decided(action))
        assert again.upserts["conflicts"] == ()
        assert reconsidered(again).upserts["conflicts"] == (conflict,)


@pytest.mark.parametrize(("action", "aside"), [("retire", "retired"), ("hide", "hidden"), ("keep", "")])
def test_a_person_may_set_an_item_aside(action: str, aside: str) -> None:
    """Retired or hidden it disagrees with nothing and is related to nothing."""
    again = reconsidered(build(BOTH), decided(action, right=""))
    found = {c.occurrences[0].draft: c for c in clusters(again)}
    assert (found[LEFT].aside, found[RIGHT].aside) == (aside, "")
    assert len(again.upserts["conflicts"]) == (0 if aside else 1)
    assert bool(found[RIGHT].related) == (not aside)


@pytest.mark.parametrize(
    ("by_hand", "stated"),
    [
        ("The cache holds the hot blocks.", "The cache, too, holds the hot blocks."),
        ("The current version is 1.1.", "The current version is 1.2."),
    ],
)
def test_what_a_person_wrote_is_joined_and_replaced_by_a_person_alone(by_hand: str, stated: str) -> None:
    """Whatever rules and a judge who merges everything say, both stay and a person is asked; words that are equal are
    one."""
    yes = Judge(by=lambda pairs: [Verdict(decision="merge", reason="the same") for _ in pairs])
    sources = {"human/kb_note": doc(by_hand), "a/x.md": doc(stated)}
    output = build(sources, w=world(yes))
    assert [(d.decision, d.needs_review) for d in decisions(output)] == [("keep_both", True)]
    assert {"kb_note"} < {c.id for c in clusters(output)}
    assert all(c.superseded_by is None for c in clusters(output))
    (same,) = clusters(build({"human/kb_note": doc(by_hand), "a/x.md": doc(by_hand)}, w=world(yes)))
    assert (same.id, len(same.occurrences)) == ("kb_note", 2)


def test_what_a_person_wrote_keeps_its_id_when_its_words_change() -> None:
    """The id is the document's, from scratch too, even where another document states the former words."""
    first = build({"human/kb_note": doc("The log is kept twice.")})
    later: Sources = {"human/kb_note": doc("The log is kept three times."), "a/x.md": doc("The log is kept twice.")}
    before: Sources = {"human/kb_note": doc("The log is kept twice.")}
    for output in (build(later, first, before), build(later)):
        (named,) = (c for c in clusters(output) if c.id == "kb_note")
        assert [o.doc_id for o in named.occurrences] == ["human/kb_note"]


def test_a_small_change_reads_only_what_it_touches() -> None:
    """After an edit of one document the stage reads that one and embeds only the new draft."""
    sources = {f"s/{n}.md": doc(f"Component {chr(97 + n) * 5} handles the {chr(97 + n) * 7} phase.") for n in range(12)}
    w = world()
    first = build(sources, w=w)
    edited = {**sources, "s/3.md": doc("An entirely fresh sentence about storage engines.")}
    memory = Memory(edited)
    computed = w.embedder.computed
    dedup.run(Changes({"atomic_items": frozenset({"s/3.md"})}, everything=False), memory, Published(first.upserts), w)
    assert set(memory.read) == {"s/3.md"}
    assert w.embedder.computed == computed + 1


def test_nothing_to_do_embeds_nothing_and_changes_nothing() -> None:
    """A run after a deletion computes no vector, and a run over no change publishes the same bytes."""
    sources = {"a/x.md": doc("The cache holds blocks."), "b/y.md": doc("The log is flushed first.")}
    w = world()
    first = build(sources, w=w)
    computed = w.embedder.computed
    assert build(sources, first, sources, w).upserts == first.upserts
    build({"a/x.md": sources["a/x.md"]}, first, sources, w)
    assert w.embedder.computed == computed


def test_a_lost_vector_is_made_again_from_its_document() -> None:
    """Where the cache lost the vectors of untouched drafts, they are read and embedded anew with the same outcome."""
    sources = {"a/x.md": doc("Kafka guarantees ordering within a partition.")}
    first = build(sources)
    more = {**sources, "b/y.md": doc("Within a partition, Kafka guarantees ordering.")}
    assert without_ids(build(more, first, sources, world())) == without_ids(build(more))


def test_what_the_bound_left_out_comes_back_when_its_place_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only the nearest counts, a draft that loses it is paired with the next, though neither changed."""
    bounded_to(1, monkeypatch)
    sources = {
        f"s/{n}.md": doc(f"The scheduler moves every {state} request from the shared pool to the reserve pool.")
        for n, state in enumerate(("waiting", "pending", "idle", "queued"))
    }
    first = build(sources)
    for gone in sources:
        rest = {name: content for name, content in sources.items() if name != gone}
        assert decisions(build(rest, first, sources)) == decisions(build(rest))
    assert len(decisions(first)) < 6


def bounded_to(nearest: int, patch: pytest.MonkeyPatch) -> None:
    """Run the stage with another bound on neighbours."""
    patch.setattr(dedup, "NEAREST", nearest)
    for name in ("bounded", "all_pairs", "pairs_touching"):
        patch.setattr(dedup, name, partial(getattr(pairs_rules, name), nearest=nearest))


_FACTS = (
    "Kafka guarantees ordering within a partition.",
    "Within a partition, Kafka guarantees ordering.",
    "kafka guarantees ordering within a partition",
    "In v0.5 the default block size is 16 tokens.",
    "In v0.6 the default block size is 32 tokens.",
    "In v0.7 the default block size is 64 tokens.",
    "The default block size is 16 tokens.",
    "The default block size is 32 tokens.",
    "Git stores each version of a file as a blob.",
    "Each version of a file is stored by Git as a blob.",
    "Each version of a file is stored by Git.",
    "It is faster than before.#vLLM",
    "It is faster than before.#SGLang",
    "It is faster than before.",
    "The proxy buffers all responses.|The proxy drops long headers.",
    "The proxy never buffers all responses.",
    "All responses are buffered by the proxy.",
    "The scheduler evicts the request that arrived last.",
    "The scheduler evicts the request that arrived first.",
)
_ALIKE = tuple(
    f"The scheduler moves every {state} request from the shared pool of workers to the reserve pool of the cluster."
    for state in ("waiting", "pending", "idle", "queued", "parked", "stalled", "aged", "late")
)
_DOCS = ("a/notes.md", "a/guide-v0.5.md", "a/guide-v0.6.md", "b/copy.md", "b/log-2024-01-01.md", "b/log-2025-02-01.md")
_content = st.tuples(
    st.lists(st.sampled_from(_ALIKE) | st.sampled_from(_FACTS), max_size=5).map(tuple),
    st.sampled_from([None, "2024-01-01", "2025-02-01"]),
)
_edits = st.lists(st.tuples(st.sampled_from(_DOCS), st.none() | _content), min_size=1, max_size=10)


def arbitrary(pairs: Sequence[Pair]) -> list[Verdict]:
    """Verdicts that follow from the two statements alone, but from no sense in them: chains, vetoes and cycles."""

    def verdict(pair: Pair) -> Verdict:
        low, high = sorted((pair.a.statement, pair.b.statement))
        choice = int(digest(low, high)[:4], 16) % 5
        newer = cast(Any, "a" if (pair.a.statement == low) == (choice == 3) else "b")
        decision = cast(Any, ("merge", "merge", "keep_both", "supersede", "supersede")[choice])
        return Verdict(decision=decision, newer=newer if choice > 2 else None, reason="arbitrary")

    return [verdict(pair) for pair in pairs]


@settings(max_examples=150, deadline=None)
@given(edits=_edits, nearest=st.sampled_from([2, 32]), judge=st.sampled_from([judge_pairs, arbitrary]))
def test_any_sequence_of_edits_gives_what_a_build_from_scratch_gives(edits: Any, nearest: int, judge: Any) -> None:
    """After every edit clusters and decisions equal those from scratch, ids aside, whatever a judge says and also where
    the bound on neighbours bites; no id names two items, and a published id stays with its draft."""
    with pytest.MonkeyPatch.context() as patch:
        bounded_to(nearest, patch)
        check_edits(edits, world(cast(Any, Judge(judge)), threshold=0.4))


def check_edits(edits: Sequence[tuple[str, Any]], w: World) -> None:
    sources: dict[str, Any] = {}
    output = build(sources, w=w)
    for name, content in edits:
        old, before = dict(sources), output
        sources.pop(name, None)
        if content is not None:
            sources[name] = content
        output = build(sources, before, old, w)
        scratch = build(sources, w=w)
        assert decisions(output) == decisions(scratch)
        assert without_ids(output) == without_ids(scratch)
        check_ids(before, output)
        check_apart(output)


def check_apart(output: Output) -> None:
    home = {d: c.id for c in clusters(output) for d in drafts(c)}
    superseded = {c.id: c.superseded_by for c in clusters(output)}
    for line in decisions(output):
        assert not vetoes(line) or home[line.a] != home[line.b]
    assert all(superseded[newest] is None for newest in superseded.values() if newest)


def check_ids(before: Output, after: Output) -> None:
    old = {c.id for c in clusters(before)}
    names = [name for c in clusters(after) for name in (c.id, *c.aliases)]
    assert len(names) == len(set(names))
    home = {name: c for c in clusters(after) for name in (c.id, *c.aliases)}
    alive = {d for c in clusters(after) for d in drafts(c)}
    for cluster in clusters(before):
        for name in (cluster.id, *cluster.aliases):
            own = {d for d in alive if item_id(d) == name}
            if own:
                assert own <= drafts(home[name])
            elif drafts(cluster) & alive:
                assert min(drafts(cluster) & alive) in drafts(home[name])
    assert all(home[name].id in old for name in old & home.keys())
