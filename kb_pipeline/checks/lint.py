"""What of the wiki a reader would stumble over, each with its cure. Nothing of it holds a build back."""

from collections import Counter
from collections.abc import Sequence
from typing import cast

from kb_pipeline.checks.findings import finding
from kb_pipeline.records import Finding, Item, Outline, Page, PageBrief, Rendering
from kb_pipeline.rules.encoded import listed
from kb_pipeline.rules.pages.merging import BY_HAND, is_reviewed
from kb_pipeline.rules.pages.reading import read
from kb_pipeline.rules.pages.rendering import HISTORY
from kb_pipeline.rules.pages.sizing import FEWEST_ALONE_STANDING, MOST_STANDING
from kb_pipeline.rules.pages.topics import form_of, is_generic
from kb_pipeline.world import Changes, Inputs, World

_OFTEN = 12  # items that name a thing which has no page
_SPAN = 2  # documents, at least, in which they stand


def linked(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every page is named on another or leads to one."""
    bad = [f"{page.path} ({page.title})" for page in _plan(inputs) if not page.related and not page.backlinks]
    cure = (
        "Name its subject, as its title has it, in a document that speaks of it; or leave it: the indexes lead there."
    )
    return _warned("pages_are_linked", linked, bad, cure)


def told_apart(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """No two pages have titles that differ in case, plural, hyphen or order of words alone."""
    groups: dict[tuple[str, ...], list[Page]] = {}
    for page in _plan(inputs):
        groups.setdefault(tuple(sorted(form_of(page.title).split("-"))), []).append(page)
    bad = [" and ".join(f"{p.path} ({p.title})" for p in pages) for pages in groups.values() if len(pages) > 1]
    cure = "Give the documents one title, so that they become one page, or titles that say what differs."
    return _warned("titles_differ", told_apart, bad, cure)


def sized(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every page holds enough to be read, and no more than one sitting's worth."""
    bad = []
    for page in _plan(inputs):
        if len(page.items) < FEWEST_ALONE_STANDING:
            bad.append(f"{page.path} is thin: {len(page.items)} statements")
        elif len(page.items) > MOST_STANDING:
            bad.append(f"{page.path} is long: {len(page.items)} statements")
    cure = "A thin page grows with its subject's documents; a long one parts along headings: give its document some."
    return _warned("pages_have_a_size", sized, bad, cure)


def covered(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """What many items in several documents name has a page."""
    titles = {form_of(name) for page in _plan(inputs) for name in (page.title, *page.aliases)}
    named: Counter[str] = Counter()
    documents: dict[str, set[str]] = {}
    spelled: dict[str, str] = {}
    for outline in cast(tuple[Outline, ...], inputs.records("pages", "outlines")):
        for name in (name for section in outline.sections for item in section.items for name in set(item.names)):
            form = form_of(name)
            named[form] += 1
            documents.setdefault(form, set()).add(outline.doc_id)
            spelled.setdefault(form, name)
    bad = [
        f"{spelled[form]}: {n} statements in {len(documents[form])} documents"
        for form, n in named.most_common()
        if n >= _OFTEN and len(documents[form]) >= _SPAN and form not in titles and not is_generic(form)
    ]
    return _warned("names_have_pages", covered, bad, "Write a document, or a heading, of that name.")


def fresh(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """No page holds sentences by hand, or ones that a person reviewed, which nothing states any more."""
    plan = {page.id: page for page in _plan(inputs)}
    bad = []
    for key in inputs.keys("wiki") if changes.everything else sorted(changes.touched["wiki"]):
        if not key.startswith("pg_") or inputs.broken("wiki", key):
            continue
        for record in inputs.records("wiki", key):
            page = cast(Rendering, record)
            if key not in plan:
                bad.append(f"{page.path}: no item is left on the subject, only a person's words")
            elif is_reviewed(page.text):
                bad += _gone(page, inputs)
            elif n := page.text.count(f"{BY_HAND}\n"):
                bad.append(f"{page.path}: {n} sentences by hand rest on no quote")
    return _warned(
        "hands_are_proven", fresh, bad, "`kb review` lists them: write a document that states them, or drop them."
    )


def _gone(page: Rendering, inputs: Inputs) -> list[str]:
    """What a reviewed page says that no item states any more."""
    cited = [(line.text, key) for line in read(page.text) if line.section != HISTORY for key in line.cites]
    holding = {key for _, key in cited for i in inputs.records("tags", key) if cast(Item, i).status == "active"}
    return [f"{page.path} is reviewed, but nothing states: {text[:80]}" for text, key in cited if key not in holding]


def sourced(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every document that a page rests on is still there."""
    documents = frozenset(inputs.keys("normalized"))
    bad: list[str] = []
    if not listed("docs", inputs.encoded("wiki", "catalogue")) <= documents:  # else none need be decoded
        briefs = cast(tuple[PageBrief, ...], inputs.records("wiki", "catalogue"))
        bad = [f"{page.path} rests on {doc}" for page in briefs for doc in page.docs if doc not in documents]
    return _warned("sources_are_there", sourced, bad, "Run `kb build`.")


def _plan(inputs: Inputs) -> tuple[Page, ...]:
    return cast(tuple[Page, ...], inputs.records("pages", "plan"))


def _warned(name: str, run: object, bad: Sequence[str], cure: str) -> Finding:
    return finding("wiki", name, str(run.__doc__), bad, cure, blocking=False)
