"""A page of two hands: what the machine rendered last, what it renders now, and what a person made of it. Pure.

The unit is a line, which is a sentence. Of the last rendering only hashes of lines are needed, so it need not be kept:
a line of the file whose hash is among them is the machine's, any other a person's. A person's lines stand; where the
machine has something new to say in the same place, that is a clash, told beside the page.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from kb_pipeline.records import Clash
from kb_pipeline.rules import ids
from kb_pipeline.rules.pages.rendering import OURS

BY_HAND = "[^by-hand]"
_NOTE = f"{BY_HAND}: A person wrote or changed this sentence; no quote proves it."
_MARK = re.compile(r"\[\^(kb_[0-9a-f]+)\](?!:)")
_DEFINED = re.compile(r"^\[\^(kb_[0-9a-f]+|by-hand)\]:")
_FIELD = re.compile(r"^([A-Za-z_][\w-]*):")
_FENCE = "---"
_OF_THE_MACHINE = frozenset({"id", "sources", "updated", "rendering", "status"})
_HEADING = re.compile(r"#{1,6} ")
_WORDS = re.compile(r"[^\W\d_]{2}")
_WORD = re.compile(r"\w+")
_ALIKE = 0.5  # of the words of two sentences
_HASH = 8


@dataclass(frozen=True)
class Merged:
    """The page of both: its text, lines that are a person's (those that state something), and where both changed the
    same."""

    text: str
    by_hand: tuple[str, ...] = ()
    clashes: tuple[Clash, ...] = ()


def line_hashes(text: str) -> tuple[str, ...]:
    """What is kept of a rendering: the hash of each line."""
    return tuple(_hash(line) for line in text.splitlines())


def is_untouched(text: str) -> bool:
    """Whether a page is as the machine rendered it, by the hash in its front matter."""
    front, body = split(text)
    named = [line for line in front if line.startswith("rendering:")]
    head = "\n".join(line for line in front if line not in named)
    return bool(named) and named[0].partition(":")[2].strip() == ids.digest(head, body)[:16]


def is_reviewed(text: str) -> bool:
    """Whether a person marked the page so that changes of it are proposals."""
    return any(re.fullmatch(r"reviewed:\s*[\"']?(?:true|yes)[\"']?\s*", line, re.IGNORECASE) for line in split(text)[0])


def split(text: str) -> tuple[list[str], str]:
    """The lines of the front matter, and the body."""
    lines = text.splitlines()
    if not lines or lines[0] != _FENCE or _FENCE not in lines[1:]:
        return [], text
    end = lines.index(_FENCE, 1)
    return lines[1:end], "\n".join(lines[end + 1 :]).removeprefix("\n") + "\n" * text.endswith("\n")


def outstanding(clashes: Iterable[Clash], machine: str, text: str) -> list[Clash]:
    """The earlier ``clashes`` that nobody settled: the person's lines still stand in ``text``, and the machine would
    still say its own."""
    ours, theirs = set(machine.splitlines()), set(map(unmarked, text.splitlines()))
    return [
        clash for clash in clashes if ours.issuperset(clash.machine) and theirs.issuperset(map(unmarked, clash.person))
    ]


def unmarked(line: str) -> str:
    """A sentence without its footnotes."""
    return _MARK.sub("", line).replace(BY_HAND, "").rstrip()


def merged(base: Collection[str], machine: str, person: str) -> Merged:
    """The page of both hands. ``base`` are the ``line_hashes`` of the last rendering."""
    ours, theirs = split(machine), split(person)
    known = frozenset(base)
    lines, clashes = _bodies(tuple(base), ours[1].splitlines(), theirs[1].splitlines(), known)
    lines = _spaced(_with_own_feet(lines, machine))
    by_hand = set(_persons(lines, known | set(line_hashes(machine))))
    marked = [_marked(line) if n in by_hand else line for n, line in enumerate(lines)]
    if by_hand and _NOTE not in marked:
        marked += [*([] if marked and _DEFINED.match(marked[-1]) else [""]), _NOTE]
    front = [_FENCE, *_fronts(ours[0], theirs[0], known), _FENCE, ""] if ours[0] else []
    text = "\n".join([*front, *marked]).rstrip("\n") + "\n"
    return Merged(text, tuple(marked[n] for n in sorted(by_hand)), tuple(clashes))


def _hash(line: str) -> str:
    return ids.digest(line.rstrip())[:_HASH]


def _fronts(ours: Sequence[str], theirs: Sequence[str], known: Collection[str]) -> list[str]:
    """Fields in the machine's order: a person's value where he changed it, fields that he added behind."""
    changed = {_name(line): line for line in theirs if _hash(line) not in known and _name(line)}
    own = {_name(line): line for line in ours}
    kept = {name: line for name, line in changed.items() if name not in _OF_THE_MACHINE}
    return [*(kept.get(name, line) for name, line in own.items()), *(kept[n] for n in kept if n not in own)]


def _name(line: str) -> str:
    m = _FIELD.match(line)
    return m[1] if m else ""


def _bodies(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], known: Collection[str]
) -> tuple[list[str], list[Clash]]:
    """Diff3 over lines. Between lines that all three share, the side that changed is taken."""
    mine, yours = [_hash(line) for line in ours], [_hash(line) for line in theirs]
    lines: list[str] = []
    clashes: list[Clash] = []
    for b, m, p in _chunks(base, mine, yours):
        if mine[m] == base[b] or mine[m] == yours[p]:
            lines += theirs[p]
        elif yours[p] == base[b]:
            lines += ours[m]
        else:
            both = _both(base[b], ours[m], theirs[p], known)
            lines += both[0]
            clashes += both[1]
    return lines, clashes


def _chunks(base: Sequence[str], mine: Sequence[str], yours: Sequence[str]) -> Iterator[tuple[slice, slice, slice]]:
    """Spans of the three that belong together: a line that all share, or what stands between two such."""
    in_mine, in_yours = _matches(base, mine), _matches(base, yours)
    b = m = p = 0
    for n in [*(n for n in range(len(base)) if n in in_mine and n in in_yours), len(base)]:
        to_m, to_p = in_mine.get(n, len(mine)), in_yours.get(n, len(yours))
        yield slice(b, n), slice(m, to_m), slice(p, to_p)
        yield slice(n, n + 1), slice(to_m, to_m + 1), slice(to_p, to_p + 1)
        b, m, p = n + 1, to_m + 1, to_p + 1


def _matches(base: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    found = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {block.a + k: block.b + k for block in found for k in range(block.size)}


def _both(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], known: Collection[str]
) -> tuple[list[str], list[Clash]]:
    """A span that both changed: the machine's, with what the person did to it. His lines stand, and those of the
    machine about the same item, or about what took its place, clash with them."""
    edited = {mark: line for line in theirs if _hash(line) not in known for mark in _MARK.findall(line)}
    fresh = [line for line in ours if _hash(line) not in known]
    clashing = [line for line in fresh if edited.keys() & set(_MARK.findall(line))]
    gone = [line for mark, line in edited.items() if not any(mark in _MARK.findall(mine) for mine in ours)]
    heirs = _heirs(gone, [line for line in fresh if line not in clashing and _MARK.search(line)])
    pairs = [(edited[m], line) for line in clashing for m in _MARK.findall(line)[:1] if m in edited]
    clashes = [Clash(person=(mine,), machine=(line,)) for mine, line in pairs]
    clashes += [
        Clash(person=(line,), machine=(heirs[line],) if line in heirs else ())
        for line in dict.fromkeys(gone)
        if line.strip()
    ]
    patched = _patched(base, ours, theirs, known, dict(pairs) | heirs)
    yielding = {*clashing, *heirs.values()}
    return [line for line in patched if line not in yielding], clashes


def _patched(
    base: Sequence[str],
    ours: Sequence[str],
    theirs: Sequence[str],
    known: Collection[str],
    instead: Mapping[str, str],
) -> list[str]:
    """``ours`` with what a person made of ``base`` (hashes): what he took out is taken out, and what he wrote stands in
    the place of the line that it is there ``instead`` of, else of what he took out, else behind what it followed."""
    lines, at = list(ours), 0
    yours = [_hash(line) for line in theirs]
    for kind, b, to_b, p, to_p in SequenceMatcher(None, base, yours, autojunk=False).get_opcodes():
        if kind == "equal":
            for line in theirs[p:to_p]:
                at = next((n + 1 for n in range(at, len(lines)) if _is_of(lines[n], line)), at)
            continue
        for one in base[b:to_b]:
            place = next((n for n in (*(n for n in _places(lines, one) if n >= at), *_places(lines, one))), None)
            if place is not None:
                del lines[place]
                at = place
        own, behind = "".join(theirs[p:to_p]).startswith("#"), at
        at = _section_end(lines, at) if own else at
        for line in theirs[p:to_p]:
            if line.strip() and _hash(line) in known and line not in ours:
                continue  # the machine's, which says it no longer
            if (stood := instead.get(line)) in lines:
                at = lines.index(stood)
                del lines[at]
            lines.insert(at, line)
            at += 1
        at = behind if own else at  # what follows is not of his section
    return lines


def _is_of(line: str, other: str) -> bool:
    """Whether two lines are one, or two of one item."""
    marks = set(_MARK.findall(other))
    return bool(other.strip()) and (line == other or not marks.isdisjoint(_MARK.findall(line)))


def _section_end(lines: Sequence[str], at: int) -> int:
    """Where a section of a person's may begin, at ``at`` or behind it: before another one, or the footnotes."""
    return next(
        (n for n in range(at, len(lines)) if lines[n].startswith("## ") or _DEFINED.match(lines[n])), len(lines)
    )


