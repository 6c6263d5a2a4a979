"""
Find what a person changed in the generated part of a page (between markers), compared with the version they had.

Each version is kept as the seals of its lines with the ids that they end in, and no word of them. So is each edited region
once it was read, and each region as an erasure left it: who checks it out again later has changed nothing. A region is compared
with the version of its marker, or with what was made of that before, whichever it shares more lines with.

    a line whose id is known and whose words are not     corrects that memory
    a line without an id that the version has not        is a new statement of the user
    a line of the version that is gone, or struck out    takes its memory out of use
    a heading, code, a table … that the version has not  is the person's own text, and moves below the region
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from yiku.rules.pages import region
from yiku.rules.pages.region import Item, items
from yiku.types import Entry, PageVersion

KNOWN_DAYS = 90  # that a version is known
FEWEST_GONE = 3  # lines; fewer may go whatever share of the region they are
Seal = Callable[[str], str]


class Changed(NamedTuple):
    """A line whose memory should say something else."""

    id: str
    item: Item


@dataclass(frozen=True, slots=True)
class Edits:
    """What a person did to a region. `own`: text that is theirs and no statement."""

    changed: tuple[Changed, ...] = ()
    added: tuple[Item, ...] = ()
    removed: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.added or self.removed or self.own)


def entries(there: Iterable[Item], seal: Seal, whole: Callable[[str], str]) -> tuple[Entry, ...]:
    """The lines of a region as they are kept; `whole` makes a whole id of a short one, or nothing of one that is not known."""
    return tuple(Entry(whole(item.id) if item.id else "", _seal_of(item, seal)) for item in there)


def _seal_of(item: Item, seal: Seal) -> str:
    return seal(item.text if item.statement else " ".join(item.raw.split()))


def read(body: str, version: str, known: Sequence[PageVersion], seal: Seal) -> Edits:
    """
    The edits of a region.

    version: of its marker; known: all that is known of this page, oldest first
    Where nobody knows the version, or its lines were sealed with a key that is lost, so that not even a heading is known, nothing
    is missing from it and nothing corrects: what is not known is the person's own text.
    """
    found = items(body)
    sealed_items = [(item, _seal_of(item, seal)) for item in found]
    was_shown = shown(known, seal)
    base = _base(sealed_items, version, known)
    if base is None or (base.entries and {entry.seal for entry in base.entries}.isdisjoint(sealed for _, sealed in sealed_items)):
        return Edits(own=tuple(item.raw for item in found if item.statement and not was_shown(item)))
    there, unknown = _find_kept(sealed_items, base)
    changed: dict[str, Changed] = {}
    added: list[Item] = []
    own: list[str] = []
    for edited in unknown:
        item, id = _named(edited, base, known, there)
        if item.id and (was_shown(item) or (id and region.is_struck(item))):
            continue  # a line of another version, a second copy, or one that is struck out
        if not item.statement:
            own.append(item.raw)
        elif id and id not in changed:
            changed[id] = Changed(id, item)
        elif item.text:
            added.append(item)
    ids = dict.fromkeys(entry.id for entry in base.entries if entry.id)
    removed = tuple(id for id in ids if id not in there and id not in changed)
    return Edits(tuple(changed.values()), tuple(added), removed, tuple(own))


def shown(known: Sequence[PageVersion], seal: Seal) -> Callable[[Item], bool]:
    """Whether a version of the page has a line, under the id that it ends in or without one."""
    ids: dict[str, set[str]] = defaultdict(set)
    for one in known:
        for entry in one.entries:
            ids[entry.seal].add(entry.id)

    def was_shown(item: Item) -> bool:
        there = ids.get(_seal_of(item, seal), ())
        return any(id.endswith(item.id) if item.id else not id for id in there)

    return was_shown


def without(
    body: str, version: str, known: Sequence[PageVersion], seal: Seal, is_gone: Callable[[Item], bool]
) -> tuple[Entry, ...] | None:
    """
    The lines of the version that a region began with, without those that an erasure takes out of it; None where nobody knows it.

    What a person did to the other lines is still found against these.
    """
    sealed_items = [(item, _seal_of(item, seal)) for item in items(body)]
    base = _base(sealed_items, version, known)
    if base is None:
        return None
    gone = [(item.id, sealed) for item, sealed in sealed_items if item.statement and is_gone(item)]
    return tuple(
        entry for entry in base.entries if not any(entry.seal == sealed or (id and entry.id.endswith(id)) for id, sealed in gone)
    )


def _find_kept(sealed_items: Sequence[tuple[Item, str]], base: PageVersion) -> tuple[set[str], list[Item]]:
    """
    The ids of the version whose lines stand there with the words that they had, and all else that stands there.

    Lines that end in their own id are found first, then those without one, and last those under the id of another line.
    """
    left = list(base.entries)
    there: set[str] = set()
    for fits in (_has_its_id, _has_no_id, _has_words):
        rest: list[tuple[Item, str]] = []
        for item, sealed in sealed_items:
            same = next((one for one in left if one.seal == sealed and fits(item, one)), None)
            if same is None:
                rest.append((item, sealed))
            else:
                left.remove(same)
                there.add(same.id)
        sealed_items = rest
    return there, [item for item, _ in sealed_items]


def _has_its_id(item: Item, entry: Entry) -> bool:
    return item.id is not None and (not entry.id or entry.id.endswith(item.id))


def _has_no_id(item: Item, entry: Entry) -> bool:
    return item.id is None


def _has_words(item: Item, entry: Entry) -> bool:
    return bool(item.text)


def _base(sealed_items: Sequence[tuple[Item, str]], version: str, known: Sequence[PageVersion]) -> PageVersion | None:
    """The version that an edit began with: of those under its name the one that shares most lines with it, of equals the last."""
    lines = Counter(sealed for _, sealed in sealed_items)
    best: tuple[int, PageVersion] | None = None
    for one in known:
        if one.version == version:
            of_this = Counter(entry.seal for entry in one.entries)
            differing = sum((lines - of_this).values()) + sum((of_this - lines).values())
            if best is None or differing <= best[0]:
                best = (differing, one)
    return best[1] if best else None


def _named(item: Item, base: PageVersion, known: Sequence[PageVersion], there: Collection[str]) -> tuple[Item, str | None]:
    """An item, and the memory that it names: by the id at its end, or by one of this page that words were typed behind."""
    inside = region.with_id_inside(item) if item.statement else None
    if inside is not None and (id := _memory_named(inside, base, known, there)):
        return inside, id
    return item, _memory_named(item, base, known, there) if item.text else None


def _memory_named(item: Item, base: PageVersion, known: Sequence[PageVersion], there: Collection[str]) -> str | None:
    """The memory that a line names by its id; None where it names none, or stands beside the line that it was copied from."""
    if item.id is None:
        return None
    for one in (base, *reversed(known)):
        for entry in one.entries:
            if entry.id and entry.id.endswith(item.id):
                return None if entry.id in there else entry.id
    return None


def most_gone(edits: Edits, base_lines: int) -> bool:
    """Whether so many lines are gone that an accident is likelier than a wish; base_lines: those whose memories are in use."""
    return len(edits.removed) >= FEWEST_GONE and len(edits.removed) * 2 > base_lines
