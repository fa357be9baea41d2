"""Pages by a model: one page a question, and one more where a sentence is not carried. Owns what it is shown: numbers
in place of ids.

What it writes is a claim: outside, what is still not carried is replaced by the items' own statements.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby

from kb_pipeline.engines.openai.replies import PageReply, SaidReply
from kb_pipeline.errors import KbError, RunStopped, is_passing
from kb_pipeline.prompts import render
from kb_pipeline.records import Ask, Block, Item, Material, Stated, Written, WrittenSection
from kb_pipeline.rules.pages.rendering import cited
from kb_pipeline.rules.pages.stating import faults, items_of
from kb_pipeline.world import ChatClient

_NONE = "(there are none)"
_MOST_PROBLEMS = 20


def write(materials: Sequence[Material], client: ChatClient) -> Iterator[Written | KbError]:
    """Each page, in order, repaired once where code finds a fault. In place of one that failed, or whose repair nobody
    answers now, why: a ``ModelError``, or the ``RunStopped`` after which nobody was asked."""
    first = _asked([ask(material) for material in materials], client)
    pages = [_page(reply, material) for reply, material in zip(first, materials, strict=True)]
    told = [
        problems(page, material) if isinstance(page, Written) else []
        for page, material in zip(pages, materials, strict=True)
    ]
    again = [n for n, found in enumerate(told) if found]
    second = _asked([ask(materials[n], told[n]) for n in again], client)
    for n, reply in zip(again, second, strict=True):
        repaired = _page(reply, materials[n])
        if isinstance(repaired, Written):
            better = len(problems(repaired, materials[n])) < len(told[n])
            pages[n] = repaired if better else pages[n]
        elif is_passing(repaired):
            pages[n] = repaired
    yield from pages


def _asked(asks: Sequence[Ask], client: ChatClient) -> list[PageReply | KbError]:
    """A reply a question; behind one at which nobody answers any more, those that are kept."""
    replies: list[PageReply | KbError] = []
    try:
        replies.extend(client.ask(asks, PageReply))
    except RunStopped as stop:
        replies += [client.kept(asked, PageReply) or stop for asked in asks[len(replies) :]]
    return replies


def ask(material: Material, wrong: Sequence[str] = ()) -> Ask:
    """The question about one page: its title and items, and what was wrong with it before."""
    items = list(items_of(material).values())
    numbers = {item.id: n for n, item in enumerate(items, start=1)}
    shown = render(
        "write_page",
        title=material.title,
        items="\n\n".join(_part(heading, part, numbers) for heading, part in material.parts),
        problems="\n".join(f"- {problem}" for problem in wrong[:_MOST_PROBLEMS]) or _NONE,
    )
    doc_id = items[0].sources[0].doc_id if items and items[0].sources else ""
    return Ask(
        task="write_page",
        version=shown.version,
        system=shown.system,
        user=shown.user,
        max_tokens=8192,
        source_id=doc_id.partition("/")[0],
        doc_id=doc_id,
    )


def problems(page: Written, material: Material) -> list[str]:
    """What code finds wrong with a page, in words for the model: numbers in place of ids."""
    items = items_of(material)
    numbers = {key: n for n, key in enumerate(items, start=1)}
    found = [f"{json.dumps(stated.text, ensure_ascii=False)}: {why}" for stated, why in faults(page, material)]
    used = set(cited(page))
    return [*found, *(f"ITEM {numbers[key]} is not used" for key in items if key not in used)]


def _part(heading: str, items: Sequence[Item], numbers: dict[str, int]) -> str:
    lines = (f"[{numbers[item.id]}] {_shown(item)}" for item in items)
    return "\n".join([f"# {heading}" if heading else "#", *lines])


def _shown(item: Item) -> str:
    fields = item.model_dump(
        mode="json", include={"statement", "detail", "context", "item_type"}, exclude_defaults=True
    )
    return json.dumps(fields, ensure_ascii=False, sort_keys=True)


def _page(reply: PageReply | KbError, material: Material) -> Written | KbError:
    """The page with ids."""
    if isinstance(reply, KbError):
        return reply
    ids = list(items_of(material))
    headings = {heading for heading, _ in material.parts}
    sections = []
    for (facet, heading), group in groupby(reply.sections, key=lambda s: (s.facet, s.heading)):
        blocks = tuple(
            Block(kind="prose", points=(told,)) if section.kind == "prose" else _points(section.kind, told)
            for section in group
            if (told := tuple(_stated(sentence, ids) for sentence in section.sentences))
        )
        sections.append(WrittenSection(facet=facet, heading=heading if heading in headings else "", blocks=blocks))
    return Written(lead=tuple(_stated(sentence, ids) for sentence in reply.lead), sections=tuple(sections))


def _points(kind: str, told: tuple[Stated, ...]) -> Block:
    return Block(kind="steps" if kind == "steps" else "list", points=tuple((stated,) for stated in told))


def _stated(sentence: SaidReply, ids: Sequence[str]) -> Stated:
    """A number that names nothing stays one, for the verifier."""
    cites = tuple(ids[n - 1] if 0 < n <= len(ids) else f"[{n}]" for n in dict.fromkeys(sentence.items))
    return Stated(text=" ".join(sentence.text.split()), cites=cites)
