"""What an HTML element is to a reader: a block, a piece of code, or nothing that is seen. Changes none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_SKIPPED_TAGS: Final = (
    "script style template svg canvas iframe object embed form button input select textarea nav link meta "
    "audio video source head title map dialog"
)
_BLOCK_TAGS: Final = (
    "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer h1 h2 h3 h4 "
    "h5 h6 header hgroup hr html li main menu ol p pre search section summary table tbody td tfoot th thead tr ul"
)
SKIPPED: Final = frozenset(_SKIPPED_TAGS.split())
BLOCKS: Final = frozenset(_BLOCK_TAGS.split())
CODE: Final = frozenset(("code", "kbd", "samp", "tt", "var"))
_HIDDEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def is_hidden(element: HtmlElement) -> bool:
    """Whether a browser would show nothing of ``element``."""
    if not isinstance(element.tag, str):
        return True
    style = element.get("style")
    return element.get("hidden") is not None or (style is not None and bool(_HIDDEN.search(style)))


def is_skipped(element: HtmlElement) -> bool:
    """Whether nothing of ``element`` is written: it is hidden, a comment, or no text by its nature."""
    return element.tag in SKIPPED or is_hidden(element)


def is_block(element: HtmlElement) -> bool:
    """Whether ``element`` stands on lines of its own, by its tag or by a block that it holds."""
    if not isinstance(element.tag, str):
        return False
    return element.tag in BLOCKS or (element.tag not in CODE and any(is_block(child) for child in element))
