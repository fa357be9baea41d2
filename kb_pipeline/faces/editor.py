"""An item's words in a person's editor."""

import json
import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from kb_pipeline.errors import KbError
from kb_pipeline.records import Item

_FIELDS = ("statement", "detail", "context", "item_type", "primary_category", "tags", "note", "entities", "confidence")


def reworded(item: Item) -> dict[str, Any]:
    """The fields of ``item`` that a person changed in ``$VISUAL`` or ``$EDITOR``, as JSON has them.

    Raises ``KbError`` where there is no editor, and, naming the file, which then stays, where what was saved is no
    JSON object.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        cure = "Set one, or name a field: kb edit ID --statement TEXT."
        raise KbError("neither $VISUAL nor $EDITOR is set.", where="kb edit", cure=cure, code="usage")
    before = item.model_dump(mode="json", include=set(_FIELDS))
    path = Path(tempfile.mkdtemp(prefix="kb-edit-")) / f"{item.id}.json"
    path.write_text(json.dumps({name: before[name] for name in _FIELDS}, ensure_ascii=False, indent=2) + "\n")
    try:
        done = subprocess.run([*shlex.split(editor), str(path)], check=False)
    except OSError as error:
        cure = "Correct $VISUAL or $EDITOR."
        raise KbError(f"'{editor}' cannot be started: {error.strerror}.", where="kb edit", cure=cure) from error
    if done.returncode:
        raise KbError(f"'{editor}' ended with {done.returncode}; nothing was changed.", where=str(path), code="editor")
    try:
        after = json.loads(path.read_text())
    except ValueError as error:
        cure = "Your words are still in that file."
        raise KbError(f"is no JSON: {error}.", where=str(path), cure=cure, code="usage") from error
    if not isinstance(after, dict):
        raise KbError("is no JSON object.", where=str(path), cure="Your words are still in that file.", code="usage")
    path.unlink()
    path.parent.rmdir()
    return {name: value for name, value in after.items() if name not in before or before[name] != value}
