"""The verbs of one who reads the wiki: its pages, one page, and what on them waits for a person.

Owns that a page is shown to whoever may see all that it rests on, and that a decision changes the page's own file. The
plan and the pages are made elsewhere.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from kb_pipeline.api.curating import Curating
from kb_pipeline.errors import KbError, NotFound, StoreError
from kb_pipeline.records import (
    Brief,
    Clash,
    HumanDecision,
    Neighbourhood,
    Page,
    PageBrief,
    PageView,
    Record,
    Rendering,
    Review,
)
from kb_pipeline.records.curation import Action
from kb_pipeline.rules.pages import settling
from kb_pipeline.rules.pages.merging import front_of
from kb_pipeline.rules.pages.neighbourhood import hidden, neighbourhood
from kb_pipeline.rules.pages.titles import slug
from kb_pipeline.rules.taxonomy import category_folder
from kb_pipeline.store.files import replace
from kb_pipeline.store.manifests import Entry
from kb_pipeline.store.pages import CATALOGUE

_PAGE = "page:"
_OF_LINES: tuple[Action, ...] = ("mine", "machine", "skip")
_OF_SENTENCES: tuple[Action, ...] = ("keep", "mine", "skip")
_CLOSE = 5


@dataclass(frozen=True)
class _Open:
    """Something on a page that waits for a person: a clash, a sentence of his (a text), or a proposal (the page)."""

    page: PageBrief
    kind: str
    what: Clash | str

    @property
    def name(self) -> str:
        return f"{_PAGE}{self.page.id}:{settling.name_of(self.what)}"


class Reading(Curating):
    """Reading the wiki, and settling what people and the machine wrote on the same page."""

    def pages(self, category: str | None = None) -> list[PageBrief]:
        """The catalogue, by title: every page that may be seen, of one category if one is named."""
        briefs = cast(tuple[PageBrief, ...], self._records_of("wiki", CATALOGUE))
        wanted = (b for b in briefs if category is None or b.category.casefold() == category.casefold())
        visible = (b for b in wanted if self.sees is None or all(d.partition("/")[0] in self.sees for d in b.docs))
        return sorted(visible, key=lambda brief: (brief.title.casefold(), brief.id))

    def page(self, name: str) -> PageView:
        """A page by its id, its path (``kb/wiki/`` and ``.md`` may be left out), its title or an alias.

        Raises ``NotFound`` with the nearest titles.
        """
        briefs = self.pages()
        brief = _found(name, briefs)
        if brief is None:
            raise _no_page(name, briefs)
        return self._view(brief, self._planned(briefs))

    def whole_pages(self) -> list[PageView]:
        """Every page that may be seen, in whole, by title."""
        briefs = self.pages()
        planned = self._planned(briefs)
        return [self._view(brief, planned) for brief in briefs]

    def home(self, item_id: str) -> PageBrief | None:
        """The page on which an item is at home, where there is one that may be seen."""
        briefs = {brief.path: brief for brief in self.pages()}
        return next(
            (briefs[path] for path, page in self._planned(briefs.values()).items() if item_id in page.items), None
        )

    def around(self, view: PageView) -> Neighbourhood:
        """The pages around one, as far as they may be seen."""
        return neighbourhood(view.page, view.text, self._planned(self.pages()))

    def _planned(self, briefs: Iterable[PageBrief]) -> dict[str, Page]:
        """The plan of these pages, by the path that they have."""
        paths = {brief.id: brief.path for brief in briefs}
        plan = cast(tuple[Page, ...], self._records_of("pages", "plan"))
        return {paths[page.id]: page for page in plan if page.id in paths}

    def _view(self, brief: PageBrief, planned: Mapping[str, Page]) -> PageView:
        entry, text = self._standing(brief)
        page = planned.get(brief.path)
        if page is None:  # a build that has planned anew has not written yet
            raise NotFound(f"'{brief.title}' is being taken away.", where="kb/wiki", cure="Run `kb build`.")
        related = tuple(link for link in page.related if link.path in planned)
        backlinks = tuple(link for link in page.backlinks if link.path in planned)
        return PageView(
            page=page.model_copy(update={"related": related, "backlinks": backlinks}),
            brief=brief,
            text=text if self.sees is None else settling.less(text, hidden(text, brief.path, planned)),
            front=front_of(text),
            related=related,
            backlinks=backlinks,
            by_hand=tuple(entry.info.get("by_hand", ())),
            clashes=tuple(map(Clash.model_validate, entry.info.get("clashes", ()))),
            proposal=str(entry.info.get("proposal", "")),
        )

    def reviews(self) -> list[Review]:
        """Everything that waits for a person; of pages what he and the machine worded differently, sentences of his
        that could be items, and what the machine would change on a page that he reviewed."""
        return [*super().reviews(), *(_review(found) for found in self._open())]

    def decide(self, name: str, action: str, reason: str, who: str = "") -> HumanDecision:
        """Record a person's decision. On a page, at once and in its file: ``mine`` lets a person's words stand,
        ``machine`` puts the machine's in their place, ``keep`` makes a sentence an item of its own."""
        if not name.startswith(_PAGE):
            return super().decide(name, action, reason, who)
        found = next((one for one in self._open() if one.name == name), None)
        if found is None:
            raise NotFound(f"nothing named '{name}' waits.", where="kb review", cure="List what waits: kb review.")
        actions = _review(found).actions
        if action not in actions:
            cure = f"Known actions: {', '.join(actions)}."
            raise KbError(f"'{action}' does not settle '{name}'.", where="kb review", cure=cure, code="usage")
        chosen = next(one for one in actions if one == action)
        if chosen != "skip":
            with self.kb.locked():
                self._settle(found, chosen)
        at = self.world.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        return HumanDecision(at=at, action=chosen, items=(found.page.id,), reason=reason.strip(), who=who)

    def _settle(self, found: _Open, action: Action) -> None:
        _, text = self._standing(found.page)
        if action == "mine":
            text = settling.keeping(text, settling.name_of(found.what))
        elif isinstance(found.what, Clash):
            text = settling.taking(text, found.what)
        elif action == "machine":
            text = settling.accepting(found.what)
        else:
            self._write_item(found.page.category, settling.said(found.what))
            text = settling.less(text, (found.what,))
        replace(self.kb.folder / "wiki" / found.page.path, text.encode())

    def _write_item(self, category: str, statement: str) -> None:
        """An item as a person writes one by hand; the next build gives it an id and a document of its own."""
        path = self.kb.folder / "items" / category_folder(category) / f"{slug(statement)}.json"
        replace(path, (json.dumps({"statement": statement}, ensure_ascii=False, indent=2) + "\n").encode())

    def _open(self) -> Iterator[_Open]:
        for brief in self.pages():
            entry = self.kb.manifest("wiki").get(brief.id)
            if entry is None or not entry.edited:
                continue
            settled = settling.kept(self._standing(brief)[1])
            clashes = [Clash.model_validate(clash) for clash in entry.info.get("clashes", ())]
            disputed = {line for clash in clashes for line in clash.person}
            proposal = str(entry.info.get("proposal", ""))
            waiting = [_Open(brief, "clash", clash) for clash in clashes]
            waiting += [_Open(brief, "sentence", s) for s in entry.info.get("by_hand", ()) if s not in disputed]
            waiting += [_Open(brief, "proposal", proposal)] if proposal else []
            yield from (one for one in waiting if settling.name_of(one.what) not in settled)

    def _standing(self, brief: PageBrief) -> tuple[Entry, str]:
        """The entry of a page, and its file as it stands. Raises ``NotFound`` where it was not written yet."""
        entry = self.kb.manifest("wiki").get(brief.id)
        if entry is None:
            raise NotFound(f"'{brief.title}' is not written yet.", where="kb/wiki", cure="Run `kb build`.")
        return entry, cast(Rendering, self.kb.read("wiki", entry)[0]).text

    def _records_of(self, stage: str, key: str) -> tuple[Record, ...]:
        entry = self.kb.manifest(stage).get(key)
        try:
            return self.kb.read(stage, entry) if entry else ()
        except StoreError as error:
            if error.code != "missing":
                raise
            return ()


