"""Whether the plan of the wiki holds every item, and what of it a reader would stumble over."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import cast

from kb_pipeline.checks.findings import finding
from kb_pipeline.records import Finding, Page
from kb_pipeline.rules.encoded import Read
from kb_pipeline.rules.pages.proving import due
from kb_pipeline.world import Changes, Inputs, World

_CURE = "Run `kb build --full`."
_PART = 256  # items that travel to a worker at a time: about 5 ms of work


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every active item is at home on exactly one page, and no two pages share a title or a path."""
    pages = cast(tuple[Page, ...], inputs.records("pages", "plan"))
    homes = Counter(chain.from_iterable(part.items for page in pages for part in page.parts))
    twice = ((item, n) for item, n in homes.items() if n > 1)
    bad = [f"{item} is at home on {n} pages" for item, n in sorted(twice)]
    known = set(inputs.keys("tags"))
    keys = known if changes.everything else known & changes.touched["tags"]
    bad += _faults([key for key in sorted(keys) if not inputs.broken("tags", key)], homes, inputs, world)
    bad += [f"{item} is on a page but not published" for item in sorted(homes.keys() - known)]
    for what, names in (("title", [p.title.casefold() for p in pages]), ("path", [p.path.casefold() for p in pages])):
        bad += [f"{n} pages have the {what} '{name}'" for name, n in sorted(Counter(names).items()) if n > 1]
    return finding("pages", "items_are_at_home", str(run.__doc__), bad, _CURE)


def _faults(keys: Sequence[str], homes: Mapping[str, int], inputs: Inputs, world: World) -> Iterator[str]:
    """The items that are on a page and should not be, or the other way round."""
    looked = world.pool.map(due, Read(partial(inputs.encoded, "tags"), keys), _PART)
    for key, found in zip(keys, looked, strict=True):
        if isinstance(found, Exception):
            inputs.records("tags", key)  # what cannot be read is named, with its cure
            raise found
        status, should = found
        if should != (key in homes):
            yield f"{key} is {status} and {'on no' if should else 'on a'} page"
