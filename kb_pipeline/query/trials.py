"""Gold questions put to the whole way from plan to verified sentences, and what came of each. Judges nothing."""

from collections.abc import Iterator, Sequence

from kb_pipeline.query.answering import Inquiry, answer
from kb_pipeline.records import Briefing, Question, SourceCard, Trial, Way
from kb_pipeline.world import World

_WHOLE = ("document", "page")


def tried(questions: Sequence[Question], world: World, generation: str, way: Way) -> Iterator[Trial]:
    """One trial a question, in order."""
    sources = tuple(SourceCard(id=s.id, type=s.type, documents=0) for s in world.settings.sources)
    briefing = Briefing(today=world.clock.now().date().isoformat(), sources=sources)
    for question in questions:
        found = answer(Inquiry(str(question.question), briefing, way=way, generation=generation), world)
        yield Trial(
            question=question.id,
            style=question.style,
            expected=question.expected_item_id or "",
            about=question.about,
            answered=found.answered,
            cited=tuple((e.ref, *(e.docs if e.kind in _WHOLE else ())) for e in found.evidence),
            passed=len(found.sentences),
            dropped=len(found.dropped),
            calls=found.calls,
            ms=found.ms,
        )
