"""Questions to models, what they cost, and what could not be used."""

from kb_pipeline.records.record import Record


class Ask(Record):
    """One question to a model: ``system`` is the prompt's static part, ``user`` the rest, ``version`` its hash.

    ``source_id`` and ``doc_id`` are for the ledger alone: neither in the prompt nor in the key of the kept reply, so
    that a move costs nothing.
    """

    task: str
    version: str
    system: str
    user: str
    max_tokens: int = 4096
    source_id: str = ""
    doc_id: str = ""


class Spent(Record):
    """What requests to models came to; ``usd`` counts those whose price is known, ``tokens_cached`` are some of
    ``tokens_in``."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    usd: float = 0.0

    @property
    def tokens(self) -> int:
        """Sent and received: all that counts against a budget."""
        return self.tokens_in + self.tokens_out


class Refused(Record):
    """A model's reply that could not be used: when, to which task, by which model and prompt, why, and its words."""

    at: str
    task: str
    model: str
    prompt: str
    outcome: str
    detail: str
    reply: str


class CostRow(Record):
    """What calls of one kind came to: a stage's, a source's, a model's or a day's. ``usd`` is None where no price is
    known, ``failed`` counts the calls without a usable reply, ``seconds`` adds up all of them."""

    name: str
    calls: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    seconds: float = 0.0
    usd: float | None = None


class PromptRow(Record):
    """A prompt in use: its ``version`` and model, how many ``artefacts`` its stage has, and how many of these an
    ``older`` one made (another version, model or engine)."""

    name: str
    stage: str
    version: str
    model: str
    artefacts: int
    older: int


class Range(Record):
    """From ``low`` to ``high``, both included."""

    low: int
    high: int


class EstimateRow(Record):
    """What one task would ask; ``usd`` is a range in dollars, None where the model's price is not known."""

    stage: str
    task: str
    model: str
    calls: Range
    tokens_in: Range
    tokens_out: Range
    usd: tuple[float, float] | None


class Estimate(Record):
    """What the next build would ask of models; no row for what asks nothing."""

    rows: tuple[EstimateRow, ...] = ()
