"""What every engine must keep, written over ``world.Engine`` alone: run it against each row of ``ENGINES``."""

from collections.abc import Sequence

from kb_pipeline.records import (
    UNCLASSIFIED,
    Briefing,
    Card,
    Category,
    Chunk,
    Draft,
    Evidence,
    Extraction,
    Item,
    Sentence,
    Taxonomy,
)
from kb_pipeline.rules.citations import verified
from kb_pipeline.rules.ids import digest, draft_hash, item_id
from kb_pipeline.rules.taxonomy import ClosedList
from kb_pipeline.services.embedder import open_embedder
from kb_pipeline.world import Engine

TASKS = (
    *("normalize", "extract", "judge", "tag", "questions", "write_page"),
    *("plan", "rerank", "answer", "select"),
)

TAXONOMY = Taxonomy(
    categories=(
        Category(
            name="Memory",
            description="How the key-value cache is stored and paged in GPU memory.",
            keywords=("KV cache", "paging", "block table", "fragmentation"),
        ),
        Category(
            name="Releases",
            description="What changed in which version and who should upgrade.",
            keywords=("version", "release notes", "changelog", "deprecated"),
        ),
        Category(
            name="Gateway",
            description="What stands before the replicas and routes requests to them.",
            keywords=("gateway", "load balancer", "proxy", "routing"),
        ),
    ),
    tags={
        "kv-cache": ("key-value cache", "KV memory"),
        "paged-attention": ("PagedAttention", "paging"),
        "load-balancing": ("load balancer",),
        "fragmentation": (),
        "deprecation": ("deprecated",),
        "gpu-memory": ("VRAM",),
        "routing": (),
    },
)

MARKDOWN = """\
# Notes

The KV cache dominates GPU memory during LLM serving. Naive serving wastes 60-80% of KV memory; PagedAttention reduces
the waste to under 4%. What about the rest?

- The gateway forwards each request to the replica with the shortest queue.
- Links

Install the client with the package manager:

```sh
pip install client==1.2.3
```
"""


def chunk(text: str, *heading: str, kind: str = "text", header: str = "") -> Chunk:
    """A chunk that is a whole document."""
    return Chunk.model_validate(
        {
            "id": "c1",
            "doc_id": "notes/a.md",
            "hash": digest(text, header, *heading, kind),
            "kind": kind,
            "heading": heading,
            "text": text,
            "header": header,
            "start": 0,
            "end": len(text),
        }
    )


def item(statement: str, **fields: object) -> Item:
    """An item that states ``statement``."""
    return Item.model_validate({"id": item_id(draft_hash(statement, None)), "statement": statement, **fields})


def drafts(engine: Engine, text: str, *heading: str, kind: str = "text", header: str = "") -> Sequence[Draft]:
    """The drafts that ``engine`` extracts from ``text``."""
    return extracted(engine, chunk(text, *heading, kind=kind, header=header)).drafts


def extracted(engine: Engine, source: Chunk) -> Extraction:
    """What ``engine`` extracts from one chunk."""
    (found,) = engine.extract([source])
    assert isinstance(found, Extraction)
    return found


def check_names(engine: Engine) -> None:
    """Every task has a version and modules that can be imported, or neither where it is left undone."""
    assert engine.name
    for task in TASKS:
        assert bool(engine.version(task)) == bool(engine.modules(task))
        assert task in {"normalize", "write_page"} or engine.version(task)
        for module in engine.modules(task):
            __import__(module)


def check_spans(engine: Engine, text: str = MARKDOWN) -> None:
    """Every draft quotes its chunk verbatim and carries the hash of what it states."""
    source = chunk(text, "Notes")
    extraction = extracted(engine, source)
    assert extraction.chunk_hash == source.hash
    assert extraction.drafts
    for draft in extraction.drafts:
        assert draft.source_span == text[draft.start : draft.end]
        assert draft.source_span.strip() == draft.source_span
        assert draft.hash == draft_hash(draft.statement, draft.context)
        assert draft.engine == engine.name


def check_rejects(engine: Engine) -> None:
    """A chunk without knowledge gives no draft, and each reject says where and why."""
    extraction = extracted(engine, chunk("Why is that?\n\n[Home](a.md) | [Next](b.md)\n"))
    assert extraction.drafts == ()
    for reject in extraction.rejects:
        assert reject.stage == "atomic_items"
        assert reject.where
        assert reject.reason
        assert len(reject.excerpt) <= 200


