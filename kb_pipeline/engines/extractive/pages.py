"""A page from its items, in their own words: what belongs together stands together, a list is a list. Rewords nothing.

Sentences of one section follow each other as in their document, so that one that leans on its neighbour finds it. Owns
which statements are points of one list, which facet a passage belongs to and what leads the page.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from kb_pipeline.engines.extractive.points import Point, is_option, points, term_of
from kb_pipeline.engines.extractive.statements import is_anaphoric, without_connective
from kb_pipeline.records import Block, Facet, Item, Material, Stated, Written, WrittenSection
from kb_pipeline.rules import shown
from kb_pipeline.rules.ids import canonical
from kb_pipeline.rules.pages.topics import form_of, is_release

ORDER: tuple[Facet, ...] = ("what", "how", "options", "figures", "steps", "tradeoffs", "decisions", "open", "changes")
_BY_TYPE: dict[str, Facet] = {
    "definition": "what",
    "fact": "how",
    "metric": "figures",
    "procedure": "steps",
    "tradeoff": "tradeoffs",
}
_BY_TAG: dict[str, Facet] = {"decision": "decisions", "action-item": "open", "action": "open", "open-question": "open"}
_APART = {"tradeoffs", "decisions", "open", "options"}  # facets that a passage of one sentence may have to itself
_FEWEST = 3  # sentences of one facet that stand apart from the rest of their section
_PARAGRAPH = 5  # sentences


@dataclass
class _Run:
    """Points that stay together: of a list, or sentences of which the later ones lean on the first."""

    facet: Facet
    kind: str
    lead_in: str = ""
    points: list[list[Stated]] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(map(len, self.points))


def written(material: Material) -> Written:
    """The page of ``material``: every item once, those that say the same in one sentence."""
    parts = [(heading, _runs(heading, items, material)) for heading, items in material.parts]
    lead = _lead(parts, material)
    for heading, runs in parts:
        _gathered(runs, is_release(heading))
    sections = [
        WrittenSection(facet=facet, heading=heading, blocks=tuple(_blocks(chosen)))
        for facet in ORDER
        for heading, runs in parts
        if (chosen := [run for run in runs if run.facet == facet])
    ]
    return Written(lead=tuple(lead), sections=tuple(sections))


def _runs(heading: str, items: Sequence[Item], material: Material) -> list[_Run]:
    headings = {
        material.title,
        *material.aliases,
        *(part.strip() for h, _ in material.parts for part in (h, *h.split(": "))),
    }
    runs: list[_Run] = []
    seen: dict[str, tuple[_Run, int, int]] = {}
    before = ""
    for point in points(items, headings, whole=is_release(heading)):
        item = point.item
        again = seen.get(canonical(item.statement)) if not point.list else None
        if again:
            _also(*again, item.id)
            continue
        stated = Stated(text=point.text, cites=(item.id,), follows=_follows(item, before))
        run = _place(runs, point, stated, leans=_leans(item))
        seen[canonical(item.statement)] = run, len(run.points) - 1, len(run.points[-1]) - 1
        before = item.statement
    return runs


def _leans(item: Item) -> bool:
    """Whether a sentence belongs to the one before it: it begins with a pronoun, or has its words for a detail."""
    return bool(_explained(item)) or is_anaphoric(without_connective(item.statement))


def _explained(item: Item) -> str:
    """What an item's detail says in words; code is shown below its sentence."""
    return "" if any(shown.code(c.source_span) for c in item.sources) else item.detail


def _also(run: _Run, at: int, sentence: int, item: str) -> None:
    """Let a sentence that stands there cite an item that says the same."""
    stated = run.points[at][sentence]
    run.points[at][sentence] = stated.model_copy(update={"cites": (*stated.cites, item)})


def _follows(item: Item, before: str) -> str:
    """The sentence that ``item`` leans on, unless it has just been said."""
    detail = _explained(item) if item.confidence == "low" and is_anaphoric(without_connective(item.statement)) else ""
    return detail if canonical(detail) != canonical(before) else ""


