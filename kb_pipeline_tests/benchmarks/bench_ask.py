"""How well questions are answered: the sample and the documentation of a library, compiled with the default settings.

Run ``python -m kb_pipeline_tests.benchmarks.bench_ask [--model]`` (about a minute). Gold questions come from the items
by rule, so that they share words with them; those of ``asked_by_people`` paraphrase; those of ``off_topic`` must not be
answered. With ``--model`` an honest fake behind a real endpoint answers: that tells of calls and of the verifier, not
of what a model can do.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kb_pipeline.api import KnowledgeBase
from kb_pipeline.records import Answer, Item, Question, Way
from kb_pipeline_tests.benchmarks.asked_by_people import QUESTIONS as PEOPLE
from kb_pipeline_tests.benchmarks.off_topic import HELD, TUNING
from kb_pipeline_tests.conftest import CORPUS
from kb_pipeline_tests.driving import compile_all, new_root, opened
from kb_pipeline_tests.endpoint import serve
from kb_pipeline_tests.project import ROOT

WAYS: Sequence[Way] = ("hybrid", "catalogue")
MOST = 200


@dataclass
class Told:
    """What came of questions of one kind."""

    kind: str
    answered: int = 0
    right: int = 0
    asked: int = 0
    passed: int = 0
    dropped: int = 0
    calls: int = 0
    ms: tuple[float, ...] = ()

    def add(self, found: Answer, *, right: bool) -> None:
        """Count one answer."""
        self.asked += 1
        self.answered += found.answered
        self.right += right
        self.passed += len(found.sentences)
        self.dropped += len(found.dropped)
        self.calls += found.calls
        self.ms += (found.ms,)

    def row(self) -> str:
        """One line of the table."""
        times = sorted(self.ms) or [0.0]
        proposed = self.passed + self.dropped
        faithful = 100 * self.passed / proposed if proposed else 100.0
        shares = f"{100 * self.answered / self.asked:8.1f} {100 * self.right / self.asked:8.1f} {faithful:9.1f}"
        p50, p95 = times[len(times) // 2], times[int(len(times) * 0.95)]
        return f"{self.kind:34}{self.asked:5} {shares} {self.calls / self.asked:6.2f} {p50:8.1f} {p95:8.1f}"


def bases(folder: Path) -> Iterator[tuple[str, Path]]:
    """The sample, and the documentation of a library where the shared corpus is there."""
    sample = folder / "sample"
    sample.mkdir()
    for name in ("sources.yaml", "taxonomy.yaml"):
        shutil.copy(ROOT / name, sample / name)
    shutil.copytree(ROOT / "examples", sample / "examples")
    yield "sample", sample
    if CORPUS.is_dir():
        root = new_root(folder / "docs", {}, docs="docs")
        shutil.copytree(CORPUS / "starlette-docs" / "0.47.3", root / "docs")
        yield "library", root


def gold(base: KnowledgeBase) -> list[Question]:
    """The gold questions on record."""
    entry = base.kb.manifest("eval").get("qa_gold")
    return [q for q in base.kb.read("eval", entry) if isinstance(q, Question)] if entry else []


def home(base: KnowledgeBase, item: str) -> str:
    """The document of an item."""
    entry = base.kb.manifest("tags").get(item)
    found = base.kb.read("tags", entry)[0] if entry else None
    return found.sources[0].doc_id if isinstance(found, Item) and found.sources else ""


def cites(found: Answer, base: KnowledgeBase, item: str) -> bool:
    """Whether an answer cites an item, or what its document was read whole in."""
    whole = [e for e in found.evidence if e.kind in ("document", "page")]
    return any(e.ref == item for e in found.evidence) or any(home(base, item) in e.docs for e in whole)


def measured(base: KnowledgeBase, way: Way, name: str) -> Iterator[Told]:
    """Each kind of question, asked afresh."""
    asked = [q for q in gold(base) if q.question]
    kinds: Mapping[str, Sequence[Question]] = {
        "gold": [q for q in asked if q.expected_item_id][:MOST],
        "hard negatives (right: own item not cited)": [q for q in asked if q.style == "hard_negative"][:MOST],
    }
    for kind, questions in kinds.items():
        told = Told(kind[:34])
        for question in questions:
            found = base.ask(str(question.question), way=way, fresh=True)
            wanted = question.expected_item_id
            told.add(found, right=cites(found, base, wanted) if wanted else not cites(found, base, question.about))
        yield told
    if name == "sample":
        told = Told("people")
        for text, words in PEOPLE.items():
            found = base.ask(text, way=way, fresh=True)
            told.add(found, right=any(words.lower() in sentence.text.lower() for sentence in found.sentences))
        yield told
    for kind, texts in (("off topic, tuning (right: silent)", TUNING), ("off topic, held (right: silent)", HELD)):
        told = Told(kind)
        for text in texts:
            found = base.ask(text, way=way, fresh=True)
            told.add(found, right=not found.answered)
        yield told


@contextmanager
def environ(*, model: bool) -> Iterator[dict[str, str]]:
    """The default embedder, and an endpoint where a model is to answer."""
    if not model:
        yield {"KB_EMBEDDER": "minilm"}
        return
    with serve(["kb_pipeline_tests.honest:honest"]) as endpoint:
        yield {"KB_EMBEDDER": "minilm", "KB_LLM_BASE_URL": endpoint.url, "KB_LLM_MODEL": "honest"}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--model", action="store_true", help="answer through an endpoint")
    model = parser.parse_args().model
    with tempfile.TemporaryDirectory() as temporary, environ(model=model) as variables:
        for name, root in bases(Path(temporary)):
            with opened(root, KB_EMBEDDER="minilm") as base:
                compile_all(base)
            with opened(root, **variables) as base:
                rows = base.status().rows
                print(
                    f"\n{name}: {rows.get('item', 0)} items, {rows.get('chunk', 0)} passages, {base.world.engine.name}"
                )
                for way in WAYS:
                    print(f"{way:34}    n answered    right  verified  calls   p50 ms   p95 ms")
                    for told in measured(base, way, name):
                        print(told.row(), flush=True)
                started = time.perf_counter()
                kept = base.ask(next(iter(PEOPLE))).kept or base.ask(next(iter(PEOPLE))).kept
                print(f"the same question again: kept {kept}, {(time.perf_counter() - started) * 1000:.0f} ms for both")


if __name__ == "__main__":
    main()
