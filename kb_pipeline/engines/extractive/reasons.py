"""Why a candidate is no item: a closed set of reasons and the rule for each, tried in order."""

import re
from collections.abc import Callable

from kb_pipeline.engines.extractive.announcing import announces
from kb_pipeline.engines.extractive.candidates import LONGEST, Candidate
from kb_pipeline.engines.extractive.markup import link_share
from kb_pipeline.engines.extractive.verbs import begins_with_verb, is_certain, is_finite, is_imperative
from kb_pipeline.rules.words import FUNCTION_WORDS

REASONS = {
    "announcement": "tells what the text does or shows next, not what is so",
    "boilerplate": "cookie banners, copyright lines, subscription offers and other text that serves the page",
    "chatter": "greetings, thanks and agreement that state nothing",
    "code": "a line of code or output outside a fence",
    "fragment": "no finite verb: a title, a caption, a broken line",
    "garbled": "mostly symbols, or marked as unreadable",
    "lead": "introduces what follows (a list, an example) and says nothing without it",
    "link-only": "nothing but links",
    "navigation": "points elsewhere without saying anything itself",
    "question": "asks instead of stating",
    "table-without-header": "a table row whose columns have no names",
    "too-long": "over 1,200 characters without an end",
    "too-short": "under three words",
}
_SHORTEST = 3

# Read in lower case.
_BOILERPLATE = re.compile(
    r"©|\b(?:all rights reserved|copyright\s*(?:©|\(c\)|\d{4})|cookies? (?:policy|settings|preferences)\b|"
    r"(?:we|this (?:web)?site) uses? cookies\b|accept (?:all )?cookies|privacy policy|terms of (?:service|use)\b|"
    r"subscribe to (?:our|the) |sign up (?:for|to) (?:our|the) |newsletter\b|follow us on|lorem ipsum|sent from my |"
    r"unsubscribe from|please enable javascript|minutes? read\b|spdx-license)|^\W*(?:share (?:this|on) |advertisement|"
    r"(?:todo|fixme|tbd)\b|edit this page|(?:last )?(?:updated|modified|published|posted) (?:on|at|by)\b)"
)
_PLACE = (
    r"(?:docs?|documentation|guides?|manual|web ?site|home ?page|page|repo(?:sitory)?|articles?|tutorials?|sections?|"
    r"chapter|readme)"
)
_NAVIGATION = re.compile(
    rf"^\W*(?:(?:please |also |you can also )?(?:(?:see|refer to|have a look at|take a look at|click)\b|"
    rf"(?:check(?: out)?|visit|read|consult|browse) (?:our |the |this |that )?(?:\S+ ){{0,3}}{_PLACE}\b)"
    r"(?!.*\b(?:because|since|if|so that|must|should|cannot)\b)|(?:next|previous|prev|back|home|skip) ?(?::|to\b|»|→)|"
    r"table of contents|(?:for|to (?:find|learn|read|see|get|know)) (?:a |an |the |out )?(?:more|further|full|complete|"
    r"other|additional|detailed|list of)\b.*\b(?:see|visit|read|refer|check|consult|contact|go)\b|"
    r"more (?:information|details|info)\b|(?:more|further|full|additional) .{0,60}\b(?:can|may) be found\b|read more|"
    r"(?:you can (?:also )?)?(?:learn|find out) more\b|you can (?:also )?(?:view|find|see|read|check) "
    r"(?:the (?:full|complete|whole)\b|.{0,80}\bhere\W*$)|"
    r"for an? (?:\w+ )?example\b[^.]*, see\b)",
    re.IGNORECASE,
)
_CHATTER = re.compile(
    r"^\W*(?:(?:hi|hello|hey|thanks?|thank you|thx|cheers|lgtm|sounds good|good (?:morning|point|idea|question)|"
    r"congrat\w+|haha|lol|agreed|\+1)\b[^.]{0,40}|(?:thanks|thank you)(?: (?:so|very) much)? for \w+ing\b[^.]*|"
    r"(?:yes|no|yep|nope|ok(?:ay)?|sure|great|awesome|nice|cool|welcome|"
    r"sorry|done)(?:[,!.] ?(?:\S+ ?){0,4})?)[.!]*\W*$",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"^(?:>>> |\$ |@\w+(?:\(|$)|(?:import|from|def|class|return|const|let|var|public|#include)\b[^.]*[;:({\w]$)|"
    r"[;{}]\s*$|^[\w.\[\]]+\s*(?::=|\+=|=)\s*\S+$|^\w[\w.]*\([^()]*\)$|^</?\w+[^>]*>$|=>\s*\{"
)
_CODE_SIGN = re.compile(
    r"[;{}()=<>@$]|^(?:import|from|def|class|return|const|let|var|public|#)\b"
)  # nearly none has it
_LEAD = re.compile(
    r"\b(?:following|below|as follows|like this|like so|for example|e\.g\.|examples?|such as|including|namely|so "
    r"far|here(?:'s| is| are)|these|this|thus|is|are|or|and)\b[^:,]{0,40}(?::|\.\.+|…)$|^(?:an? )?(?:for )?(?:\w+ "
    r")?examples?\b"
)
_UNREADABLE = ("[UNREADABLE]", "\ufffd\ufffd")
_NEEDED_LEAD_WORDS = 6


