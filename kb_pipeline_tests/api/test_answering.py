"""Asking through the verb: the look-ups that records answer, what is kept, what is filed."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kb_pipeline.api import KnowledgeBase
from kb_pipeline.errors import NotFound
from kb_pipeline.records import Answer, Scope
from kb_pipeline_tests.driving import compile_all, new_root, opened, write
from kb_pipeline_tests.endpoint import serve
from kb_pipeline_tests.promises.documents import DOCUMENTS

AUTHORED = """---
title: Drain of replicas
author: Ada Osei
date: 2026-01-10
---
# Drain

A draining replica finishes its streams within 90 seconds.
"""
PEOPLE = "Who knows about draining replicas?"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """A handbook with an author, an owner and two documents that disagree."""
    root = tmp_path_factory.mktemp("asked") / "base"
    new_root(root, {**DOCUMENTS, "handbook/drain.md": AUTHORED}, notes="notes", handbook="handbook")
    registry = (root / "sources.yaml").read_text()
    owned = registry.replace("uri: handbook,", "uri: handbook, owners: [platform-team],")
    (root / "sources.yaml").write_text(f"{owned}projects:\n  - {{id: own, name: Own, sources: [notes]}}\n")
    with opened(root) as found:
        compile_all(found)
        yield found


def said(answer: Answer) -> str:
    """All sentences of an answer."""
    return "\n".join(sentence.text for sentence in answer.sentences)


def test_who_knows_names_authors_and_owners(base: KnowledgeBase) -> None:
    """Whoever wrote the documents on a subject, and the owner of their source, with the documents."""
    answer = base.ask(PEOPLE)
    assert "Ada Osei wrote handbook/drain.md" in said(answer)
    people = {e.ref for e in answer.evidence if e.kind == "person"}
    assert people <= {"person:Ada Osei", "person:platform-team"}


def test_what_is_in_conflict_is_found_and_said(base: KnowledgeBase) -> None:
    """Two items that disagree are an answer to who asks for conflicts, and a note to who meets one of them."""
    conflicts = base.conflicts()
    assert conflicts
    answer = base.ask("Which statements conflict?")
    assert any(e.kind == "conflict" for e in answer.evidence)
    one = base.show(conflicts[0].a)
    told = base.ask(one.item.statement.rstrip("."), way="hybrid")  # type: ignore[union-attr]
    assert any("in conflict with" in note for sentence in told.sentences for note in sentence.notes)


def test_what_is_superseded_is_said_to_be(base: KnowledgeBase) -> None:
    """A sentence from a text in which an older statement stands says that this is superseded, and by which item."""
    for way in ("hybrid", "catalogue"):
        answer = base.ask("How many messages does the relay hold in its queue by default?", way=way)
        assert "256 messages" in said(answer)
        old = [s for s in answer.sentences if "64 messages" in s.text]
        assert all("64 messages in its queue by default.” is superseded by kb_" in " ".join(s.notes) for s in old)
        assert old or way == "hybrid"


def test_a_former_value_is_told_to_who_asks_for_it(base: KnowledgeBase) -> None:
    """Who names the older version reads its value, said to be superseded; who reads the newer one, what it replaced."""
    old = base.ask("How many messages does the relay v1.0 hold in its queue by default?")
    assert said(old) == "The relay holds 64 messages in its queue by default."
    assert any("superseded by kb_" in note for note in old.sentences[0].notes)
    assert base.ask(old.question).kept
    plain = base.ask("How many messages does the relay hold in its queue, and which page is evicted after 20 minutes?")
    assert "256 messages" in said(plain)
    assert "64 messages" not in said(plain)
    long = base.ask("messages the relay holds in its queue by default " * 40)
    assert said(long) == "The relay holds 256 messages in its queue by default."
    new = base.ask("How many messages did the relay hold in its queue before v2.0?")
    assert said(new) == "The relay holds 256 messages in its queue by default."
    assert "replaced “The relay holds 64 messages in its queue by default.” (handbook/relay-v1.0.md)" in (
        new.sentences[0].notes
    )


def test_what_is_not_active_is_found_by_its_status(base: KnowledgeBase) -> None:
    """A superseded item is a hit where its status is asked for, alone or beside active ones, and nowhere else."""

    def found(*statuses: str, **asked: str) -> set[str]:
        hits = base.search("messages in the queue of the relay", scope=Scope(statuses=statuses), **asked).hits
        return {hit.status for hit in hits if "relay" in hit.text and hit.kind == "item"}

    assert found("superseded") == {"superseded"}
    assert found("superseded", "active") == {"superseded", "active"}
    assert found("active") == found() == {"active"}
    assert not found("superseded", project="own")
    assert not found("retired")


def test_what_was_replaced_is_not_told_beyond_a_scope(base: KnowledgeBase) -> None:
    """Within a scope that an older document is outside of, neither its value nor a word of it is told."""
    question = "How many messages does the relay v1.0 hold in its queue by default?"
    answer = base.ask(question, scope=Scope(sources=("handbook",), docs=("handbook/relay-v2.0.md",)))
    assert "relay-v1.0" not in answer.model_dump_json(exclude={"question", "plan"})
    assert "64" not in said(answer)


def test_a_version_that_is_nowhere_is_not_answered_with_another(base: KnowledgeBase) -> None:
    """Neither by hits nor by passages."""
    for way in ("hybrid", "catalogue"):
        assert not base.ask("How many messages does the relay v9.3 hold in its queue?", way=way).answered


def test_who_asks_for_any_conflict_is_told_of_them(base: KnowledgeBase) -> None:
    """Without a subject every conflict answers."""
    for question in ("Are there any conflicts?", "Which statements contradict each other?"):
        assert any(e.kind == "conflict" for e in base.ask(question).evidence)
    assert base.look_up("conflicts", "connections").evidence
    assert not base.look_up("conflicts", "sourdough bread").evidence


def test_as_many_people_are_named_as_are_asked_for(base: KnowledgeBase) -> None:
    """Not more, and nobody for a subject that nothing is known of."""
    assert len(base.look_up("who_knows", "draining replicas", k=1).evidence) == 1
    assert len(base.look_up("who_knows", "draining replicas").evidence) == 2
    assert not base.look_up("who_knows", "sourdough bread").evidence


def test_a_question_without_a_subject_is_not_answered(base: KnowledgeBase) -> None:
    """Words that every text holds are answered by none."""
    assert not any(base.ask(question).answered for question in ("the", "a", "What is it?", "?"))


def test_what_changed_of_a_subject_leaves_out_the_rest(base: KnowledgeBase) -> None:
    """Changes are those of what is asked about; what a version changed is no question of days."""
    answer = base.ask("What changed since 2026-01-01 about the block cache?")
    changes = [e for e in answer.evidence if e.kind == "change"]
    assert changes
    assert all("cache" in e.text.casefold() for e in changes)
    plan = base.ask("What changed in 2.0?").plan
    assert plan is not None
    assert [call.tool for call in plan.calls] == ["search"]


def test_what_changed_is_told_by_day(base: KnowledgeBase) -> None:
    """An edited document's items are what is new since a day; such an answer is not kept."""
    question = "What changed since 2026-01-01?"
    write(base.settings.root, {"notes/new.md": "# New\n\nThe archive keeps 77 snapshots of each table.\n"})
    compile_all(base)
    first = base.ask(question)
    assert any(e.kind == "change" for e in (*first.evidence, *first.nearest)) or first.failed == ()
    assert first.plan is not None
    assert [call.query for call in first.plan.calls if call.tool == "recent_changes"] == ["2026-01-01"]
    assert not base.ask(question).kept