def check_tagging(engine: Engine) -> None:
    """Categories are closed, tags are two to six in normal form, candidates are what the vocabulary lacks."""
    items = [
        item("PagedAttention stores the KV cache in blocks that a block table maps.", entities=("PagedAttention",)),
        item("The load balancer routes each request through the gateway to a replica."),
        item("Bread dough rises for two hours in a warm kitchen."),
    ]
    found = zip(engine.tag(items, TAXONOMY), items, strict=True)
    taggings = [ClosedList(TAXONOMY).settled(tagging, item.entities) for tagging, item in found]
    assert len(taggings) == len(items)
    closed = {c.name for c in TAXONOMY.categories}
    for tagging in taggings:
        assert tagging.primary_category in closed | {UNCLASSIFIED}
        assert set(tagging.secondary_categories) <= closed - {tagging.primary_category}
        assert 2 <= len(tagging.tags) <= 6
        assert all(tag == tag.lower() and " " not in tag for tag in tagging.tags)
        assert set(tagging.candidates) == set(tagging.tags) - TAXONOMY.tags.keys()
        assert (tagging.primary_category == UNCLASSIFIED) == (tagging.note is not None)
    assert taggings[0].primary_category == "Memory"
    assert {"kv-cache", "paged-attention"} <= set(taggings[0].tags)
    assert list(engine.tag([], TAXONOMY)) == []
    assert (
        ClosedList(Taxonomy()).settled(next(iter(engine.tag(items[:1], Taxonomy())))).primary_category == UNCLASSIFIED
    )


def check_questions(engine: Engine) -> None:
    """One question a style, ids that follow from content, and no answer promised where there is none."""
    subject = item("The gateway retries a failed request after 200 ms.", topic="retry")
    neighbours = [
        item("The gateway opens 64 connections.", topic="retry"),
        item("The scheduler preempts long requests."),
    ]
    (made,) = engine.questions([subject], [neighbours])
    assert [q.style for q in made] == ["keyword", "nl", "paraphrase", "hard_negative"]
    assert len({q.id for q in made}) == len(made)
    assert [[q.id for q in again] for again in engine.questions([subject], [neighbours])] == [[q.id for q in made]]
    for question in made:
        assert question.question or question.note
        assert question.question != subject.statement
        if question.style == "hard_negative" or question.question is None:
            assert question.expected_item_id is None
        else:
            assert question.expected_item_id == subject.id
            assert question.gold_answer
    assert "64" not in str(made[-1].question)


def check_answers(engine: Engine) -> None:
    """A question is planned with tools that are offered, answered in sentences that pass the verifier, and one on
    another subject by none."""
    briefing = Briefing(today="2026-11-30", tools=("search", "get"))
    question = "How many connections does the gateway accept?"
    plan = engine.plan_query(question, briefing)
    assert {call.tool for call in plan.calls} <= set(briefing.tools)
    assert all(call.query for call in plan.calls)
    told = {"e1": "Bread dough rises for two hours.", "e2": "The gateway accepts at most 512 connections at once."}
    evidence = [
        Evidence(id=name, kind="chunk", ref=f"ck_{name}", text=text, quote=text, title="Notes")
        for name, text in told.items()
    ]
    embedder = open_embedder("hashing")
    (found,) = verified(engine.answer(question, evidence, embedder), evidence)
    assert isinstance(found, Sentence)
    assert (found.cites, "512" in found.text) == (("e2",), True)
    assert list(engine.answer("Who painted the Mona Lisa?", evidence, embedder)) == []
    assert list(engine.answer(question, [], embedder)) == []


def check_choices(engine: Engine) -> None:
    """Scores are one a candidate, from 0 to 10; what is picked is in the catalogue, the evident first."""
    cards = [
        Card(ref="d/bread.md", kind="document", title="Bread"),
        Card(ref="d/limits.md", kind="document", title="Limits of the gateway", headings=("Connections",)),
    ]
    picks = engine.select_pages("How many connections does the gateway accept?", cards)
    picked = picks.refs
    assert (picked[0], picks.parts) == ("d/limits.md", 1)
    assert set(picked) <= {card.ref for card in cards}
    assert engine.select_pages("anything", []).refs == ()
    evidence = [Evidence(kind="item", ref=card.ref, text=card.title) for card in cards]
    scores = engine.rerank("What are the limits of the gateway?", evidence)
    assert len(scores) == len(evidence)
    assert all(0 <= score <= 10 for score in scores)
    assert list(engine.rerank("anything", [])) == []


def check_determinism(engine: Engine) -> None:
    """The same chunk gives the same extraction, whatever was read in between."""
    first = extracted(engine, chunk(MARKDOWN, "Notes"))
    extracted(engine, chunk("Something else is said here.", "Other"))
    assert extracted(engine, chunk(MARKDOWN, "Notes")) == first
