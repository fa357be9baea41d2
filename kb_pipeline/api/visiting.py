"""The knowledge base as one caller may see and use it: every face but the command line goes through a ``Visitor``.

Here, in one place, verbs meet what a principal may: his projects before any ranking, his role, and a line in the log of
queries. What he may not see does not exist for him, in the same words as what never did.
"""

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from kb_pipeline.api import browsing
from kb_pipeline.api.access import TYPING, Forbidden, allowed
from kb_pipeline.api.answering import Tell
from kb_pipeline.api.knowledge_base import KnowledgeBase
from kb_pipeline.api.looking_up import Looked
from kb_pipeline.errors import KbError, NotFound, StoreError
from kb_pipeline.records import (
    Answer,
    Contents,
    DocumentLine,
    DocumentPart,
    DocumentView,
    EvalResult,
    Event,
    ItemView,
    Listing,
    Overview,
    PageBrief,
    PageView,
    Principal,
    Project,
    Query,
    Record,
    Role,
    Scope,
    SearchResult,
    SourceView,
    Standing,
    ToolResult,
    UserKind,
    Verification,
    Way,
)
from kb_pipeline.rules import grounding, visibility

LOCAL = Principal(name="local", role="admin")
"""Whoever sits at this machine."""
_LOG = logging.getLogger(__name__)
_PLACES = 20


def silent(kind: str, record: Record) -> None:
    """Hear of what comes, and say nothing."""


@dataclass
class Told:
    """What a verb found, for the log of queries."""

    hits: int = 0
    answered: bool | None = None
    calls: int = 0


