"""The JSON API as a table: each row is a verb, its parameters and its answer. Routes and OpenAPI are loops over it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Annotated, Any, Literal, TypeVar, get_origin

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from kb_pipeline.api.answering import Tell
from kb_pipeline.api.visiting import Visitor, silent
from kb_pipeline.faces.web.problems import usage
from kb_pipeline.records import (
    Answer,
    Contents,
    DocumentLine,
    DocumentView,
    EvalResult,
    ItemView,
    Listing,
    Overview,
    PageBrief,
    PageView,
    Principal,
    Project,
    Record,
    Scope,
    SearchResult,
    SourceView,
    ToolResult,
    Verification,
    Way,
)

Method = Literal["GET", "POST"]
DAY = r"^\d{4}-\d{2}-\d{2}$"
R = TypeVar("R", bound=Record)


class Nothing(Record):
    """No parameters."""


class Searching(Record):
    """What to search for, and where."""

    q: str = Field(min_length=1, max_length=2000, description="Words, a question, or an exact token.")
    k: int = Field(10, ge=1, le=100, description="How many hits.")
    project: str | None = Field(None, max_length=100, description="Only the sources of this project.")
    source: tuple[str, ...] = Field((), max_length=50, description="Only these sources.")
    category: tuple[str, ...] = Field((), max_length=50, description="Only these categories.")
    kind: Literal["item", "chunk", "page"] | None = Field(None, description="Only rows of this kind.")

    def scope(self) -> Scope:
        """What the search may see."""
        return Scope(kinds=(self.kind,) if self.kind else (), sources=self.source, categories=self.category)


class OneItem(Record):
    """An item by its id or alias."""

    id: str = Field(min_length=1, max_length=100)


class OneDocument(Record):
    """A document by its id, slashes and all."""

    id: str = Field(min_length=1, max_length=1000)


class OneSource(Record):
    """A source by its id."""

    source: str = Field(min_length=1, max_length=100)


class Browsing(Record):
    """Which items to list."""

    category: str = Field("", max_length=200)
    tag: str = Field("", max_length=200)
    start: int = Field(0, ge=0, le=10_000_000)
    size: int = Field(50, ge=1, le=500)


class Verifying(Record):
    """A quote, and the document it is said to stand in, if any."""

    quote: str = Field(min_length=1, max_length=2000)
    document: str = Field("", max_length=1000)


class Asking(Record):
    """A question, and where its answer may come from."""

    question: str = Field(min_length=1, max_length=2000)
    project: str | None = Field(None, max_length=100, description="Only the sources of this project.")
    source: tuple[str, ...] = Field((), max_length=50, description="Only these sources.")
    way: Way = Field("auto", description="How what answers it is found.")
    keep: bool = Field(False, strict=True, description="File the answer in the wiki, as derived; takes an editor.")
    fresh: bool = Field(False, strict=True, description="Answer anew, even where an answer was kept.")


class Looking(Record):
    """What to look up: words, and how much of it."""

    query: str = Field("", max_length=2000)
    k: int = Field(10, ge=1, le=100)
    project: str | None = Field(None, max_length=100)


def _day(text: str) -> str:
    """A day as ISO 8601 has it; a number of seconds is none."""
    date.fromisoformat(text)
    return text


class Since(Record):
    """From which day on."""

    since: Annotated[str, AfterValidator(_day)] = Field(pattern=DAY, json_schema_extra={"format": "date"})
    k: int = Field(50, ge=1, le=500)


@dataclass(frozen=True)
class Operation:
    """``run`` with ``parameters`` gives an ``answer``; names in braces in ``path`` are parameters too."""

    method: Method
    path: str
    name: str
    parameters: type[Record]
    answer: Any
    run: Callable[..., Any]
    summary: str
    streams: bool = False

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """How the answer becomes JSON."""
        return TypeAdapter(self.answer)

    @cached_property
    def several(self) -> frozenset[str]:
        """Parameters that may be given several times."""
        fields = self.parameters.model_fields.items()
        return frozenset(name for name, field in fields if get_origin(field.annotation) is tuple)

    def carry_out(self, visitor: Visitor, given: dict[str, Any]) -> bytes:
        """The answer as JSON. Raises ``KbError`` (code ``usage``) that names the first wrong parameter."""
        return self.adapter.dump_json(self.run(visitor, checked(self.parameters, given)))


def checked(shape: type[R], given: dict[str, Any]) -> R:
    """``given`` as parameters. Raises ``KbError`` (code ``usage``) that names the first wrong one."""
    try:
        return shape.model_validate(given)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"])) or "body"
        known = ", ".join(shape.model_fields) or "none"
        raise usage(f"{fault['msg'][0].lower()}{fault['msg'][1:]}.", where=where, cure=f"Known: {known}.") from error


def _search(visitor: Visitor, given: Searching) -> SearchResult:
    return visitor.search(given.q, k=given.k, scope=given.scope(), project=given.project)


def _listing(visitor: Visitor, given: Browsing) -> Listing:
    return visitor.listing(**given.model_dump())


def _verify(visitor: Visitor, given: Verifying) -> Verification:
    return visitor.verify_quote(given.quote, given.document)


def ask(visitor: Visitor, given: Asking, tell: Tell = silent) -> Answer:
    """The answer to a question, told as it comes."""
    scope = Scope(sources=given.source)
    return visitor.ask(
        given.question,
        scope=scope,
        project=given.project,
        way=given.way,
        keep=given.keep,
        fresh=given.fresh,
        tell=tell,
    )


ASK = Operation(
    "POST",
    "/api/ask",
    "ask",
    Asking,
    Answer,
    ask,
    "An answer whose every sentence cites what carries it, or that it is not in the knowledge base. Accepting"
    " text/event-stream, the plan, each look-up and each sentence are told as they come.",
    streams=True,
)

OPERATIONS: tuple[Operation, ...] = (
    ASK,
    Operation("GET", "/api/me", "me", Nothing, Principal, lambda v, _: v.principal, "Whom this token stands for."),
    Operation("GET", "/api/search", "search", Searching, SearchResult, _search, "The best hits for a query."),
    Operation("GET", "/api/items", "list_items", Browsing, Listing, _listing, "Active items, the newest first."),
    Operation("GET", "/api/items/{id}", "get_item", OneItem, ItemView, lambda v, p: v.item(p.id), "An item proven."),
    Operation(
        "GET",
        "/api/documents/{id}",
        "get_document",
        OneDocument,
        DocumentView,
        lambda v, p: v.document(p.id),
        "A document with its items in place; slashes of its id may be sent as %2F or as they are.",
    ),
    Operation("GET", "/api/pages", "list_pages", Nothing, list[PageBrief], lambda v, _: v.pages(), "The wiki's pages."),
    Operation(
        "GET",
        "/api/pages/{id}",
        "get_page",
        OneDocument,
        PageView,
        lambda v, p: v.page(p.id),
        "A page by its id, path, title or alias.",
    ),
    Operation("GET", "/api/verify", "verify_quote", Verifying, Verification, _verify, "Whether a quote is verbatim."),
    Operation("GET", "/api/contents", "contents", Nothing, Contents, lambda v, _: v.contents(), "What there is."),
    Operation(
        "GET",
        "/api/sources",
        "list_sources",
        Nothing,
        list[SourceView],
        lambda v, _: v.sources(),
        "Sources with freshness and failures.",
    ),
    Operation(
        "GET",
        "/api/sources/{source}/documents",
        "list_documents",
        OneSource,
        list[DocumentLine],
        lambda v, p: v.documents(p.source),
        "The documents of a source.",
    ),
    Operation(
        "GET", "/api/projects", "list_projects", Nothing, list[Project], lambda v, _: v.projects(), "The projects."
    ),
    Operation(
        "GET",
        "/api/evaluations",
        "evaluations",
        Nothing,
        list[EvalResult],
        lambda v, _: v.evaluations(),
        "Every evaluation, oldest first.",
    ),
    Operation(
        "GET",
        "/api/who-knows",
        "who_knows",
        Looking,
        ToolResult,
        lambda v, p: v.look_up("who_knows", p.query, k=p.k, project=p.project),
        "Who wrote or answers for what is known of a subject.",
    ),
    Operation(
        "GET",
        "/api/conflicts",
        "conflicts",
        Looking,
        ToolResult,
        lambda v, p: v.look_up("conflicts", p.query, k=p.k, project=p.project),
        "Items that disagree, those about the words first.",
    ),
    Operation(
        "GET",
        "/api/changes",
        "recent_changes",
        Since,
        ToolResult,
        lambda v, p: v.look_up("recent_changes", p.since, k=p.k),
        "What happened to items since a day, the latest first.",
    ),
    Operation("GET", "/api/status", "status", Nothing, Overview, lambda v, _: v.status(), "The state of everything."),
)
"""Every operation of the API; ``ask`` streams too."""
