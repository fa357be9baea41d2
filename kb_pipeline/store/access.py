"""Tokens and the log of queries on disk. Knows neither roles nor what a query is about.

kb/access/tokens.json     tokens, hashed; readable by its owner alone
          .gitignore      keeps the folder out of git, in a knowledge base of any age
kb/logs/queries/          a file of JSON lines a day, so that what is too old goes by removing files

Tokens stand in a folder of their own, not in ``kb/cache``: losing a cache costs time, losing these shuts people out.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from kb_pipeline.errors import StoreError
from kb_pipeline.records import Query, Token
from kb_pipeline.store import files
from kb_pipeline.store.logs import Log

_TOKENS = TypeAdapter(tuple[Token, ...])


class TokenFile:
    """The tokens of the knowledge base in ``folder`` (``kb/``), read again when their file was replaced."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "access"
        self._path = self._folder / "tokens.json"
        self._held: tuple[files.FileState | None, tuple[Token, ...]] = None, ()

    def read(self) -> tuple[Token, ...]:
        """All tokens, by name. Raises ``StoreError`` where the file is broken: nobody is let in by mistake."""
        state = files.file_state(self._path)
        if state is None:
            return ()
        if self._held[0] != state:
            try:
                self._held = state, _TOKENS.validate_json(self._path.read_bytes())
            except ValidationError as error:
                cure = "Restore it, or remove it and add the tokens anew."
                raise StoreError("is not a list of tokens.", where=str(self._path), cure=cure) from error
        return self._held[1]

    def write(self, tokens: Sequence[Token]) -> None:
        """Replace all tokens. Raises ``StoreError`` where the disk refuses it."""
        data = json.dumps([t.model_dump(mode="json") for t in sorted(tokens, key=lambda t: t.name)], indent=1)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._folder.chmod(0o700)
            (self._folder / ".gitignore").write_text("*\n")
            files.replace(self._path, data.encode() + b"\n")
            self._path.chmod(0o600)
        except OSError as error:
            cure = "Free space or check permissions."
            raise StoreError(f"cannot be written: {error.strerror}.", where=str(self._path), cure=cure) from error


class QueryLog:
    """The queries of the knowledge base in ``folder`` (``kb/``), a file a day."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "logs" / "queries"
        self._day, self._log = "", Log(self._folder)

    def append(self, query: Query, keep_days: int) -> None:
        """Add a line; with the first of a day, files of days that are not among the last ``keep_days`` go.

        Raises ``StoreError`` where the disk refuses it.
        """
        day = query.at[:10]
        if day != self._day:
            self._day, self._log = day, Log(self._folder / f"{day}.jsonl")
            first = (date.fromisoformat(day) - timedelta(days=keep_days - 1)).isoformat()
            for path in self._days():
                if path.stem < first:
                    path.unlink(missing_ok=True)
        self._log.append(query.model_dump(mode="json", exclude_defaults=True))

    def since(self, day: str) -> Iterator[Query]:
        """Queries of ``day`` (``YYYY-MM-DD``) and later, oldest first."""
        for path in self._days():
            if path.stem >= day:
                for line in Log(path):
                    yield Query.model_validate(line)

    def _days(self) -> list[Path]:
        return sorted(self._folder.glob("????-??-??.jsonl"))
