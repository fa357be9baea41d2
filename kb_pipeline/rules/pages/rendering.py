"""A page as Markdown: front matter, lead, sections by facet, history, relations, sources, a footnote a proof. Pure.

One sentence stands on one line, so that a difference reads as one and an edit is told by its line. A footnote's label
is the item's id: it stays while others come and go. The code that a quote shows stands below the first sentence that
cites its item.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent

from kb_pipeline.records import Block, Citation, Facet, Item, Link, Meta, Page, Stated, Written
from kb_pipeline.rules import ids, shown
from kb_pipeline.rules.pages.markdown import address, anchor, fenced, inline, is_rtl, label, quoted
from kb_pipeline.rules.words import words

TITLES: Mapping[Facet, str] = {
    "what": "What it is",
    "how": "How it works",
    "options": "Options",
    "figures": "Figures",
    "steps": "How to",
    "tradeoffs": "Trade-offs",
    "decisions": "Decisions",
    "open": "Open points",
    "changes": "What changed",
}
HISTORY, CONFLICTS, RELATED, BACKLINKS, SOURCES = "History", "Conflicts", "Related pages", "Named on", "Sources"
OURS = frozenset({*TITLES.values(), HISTORY, CONFLICTS, RELATED, BACKLINKS, SOURCES})
"""Second-level headings of the machine's sections."""
SHOWN = 400
"""Code points of a quote that a footnote shows; of a longer one it shows the beginning."""
AND_CODE = "and the code that it shows"
"""What a footnote says behind a quote with code, which stands below its sentence."""
_SUMMARY, _TAGS, _FEW_TAGS = 200, 8, 3
_HANGING = words("as be by for from in into is are like of on to via with ensure")
_OPEN = "---\n"
_ENDS = (".", "!", "?", ":", "…", "。", "！", "？", "；", "।", "؟", ")", "”", '"', "’")


@dataclass(frozen=True)
class Rendered:
    """What a page is made from beside its words: its items (superseded ones too) and documents, by id, and pairs of
    items that contradict each other."""

    page: Page
    written: Written
    items: Mapping[str, Item]
    metas: Mapping[str, Meta]
    conflicts: Sequence[tuple[str, str]] = field(default=())


def rendered(made: Rendered) -> str:
    """The file of a page."""
    body = _body(made)
    return f"{_front(made, body)}\n{body}"


def abandoned(page_id: str, title: str) -> str:
    """What stands on a page of which no item is left, beside a person's words."""
    head = f'id: {json.dumps(page_id)}\ntitle: {json.dumps(title, ensure_ascii=False)}\nstatus: "without sources"'
    body = f"# {label(title)}\n\nNo source states anything on this subject any more.\n"
    return f"{_OPEN}{head}\nrendering: {ids.digest(head, body)[:16]}\n{_OPEN}\n{body}"


def summary_of(written: Written) -> str:
    """The first sentence of the page, cut at a word to 200 code points."""
    first = next(iter(_sentences(written)), None)
    text = " ".join(first.text.split()).removesuffix(":") if first else ""
    return text if len(text) <= _SUMMARY else f"{text[: _SUMMARY - 1].rsplit(' ', 1)[0]}…"


def tags_of(items: Iterable[Item]) -> list[str]:
    """What a page is tagged with: at most 8 tags that several of its items share, the most frequent first; where none
    is shared, the first three. One item's own tag says little of a page."""
    counted = Counter(tag for item in items for tag in item.tags)
    ordered = sorted(counted, key=lambda tag: (-counted[tag], tag))
    return [tag for tag in ordered if counted[tag] > 1][:_TAGS] or ordered[:_FEW_TAGS]


def _sentences(written: Written) -> Iterator[Stated]:
    yield from written.lead
    for section in written.sections:
        for block in section.blocks:
            for point in block.points:
                yield from point


def cited(written: Written) -> list[str]:
    """Ids of the items that a page states, in order, each once."""
    return list(dict.fromkeys(key for stated in _sentences(written) for key in stated.cites))