def _places(lines: Sequence[str], wanted: str) -> list[int]:
    """Where a line of that hash stands which is not blank."""
    return [n for n, line in enumerate(lines) if line.strip() and _hash(line) == wanted]


def _heirs(gone: Sequence[str], fresh: Sequence[str]) -> dict[str, str]:
    """For sentences of a person whose item is gone, the machine's new one that has most of the same words, at least
    half of those of either; each serves one."""
    words = {line: set(_WORD.findall(unmarked(line).casefold())) for line in (*gone, *fresh)}
    pairs = [(len(words[a] & words[b]) / max(1, len(words[a]), len(words[b])), a, b) for a in gone for b in fresh]
    found: dict[str, str] = {}
    for share, a, b in sorted(pairs, key=lambda pair: -pair[0]):
        if share >= _ALIKE and a not in found and b not in found.values():
            found[a] = b
    return found


def _with_own_feet(lines: Sequence[str], machine: str) -> list[str]:
    """Footnotes are the machine's, all of them, whoever wrote there, and a sentence cites only items that the page has
    a foot of: a person's may have outlived one."""
    feet = {m[1]: line for line in machine.splitlines() if (m := _DEFINED.match(line))}
    left, found = dict(feet), list[str]()
    for line in lines:
        defined = _DEFINED.match(line)
        if not defined or defined[1] == "by-hand":
            found.append(_MARK.sub(lambda m: m[0] if m[1] in feet else "", line))
        elif defined[1] in left:
            found.append(left.pop(defined[1]))
    places = [n + 1 for n, line in enumerate(found) if _DEFINED.match(line)]
    at = max(places, default=len(found))
    found[at:at] = [*([] if places or not left else [""]), *left.values()]
    return found


