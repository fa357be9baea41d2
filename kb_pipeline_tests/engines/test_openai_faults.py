"""Every fault of an endpoint, through a whole build over real sockets: what is published, and what is not."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb_pipeline.errors import RunStopped
from kb_pipeline_tests.driving import Cli, compile_all, opened
from kb_pipeline_tests.endpoint import FakeEndpoint, serve
from kb_pipeline_tests.endpoint_faults import FAULTS
from kb_pipeline_tests.engines.modelled import base_of
from kb_pipeline_tests.promises.documents import DOCUMENTS

PASSING = {"429", "429_silent", "500", "503", "html", "error_in_200", "not_json", "reset", "hang", "drip",
           "truncated_body", "empty_choice", "no_usage", "no_data", "fenced", "thinking", "broken_json",
           "truncated_json", "empty_text", "wrong_schema", "prose"}  # fmt: skip
"""What one question survives: it is asked again, repaired, or read all the same."""
FINAL = {"refusal": "refused", "content_filter": "refused", "filtered": "refused", "length": "cut", "context": "cut"}
"""What ends one question, with the reason under which its chunk is quarantined."""
DEADLY = {"401", "404", "quota"}
"""What ends a run: the next question would fare no better."""

ONE = {"notes/limits.md": DOCUMENTS["notes/limits.md"], "notes/cache.md": DOCUMENTS["notes/cache.md"]}
FAULTY = "The gateway drops a request after 30 seconds."
SOUND = "A page is evicted after 20 minutes without a read."


@pytest.fixture(scope="module")
def endpoint() -> Iterator[FakeEndpoint]:
    """An honest model on a line that is not."""
    with serve(["kb_pipeline_tests.honest:honest"]) as found:
        yield found


def environ(endpoint: FakeEndpoint) -> dict[str, str]:
    return {"KB_LLM_BASE_URL": endpoint.url, "KB_LLM_MODEL": "m", "KB_LLM_TIMEOUT": "1"}


def build(root: Path, endpoint: FakeEndpoint) -> set[str]:
    """Build, and the reasons of what is quarantined."""
    with opened(root, **environ(endpoint)) as base:
        compile_all(base)
        return {q.reason for q in base.status().quarantine}


def test_every_fault_has_its_expectation() -> None:
    """No fault that the endpoint knows is left untested."""
    assert {*PASSING, *FINAL, *DEADLY} == FAULTS


@pytest.mark.parametrize("name", sorted(PASSING))
def test_a_passing_fault_costs_nothing(endpoint: FakeEndpoint, tmp_path: Path, name: str) -> None:
    """One fault while a chunk is asked about, and everything is published; nothing of the fault is."""
    root = base_of(tmp_path / "base", ONE)
    endpoint.fault(name, match="accepts at most 512", times=1, seconds=0.05 if name.startswith("429") else 3)
    assert build(root, endpoint) == set()
    assert {FAULTY, SOUND} <= set(Cli(root).active())
    assert {i["primary_category"] for i in Cli(root).active().values()} <= {"Memory", "Traffic", "Jobs", "UNCLASSIFIED"}


@pytest.mark.parametrize("name", sorted(FINAL))
def test_a_final_fault_costs_its_chunk(endpoint: FakeEndpoint, tmp_path: Path, name: str) -> None:
    """What a model will not say is quarantined with the reason, all else published, and it is not asked again."""
    root = base_of(tmp_path / "base", ONE)
    endpoint.fault(name, match="accepts at most 512", times=1)
    assert build(root, endpoint) == {f"model-{FINAL[name]}"}
    active = set(Cli(root).active())
    assert SOUND in active
    assert FAULTY not in active
    asked = endpoint.count()
    build(root, endpoint)
    assert endpoint.count() == asked


@pytest.mark.parametrize("name", sorted(DEADLY))
def test_a_deadly_fault_ends_the_run(endpoint: FakeEndpoint, tmp_path: Path, name: str) -> None:
    """A wrong key, an unknown model or a spent quota stops the run at once with the cure; then it goes on."""
    root = base_of(tmp_path / "base", ONE)
    endpoint.fault(name, match="", times=1)
    with opened(root, **environ(endpoint)) as base, pytest.raises(RunStopped) as stopped:
        compile_all(base)
    assert stopped.value.cure
    assert build(root, endpoint) == set()
    assert {FAULTY, SOUND} <= set(Cli(root).active())


def test_a_writer_that_never_answers_holds_no_build(tmp_path: Path) -> None:
    """Pages state their items in their own words, the index goes live, and the next build asks for them again."""
    root = base_of(tmp_path / "base", ONE)
    with serve(["kb_pipeline_tests.honest:honest"]) as stuck, opened(root, **environ(stuck)) as base:
        stuck.fault("hang", match="You write one page of a wiki", times=1000, seconds=30)
        compile_all(base)
        assert base.status().live
        assert base.stale().stages["wiki"] == "what could not be made waits"
    assert FAULTY in "".join(path.read_text() for path in (root / "kb/wiki").rglob("*.md"))
    with serve(["kb_pipeline_tests.honest:honest"]) as other, opened(root, **environ(other)) as base:
        compile_all(base)
        assert not base.stale()


@pytest.mark.parametrize("name", ["wrong_schema", "prose", "empty_text"])
def test_a_fault_that_stays_is_quarantined(endpoint: FakeEndpoint, tmp_path: Path, name: str) -> None:
    """A model that never gives the shape is repaired once; then its chunk is quarantined, its words kept for a look."""
    root = base_of(tmp_path / "base", ONE)
    with serve(["kb_pipeline_tests.honest:honest"]) as other:
        build(base_of(tmp_path / "warm", {"notes/cache.md": ONE["notes/cache.md"]}), other)
        other.fault(name, match="accepts at most 512", times=50)
        assert build(root, other) == {"model-invalid"}
    assert SOUND in Cli(root).active()
    lines = [json.loads(line) for line in (root / "kb/logs/rejects.jsonl").read_text().splitlines()]
    assert {line["document"] for line in lines} == {"notes/limits.md"}
