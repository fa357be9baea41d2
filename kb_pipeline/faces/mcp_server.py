"""The MCP server: tools and resources for agents, over stdio or HTTP. Knows no web page.

Each tool is one verb of the visitor whom its request stands for. But for ``ask`` none of them asks a model.
"""

import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import wraps
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import ToolAnnotations
from pydantic import Field
from starlette.types import ASGIApp

from kb_pipeline import __version__
from kb_pipeline.api.door import Door
from kb_pipeline.api.visiting import Visitor
from kb_pipeline.errors import KbError
from kb_pipeline.records import (
    Answer,
    DocumentPart,
    ItemView,
    Pages,
    PageView,
    Projects,
    Scope,
    SearchResult,
    Sources,
    ToolResult,
    Verification,
)

INSTRUCTIONS = """Proven knowledge of this team: every item is backed by a verbatim quote from a document.
ask answers a question with citations. To look for yourself, begin with search (words, a question, or an exact token
such as an error code). get_item shows the proof of a hit whose id begins with kb_, get_document the text around it.
Before you quote, verify_quote. What is not found here is not known here: say so rather than guess."""
TOKEN = "KB_TOKEN"  # noqa: S105 - the name of a variable
PART = 12_000
"""Characters of a document that one call returns at most."""

P = ParamSpec("P")
T = TypeVar("T")

Query = Annotated[str, Field(min_length=1, max_length=2000, description="Words, a question, or an exact token.")]
Project = Annotated[str | None, Field(max_length=100, description="Only this project; list_projects names them.")]
Paths = Annotated[
    list[str] | None, Field(max_length=50, description="Only these sources (notes) or documents (notes/cache.md).")
]
Kind = Annotated[Literal["item", "chunk", "page"] | None, Field(description="Only these; chunk is a passage.")]
_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
Admit = Callable[[Context], Visitor]


def _told(verb: Callable[P, T]) -> Callable[P, T]:
    """``verb`` with its errors as the agent should read them: what is wrong, where, and the cure."""

    @wraps(verb)
    def told(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return verb(*args, **kwargs)
        except KbError as error:
            raise ToolError(str(error)) from error

    return told


class Tools:
    """The tools, each for the visitor that ``admit`` finds in its request."""

    def __init__(self, admit: Admit) -> None:
        self._admit = admit

    def ask(
        self,
        ctx: Context,
        query: Annotated[str, Field(min_length=1, max_length=2000, description="A question in plain words.")],
        project: Project = None,
        paths: Paths = None,
        model: Annotated[str | None, Field(max_length=200, description="Refuse unless this one answers.")] = None,
    ) -> Answer:
        """Answer a question in sentences that each cite verified evidence, or say that it is not in the knowledge base.

        The only tool that may ask a model, where the knowledge base has one.
        """
        visitor = self._admit(ctx)
        visitor.require_model(model)
        return visitor.ask(query, scope=scope(paths), project=project)

    def search(
        self,
        ctx: Context,
        query: Query,
        k: Annotated[int, Field(ge=1, le=50, description="How many hits.")] = 10,
        project: Project = None,
        paths: Paths = None,
        kind: Kind = None,
    ) -> SearchResult:
        """Find items and passages by words, meaning and exact tokens; makes no model call. Best first."""
        return self._admit(ctx).search(query, k=k, scope=scope(paths, kind), project=project)

    def get_item(
        self,
        ctx: Context,
        id: Annotated[str, Field(pattern=r"^kb_", max_length=100, description="Such as kb_0123…")],  # noqa: A002 - what agents call it
    ) -> ItemView:
        """An item with its verbatim quotes in context, its status, what stands near it and why it is as it is."""
        return self._admit(ctx).item(id)

    def get_document(
        self,
        ctx: Context,
        id: Annotated[str, Field(min_length=1, max_length=1000, description="Such as notes/cache.md")],  # noqa: A002
        start: Annotated[int, Field(ge=0, description="First character to read.")] = 0,
        limit: Annotated[int, Field(ge=1, le=PART, description="How many characters at most.")] = PART,
    ) -> DocumentPart:
        """A document's text from a character on, with the items that it proves; says where it goes on."""
        return self._admit(ctx).document_part(id, start, limit)

    def list_pages(
        self,
        ctx: Context,
        category: Annotated[str | None, Field(max_length=200, description="Only the pages of this category.")] = None,
    ) -> Pages:
        """The pages of the wiki: title, path, what each is about, and the names and figures that stand on it."""
        return Pages(pages=tuple(self._admit(ctx).pages(category)))

    def get_page(
        self,
        ctx: Context,
        id: Annotated[str, Field(min_length=1, max_length=1000, description="Its id, path, title or alias.")],  # noqa: A002
    ) -> PageView:
        """A page of the wiki as Markdown, each sentence with the footnotes of its quotes."""
        return self._admit(ctx).page(id)

    def verify_quote(
        self,
        ctx: Context,
        quote: Annotated[str, Field(min_length=1, max_length=10_000)],
        document: Annotated[str, Field(max_length=1000, description="Where it is said to stand, if known.")] = "",
    ) -> Verification:
        """Whether a quote stands verbatim in a document, where, and which items rest on it."""
        return self._admit(ctx).verify_quote(quote, document)

    def list_sources(self, ctx: Context) -> Sources:
        """Every source: what it is, who answers for it, how fresh it is, and what failed."""
        return Sources(sources=tuple(self._admit(ctx).sources()))

    def list_projects(self, ctx: Context) -> Projects:
        """The projects that searches can be scoped to, and their sources."""
        return Projects(projects=tuple(self._admit(ctx).projects()))

    def recent_changes(
        self,
        ctx: Context,
        since: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}", max_length=20, description="Such as 2026-11-30.")],
        k: Annotated[int, Field(ge=1, le=100)] = 20,
    ) -> ToolResult:
        """What was added, merged, superseded, edited or retired since a day, the latest first."""
        return self._admit(ctx).look_up("recent_changes", since, k=k)

    def who_knows(
        self, ctx: Context, topic: Query, k: Annotated[int, Field(ge=1, le=20)] = 5, project: Project = None
    ) -> ToolResult:
        """People who wrote, or answer for, what is known of a topic."""
        return self._admit(ctx).look_up("who_knows", topic, k=k, project=project)

    def conflicts(
        self,
        ctx: Context,
        topic: Annotated[str, Field(max_length=2000, description="Words; empty for all.")] = "",
        k: Annotated[int, Field(ge=1, le=100)] = 20,
    ) -> ToolResult:
        """Items that disagree with each other, with no evidence of which is right."""
        return self._admit(ctx).look_up("conflicts", topic, k=k)

    def all(self) -> list[Callable[..., Any]]:
        """Every tool, in the order in which agents should read them."""
        return [
            self.ask,
            self.search,
            self.get_item,
            self.get_document,
            self.list_pages,
            self.get_page,
            self.verify_quote,
            self.list_sources,
            self.list_projects,
            self.recent_changes,
            self.who_knows,
            self.conflicts,
        ]


