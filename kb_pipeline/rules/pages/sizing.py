"""How much stands on a page: long subjects part along their headings, thin ones stay with their parent. Pure.

Owns the sizes. A size has two thresholds, so that one item more or less at the edge moves nothing: a page that exists
stays until it is clearly too long or too thin. Everything else follows from the items alone.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from kb_pipeline.records import Placed
from kb_pipeline.rules import ids
from kb_pipeline.rules.pages.topics import Topic, clean, is_release

MOST, MOST_STANDING = 40, 50
"""A subject of more items parts along its headings (``MOST_STANDING``: one that was a single page before)."""
FEWEST, FEWEST_STANDING = 8, 5
"""A heading with as many items is a page of its own where its subject parts, (``…_STANDING``: as long as it has)."""
FEWEST_ALONE, FEWEST_ALONE_STANDING = 5, 3
"""A document, or a name, with as many items has a page of its own."""
_RUN = 32  # items of one part of a text without headings to part along, about


@dataclass(frozen=True)
class Piece:
    """Items that stay together on a page, below ``heading``, which stands within the section ``top``; ``place`` is the
    heading as the document has it."""

    heading: str
    items: tuple[Placed, ...]
    top: str = ""
    place: str = ""


@dataclass(frozen=True)
class Draft:
    """A page in the making: ``key`` names its subject, ``above`` and ``parents`` the subjects that it is a part of, by
    name and by key, outermost first. ``run_of`` is the key of the text that it is a run of."""

    key: str
    names: tuple[str, ...]
    pieces: tuple[Piece, ...]
    above: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    run_of: str = ""

    @property
    def text(self) -> str:
        """The key of the text of which it is all, or a run."""
        return self.run_of or self.key

    @property
    def size(self) -> int:
        """How many items stand on it."""
        return sum(len(piece.items) for piece in self.pieces)


@lru_cache(maxsize=1 << 16)  # asked of every subject whether it stands, what it is called, who leads to it
def page_id(key: str) -> str:
    """``pg_`` and 12 hex digits: follows from the subject."""
    return f"pg_{ids.digest(key)[:12]}"


def pages_of(topic: Topic, standing: Collection[str]) -> list[Draft]:
    """The pages of one subject, itself first; ``standing`` are the ids of the pages that exist."""
    return [part for draft in _parted(topic, (), (), standing) for part in in_runs(draft, standing)]


def _parted(
    topic: Topic, above: tuple[str, ...], parents: tuple[str, ...], standing: Collection[str]
) -> Iterator[Draft]:
    below = list(topic.children.values())
    most = MOST_STANDING if _is_whole(topic, standing) else MOST
    if topic.total() <= most:
        apart: list[Topic] = []
    else:
        apart = [c for c in below if not is_release(c.name) and c.total() >= _fewest(c, standing)]
    keys = {child.key for child in apart}
    pieces = [Piece("", tuple(topic.items), place=topic.name if parents else "")] if topic.items else []
    pieces += [piece for child in below if child.key not in keys for piece in _pieces(child, ())]
    if pieces:
        yield Draft(topic.key, tuple(topic.names), tuple(pieces), above, parents)
    for child in apart:
        yield from _parted(child, (*above, topic.name), (*parents, topic.key), standing)


def _fewest(topic: Topic, standing: Collection[str]) -> int:
    return FEWEST_STANDING if page_id(topic.key) in standing else FEWEST


def _is_whole(topic: Topic, standing: Collection[str]) -> bool:
    return page_id(topic.key) in standing and not any(page_id(c.key) in standing for c in topic.children.values())


def _pieces(topic: Topic, above: tuple[str, ...]) -> Iterator[Piece]:
    path = (*above, topic.name)
    if topic.items:
        yield Piece(": ".join(path[-2:]), tuple(topic.items), path[0], topic.name)
    for child in topic.children.values():
        yield from _pieces(child, path)


def in_runs(draft: Draft, standing: Collection[str]) -> list[Draft]:
    """``draft``, or the runs of its pieces where it is too long and has no headings that part it.

    Where a run begins follows from the content of the piece that begins it, so that an edit moves the seams next to it
    alone. A run is named by its first piece.
    """
    if draft.size <= MOST:
        return [draft]
    runs: list[list[Piece]] = [[]]
    for piece in _small(draft.pieces):
        held = sum(len(p.items) for p in runs[-1])
        within = bool(runs[-1]) and piece.top != "" and piece.top == runs[-1][-1].top
        seam = held >= _RUN // 2 and not within and int(ids.digest(_mark(piece))[:4], 16) % 4 == 0
        if runs[-1] and (seam or held + len(piece.items) > MOST_STANDING):
            runs.append([])
        runs[-1].append(piece)
    if len(runs) > 1 and sum(len(p.items) for p in runs[-1]) < FEWEST:
        last = runs.pop()
        runs[-1] += last
    first, *others = runs
    rest = [_run(draft, run) for run in others]
    stays = draft.size <= MOST_STANDING and page_id(draft.key) in standing
    if not rest or (stays and not any(page_id(run.key) in standing for run in rest)):
        return [draft]
    return [replace(draft, pieces=tuple(first)), *rest]


def _run(draft: Draft, pieces: Sequence[Piece]) -> Draft:
    name = _label(pieces[0])
    return Draft(
        key=f"{draft.key} from {_mark(pieces[0])}",
        names=(f"{draft.names[0]}, from {name}",),
        pieces=tuple(pieces),
        above=(*draft.above, draft.names[0]),
        parents=(*draft.parents, draft.key),
        run_of=draft.key,
    )


def _label(piece: Piece) -> str:
    """What a run that begins with ``piece`` is called by: its heading, without the date in brackets behind it."""
    heading = (piece.top or piece.heading).partition(" (")[0] or (piece.items[0].names or ("",))[0]
    return clean(heading) or piece.items[0].id.removeprefix("kb_")


def _mark(piece: Piece) -> str:
    """What a piece is told by: its heading; a piece of a piece by its first item."""
    return f"{piece.heading} {'' if piece.top else piece.items[0].id}"


def _small(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Pieces of at most a run; a longer one falls into several, at items that its content chooses."""
    for piece in pieces:
        start = 0
        for n, item in enumerate(piece.items):
            held = n - start
            if held >= _RUN or (held >= _RUN // 2 and int(ids.digest(item.id)[:4], 16) % 8 == 0):
                yield replace(piece, items=piece.items[start:n], top="")
                start = n
        yield replace(piece, items=piece.items[start:], top=piece.top if not start else "")