def _found(name: str, briefs: list[PageBrief]) -> PageBrief | None:
    path = f"{name.removeprefix('kb/').removeprefix('wiki/').removesuffix('.md')}.md"
    wanted = name.casefold()
    exact = next((b for b in briefs if name == b.id or b.path == path or b.title.casefold() == wanted), None)
    return exact or next((b for b in briefs if wanted in {alias.casefold() for alias in b.aliases}), None)


def _no_page(name: str, briefs: list[PageBrief]) -> NotFound:
    words = set(slug(name).split("-"))
    close = sorted(briefs, key=lambda b: (-len(words & set(slug(b.title).split("-"))), b.title))[:_CLOSE]
    cure = f"Did you mean {', '.join(b.title for b in close)}?" if close else "Run `kb build` first."
    return NotFound(f"there is no page '{name}'.", where="kb/wiki", cure=cure)


def _review(found: _Open) -> Review:
    page = found.page
    about = Brief(id=page.id, statement=f"{page.title} ({page.path})", category=page.category, status="active")
    if isinstance(found.what, Clash):
        why = "a person and the machine changed the same lines of a page"
        values = {"mine": "\n".join(found.what.person), "machine": "\n".join(found.what.machine)}
    elif found.kind == "proposal":
        why, values = "the page is reviewed, and the machine would write another one", {"machine": found.what}
    else:
        why = "a person wrote this on a page, and no document states it: keep makes it an item"
        values = {"mine": settling.said(found.what)}
    actions = _OF_SENTENCES if found.kind == "sentence" else _OF_LINES
    return Review(name=found.name, kind="page", why=why, items=(about,), actions=actions, values=values)