def scope(paths: list[str] | None, kind: str | None = None) -> Scope:
    """What a search may see: a path with a slash is a document, one without a source.

    Raises ``KbError`` (code ``usage``) for both at once, which no scope can say.
    """
    named = paths or []
    if len({"/" in path for path in named}) > 1:
        cure = "Ask once for each."
        raise KbError("sources and documents cannot be mixed.", where="paths", cure=cure, code="usage")
    return Scope(
        kinds=(kind,) if kind else (),
        sources=tuple(path for path in named if "/" not in path),
        docs=tuple(path for path in named if "/" in path),
    )


def server(admit: Admit) -> MCPServer:
    """The server, whose requests ``admit`` turns into visitors."""
    found = MCPServer("kb", title="Knowledge base", instructions=INSTRUCTIONS, version=__version__, log_level="ERROR")
    for tool in Tools(admit).all():
        found.add_tool(_told(tool), annotations=_READS)

    @found.resource("kb://items/{id}", mime_type="application/json", title="An item with its proofs")
    def item(id: str, ctx: Context) -> str:  # noqa: A002 - named by the address
        return _found(lambda: admit(ctx).item(id).model_dump_json())

    documents = ResourceSecurity(exempt_params=frozenset({"id"}))  # an id of ours, never a path on disk

    @found.resource("kb://documents/{+id}", mime_type="text/markdown", title="A document", security=documents)
    def document(id: str, ctx: Context) -> str:  # noqa: A002
        return _found(lambda: admit(ctx).document(id).text)

    @found.resource("kb://pages/{+id}", mime_type="text/markdown", title="A page of the wiki", security=documents)
    def page(id: str, ctx: Context) -> str:  # noqa: A002
        return _found(lambda: admit(ctx).page(id).text)

    return found


def _found(read: Callable[[], str]) -> str:
    try:
        return read()
    except KbError as error:
        raise ResourceNotFoundError(str(error)) from error


def over_http(path: str) -> tuple[ASGIApp, AbstractAsyncContextManager[None]]:
    """The application for ``path``, behind what knows the visitor, and what must run while it is served."""
    found = server(lambda ctx: ctx.request_context.request.state.visitor)  # type: ignore[union-attr]
    guarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # by whoever mounts it
    app = found.streamable_http_app(
        streamable_http_path=path, json_response=True, stateless_http=True, transport_security=guarded
    )
    return app, found.session_manager.run()


def over_stdio(door: Door) -> None:
    """Serve one agent on standard input and output, where nothing but the protocol may appear. Its token, if it has
    one, is in ``KB_TOKEN``."""

    def admit(_: Context) -> Visitor:
        return door.admit(os.environ.get(TOKEN), face="mcp", kind="agent")

    server(admit).run("stdio")
