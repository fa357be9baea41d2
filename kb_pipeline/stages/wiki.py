"""The plan and its items to pages: Markdown, indexes and the log. Writes nothing itself."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from kb_pipeline.engines.extractive.pages import written as plainly
from kb_pipeline.errors import RunStopped, is_passing
from kb_pipeline.records import Item, Page, PageBrief, Record, Rendering
from kb_pipeline.rules import ids
from kb_pipeline.rules.encoded import Read, strings
from kb_pipeline.rules.pages.catalogue import INDEX, LOG, MASTER, TOPICS, Indexes, log_of
from kb_pipeline.rules.pages.making import Making, made, material_of
from kb_pipeline.rules.pages.merging import front_of, is_reviewed, is_untouched
from kb_pipeline.rules.pages.rendering import abandoned
from kb_pipeline.rules.pages.standing import stands
from kb_pipeline.rules.taxonomy import category_folder
from kb_pipeline.world import Changes, Inputs, Output, Previous, World

_CATALOGUE = "catalogue"
_SLICE = 200  # pages that the engine is asked for at a time
_BY_CATEGORY = "index/"  # begins the keys of the categories' own indexes


def run(changes: Changes, inputs: Inputs, previous: Previous, world: World) -> Output:
    """Write the pages of the plan whose items or plan changed, each sentence with its footnotes, and the indexes."""
    plan = {page.id: page for page in cast(tuple[Page, ...], inputs.records("pages", "plan"))}
    made_from = {page.id: ids.digest(page.model_dump_json()) for page in plan.values()}
    published, touched = previous.inputs(), changes.touched["tags"]
    known = {b.id: b for b in cast(tuple[PageBrief, ...], previous.records(_CATALOGUE)) if b.id in plan}
    affected = [
        page
        for page in plan.values()
        if changes.everything
        or page.id in changes.late
        or page.id not in known  # new, or the catalogue was lost
        or published.get(page.id) != made_from[page.id]
        or not all(map(touched.isdisjoint, _named(page)))
        if not any(inputs.broken("tags", key) for key in _stated(page))  # taken away since the plan: the next one knows
    ]
    paths = frozenset(page.path for page in plan.values())
    done = _Pages(inputs, previous, world, known, paths)
    done.write(affected)
    left = done.without([key for key in published if key.startswith("pg_") and key not in plan])
    briefs = tuple(done.briefs[key] for key in sorted(done.briefs))
    shown = _shown(briefs)
    indexes = _indexes({k: of for k, of in shown.items() if changes.everything or published.get(k) != of.made_from})
    return Output(
        upserts={**done.files, **indexes, **_log(done.log, previous), _CATALOGUE: briefs},
        deletes=frozenset(left) | {key for key in published if key.startswith(_BY_CATEGORY) and key not in shown},
        inputs={page.id: made_from[page.id] for page in affected if page.id not in done.late}
        | {key: shown[key].made_from for key in indexes},
        late=frozenset(done.late),
        kept=len(plan) - len(affected),
        warnings=tuple(done.warnings()),
        details={"pages": len(plan), "written": len(done.files)},
    )


def _stated(page: Page) -> set[str]:
    return set[str]().union(*_named(page))


def _named(page: Page) -> Iterator[Sequence[str]]:
    """The items that a page states, in the parts of its plan."""
    yield from (part.items for part in page.parts)
    yield page.replaced
    yield from page.conflicts


@dataclass
class _Pages:
    """Pages as they are made: files and lines of the catalogue by id, and what the log has to tell."""

    inputs: Inputs
    previous: Previous
    world: World
    briefs: dict[str, PageBrief]
    paths: Collection[str]
    files: dict[str, tuple[Record, ...]] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    late: dict[str, Exception] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    stopped: RunStopped | None = None

    def write(self, pages: Sequence[Page]) -> None:
        """Make ``pages``, and keep what became of each."""
        worded = [told for at in range(0, len(pages), _SLICE) for told in self._worded(pages[at : at + _SLICE])]
        done = self.world.pool.map(partial(made, plainly=plainly), Read(self._making, worded))
        for (page, _), found in zip(worded, done, strict=True):
            if isinstance(found, Exception):
                _items(page, self.inputs)  # what cannot be read is named, with its cure
                raise found
            rendering, self.briefs[page.id] = found
            self._tell(page, rendering.text)
            self.files[page.id] = (rendering,)

    def _worded(self, pages: Sequence[Page]) -> Iterator[tuple[Page, str]]:
        """The pages to make, with what the engine wrote (as JSON) where it did, asked for side by side. One that it
        cannot write keeps its last text, where that is true and asking again may help; else its items' statements stand
        there. After a stop the engine is not asked any more.
        """
        if not self.world.engine.version("write_page"):
            yield from ((page, "") for page in pages)
            return
        found = [_items(page, self.inputs) for page in pages]
        materials = list(map(material_of, pages, found))
        answers = [self.stopped] * len(pages) if self.stopped else self.world.engine.write_page(materials)
        for page, items, answer in zip(pages, found, answers, strict=True):
            if not isinstance(answer, Exception):
                yield page, answer.model_dump_json()
            elif not self._waits(page, items, answer):
                yield page, ""

    def _making(self, worded: tuple[Page, str]) -> Making:
        page, written = worded
        items = {key: data for key in _shown_on(page, self.inputs) if (data := self.inputs.encoded("tags", key))}
        docs = set[str]().union(*(strings("doc_id", data) for data in items.values()))
        metas = {doc: data for doc in docs if (data := self.inputs.encoded("normalized", doc))}
        return Making(page.model_dump_json(), items, metas, written)

    def _waits(self, page: Page, items: Mapping[str, Item], why: Exception) -> bool:
        """Note why a page has no writer; whether its last text stands until it has."""
        self.stopped = why if isinstance(why, RunStopped) else self.stopped
        if not is_passing(why):
            self.refused.append(f"page '{page.title}' stands in its items' own words: {why}")
            return False
        self.late[page.id] = why
        before = self._before(page.id)
        if before is None or before.path != page.path or page.id not in self.briefs:
            return False
        return stands(before.text, page, items, self.paths, self.inputs.keys("normalized"))

    def warnings(self) -> Iterator[str]:
        """What people should know of pages that the engine did not write."""
        yield from self.refused
        for why in [*self.late.values()][:1]:
            yield f"{len(self.late)} of the pages wait for their writer, whom the next build asks again: {why}"

    def _tell(self, page: Page, text: str) -> None:
        """A line of the log, where the page is new, moved or says something else."""
        before = self._before(page.id)
        where = f"`{page.path}` ({page.title}), {len(page.items)} statements"
        if before is None:
            self.log.append(f"{self._now()} created {where}")
        elif before.path != page.path:
            self.log.append(f"{self._now()} moved `{before.path}` to {where}")
        elif not is_reviewed(before.text) and front_of(before.text).get("rendering") != front_of(text)["rendering"]:
            self.log.append(f"{self._now()} rewritten {where}")

    def without(self, keys: Sequence[str]) -> list[str]:
        """The pages of ``keys`` that can go. On one that a person wrote in, his words stay and the machine's go; where
        another page takes its path, they are merged into that one."""
        gone = []
        for key in keys:
            before = self._before(key)
            path = before.path if before else key
            if before is None or path in self.paths or is_untouched(before.text):
                gone.append(key)
                self.log.append(f"{self._now()} removed `{path}`")
            else:
                title = str(front_of(before.text).get("title", path))
                self.files[key] = (Rendering(id=key, path=path, text=abandoned(key, title)),)
        return gone

    def _before(self, key: str) -> Rendering | None:
        records = self.previous.records(key)
        return cast(Rendering, records[0]) if records else None

    def _now(self) -> str:
        return self.world.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")


def _items(page: Page, inputs: Inputs) -> dict[str, Item]:
    """The items that stand on a page, by id."""
    return {key: cast(Item, record) for key in _shown_on(page, inputs) for record in inputs.records("tags", key)}


def _shown_on(page: Page, inputs: Inputs) -> list[str]:
    """The ids of the items that a page states, and of what replaced those of its history."""
    stated = _stated(page)
    past = (cast(Item, record) for key in page.replaced for record in inputs.records("tags", key))
    return [*sorted(stated), *sorted({item.superseded_by for item in past if item.superseded_by} - stated)]


@dataclass(frozen=True)
class _Index:
    """An index in the making: where it lies, what it is made from, and how."""

    path: str
    made_from: str
    render: Callable[[], str]


def _shown(briefs: Sequence[PageBrief]) -> dict[str, _Index]:
    """The indexes of the catalogue by key; what each is made from tells whether it must be rendered again."""
    found: dict[str, _Index] = {}
    indexes = Indexes(briefs)
    for category, pages in indexes.shelves.items():
        folder, made_from = category_folder(category), ids.digest(*(page.model_dump_json() for page in pages))
        found[f"{_BY_CATEGORY}{folder}"] = _Index(
            f"{folder}/{INDEX}", made_from, partial(indexes.of_category, category)
        )
    of_all = ids.digest(*(index.made_from for index in found.values()))
    tagged = repr([(page.title, page.path, page.tags) for page in briefs if page.tags])
    return found | {
        MASTER: _Index(MASTER, of_all, indexes.master),
        TOPICS: _Index(TOPICS, ids.digest(tagged), indexes.topics),
    }


def _indexes(shown: Mapping[str, _Index]) -> dict[str, tuple[Record, ...]]:
    return {key: (Rendering(id=key, path=f"{of.path}.md", text=of.render()),) for key, of in shown.items()}


def _log(lines: Sequence[str], previous: Previous) -> dict[str, tuple[Record, ...]]:
    """The log with ``lines`` at its end, where there are any or there is no log yet."""
    before = previous.records(LOG)
    if before and not lines:
        return {}
    text = log_of(cast(Rendering, before[0]).text if before else "", lines)
    return {LOG: (Rendering(id=LOG, path=f"{LOG}.md", text=text),)}
