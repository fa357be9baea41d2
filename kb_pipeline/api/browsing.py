"""Looking around before anything is asked: sources, categories, tags, lists. Knows the live rows alone, no principal.

Lists come from SQL over the live rows, so that what a reader may not see is in none of them, nor in a count.
"""

from kb_pipeline.api.asking import Asking
from kb_pipeline.errors import NotFound
from kb_pipeline.records import (
    UNCLASSIFIED,
    Contents,
    DocumentLine,
    EvalResult,
    Listed,
    Listing,
    Project,
    Shelf,
    SourceView,
)

PAGE = 50
"""Items a page of a list."""
_TAGGED = """select tag, count(*) n from (select unnest(tags) tag from rows where kind = 'item')
group by 1 order by n desc, tag limit 200"""


def contents(base: Asking) -> Contents:
    """What there is by kind, category and tag; empty before the first build."""
    descriptions = {c.name: c.description for c in base.settings.taxonomy.categories}
    with base.world.index.snapshot() as snapshot:
        kinds, generation = snapshot.count(), snapshot.generation
    filed = dict(_pairs(base, "select category, count(*) from rows where kind = 'item' group by 1"))
    tagged = _pairs(base, _TAGGED)
    names = [*descriptions, *(name for name in sorted(filed) if name not in descriptions)]
    return Contents(
        generation=generation,
        kinds=kinds,
        categories=tuple(
            Shelf(name=n, items=filed.get(n, 0), description=descriptions.get(n, ""))
            for n in names
            if n in filed or n != UNCLASSIFIED
        ),
        tags=tuple(Shelf(name=name, items=count) for name, count in tagged),
    )


def listing(base: Asking, *, category: str = "", tag: str = "", start: int = 0, size: int = PAGE) -> Listing:
    """Active items of a category, a tag or both, the newest first, ``size`` of them from ``start`` on."""
    wanted = ["kind = 'item'"]
    wanted += [f"category = {_quoted(category)}"] if category else []
    wanted += [f"list_contains(tags, {_quoted(tag)})"] if tag else []
    where = " and ".join(wanted)
    ((total,),) = base.sql(f"select count(*) from rows where {where}")[1]  # noqa: S608 - quoted above, read-only
    names = ("id", "text", "category", "tags", "doc_id", "updated_at")
    page = f"order by updated_at desc, id limit {size:d} offset {start:d}"
    query = f"select {', '.join(names)} from rows where {where} {page}"  # noqa: S608 - as above
    rows = [dict(zip(("id", "statement", *names[2:]), row, strict=True)) for row in base.sql(query)[1]]
    return Listing(total=total, start=start, items=tuple(Listed.model_validate(row) for row in rows))


def documents(base: Asking, source: str) -> list[DocumentLine]:
    """The documents of a source that can be searched, by name, with how many items begin in each."""
    columns = "doc_id, max(title), max(source_type), count(*) filter (where kind = 'item')"
    wanted = f"source_id = {_quoted(source)} and kind in ('item', 'chunk')"
    query = f"select {columns} from rows where {wanted} group by 1 order by 1"  # noqa: S608 - quoted, read-only
    names = tuple(DocumentLine.model_fields)
    return [DocumentLine.model_validate(dict(zip(names, row, strict=True))) for row in base.sql(query)[1]]


def sources(whole: Asking, visible: Asking) -> list[SourceView]:
    """The sources that ``visible`` knows, in the state in which ``whole``, the knowledge base itself, has them."""
    states = {status.id: status for status in whole.status().sources}
    return [
        SourceView(
            status=states[source.id],
            license=source.license,
            refresh=source.refresh,
            owners=source.owners,
            projects=tuple(p.id for p in visible.settings.projects if source.id in p.sources),
        )
        for source in visible.settings.sources
    ]


def project(base: Asking, name: str) -> Project:
    """A project by its id. Raises ``NotFound`` with those there are."""
    projects = {p.id: p for p in base.settings.projects}
    if name not in projects:
        known = ", ".join(projects) or "none"
        raise NotFound(f"there is no project '{name}'.", where="project", cure=f"Known projects: {known}.")
    return projects[name]


def evaluations(base: Asking) -> list[EvalResult]:
    """Every evaluation; who sees some sources alone is told of their slices only."""
    found = base.evaluations()
    if base.sees is None:
        return found
    slices = {f"source:{source}" for source in base.sees}
    return [
        result.model_copy(
            update={"counts": {}, "common": {}, "metrics": {k: v for k, v in result.metrics.items() if k in slices}}
        )
        for result in found
    ]


def _pairs(base: Asking, query: str) -> list[tuple[str, int]]:
    return [(str(name), int(count)) for name, count in base.sql(query)[1]]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''").replace("\0", "") + "'"