def reason_against(c: Candidate) -> str:
    """Why ``c`` is no item, one of ``REASONS``, or ``""``."""
    return next((reason for reason, holds in _AGAINST if holds(c)), "")


def _is_navigation(c: Candidate) -> bool:
    shows = bool(c.code) and (announces(c.text) or c.text.endswith(":"))
    return _NAVIGATION.match(c.text) is not None and c.block.kind != "row" and not shows


def _is_bare_link(c: Candidate) -> bool:
    return ("](" in c.raw or "http" in c.raw) and link_share(c.raw) > 0.9 and not (c.stops and is_finite(c.text))


def _is_garbled(c: Candidate) -> bool:
    if c.block.kind == "row":
        return False
    if any(mark in c.text for mark in _UNREADABLE):
        return True
    if 2 * sum(map(len, filter(str.isalnum, c.text.split()))) >= len(c.text):  # nearly always decided here
        return False
    return 2 * sum(map(str.isalnum, c.text)) < len(c.text) - c.text.count(" ")


def _is_code(c: Candidate) -> bool:
    if c.block.kind == "row" or c.term or not _CODE_SIGN.search(c.text):
        return False
    return _CODE.search(c.text) is not None and not (c.stops and c.length > 4)


def _is_short(c: Candidate) -> bool:
    completes_lead = c.block.kind == "bullet" and bool(c.place.lead or c.place.release)
    return c.block.kind != "row" and c.length < (_SHORTEST - 1 if completes_lead else _SHORTEST)


def _is_lead(c: Candidate) -> bool:
    """A sentence that ends in a colon: kept where it shows code, or says what code too long to be shown is for."""
    if c.code or not (c.text.endswith((":", "：")) or c.introduces):
        return False
    says_something = c.introduces and c.length >= _NEEDED_LEAD_WORDS and is_certain(c.text)
    return not says_something or _LEAD.search(c.text.lower()) is not None


def _is_announcement(c: Candidate) -> bool:
    return not c.code and c.block.kind in ("paragraph", "bullet") and announces(c.text)


def _is_fragment(c: Candidate) -> bool:
    if c.block.kind == "row" or c.term or is_certain(c.text):
        return False
    if _is_title(c.text):
        return True
    if c.foreign:
        return not c.stops and c.length < 2 * _SHORTEST
    if c.code or (c.block.kind == "bullet" and (c.place.lead or c.place.release)):
        return False
    if c.block.kind == "comment" and c.block.name and c.opens:
        return False
    if is_imperative(c.text) or begins_with_verb(c.text):
        return False
    return not ((c.stops or c.block.kind == "turn") and is_finite(c.text))


def _is_title(text: str) -> bool:
    """Whether every word that carries meaning is capitalised: a heading or an entry of a table of contents."""
    telling = [word for word in re.findall(r"[^\W\d_]{3,}", text) if word.lower() not in FUNCTION_WORDS]
    return len(telling) > 2 and all(word[0].isupper() for word in telling)


_AGAINST: tuple[tuple[str, Callable[[Candidate], bool]], ...] = (
    ("table-without-header", lambda c: c.block.kind == "row" and not c.block.header),
    ("too-long", lambda c: len(c.raw) > LONGEST),
    ("garbled", _is_garbled),
    ("question", lambda c: c.text.rstrip("\"'”’)»* ").endswith(("?", "？", "؟"))),
    ("boilerplate", lambda c: _BOILERPLATE.search(c.text.lower()) is not None),
    ("navigation", _is_navigation),
    ("link-only", _is_bare_link),
    ("chatter", lambda c: _CHATTER.match(c.text) is not None),
    ("code", _is_code),
    ("too-short", _is_short),
    ("announcement", _is_announcement),
    ("lead", _is_lead),
    ("fragment", _is_fragment),
)
