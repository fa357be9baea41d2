"""Models that lie in their answers, each in its own way, and are honest in all else: rules of the fake endpoint."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from kb_pipeline_tests.endpoint import Asked
from kb_pipeline_tests.honest import answer, task_of

Reply = dict[str, Any]
Sentence = dict[str, Any]


def _spoilt(change: Callable[[Sentence], Sentence]) -> Callable[[Asked], Reply | None]:
    def rule(asked: Asked) -> Reply | None:
        if not asked.path.endswith("/chat/completions") or not asked.system:
            return None
        reply = answer(asked.system, asked.user)
        if task_of(asked.system) == "answer":
            reply["sentences"] = [change(dict(sentence)) for sentence in reply["sentences"] or [_INVENTED]]
        return reply

    return rule


_INVENTED: Sentence = {"text": "The gateway was designed by the Acme Corporation in 1997.", "cites": [1], "quotes": []}

wrong_citation = _spoilt(lambda s: {**s, "cites": [97]})
"""Cites evidence that it was not shown."""
other_citation = _spoilt(lambda s: {**s, "cites": [n + 1 for n in s["cites"]], "quotes": []})
"""Cites a piece of evidence that says something else."""
no_citation = _spoilt(lambda s: {**s, "cites": []})
"""Answers without evidence."""
changed_number = _spoilt(lambda s: {**s, "text": re.sub(r"\d+", lambda m: str(int(m[0]) + 1), s["text"]), "quotes": []})
"""Changes a figure."""
changed_unit = _spoilt(lambda s: {**s, "text": s["text"].replace("KB", "MB").replace(" GB", " TB"), "quotes": []})
"""Changes a unit."""
false_quote = _spoilt(lambda s: {**s, "quotes": [f"{s['text'][:-1]}, as everybody knows."]})
"""Quotes what is not there."""
turned = _spoilt(
    lambda s: {**s, "text": re.sub(r" (accepts|keeps|holds|drops) ", r" never \1 ", s["text"]), "quotes": []}
)
"""Says the opposite."""
invented = _spoilt(lambda s: dict(_INVENTED))
"""Says something that nobody said."""
LIES: Mapping[str, Callable[[Asked], Reply | None]] = {
    "wrong_citation": wrong_citation,
    "other_citation": other_citation,
    "no_citation": no_citation,
    "changed_number": changed_number,
    "changed_unit": changed_unit,
    "false_quote": false_quote,
    "turned": turned,
    "invented": invented,
}
