"""Questions about the items, asked of the candidate generation. Judges retrieval; decides nothing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from kb_pipeline.query.search import ranked_by_each
from kb_pipeline.query.trials import tried
from kb_pipeline.records import EvalResult, Item, Question, Rank, Scope, Trial, Way
from kb_pipeline.rules import ids
from kb_pipeline.rules.metrics import measures
from kb_pipeline.rules.numbers import supported
from kb_pipeline.rules.trials import HARD, answer_measures, costs
from kb_pipeline.world import Changes, Inputs, Output, Previous, World

DEPTH = 10
READABLE = 2_000
"""Passages up to which the catalogue is tried too; putting the cards of more in order takes longer than an edit may."""
_NEIGHBOURS = 5
_ITEMS = Scope(kinds=("item",))


def run(changes: Changes, inputs: Inputs, previous: Previous, world: World) -> Output:
    """Evaluate the candidate generation on gold questions: recall, MRR and nDCG by style and by source, and how well a
    sample of them is answered, both ways."""
    generation = world.index.candidate()
    if generation is None:
        return Output(warnings=("there is no generation to evaluate.",))
    old = cast(tuple[Question, ...], () if changes.outdated else previous.records("qa_gold"))
    gold = _gold(inputs, old, generation, world)
    human = cast(tuple[Question, ...], previous.records("human_gold"))
    asked = [q for q in (*gold, *human) if q.question and q.expected_item_id]
    ranks = {rank.question: rank for rank in _ranks(asked, generation, world)}
    answers, spent = _answers(gold, inputs, generation, world)
    live = world.index.live()
    known = _retained(cast(tuple[Rank, ...], previous.records("ranks")), generation, live, world)
    before = {r.question: r for r in known if r.generation == live}
    result = EvalResult(
        generation=generation,
        engine=f"{world.engine.name} + {world.embedder.name}",
        at=world.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        counts={"items": len(inputs.keys("tags")), "questions": len(asked)},
        metrics=_slices(gold, human, ranks),
        compared_with=live,
        common=_common(ranks, before) if live else {},
        answers=answers,
        spent=spent,
    )
    results = cast(tuple[EvalResult, ...], previous.records("results"))
    same = next((r for r in results if r.generation == generation and _measured(r) == _measured(result)), None)
    results = (*(r for r in results if r.generation != generation), same or result)
    return Output(
        upserts={
            "qa_gold": gold,
            "ranks": (*ranks.values(), *(r for r in known if r.generation != generation)),
            "results": results,
        },
        details={"generation": generation, "metrics": result.metrics, "common": result.common, "answers": answers},
    )


def _retained(ranks: Sequence[Rank], generation: str, live: str | None, world: World) -> list[Rank]:
    """Ranks in the generations that a later one, or one after a rollback, may be compared with."""
    newest = sorted({rank.generation for rank in ranks} | {generation})[-world.settings.options.retained_generations :]
    return [rank for rank in ranks if rank.generation in {*newest, live}]


def _measured(result: EvalResult) -> dict[str, object]:
    """All but when it was measured and against what: measuring the same again is no news."""
    return result.model_dump(exclude={"at", "compared_with", "common", "spent"})


def _gold(inputs: Inputs, old: Sequence[Question], generation: str, world: World) -> tuple[Question, ...]:
    """Questions of a stable sample: the items whose ids hash lowest, so that a change moves few of them."""
    known: dict[str, list[Question]] = {}
    for question in old:
        known.setdefault(question.about, []).append(question)
    gold: list[Question] = []
    lacking: dict[str, Item] = {}
    for item in _sample(inputs, world.settings.options.eval_items):
        made_from = ids.digest(item.id, item.statement, world.engine.version("questions"))
        kept = [q for q in known.get(item.id, []) if q.made_from == made_from]
        gold += kept
        if not kept:
            lacking[made_from] = item
    gold += _made(lacking, inputs, generation, world)
    return tuple(sorted(gold, key=lambda q: (q.about, q.style, q.id)))


def _made(lacking: Mapping[str, Item], inputs: Inputs, generation: str, world: World) -> Iterator[Question]:
    """New questions about items, by the hash of what they are made from; what an item does not answer is not asked."""
    items = list(lacking.values())
    with world.index.snapshot(generation) as snapshot:
        vectors = world.embedder.embed([ids.canonical(item.statement) for item in items]) if items else ()
        found = (snapshot.nearest(vector[None], _NEIGHBOURS, _ITEMS)[0] for vector in vectors)
        near = [
            [n for key, _ in rows if key != item.id for n in _items(inputs, key)]
            for item, rows in zip(items, found, strict=True)
        ]
    for (made_from, item), made in zip(lacking.items(), world.engine.questions(items, near), strict=True):
        source = item.sources[0].doc_id.partition("/")[0]
        for question in made:
            update = {"about": item.id, "made_from": made_from, "source_id": source}
            yield answerable(question, item).model_copy(update=update)


def answerable(question: Question, item: Item) -> Question:
    """``question``, or null with the reason where the item does not hold its answer or the question is no question."""
    if question.question is None or question.style == "hard_negative":
        return question
    text = " ".join((item.statement, item.detail, item.context or "", *(c.source_span for c in item.sources)))
    if missing := supported(question.gold_answer, text):
        note = f"its answer has what the item has not: {', '.join(missing)}"
    elif ids.canonical(question.question) == ids.canonical(item.statement):
        note = "it only repeats the item"
    else:
        return question
    return question.model_copy(update={"question": None, "gold_answer": "", "expected_item_id": None, "note": note})


def _sample(inputs: Inputs, size: int) -> Iterable[Item]:
    found = 0
    for key in sorted(inputs.keys("tags"), key=ids.digest):
        for item in _items(inputs, key):
            if item.status == "active" and item.sources:
                yield item
                found += 1
        if found >= size:
            return


def _items(inputs: Inputs, key: str) -> tuple[Item, ...]:
    return () if inputs.broken("tags", key) else cast(tuple[Item, ...], inputs.records("tags", key))


def _ranks(asked: Sequence[Question], generation: str, world: World) -> Iterator[Rank]:
    with world.index.snapshot(generation) as snapshot:
        found = ranked_by_each([str(q.question) for q in asked], world, snapshot, scope=_ITEMS, k=DEPTH)
        for question, hits in zip(asked, found, strict=True):
            places = (place for place, hit in enumerate(hits, start=1) if hit == question.expected_item_id)
            yield Rank(generation=generation, question=question.id, rank=next(places, None))


def _answers(
    gold: Sequence[Question], inputs: Inputs, generation: str, world: World
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Measures and costs of answering a sample, by way: as many questions as the settings say for an engine that asks a
    model or none, and as many hard negatives."""
    options = world.settings.options
    size = options.eval_model_answers if ".md@" in world.engine.version("answer") else options.eval_answers
    asked = [q for q in gold if q.question and q.expected_item_id][:size]
    hard = [q for q in gold if q.question and q.style == HARD][:size]
    items = (item for q in asked for item in _items(inputs, str(q.expected_item_id)))
    home = {item.id: item.sources[0].doc_id for item in items if item.sources}
    with world.index.snapshot(generation) as snapshot:
        small = snapshot.count().get("chunk", 0) <= READABLE
    ways: Sequence[Way] = ("hybrid", "catalogue") if small else ("hybrid",)
    trials: dict[str, list[Trial]] = {
        way: list(tried([*asked, *hard], world, generation, way)) for way in ways if asked
    }
    measured = {way: answer_measures(found, home) for way, found in trials.items()}
    return measured, {way: costs(found) for way, found in trials.items()}


def _slices(
    gold: Sequence[Question], human: Sequence[Question], ranks: Mapping[str, Rank]
) -> dict[str, dict[str, float]]:
    slices: dict[str, list[int | None]] = {}
    for question in gold:
        if question.id in ranks:
            for name in ("all", f"style:{question.style}", f"source:{question.source_id}"):
                slices.setdefault(name, []).append(ranks[question.id].rank)
    if human:
        slices["human"] = [ranks[q.id].rank for q in human if q.id in ranks]
    return {name: measures(found) for name, found in sorted(slices.items())}


def _common(ranks: Mapping[str, Rank], before: Mapping[str, Rank]) -> dict[str, dict[str, float]]:
    """Both generations on the questions that both were asked: what was added or removed since is not compared."""
    both = sorted(ranks.keys() & before.keys())
    return {
        "candidate": measures([ranks[q].rank for q in both]),
        "live": measures([before[q].rank for q in both]),
    }
