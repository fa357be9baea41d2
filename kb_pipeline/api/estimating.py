"""What a build would ask of a model, before anything is sent. Reads the sources, writes to a copy, changes nothing.

The copy is brought up to the drafts with an engine that puts every question to a counter instead of the endpoint.
What a model will answer nobody knows: where its answers decide how much is asked next, rules stand in for it, and the
range is as wide as ``FEWER`` and ``MORE`` say.
"""

import math
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from kb_pipeline.engines.extractive.extraction import extract as by_rules
from kb_pipeline.engines.openai import OpenAi, tagging
from kb_pipeline.engines.openai.replies import TaggingReply
from kb_pipeline.errors import KbError, ModelError
from kb_pipeline.records import Ask, Chunk, Draft, Estimate, EstimateRow, Extraction, Item, Range, Record
from kb_pipeline.rules.ids import item_id
from kb_pipeline.rules.pages.sizing import FEWEST_ALONE_STANDING
from kb_pipeline.runner import Run, build_stage, stale
from kb_pipeline.services.ladder import RUNGS, strict_schema
from kb_pipeline.services.ledger import Price, Tokens, estimate
from kb_pipeline.services.model import ModelClient
from kb_pipeline.services.prices import prices
from kb_pipeline.settings import Endpoint
from kb_pipeline.stages import PER_SOURCE, PIPELINE
from kb_pipeline.store.kb import Kb

FEWER, MORE = 1 / 3, 3.0
"""How many items a model may find for one that rules find: a model splits what rules keep whole and drops what it
deems no knowledge. An assumption, not a measurement: no model of size was at hand. The judge is taken to be asked at
most once for each: of the sample's 330 items rules left one pair open."""
KEPT_TEXT = 0.5
"""Least share of a document that cleaning may leave, ``rules.faithful.MOST_GONE``."""

_SAID: Mapping[str, tuple[float, float, int, int]] = {
    # tokens of a reply: least and most for a token of the text asked about, and beside that
    "normalize": (KEPT_TEXT, 1.2, 5, 50),
    "extract": (0.3, 5.0, 5, 200),
    "judge": (0.0, 0.0, 15, 150),
    "tag": (0.0, 0.0, 20, 200),
    "questions": (0.0, 0.0, 60, 600),
    "write_page": (0.0, 0.0, 0, 3000),
}
_LEAST_TOKENS = 0.5  # of the ledger's own estimate, which is rather too high than too low
_A_QUESTION = 900  # tokens of a question to the judge or about an item, prompt and schema included
_AN_ITEM = 120  # tokens of an item as a page's writer sees it
_STAGES = {task: stage.name for stage in PIPELINE.values() for task in stage.tasks}
_COPIED = ("raw", "normalized", "chunks", "atomic_items", "replies")

R = TypeVar("R", bound=Record)


@dataclass
class _Counter:
    """A ``ChatClient`` that answers from kept replies alone, and counts what it would have had to send."""

    client: ModelClient
    counted: dict[str, list[tuple[Ask, int]]] = field(default_factory=dict)

    def model(self, task: str) -> str:
        return self.client.model(task)

    def ask(self, asks: Sequence[Ask], shape: type[R]) -> Iterator[R | ModelError]:
        seen: set[str] = set()
        for ask in asks:
            kept = self.client.kept(ask, shape)
            if kept is None and (key := self.client.key(ask, shape)) not in seen:
                seen.add(key)
                self.counted.setdefault(ask.task, []).append((ask, tokens_of(ask, shape)))
            yield ModelError("not asked", code="invalid") if kept is None else kept

    def kept(self, ask: Ask, shape: type[R]) -> R | ModelError | None:
        return self.client.kept(ask, shape)


class _Forecast(OpenAi):
    """The model's engine over a counter; what it cannot know yet, rules extract."""

    def extract(self, chunks: Sequence[Chunk]) -> Iterator[Extraction | Exception]:
        for chunk, found in zip(chunks, super().extract(chunks), strict=True):
            yield by_rules(chunk, self.name) if isinstance(found, Exception) else found


def tokens_of(ask: Ask, shape: type[Record]) -> int:
    """Tokens that are sent for one question, rather too many than too few."""
    return estimate(ask.system + ask.user + str(strict_schema(shape)))


