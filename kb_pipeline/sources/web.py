"""Type ``web``: one page, a list of pages, or those of a sitemap, asked for only when they changed.

HTTP itself, robots.txt and the guard against private addresses belong to ``world.fetcher``.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import get_args
from urllib.parse import urlsplit

from kb_pipeline.errors import PageGone, SourceUnavailable
from kb_pipeline.records import Fetched, RawEntry, Source, SourceType
from kb_pipeline.rules.ids import sha256
from kb_pipeline.sources.globs import Selection
from kb_pipeline.sources.kind import Kind
from kb_pipeline.sources.sitemaps import pages
from kb_pipeline.sources.urls import normal, path_of, shown
from kb_pipeline.world import World

_MAX_PAGES = 500
_GIVE_UP_AFTER = 10  # failures in a row: the site is down, and the rest would only be waited for


def fetch(source: Source, known: Mapping[str, RawEntry], world: World) -> Iterator[Fetched]:
    """One line a page. A known page that the server says is gone has none; one that fails otherwise is ``failed``.

    Raises ``SourceUnavailable`` where a sitemap cannot be read, no page answers or many in a row fail.
    """
    by_url = {entry.uri: entry for entry in known.values()}
    urls, left_out = _listing(source, by_url, world)
    failures: list[SourceUnavailable] = []
    answered = in_a_row = 0
    for url in urls:
        entry = by_url.get(url)
        try:
            line = _page(url, entry, source, world)
        except SourceUnavailable as error:
            if isinstance(error, PageGone) and entry is not None:
                answered, in_a_row = answered + 1, 0
                continue
            failures.append(error)
            in_a_row += 1
            yield Fetched(path=_path(url, entry), state="failed", uri=url, reason=str(error))
            if in_a_row >= _GIVE_UP_AFTER:
                raise _down(source, f"{in_a_row} pages in a row failed", failures) from error
        else:
            answered, in_a_row = answered + 1, 0
            yield line
    if failures and not answered:
        raise _down(source, "no page could be fetched", failures) from failures[-1]
    if left_out:
        yield _cut(source, left_out)


def _listing(source: Source, by_url: Mapping[str, RawEntry], world: World) -> tuple[list[str], int]:
    """The pages to fetch, each once, and how many more the sitemaps list than ``max_pages`` lets in.

    Pages that are known stay in, so that a growing sitemap does not push them out.
    """
    fixed: dict[str, None] = {}
    listed: dict[str, None] = {}
    selection = Selection(source.include, source.exclude)
    for uri in source.uri:
        if _is_sitemap(uri, source):
            found = pages(uri, world.fetcher, _allow_private(source))
            listed.update((url, None) for url in found if selection.takes(urlsplit(url).path.strip("/") or "index"))
        else:
            fixed[normal(uri)] = None
    order = sorted(listed, key=lambda url: url not in by_url)
    room = max(0, int(source.options.get("max_pages", _MAX_PAGES)) - len(fixed))
    chosen = [url for url in order if url not in fixed]
    return [*fixed, *chosen[:room]], len(chosen[room:])


def _is_sitemap(uri: str, source: Source) -> bool:
    path = urlsplit(uri).path.lower()
    return bool(source.options.get("sitemap", False)) or path.endswith(("sitemap.xml", "sitemap.xml.gz"))


def _allow_private(source: Source) -> bool:
    return bool(source.options.get("allow_private", False))


def _page(url: str, entry: RawEntry | None, source: Source, world: World) -> Fetched:
    response = world.fetcher.get(
        url,
        etag=entry.etag if entry else None,
        last_modified=entry.last_modified if entry else None,
        allow_private=_allow_private(source),
    )
    same = entry is not None and (response.status == 304 or sha256(response.content) == entry.sha256)
    media_type = response.media_type or (entry.media_type if entry else "")
    last_modified = response.last_modified or (entry.last_modified if entry and same else None)
    return Fetched(
        path=entry.path if same and entry else path_of(url, media_type),
        state="same" if same else "changed",
        uri=url,
        content=None if same else response.content,
        media_type=media_type,
        source_type=source.options.get("source_type", "web"),
        effective_date=entry.effective_date if same and entry else _date(last_modified),
        etag=response.etag or (entry.etag if entry and same else None),
        last_modified=last_modified,
    )


def _path(url: str, entry: RawEntry | None) -> str:
    return entry.path if entry else path_of(url, "text/html")


def _date(last_modified: str | None) -> str | None:
    """``YYYY-MM-DD`` of an HTTP date; a server's nonsense is no date."""
    if last_modified:
        with contextlib.suppress(ValueError):
            return parsedate_to_datetime(last_modified).date().isoformat()
    return None


def _down(source: Source, what: str, failures: list[SourceUnavailable]) -> SourceUnavailable:
    cure = "Its last good pages stay; the next refresh tries again."
    return SourceUnavailable(f"{what}; the last: {failures[-1]}", where=f"source {source.id!r}", cure=cure)


def _cut(source: Source, left_out: int) -> Fetched:
    sitemap = next(uri for uri in source.uri if _is_sitemap(uri, source))
    reason = f"{left_out} more pages are listed than max_pages lets in. Raise options: max_pages, or use include."
    return Fetched(path=path_of(normal(sitemap), "application/xml"), state="failed", uri=sitemap, reason=reason)


def _mistakes(source: Source) -> Iterable[str]:
    for uri in source.uri:
        try:
            normal(uri)
        except ValueError as error:
            yield f"uri {shown(uri)!r} {error}. Write a URL such as https://example.com/page."


KIND = Kind(
    fetch=fetch,
    options={
        "sitemap": bool,
        "max_pages": int,
        "allow_private": bool,
        "source_type": get_args(SourceType),
    },
    check=_mistakes,
)
