"""The sweep: old pairs decided anew, and a report on what has grown old. Owns what is read for it, no threshold."""

from collections.abc import Iterator
from datetime import datetime
from typing import cast

from kb_pipeline.errors import KbError
from kb_pipeline.records import UNCLASSIFIED, DedupDecision, Document, Item, OldSource, RawEntry, Source, Staleness
from kb_pipeline.rules import ids, staleness
from kb_pipeline.runner.context import Run
from kb_pipeline.runner.whole import whole
from kb_pipeline.settings import refresh_due
from kb_pipeline.sources import kinds
from kb_pipeline.stages import PIPELINE

REPORT = "staleness"

Pairs = dict[tuple[str, str], str]


def sweep(run: Run) -> Staleness:
    """Decide every pair anew, also those whose nearest neighbours came or went since, and write the report.

    ``run`` is a full one; the caller holds the build lease. What comes out otherwise makes the stages below stale, so
    that the next build publishes it. A model is asked only what it has not answered before.
    """
    before = _pairs(run)
    whole(run, PIPELINE["dedup"])
    after = _pairs(run)
    overturned = sum(before.get(pair) != after.get(pair) for pair in before.keys() | after.keys())
    found = report(run).model_copy(update={"rechecked": len(after), "overturned": overturned})
    run.kb.keep_report(REPORT, found)
    return found


def _pairs(run: Run) -> Pairs:
    entry = run.kb.manifest("dedup").get("decisions")
    lines = cast(tuple[DedupDecision, ...], run.kb.read("dedup", entry)) if entry else ()
    return {(line.a, line.b): f"{line.decision} {line.newer or ''}" for line in lines}


def report(run: Run) -> Staleness:
    """What has grown old or loose by now. Reads every item and document, asks nobody, changes nothing."""
    taxonomy, now = run.world.settings.taxonomy, run.world.clock.now()
    items, documents = list(_items(run)), list(_documents(run))
    dates = {d.meta.doc_id: (d.meta.effective_date or d.meta.fetched_at)[:10] for d in documents}
    counts, places = staleness.tag_counts(items), staleness.Places(frozenset(dates), dict(_gone(run)))
    links = (link for d in documents for link in staleness.dead_links(d.meta.doc_id, d.text, places))
    unclassified, wide, empty = staleness.widths(items, taxonomy, UNCLASSIFIED)
    return Staleness(
        at=run.now(),
        items=sum(item.status == "active" for item in items),
        sources=tuple(_sources(run, now)),
        old_items=tuple(staleness.old_items(items, dates, now)),
        dead_links=tuple(links),
        unused_tags=tuple(staleness.unused_tags(taxonomy, counts)),
        near_tags=tuple(staleness.near_tags(taxonomy, counts)),
        unclassified=unclassified,
        wide=tuple(wide),
        empty=tuple(empty),
    )


def _items(run: Run) -> Iterator[Item]:
    for entry in run.kb.manifest("tags"):
        try:
            yield cast(Item, run.kb.read("tags", entry)[0])
        except KbError:
            continue  # a broken edit; the build reports it


def _documents(run: Run) -> Iterator[Document]:
    for manifest in run.manifests("normalized"):
        for entry in manifest.live():
            if run.kb.present(entry):
                yield cast(Document, run.kb.read("normalized", entry)[0])


def _gone(run: Run) -> Iterator[tuple[str, str]]:
    """Documents, and their addresses, that are gone at their source."""
    for source in run.kb.sources("raw"):
        for entry in run.kb.manifest("raw", source):
            raw = RawEntry(**entry.info)
            if raw.deleted_at:
                why = f"gone since {raw.deleted_at[:10]}"
                yield ids.doc_id(source, entry.key), why
                if "://" in raw.uri:
                    yield raw.uri, why


def _sources(run: Run, now: datetime) -> Iterator[OldSource]:
    for source in run.world.settings.sources:
        stamp = run.stamp("raw", source.id)
        why = _why(run, source, now)
        if why:
            yield OldSource(id=source.id, last_read=stamp.get("at"), refresh=source.refresh, why=why)


def _why(run: Run, source: Source, now: datetime) -> str:
    stamp = run.stamp("raw", source.id)
    last = stamp.get("at")
    if "failed" in stamp:
        return f"could not be read since {stamp.get('failed_at', '')[:10]}: {stamp['failed']}"
    if last is None:
        return "was never read here"
    if _remote(run, source) and refresh_due(source.refresh, datetime.fromisoformat(last), now):
        return "is past its refresh"
    return ""


def _remote(run: Run, source: Source) -> bool:
    """Whether nothing but a visit tells if it changed; of others every build looks."""
    try:
        kind = kinds(run.world.settings).get(source.type)
        return kind is None or kind.fingerprint(source, run.world.settings) is None
    except Exception:  # noqa: BLE001 - a plugin may raise anything; the build will say so
        return True
