"""What becomes of a pair where code alone can say: merge, keep both, supersede, or a question for a judge. Pure.

Owns the thresholds and the words of every reason. Refuses to read vectors or documents: a pair comes with its scores,
its guard and whatever evidence of order there is.

Similarity alone decides nothing. Of the 818 pairs in ``samples/pairs.jsonl`` (with MiniLM) the ten closest that must
stay apart have a combined score of .997 or more, and all 348 true paraphrases have less: no threshold separates them.
So a merge by rule needs every content word accounted for (``restating.same_words``); the threshold is a second lock.
"""

from kb_pipeline.records import Pair, Verdict
from kb_pipeline.rules.guards import CONTRADICTING, one_thing
from kb_pipeline.rules.numbers import versions
from kb_pipeline.rules.order import Newer
from kb_pipeline.rules.restating import converse, same_words
from kb_pipeline.rules.synonyms import SYNONYMS

MERGE = 0.75
"""Least combined score of a merge by rule: true paraphrases in the same words begin at .78 in ``samples/pairs.jsonl``,
where no other pair above the candidate threshold has the same words and no guard."""
ASK = 0.86
"""Least cosine at which a judge is asked; below, a guard may tell a conflict but nothing is near enough to merge."""
REVIEW = 0.92
"""Least combined score at which a pair that nobody could decide is put before a person."""

DISAGREE = "they disagree, and nothing tells which is newer"
_GUARDS = {
    "numbers": "their figures differ",
    "versions": "they speak of different versions",
    "units": "their units differ",
    "negation": "one says what the other denies",
    "antonyms": "they say the opposite of each other",
    "scope": "one holds more widely than the other",
    "entities": "they name different things",
    "context": "they stand in contexts that give them different meanings",
}


def score(cosine: float, ratio: float) -> float:
    """The combined score, 0.7 cosine + 0.3 token-sort ratio, rounded to 3 decimals (weights: fitted on MRPC, where they
    beat cosine alone)."""
    return round(0.7 * cosine + 0.3 * ratio, 3)


def rule(pair: Pair, newer: Newer | None, same_document: bool) -> Verdict | None:
    """What code can say of a pair, or ``None`` where a judge is to be asked.

    ``same_document`` says that one version of a document states both, so that they are no contradiction.
    """
    if pair.guard:
        return _guarded(pair, newer, same_document)
    if score(pair.cosine, pair.ratio) >= MERGE:
        if same_words(pair.a.statement, pair.b.statement):
            return Verdict(decision="merge", reason="the same content words in the same roles, and no guard fired")
        if same_words(pair.a.statement, pair.b.statement, SYNONYMS):
            return Verdict(decision="merge", reason="only synonyms differ, in the same roles, and no guard fired")
        if converse(pair.a.statement, pair.b.statement, SYNONYMS):
            return Verdict(decision="merge", reason="one relation told from both ends, and no guard fired")
    if pair.cosine < ASK:
        return Verdict(decision="keep_both", reason="alike, but not near enough to be one fact")
    return None


def adopted(verdict: Verdict, newer: Newer | None) -> Verdict:
    """A judge's verdict as it may be recorded: that two sides disagree is the judge's to say, which is newer is not.

    Direction comes from ``newer`` (a version in the text, the versions or dates of one document); without it both are
    kept, for review, with the judge's reason.
    """
    if verdict.decision != "supersede":
        return verdict.model_copy(update={"newer": None})
    if newer is None:
        return Verdict(decision="keep_both", reason=f"{DISAGREE}: {verdict.reason}", needs_review=True)
    return verdict.model_copy(update={"newer": newer.which, "reason": f"{verdict.reason}; {newer.reason}"})


def respected(verdict: Verdict) -> Verdict:
    """A verdict on a pair of which a person wrote one side by hand: whether it goes into another item, or gives way to
    one, is a person's to say."""
    if verdict.decision == "keep_both":
        return verdict
    reason = f"one of them was written by hand, so a person decides ({verdict.decision}: {verdict.reason})"
    return Verdict(decision="keep_both", reason=reason, needs_review=True)


def _guarded(pair: Pair, newer: Newer | None, same_document: bool) -> Verdict:
    why = _GUARDS.get(pair.guard, pair.guard)
    if newer:
        return Verdict(decision="supersede", newer=newer.which, reason=f"{why}; {newer.reason}")
    about = pair.a.statement, pair.b.statement
    disagree = pair.guard in CONTRADICTING and one_thing(*about) and not _each_of_its_version(*about, pair.guard)
    if not disagree or same_document:
        return Verdict(decision="keep_both", reason=why)
    return Verdict(decision="keep_both", reason=f"{why}; nothing tells which is newer", needs_review=True)


def _each_of_its_version(a: str, b: str, guard: str) -> bool:
    """Whether two statements tell of different versions of a thing, and differ in more than that."""
    ours, theirs = set(versions(a)), set(versions(b))
    return guard != "versions" and bool(ours and theirs) and ours.isdisjoint(theirs)
