"""The verbs of the knowledge base. Faces and Dagster speak to this alone; nothing here knows a face.

Every verb reads the settings as they are now, so an edited ``sources.yaml`` needs no restart.
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from kb_pipeline import settings as settings_
from kb_pipeline.api.costs import costs, prompt_rows
from kb_pipeline.api.estimating import forecast
from kb_pipeline.api.opening import LEDGER, REJECTS, Opened
from kb_pipeline.api.reporting import build_report
from kb_pipeline.api.views import document_view, item_view, overview
from kb_pipeline.checks import CHECKS
from kb_pipeline.engines.openai import OpenAi
from kb_pipeline.errors import NotFound, SourceUnavailable
from kb_pipeline.query.search import search as search_
from kb_pipeline.recipes import outdated
from kb_pipeline.records import (
    UNCLASSIFIED,
    BuildReport,
    CostRow,
    DocumentView,
    Estimate,
    EvalResult,
    Finding,
    ItemView,
    Overview,
    Project,
    PromptRow,
    Scope,
    SearchResult,
    StageReport,
)
from kb_pipeline.rules import ids
from kb_pipeline.runner import Progress, Run, Stale, build_stage, check, checks_of, no_progress, stale
from kb_pipeline.settings import Settings
from kb_pipeline.sources import check_types
from kb_pipeline.stages import PER_SOURCE, PIPELINE
from kb_pipeline.store import files
from kb_pipeline.store.kb import Kb


@dataclass(frozen=True)
class Listener:
    """Who is told of what this process builds: progress, each stage's report, and whom it waits for."""

    progress: Progress = no_progress
    report: Callable[[StageReport], None] = lambda _: None
    waiting: Callable[[str], None] = lambda _: None


