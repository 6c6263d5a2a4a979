"""
What a turn of a person teaches, by rules alone: explicit statements, rules, preferences, plans, corrections and the rest.

A turn is cut into what its speaker says himself (clauses.py); each sentence is read for what it tells (told.py, with
the cues of english.py and chinese.py), and cut where it tells of several things (compound.py); what was taken back in the
same turn is dropped; the rest become drafts, with the slot they fill, their kind, weight, time to live (durations.py)
and names (entities.py). A draft keeps the speaker's words, and its quote stands in the turn as it is.

Precision comes before recall: an unsure rule stays silent, and the turn is still there. Questions, requests, suppositions,
made-up scenes, quoted, pasted and fenced text teach nothing; neither does any role but the user's.
What tools did is tools.py's: `of_tools`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from yiku.rules import importance, predicates, retract, slots
from yiku.rules.extract import clauses, compound, durations, entities, told
from yiku.rules.extract.clauses import HAN
from yiku.rules.extract.cues import compiled
from yiku.rules.extract.told import Taken, Told
from yiku.rules.extract.tools import of_tools
from yiku.types import Kind, Slot, Standing
from yiku.types.learning import Draft, Priority
from yiku.types.words import Relation

__all__ = ["drafts", "of_tools", "updates"]

AT_MOST = 24  # drafts of one turn
LONGEST_UPDATE = 400  # characters of a turn in which a passing word may change what is known
UNSURE = 0.6  # the confidence of what is hedged
LESSON = timedelta(days=7)  # how long an error is kept (S2-47)
FEELING = timedelta(days=30)  # how long a feeling is
# What a kind weighs at least; what a text says of itself may raise it.
_WEIGHTS = {Kind.RULE: 0.9, Kind.PREFERENCE: 0.8, Kind.PERSONA_TRAIT: 0.8, Kind.SKILL: 0.7, Kind.ERROR: 0.7, Kind.TASK: 0.7}
# Classes of phrases that tell what lasts, whatever time they name beside it.
_LASTING = frozenset("identity|as a|has|habit|health|relation|thing|trait|slot".split("|"))
# Where somebody stays for a while is no home that retires the one before.
_LODGING = r"\b(?:hotel|hostel|airbnb|motel|hospital|inn)\b|酒店|宾馆|旅馆|青旅|民宿|住院|退房"
_KNOWN = frozenset(predicate.name for predicate in predicates.PREDICATES)


def drafts(
    text: str,
    *,
    said_at: datetime,
    speaker: str | None = None,
    names: Sequence[str] = (),
    role: str = "user",
    enough: Callable[[], bool] = lambda: False,
) -> list[Draft]:
    """
    What a turn teaches, in its order.

    speaker: who says it, when that is not the owner; the first person is then the speaker
    names:   what the owner is called
    role:    whose turn it is; only a user's teaches
    enough:  asked before each sentence; once it is true the others are left out
    """
    if role != "user" or (importance.noise(text) and retract.marker(text) is None):
        return []
    found: list[Draft] = []
    before = False  # whether something stands in the turn that a «just kidding» may take back
    noted = clauses.note(text)
    for sentence in clauses.sentences(text):
        if enough():
            break
        for one in told.read(sentence, noted=noted):
            if isinstance(one, Told):
                found += _drafts(text, one, said_at, speaker, names)
            elif before:
                found.clear()
            else:
                found.append(_retraction(text, one))
        before = before or sentence.end - sentence.start > 3
    if any(draft.updates and draft.action == "state" for draft in found):
        found = [draft for draft in found if draft.action == "state" or "joked" in draft.tags]
    return found[:AT_MOST]


def updates(
    text: str, found: Sequence[Draft], *, said_at: datetime, speaker: str | None = None, names: Sequence[str] = ()
) -> list[Draft]:
    """
    What a turn may say anew of something known, and teaches nothing by itself: «standup moved to 10», 截止日期推迟到20号了.

    found: the drafts of the turn, whose words are left out. Worth keeping is what says something else of what is known already.
    """
    if len(text) > LONGEST_UPDATE or importance.noise(text):
        return []
    taken = [(start, start + len(draft.quote)) for draft in found if (start := text.find(draft.quote)) >= 0]
    passing: list[Draft] = []
    for sentence in clauses.sentences(text):
        for one in told.plain(sentence):
            if not any(one.start < end and start < one.end for start, end in taken):
                passing += _drafts(text, one, said_at, speaker, names)
    return passing


def _drafts(text: str, one: Told, said_at: datetime, speaker: str | None, names: Sequence[str]) -> Iterator[Draft]:
    """What is told, as one draft; as several where it fills several slots."""
    quote = text[one.start : one.end].strip(" \t\r\n,，;；:：")
    said = one.words + quote[one.drops :]
    plain = one.cue.kind is not Kind.RULE and not one.manner.hedged
    for part in (compound.parts(said, speaker=speaker, names=names) if plain else ()) or (compound.Part(0, len(said), said),):
        mine = quote if one.words else quote[part.start : part.end]
        yield _draft(one, mine, part.text, said_at, _slot(part.text, one, speaker, names))


def _draft(one: Told, quote: str, said: str, said_at: datetime, slot: Slot | None) -> Draft:
    kind = one.cue.kind if one.cue.kind is not Kind.FACT else slots.kind_of(slot)
    priority, expires_at = _lasts(quote, kind, one, said_at)
    return Draft(
        text=_sentence(said),
        quote=quote,
        rule=one.cue.name,
        kind=kind,
        standing=Standing.BELIEF if one.manner.hedged else Standing.FACT,
        slot=slot,
        importance=min(1.0, max(importance.score(quote), _WEIGHTS.get(kind, 0.0)) + (0.2 if one.manner.asked else 0.0)),
        confidence=UNSURE if one.manner.hedged else 1.0,
        priority=priority,
        expires_at=expires_at,
        session=one.cue.name == "rule for a task",
        updates=one.manner.updates,
        pinned=kind is Kind.RULE and one.cue.name != "rule for a task",
        entities=entities.found(quote),
        relations=_relations(slot),
    )


def _slot(words: str, one: Told, speaker: str | None, names: Sequence[str]) -> Slot | None:
    """The slot it fills; a rule fills none. What happened, or is to be done, does where the predicate is known: «I moved to Oslo»."""
    slot = None if one.manner.hedged or one.cue.kind is Kind.RULE else slots.read(words, speaker=speaker, names=names)
    if slot and slot.predicate == "lives in" and compiled(_LODGING).search(words.lower()):
        return None
    return slot if slot and (slot.predicate in _KNOWN or one.cue.kind in (Kind.FACT, Kind.PREFERENCE)) else None


def _retraction(text: str, one: Taken) -> Draft:
    quote = text[one.start : one.end].strip(" \t\r\n,，;；:：")
    return Draft(text=quote, quote=quote, rule="retraction", action="retract", tags=("joked",) if one.joked else ())


def _lasts(quote: str, kind: Kind, one: Told, said_at: datetime) -> tuple[Priority, datetime | None]:
    """How long it is kept: as its kind asks, else as its words say."""
    if kind in (Kind.RULE, Kind.PREFERENCE, Kind.SKILL, Kind.PERSONA_TRAIT, Kind.EXPERIENCE):
        return ("transient", None) if one.cue.name == "rule for a task" else ("permanent", None)
    if kind is Kind.ERROR:
        return "short_term", said_at + LESSON
    if kind is Kind.EMOTION:
        return "long_term", said_at + FEELING
    if one.cue.name in ("plan", "task"):
        over = durations.end_of(quote, said_at)
        return ("long_term", over) if over else ("permanent", None)
    priority, over = durations.of(quote, said_at)
    brief = over is not None and over - said_at <= durations.BRIEF
    return ("permanent", None) if (kind is Kind.EVENT or one.cue.name in _LASTING) and not brief else (priority, over)


def _sentence(quote: str) -> str:
    """A quote as a sentence: a capital where English has one, a stop at its end."""
    quote = quote.replace("**", "").replace("`", "")
    if HAN.search(quote):
        return quote if quote[-1] in "。！？!?.」”" else f"{quote}。"
    return f"{quote[0].upper()}{quote[1:]}" + ("" if quote[-1] in ".!?…" else ".")


def _relations(slot: Slot | None) -> tuple[Relation, ...]:
    return (Relation(slot.subject, slot.predicate, slot.object),) if slot else ()
