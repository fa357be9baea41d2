"""The verb that answers questions, and what is kept of answers. How one is made is the query room's."""

from collections.abc import Callable
from dataclasses import replace

from kb_pipeline import __version__
from kb_pipeline.api.lookups import Records
from kb_pipeline.api.remembering import Remembering
from kb_pipeline.api.reviewing import Standing
from kb_pipeline.query.answering import Inquiry, answer
from kb_pipeline.records import Answer, Briefing, Conflict, Record, Scope, SourceCard, Way
from kb_pipeline.rules import ids
from kb_pipeline.store.answers import Answers

Tell = Callable[[str, Record], None]
_ABOUT = 160  # code points that tell a planner what a source is good at
_TASKS = ("plan", "rerank", "answer", "select")


class Answering(Remembering):
    """Answers whose every sentence is carried by what it cites, or none."""

    def ask(
        self,
        question: str,
        *,
        scope: Scope | None = None,
        project: str | None = None,
        way: Way = "auto",
        keep: bool = False,
        fresh: bool = False,
        tell: Tell = lambda kind, record: None,
    ) -> Answer:
        """The answer to ``question`` from the live generation, or that it is not in the knowledge base.

        ``tell`` hears ``plan``, ``tool`` and ``sentence`` with their records as they come, sentences once verified. The
        same question over the same generation, scope, way and engine is answered from the one kept, unless ``fresh``.
        ``keep`` files an answer under ``kb/wiki/answers``, as derived: it is evidence for nothing.

        Raises ``KbError`` (code ``usage``) for an empty question, ``NotFound`` for a project, source or category that
        is none and where nothing was built, and what a model raises that cannot be asked.
        """
        within = self._within(scope, project)
        chosen = project or self.settings.default_project or ""
        kept = Answers(self.kb)
        key = self._answer_key(question, within, way)
        with self.world.index.snapshot() as snapshot:
            known = None if fresh else kept.get(snapshot.generation, key, snapshot)
        found = known or self._answer(question, within, chosen, way, tell)
        if known is None:
            kept.put(found, key)
        else:
            _retell(known, tell)
        return found.model_copy(update={"filed": kept.file(found)}) if keep and found.answered else found

    def _answer(self, question: str, scope: Scope, project: str, way: Way, tell: Tell) -> Answer:
        records = Records(self._run(), self.settings.sources, self._in_conflict, self.recent_changes)
        inquiry = Inquiry(
            question=question,
            briefing=self._briefing(scope, project),
            scope=scope,
            way=way,
            tools=records.tools(),
            hints=records.hints,
        )
        world = replace(self._opened.reader, engine=self.world.engine)
        if scope.sources:  # what an item has from elsewhere is not shown within a scope
            world = replace(world, index=world.index.within(frozenset(scope.sources)))
        return answer(inquiry, world, tell)

    def _answer_key(self, question: str, scope: Scope, way: Way) -> str:
        """What decides an answer besides the generation: who asks sees what, how, and who answers, in which release."""
        engine, options = self.world.engine, self.settings.options
        return ids.digest_json(
            {
                "question": " ".join(question.split()),
                "scope": scope.model_dump(mode="json"),
                "sources": sorted(source.id for source in self.settings.sources),
                "way": way,
                "engine": [__version__, *(engine.version(task) for task in _TASKS)],
                "options": options.model_dump(
                    mode="json", include={"rerank", "answer_threshold", "unquotable_licenses"}
                ),
            }
        )

    def _briefing(self, scope: Scope, project: str) -> Briefing:
        """What a planner sees: of each source what it is good at, told by the titles of its documents."""
        with self.world.index.snapshot() as snapshot:
            titles: dict[str, dict[str, None]] = {}
            for card in snapshot.cards(Scope()):
                titles.setdefault(card.ref.partition("/")[0], {})[card.title] = None
        cards = tuple(
            SourceCard(id=s.id, type=s.type, documents=self.kb.count("normalized", s.id), about=about[:_ABOUT])
            for s in self.settings.sources
            if not scope.sources or s.id in scope.sources
            for about in (", ".join(titles.get(s.id, {})),)
        )
        return Briefing(today=self.world.clock.now().date().isoformat(), project=project, sources=cards)

    def _in_conflict(self) -> list[Conflict]:
        return list(Standing(self._run()).conflicts)


def _retell(known: Answer, tell: Tell) -> None:
    """Say a kept answer again, as if it came."""
    if known.plan is not None:
        tell("plan", known.plan)
    for sentence in known.sentences:
        tell("sentence", sentence)
