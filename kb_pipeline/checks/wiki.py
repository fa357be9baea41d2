"""Whether the pages say what is proven, and lead where they say."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import cast

from kb_pipeline.checks.findings import finding
from kb_pipeline.records import Finding, Page
from kb_pipeline.rules.encoded import Read
from kb_pipeline.rules.pages.proving import Proof, Standing, cited_in, proof_of
from kb_pipeline.rules.pages.reading import leads
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
        if not inputs.broken("wiki", page.id)  # a person's file that cannot be read has been reported
    ]
    paths = {page.path for page in plan.values()}
    documents = frozenset(inputs.keys("normalized"))
    bad = []
    for page, proof in _proofs(wanted, inputs, world):
        bad += [f"{page.path}: {fault}" for fault in proof.faults]
        dead = (target for target, place in proof.places if not leads(place, paths, documents))
        bad += [f"{page.path}: a link leads nowhere: {target}" for target in dead]
    cure = "Run `kb build --full`; a sentence of your own needs the footnote [^by-hand] or a section of its own."
    return finding("wiki", "sentences_are_proven", str(run.__doc__), bad, cure)


def _proofs(pages: Sequence[Page], inputs: Inputs, world: World) -> Iterator[tuple[Page, Proof]]:
    standing = Read(partial(_standing, inputs), pages)
    for page, found in zip(pages, world.pool.map(proof_of, standing), strict=True):
        if isinstance(found, Exception):
            inputs.records("wiki", page.id)  # what cannot be read is named, with its cure
            for key in sorted(_standing(inputs, page).items):
                inputs.records("tags", key)
            raise found
        yield page, found


def _standing(inputs: Inputs, page: Page) -> Standing:
    data = inputs.encoded("wiki", page.id)
    items = {key: found for key in cited_in(data) if (found := inputs.encoded("tags", key))}
    return Standing(data, page.path, items)