def _front(made: Rendered, body: str) -> str:
    page, own = made.page, [made.items[key] for key in made.page.items]
    review = any(item.needs_review for item in own) or bool(made.conflicts)
    fields: dict[str, object] = {
        "id": page.id,
        "title": page.title,
        "aliases": list(page.aliases),
        "summary": summary_of(made.written),
        "category": page.category,
        "tags": tags_of(own),
        "status": "in review" if review else "current",
        "sources": sorted({c.doc_id for item in own for c in item.sources}),
        "updated": max((item.updated_at for item in own), default=""),
    }
    if is_rtl(page.title):
        fields["direction"] = "rtl"
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    head = "\n".join(lines)
    return f"{_OPEN}{head}\nrendering: {ids.digest(head, body)[:16]}\n{_OPEN}"


def _body(made: Rendered) -> str:
    page = made.page
    parts = [f"# {label(page.title)}\n"]
    codes = {key: _Code.of(made.items[key]) for key in cited(made.written) if key in made.items}
    if made.written.lead:
        parts.append(_paragraph(made.written.lead, codes))
    facet: Facet | None = None
    for section in made.written.sections:
        if section.facet != facet:
            facet = section.facet
            parts.append(f"## {TITLES[facet]}\n")
        if section.heading and section.heading != TITLES[section.facet]:
            parts.append(f"### {label(section.heading)}\n")
        parts += [_block(block, codes) for block in section.blocks]
    parts += [
        _history(made),
        _conflicts(made),
        _links(RELATED, page.related, page),
        _links(BACKLINKS, page.backlinks, page),
    ]
    parts += [_sources(made), _footnotes(made)]
    return "\n".join(part for part in parts if part)


@dataclass
class _Code:
    """What of an item is code: ``names`` in its sentence, and ``below`` it blocks that no sentence has shown yet."""

    names: Mapping[str, Sequence[bool]]
    below: str

    @classmethod
    def of(cls, item: Item) -> "_Code":
        blocks = next(filter(None, (shown.code(c.source_span) for c in item.sources)), ())
        names = next(filter(None, (shown.names(c.source_span) for c in item.sources)), {})
        return cls(names, "".join(fenced(block.text, block.language) for block in blocks))

    def shown(self) -> str:
        """The blocks, once."""
        below, self.below = self.below, ""
        return below


_Codes = Mapping[str, _Code]


def _paragraph(sentences: Sequence[Stated], codes: _Codes) -> str:
    return "".join(_sentence(stated, codes) for stated in sentences).rstrip("\n") + "\n"


def _block(block: Block, codes: _Codes) -> str:
    if block.kind == "prose":
        return _paragraph([stated for point in block.points for stated in point], codes)
    lead = f"{inline(block.lead_in.rstrip(' :.…'))}:\n\n" if block.lead_in else ""
    marks = (f"{n}." if block.kind == "steps" else "-" for n in range(1, len(block.points) + 1))
    points = (_point(mark, point, codes) for mark, point in zip(marks, block.points, strict=True))
    return f"{lead}{''.join(points)}".rstrip("\n") + "\n"


def _point(mark: str, point: Sequence[Stated], codes: _Codes) -> str:
    text = "".join(_sentence(stated, codes, listed=len(point) == 1) for stated in point)
    return f"{mark} {indent(text, ' ' * (len(mark) + 1)).lstrip()}"


def _sentence(stated: Stated, codes: _Codes, *, listed: bool = False) -> str:
    """A line, and the code of its items that no sentence has shown yet."""
    known = [codes[key] for key in stated.cites if key in codes]
    below = "".join(code.shown() for code in known)
    text = " ".join(stated.text.split())
    if below and (text.endswith(("...", "…")) or not (text.endswith(_ENDS) or ":" in text)):
        text = f"{text.rstrip(' .…')}:"
    elif not (below or listed) and text.endswith(":"):
        said = text[:-1].rstrip()  # what it announced is no sentence, so it does not stand here
        text = f"{said} …" if said.rpartition(" ")[2] in _HANGING else f"{said}."
    stop = "" if listed or text.endswith(_ENDS) else "."
    follows = f" (This follows on: “{inline(stated.follows)}”)" if stated.follows else ""
    told = inline(text, {name: as_code for code in known for name, as_code in code.names.items()})
    return f"{told}{stop}{follows}{marks(stated.cites)}\n{below}"


