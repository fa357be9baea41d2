"""Sentences end where they end, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.engines.extractive.sentences import split


def pieces(text: str) -> list[str]:
    """The sentences of ``text``."""
    return [text[start:end] for start, end in split(text)]


@pytest.mark.parametrize(
    "text",
    [
        "See e.g. the file config.yaml for it.",
        "It differs, i.e. it does not match, cf. Fig. 3 vs. Fig. 4.",
        "Dr. Smith et al. (2010) measured approx. 3.5 mg of it.",
        "J. R. Smith and C. elegans appear in the U.S. Navy report.",
        "No. 5 of v1.13.28 was built on Jan. 3 at 1.2.3.4.",
        "Read https://example.org/a.b?c=d. and then stop.",
        "It waits... and then it goes on.",
        "He said (see Sect. 2. It is long.) that it works.",
        "The flag `a. B` stays whole.",
        'They call it "the end. Or not." in the manual.',
        "Use Acme Inc. software for it.",
    ],
)
def test_keeps_one_sentence_whole(text: str) -> None:
    """Abbreviations, numbers, names of files, links, brackets and quotes end no sentence."""
    assert pieces(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It works. It is fast.", ["It works.", "It is fast."]),
        ("We saw it in the U.S. Then we left.", ["We saw it in the U.S.", "Then we left."]),
        ("It was done by Li et al. The rest is known.", ["It was done by Li et al.", "The rest is known."]),
        ("It was **bold.** Next one.", ["It was **bold.**", "Next one."]),
        ("It was shown.[1] The next is new.", ["It was shown.[1]", "The next is new."]),
        ("It stops! Does it? p53 does.", ["It stops!", "Does it?", "p53 does."]),
        ("It took 5 ms. The next took 6.", ["It took 5 ms.", "The next took 6."]),
        ("1. Open it. 2. Close it.", ["1. Open it.", "2. Close it."]),
        ("这是一句。这是另一句！“对吗？”是的", ["这是一句。", "这是另一句！", "“对吗？”是的"]),
        ("「行く。」と言った。終わり", ["「行く。」と言った。", "終わり"]),
        ("안녕하세요. 저는 학생입니다.", ["안녕하세요.", "저는 학생입니다."]),
        ("هذا نص. هل تفهم؟ نعم.", ["هذا نص.", "هل تفهم؟", "نعم."]),
    ],
)
def test_ends_sentences(text: str, expected: list[str]) -> None:
    """Full stops, marks and their CJK and Arabic kin end a sentence where the next one begins like one."""
    assert pieces(text) == expected


@given(st.text(alphabet="aB1 .!?()[]\"'`。」\n,*", max_size=60))
def test_loses_no_character(text: str) -> None:
    """Whatever the text, the sentences are in order, apart, trimmed and hold every character but white space."""
    spans = split(text)
    end = 0
    for start, stop in spans:
        assert end <= start < stop
        assert not text[end:start].strip()
        assert text[start:stop] == text[start:stop].strip()
        end = stop
    assert not text[end:].strip()
