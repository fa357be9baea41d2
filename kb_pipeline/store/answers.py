"""Answers on disk: those that were given, until their generation is gone, and those that a person filed in the wiki.

A kept answer is a convenience of this machine; it is believed only while all that it cites can still be seen.
"""

import re
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from kb_pipeline.errors import StoreError
from kb_pipeline.records import Answer, Evidence, Sentence
from kb_pipeline.rules.ids import digest
from kb_pipeline.store.files import read_bytes, remove, replace
from kb_pipeline.store.kb import Kb
from kb_pipeline.world import Snapshot

FILED = Path("wiki") / "answers"
_SLUG = 60
_OF_A_DAY = frozenset({"recent_changes"})
"""Tools whose answers are another tomorrow: what used them is not kept."""


class Answers:
    """The answers of one knowledge base. Safe for threads and processes: each is written whole, under its own name."""

    def __init__(self, kb: Kb) -> None:
        self._root, self._folder, self._filed = kb.folder, kb.cache / "answers", kb.folder / FILED

    def get(self, generation: str, key: str, snapshot: Snapshot) -> Answer | None:
        """The answer kept under ``key``, marked so; None where there is none, or something it shows was deleted."""
        data = read_bytes(self._folder / generation / f"{key}.json")
        try:
            found = Answer.model_validate_json(data) if data else None
        except ValidationError:
            return None
        if found is None or not all(_stands(e, snapshot) for e in (*found.evidence, *found.nearest)):
            return None
        return found.model_copy(update={"kept": True, "calls": 0, "ms": 0.0})

    def put(self, answer: Answer, key: str) -> None:
        """Keep an answer whose look-ups were all made, and drop those over older generations. A disk that cannot be
        written to keeps none."""
        if answer.failed or (answer.plan and any(call.tool in _OF_A_DAY for call in answer.plan.calls)):
            return
        with suppress(StoreError, OSError):
            replace(self._folder / answer.generation / f"{key}.json", answer.model_dump_json().encode(), durable=False)
            for folder in self._folder.iterdir():
                if folder.name < answer.generation:
                    remove(list(folder.iterdir()), self._folder)

    def file(self, answer: Answer) -> str:
        """Write an answer as a page under ``kb/wiki/answers``; its path. The same question has one page."""
        slug = re.sub(r"[^\w]+", "-", answer.question.casefold()).strip("-")[:_SLUG].strip("-")
        path = self._filed / f"{slug or 'answer'}-{digest(answer.question)[:8]}.md"
        data = page(answer).encode()
        if read_bytes(path) != data:
            replace(path, data)
        return f"{self._root.name}/{path.relative_to(self._root).as_posix()}"


def page(answer: Answer) -> str:
    """An answer as a page: marked as derived, each sentence with its sources' numbers, these with their quotes."""
    numbers = {found.id: n for n, found in enumerate(answer.evidence, start=1)}
    head = {
        "derived": "true",
        "title": _scalar(answer.question),
        "generation": answer.generation,
        "engine": _scalar(answer.engine),
        "asked": answer.at,
    }
    lines = ["---", *(f"{name}: {value}" for name, value in head.items()), "---", "", f"# {answer.question}", ""]
    lines += ["*Derived from the knowledge base when it was asked; it is no source of anything.*", ""]
    for sentence in answer.sentences:
        lines += [_said(sentence, numbers), ""]
    lines += ["## Sources", ""]
    lines += [_source(found, numbers[found.id]) for found in answer.evidence]
    lines += ["", *(f"Not looked up: {failure}" for failure in answer.failed)]
    return "\n".join(lines).rstrip() + "\n"


def _said(sentence: Sentence, numbers: dict[str, int]) -> str:
    marks = "".join(f"[{numbers[name]}]" for name in sentence.cites if name in numbers)
    notes = f" ({'; '.join(sentence.notes)})" if sentence.notes else ""
    return f"{sentence.text} {marks}{notes}"


def _source(found: Evidence, number: int) -> str:
    quote = f": “{' '.join(found.quote.split())}”" if found.quote and found.quotable else ""
    return f"{number}. {found.title or found.doc_id} (`{found.ref}`, `{found.doc_id}`){quote}"


def _scalar(text: str) -> str:
    escaped = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _stands(found: Evidence, snapshot: Snapshot) -> bool:
    """Whether what an answer shows may still be seen: its row or document, and the document it is quoted from."""
    if found.kind in ("document", "person", "conflict", "change") or found.status == "superseded":
        return bool(snapshot.read(found.doc_id))
    rows = snapshot.rows([found.ref])
    return bool(rows) and (not found.doc_id or found.doc_id in (rows[0].doc_id, *rows[0].docs))