def _place(runs: list[_Run], point: Point, stated: Stated, *, leans: bool) -> _Run:
    """Put a sentence into the run that it continues, or begin one."""
    last = runs[-1] if runs else None
    if point.list and last and last.kind == "list" and last.lead_in == point.lead_in:
        if point.continues and last.points:
            last.points[-1].append(stated)
        else:
            last.points.append([stated])
        return last
    tied = last and last.kind == "prose" and without_connective(point.text) != point.text
    if not point.list and last and (leans or tied) and not stated.follows:
        last.points[-1].append(stated)
        return last
    kind = "list" if point.list else "prose"
    runs.append(_Run(_facet(point), kind, point.lead_in, [[stated]]))
    return runs[-1]


def _facet(point: Point) -> Facet:
    tagged = next((_BY_TAG[tag] for tag in point.item.tags if tag in _BY_TAG), None)
    return tagged or ("options" if is_option(point) else _BY_TYPE[point.item.item_type])


def _lead(parts: list[tuple[str, list[_Run]]], material: Material) -> list[Stated]:
    """What the page begins with, taken out of its run: a sentence that says what its title is, else the first one that
    can stand alone, with those that lean on it."""
    items, form = {item.id: item for _, items in material.parts for item in items}, form_of(material.title)
    early = [
        run
        for heading, runs in parts[:2]
        if not heading or (form in form_of(heading) and not is_release(heading))
        for run in runs
        if run.kind == "prose"
    ]

    def rank(run: _Run) -> tuple[bool, bool]:
        first = run.points[0][0]
        defines = items[first.cites[0]].item_type == "definition" and form_of(first.text).startswith(form)
        return bool(first.follows) or first.text.endswith(":") or bool(term_of(first.text)), not defines

    found = min(early, key=rank, default=None)
    if found is None or rank(found)[0]:
        return []
    for _, runs in parts:
        if found in runs:
            runs.remove(found)
    return found.points[0]


def _gathered(runs: list[_Run], release: bool) -> None:
    """Let what is too little for a facet of its own stand with the rest of its section."""
    counted = Counter[Facet]()
    for run in runs:
        counted[run.facet] += run.size
    plain = {facet: n for facet, n in counted.items() if facet not in _APART}
    main: Facet = "changes" if release else min(plain, key=lambda f: (-plain[f], ORDER.index(f)), default="how")
    for run in runs:
        kept = run.facet in _APART and (run.facet != "options" or counted["options"] >= _FEWEST)
        if release or not (kept or counted[run.facet] >= _FEWEST):
            run.facet = main


def _blocks(runs: Sequence[_Run]) -> Iterator[Block]:
    """Lists as they are, sentences as paragraphs."""
    for kind, group in groupby(runs, key=lambda run: run.kind):
        chosen = list(group)
        if kind == "list":
            for run in chosen:
                yield _list(run)
        else:
            yield from _paragraphs([sentence for run in chosen for sentence in run.points[0]], chosen)


def _list(run: _Run) -> Block:
    kind: Literal["steps", "list"] = "steps" if run.facet == "steps" and len(run.points) > 1 else "list"
    return Block(kind=kind, lead_in=run.lead_in, points=tuple(tuple(point) for point in run.points))


def _paragraphs(sentences: Sequence[Stated], runs: Sequence[_Run]) -> Iterator[Block]:
    """Paragraphs of five sentences, or a few more where they lean on each other or little would be left."""
    ends = {run.points[0][-1].cites for run in runs}
    held: list[Stated] = []
    for n, sentence in enumerate(sentences, start=1):
        held.append(sentence)
        if len(held) >= _PARAGRAPH and sentence.cites in ends and len(sentences) - n > _PARAGRAPH // 2:
            yield Block(points=(tuple(held),))
            held = []
    if held:
        yield Block(points=(tuple(held),))
