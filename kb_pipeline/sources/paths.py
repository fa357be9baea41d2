"""The names of documents within a source: safe, printable, never too long. Pure."""

import unicodedata

from kb_pipeline.rules.ids import digest

_MAX_NAME = 180  # bytes; a name on disk may have 255, and the store adds endings to it
_UNPRINTABLE = frozenset(("Cc", "Cs", "Zl", "Zp"))


def bad_name(name: str) -> str | None:
    """Why a file's name cannot be part of a document's name; ``None`` where it can."""
    if name.isascii() and name.isprintable():
        return None
    try:
        name.encode()
    except UnicodeEncodeError:
        return "its name is not valid UTF-8"
    if any(unicodedata.category(c) in _UNPRINTABLE for c in name):
        return "its name holds unprintable characters"
    return None


def printable(name: str) -> str:
    """``name`` with what cannot be printed escaped, for messages."""
    if name.isascii() and name.isprintable():
        return name
    text = name.encode("utf-8", "backslashreplace").decode()
    return "".join(c.encode("unicode_escape").decode() if unicodedata.category(c) in _UNPRINTABLE else c for c in text)


def safe_name(name: str) -> str:
    """One part of a path in NFC; one too long for a disk is cut and marked with a hash of the whole."""
    name = name if name.isascii() else unicodedata.normalize("NFC", name)
    return name if len(name.encode()) <= _MAX_NAME else mark(name, digest(name)[:8])


def mark(path: str, suffix: str) -> str:
    """``docs/a.md`` → ``docs/a-<suffix>.md``, the name cut to fit a disk."""
    folder, _, name = path.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    if not stem or len(extension) > 12:
        stem, dot, extension = name, "", ""
    room = _MAX_NAME - len(f"-{suffix}.{extension}".encode())
    stem = stem.encode()[:room].decode(errors="ignore")
    return f"{folder}/{stem}-{suffix}{dot}{extension}".removeprefix("/")


def unsafe(path: str) -> str | None:
    """Why a path that a connector gives cannot name a document; ``None`` where it can."""
    parts = path.split("/")
    if not path or not all(parts) or any(part in (".", "..") for part in parts):
        return "is no relative path of plain names"
    if (why := bad_name(path)) is not None:
        return why.replace("its name ", "")
    if any(len(part.encode()) > _MAX_NAME for part in parts):
        return f"has a name of more than {_MAX_NAME} bytes"
    return None