def _spaced(lines: Sequence[str]) -> list[str]:
    """``lines`` with one blank line where there are several, and one around headings and above the footnotes; code as
    it is."""
    found: list[str] = []
    fenced = False
    for line in lines:
        before = found[-1] if found else ""
        if not fenced and not line.strip() and not before.strip():
            continue
        first_foot = _DEFINED.match(line) and not _DEFINED.match(before)
        apart = line.startswith("#") or _HEADING.match(before) or first_foot
        if not fenced and before.strip() and line.strip() and apart:
            found.append("")
        found.append(line)
        fenced ^= line.lstrip().startswith("```")
    return found


def _persons(lines: Sequence[str], known: Collection[str]) -> Iterator[int]:
    """Numbers of the lines that state something in a person's words within a section of the machine's."""
    ours, fenced = True, False
    for n, line in enumerate(lines):
        fenced ^= line.lstrip().startswith("```")
        if line.startswith("## ") and not fenced:
            ours = line[3:].strip() in OURS
        if ours and not fenced and _hash(line) not in known and _WORDS.search(line) and not _is_frame(line):
            yield n


def _is_frame(line: str) -> bool:
    return line.startswith(("#", "[^", "<!--"))


def _marked(line: str) -> str:
    return line if BY_HAND in line else f"{line.rstrip()}{BY_HAND}"


def front_of(text: str) -> dict[str, object]:
    """The fields of a page's front matter; a value that is no JSON is taken as text."""
    fields: dict[str, object] = {}
    for line in split(text)[0]:
        name, colon, value = line.partition(":")
        if colon and name.strip():
            fields[name.strip()] = _value(value.strip())
    return fields


def _value(written: str) -> object:
    try:
        return json.loads(written)
    except ValueError:
        return written.strip("'\"")
