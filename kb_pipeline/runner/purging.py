"""A document and every trace of its words erased, at once, from everything below ``kb/``. Owns the order of it.

First it can not come back and nobody sees it; then what was made of it goes and is made anew without it; last, what
lies around is looked through. A purge that was killed is taken up where it is asked for again: what to look for is kept
until the end.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from kb_pipeline.errors import KbError
from kb_pipeline.records import (
    Cluster,
    DedupDecision,
    Event,
    Item,
    PurgeReport,
    Question,
)
from kb_pipeline.rules import forgetting, ids
from kb_pipeline.runner.context import Run
from kb_pipeline.runner.fetching import hide
from kb_pipeline.runner.sought import Sought
from kb_pipeline.runner.staleness import due
from kb_pipeline.runner.whole import whole
from kb_pipeline.stages import PER_SOURCE, PIPELINE, WHOLE
from kb_pipeline.store.commits import Group
from kb_pipeline.store.erasing import erase
from kb_pipeline.store.files import read_bytes, remove
from kb_pipeline.store.manifests import Entry, Manifest
from kb_pipeline.store.vectors import VectorCache

_INDEX = WHOLE.index("index")


def purge(run: Run, doc: str) -> PurgeReport:
    """Erase ``doc``; the caller holds the build lease. Raises ``NotFound`` where nothing is known of it."""
    sought = Sought(run.kb, doc)
    sought.gather()
    work = _Purge(run, sought)
    work.seal()
    work.drop()
    work.remake(WHOLE[:_INDEX])
    work.forget_items()
    work.forget_decisions()
    work.forget_questions()
    work.remake(WHOLE[:_INDEX])
    if work.forget_pages():
        work.remake(WHOLE[:_INDEX])
    run.world.index.expunge(frozenset({doc}))
    hide(run)
    work.remake(WHOLE[_INDEX:])
    work.sweep()
    return work.report()


def readmit(run: Run, doc: str) -> bool:
    """Let a purged document be read again by the next build; whether it was purged."""
    with run.kb.locked():
        lifted = run.kb.tombstones.lift(doc)
    if lifted:
        run.drop_stamps(doc.partition("/")[0])
    return lifted


@dataclass
class _Purge:
    """One purge under way: what was ``erased``, and what is ``left``."""

    run: Run
    sought: Sought
    erased: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.doc, self.source, self.traces = self.sought.doc, self.sought.source, self.sought.traces

    # --- what goes -----------------------------------------------------------------------------------------------

    def seal(self) -> None:
        """Keep it from coming back, and from being seen, from now on."""
        run = self.run
        with run.kb.locked():
            run.kb.tombstones.add(self.doc, run.now())
        hide(run, frozenset({self.doc}))

    def drop(self) -> None:
        """Drop its original, its text, its chunks and its drafts."""
        kb = self.run.kb
        for stage in PER_SOURCE:
            key = self.sought.key(stage)
            if key is not None:
                done = kb.commit(stage, self.source, kb.manifest(stage, self.source), (), [key])
                self._settle(stage, done.manifest)
                self.erased[stage] += 1
        path = self.doc.partition("/")[2]
        remove([kb.folder / "raw" / self.source / path], kb.folder)  # bytes without a manifest, as on a clone
        stats = {name: stat for name, stat in kb.state(f"stat/{self.source}").items() if name != path}
        kb.keep_state(f"stat/{self.source}", stats)

    def _settle(self, stage: str, manifest: Manifest) -> None:
        """Let the partition count as up to date: reading its source again is not part of a purge."""
        run, stamp = self.run, self.run.stamp(stage, self.source)
        if stamp and "version" in stamp:
            fresh = {"version": manifest.version(), "manifest": run.manifest_stat(stage, self.source)}
            upstream = "" if stage == PER_SOURCE[0] else run.upstream(PIPELINE[stage], self.source)
            run.keep_stamp(stage, self.source, {**stamp, **fresh, "upstream": upstream})  # type: ignore[typeddict-item]

    # --- what is made anew ---------------------------------------------------------------------------------------

    def remake(self, stages: Sequence[str]) -> None:
        """Make anew what it had a part in. Where a model cannot be asked now, the next build does so."""
        for name in stages:
            try:
                if due(self.run, name):
                    whole(self.run, PIPELINE[name])
            except KbError as error:
                self.warnings.append(f"{name}: {error} What other documents state is made anew by the next build.")
                return

    def forget_items(self) -> None:
        """Drop the document from every item and its history; items that said only what it said go for good."""
        kb = self.run.kb
        manifest, groups, gone = kb.manifest("tags"), [], []
        left = {entry.key: self._rest(entry) for entry in manifest}
        for entry in manifest:
            was, rest = left[entry.key]
            if was is not None and rest is None:
                gone.append(entry.key)
            elif was is not None and rest is not None and rest != was:
                groups.append(Group(key=entry.key, records=(rest,)))
        self._forget_story(left)
        if groups or gone:
            kb.commit("tags", None, manifest, groups, gone, recipe=self.run.recipe(PIPELINE["tags"]), telling=None)
            self.run.trees.pop("tags", None)
        self.erased["items"] += len(gone)

    def _rest(self, entry: Entry) -> tuple[Item | None, Item | None]:
        try:
            item = cast(Item, self.run.kb.read("tags", entry)[0])
        except KbError:
            return None, None
        return item, forgetting.item_without(item, self.doc)

    def _forget_story(self, left: Mapping[str, tuple[Item | None, Item | None]]) -> None:
        changed: dict[str, list[Event]] = {}
        for item, told in self.run.kb.history.all():
            was, rest = left.get(item, (None, None))
            gone = rest is None and (was is not None or (item not in left and forgetting.forgotten(told, self.doc)))
            kept = [] if gone else forgetting.story_without(told, self.doc, self.traces)
            if kept != told:
                changed[item] = kept
        with self.run.kb.locked():
            self.run.kb.history.rewrite(changed)
        self.erased["histories"] += len(changed)

    def forget_decisions(self) -> None:
        """Drop its drafts from clusters and decisions, where a stage that could not run has left them."""
        kb = self.run.kb
        manifest = kb.manifest("dedup")
        clusters = [cast(Cluster, c) for e in filter(None, [manifest.get("clusters")]) for c in kb.read("dedup", e)]
        if not any(o.doc_id == self.doc for cluster in clusters for o in cluster.occurrences):
            return
        left = ((c, tuple(o for o in c.occurrences if o.doc_id != self.doc)) for c in clusters)
        kept = [cluster.model_copy(update={"occurrences": places}) for cluster, places in left if places]
        drafts = {o.draft for cluster in kept for o in cluster.occurrences}
        known = [cast(DedupDecision, d) for d in kb.read("dedup", manifest["decisions"])]
        lines = [d for d in known if {d.a, d.b} <= drafts]
        kb.commit("dedup", None, manifest, [Group("clusters", kept), Group("decisions", lines)])

    def forget_questions(self) -> None:
        """Drop questions with its words in them: those about its items, and what was asked of others to no avail."""
        kb = self.run.kb
        manifest = kb.manifest("eval")
        entry = manifest.get("qa_gold")
        gold = cast(tuple[Question, ...], kb.read("eval", entry)) if entry else ()
        about = {q.about for q in gold if self.traces.of([q.question, q.gold_answer])}
        kept = [q for q in gold if q.about not in about]  # all of an item's, so that they are asked for again
        if about:
            kb.commit("eval", None, manifest, [Group("qa_gold", kept)])
            self.erased["questions"] += len(gold) - len(kept)

    def forget_pages(self) -> int:
        """Drop what else tells of it still: pages that speak of earlier days, and what a stage left that could not run;
        how much that was."""
        kb, before = self.run.kb, self.erased.total()
        for stage in (name for name in WHOLE[:_INDEX] if name != "tags"):
            manifest = kb.manifest(stage)
            keys = [entry.key for entry in manifest if any(map(self._tells, entry.outputs))]
            if keys:
                kb.commit(stage, None, manifest, (), keys, telling=None)
                self.run.trees.pop(stage, None)
                self.erased[stage] += len(keys)
        return self.erased.total() - before

    def _tells(self, path: str) -> bool:
        data = read_bytes(self.run.kb.folder / path) or b""
        return self.doc.encode() in data or self.traces.within(data)

    # --- what lies around ----------------------------------------------------------------------------------------

    def sweep(self) -> None:
        """Look through every byte that is left, and end."""
        kb = self.run.kb
        cited = {version for entry in kb.manifest("tags") for version in entry.info.get("cites", ())}
        index = self.run.world.index
        mine = {v for v in kb.versions() if v in self.sought.versions or index.live() == index.candidate()}
        self.erased["versions"] += kb.drop_versions(mine - cited)
        self.erased["vectors"] += self._forget_vectors()
        self.sought.end()
        kb.snapshots.forget(frozenset({self.doc, self.doc.partition("/")[2]}))
        erased, self.left = erase(kb.folder, self.traces, self.doc)
        self.erased.update(erased)
        self.run.trees.clear()

    def _forget_vectors(self) -> int:
        """Only vectors of what is still said are kept: of what was said before nobody knows which were its own."""
        kb, embedder = self.run.kb, self.run.world.embedder
        entry, gold = kb.manifest("dedup").get("clusters"), kb.manifest("eval").get("qa_gold")
        clusters = cast(tuple[Cluster, ...], kb.read("dedup", entry)) if entry else ()
        questions = cast(tuple[Question, ...], kb.read("eval", gold)) if gold else ()
        keys = {bytes.fromhex(o.text_key) for cluster in clusters for o in cluster.occurrences}
        keys |= {embedder.key(ids.canonical(item.statement)) for item in self.sought.items()}
        keys |= {embedder.key(q.question) for q in questions if q.question}
        return VectorCache(kb.cache / "vectors", embedder.dim).retain(keys)

    def report(self) -> PurgeReport:
        """What went, and what is left."""
        erased = {name: count for name, count in sorted(self.erased.items()) if count}
        return PurgeReport(
            doc_id=self.doc, erased=erased, residue=tuple(self.left), warnings=tuple(dict.fromkeys(self.warnings))
        )
