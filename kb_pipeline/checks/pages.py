"""Whether the plan of the wiki holds every item, and what of it a reader would stumble over."""

from collections import Counter
from itertools import chain
from typing import cast

from kb_pipeline.checks.findings import finding
from kb_pipeline.checks.judging import claimed
from kb_pipeline.records import Finding, Page
from kb_pipeline.rules.pages.proving import due
from kb_pipeline.world import Changes, Inputs, World

_CURE = "Run `kb build --full`."


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every active item is at home on exactly one page, and no two pages share a title or a path."""
    pages = cast(tuple[Page, ...], inputs.records("pages", "plan"))
    homes = Counter(chain.from_iterable(part.items for page in pages for part in page.parts))
    twice = ((item, n) for item, n in homes.items() if n > 1)
    bad = [f"{item} is at home on {n} pages" for item, n in sorted(twice)]
    keys = inputs.keys("tags") if changes.everything else sorted(changes.touched["tags"])
    for key, (status, should) in claimed(due, keys, inputs, world):
        if should != (key in homes):
            bad.append(f"{key} is {status} and {'on no' if should else 'on a'} page")
    known = set(inputs.keys("tags"))
    bad += [f"{item} is on a page but not published" for item in sorted(homes.keys() - known)]
    for what, names in (("title", [p.title.casefold() for p in pages]), ("path", [p.path.casefold() for p in pages])):
        bad += [f"{n} pages have the {what} '{name}'" for name, n in sorted(Counter(names).items()) if n > 1]
    return finding("pages", "items_are_at_home", str(run.__doc__), bad, _CURE)
