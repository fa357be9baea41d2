"""What a kept reply says: the record, or why there is none, and what it was made with. Keeps nothing itself."""

import json
from typing import Any, TypeVar

from pydantic import ValidationError

from kb_pipeline.errors import ModelError
from kb_pipeline.records import Ask, Record
from kb_pipeline.services.ladder import Heard

R = TypeVar("R", bound=Record)

_CURE = {
    "cut": "The text is halved; a higher token limit would help too.",
    "refused": "Nothing helps but asking another model.",
    "invalid": "kb/logs/rejects.jsonl holds the reply; a larger model may do better.",
    "unavailable": "Run the build again: it goes on from here.",
}


def facts(heard: Heard, ask: Ask, model: str) -> dict[str, Any]:
    """What is kept of a reply: ``outcome``, ``reply`` or ``detail``, and task, model and prompt."""
    told: dict[str, Any] = {"task": ask.task, "model": model, "prompt": ask.version, "outcome": heard.outcome}
    if heard.record is not None:
        return told | {"reply": heard.record.model_dump(mode="json")}
    return told | {"detail": heard.detail}


def written(told: dict[str, Any]) -> str:
    """The JSON object that is kept."""
    return json.dumps(told, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def replayed(text: str, ask: Ask, shape: type[R]) -> R | ModelError | None:
    """The record or the error that a kept reply states; None where it cannot be read any more."""
    told = json.loads(text)
    if told.get("outcome") in {"cut", "refused", "invalid"}:
        return model_error(told["outcome"], str(told.get("detail", "")), ask)
    try:
        return shape.model_validate_json(json.dumps(told.get("reply")))
    except ValidationError:
        return None


def model_error(code: str, detail: str, ask: Ask) -> ModelError:
    """Why ``ask`` has no reply, with its cure."""
    return ModelError(f"{ask.task}: {detail}.", where=ask.doc_id, cure=_CURE[code], code=code)
