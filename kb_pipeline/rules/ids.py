"""Names that follow from content: hashes, item ids, document ids. Pure."""

import hashlib
import json
import unicodedata
from functools import lru_cache

from kb_pipeline.records import Row

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"})


def digest(*parts: str | bytes) -> str:
    """32 hex digits of SHA-256 over ``parts``, each preceded by its length (so no two lists collide)."""
    h = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        h.update(len(data).to_bytes(8, "big"))
        h.update(data)
    return h.hexdigest()[:32]


def digest_json(value: object) -> str:
    """32 hex digits of SHA-256 over canonical JSON (sorted keys, no spaces)."""
    return hashlib.sha256(_CANONICAL.encode(value).encode()).hexdigest()[:32]


def sha256(data: bytes) -> str:
    """64 hex digits of SHA-256."""
    return hashlib.sha256(data).hexdigest()


@lru_cache(maxsize=1 << 16)  # dedup, tags, index and evaluation ask for the same ones
def canonical(statement: str) -> str:
    """The form in which equal statements are one: NFKC, white space, quotes and dashes folded, no final stop.

    Case is folded except in words that carry a digit, an inner capital or are all capitals (``A100-40GB``, ``gRPC``,
    ``ERR_RESET``), where it can tell two things apart.
    """
    if not statement.isascii():
        statement = unicodedata.normalize("NFKC", statement).translate(_QUOTES)
    text = " ".join(statement.split()).rstrip(".;:!").rstrip()
    first, _, rest = text.partition(" ")
    if rest.isascii() and rest.islower():  # as of every third sentence
        return f"{_folded(first)} {rest}"
    return " ".join(map(_folded, text.split(" ")))


@lru_cache(maxsize=1 << 18)  # words recur, and 40,000 items have more than 1 << 16 different ones
def _folded(word: str) -> str:
    return word if _case_matters(word) else word.casefold()


def _case_matters(word: str) -> bool:
    if word.isalpha() and (word.islower() or word.istitle()):  # nearly always decided here
        return False
    letters = [c for c in word if c.isalpha()]
    if any(c.isdigit() for c in word) and letters:
        return True
    return len(letters) > 1 and any(c.isupper() for c in letters[1:])


def draft_hash(statement: str, context: str | None) -> str:
    """The identity of a draft: equal statements in equal context are one fact."""
    return digest(canonical(statement), canonical(context or ""))


def item_id(draft: str) -> str:
    """``kb_`` and 12 hex digits of a draft's hash."""
    return f"kb_{draft[:12]}"


def row_hash(row: Row) -> str:
    """The hash of a row's content: what tells whether the index must write it again."""
    return digest(row.model_dump_json())


@lru_cache(maxsize=1 << 16)  # stages and checks ask for those of all originals, each for itself
def doc_id(source: str, path: str) -> str:
    """``<source>/<path>``; a part that would not fit a file name with our extensions is cut and keeps a short hash, and
    so does a folder that is named as a file of ours may be (``a.md/`` beside the document ``a``)."""
    parts = [part if len(part.encode()) <= _NAME_LIMIT else _shortened(part) for part in path.split("/")]
    folders = [f"{part}-{digest(part)[:12]}" if part.endswith(_EXTENSIONS) else part for part in parts[:-1]]
    return "/".join((source, *folders, parts[-1]))


_EXTENSIONS = (".md", ".json", ".jsonl")
_NAME_LIMIT = 200  # bytes; file systems allow 255, ``.meta.json`` and temporary names need room


def _shortened(part: str) -> str:
    stem, dot, extension = part.rpartition(".")
    tail = f"-{digest(part)[:12]}{dot}{extension}" if stem and len(extension) <= 16 else f"-{digest(part)[:12]}"
    return part.encode()[: _NAME_LIMIT - len(tail.encode())].decode(errors="ignore") + tail
