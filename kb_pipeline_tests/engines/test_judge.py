"""The extractive judge, alone and behind the rules on labelled pairs."""

from collections import Counter

import pytest

from kb_pipeline.engines.extractive.judge import judge_pairs
from kb_pipeline.records import Pair, Side
from kb_pipeline.services.embedder import open_embedder
from kb_pipeline.settings import Options
from kb_pipeline_tests import labelled_pairs
from kb_pipeline_tests.labelled_pairs import Outcome


def pair(a: str, b: str, cosine: float = 0.95, ratio: float = 0.9, guard: str = "") -> Pair:
    return Pair(a=Side(statement=a), b=Side(statement=b), cosine=cosine, ratio=ratio, guard=guard)


def test_what_cannot_be_accounted_for_is_kept_and_shown_where_close() -> None:
    """Another word keeps two items apart: for review above the threshold, silently below."""
    a, b = "The drug reduced pain in men.", "The drug reduced pain in women."
    close, far = judge_pairs([pair(a, b), pair(a, b, cosine=0.87, ratio=0.8)])
    assert (close.decision, close.needs_review) == ("keep_both", True)
    assert (far.decision, far.needs_review) == ("keep_both", False)
    assert close.reason
    assert far.reason


def test_a_guard_is_never_overruled() -> None:
    """Equal words with a guard on record stay apart."""
    (verdict,) = judge_pairs([pair("A pool holds blocks.", "A pool holds blocks.", 1.0, 1.0, "numbers")])
    assert verdict.decision == "keep_both"


def test_no_pairs_no_verdicts() -> None:
    """An empty question has an empty answer."""
    assert judge_pairs([]) == []


@pytest.fixture(scope="module", params=["tune", "held_out"])
def found(request: pytest.FixtureRequest) -> list[Outcome]:
    """What becomes of one half of the labelled pairs with the default embedder and threshold."""
    options = Options()
    half = getattr(labelled_pairs, request.param)()
    return labelled_pairs.outcomes(half, open_embedder(options.embedder), options.dedup_candidate)


def test_no_labelled_distinction_is_merged_away(found: list[Outcome]) -> None:
    """No automatic merge or supersede of a labelled pair is wrong."""
    assert [o for o in found if o.decision != "keep_both" and o.decision != o.pair.label] == []


def test_enough_paraphrases_merge(found: list[Outcome]) -> None:
    """At least one paraphrase in four is merged without a model, also of those that no rule was made on."""
    paraphrases = [o for o in found if o.pair.label == "merge"]
    assert sum(o.decision == "merge" for o in paraphrases) >= 0.25 * len(paraphrases)


def test_the_interval_of_a_share_is_exact() -> None:
    """The bounds are those of Clopper and Pearson."""
    assert [round(bound, 4) for bound in labelled_pairs.interval(5, 10)] == [0.1871, 0.8129]
    assert [round(bound, 4) for bound in labelled_pairs.interval(0, 50)] == [0.0, 0.0711]
    assert labelled_pairs.interval(3, 3)[1] == 1.0


def test_the_sample_covers_every_kind(found: list[Outcome]) -> None:
    """Each half holds at least eight pairs of every kind, each pair once."""
    kinds = Counter(o.pair.kind for o in found)
    assert kinds.keys() == {"paraphrase", "number", "version", "unit", "negation", "antonym", "scope", "entity swap"}
    assert min(kinds.values()) >= 8
    assert len({(o.pair.a, o.pair.b) for o in found}) == len(found)