def forecast(run: Run, client: ModelClient, endpoint: Endpoint, only: frozenset[str] = frozenset()) -> Estimate:
    """The calls, tokens and dollars of the next build, by stage, as ranges.

    Not counted are repairs of replies and what is tried again after a fault.
    """
    if not stale(run, only):
        return Estimate()
    counter = _Counter(client)
    with _shadow(run, counter, only) as shadow:
        fresh = _drafts(shadow, counter)
    counts = _counts(counter, fresh, run)
    price = prices(endpoint.base_url)
    probes = 0 if run.kb.state("endpoint") else len(RUNGS) - 1  # the first question may have to be put in other forms
    rows = []
    for task, (low, high, sent) in counts.items():
        if high:
            calls = Range(low=low, high=high + probes)
            tokens_in = Range(low=int(sent[0] * _LEAST_TOKENS), high=sent[1] * (high + probes) // high)
            said = _said(task, calls, counter.counted.get(task, []))
            rows.append(_row(task, client.model(task), calls, tokens_in, said, price))
    return Estimate(rows=tuple(rows))


def _row(task: str, model: str, calls: Range, tokens_in: Range, tokens_out: Range, price: Price) -> EstimateRow:
    low = price(model, Tokens(tokens_in.low, tokens_out.low))
    high = price(model, Tokens(tokens_in.high, tokens_out.high))
    return EstimateRow(
        stage=_STAGES[task],
        task=task,
        model=model,
        calls=calls,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        usd=None if low is None or high is None else (round(low, 6), round(high, 6)),
    )


@dataclass(frozen=True)
class _Fresh:
    """Drafts whose item is not filed by a kept reply, the tokens that filing them sends, and all drafts."""

    unfiled: int
    tokens: int
    all: int


def _drafts(run: Run, counter: _Counter) -> _Fresh:
    taxonomy = run.world.settings.taxonomy
    drafts = {draft.hash: draft for draft in _all_drafts(run)}
    asks = [tagging.ask(_item(draft), taxonomy) for draft in drafts.values()]
    unfiled = [tokens_of(ask, TaggingReply) for ask in asks if counter.client.kept(ask, TaggingReply) is None]
    return _Fresh(len(unfiled), sum(unfiled), len(drafts))


def _all_drafts(run: Run) -> Iterator[Draft]:
    for manifest in run.manifests("atomic_items"):
        for entry in manifest.live():
            for extraction in cast(tuple[Extraction, ...], run.kb.read("atomic_items", entry)):
                yield from extraction.drafts


def _item(draft: Draft) -> Item:
    fields = draft.model_dump(include={"statement", "detail", "context", "entities", "item_type"})
    return Item(id=item_id(draft.hash), **fields)


def _counts(counter: _Counter, fresh: _Fresh, run: Run) -> dict[str, tuple[int, int, tuple[int, int]]]:
    """Least and most calls of each task, and least and most tokens that they send."""
    counts: dict[str, tuple[int, int, tuple[int, int]]] = {}
    for task in ("normalize", "extract"):
        sent = [tokens for _, tokens in counter.counted.get(task, [])]
        counts[task] = (len(sent), len(sent), (sum(sent), sum(sent)))
    counts["extract"] = _cleaned(counter, *counts["extract"])
    open_ = counts["extract"][1] > 0
    low = int(fresh.unfiled * FEWER) if open_ else 0
    high = math.ceil(fresh.unfiled * MORE) if open_ else fresh.unfiled
    each = fresh.tokens / fresh.unfiled if fresh.unfiled else 0.0
    counts["judge"] = (0, fresh.unfiled, (0, fresh.unfiled * _A_QUESTION))
    counts["tag"] = (low, high, (int(low * each), math.ceil(high * each)))
    asked = run.world.settings.options.eval_items
    known = len(run.kb.manifest("eval").keys())
    least = 0 if known else min(asked, low)
    most = min(asked, high)
    pages = math.ceil((fresh.all + high) / FEWEST_ALONE_STANDING) if high else 0
    counts["write_page"] = (0, pages, (0, pages * _A_QUESTION + (fresh.all + high) * _AN_ITEM))
    counts["questions"] = (least, most, (least * _A_QUESTION // 2, most * _A_QUESTION))
    return counts


def _cleaned(counter: _Counter, low: int, high: int, sent: tuple[int, int]) -> tuple[int, int, tuple[int, int]]:
    """The counts of extraction where documents are yet to be cleaned: another text has other chunks."""
    pieces = counter.counted.get("normalize", [])
    documents = {ask.doc_id for ask, _ in pieces}
    theirs = [tokens for ask, tokens in counter.counted.get("extract", []) if ask.doc_id in documents]
    fewer, less = int(len(theirs) * KEPT_TEXT), int(sum(theirs) * KEPT_TEXT)
    return low - fewer, high + len(pieces), (sent[0] - less, sent[1] + sum(theirs))


def _said(task: str, calls: Range, counted: Sequence[tuple[Ask, int]]) -> Range:
    """Tokens of the replies."""
    least, most, base_low, base_high = _SAID[task]
    text = sum(estimate(ask.user) for ask, _ in counted)
    return Range(low=int(text * least / 2 + calls.low * base_low), high=math.ceil(text * most + calls.high * base_high))


@contextmanager
def _shadow(run: Run, counter: _Counter, only: frozenset[str]) -> Iterator[Run]:
    """``run`` over a copy of what it builds on, brought up to the drafts."""
    run.kb.cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="estimate-", dir=run.kb.cache) as folder:
        kb = Kb(Path(folder))
        _copy(run.kb, kb)
        engine = _Forecast(run.world.settings, counter)
        shadow = Run(kb, replace(run.world, engine=engine), run.full, run.progress, run.accept_deletions)
        for source in stale(shadow, only).sources:
            with suppress(KbError):
                for stage in PER_SOURCE:
                    build_stage(shadow, stage, source)
        yield shadow


def _copy(kb: Kb, to: Kb) -> None:
    """The artefacts as further names of the same files, which are only ever replaced, and what this machine noted."""
    link: Any = os.link
    for name in _COPIED:
        if (kb.folder / name).is_dir():
            shutil.copytree(kb.folder / name, to.folder / name, copy_function=link)
    to.cache.mkdir(parents=True, exist_ok=True)
    for path in kb.cache.rglob("*.json"):
        parts = path.relative_to(kb.cache).parts
        if not parts[0].startswith("estimate-"):
            target = to.cache.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
