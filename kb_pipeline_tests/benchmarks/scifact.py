"""SciFact as rows of the index: one item a sentence, one chunk an abstract. Knows the corpus, not how it is searched.

Beside the 300 judged claims it makes questions whose answers nobody judged, from documents that no claim is about:

- ``title``: the title of a document, which is then missing from the index, asks for the document;
- ``conclusion``: its last sentence, missing from the index, asks for the rest;
- ``keywords``: four words of a sentence, of middling rarity, ask for that sentence.
"""

import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kb_pipeline.records import Row
from kb_pipeline.rules.analyser import analyse

_STOP = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z0-9(\"\[])")
_ABBREVIATION = re.compile(r"(?:\b(?:vs|e\.g|i\.e|al|Figs?|approx|[Nn]o|cf|Dr|St|ca|resp)|\b[A-Z])\.$")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9-]{3,}")
_SEED, _EACH = 7, 500


@dataclass(frozen=True)
class Abstract:
    """A document: its title and its sentences."""

    name: str
    title: str
    sentences: tuple[str, ...]

    @property
    def doc_id(self) -> str:
        """As the pipeline would call it."""
        return f"scifact/{self.name}.md"


@dataclass(frozen=True)
class Question:
    """A query and the ids (of documents, or of rows for ``keywords``) that answer it."""

    text: str
    answers: frozenset[str]


def abstracts(folder: Path) -> list[Abstract]:
    """All 5,183 documents."""
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [Abstract(r["_id"], r["title"], tuple(sentences(r["text"]))) for r in records]


def sentences(text: str) -> Iterator[str]:
    """Sentences by a plain rule, good enough to measure search with."""
    pending = ""
    for piece in _STOP.split(text):
        pending = f"{pending} {piece.strip()}".strip()
        if pending and not _ABBREVIATION.search(pending):
            yield pending
            pending = ""
    if pending:
        yield pending


def claims(folder: Path) -> list[Question]:
    """The 300 claims and their judged documents."""
    judged: dict[str, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        query, document, _ = line.split("\t")
        judged.setdefault(query, set()).add(f"scifact/{document}.md")
    records = map(json.loads, (folder / "queries.jsonl").read_text().splitlines())
    return [Question(r["text"], frozenset(judged[r["_id"]])) for r in records]


def unjudged(docs: Sequence[Abstract], judged: Sequence[Question]) -> tuple[list[Abstract], dict[str, list[Question]]]:
    """Questions by kind from documents without judgement, and all documents less what these questions took away."""
    about = frozenset().union(*(question.answers for question in judged))
    free = [doc for doc in docs if doc.doc_id not in about and len(doc.sentences) >= 5 and len(doc.title) > 30]
    chosen = random.Random(_SEED).sample(free, 3 * _EACH)
    titled, concluded, worded = chosen[:_EACH], chosen[_EACH : 2 * _EACH], chosen[2 * _EACH :]
    changed = {doc.name: Abstract(doc.name, "", doc.sentences) for doc in titled}
    changed |= {doc.name: Abstract(doc.name, doc.title, doc.sentences[:-1]) for doc in concluded}
    questions = {
        "title": [Question(doc.title, frozenset({doc.doc_id})) for doc in titled],
        "conclusion": [Question(doc.sentences[-1], frozenset({doc.doc_id})) for doc in concluded],
        "keywords": list(_keyword_questions(docs, worded)),
    }
    return [changed.get(doc.name, doc) for doc in docs], questions


def _keyword_questions(docs: Sequence[Abstract], worded: Sequence[Abstract]) -> Iterator[Question]:
    frequency = Counter(token for doc in docs for sentence in doc.sentences for token in set(analyse(sentence)))
    chance = random.Random(_SEED)
    for doc in worded:
        number = chance.randrange(len(doc.sentences))
        words = list(dict.fromkeys(_WORD.findall(doc.sentences[number])))
        ranked = sorted(words, key=lambda word: frequency[analyse(word)[0]])[1:8]
        picked = set(chance.sample(ranked, min(4, len(ranked))))
        text = " ".join(word for word in words if word in picked)
        if text:
            yield Question(text, frozenset({item_id(doc, number)}))


def item_id(doc: Abstract, number: int) -> str:
    """The row of a document's sentence."""
    return f"kb_{doc.name}_{number}"


def rows(docs: Sequence[Abstract]) -> Iterator[Row]:
    """An item a sentence and a chunk an abstract, with offsets as if sentences were joined by spaces."""
    for doc in docs:
        shared: dict[str, object] = {
            "doc_id": doc.doc_id,
            "source_id": "scifact",
            "docs": (doc.doc_id,),
            "origins": (doc.doc_id,),
            "heading": doc.title,
        }
        text, start = " ".join(doc.sentences), 0
        for number, sentence in enumerate(doc.sentences):
            end = start + len(sentence)
            values: dict[str, object] = {
                "id": item_id(doc, number),
                "kind": "item",
                "text": sentence,
                "start": start,
                "end": end,
            }
            yield Row.model_validate(values | shared)
            start = end + 1
        chunk: dict[str, object] = {
            "id": f"ck_{doc.name}",
            "kind": "chunk",
            "text": text,
            "title": doc.title,
            "end": max(1, len(text)),
        }
        yield Row.model_validate(chunk | shared)
