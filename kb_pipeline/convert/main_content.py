"""Which runs of a page are its content: trafilatura decides, and what it is known to lose is won back.

Measured on 42 hand-checked pages of eight kinds (``benchmarks/bench_convert.py``): trafilatura alone keeps 169 of 189
strings that must stay and drops 152 of 159 that must not; this keeps 182 and drops 153. It loses whole posts of forums,
sections of long documentation, code inside tables and definition lists; all of these stand in the page's own tree,
which is therefore rendered instead of trafilatura's rewritten one. It never sees more than the tree it is given.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from kb_pipeline.convert.runs import Run, runs_of

if TYPE_CHECKING:
    from lxml.html import HtmlElement

# CJK extension B: letters to every library, one code point each, and hardly ever in a page.
_FIRST_MARK: Final = 0x20000
_MARKS: Final = 42_000
_HEADINGS: Final = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_STRUCTURES: Final = frozenset(("pre", "table", "dl"))
_FRAME_ROLES: Final = frozenset(("navigation", "banner", "contentinfo", "search", "complementary", "menu", "dialog"))
_FRAME_NAMES: Final = re.compile(
    r"(?:^|[-_\s])(?:sidebar|navbar|navigation|nav|breadcrumbs?|toc|footer|menu|pagination|pager|prev-?next|cookies?"
    r"|newsletter|social|share|sharing|related|banner|skip-?link|site-?header|masthead)(?:$|[-_\s])",
    re.IGNORECASE,
)
_BUTTON: Final = re.compile(r"\b(?:btn|button|cta)\b|btn-|button-", re.IGNORECASE)
# Where a page states in microdata what its text is, it is believed.
_STATED: Final = frozenset(("text", "articleBody"))
# trafilatura's own MIN_EXTRACTED_SIZE: under it an extraction counts as failed.
_FAILED: Final = 250
_SMALL_PAGE: Final = 2_000
# The part of the kept text that one element must hold to be the content's container.
_CONTAINER: Final = 0.9
# A frame that holds more of the kept text than this is a container with an unlucky name.
_FRAME_SHARE: Final = 0.25


def cut_to_main_content(body: HtmlElement) -> None:
    """Remove every run from ``body`` that does not belong to the page's content, in place."""
    _unwrap_forms(body)
    runs = runs_of(body)
    if len(runs) <= _MARKS:
        _ask_trafilatura(body, runs)
    for run in runs:
        run.kept = run.kept or any(e.get("itemprop") in _STATED for e in run.ancestry())
    # A page too small to judge, or too large (a book, a specification), is kept whole but for its frames.
    if len(runs) > _MARKS or (_size(runs) < _FAILED and sum(r.length for r in runs) < _SMALL_PAGE):
        for run in runs:
            run.kept = not any(_is_frame(e) for e in run.ancestry())
    _win_back(runs)
    _drop_frames(runs)
    for run in runs:
        if not run.kept:
            run.remove()


def _unwrap_forms(body: HtmlElement) -> None:
    """Some frameworks wrap a whole page in one form, which is no reason to skip it."""
    size = len(body.text_content())
    for form in body.iter("form"):
        if 2 * len(form.text_content()) > size:
            form.tag = "div"


def _ask_trafilatura(body: HtmlElement, runs: list[Run]) -> None:
    """Mark runs as kept where their letter comes through, with trafilatura's balance and with its wider net.

    The wider one counts only where it kept more: it loses the answers of forums that the balanced one keeps.
    """
    from lxml import etree  # heavy: loaded by a worker alone
    from trafilatura import extract

    for number, run in enumerate(runs):
        run.put_mark(chr(_FIRST_MARK + number))
    tree = copy.deepcopy(body.getroottree().getroot())
    # trafilatura writes a cell once for every column that it claims to span.
    etree.strip_attributes(tree, "colspan", "rowspan")
    balanced = frozenset(extract(copy.deepcopy(tree)) or "")
    wider = frozenset(extract(tree, favor_recall=True) or "")
    for run in runs:
        run.clear_mark()
    lengths = {run.mark: run.length for run in runs}
    more = sum(lengths.get(m, 0) for m in wider) > sum(lengths.get(m, 0) for m in balanced)
    kept = balanced | wider if more else balanced
    for run in runs:
        run.kept = run.mark in kept


def _size(runs: Iterable[Run]) -> int:
    return sum(run.length for run in runs if run.kept)


