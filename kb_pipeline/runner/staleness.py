"""What is stale, and why. The one opinion on it: sensor, command line and status ask here. Changes nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from kb_pipeline.records import Source
from kb_pipeline.rules import ids
from kb_pipeline.runner.adopting import pending
from kb_pipeline.runner.checking import held
from kb_pipeline.runner.context import Run, Stamp
from kb_pipeline.settings import refresh_due
from kb_pipeline.sources import kinds
from kb_pipeline.stages import PER_SOURCE, PIPELINE, WHOLE

_WAITS = "what could not be made waits"


@dataclass(frozen=True)
class Stale:
    """Sources and whole stages that must run, each with its reason; ``stages`` holds all below the first stale one.

    ``asks`` maps each source, and ``compile``, to the hash of what exactly is asked: what failed on it is not asked
    again until it changes. ``held`` maps stages whose blocking check fails to what it found: what lies below them is
    not asked for.
    """

    sources: dict[str, str] = field(default_factory=dict)
    stages: dict[str, str] = field(default_factory=dict)
    asks: dict[str, str] = field(default_factory=dict)
    held: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.sources or self.stages)

    @property
    def waits(self) -> bool:
        """Whether the first stale stage is so for nothing but what it could not make for want of somebody outside."""
        return next(iter(self.stages.values()), "") == _WAITS


def stale(run: Run, only: frozenset[str] = frozenset(), *, refetch: bool = False) -> Stale:
    """Compare registry, fingerprints, recipes and manifests with what was recorded.

    ``only`` restricts to these sources and asks their remotes even where no refresh is due; ``refetch`` asks every
    remote (the nightly). Whole stages are judged by what is on disk now: after a source ran, ask ``stale_stages``.
    """
    sources: dict[str, str] = {}
    asks: dict[str, str] = {}
    for source in run.world.settings.sources:
        if only and source.id not in only:
            continue
        wanted = source.id in only or source.id in run.accept_deletions
        reason = None if source.refresh == "manual" and not wanted else _source(run, source, refetch or wanted)
        if reason:
            sources[source.id] = reason
            asks[source.id] = _ask(run, source, reason)
    below = stale_stages(run)
    return replace(below, sources=sources, asks=asks | below.asks)


def stale_stages(run: Run) -> Stale:
    """The same for whole stages alone: no source is looked at."""
    holding = held(run)
    stages = _below(run, holding)
    asked = [[n, r, run.recipe(PIPELINE[n]), run.upstream(PIPELINE[n])] for n, r in stages.items()]
    return Stale(stages=stages, asks={"compile": ids.digest_json(asked)} if stages else {}, held=holding)


def _ask(run: Run, source: Source, reason: str) -> str:
    stamp = run.stamp("raw", source.id)
    recipes = [run.recipe(PIPELINE[name], source) for name in PER_SOURCE]
    try:
        fingerprint = kinds(run.world.settings)[source.type].fingerprint(source, run.world.settings)
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything; the run will say so
        fingerprint = str(error)
    remote = [stamp.get("at"), stamp.get("failed_at")] if fingerprint is None else []
    return ids.digest_json([source.id, reason, recipes, fingerprint, remote])


def _source(run: Run, source: Source, refetch: bool) -> str | None:
    stamp = run.stamp("raw", source.id)
    if run.full:
        return "a full check was asked for"
    if not stamp:
        return "it was never read here"
    if stamp.get("held") and source.id in run.accept_deletions:
        return "its deletions were accepted"
    if stamp.get("recipe") != run.recipe(PIPELINE["raw"], source) and "failed" not in stamp:
        return "its entry or its connector changed"
    if "failed" not in stamp and run.version("raw", source.id) != stamp.get("version"):
        return "the manifest of its originals changed"
    return _fingerprint(run, source, refetch) or _partitions(run, source)


def _fingerprint(run: Run, source: Source, refetch: bool) -> str | None:
    stamp = run.stamp("raw", source.id)
    kind = kinds(run.world.settings).get(source.type)
    try:
        found = kind.fingerprint(source, run.world.settings) if kind else None
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything; the run will say so
        return None if "failed" in stamp else f"it became unavailable: {error}"
    if found is None:
        last = stamp.get("failed_at") or stamp.get("at")
        at = datetime.fromisoformat(last) if last else None
        return "a refresh is due" if refetch or refresh_due(source.refresh, at, run.world.clock.now()) else None
    if "failed" in stamp:
        return "it is available again"
    return "its files changed" if found != stamp.get("fingerprint") else None


def _partitions(run: Run, source: Source) -> str | None:
    if not run.kb.count("raw", source.id):
        return None  # nothing is known of it, so there is nothing to make
    for name in PER_SOURCE[1:]:
        stage, stamp = PIPELINE[name], run.stamp(name, source.id)
        if not stamp:
            return f"{name} never ran here"
        if stamp.get("recipe") != run.recipe(stage):
            return f"the recipe of {name} changed"
        if stamp.get("upstream") != run.upstream(stage, source.id):
            return f"{stage.needs[0]} changed"
        if run.version(name, source.id) != stamp.get("version"):
            return f"the files of {name} changed"
    return None


def _below(run: Run, holding: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    stopped: set[str] = set()
    for name in WHOLE:
        needs = PIPELINE[name].needs
        above = next((need for need in needs if need in found), None)
        if not run.full and any(need in stopped or (need in holding and need not in found) for need in needs):
            stopped.add(name)
        elif (reason := _stage(run, name)) or above:
            found[name] = reason or f"{above} is stale"
    return found


def due(run: Run, name: str) -> bool:
    """Whether a whole stage that is asked for has anything to do: what it reads, how it works or its files changed,
    and no check above it fails."""
    return _stage(run, name) is not None and (run.full or held(run).keys().isdisjoint(_above(name)))


def _above(name: str) -> set[str]:
    needs = PIPELINE[name].needs
    return set(needs).union(*map(_above, needs))


def _lost(artefact: str | None, name: str, stamp: Stamp) -> bool:
    """Whether what a stage left in the index is not there any more; a rollback may serve readers from another one."""
    return artefact is None or (name != WHOLE[-1] and artefact != stamp.get("version"))


def _stage(run: Run, name: str) -> str | None:
    stage, stamp = PIPELINE[name], run.stamp(name)
    if run.full:
        return "a full check was asked for"
    if not stamp:
        return "it never ran here"
    if stamp.get("recipe") != run.recipe(stage):
        return "its recipe changed"
    if name == WHOLE[-1] and (fault := run.world.index.fault()):
        return fault
    if stage.artefact and stamp.get("version") != "none" and _lost(stage.artefact(run.world.index), name, stamp):
        return "its generation is gone"
    if stamp.get("upstream") != run.upstream(stage):
        return "what it reads changed"
    if stamp.get("late"):
        return _WAITS
    if name == WHOLE[0] and pending(run):
        return "item files were added, moved or removed by hand"
    if stage.artefact:
        return None
    editable = run.kb.editable(name)  # whose files are part of what it reads
    version = run.version(name) if editable else run.kb.on_disk(run.kb.manifest(name)).version()
    return None if version == stamp.get("version") else "its files changed"
