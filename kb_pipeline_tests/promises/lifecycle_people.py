"""What people do to items: edit, hide and write files, decide, restore, purge. Edits like those of sources."""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kb_pipeline.errors import KbError, NotFound
from kb_pipeline.rules.ids import draft_hash, item_id
from kb_pipeline_tests.driving import opened


def id_of(statement: str) -> str:
    """The id that a statement without a context has by itself."""
    return item_id(draft_hash(statement, None))


def file_of(root: Path, statement: str) -> Path | None:
    """The file of the item that says so."""
    for path in sorted((root / "kb/items").glob("*/*.json")):
        if json.loads(path.read_text())["statement"] == statement:
            return path
    return None


@dataclass(frozen=True)
class EditItem:
    """Another value of a field, written into the item's file with an editor."""

    statement: str
    field: str
    value: Any

    def apply(self, root: Path) -> frozenset[str]:
        path = file_of(root, self.statement)
        if path is None:
            return frozenset()
        item = {**json.loads(path.read_text()), self.field: self.value}
        path.write_text(json.dumps(item, indent=2, ensure_ascii=False) + "\n")
        return frozenset({path.relative_to(root).as_posix()})


@dataclass(frozen=True)
class HideItem:
    """The item's file deleted."""

    statement: str

    def apply(self, root: Path) -> frozenset[str]:
        path = file_of(root, self.statement)
        if path is None:
            return frozenset()
        path.unlink()
        return frozenset({path.relative_to(root).as_posix()})


@dataclass(frozen=True)
class WriteItem:
    """A new item file."""

    path: str
    statement: str

    def apply(self, root: Path) -> frozenset[str]:
        path = root / "kb/items" / self.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"statement": self.statement}))
        return frozenset({path.relative_to(root).as_posix()})


@dataclass(frozen=True)
class RestoreItem:
    """``kb restore`` of what was hidden or retired."""

    statement: str

    def apply(self, root: Path) -> frozenset[str]:
        with opened(root) as base, suppress(NotFound):
            base.restore(id_of(self.statement))
            return frozenset({id_of(self.statement)})
        return frozenset()


@dataclass(frozen=True)
class RetireItem:
    """``kb edit --status retired``."""

    statement: str

    def apply(self, root: Path) -> frozenset[str]:
        path = file_of(root, self.statement)
        if path is None:
            return frozenset()
        with opened(root) as base, suppress(KbError):  # of what no document states
            base.edit(path.stem, {"status": "retired"})
            return frozenset({path.stem})
        return frozenset()


@dataclass(frozen=True)
class Decide:
    """A decision on two items: of ``supersede`` the first replaces the second."""

    action: str
    first: str
    second: str

    def apply(self, root: Path) -> frozenset[str]:
        one, other = file_of(root, self.first), file_of(root, self.second)
        if one is None or other is None:
            return frozenset()
        with opened(root) as base, suppress(KbError):  # of what no document states
            base.decide(f"pair:{one.stem}:{other.stem}", self.action, "so we agreed")
            return frozenset({one.stem, other.stem})
        return frozenset()


@dataclass(frozen=True)
class Purge:
    """``kb purge`` of a document."""

    doc: str

    def apply(self, root: Path) -> frozenset[str]:
        with opened(root) as base:
            report = base.purge(self.doc)
        assert report.residue == (), report.residue
        return frozenset({self.doc})


@dataclass(frozen=True)
class Readmit:
    """A purged document let in again."""

    doc: str

    def apply(self, root: Path) -> frozenset[str]:
        with opened(root) as base:
            return frozenset({self.doc} if base.readmit(self.doc) else ())
