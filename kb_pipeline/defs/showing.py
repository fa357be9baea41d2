"""What a person sees of a stage in Dagster: counts, tables, columns, check results. Decides nothing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import dagster as dg

from kb_pipeline.records import Finding, Record, StageReport

_COUNTS = ("made", "kept", "rejected", "deleted", "failed", "files_written", "embeddings", "seconds")
_COST = ("calls", "tokens", "cost_usd")
_SHOWN = 50  # lines of a list
_OVERALL = "all"  # the row of a table that is also shown as numbers, which Dagster plots over time


def metadata(report: StageReport) -> dict[str, Any]:
    """Counts, cost where there is any, warnings, and what the stage itself has to tell."""
    facts = report.model_dump()
    shown = {name: facts[name] for name in (*_COUNTS, *(_COST if report.calls else ()))}
    if report.warnings:
        shown["warnings"] = bullets(report.warnings)
    for name, detail in report.details.items():
        overall = detail.get(_OVERALL) if isinstance(detail, Mapping) else None
        if isinstance(overall, Mapping):
            shown |= {n: v for n, v in overall.items() if isinstance(v, float)}
        if detail is not None and detail != {}:
            shown[name] = value(detail)
    return shown


def summary(report: StageReport) -> str:
    """One line for the log of a run."""
    where = f" of source '{report.partition}'" if report.partition else ""
    counts = ((name, getattr(report, name)) for name in ("made", "kept", "rejected", "deleted", "failed"))
    facts = (f"{name} {v}" for name, v in report.details.items() if isinstance(v, str))
    told = ", ".join([*(f"{n} {name}" for name, n in counts if n), *facts]) or "nothing to do"
    return f"{report.stage}{where}: {told}; {report.files_written} files written in {report.seconds:.1f} s"


def value(found: Any) -> Any:
    """A number or a text as it is; a mapping of mappings as a table with a column a key; else pairs."""
    if isinstance(found, Mapping):
        nested = found and all(isinstance(cells, Mapping) for cells in found.values())
        rows = (
            [{"": name, **cells} for name, cells in found.items()]
            if nested
            else [{"name": name, "value": cell} for name, cell in found.items()]
        )
        return table(rows)
    return found if isinstance(found, int | float | str) else str(found)


def table(rows: Sequence[Mapping[str, Any]]) -> dg.MetadataValue:
    """Rows as a Markdown table, columns in the order in which they first appear."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines = [columns, ["---"] * len(columns), *([row.get(column, "") for column in columns] for row in rows)]
    return dg.MetadataValue.md("\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines))


def _cell(found: Any) -> str:
    return (f"{found:g}" if isinstance(found, float) else str(found)).replace("|", "\\|").replace("\n", " ")


def bullets(lines: Sequence[str]) -> dg.MetadataValue:
    """Lines as a Markdown list; the first 50 are shown, the rest counted."""
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return dg.MetadataValue.md("\n".join(f"- {line}" for line in [*lines[:_SHOWN], *more]))


def check_result(found: Finding) -> dg.AssetCheckResult:
    """What a check found; one that does not block is a warning."""
    shown: dict[str, Any] = {"count": found.count}
    if found.offenders:
        shown["offenders"] = bullets(found.offenders)
    return dg.AssetCheckResult(
        passed=found.ok,
        asset_key=found.stage,
        check_name=found.check,
        severity=dg.AssetCheckSeverity.ERROR if found.blocking else dg.AssetCheckSeverity.WARN,
        description=f"{found.message} {found.cure}".strip(),
        metadata=shown,
    )


def columns(record: type[Record]) -> dg.TableSchema:
    """The fields of a record as the columns of an asset."""
    return dg.TableSchema(columns=list(_columns(record)))


def _columns(record: type[Record]) -> Iterator[dg.TableColumn]:
    for name, field in record.model_fields.items():
        kinds = [kind for kind in _alternatives(field.annotation) if kind is not type(None)]
        nullable = len(kinds) < len(_alternatives(field.annotation))
        constraints = dg.TableColumnConstraints(nullable=nullable, unique=name == "id")
        yield dg.TableColumn(name, type=_joined(map(_name, kinds)), constraints=constraints)


def _alternatives(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)


def _name(kind: Any) -> str:
    """``tuple[str, ...]`` as ``list of str``, a literal as its values, a record by its name."""
    origin, inner = get_origin(kind), [a for a in get_args(kind) if a is not ...]
    if origin is Literal:
        return _joined(map(str, inner))
    if origin in {tuple, list, frozenset}:
        return f"list of {_joined(dict.fromkeys(map(_name, inner)))}"
    if origin is not None and issubclass(origin, Mapping):
        return f"map of {_name(inner[0])} to {_name(inner[1])}"
    return _joined(map(_name, inner)) if origin in {Union, UnionType} else getattr(kind, "__name__", str(kind))


def _joined(names: Iterable[str]) -> str:
    return " | ".join(names)
