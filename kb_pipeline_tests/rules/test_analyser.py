"""What an engineer pastes is found: the analyser alone, ranked by the plainest possible counting."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.rules.analyser import analyse, exact_forms, query_tokens, spelled

FOUND = [
    ("max_seq_len", "Set max_seq_len to 4096.", ["Set max_seq_length to 4096.", "The max of seq and len."]),
    ("A100-40GB", "One A100-40GB holds the model.", ["One A100-80GB holds it.", "The A100 has 40 GB or 80 GB."]),
    ("v1.13.28", "Fixed in v1.13.28 of the server.", ["Fixed in v1.13.29 of the server.", "Fixed in v2.13.28."]),
    ("1.13.28", "Fixed in v1.13.28 of the server.", ["Fixed in v1.13.29 of the server.", "Fixed in 1.13.2."]),
    ("13B", "The 13B model fits.", ["The 7B model fits.", "The 13 b-trees fit."]),
    ("429", "The server answers 429 when busy.", ["The server answers 4290 times.", "The server answers 428."]),
    ("C++17", "Needs a C++17 compiler.", ["Needs a C++14 compiler.", "Needs C and 17 headers."]),
    ("C++", "Written in C++.", ["Written in C.", "Written in C#."]),
    (
        "ERR_CONN_RESET",
        "It fails with ERR_CONN_RESET.",
        ["It fails with ERR_CONN_REFUSED.", "A reset of the conn: err."],
    ),
    ("eu-west-1", "Call https://api.eu-west-1.example.com:8443/v1.", ["Call eu-west-2.", "1 host in the west of eu."]),
    ("eu-west-1.example", "The host eu-west-1.example is down.", ["The host eu-west-2.example is down."]),
    ("--flag-name", "Pass --flag-name on start.", ["The flag name matters.", "Pass --flag-names on start."]),
    ("/etc/kb/config.yaml", "Edit /etc/kb/config.yaml first.", ["Edit /etc/kb/other.yaml.", "See config.yaml in etc."]),
    ("config.yaml", "Edit /etc/kb/config.yaml first.", ["Edit /etc/kb/config.json.", "A yaml config."]),
    ("maxSeqLen", "Set maxSeqLen.", ["Set maxSeqLength.", "Set minSeqLen."]),
    ("max_seq_len", "Set maxSeqLen.", ["Set maxBatchLen.", "Set seq."]),
    ("GPT-4", "We used GPT4 here.", ["We used GPT-3 here.", "We used 4 of them."]),
    ("40 GB", "One A100-40GB holds it.", ["One A100-80GB holds it.", "One card holds it."]),
    ("0x80070005", "Error 0x80070005: denied.", ["Error 0x80070006: denied.", "Error 80070005."]),
    ("cafe", "Le café est fermé.", ["Le cafard est fermé.", "The cage is closed."]),
    ("café", "The cafe is closed.", ["The cafard is closed."]),
    ("检索", "我们使用混合检索系统来回答问题", ["我们使用混合系统来回答问题", "检查索引"]),
    ("检", "混合检索系统", ["混合系统"]),
    ("검색", "문서를 검색합니다", ["문서를 저장합니다"]),
    ("検索", "全文検索エンジンを使う", ["全文エンジンを使う"]),
    ("データ", "ﾃﾞｰﾀベースを使う", ["テストを使う"]),
    ("GPU加速", "使用GPU加速推理", ["使用CPU加速推理"]),
    ("ERR＿CONN", "It fails with ERR_CONN.", ["It fails with ERR."]),
    ("книги", "Он читал книгу.", ["Он читал газету."]),
    ("running", "It runs fast.", ["It walks fast."]),
    ("don’t", "They don't fit.", ["They do fit."]),
]


@pytest.mark.parametrize(("query", "text", "decoys"), FOUND, ids=[query for query, _, _ in FOUND])
def test_what_is_pasted_outranks_its_decoys(query: str, text: str, decoys: list[str]) -> None:
    """The text that holds the query scores above texts that hold some of its parts."""
    weights = query_tokens(query)

    def score(candidate: str) -> float:
        return sum(weights.get(token, 0.0) for token in set(analyse(candidate)))

    assert score(text) > max(map(score, decoys))


def test_equal_words_give_equal_tokens_with_repetition() -> None:
    """Inflection and case fold, and a repeated word counts twice."""
    assert analyse("Caches cached CACHE") == ["cach"] * 3


def test_the_whole_weighs_more_than_its_parts() -> None:
    """A compound that is code outweighs each of its parts, while a hyphenated word is read as its words."""
    code, prose = query_tokens("max_seq_len"), query_tokens("dose-dependent")
    assert code["max_seq_len"] > code["max"]
    assert prose["dose"] > prose["dose-dependent"]


def test_exact_forms_are_what_was_pasted() -> None:
    """Codes, flags, names and numbers are exact; ordinary words are not."""
    query = "why does the long-running job fail with ERR_CONN_RESET on gpu-7 after --max-retries 429"
    assert [forms[0] for forms in exact_forms(query)] == ["err_conn_reset", "gpu-7", "--max-retries", "429"]


def test_marks_alone_are_no_tokens() -> None:
    """Text without a letter or a digit has no token."""
    assert analyse("?! -- ... ** __ 。、") == []
    assert query_tokens("???") == {}


def test_a_very_long_run_stays_one_token() -> None:
    """Data without spaces is not taken apart, whatever its length."""
    assert len(analyse("x1-" * 50_000)) == 1


@given(st.text(max_size=200))
def test_any_text_has_clean_tokens(text: str) -> None:
    """Whatever the text, tokens hold no white space and a query finds the text it was copied from."""
    tokens = analyse(text)
    assert all(token and token.split() == [token] for token in tokens)
    assert set(query_tokens(text)) <= set(tokens)


@given(st.text(max_size=200))
def test_an_index_takes_the_same_tokens_as_one_text(text: str) -> None:
    """What is written into an index is what analysing gives, with white space between."""
    assert spelled(text).split() == analyse(text)


def test_an_accent_is_folded_with_its_letter() -> None:
    """Composed, or as a sign after its letter: the same word, whatever stands around it."""
    assert analyse("a cafe\u0301, na\u00efve \u201ccaf\u00e9\u201d") == analyse("a cafe, naive 'cafe'")
