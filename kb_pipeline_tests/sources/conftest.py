"""What the tests of connectors share: a world whose only live part is the fetcher."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from kb_pipeline.records import Fetched, RawEntry, Source
from kb_pipeline.rules.ids import sha256
from kb_pipeline.services.fetcher import HttpFetcher, Limits
from kb_pipeline.settings import Settings
from kb_pipeline.sources import kinds
from kb_pipeline.world import World
from kb_pipeline_tests.fakes import FixedClock
from kb_pipeline_tests.loopback import Site, serve

Known = dict[str, RawEntry]


class Listing:
    """Runs a connector as a build does, keeping what a manifest would."""

    def __init__(self, root: Path) -> None:
        self.settings = Settings(root)
        self.fetcher = HttpFetcher(Limits(total_seconds=5, read_seconds=2))

    def forget(self) -> None:
        """Take a new fetcher, which has read no robots.txt yet."""
        self.fetcher.close()
        self.fetcher = HttpFetcher(Limits(total_seconds=5, read_seconds=2))

    def world(self) -> World:
        """A world of these settings and this fetcher; connectors may ask nothing else."""
        absent = cast("Any", None)
        return World(self.settings, absent, absent, absent, self.fetcher, absent, FixedClock())

    def fetch(self, source: Source, known: Known | None = None) -> list[Fetched]:
        """The listing of ``source``, whole."""
        return list(self.lines(source, known))

    def lines(self, source: Source, known: Known | None = None) -> Iterator[Fetched]:
        """The same, line by line."""
        return kinds(self.settings)[source.type].fetch(source, known or {}, self.world())


def remember(listed: Iterable[Fetched], known: Known | None = None) -> Known:
    """The manifest's live entries after a complete listing."""
    before = known or {}
    after: Known = {}
    for line in listed:
        if line.state == "failed":
            after |= {line.path: before[line.path]} if line.path in before else {}
            continue
        content = line.content or b""
        old = before.get(line.path)
        after[line.path] = RawEntry(
            path=line.path,
            uri=line.uri,
            sha256=old.sha256 if line.state == "same" and old else sha256(content),
            size=len(content),
            fetched_at="2026-01-02T03:04:05Z",
            media_type=line.media_type,
            effective_date=line.effective_date,
            etag=line.etag,
            last_modified=line.last_modified,
            stat=line.stat,
        )
    return after


@pytest.fixture
def listing(tmp_path: Path) -> Iterator[Listing]:
    """A knowledge base in an empty folder."""
    listing = Listing(tmp_path)
    yield listing
    listing.fetcher.close()


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file below the knowledge base's root."""

    def write(path: str, text: str | bytes = "text") -> Path:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    return write


@pytest.fixture
def site() -> Iterator[Site]:
    """A web server on loopback with no pages."""
    with serve() as site:
        yield site
