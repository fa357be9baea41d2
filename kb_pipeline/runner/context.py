"""What one run knows: the knowledge base, the world, recipes and stamps. Runs nothing."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypedDict, cast

from kb_pipeline import recipes
from kb_pipeline.records import Source
from kb_pipeline.rules import ids
from kb_pipeline.rules.written import HUMAN
from kb_pipeline.stages import PIPELINE, Stage
from kb_pipeline.store.files import Stat, file_hash, read_bytes
from kb_pipeline.store.kb import Kb
from kb_pipeline.store.manifests import Manifest
from kb_pipeline.world import World

Progress = Callable[[str, str | None, int, int], None]  # stage, source, done, total


def no_progress(stage: str, source: str | None, done: int, total: int) -> None:
    """Tell nobody."""


class Stamp(TypedDict, total=False):
    """What this machine recorded of the last run of a stage (and source): how, from what, giving what, and when.

    ``version`` is the data version; ``manifest`` size and mtime of the manifest then, so that an unchanged one is not
    read again. ``failed`` and ``failed_at`` tell of a source that could not be read, ``held`` counts its deletions that
    wait for a person. ``late`` are keys that the stage could not make.
    """

    recipe: str
    upstream: str
    version: str
    manifest: list[int]
    fingerprint: str | None
    at: str
    failed: str
    failed_at: str
    held: int
    late: list[str]


@dataclass
class Run:
    """One run or tick. ``full`` trusts no stat and no stamp. ``trees`` are the files that people may edit, by stage, as
    they stood when a run that shares the mapping first looked."""

    kb: Kb
    world: World
    full: bool = False
    progress: Progress = no_progress
    accept_deletions: frozenset[str] = frozenset()
    trees: dict[str, Mapping[str, Stat]] = field(default_factory=dict)
    _recipes: dict[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.full:
            recipes.recall(self.kb.state("trees"))

    @cached_property
    def stamps(self) -> dict[str, Stamp]:
        """Stamps by ``stage`` or ``stage:source``."""
        return {name: cast(Stamp, stamp) for name, stamp in self.kb.state("stamps").items() if isinstance(stamp, dict)}

    def stamp(self, stage: str, source: str | None = None) -> Stamp:
        """The stamp of a stage (and source); empty where it never ran here."""
        return self.stamps.get(_name(stage, source), {})

    @cached_property
    def asked(self) -> dict[str, dict[str, str]]:
        """By recipe, the version of each of the engine's tasks in it: prompt and model, where it has them."""
        return dict(self.kb.state("asked"))

    def keep_asked(self, stage: Stage) -> None:
        """Record what the recipe of ``stage`` stands for, so that it can be told when another one is in use."""
        if stage.tasks:
            self.asked[self.recipe(stage)] = {task: self.world.engine.version(task) for task in stage.tasks}
            self.kb.keep_state("asked", self.asked)

    def keep_stamp(self, stage: str, source: str | None, stamp: Stamp) -> None:
        """Record a stamp, on disk at once, beside those that other runs recorded meanwhile."""
        with self._recording():
            self.stamps[_name(stage, source)] = stamp
        self.kb.keep_state("trees", recipes.known())

    def drop_stamps(self, source: str) -> None:
        """Forget a source that left the registry."""
        with self._recording():
            for name in [name for name in self.stamps if name.partition(":")[2] == source]:
                del self.stamps[name]

    @contextmanager
    def _recording(self) -> Iterator[None]:
        with self.kb.locked():
            vars(self).pop("stamps", None)
            yield
            self.kb.keep_state("stamps", self.stamps)

    def now(self) -> str:
        """The time as records state it."""
        return self.world.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")

    def recipe(self, stage: Stage, source: Source | None = None) -> str:
        """The hash of how ``stage`` makes things now (of a source: what its entry asks for)."""
        name = (stage.name, source.id if source and stage.level == "fetch" else "")
        if name not in self._recipes:
            engine = self.world.engine
            modules = (stage.run.__module__, *stage.modules, *(m for task in stage.tasks for m in engine.modules(task)))
            self._recipes[name] = recipes.recipe(modules, stage.libraries, self._facts(stage, source))
        return self._recipes[name]

    def _facts(self, stage: Stage, source: Source | None) -> dict[str, Any]:
        settings = self.world.settings
        facts: dict[str, Any] = {name: getattr(settings.options, name) for name in stage.options}
        facts |= {f"engine:{task}": self.world.engine.version(task) for task in stage.tasks}
        known = {"embedder": self.world.embedder.name, "taxonomy": settings.taxonomy.model_dump(mode="json")}
        facts |= {name: known[name] for name in stage.facts}
        if source is not None and stage.level == "fetch":
            facts["source"] = source.model_dump(mode="json", exclude={"refresh", "owners"})
        return facts

    def version(self, stage: str, source: str | None = None) -> str | None:
        """The data version of a stage (and source); None where it never ran here."""
        stamp = self.stamp(stage, source)
        if not stamp or "version" not in stamp:
            return None
        if PIPELINE[stage].artefact or self.manifest_stat(stage, source) == stamp.get("manifest"):
            return stamp["version"]
        return self.kb.manifest(stage, source).version()

    def manifest_stat(self, stage: str, source: str | None) -> list[int]:
        """Size and mtime (ns) of a manifest; empty where there is none."""
        try:
            status = self.kb.manifest_path(stage, source).stat()
        except OSError:
            return []
        return [status.st_size, status.st_mtime_ns]

    def files(self, stage: str) -> Mapping[str, Stat]:
        """The files of ``stage`` that people may edit, as they stood at the first look."""
        if stage not in self.trees:
            self.trees[stage] = self.kb.tree_state(stage)
        return self.trees[stage]

    def upstream(self, stage: Stage, source: str | None = None) -> str:
        """The hash of everything that ``stage`` reads, by data versions, and of what people did to its files."""
        if stage.per_source:
            return ids.digest_json([self.version(need, source) for need in stage.needs])
        registered = [*(s.id for s in self.world.settings.sources), HUMAN]
        versions: dict[str, Any] = {}
        for need in stage.needs:
            per_source = PIPELINE[need].per_source
            versions[need] = {s: self.version(need, s) for s in registered} if per_source else self.version(need)
        versions["watches"] = [file_hash(read_bytes(self.kb.folder / path) or b"") for path in stage.watches]
        if self.kb.editable(stage.name):
            versions["files"] = self.kb.touched(stage.name, self.files(stage.name))
        return ids.digest_json(versions)

    def manifests(self, stage: str, source: str | None = None) -> list[Manifest]:
        """The manifests of a stage: one a registered source and what people wrote (or that of one), or the one."""
        if PIPELINE[stage].per_source:
            sources = (*(s.id for s in self.world.settings.sources), HUMAN)
            return [self.kb.manifest(stage, name) for name in sources if source in {None, name}]
        return [self.kb.manifest(stage)]


def _name(stage: str, source: str | None) -> str:
    return f"{stage}:{source}" if source else stage
