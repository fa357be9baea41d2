"""Editors of a page and of an item, as forms. What is wrong with what was sent is told above it, and nothing is lost.

A form carries what its page or item was when it was opened. Where that changed meanwhile, both are shown, and a second
save is one that has seen both.
"""

from collections.abc import Callable, Mapping
from typing import Any, get_args
from urllib.parse import quote

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from kb_pipeline.api import editing
from kb_pipeline.api.rewording import Outdated
from kb_pipeline.api.visiting import Visitor
from kb_pipeline.errors import KbError
from kb_pipeline.faces.web import forms
from kb_pipeline.faces.web.problems import problem
from kb_pipeline.faces.web.rendering import Shown, page, page_url, render
from kb_pipeline.records import UNCLASSIFIED, Confidence, Item, ItemType, PageDraft, PageWords

_MENDABLE = frozenset({"usage", "outdated"})
"""Codes of errors that whoever sent the form can mend in it."""

ITEM_FIELDS: tuple[tuple[str, str, str], ...] = (
    ("statement", "Statement", "area"),
    ("detail", "Detail", "area"),
    ("note", "Note", "area"),
    ("context", "Context", "text"),
    ("topic", "Topic", "text"),
    ("item_type", "Kind", "choice"),
    ("primary_category", "Category", "choice"),
    ("secondary_categories", "Other categories", "names"),
    ("tags", "Tags", "names"),
    ("entities", "Names in it", "names"),
    ("confidence", "Confidence", "choice"),
    ("status", "Status", "choice"),
)
"""The fields of an item that a person may change: name, label, and which control it has."""


def edit_page(visitor: Visitor, request: Request) -> Shown:
    """A page opened for editing."""
    draft = editing.page_draft(visitor, request.path_params["name"])
    return _page_form(visitor, draft, draft.words)


def _page_form(visitor: Visitor, draft: PageDraft, words: PageWords, fault: KbError | None = None) -> Shown:
    """The form with ``words`` in it; where somebody else was first, beside what stands there now."""
    outdated = isinstance(fault, Outdated)
    return "edit_page.html", {
        "draft": draft,
        "words": words,
        "token": forms.token(visitor),
        "fault": problem(fault) if fault else None,
        "theirs": _missing(draft.words.body, words.body) if outdated else [],
        "mine": _missing(words.body, draft.words.body) if outdated else [],
        "outdated": outdated,
    }


def _missing(one: str, other: str) -> list[str]:
    """The lines of one text that the other has not."""
    had = set(other.split("\n"))
    return [line for line in one.split("\n") if line.strip() and line not in had]


def _save_page(visitor: Visitor, request: Request, given: Mapping[str, str]) -> Response:
    name = request.path_params["name"]
    words = PageWords(
        body=given.get("body", "").replace("\r\n", "\n"),
        reviewed="reviewed" in given,
        summary=" ".join(given.get("summary", "").split()),
        aliases=_names(given.get("aliases", "")),
        tags=_names(given.get("tags", "")),
    )
    try:
        changed = editing.write_page(visitor, name, words, given.get("loaded", ""))
    except KbError as error:
        if error.code not in _MENDABLE:
            raise
        return render(request, _page_form(visitor, editing.page_draft(visitor, name), words, error), _status(error))
    return RedirectResponse(f"{page_url(name)}?saved={'yes' if changed else 'no'}", 303)


def edit_item(visitor: Visitor, request: Request) -> Shown:
    """An item opened for editing."""
    item, loaded = editing.item_draft(visitor, request.path_params["id"])
    return _item_form(visitor, item, loaded, {})


def _item_form(
    visitor: Visitor, item: Item, loaded: str, typed: Mapping[str, str], fault: KbError | None = None
) -> Shown:
    """The form with what was ``typed`` in it; where somebody else was first, each field with what it says now."""
    now = {name: _shown(getattr(item, name)) for name, _, _ in ITEM_FIELDS}
    categories = [*(c.name for c in visitor.seen.settings.taxonomy.categories), UNCLASSIFIED]
    return "edit_item.html", {
        "item": item,
        "loaded": loaded,
        "fields": ITEM_FIELDS,
        "values": {**now, **typed},
        "now": now,
        "choices": {
            "item_type": get_args(ItemType),
            "confidence": get_args(Confidence),
            "primary_category": categories,
            "status": list(dict.fromkeys([item.status, "active", "retired"])),
        },
        "categories": categories,
        "token": forms.token(visitor),
        "fault": problem(fault) if fault else None,
        "outdated": isinstance(fault, Outdated),
    }


def _save_item(visitor: Visitor, request: Request, given: Mapping[str, str]) -> Response:
    name = request.path_params["id"]
    item, loaded = editing.item_draft(visitor, name)
    typed = {field: given[field].replace("\r\n", "\n").strip() for field, _, _ in ITEM_FIELDS if field in given}
    changed = {field: text for field, text in typed.items() if text != _shown(getattr(item, field)).strip()}
    try:
        editing.reword_item(visitor, name, {f: _read(f, text, item) for f, text in changed.items()}, given["loaded"])
    except KbError as error:
        if error.code not in _MENDABLE:
            raise
        return render(request, _item_form(visitor, item, loaded, typed, error), _status(error))
    return RedirectResponse(f"/items/{quote(item.id)}?saved={'yes' if changed else 'no'}", 303)


def _shown(value: object) -> str:
    """A field's value as its control has it."""
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value or "")


def _read(field: str, text: str, item: Item) -> Any:
    """What a control says as the field's value."""
    before = getattr(item, field)
    return _names(text) if isinstance(before, tuple) else text or (None if field in {"context", "note"} else "")


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for part in text.split(",") if (name := " ".join(part.split()))))


def _status(error: KbError) -> int:
    return problem(error).status


Saving = Callable[[Visitor, Request, Mapping[str, str]], Response]


def _taking(save: Saving) -> Callable[[Request], Any]:
    """What takes a form of ours and saves it in a thread."""

    async def take(request: Request) -> Response:
        given = await forms.read(request)
        return await anyio.to_thread.run_sync(lambda: save(request.state.visitor, request, {"loaded": "", **given}))

    return take


def routes() -> list[BaseRoute]:
    """Each editor, and what takes its form."""
    table = (("/edit/wiki/{name:path}", edit_page, _save_page), ("/edit/items/{id}", edit_item, _save_item))
    shown: list[BaseRoute] = [Route(path, page(view), methods=["GET"]) for path, view, _ in table]
    return [*shown, *(Route(path, _taking(save), methods=["POST"]) for path, _, save in table)]