def _held(runs: Iterable[Run]) -> Counter[HtmlElement]:
    """How many characters of ``runs`` stand under each element."""
    held: Counter[HtmlElement] = Counter()
    for run in runs:
        for element in run.ancestry():
            held[element] += run.length
    return held


# --- winning back ------------------------------------------------------------------------------------------------


def _win_back(runs: list[Run]) -> None:
    """Keep also the code, tables, definitions, list items and headings inside the content's container."""
    kept = _held(run for run in runs if run.kept)
    inside = _inside_container(runs, kept)
    whole = _held(runs)
    for run, around in inside:
        if not run.kept and not any(_is_frame(e) for e in around):
            lost = any(e.tag in _STRUCTURES or _has_unlucky_name(e) for e in around)
            run.kept = lost or _list_is_kept(run, kept, whole)
    _keep_headline(runs)
    content_follows = False
    for run, around in reversed(inside):
        if any(e.tag in _HEADINGS for e in around):
            run.kept = run.kept or (content_follows and not any(_is_frame(e) for e in around))
        else:
            content_follows = run.kept


def _keep_headline(runs: list[Run]) -> None:
    """A page's only first-level heading names its content, wherever it stands."""
    headlines = [run for run in runs if run.block.tag == "h1"]
    if len(headlines) == 1 and not any(_is_frame(e) for e in headlines[0].ancestry()):
        headlines[0].kept = True


def _inside_container(runs: list[Run], kept: Counter[HtmlElement]) -> list[tuple[Run, list[HtmlElement]]]:
    """The runs under the smallest element with nine tenths of the kept text, each with its elements up to there."""
    if not kept:
        return []
    total = max(kept.values())
    container = min((e for e, size in kept.items() if size >= _CONTAINER * total), key=lambda e: -_depth(e))
    inside = []
    for run in runs:
        around = list(run.ancestry())
        if container in around:
            inside.append((run, around[: around.index(container)]))
    return inside


def _depth(element: HtmlElement) -> int:
    return sum(1 for _ in element.iterancestors())


def _list_is_kept(run: Run, kept: Counter[HtmlElement], whole: Counter[HtmlElement]) -> bool:
    """Whether at least half of the list that ``run`` is an item of was kept."""
    if run.block.tag != "li":
        return False
    items = run.block.getparent()
    return items is not None and 2 * kept[items] >= whole[items]


# --- frames ------------------------------------------------------------------------------------------------------


def _drop_frames(runs: list[Run]) -> None:
    """Drop kept runs in what frames a page (navigation, footers, sidebars by tag, role or name) and lone buttons."""
    total = _size(runs)
    held = _held(run for run in runs if run.kept)
    frames = {e for e, size in held.items() if size < _FRAME_SHARE * total and _is_frame(e)}
    for run in runs:
        if run.kept and (_is_button(run) or any(e in frames for e in run.ancestry())):
            run.kept = False


def _is_frame(element: HtmlElement) -> bool:
    tag = element.tag
    if tag == "nav" or element.get("role") in _FRAME_ROLES:
        return True
    if tag in ("header", "footer"):
        return not any(a.tag in ("article", "main", "blockquote") for a in element.iterancestors())
    if tag in ("body", "html", "main", "article"):
        return False
    names = element.get("class", "") + ("" if _is_section(element) else " " + element.get("id", ""))
    return bool(names.strip()) and bool(_FRAME_NAMES.search(names))


def _is_section(element: HtmlElement) -> bool:
    """Whether ``element`` is a part of a text, so that its id names a subject: a chapter, not a banner, on cookies."""
    return element.tag == "section" or element.tag in _HEADINGS or (len(element) > 0 and element[0].tag in _HEADINGS)


def _has_unlucky_name(element: HtmlElement) -> bool:
    """Whether ``element`` is a section whose subject sounds like a frame, which trafilatura takes it for."""
    return _is_section(element) and bool(_FRAME_NAMES.search(element.get("id", "")))


def _is_button(run: Run) -> bool:
    """A run that is one link styled as a button: a call to action, not a sentence."""
    if len(run.inline) != 1 or run.length > 40 or run.block.tag in ("li", "td", "pre") or run.inline[0].tag != "a":
        return False
    around = (run.block.text if run.after is None else run.after.tail) or ""
    alone = not around.strip() and not (run.inline[0].tail or "").strip()
    return alone and bool(_BUTTON.search(run.inline[0].get("class", "")))
