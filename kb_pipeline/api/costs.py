"""What models cost so far, and which prompts made what is on disk. Reads only."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kb_pipeline.errors import KbError
from kb_pipeline.prompts import prompt
from kb_pipeline.records import CostRow, PromptRow
from kb_pipeline.runner import Run
from kb_pipeline.stages import PIPELINE

_STAGE_OF = {task: stage.name for stage in PIPELINE.values() for task in stage.tasks}
_NOBODY = "(all sources)"
BY: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "stage": lambda line: _STAGE_OF.get(str(line.get("task")), str(line.get("task"))),
    "source": lambda line: str(line.get("source") or _NOBODY),
    "model": lambda line: str(line.get("model")),
    "day": lambda line: str(line.get("at", ""))[:10],
}
"""What costs can be told by, and how a line of the ledger is named then."""


def costs(lines: Iterable[Mapping[str, Any]], by: str) -> list[CostRow]:
    """One row a stage, source, model or day, sorted by name. Raises ``KbError`` for anything else.

    ``usd`` is None where no call of the row has a known price.
    """
    if by not in BY:
        raise KbError(f"cannot tell costs by '{by}'.", where="--by", cure=f"Known: {', '.join(BY)}.", code="usage")
    rows: dict[str, CostRow] = {}
    for line in lines:
        name = BY[by](line)
        row = rows.get(name, CostRow(name=name))
        price = line.get("usd")
        usd = row.usd if price is None else round((row.usd or 0.0) + float(price), 8)
        rows[name] = CostRow(
            name=name,
            calls=row.calls + 1,
            failed=row.failed + (line.get("outcome") != "ok"),
            tokens_in=row.tokens_in + int(line.get("tokens_in", 0)),
            tokens_out=row.tokens_out + int(line.get("tokens_out", 0)),
            tokens_cached=row.tokens_cached + int(line.get("tokens_cached", 0)),
            seconds=round(row.seconds + float(line.get("seconds", 0.0)), 3),
            usd=usd,
        )
    return [rows[name] for name in sorted(rows)]


def prompt_rows(run: Run) -> list[PromptRow]:
    """One row a task of the engine in use: its prompt, its model, and what was made with another one.

    Of an engine without prompts there are no rows.
    """
    return [row for task in _STAGE_OF if (row := _row(run, task))]


def _row(run: Run, task: str) -> PromptRow | None:
    stage, version = PIPELINE[_STAGE_OF[task]], run.world.engine.version(task)
    if f"{task}.md@" not in version:
        return None
    known = run.asked
    entries = [entry for manifest in run.manifests(stage.name) for entry in manifest if entry.recipe]
    current = run.recipe(stage)
    older = sum(e.recipe != current and known.get(e.recipe, {}).get(task) != version for e in entries)
    model = version.split(" ")[0].partition(":")[2]
    return PromptRow(
        name=task, stage=stage.name, version=prompt(task).version, model=model, artefacts=len(entries), older=older
    )
