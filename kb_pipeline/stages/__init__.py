"""PIPELINE: every stage, once. Dagster, the runner and the command line are loops over it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, cast

from kb_pipeline.convert import converter_versions
from kb_pipeline.records import Chunk, Extraction, Record
from kb_pipeline.stages import (
    atomic_items,
    chunks,
    dedup,
    eval,  # noqa: A004
    index,
    live,
    normalized,
    pages,
    raw,
    tags,
    wiki,
)
from kb_pipeline.world import Index


@dataclass(frozen=True)
class Stage:
    """One row.

    ``needs`` are the stages read, the first of them the one whose keys an ``each`` stage follows. ``level``: ``fetch``
    (a connector), ``each`` (record by record) or ``whole``. ``unit`` and ``product`` name the hash of an input record
    and of the input that an output was made from, where records of one key are skipped one by one. ``tasks`` of the
    engine, ``options``, ``facts`` (``embedder``, ``taxonomy``), ``modules`` beyond those imported and ``libraries``
    make up the recipe. ``artefact`` asks the index for what the stage left there; ``watches`` are files that people
    give it.
    """

    name: str
    run: Callable[..., Any]
    level: Literal["fetch", "each", "whole"]
    needs: tuple[str, ...] = ()
    unit: Callable[[Record], str] | None = None
    product: Callable[[Record], str] | None = None
    tasks: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    artefact: Callable[[Index], str | None] | None = None
    watches: tuple[str, ...] = ()

    @property
    def per_source(self) -> bool:
        """Whether the stage is partitioned by source."""
        return self.level != "whole"

    @property
    def description(self) -> str:
        """The docstring of ``run``: what Dagster and the command line show."""
        return (self.run.__doc__ or "").strip()


_ROWS = (
    Stage("raw", raw.run, "fetch"),
    Stage(
        "normalized",
        normalized.run,
        "each",
        needs=("raw",),
        tasks=("normalize",),
        modules=("kb_pipeline.convert",),
        options=("convert_memory_mb", "convert_seconds", "normalize"),
        libraries=(*converter_versions(), "py3langid"),
    ),
    Stage(
        "chunks",
        chunks.run,
        "each",
        needs=("normalized",),
        options=("chunk_min", "chunk_target", "chunk_max"),
        libraries=("markdown-it-py", "ast-grep-py"),
    ),
    Stage(
        "atomic_items",
        atomic_items.run,
        "each",
        needs=("chunks",),
        unit=lambda chunk: cast(Chunk, chunk).hash,
        product=lambda extraction: cast(Extraction, extraction).chunk_hash,
        tasks=("extract",),
    ),
    Stage(
        "dedup",
        dedup.run,
        "whole",
        needs=("atomic_items", "normalized"),
        tasks=("judge",),
        options=("dedup_candidate",),
        facts=("embedder",),
        libraries=("rapidfuzz",),
        watches=("dedup/human.jsonl",),
    ),
    Stage(
        "tags",
        tags.run,
        "whole",
        needs=("dedup", "atomic_items", "chunks", "normalized"),
        tasks=("tag",),
        options=("category_margin",),
        facts=("embedder", "taxonomy"),
    ),
    Stage(
        "pages",
        pages.run,
        "whole",
        needs=("tags", "chunks", "normalized", "dedup"),
        facts=("taxonomy",),
    ),
    Stage(
        "wiki",
        wiki.run,
        "whole",
        needs=("pages", "tags", "normalized"),
        tasks=("write_page",),
    ),
    Stage(
        "index",
        index.run,
        "whole",
        needs=("tags", "wiki", "chunks", "normalized"),
        modules=("kb_pipeline.rules.analyser",),
        options=("embed_chunks",),
        facts=("embedder",),
        libraries=("tantivy", "PyStemmer"),
        artefact=lambda index: index.candidate(),
    ),
    Stage(
        "eval",
        eval.run,
        "whole",
        needs=("index", "tags"),
        tasks=("questions", "plan", "answer", "select"),
        options=("eval_items", "eval_answers", "eval_model_answers", "answer_threshold", "rerank"),
        facts=("embedder",),
        watches=("eval/human_gold.jsonl",),
    ),
    Stage(
        "live",
        live.run,
        "whole",
        needs=("index", "eval"),
        options=("eval_floor_recall10", "eval_tolerance"),
        artefact=lambda index: index.live(),
    ),
)
PIPELINE: dict[str, Stage] = {row.name: row for row in _ROWS}
PER_SOURCE = tuple(row.name for row in _ROWS if row.per_source)
WHOLE = tuple(row.name for row in _ROWS if not row.per_source)
FOLDERS = {"tags": "items"}