def marks(cites: Iterable[str]) -> str:
    """The footnotes of a sentence."""
    return "".join(f"[^{key}]" for key in cites)


def _history(made: Rendered) -> str:
    lines = []
    for key in made.page.replaced:
        old, new = made.items[key], made.items.get(made.items[key].superseded_by or "")
        until = f" until {old.valid_to[:10]}" if old.valid_to else ""
        since = f"from {old.valid_from[:10]}" if old.valid_from else ""
        when = " ".join(filter(None, (since, until.strip())))
        now = f" Now: {inline(new.statement)}{marks([new.id])}" if new else ""
        lines.append(f"- {f'Held {when}' if when else 'Held before'}: “{inline(old.statement)}”{marks([key])}{now}\n")
    return f"## {HISTORY}\n\n{''.join(lines)}" if lines else ""


def _conflicts(made: Rendered) -> str:
    lines = []
    for a, b in made.conflicts:
        sides = (f"“{inline(made.items[key].statement)}”{marks([key])}" for key in (a, b))
        lines.append(f"- {' but '.join(sides)} Both stand in the sources; `kb review` settles it.\n")
    return f"## {CONFLICTS}\n\n{''.join(lines)}" if lines else ""


def _links(heading: str, links: Sequence[Link], page: Page) -> str:
    points = (f"- [{label(link.title)}]({address(_relative(link.path, page.path))})\n" for link in links)
    return f"## {heading}\n\n{''.join(points)}" if links else ""


def _relative(path: str, origin: str) -> str:
    """From one page to another, both below ``kb/wiki``."""
    folder, _, name = path.rpartition("/")
    return name if folder == origin.rpartition("/")[0] else f"../{path}"


def _sources(made: Rendered) -> str:
    counted = Counter(doc for key in made.page.items for doc in {c.doc_id for c in made.items[key].sources})
    lines = []
    for doc in sorted(counted, key=lambda doc: (-counted[doc], doc)):
        first = next(c for key in made.page.items for c in made.items[key].sources if c.doc_id == doc)
        said = f"{counted[doc]} statement{'s' if counted[doc] > 1 else ''}"
        lines.append(f"- {_document(doc)} ({first.source_type}, {first.license}): {said}\n")
    return f"## {SOURCES}\n\n{''.join(lines)}" if lines else ""


def quote_of(citation: Citation) -> str:
    """The words of a quote on one line, without the code below them."""
    return " ".join(shown.prose(citation.source_span).split())


def _document(doc: str, place: str = "") -> str:
    spot = f"#{address(anchor(place))}" if place else ""
    title = f"{doc} › {place}" if place else doc
    return f"[{label(title)}](../../normalized/{address(doc)}.md{spot})"


def _footnotes(made: Rendered) -> str:
    places = {key: part.place for part in made.page.parts for key in part.items}
    shown = [*cited(made.written), *made.page.replaced]
    shown += [made.items[key].superseded_by or "" for key in made.page.replaced]
    shown += [key for pair in made.conflicts for key in pair]
    keys = [key for key in dict.fromkeys(shown) if key in made.items]
    return "".join(f"[^{key}]: {_proofs(made.items[key], places.get(key, ''), made)}\n" for key in keys)


def _proofs(item: Item, place: str, made: Rendered) -> str:
    proofs = [_proof(c, place if n == 0 else "", made) for n, c in enumerate(item.sources)]
    return " Also: ".join(proofs)


def _proof(citation: Citation, place: str, made: Rendered) -> str:
    quote = quote_of(citation)
    told = quoted(quote[:SHOWN]) + ("…" if len(quote) > SHOWN else "")
    with_code = f" {AND_CODE}" if shown.code(citation.source_span) else ""
    meta = made.metas.get(citation.doc_id)
    dated = f", {meta.effective_date[:10]}" if meta and meta.effective_date else ""
    read = f", read {citation.fetched_at[:10]}"
    return f"“{told}”{with_code} — {_document(citation.doc_id, place)}, {citation.license}{dated}{read}."
