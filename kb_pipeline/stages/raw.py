"""The originals of a source: what a connector lists becomes manifest entries. Bytes are kept by the runner."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from kb_pipeline.errors import SourceUnavailable
from kb_pipeline.records import Fetched, RawEntry, Source
from kb_pipeline.rules import ids
from kb_pipeline.sources import kinds
from kb_pipeline.world import World

# A source this large that suddenly loses more than half of its documents is more likely broken than emptied.
LOSS_FLOOR = 20


def run(source: Source, known: Mapping[str, RawEntry], world: World) -> Iterator[Fetched]:
    """Fetch the originals of a source that are new or changed; what is gone becomes a tombstone, never a guess."""
    kind = kinds(world.settings).get(source.type)
    if kind is None:
        raise SourceUnavailable(
            f"has the unknown type '{source.type}'.", where=f"source '{source.id}'", cure="Correct sources.yaml."
        )
    yield from kind.fetch(source, known, world)


def entry(fetched: Fetched, known: RawEntry | None, source: Source, now: datetime) -> RawEntry:
    """What the manifest records of one listed original. ``fetched_at`` moves only when the bytes change."""
    stamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    if fetched.content is None or (known and ids.sha256(fetched.content) == known.sha256):
        if known is None:
            raise SourceUnavailable("is listed as unchanged but was never read.", where=f"{source.id}/{fetched.path}")
        return known.model_copy(
            update={
                "uri": fetched.uri or known.uri,
                "source_type": fetched.source_type if fetched.uri else known.source_type,
                "effective_date": fetched.effective_date or known.effective_date,
                "stat": fetched.stat or known.stat,
                "etag": fetched.etag or known.etag,
                "last_modified": fetched.last_modified or known.last_modified,
                "license": source.license,
                "deleted_at": None,
            }
        )
    return RawEntry(
        path=fetched.path,
        uri=fetched.uri,
        sha256=ids.sha256(fetched.content),
        size=len(fetched.content),
        fetched_at=stamp,
        media_type=fetched.media_type,
        source_type=fetched.source_type,
        license=source.license,
        title=fetched.title,
        authors=fetched.authors,
        effective_date=fetched.effective_date,
        etag=fetched.etag,
        last_modified=fetched.last_modified,
        stat=fetched.stat,
    )


def content(raw: RawEntry) -> str:
    """The hash of what conversion depends on: bytes and stated facts; neither stat nor etag."""
    stated = raw.model_dump(include={"sha256", "uri", "media_type", "source_type", "license", "title", "authors"})
    return ids.digest_json({**stated, "path": raw.path, "effective_date": raw.effective_date})


def sudden_loss(known: int, gone: int) -> bool:
    """Whether losing ``gone`` of ``known`` documents at once must be confirmed by a person."""
    return known >= LOSS_FLOOR and gone * 2 > known
