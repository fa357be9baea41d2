"""The verbs of one who asks: search, show, status and figures. Nothing here changes the knowledge base."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any, cast, get_args

from kb_pipeline.api.costs import costs, prompt_rows
from kb_pipeline.api.opening import LEDGER, REJECTS
from kb_pipeline.api.session import Session
from kb_pipeline.api.views import document_view, item_view, overview
from kb_pipeline.errors import KbError, NotFound
from kb_pipeline.query.search import search as search_
from kb_pipeline.records import (
    UNCLASSIFIED,
    CostRow,
    DocumentView,
    EvalResult,
    ItemView,
    Overview,
    Project,
    PromptRow,
    Scope,
    SearchResult,
    Status,
)
from kb_pipeline.rules.written import HUMAN
from kb_pipeline.runner import stale


class Asking(Session):
    """Looking at the knowledge base as it stands."""

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        scope: Scope | None = None,
        project: str | None = None,
        explain: bool = False,
        neighbours: bool = False,
    ) -> SearchResult:
        """The ``k`` best hits for ``query``, within ``scope`` and ``project``, from the live generation; with
        ``explain`` each says why it stands there, with ``neighbours`` what stands beside it."""
        within = self._within(scope, project)
        return search_(query, self._opened.reader, scope=within, k=k, explain=explain, neighbours=neighbours)

    def _within(self, scope: Scope | None, project: str | None) -> Scope:
        """What a search may see. Raises ``NotFound`` for a source, category, status or project that is none,
        ``KbError`` (code ``usage``) for a day that is none."""
        wanted = scope or Scope()
        self._known("status", wanted.statuses, get_args(Status))
        for day in filter(None, (wanted.since, wanted.until)):
            if not _is_day(day):
                cure = "Write it as 2026-11-30."
                raise KbError(f"'{day}' is no day.", where="search", cure=cure, code="usage")
        self._known("source", wanted.sources, [*(s.id for s in self.settings.sources), HUMAN])
        with self.world.index.snapshot() as snapshot:
            for doc in wanted.docs:
                if not snapshot.read(doc):
                    raise NotFound(f"there is no document '{doc}'.", where="search", cure="Find one with a search.")
        categories = [c.name for c in self.settings.taxonomy.categories]
        self._known("category", wanted.categories, [*categories, UNCLASSIFIED])
        chosen = project or self.settings.default_project
        if chosen:
            members = self._project(chosen).sources
            sources = tuple(s for s in members if not wanted.sources or s in wanted.sources)
            wanted = wanted.model_copy(update={"sources": sources or ("",)})
        return wanted

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


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