@dataclass(frozen=True)
class Visitor:
    """``principal``, who came through ``face`` as a ``kind`` of user, before ``base``."""

    base: KnowledgeBase
    principal: Principal = LOCAL
    face: str = "web"
    kind: UserKind = "person"

    @cached_property
    def seen(self) -> KnowledgeBase:
        """The knowledge base as far as the principal sees it."""
        return self.base.within(self.principal.projects) if self.principal.projects else self.base

    def require(self, role: Role) -> None:
        """Raise ``Forbidden`` where the principal has less than ``role``."""
        allowed(self.principal, role)

    def require_model(self, name: str | None) -> None:
        """Raise ``KbError`` (code ``usage``) where ``name`` is given and another one answers questions here."""
        endpoint, engine = self.base.settings.endpoint, self.base.world.engine.name
        answers = endpoint.model_of("answer") if endpoint and engine != "extractive" else engine
        if name and name != answers:
            cure = "Leave it out, or name that one."
            raise KbError(f"'{name}' does not answer here, '{answers}' does.", where="model", cure=cure, code="usage")

    # --- asking --------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        scope: Scope | None = None,
        project: str | None = None,
        as_of: str | None = None,
        explain: bool = False,
        typing: bool = False,
    ) -> SearchResult:
        """The ``k`` best hits for ``query``; ``typing`` says that it is not finished. Raises as
        ``KnowledgeBase.search``, and ``Forbidden`` for an earlier day, or for what is no longer active, where he does
        not see everything."""
        former = "as_of" if as_of else "statuses" if scope and {*scope.statuses} - {"active"} else ""
        if former and self.seen.sees is not None:
            cure = "Ask someone whose token sees everything."
            raise Forbidden("what was known earlier is not kept apart by project.", where=former, cure=cure)
        with self._noted(TYPING if typing else "search", query, project) as told:
            found = self.seen.search(query, k=k, scope=scope, project=project, as_of=as_of, explain=explain)
            told.hits = len(found.hits)
            return found

    def ask(
        self,
        question: str,
        *,
        scope: Scope | None = None,
        project: str | None = None,
        way: Way = "auto",
        keep: bool = False,
        fresh: bool = False,
        tell: Tell = silent,
    ) -> Answer:
        """The answer to ``question``, or that it is not in the knowledge base; to ``keep`` it takes an editor. Raises
        as ``KnowledgeBase.ask``."""
        if keep:
            self.require("editor")
        with self._noted("ask", question, project) as told:
            found = self.seen.ask(question, scope=scope, project=project, way=way, keep=keep, fresh=fresh, tell=tell)
            told.hits, told.answered, told.calls = len(found.evidence), found.answered, found.calls
            return found

    def look_up(self, tool: Looked, query: str = "", *, k: int = 10, project: str | None = None) -> ToolResult:
        """What one tool finds, without a model. Raises as ``KnowledgeBase.look_up``."""
        with self._noted(tool, query, project) as told:
            found = self.seen.look_up(tool, query, k=k, project=project)
            told.hits = len(found.evidence)
            return found

    def changes(self, since: str, limit: int) -> list[Event]:
        """What happened to items since a day, the latest first."""
        return self.seen.recent_changes(since, limit)

    def statements(self, names: Iterable[str]) -> dict[str, str]:
        """What those of the items say that are in force and his to see, by id."""
        with self.seen.world.index.snapshot() as snapshot:
            return {row.id: row.text for row in snapshot.rows(list(dict.fromkeys(names)))}

    def item(self, name: str) -> ItemView:
        """An item by its id or alias. Raises ``NotFound``, in the same words for what is not his to see."""
        found, sees = self._shown(name) if name.startswith("kb_") else None, self.seen.sees
        if isinstance(found, ItemView) and sees is not None:
            found = visibility.item(found, sees, self.known)
        if not isinstance(found, ItemView):
            raise NotFound(f"there is no item '{name}'.", where="items", cure="Find one with a search.")
        return found

    def document(self, name: str) -> DocumentView:
        """A document by its id, with its items in place. Raises as ``item``."""
        sees = self.seen.sees
        known = {"human", *(source.id for source in self.base.settings.sources)}  # else a name would become a path
        found = self._shown(name) if name.partition("/")[0] in known else None
        if isinstance(found, DocumentView) and sees is not None:
            found = visibility.document(found, sees, self.known)
        if not isinstance(found, DocumentView):
            raise NotFound(f"there is no document '{name}'.", where="documents", cure="Find one with a search.")
        return found

    def _shown(self, name: str) -> ItemView | DocumentView | None:
        try:
            return self.base.show(name)
        except NotFound:
            if self.seen.sees is None:
                raise
            return None  # its words would name what is not his to see

    def known(self, names: Iterable[str]) -> frozenset[str]:
        """Which of these items are in force and his to see."""
        return frozenset(self.statements(names))

    def document_part(self, name: str, start: int, limit: int) -> DocumentPart:
        """At most ``limit`` characters of a document from ``start`` on. Raises as ``document``."""
        view = self.document(name)
        start = min(start, len(view.text))
        end = min(start + limit, len(view.text))
        return DocumentPart(
            doc_id=view.meta.doc_id,
            title=view.meta.title,
            uri=view.meta.uri,
            license=view.meta.license,
            authors=view.meta.authors,
            effective_date=view.meta.effective_date,
            text=view.text[start:end],
            start=start,
            end=end,
            total=len(view.text),
            items=tuple(brief for brief in view.items if start <= brief.start < end),
        )

    def verify_quote(self, quote: str, document: str = "") -> Verification:
        """Whether ``quote`` stands verbatim in ``document``, or in any that may be seen, and what rests on it.

        Quotation marks, dashes and white space may differ, nothing else.
        """
        with self._noted("verify_quote", quote, None) as told:
            candidates = [document] if document else self._holding(quote)
            places = tuple(place for name in candidates for place in self._standing(quote, name))[:_PLACES]
            told.hits = len(places)
            return Verification(quote=quote, verbatim=bool(places), places=places)

    def _holding(self, quote: str) -> list[str]:
        """Documents that may hold ``quote``: those whose passages are most like it."""
        if not quote.strip():
            return []
        found = self.seen.search(quote, k=_PLACES, scope=Scope(sources=tuple(s.id for s in self.seen.settings.sources)))
        return list(dict.fromkeys(doc for hit in found.hits for doc in (hit.doc_id, *hit.docs) if doc))

    def _standing(self, quote: str, name: str) -> Iterator[Standing]:
        view = self.document(name)
        place = grounding.locate(quote, view.text)
        if place:
            start, end = place
            items = tuple(b.id for b in view.items if b.start < end and b.end > start)
            yield Standing(doc_id=name, title=view.meta.title, start=start, end=end, items=items)

    def pages(self, category: str | None = None) -> list[PageBrief]:
        """The pages of the wiki that he may see, by title."""
        return self.seen.pages(category)

    def page(self, name: str) -> PageView:
        """A page by its id, path, title or alias. Raises ``NotFound`` with the nearest of those that he may see."""
        return self.seen.page(name)

    # --- looking around ------------------------------------------------------------------------------------------

    def contents(self) -> Contents:
        """What there is by kind, category and tag."""
        return browsing.contents(self.seen)

    def listing(self, *, category: str = "", tag: str = "", start: int = 0, size: int = browsing.PAGE) -> Listing:
        """Active items of a category, a tag or both."""
        return browsing.listing(self.seen, category=category, tag=tag, start=start, size=size)

    def sources(self) -> list[SourceView]:
        """Sources with their freshness and failures."""
        return browsing.sources(self.base, self.seen)

    def documents(self, source: str) -> list[DocumentLine]:
        """The documents of a source. Raises ``NotFound`` for one that is none, or none of his."""
        known = [s.id for s in self.seen.settings.sources]
        if source not in known:
            cure = f"Known: {', '.join(known) or 'none'}."
            raise NotFound(f"there is no source '{source}'.", where="sources", cure=cure)
        return browsing.documents(self.seen, source)

    def projects(self) -> list[Project]:
        """The projects that he sees."""
        return list(self.seen.settings.projects)

    def evaluations(self) -> list[EvalResult]:
        """Every evaluation on record, oldest first, as far as it is about what he sees."""
        return browsing.evaluations(self.seen)

    def status(self) -> Overview:
        """The state of everything, for whoever may see everything."""
        self.require("admin" if self.principal.projects else "reader")
        return self.base.status()

    @contextmanager
    def _noted(self, verb: str, question: str, project: str | None) -> Iterator[Told]:
        """A line in the log of queries, whatever comes of it; a disk that refuses the line stops no reader."""
        told, began = Told(), time.perf_counter()
        try:
            yield told
        finally:
            line = Query(
                at="",
                who=self.principal.name,
                kind=self.kind,
                face=self.face,
                verb=verb,
                project=project or self.seen.settings.default_project or "",
                question=question,
                hits=told.hits,
                answered=told.answered,
                calls=told.calls,
                ms=round((time.perf_counter() - began) * 1000, 1),
            )
            try:
                self.base.record(line)
            except StoreError as error:
                _LOG.error("a query could not be logged: %s", error)
