"""Settings, frozen, read once a run or tick from environment, ``.env``, ``sources.yaml`` and ``taxonomy.yaml``.

Knows the files' shape, not what a source type means: ``sources/`` checks types.
"""

from dataclasses import dataclass, field
from pathlib import Path

from kb_pipeline.records import Project, Record, Source, Taxonomy


class Options(Record):
    """Numbers that a user may set in ``settings:`` of ``sources.yaml`` or as ``KB_<NAME>`` in the environment."""

    engine: str = "extractive"
    embedder: str = "minilm"
    chunk_min: int = 400
    chunk_target: int = 1200
    chunk_max: int = 2400
    embed_chunks: bool = False
    dedup_candidate: float = 0.86
    category_margin: float = 0.02
    eval_items: int = 100
    eval_floor_recall10: float = 0.7
    eval_tolerance: float = 0.05
    retained_generations: int = 3
    convert_memory_mb: int = 1536
    convert_seconds: int = 30


@dataclass(frozen=True)
class Settings:
    """Everything a run needs to know before it starts. ``root`` holds ``sources.yaml`` and ``kb/``."""

    root: Path
    sources: tuple[Source, ...] = ()
    projects: tuple[Project, ...] = ()
    taxonomy: Taxonomy = field(default_factory=Taxonomy)
    options: Options = field(default_factory=Options)
    default_project: str | None = None

    @property
    def kb(self) -> Path:
        """The folder of the knowledge base itself."""
        return self.root / "kb"

    def source(self, source_id: str) -> Source:
        """The source of that id; ``KeyError`` if there is none."""
        return {s.id: s for s in self.sources}[source_id]