def test_a_project_bounds_every_look_up(base: KnowledgeBase) -> None:
    """Neither people, conflicts nor anything else of other sources is found from within a project."""
    for question in (PEOPLE, "Which statements conflict?", "How many messages does the relay hold?"):
        answer = base.ask(question, project="own")
        assert all(e.doc_id.startswith("notes/") for e in (*answer.evidence, *answer.nearest))
        assert "handbook" not in said(answer)


def test_the_kept_answer_is_of_the_same_question_scope_and_way(base: KnowledgeBase) -> None:
    """White space aside only the same is the same; keeping asks for no fresh work."""
    question = "How many pages does the block cache keep?"
    assert not base.ask(question).kept
    assert base.ask(f"  {question} ").kept
    assert not base.ask(question, way="hybrid").kept
    assert not base.ask(question, scope=Scope(sources=("handbook",))).kept
    assert not base.ask(question, fresh=True).kept
    filed = base.ask(question, keep=True)
    assert filed.kept
    assert Path(base.settings.root, filed.filed).is_file()


def test_an_answer_counts_its_own_calls(base: KnowledgeBase) -> None:
    """Of questions that are asked at once each counts its plan and its answer, and none of the others'."""
    questions = [f"How many pages does the block cache keep in memory, asked {n} times?" for n in range(2, 8)]
    with serve(["kb_pipeline_tests.honest:honest"]) as endpoint:
        model = {"KB_LLM_BASE_URL": endpoint.url, "KB_LLM_MODEL": "honest"}
        with opened(base.settings.root, **model) as asked, ThreadPoolExecutor(len(questions)) as pool:
            calls = [answer.calls for answer in pool.map(asked.ask, questions)]
        assert calls == [2] * len(questions)
        assert endpoint.count() == sum(calls)


def test_what_is_named_must_exist(base: KnowledgeBase) -> None:
    """A source or project that is none is an error, never an empty answer."""
    with pytest.raises(NotFound):
        base.ask("x", scope=Scope(sources=("nobody",)))
    with pytest.raises(NotFound, match=r"no document 'notes/none\.md'"):
        base.search("x", scope=Scope(docs=("notes/none.md",)))
    with pytest.raises(NotFound):
        base.ask("x", project="nobody")
