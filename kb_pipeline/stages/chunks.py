"""Documents to chunks. The rules are in ``rules.chunking``; this hands them the settings."""

from collections.abc import Iterable, Iterator

from kb_pipeline.records import Chunk, Document
from kb_pipeline.rules.chunking import chunk
from kb_pipeline.world import World


def run(documents: Iterable[Document], world: World) -> Iterator[tuple[Chunk, ...] | Exception]:
    """Cut documents into header-aware chunks that keep still under edits; every character is in exactly one."""
    options = world.settings.options
    for document in documents:
        yield tuple(chunk(document, minimum=options.chunk_min, target=options.chunk_target, maximum=options.chunk_max))
