"""A knowledge base opened for its verbs: settings, world and the build lease. Owns no verb."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from kb_pipeline import settings as settings_
from kb_pipeline.api.opening import Opened
from kb_pipeline.records import StageReport
from kb_pipeline.rules.taxonomy import category_folders
from kb_pipeline.runner import Progress, Run, no_progress
from kb_pipeline.settings import Settings
from kb_pipeline.sources import check_types, listed_once
from kb_pipeline.store import files
from kb_pipeline.store.kb import Kb


@dataclass(frozen=True)
class Listener:
    """Who is told of what this process builds: progress, each stage's report, and whom it waits for."""

    progress: Progress = no_progress
    report: Callable[[StageReport], None] = lambda _: None
    waiting: Callable[[str], None] = lambda _: None


LISTENER: ContextVar[Listener] = ContextVar("listener", default=Listener())  # noqa: B039 - frozen


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Tell ``listener`` of what this process builds inside the block."""
    token = LISTENER.set(listener)
    try:
        yield
    finally:
        LISTENER.reset(token)


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Let Python look for reference cycles rarely, and among what is new only.

    A build holds hundreds of thousands of records, which are trees. Walking all of them again and again was a third of
    the time of a build after an edit of one of 5,183 documents. A process that looks more rarely anyway may go on so.
    """
    usual = gc.get_threshold()
    gc.set_threshold(max(100_000, usual[0]), 1_000, 1_000)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


class Session:
    """The knowledge base below ``root``, opened with the settings as they are now.

    Raises ``SettingsError`` that lists every mistake of ``sources.yaml`` and ``taxonomy.yaml``, ``StoreError`` where a
    newer program wrote ``kb/``.
    """

    def __init__(self, root: Path, environ: Mapping[str, str] | None = None) -> None:
        self.settings: Settings = settings_.load(root, environ, check_types)
        self.kb = Kb(self.settings.root, category_folders(self.settings.taxonomy))
        self.kb.schema()
        self._lease = self.kb.cache / "build.lock"
        self._opened = Opened(self.settings, self.kb)
        self.world = self._opened.world
        self._trees: dict[str, Mapping[str, files.Stat]] | None = None
        self.sees: frozenset[str] | None = None  # sources; None is all

    def within(self, projects: Sequence[str]) -> Self:
        """The same knowledge base, opened once, as one sees it who may see ``projects`` alone, the first by default."""
        members = tuple(p for p in self.settings.projects if p.id in projects)
        sources = frozenset(source for project in members for source in project.sources)
        default = next((name for name in projects if name in {p.id for p in members}), None)
        settings = replace(
            self.settings,
            sources=tuple(s for s in self.settings.sources if s.id in sources),
            projects=members,
            default_project=default,
        )
        opened = self._opened.within(settings)
        seen = copy(self)
        vars(seen).update(settings=settings, world=opened.world, _opened=opened, sees=sources)
        return seen

    def close(self) -> None:
        """End worker processes, inference threads and connections."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, *, full: bool = False, accept_deletions: frozenset[str] = frozenset()) -> Run:
        trees = {} if self._trees is None else self._trees
        return Run(self.kb, self.world, full, LISTENER.get().progress, accept_deletions, trees)

    @contextmanager
    def lease(self, holder: str = "") -> Iterator[None]:
        """Hold the build lease: one build at a time, whoever asks for it. ``holder`` names who builds it all.

        Meanwhile sources, and the files that people may edit, are looked at once: what changes in a build is for the
        next one.
        """
        with (
            files.lease(self._lease, holder=holder, on_wait=LISTENER.get().waiting),
            _rare_collections(),
            listed_once(),
            self.kb.written.holding(),
        ):
            outer = self._trees
            self._trees = {} if outer is None else outer
            try:
                yield
            finally:
                self._trees = outer
