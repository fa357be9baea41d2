"""What the tests of local sources share: a source in one line, and what of a listing they compare."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from kb_pipeline.records import Fetched, Source
from kb_pipeline.sources import KINDS
from kb_pipeline_tests.sources.conftest import Listing

Write = Callable[..., Path]


def local(*uri: str, **keys: Any) -> Source:
    return Source(id="notes", type="local", uri=uri or ("notes",), **keys)


def paths(lines: list[Fetched]) -> list[str]:
    return [line.path for line in lines]


def states(lines: list[Fetched]) -> dict[str, str]:
    return {line.path: line.state for line in lines}


def fingerprint(listing: Listing, source: Source) -> str | None:
    return KINDS["local"].fingerprint(source, listing.settings)
