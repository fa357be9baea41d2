"""The ledger, prices and budgets, over real sockets."""

from pathlib import Path

import pytest

from kb_pipeline.errors import BudgetSpent, SettingsError
from kb_pipeline.services.ledger import Tokens, estimate
from kb_pipeline.services.prices import prices
from kb_pipeline_tests.services.asking import Echo, asks, desk

OPENAI = "https://api.openai.com/v1"


def test_every_request_has_its_line(tmp_path: Path) -> None:
    """The ledger holds as many lines as the server counted requests, each with what it was for and what it took."""
    with desk(tmp_path) as made:
        made.warm()
        made.endpoint.fault("500", match="a question")
        made.endpoint.fault("wrong_schema", match="a question")
        made.ask("a question", "b question")
        assert len(made.lines) == made.endpoint.count() == 5
        line = next(x for x in made.lines if x["document"] == "notes/b question")
        told = ("at", "task", "source", "prompt", "rung", "model", "outcome")
        assert [line[name] for name in told] == [
            "2026-01-02T03:04:05Z", "extract", "notes", "v1", "json_schema", "gpt-4o-mini", "ok",
        ]  # fmt: skip
        assert line["tokens_in"] > 0
        assert line["usd"] > 0
        repaired = next(x for x in made.lines if "+" in x["prompt"])
        assert repaired["outcome"] == "ok"


def test_totals_are_the_sum_of_the_lines(tmp_path: Path) -> None:
    """What a stage reports is what the lines add up to; kept replies cost nothing."""
    with desk(tmp_path) as made, made.client() as client:
        list(client.ask(asks(["a", "b", "c"]), Echo))
        total = client.ledger.totals()
        list(client.ask(asks(["a", "b", "c"]), Echo))
        assert client.ledger.totals() == total
        assert total.calls == 3
        assert total.tokens == sum(line["tokens_in"] + line["tokens_out"] for line in made.lines)
        assert total.usd == pytest.approx(sum(line["usd"] for line in made.lines))


@pytest.mark.parametrize("budget", [{"budget_tokens": 1500}, {"budget_usd": 0.0006}])
def test_a_budget_is_never_exceeded(tmp_path: Path, budget: dict[str, float]) -> None:
    """The run stops before a call that could exceed the budget, keeps all it paid for, and the next one goes on."""
    texts = [f"question {n} " * 5 for n in range(40)]
    got: list[str] = []
    with desk(tmp_path) as made:
        made.warm()
        with made.client(**budget) as client, pytest.raises(BudgetSpent, match="all finished work is kept") as caught:
            got.extend(r.text for r in client.ask(asks(texts), Echo) if isinstance(r, Echo))
        spent = client.ledger.totals()
        assert spent.tokens <= budget.get("budget_tokens", spent.tokens)
        assert spent.usd <= budget.get("budget_usd", spent.usd)
        assert 0 < len(got) < 40
        assert caught.value.where.startswith("KB_LLM_BUDGET")
        made.ask(*texts)
        assert made.endpoint.count() == 1 + 40
        assert set(made.endpoint.answered().values()) == {1}


def test_calls_under_way_do_not_end_a_run(tmp_path: Path) -> None:
    """Room that is only held is waited for: side by side a budget pays for as many calls as one by one."""
    with desk(tmp_path, delay=0.02) as made:
        made.warm()
        made.ask(*(f"question {n}" for n in range(8)), budget_tokens=1400, concurrency=8)
        assert made.endpoint.count() == 1 + 8


def test_dollars_cannot_be_kept_for_a_model_without_a_price(tmp_path: Path) -> None:
    """A budget in dollars for a model of unknown price is a mistake, not a promise."""
    with desk(tmp_path) as made, pytest.raises(SettingsError, match="KB_LLM_BUDGET_TOKENS"):
        made.ask("a", model="my-own-model", budget_usd=1)


def test_a_model_without_a_price_shows_tokens_only(tmp_path: Path) -> None:
    """An unknown model's lines have no price, and its tokens count."""
    with desk(tmp_path) as made:
        made.ask("a", model="my-own-model")
        assert made.lines[0]["usd"] is None
        assert made.lines[0]["tokens_in"] > 0


def test_prices_are_those_of_the_provider() -> None:
    """Cached tokens cost less, an unknown address asks the maker's price, an unknown model none."""
    sent = Tokens(1_000_000, 1_000_000)
    maker = prices(OPENAI)("gpt-4o-mini", sent)
    assert maker is not None
    assert 0.1 < maker < 10
    cached = prices(OPENAI)("gpt-4o-mini", Tokens(1_000_000, 1_000_000, 900_000))
    assert cached is not None
    assert cached < maker
    assert prices("http://127.0.0.1:1/v1")("gpt-4o-mini", sent) == maker
    assert prices(OPENAI)("my-own-model", sent) is None


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("abc", 1), ("The limit is 42 requests per minute.", 12), ("知識庫", 3)]
)
def test_tokens_are_estimated_from_bytes(text: str, tokens: int) -> None:
    """A third of the bytes: more than English takes, and about what Chinese does."""
    assert estimate(text) == tokens
