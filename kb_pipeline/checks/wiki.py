"""Whether the pages say what is proven, and lead where they say."""

from collections.abc import Iterator, Mapping
from typing import cast

from kb_pipeline.checks.findings import finding
from kb_pipeline.records import Finding, Item, Page, Rendering
from kb_pipeline.rules.pages.markdown import plain, quoted
from kb_pipeline.rules.pages.merging import is_reviewed
from kb_pipeline.rules.pages.reading import Line, dead_links, read
from kb_pipeline.rules.pages.rendering import HISTORY, SHOWN, quote_of
from kb_pipeline.world import Changes, Inputs, World


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every sentence of the machine ends in footnotes that show verbatim quotes of items which hold now (those of the
    history aside), and every link of a page leads somewhere; a person answers for what he wrote or reviewed."""
    plan = {page.id: page for page in cast(tuple[Page, ...], inputs.records("pages", "plan"))}
    touched = changes.touched["tags"]
    wanted = [
        page
        for page in plan.values()
        if changes.everything or page.id in changes.touched["wiki"] or not touched.isdisjoint(page.items)
    ]
    paths = {page.path for page in plan.values()}
    documents = frozenset(inputs.keys("normalized"))
    bad = [f"{page.path}: {fault}" for page in wanted for fault in _faults(page, inputs, paths, documents)]
    cure = "Run `kb build --full`; a sentence of your own needs the footnote [^by-hand] or a section of its own."
    return finding("wiki", "sentences_are_proven", str(run.__doc__), bad, cure)


def _faults(page: Page, inputs: Inputs, paths: set[str], documents: frozenset[str]) -> Iterator[str]:
    if inputs.broken("wiki", page.id):
        return  # a person's file that cannot be read has been reported
    records = inputs.records("wiki", page.id)
    if not records:
        yield "was not written"
        return
    text = cast(Rendering, records[0]).text
    if is_reviewed(text):
        return  # a person answers for it
    lines = list(read(text))
    cited = {key for line in lines for key in line.cites if line.ours}
    items = {key: cast(Item, record) for key in sorted(cited) for record in inputs.records("tags", key)}
    feet = {line.label: line.text for line in lines if line.kind == "foot"}
    for line in lines:
        if line.ours and not line.by_hand:
            yield from _unproven(line, items, feet)
    for target in dead_links(text, page.path, paths, documents):
        yield f"a link leads nowhere: {target}"


def _unproven(line: Line, items: Mapping[str, Item], feet: Mapping[str, str]) -> Iterator[str]:
    if line.kind == "lead":
        said = plain(line.text).rstrip(":")
        if not any(said in f"{item.context or ''}\n{item.statement}" for item in items.values()):
            yield f"nothing states '{said[:60]}'"
    if line.kind != "sentence":
        return
    if not line.cites:
        yield f"no footnote: {line.text[:80]}"
    for key in line.cites:
        item = items.get(key)
        if item is None or (item.status != "active" and line.section != HISTORY):
            yield f"{key} does not hold: {line.text[:80]}"
        elif not item.sources or not all(quoted(quote_of(c)[:SHOWN]) in feet.get(key, "") for c in item.sources):
            yield f"the footnote of {key} shows another quote"
