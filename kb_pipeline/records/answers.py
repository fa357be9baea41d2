"""Questions, what was looked up for them, and answers whose every sentence names its evidence."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from kb_pipeline.records.record import SCHEMA_VERSION, Record

Tool = Literal["search", "catalogue", "get", "document", "recent_changes", "who_knows", "conflicts"]
Way = Literal["hybrid", "catalogue", "auto"]


class SourceCard(Record):
    """A source as a planner sees it: ``about`` says what it is good at, in the words of its documents."""

    id: str
    type: str
    documents: int
    about: str = ""


class Briefing(Record):
    """All that a planner knows besides the question: the day, the sources in scope, the tools that can be called."""

    today: str
    project: str = ""
    sources: tuple[SourceCard, ...] = ()
    tools: tuple[Tool, ...] = ()


class Card(Record):
    """What can be read whole, as it stands in the catalogue: ``headings`` are a document's, ``summary`` a page's."""

    ref: str
    kind: Literal["document", "page"]
    title: str
    headings: tuple[str, ...] = ()
    summary: str = ""
    keys: tuple[str, ...] = ()
    length: int = 0


class Picks(Record):
    """What an engine picks from the catalogue, best first; ``parts`` is in how many parts it read all the cards."""

    refs: tuple[str, ...] = ()
    parts: int = 1


class ToolCall(Record):
    """One look-up. ``query`` is words (``search``, ``catalogue``, ``who_knows``, ``conflicts``), an item's id
    (``get``), a document's id (``document``) or a date (``recent_changes``)."""

    tool: Tool
    query: str = ""
    k: int = 10


class Plan(Record):
    """The look-ups for one question; ``reason`` is one line, ``engine`` who planned it."""

    question: str
    calls: tuple[ToolCall, ...]
    reason: str = ""
    engine: str = ""


class Evidence(Record):
    """One thing found, whichever tool found it.

    ``id`` is its number within the answer (``e1``), ``ref`` what ``kb show`` takes. ``text`` is what it says and
    ``quote`` the verbatim words of ``doc_id`` from ``start`` to ``end``. ``scores`` are as measured (``relevance`` and
    ``rerank`` 0 to 10, ``cosine``, ``coverage`` 0 to 1). ``hints`` say what a reader must know: that it is superseded,
    in conflict, cut. ``quotable`` is false where the licence forbids to quote: it may then only be named.
    """

    id: str = ""
    kind: Literal["item", "chunk", "page", "document", "change", "person", "conflict"]
    ref: str
    text: str
    quote: str = ""
    title: str = ""
    heading: str = ""
    doc_id: str = ""
    uri: str = ""
    source_type: str = ""
    license: str = ""
    start: int = 0
    end: int = 0
    docs: tuple[str, ...] = ()
    date: str = ""
    status: str = "active"
    tool: Tool = "search"
    scores: Mapping[str, float] = Field(default_factory=dict)
    hints: tuple[str, ...] = ()
    quotable: bool = True


class ToolResult(Record):
    """What one call came to. ``failed`` says why there is nothing, which is not the same as having found nothing;
    ``note`` how it was looked up, where a reader should know."""

    call: ToolCall
    evidence: tuple[Evidence, ...] = ()
    failed: str = ""
    note: str = ""
    ms: float = 0.0


class Claim(Record):
    """A sentence as an engine proposes it: ``cites`` are ids of evidence, ``quotes`` what it says is verbatim."""

    text: str
    cites: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()


class Sentence(Record):
    """A claim that passed the verifier. ``notes`` say of what it cites that it is superseded or in conflict."""

    text: str
    cites: tuple[str, ...]
    quotes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Dropped(Record):
    """A claim that did not: ``fault`` names the rule, ``detail`` what it has that its evidence has not."""

    text: str
    cites: tuple[str, ...] = ()
    fault: str
    detail: str = ""


class Answer(Record):
    """An answer, or why there is none: then ``answered`` is false and ``nearest`` holds what came closest.

    ``evidence`` is what the sentences cite, ``dropped`` what the verifier took out, ``failed`` the look-ups that could
    not be made, in words. ``kept`` says that no work was done: the same question was answered over the same generation
    before. ``calls`` counts the replies of models that it took, ``ms`` its time. ``filed`` is where ``keep`` put it.
    """

    schema_version: int = SCHEMA_VERSION
    question: str
    generation: str
    engine: str
    way: Way = "auto"
    project: str = ""
    answered: bool
    sentences: tuple[Sentence, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    nearest: tuple[Evidence, ...] = ()
    plan: Plan | None = None
    failed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    kept: bool = False
    filed: str = ""
    calls: int = 0
    ms: float = 0.0
    at: str = ""
