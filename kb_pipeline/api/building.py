"""The verbs of one who builds: what is stale, one stage, the checks, rollback."""

from collections.abc import Sequence
from contextlib import AbstractContextManager

from kb_pipeline.api.reporting import build_report
from kb_pipeline.api.session import LISTENER, Session
from kb_pipeline.checks import CHECKS
from kb_pipeline.errors import NotFound, SourceUnavailable
from kb_pipeline.recipes import outdated
from kb_pipeline.records import BuildReport, Estimate, Finding, StageReport
from kb_pipeline.rules import ids
from kb_pipeline.runner import Stale, build_stage, check, checks_of, stale, stale_stages
from kb_pipeline.stages import PER_SOURCE, PIPELINE
from kb_pipeline.store import files


class Building(Session):
    """Bringing what is stale up to date, and putting it live or back."""

    def builder(self) -> str | None:
        """Who holds the build lease for a whole build, or None; a run that builds a stage has no name."""
        return (files.holder(self._lease) or {}).get("holder") or None

    def outdated(self) -> list[str]:
        """Modules and libraries that changed on disk since this process read them."""
        return outdated()

    def serve_alone(self) -> None:
        """Be the one process that serves Dagster over this knowledge base: two daemons would launch everything twice.

        Raises ``Busy`` where another does.
        """
        files.keep(self.kb.cache / "dev.lock", "`kb dev` runs over this knowledge base already")

    def stale(
        self,
        only: frozenset[str] = frozenset(),
        *,
        full: bool = False,
        refetch: bool = False,
        accept_deletions: frozenset[str] = frozenset(),
    ) -> Stale:
        """What must run, and why: sources, then whole stages. Changes nothing."""
        unknown = (only | accept_deletions) - {s.id for s in self.settings.sources}
        if unknown:
            known = ", ".join(s.id for s in self.settings.sources) or "none"
            raise NotFound(
                f"there is no source '{min(unknown)}'.", where="sources.yaml", cure=f"Known sources: {known}."
            )
        return stale(self._run(full=full, accept_deletions=accept_deletions), only, refetch=refetch)

    def stale_stages(self, *, full: bool = False) -> Stale:
        """The whole stages that must run, after their sources did; changes nothing, and looks at no source."""
        return stale_stages(self._run(full=full))

    def warm(self) -> None:
        """Start loading the model, where something new may have to be embedded."""
        self._opened.warm()

    def estimate(self, only: frozenset[str] = frozenset(), *, full: bool = False) -> Estimate:
        """What the next build would ask of models, by stage, as ranges. Sources are read, no model is asked."""
        self.stale(only)
        endpoint, opened = self.settings.endpoint, self._opened.endpoint
        if endpoint is None or opened is None:
            return Estimate()
        from kb_pipeline.api.estimating import forecast  # of no use, and 20 ms, to who asks no model
        from kb_pipeline.engines.openai import OpenAi

        if not isinstance(self.world.engine, OpenAi):
            return Estimate()
        return forecast(self._run(full=full), opened.client, endpoint, only)

    def build_stage(
        self,
        stage: str,
        source: str | None = None,
        *,
        full: bool = False,
        accept_deletions: frozenset[str] = frozenset(),
    ) -> StageReport:
        """Bring one stage (of one source) up to date; waits for the build lease, or, to read a source, for whoever
        reads it: one that is slow to answer keeps no other waiting.

        Of a source that cannot be read, what is known is brought up to date before ``SourceUnavailable`` is raised.
        """
        message = self.kb.check_schema()
        run = self._run(full=full, accept_deletions=accept_deletions)
        try:
            with self._reading(source) if PIPELINE[stage].level == "fetch" else self.lease():
                return self._tell(build_stage(run, stage, source), message)
        except SourceUnavailable:
            with self.lease():
                for below in PER_SOURCE[1:] if self.kb.manifest(stage, source).live() else ():
                    self._tell(build_stage(run, below, source))
            raise

    def _reading(self, source: str | None) -> AbstractContextManager[None]:
        lock = self.kb.cache / "reading" / f"{source}.lock"
        return files.lease(lock, on_wait=LISTENER.get().waiting)

    def _tell(self, report: StageReport, message: str | None = None) -> StageReport:
        notes = tuple(n for n in (message, *self.kb.warnings) if n)
        self.kb.warnings.clear()
        report = report.model_copy(update={"warnings": (*notes, *report.warnings)}) if notes else report
        LISTENER.get().report(report)
        return report

    def report(self, reports: Sequence[StageReport], failed: Sequence[str], seconds: float) -> BuildReport:
        """One build in figures."""
        return build_report(self._run(), reports, failed, seconds)

    def recipes(self) -> dict[str, str]:
        """The recipe of each stage, as Dagster shows it."""
        run = self._run()
        return {name: run.recipe(stage) for name, stage in PIPELINE.items()}

    def versions(self) -> dict[str, str]:
        """The versions of what people edit beside the sources, as far as stages depend on them: which sources there
        are, and the categories."""
        return {
            "source_registry": ids.digest_json(sorted(s.id for s in self.settings.sources)),
            "taxonomy": ids.digest_json(self.settings.taxonomy.model_dump(mode="json")),
        }

    def check(self, stage: str | None = None, source: str | None = None, *, full: bool = True) -> list[Finding]:
        """Run the checks (of one stage, of one source). ``full`` looks at everything, not only at what changed since
        they passed."""
        rows = CHECKS if stage is None else checks_of(stage)
        if not rows:
            known = ", ".join(dict.fromkeys((*(row.stage for row in CHECKS), "ghosts")))
            raise NotFound(f"there is no check of '{stage}'.", where="kb check", cure=f"Known stages: {known}.")
        run = self._run(full=full)
        return [check(run, row, source) for row in rows]

    def rollback(self, generation: str | None = None) -> str:
        """Serve readers from an earlier generation (by default the one before) until the inputs change."""
        index = self.world.index
        earlier = [g for g in index.generations() if g != index.live()]
        live = index.live()
        wanted = generation or max((g for g in earlier if live and g < live), default=None)
        if wanted is None or wanted not in index.generations():
            retained = ", ".join(index.generations()) or "none"
            raise NotFound(
                "there is no such generation." if wanted else "there is no generation before the live one.",
                where="kb rollback",
                cure=f"Retained generations: {retained}.",
            )
        with self.lease(), self.kb.locked():
            index.pin(wanted)
        return wanted
