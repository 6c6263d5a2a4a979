"""
Detect duplicates equal after normalization, vet merges that a model proposes, choose the one to keep and merge.

Two statements are duplicates only if every word that can distinguish them is equal: after width, case, contractions and
Chinese variants are folded, values are brought into one form as of the day they were said, and words that add nothing
(`also`, 其实) are dropped, the same words must remain in the same order. `dark theme` and `light theme` differ in a word, so
they are two. How many words two texts share never decides; it only says which pairs are looked at.

A pair that differs in other words is left to a model, if there is one; whatever it says, what the two name, count, date and
deny must be equal (`may_merge`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from yiku.rules.lexicon import built_in, lists
from yiku.rules.lexicon import flags as F
from yiku.rules.statements.clause import AGENT, Clause
from yiku.rules.statements.read import read
from yiku.rules.statements.values import values
from yiku.rules.text.analyze import tokens
from yiku.rules.text.folding import folded
from yiku.rules.text.words import words
from yiku.rules.values import canonical
from yiku.types import Kind, SemanticMemory, Standing

DISTANCE = 0.15  # up to which two texts are shown to a model together (S3-170): it makes candidates, it decides nothing
LONGEST = 300  # characters; a longer text is a story, which is never merged
SAME_DAY = timedelta(hours=24)  # what happened is one event only if it was told twice within this time
HAPPENINGS = frozenset({Kind.EVENT, Kind.TASK, Kind.EMOTION, Kind.EXPERIENCE})
_COUNTED = ("time", "amount")
_PUNCTUATION = frozenset(".,;:!\"'()[]{}…。，；：！、“”‘’「」『』（）《》【】~～—-·*`")
_FROM_CONTEXT = F.IT | F.OTHER | F.YOU | F.YOUR  # words that mean something only where they were said
_ON_A_DAY = re.compile(r"@\d{4}-")  # a date with its year


@dataclass(frozen=True, slots=True)
class Form:
    """
    What a text says, with nothing that makes no difference.

    words:   in order, values in one form
    aspects: particles, wherever they stand
    context: it has words that mean something only where it was said
    moment:  it has words that mean something else on another day
    """

    words: tuple[str, ...]
    aspects: str
    context: bool
    moment: bool


def form(text: str, said_at: datetime, *, without: int = 0) -> Form | None:
    """
    Return the form of a statement as of the time it was said; None for what is too long, or says nothing.

    without: classes of words that are left out, too: those of a hedge
    """
    if len(text) > LONGEST:
        return None
    small = folded(text)
    found = words(small, 0, len(small), built_in())
    spans = {value.start: value for value in values(text, found) if value.sort in _COUNTED}
    said: list[str] = []
    end, context, moment = 0, 0, lists.has(small, "night.moment")
    left_out = False
    for word in found:
        left_out = bool(word.flags & without) or (left_out and word.inside)
        if left_out:
            continue
        if word.start in spans and word.start >= end:
            value, end = spans[word.start], spans[word.start].end
            said.append(canonical.form(text[value.start : value.end], said_at))
            moment = moment or (value.sort == "time" and not _ON_A_DAY.match(said[-1]))
        context |= word.flags & _FROM_CONTEXT
        if word.start >= end and not (word.sign and word.text in _PUNCTUATION):
            said.append(lists.named("night.written").get(word.text, word.text))
    joined = _without_fillers(said)
    aspects = "".join(sorted(character for piece in joined for character in piece if character in _aspects()))
    kept = tuple(left for piece in joined if (left := piece.translate(dict.fromkeys(map(ord, _aspects())))))
    return Form(kept, aspects, bool(context), moment) if kept else None


@cache
def _aspects() -> frozenset[str]:
    """Particles that move within a sentence and still distinguish what was from what is: 了."""
    return lists.words("night.aspects")


def _without_fillers(said: Sequence[str]) -> list[str]:
    """Drop words that add nothing; Chinese is joined first, since its words have no borders."""
    dropped, found = lists.words("night.filler"), list[str]()
    for piece in said:
        if found and not piece.isascii() and not found[-1].isascii():
            found[-1] += piece
        elif piece not in dropped and piece not in lists.words("night.article"):
            found.append(piece)
    pieces = (_in_run().sub("", _before_verb().sub("", piece)) if not piece.isascii() else piece for piece in found)
    return [piece for piece in pieces if piece]


@cache
def _in_run() -> re.Pattern[str]:
    """The fillers of scripts without spaces."""
    wide = sorted((word for word in lists.words("night.filler") if not word.isascii()), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, wide)))


@cache
def _before_verb() -> re.Pattern[str]:
    """Words of degree in front of a verb of feeling: 非常喜欢."""
    degrees, felt = ("|".join(map(re.escape, sorted(lists.words(name)))) for name in ("night.degree", "night.felt"))
    return re.compile(f"(?:{degrees})(?={felt})")


# ------------------------------------------------------------------ who may be compared


def comparable(one: SemanticMemory, other: SemanticMemory) -> bool:
    """Whether two live statements may be one at all: of one kind, standing, project, agent and time of life."""
    same = all(getattr(one, name) == getattr(other, name) for name in _EQUAL)
    if not same or one.metadata != other.metadata or one.flag or other.flag or (one.external_id and other.external_id):
        return False
    if one.kind in HAPPENINGS and abs(one.said_at - other.said_at) > SAME_DAY:
        return False
    if one.subject and other.subject and one.subject != other.subject:
        return False
    return one.predicate == other.predicate or not (one.predicate and other.predicate)


_EQUAL = (
    "kind",
    "state",
    "scope",
    "project",
    "agent",
    "expires_at",
    "auto_delete_at",
    "ttl_days",
    "valid_to",
    "half_life_days",
    "priority",
)


def same(one: SemanticMemory, other: SemanticMemory) -> bool:
    """Whether two statements certainly say the same."""
    if not comparable(one, other) or not _same_speaker(one, other):
        return False
    first, second = form(one.content, one.said_at), form(other.content, other.said_at)
    if first is None or first != second:
        return False
    if first.moment and abs(one.said_at - other.said_at) > SAME_DAY:
        return False
    return not first.context or bool(_sessions(one) & _sessions(other))


def _same_speaker(one: SemanticMemory, other: SemanticMemory) -> bool:
    """Whether the same people said both: their I is the same."""
    first, second = ({source.actor for source in memory.sources} for memory in (one, other))
    return first == second or not first or not second


def _sessions(memory: SemanticMemory) -> set[str]:
    return {source.session for source in memory.sources if source.session}


# ------------------------------------------------------------------ what a model may merge


def distance(one: str, other: str) -> float:
    """Return 1 minus the share of index terms that the shorter text has in common with the other: 0 if it has no other."""
    first, second = (frozenset(tokens(text).words) for text in (one, other))
    return 1 - len(first & second) / min(len(first), len(second)) if first and second else 1.0


def may_merge(keep: SemanticMemory, drop: SemanticMemory) -> str | None:
    """
    Return why a model's word that two statements say the same does not count; None if it does.

    Everything that a merge could lose is checked by rules: subject, mood, tense, denial, hedge, numbers, times, names, and
    every content word of what is dropped.
    """
    if not comparable(keep, drop) or not _same_speaker(keep, drop):
        return "not comparable"
    first, second = read(keep.content), read(drop.content)
    if len(first) != 1 or len(second) != 1:
        return "more than one clause"
    one, other = first[0], second[0]
    if one.who != other.who or AGENT in (one.subject, other.subject) or "?" in (one.subject, other.subject):
        return "subject"
    for name in ("mood", "tense", "denied", "hedged", "rule", "possible", "habit"):
        if getattr(one, name) != getattr(other, name):
            return name
    if {slot.predicate for slot in one.slots} != {slot.predicate for slot in other.slots}:
        return "slot"
    if _values_of(keep, one) != _values_of(drop, other):
        return "value"
    if not (one.alone and other.alone):
        return "context"
    return "detail" if _lacks(keep, one.content, other.content) else None


def _lacks(keep: SemanticMemory, held: frozenset[str], wanted: frozenset[str]) -> bool:
    """Whether a text lacks a content word of another; of what has no spaces between its words, one that stands nowhere in it."""
    text = folded(keep.content)
    return any(word.isascii() or word not in text for word in wanted - held)


def _values_of(memory: SemanticMemory, clause: Clause) -> frozenset[str]:
    """What a clause names and counts, each in one form."""
    texts = (memory.content[value.start : value.end] for value in (*clause.values, *(slot.value for slot in clause.slots)))
    return frozenset(canonical.form(text, memory.said_at) for text in texts)


# ------------------------------------------------------------------ which one stays


def best(cluster: Iterable[SemanticMemory]) -> SemanticMemory:
    """Return the statement to keep: pinned, named from outside, most trusted, most often told, longest, said first."""
    return min(
        cluster,
        key=lambda row: (
            not row.pinned,
            row.external_id is None,
            row.slot is None,
            -row.trust,
            -len(row.sources),
            -row.importance,
            -len(row.content),
            row.said_at,
            row.id,
        ),
    )


def loses(keep: SemanticMemory, drop: SemanticMemory) -> bool:
    """Whether a merge would lose what only the dropped row holds: names of entities, relations, a basis."""
    if {*drop.entities} - {*keep.entities} or {*drop.relations} - {*keep.relations}:
        return True
    return bool(drop.basis and drop.basis != keep.basis) or drop.standing is Standing.SUMMARY


def merged(keep: SemanticMemory, drop: SemanticMemory) -> dict[str, object]:
    """Return the columns of the kept row after a merge: counters are added, the earlier beginning and the later end of both count."""
    columns: dict[str, object] = {
        "importance": max(keep.importance, drop.importance),
        "confidence": max(keep.confidence, drop.confidence),
        "strength": max(keep.strength, drop.strength),
        "confirmed_at": max(keep.confirmed_at, drop.confirmed_at),
        "pinned": keep.pinned or drop.pinned,
    }
    for name in ("retrieved", "used", "mentioned"):
        columns[name] = getattr(keep, name) + getattr(drop, name)
        last = [at for row in (keep, drop) if (at := getattr(row, f"last_{name}"))]
        columns[f"last_{name}"] = max(last, default=None)
    if drop.said_at < keep.said_at:
        columns |= {"said_at": drop.said_at, "place": drop.place, "valid_from": min(keep.valid_from, drop.valid_from)}
    if tags := {*drop.tags} - {*keep.tags}:
        columns["tags"] = tuple(sorted({*keep.tags, *tags}))
    return {name: value for name, value in columns.items() if getattr(keep, name) != value}