_LISTENER: ContextVar[Listener] = ContextVar("listener", default=Listener())  # noqa: B039 - frozen


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Tell ``listener`` of what this process builds inside the block."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Let Python look for reference cycles rarely, and among what is new only.

    A build holds hundreds of thousands of records, which are trees. Walking all of them again and again was a third of
    the time of a build after an edit of one of 5,183 documents.
    """
    usual = gc.get_threshold()
    gc.set_threshold(100_000, 1_000, 1_000)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


_SHARED: dict[Path, "KnowledgeBase"] = {}


def shared(root: Path) -> "KnowledgeBase":
    """The knowledge base below ``root``, opened once a process for as long as its settings stay equal."""
    fresh = settings_.load(root, None, check_types)
    held = _SHARED.get(fresh.root)
    if held is None or held.settings != fresh:
        if held is not None:
            held.close()
        _SHARED[fresh.root] = KnowledgeBase(root)
    return _SHARED[fresh.root]


class KnowledgeBase:
    """The knowledge base below ``root``, opened with the settings as they are now.

    Raises ``SettingsError`` that lists every mistake of ``sources.yaml`` and ``taxonomy.yaml``, ``StoreError`` where a
    newer program wrote ``kb/``.
    """

    def __init__(self, root: Path, environ: Mapping[str, str] | None = None) -> None:
        self.settings: Settings = settings_.load(root, environ, check_types)
        self.kb = Kb(self.settings.root)
        self.kb.schema()
        self._lease = self.kb.cache / "build.lock"
        self._opened = Opened(self.settings, self.kb)
        self.world = self._opened.world
        self._trees: dict[str, Mapping[str, files.Stat]] | None = None

    def close(self) -> None:
        """End worker processes, inference threads and connections."""
        self._opened.close()

    def __enter__(self) -> "KnowledgeBase":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- building ------------------------------------------------------------------------------------------------

    def _run(self, *, full: bool = False, accept_deletions: frozenset[str] = frozenset()) -> Run:
        trees = {} if self._trees is None else self._trees
        return Run(self.kb, self.world, full, _LISTENER.get().progress, accept_deletions, trees)

    @contextmanager
    def lease(self, holder: str = "") -> Iterator[None]:
        """Hold the build lease: one build at a time, whoever asks for it. ``holder`` names who builds it all.

        Meanwhile the files that people may edit are looked at once: what they change in a build is for the next one.
        """
        with files.lease(self._lease, holder=holder, on_wait=_LISTENER.get().waiting), _rare_collections():
            outer = self._trees
            self._trees = {} if outer is None else outer
            try:
                yield
            finally:
                self._trees = outer

    def builder(self) -> str | None:
        """Who holds the build lease for a whole build, or None; a run that builds a stage has no name."""
        return (files.holder(self._lease) or {}).get("holder") or None

    def outdated(self) -> list[str]:
        """Modules and libraries that changed on disk since this process read them."""
        return outdated()

    def serve_alone(self) -> None:
        """Be the one process that serves Dagster over this knowledge base: two daemons would launch everything twice.

        Raises ``Busy`` where another does.
        """
        files.keep(self.kb.cache / "dev.lock", "`kb dev` runs over this knowledge base already")

    def stale(
        self,
        only: frozenset[str] = frozenset(),
        *,
        full: bool = False,
        refetch: bool = False,
        accept_deletions: frozenset[str] = frozenset(),
    ) -> Stale:
        """What must run, and why: sources, then whole stages. Changes nothing."""
        unknown = (only | accept_deletions) - {s.id for s in self.settings.sources}
        if unknown:
            known = ", ".join(s.id for s in self.settings.sources) or "none"
            raise NotFound(
                f"there is no source '{min(unknown)}'.", where="sources.yaml", cure=f"Known sources: {known}."
            )
        return stale(self._run(full=full, accept_deletions=accept_deletions), only, refetch=refetch)

    def build_stage(
        self,
        stage: str,
        source: str | None = None,
        *,
        full: bool = False,
        accept_deletions: frozenset[str] = frozenset(),
    ) -> StageReport:
        """Bring one stage (of one source) up to date; waits for the build lease, or, to read a source, for whoever
        reads it: one that is slow to answer keeps no other waiting.

        Of a source that cannot be read, what is known is brought up to date before ``SourceUnavailable`` is raised.
        """
        message = self.kb.check_schema()
        run = self._run(full=full, accept_deletions=accept_deletions)
        try:
            with self._reading(source) if PIPELINE[stage].level == "fetch" else self.lease():
                return self._tell(build_stage(run, stage, source), message)
        except SourceUnavailable:
            with self.lease():
                for below in PER_SOURCE[1:] if self.kb.manifest(stage, source).live() else ():
                    self._tell(build_stage(run, below, source))
            raise

    def _reading(self, source: str | None) -> AbstractContextManager[None]:
        lock = self.kb.cache / "reading" / f"{source}.lock"
        return files.lease(lock, on_wait=_LISTENER.get().waiting)

    def _tell(self, report: StageReport, message: str | None = None) -> StageReport:
        notes = tuple(n for n in (message, *self.kb.warnings) if n)
        self.kb.warnings.clear()
        report = report.model_copy(update={"warnings": (*notes, *report.warnings)}) if notes else report
        _LISTENER.get().report(report)
        return report

    def report(self, reports: Sequence[StageReport], failed: Sequence[str], seconds: float) -> BuildReport:
        """One build in figures."""
        return build_report(self._run(), reports, failed, seconds)

    def recipes(self) -> dict[str, str]:
        """The recipe of each stage, as Dagster shows it."""
        run = self._run()
        return {name: run.recipe(stage) for name, stage in PIPELINE.items()}

    def versions(self) -> dict[str, str]:
        """The versions of what people edit beside the sources, as far as stages depend on them: which sources there
        are, and the categories."""
        return {
            "source_registry": ids.digest_json(sorted(s.id for s in self.settings.sources)),
            "taxonomy": ids.digest_json(self.settings.taxonomy.model_dump(mode="json")),
        }

    def check(self, stage: str | None = None, source: str | None = None, *, full: bool = True) -> list[Finding]:
        """Run the checks (of one stage, of one source). ``full`` looks at everything, not only at what changed since
        they passed."""
        rows = CHECKS if stage is None else checks_of(stage)
        if not rows:
            known = ", ".join(row.stage for row in CHECKS)
            raise NotFound(f"there is no check of '{stage}'.", where="kb check", cure=f"Known stages: {known}.")
        run = self._run(full=full)
        return [check(run, row, source) for row in rows]

    # --- asking --------------------------------------------------------------------------------------------------

    def search(
        self, query: str, *, k: int = 10, scope: Scope | None = None, project: str | None = None
    ) -> SearchResult:
        """The ``k`` best hits for ``query``, within ``scope`` and ``project``, from the live generation."""
        wanted = scope or Scope()
        self._known("source", wanted.sources, [s.id for s in self.settings.sources])
        categories = [c.name for c in self.settings.taxonomy.categories]
        self._known("category", wanted.categories, [*categories, UNCLASSIFIED])
        chosen = project or self.settings.default_project
        if chosen:
            members = self._project(chosen).sources
            sources = tuple(s for s in members if not wanted.sources or s in wanted.sources)
            wanted = wanted.model_copy(update={"sources": sources or ("",)})
        return search_(query, self._opened.reader, scope=wanted, k=k)

    def _known(self, noun: str, wanted: Iterable[str], known: Sequence[str]) -> None:
        """Raise ``NotFound`` for a name that is none: a filter that nothing can pass must not look like no result."""
        for name in set(wanted) - set(known):
            raise NotFound(
                f"there is no {noun} '{name}'.", where="search", cure=f"Known: {', '.join(known) or 'none'}."
            )

    def _project(self, name: str) -> Project:
        projects = {p.id: p for p in self.settings.projects}
        if name not in projects:
            known = ", ".join(sorted(projects)) or "none"
            raise NotFound(f"there is no project '{name}'.", where="sources.yaml", cure=f"Known projects: {known}.")
        return projects[name]

    def show(self, name: str) -> ItemView | DocumentView:
        """An item by its id or alias, or a document by its id."""
        run = self._run()
        return item_view(run, name) if name.startswith("kb_") else document_view(run, name, self._opened.log(REJECTS))

    def estimate(self, only: frozenset[str] = frozenset(), *, full: bool = False) -> Estimate:
        """What the next build would ask of models, by stage, as ranges. Sources are read, no model is asked."""
        self.stale(only)
        endpoint, opened = self.settings.endpoint, self._opened.endpoint
        if endpoint is None or opened is None or not isinstance(self.world.engine, OpenAi):
            return Estimate()
        return forecast(self._run(full=full), opened.client, endpoint, only)

    def costs(self, by: str = "stage") -> list[CostRow]:
        """What models cost so far on this machine, by ``stage``, ``source``, ``model`` or ``day``."""
        return costs(self._opened.log(LEDGER), by)

    def prompts(self) -> list[PromptRow]:
        """The prompts in use, and how much of what is on disk was made with other ones."""
        return prompt_rows(self._run())

    def status(self) -> Overview:
        """The state of every source, stage and generation."""
        run = self._run()
        return overview(run, stale(run), self.settings.root)

    def sql(self, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Columns and rows of a ``SELECT`` over the table ``rows`` of the live generation."""
        with self.world.index.snapshot() as snapshot:
            return snapshot.sql(query)

    def evaluations(self) -> list[EvalResult]:
        """Every evaluation on record, oldest first."""
        entry = self.kb.manifest("eval").get("results")
        return list(cast(tuple[EvalResult, ...], self.kb.read("eval", entry))) if entry else []

    def rollback(self, generation: str | None = None) -> str:
        """Serve readers from an earlier generation (by default the one before) until the inputs change."""
        index = self.world.index
        earlier = [g for g in index.generations() if g != index.live()]
        live = index.live()
        wanted = generation or max((g for g in earlier if live and g < live), default=None)
        if wanted is None or wanted not in index.generations():
            retained = ", ".join(index.generations()) or "none"
            raise NotFound(
                "there is no such generation." if wanted else "there is no generation before the live one.",
                where="kb rollback",
                cure=f"Retained generations: {retained}.",
            )
        with self.lease(), self.kb.locked():
            index.pin(wanted)
        return wanted
