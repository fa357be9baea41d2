"""Source type ``jsonl``: each line of a JSON Lines file is a document.

Copy this file to ``kb/plugins/jsonl.py`` and write in ``sources.yaml``:

    - id: tickets
      type: jsonl
      uri: exports/tickets.jsonl
      options: {key: number, text: body, title: subject}

A plugin is a module with ``TYPE`` and ``fetch``. ``OPTIONS`` and ``fingerprint`` are optional.
"""

import hashlib
import json
import re

from kb_pipeline.errors import SourceUnavailable
from kb_pipeline.records import Fetched

# What `type:` in sources.yaml says.
TYPE = "jsonl"

# The names that `options:` may hold, each with the type of its value: bool, int, str, list, dict, or a tuple of the
# texts allowed. Without OPTIONS anything may stand there.
OPTIONS = {"key": str, "text": str, "title": str}


def fetch(source, known, world):
    """List the source: one ``Fetched`` a document.

    ``source`` is the entry of sources.yaml. ``known`` maps the path of each document that the last listing left to
    what is known of it (``sha256``, ``etag``, ``stat``, ...). ``world`` gives ``settings``, ``fetcher`` and ``clock``.

    A listing that ends is complete: documents that it did not name are deleted. One that raises is not: nothing is
    deleted, and ``kb status`` tells the error. So never end early where something could not be read.
    """
    key, text, title = (source.options.get(name, name) for name in ("key", "text", "title"))
    for uri, lines in _files(source, world.settings):
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            address = f"{uri}:{number}"
            try:
                entry = json.loads(line)
                name, content = str(entry[key]), str(entry[text]).encode()
            except (ValueError, KeyError, TypeError) as error:
                # `failed` keeps the last good version of this one document, and reports the reason.
                yield Fetched(
                    path=f"line-{number}", state="failed", uri=address, reason=f"{type(error).__name__}: {error}"
                )
                continue
            path = _path(name)
            same = path in known and known[path].sha256 == hashlib.sha256(content).hexdigest()
            yield Fetched(
                path=path,  # its name within the source; the ending tells the format
                state="same" if same else "changed",
                uri=address,  # what a citation shows
                content=None if same else content,
                title=str(entry.get(title, "")),
                source_type="ticket",
            )


def fingerprint(source, settings):
    """The state of the source as far as it can be had without reading it: when it moves, the source is read again.

    Leave this function out for what is remote; then ``refresh`` decides.
    """
    states = [(settings.root / uri).stat() for uri in source.uri]
    return str([(state.st_size, state.st_mtime_ns) for state in states])


def _files(source, settings):
    for uri in source.uri:
        try:
            with open(settings.root / uri, encoding="utf-8") as lines:
                yield uri, lines
        except OSError as error:
            cure = "Export it again; until then the last good documents stay."
            raise SourceUnavailable(f"{uri}: {error.strerror}.", where=f"source {source.id!r}", cure=cure) from error


def _path(name):
    """A safe name; where that loses something, a hash keeps two documents apart."""
    safe = re.sub(r"[^\w-]+", "-", name).strip("-")[:100] or "document"
    return f"{safe}.md" if safe == name else f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}.md"
