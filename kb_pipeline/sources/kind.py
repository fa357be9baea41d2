"""What a source type is to the rest of the house: one row of ``sources.KINDS``. Knows no type by name."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kb_pipeline.records import Fetched, RawEntry, Source
from kb_pipeline.settings import Settings
from kb_pipeline.world import World

Fetch = Callable[[Source, Mapping[str, RawEntry], World], Iterator[Fetched]]
Fingerprint = Callable[[Source, Settings], str | None]
Allowed = type | tuple[str, ...]


def _no_fingerprint(source: Source, settings: Settings) -> None:
    """A remote source: only its ``refresh`` says when to look."""


def _no_mistakes(source: Source) -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class Kind:
    """One source type.

    ``fetch`` lists the source against the manifest's live entries by path; ending normally says that the listing is
    complete, raising that it is not. ``fingerprint`` is the state of a source that can be had without reading it, or
    ``None``. ``options`` maps the names allowed in ``options:`` to the type or the values they take, and is ``None``
    where anything goes. ``check`` yields what is wrong with an entry of this type, as sentences with their cure.
    """

    fetch: Fetch
    fingerprint: Fingerprint = _no_fingerprint
    remote: bool = True
    options: Mapping[str, Allowed] | None = field(default_factory=dict)
    check: Callable[[Source], Iterable[str]] = _no_mistakes
