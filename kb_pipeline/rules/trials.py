"""How good answers are, from trials of gold questions: measures between 0 and 1, counts beside them. Pure."""

from collections.abc import Mapping, Sequence
from statistics import median

from kb_pipeline.records import Trial

HARD = "hard_negative"


def answer_measures(trials: Sequence[Trial], home: Mapping[str, str]) -> dict[str, float]:
    """The measures of one way of answering; ``home`` gives the document of each expected item.

    Over questions with an expected item: ``answered``, ``cited`` (the expected item is cited, or what its document was
    read whole in: recall of citations), ``precision`` (of what is cited, the share that it is), ``silent``.
    ``faithfulness`` is the share of all proposed sentences that pass the verifier. Of the hard negatives, which their
    own item does not answer: ``hard_silent``, ``hard_own`` (cites that item: wrong), ``hard_other`` (cites others).
    """
    gold = [t for t in trials if t.expected]
    hard = [t for t in trials if t.style == HARD]
    proposed = sum(t.passed + t.dropped for t in trials)
    own = [any(t.about in names for names in t.cited) for t in hard]
    right = [_right(t, home) for t in gold]
    named = sum(len(t.cited) for t in gold)
    return {
        "n": float(len(gold)),
        "answered": _share(sum(t.answered for t in gold), len(gold)),
        "cited": _share(sum(count > 0 for count in right), len(gold)),
        "precision": _share(sum(right), named),
        "silent": _share(sum(not t.answered for t in gold), len(gold)),
        "faithfulness": _share(sum(t.passed for t in trials), proposed),
        "n_hard": float(len(hard)),
        "hard_silent": _share(sum(not t.answered for t in hard), len(hard)),
        "hard_own": _share(sum(own), len(hard)),
        "hard_other": _share(sum(t.answered for t in hard) - sum(own), len(hard)),
    }


def costs(trials: Sequence[Trial]) -> dict[str, float]:
    """What a question cost: the median of its time in milliseconds, the mean of its calls."""
    if not trials:
        return {}
    calls = sum(t.calls for t in trials) / len(trials)
    return {"ms": round(median(t.ms for t in trials), 1), "calls": round(calls, 2)}


def _right(trial: Trial, home: Mapping[str, str]) -> int:
    """How many of the citations are the expected item, or hold the document that it stands in."""
    return sum(trial.expected in names or home.get(trial.expected) in names for names in trial.cited)


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
