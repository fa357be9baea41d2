"""What changed on the wiki, as pages: all that changed since a generation, and one page sentence by sentence."""

from collections.abc import Sequence

from starlette.requests import Request

from kb_pipeline.api.visiting import Visitor
from kb_pipeline.faces.web.rendering import Shown
from kb_pipeline.records import SentenceChange


def overview(visitor: Visitor, request: Request) -> Shown:
    """The pages that changed, with how much of each."""
    found = visitor.seen.wiki_changes(request.query_params.get("since") or None)
    return "wiki_changes.html", {"found": found, "since": found.since, "retained": found.retained}


def page(visitor: Visitor, request: Request) -> Shown:
    """The sentences of one page that came, went or changed, below their headings."""
    found = visitor.seen.page_changes(request.path_params["name"], request.query_params.get("since") or None)
    return "page_changes.html", {
        "page": found,
        "since": found.since,
        "retained": visitor.seen.world.index.generations(),
        "sections": by_section(found.changes),
        "known": visitor.known(item for change in found.changes for item in change.items),
    }


def by_section(changes: Sequence[SentenceChange]) -> list[tuple[tuple[str, ...], list[SentenceChange]]]:
    """Changes by the headings above them, in the order of the page."""
    sections: dict[tuple[str, ...], list[SentenceChange]] = {}
    for change in changes:
        sections.setdefault(change.section, []).append(change)
    return list(sections.items())
