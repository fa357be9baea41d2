"""What was asked and what it cost: one line a request, totals, and the budget. Keeps no text, and asks nothing."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kb_pipeline import tally
from kb_pipeline.errors import BudgetSpent, SettingsError
from kb_pipeline.records import Spent
from kb_pipeline.settings import Endpoint

_BYTES_A_TOKEN = 3  # English has about four bytes of UTF-8 a token, code and CJK about three: rather too many than few

_PAUSE = 0.05  # s between two looks at a budget that others hold


def estimate(text: str) -> int:
    """Tokens of ``text``, rather too many than too few: a third of its bytes in UTF-8."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_A_TOKEN)


@dataclass(frozen=True)
class Tokens:
    """Tokens of one request: ``cached`` are those of ``sent`` that the provider read from its cache."""

    sent: int = 0
    received: int = 0
    cached: int = 0

    @property
    def total(self) -> int:
        """All that count against a budget."""
        return self.sent + self.received


Price = Callable[[str, Tokens], float | None]


class Ledger:
    """Counts requests, writes each as one line, and holds the next one back where it could exceed the budget.

    ``append`` keeps a line; ``price`` gives dollars for a model's tokens, or None. Safe for threads.
    """

    def __init__(self, endpoint: Endpoint, append: Callable[[Mapping[str, Any]], None], price: Price) -> None:
        self._usd, self._tokens = endpoint.budget_usd, endpoint.budget_tokens
        self._append, self._price = append, price
        self._guard = threading.Lock()
        self._totals = Spent()
        self._held_tokens, self._held_usd = 0, 0.0

    def totals(self) -> Spent:
        """What this object has seen so far."""
        return self._totals

    async def room(self, model: str, most: Tokens) -> "Reservation":
        """Room for a request of at most ``most`` tokens, until it is settled; waits while requests under way hold what
        they may give back.

        Raises ``BudgetSpent`` where what is spent leaves no room; ``SettingsError`` where dollars are limited and the
        model's price is not known.
        """
        dollars = self._price(model, most)
        if self._usd is not None and dollars is None:
            raise SettingsError(
                f"the price of model {model!r} is not known, so KB_LLM_BUDGET_USD cannot be kept.",
                where="KB_LLM_BUDGET_USD",
                cure="Set KB_LLM_BUDGET_TOKENS instead.",
            )
        wanted = Reservation(self, model, most.total, dollars or 0.0)
        while not self._hold(wanted):  # noqa: ASYNC110 - requests of other event loops give back too
            await asyncio.sleep(_PAUSE)
        return wanted

    def _hold(self, wanted: "Reservation") -> bool:
        """Hold room where there is some. Raises ``BudgetSpent`` where there will be none."""
        with self._guard:
            spent = self._totals
            tokens, usd = spent.tokens + wanted.tokens, spent.usd + wanted.usd
            if self._tokens is not None and tokens > self._tokens:
                raise _spent("KB_LLM_BUDGET_TOKENS", f"{self._tokens:,} tokens", f"{spent.tokens:,} are spent")
            if self._usd is not None and usd > self._usd:
                raise _spent("KB_LLM_BUDGET_USD", f"${self._usd:g}", f"${spent.usd:.4f} are spent")
            if self._tokens is not None and tokens + self._held_tokens > self._tokens:
                return False
            if self._usd is not None and usd + self._held_usd > self._usd:
                return False
            self._held_tokens += wanted.tokens
            self._held_usd += wanted.usd
            return True

    def settle(self, held: "Reservation", spent: Tokens, line: Mapping[str, Any]) -> None:
        """End a reservation: count what the request took, and write its line."""
        usd = self._price(held.model, spent)
        with self._guard:
            self._held_tokens -= held.tokens
            self._held_usd -= held.usd
            before = self._totals
            self._totals = Spent(
                calls=before.calls + 1,
                tokens_in=before.tokens_in + spent.sent,
                tokens_out=before.tokens_out + spent.received,
                tokens_cached=before.tokens_cached + spent.cached,
                usd=before.usd + (usd or 0.0),
            )
        tally.count()
        money = None if usd is None else round(usd, 8)
        counts = {"tokens_in": spent.sent, "tokens_out": spent.received, "tokens_cached": spent.cached}
        self._append({**line, "model": held.model, **counts, "usd": money})


@dataclass(frozen=True)
class Reservation:
    """Room held for one request under way."""

    ledger: Ledger
    model: str
    tokens: int
    usd: float

    def settle(self, spent: Tokens, line: Mapping[str, Any]) -> None:
        """Give back what was not needed."""
        self.ledger.settle(self, spent, line)


def _spent(variable: str, budget: str, spent: str) -> BudgetSpent:
    return BudgetSpent(
        f"the next call could exceed the budget of {budget} ({spent}); all finished work is kept.",
        where=variable,
        cure=f"Raise {variable} or run again with a fresh budget: the build goes on where it stopped.",
    )
