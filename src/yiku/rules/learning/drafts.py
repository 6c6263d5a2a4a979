"""
Draft statements from the clauses of a turn: what to remember, standing rules, plain facts, arrangements.

Plain facts are statements of known predicates, and what most readers would keep (worth.py). Search finds the rest in the turns.
A draft is one clause. It is understood without its turn: whom a pronoun or a left-out subject means stands in it, and
its quote stands in the turn as it was said. What is asked, supposed, reported or quoted teaches nothing; what is past or
planned fills no slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from yiku.rules.deciding import retract
from yiku.rules.deciding import slots as stored
from yiku.rules.learning import durations, entities, importance, worth
from yiku.rules.lexicon import built_in
from yiku.rules.statements import keys
from yiku.rules.statements.clause import AGENT, USER, Clause, Mood, Tense
from yiku.rules.statements.moods import COLONS
from yiku.rules.statements.read import read
from yiku.rules.text.analyze import UNSPACED_RUN
from yiku.rules.text.sentences import MARKS, WIDE_STOP
from yiku.types import Cardinality, Kind, Slot, Standing
from yiku.types.learning import Draft
from yiku.types.memories import Relation

TALK = 3_000  # characters; what is longer was not typed as talk
ENDS = 600  # characters of such a turn that are read, at either end
ASIDE = 200  # characters beside a task on a text that are the speaker's own
AT_MOST = 24  # drafts of one turn
LONGEST = 300  # characters of a statement; what is longer is a story
UNSURE = 0.6  # the confidence of what is hedged
WEIGHT = {Kind.RULE: 0.9, Kind.PREFERENCE: 0.8, Kind.EVENT: 0.7}  # importance, at least
ASKED_FOR = 0.2  # more of it for what one asks to remember


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
    Return drafts of the statements that a turn teaches, in order.

    speaker: who says it, when that is not the owner; the first person is then the speaker
    names:   what the owner is called
    role:    whose turn it is; only a user's teaches
    enough:  asked before each clause; once it is true the others are left out
    """
    if role != "user":
        return []
    found: list[Draft] = []
    for _, part in _parts(text):
        found += _of_part(part, said_at, speaker, names, enough)
    return found[:AT_MOST]


def clauses_of(text: str) -> Iterator[tuple[int, str, Clause]]:
    """Yield the speaker's own clauses of a turn, each with its part of the text and where that begins."""
    for start, part in _parts(text):
        yield from ((start, part, clause) for clause in _own_words(part, read(part)))


def _parts(text: str) -> tuple[tuple[int, str], ...]:
    """Return the parts of a turn that are read: all of it, or both ends of a pasted text."""
    return ((0, text),) if len(text) <= TALK else ((0, text[:ENDS]), (len(text) - ENDS, text[-ENDS:]))


def _of_part(text: str, said_at: datetime, speaker: str | None, names: Sequence[str], enough: Callable[[], bool]) -> list[Draft]:
    found: list[Draft] = []
    read_until = 0  # what was asked to be remembered, or ordered, goes on to the end of its sentence
    stated_until = -1  # the end of the last statement
    told = False  # whether something stands in the turn that `just kidding` may take back
    for clause in _own_words(text, read(text)):
        if enough():
            break
        if clause.start < read_until or clause.mood is Mood.QUOTED:
            continue
        if retract.takes_back(text, clause):
            if told:
                found.clear()
            else:
                found.append(_retraction(text, clause))
        elif clause.tells:
            read_until = clause.sentence[1]
            found += _remembered(text, clause, said_at, speaker, names)
        elif clause.rule:
            read_until = clause.sentence[1]
            found += _rule(text, clause, clause.start if stated_until > clause.sentence[0] else clause.sentence[0])
        else:
            stated = [*_stated(text, clause, said_at, speaker, names)]
            stated_until = clause.end if stated else stated_until
            found += stated
        told = True
    return found


def _own_words(text: str, clauses: Sequence[Clause]) -> Sequence[Clause]:
    """Return the speaker's own clauses: no fiction, and no material handed in to be worked on."""
    if any(clause.material in ("fiction", "assistant") for clause in clauses):
        return ()
    place = next((n for n, clause in enumerate(clauses) if clause.material), None)
    if place is None:
        return clauses
    start, end = clauses[place].sentence
    before = [clause for clause in clauses if clause.sentence[1] <= start] if start <= ASIDE else []
    handed = len(text) - end > ASIDE or text[clauses[place].end : clauses[place].end + 1] in COLONS or "\n" in text[end:].strip()
    return before if handed else [*before, *(clause for clause in clauses if clause.sentence[0] >= end)]


def _retraction(text: str, clause: Clause) -> Draft:
    quote = text[clause.start : clause.end]
    tags = ("joked",) if clause.mood is Mood.JOKED else ()
    return Draft(text=quote, quote=quote, rule="retraction", action="retract", tags=tags)


def _rule(text: str, clause: Clause, start: int) -> Iterator[Draft]:
    """Draft a rule for the agent with its whole sentence, which says when it applies."""
    quote = text[start : clause.sentence[1]].strip()
    if len(quote) <= LONGEST:
        yield Draft(
            text=_sentence(quote),
            quote=quote,
            rule="rule for a task" if clause.task else "rule",
            kind=Kind.RULE,
            importance=max(WEIGHT[Kind.RULE], importance.score(quote)),
            priority="transient" if clause.task else "permanent",
            session=clause.task,
            pinned=not clause.task,
            entities=entities.extract(quote),
        )


def _remembered(text: str, clause: Clause, said_at: datetime, speaker: str | None, names: Sequence[str]) -> Iterator[Draft]:
    """Draft what the user asks to remember, to the end of the sentence, with its slot if it is one plain statement."""
    told = text[clause.tells : clause.sentence[1]].strip(" \t\r\n,，:：;；")
    if not told or len(told) > LONGEST or clause.mood is Mood.ASKED:
        return
    inside = read(told)
    if not inside or len(inside[0].content) < worth.LEAST or not (inside[0].alone or inside[0].subject):
        return
    if any(one.mood is Mood.ASKED or one.subject == AGENT for one in inside):
        return
    stated = [draft for one in inside for draft in _stated(told, one, said_at, speaker, names)]
    if len(inside) == len(stated) == 1 or (len(stated) > 1 and len(inside) == len(stated)):
        yield from (_asked_for(draft) for draft in stated)
    else:
        priority, over = durations.of(told, said_at)
        lasting = over is None or priority == "permanent"
        yield _asked_for(
            Draft(
                text=_sentence(told),
                quote=told,
                rule="asked to remember",
                kind=Kind.TASK if clause.to_do else Kind.FACT,
                importance=importance.score(told),
                expires_at=None if lasting else durations.end_of(told, said_at),
                entities=entities.extract(told),
            )
        )


def _asked_for(draft: Draft) -> Draft:
    return replace(draft, rule="asked to remember", importance=min(1.0, draft.importance + ASKED_FOR))


def _stated(text: str, clause: Clause, said_at: datetime, speaker: str | None, names: Sequence[str]) -> Iterator[Draft]:
    """Draft a plain statement of a known predicate, an appointment, or anything else worth keeping."""
    if clause.mood is not Mood.ASSERTED or clause.end - clause.start > LONGEST or clause.subject in (AGENT, "?"):
        return
    if (filled := stored.plain_slot(clause, hedged=True)) is not None:
        slot = stored.slot_for(text, clause, filled, speaker=speaker, names=names)
        kind = Kind(built_in().predicates[filled.predicate].kind) if filled.predicate in built_in().predicates else Kind.FACT
        yield _draft(text, clause, said_at, kind, None if clause.hedged else slot)
        if (named := _called(text, clause)) is not None and not clause.hedged:
            yield named
    elif (arranged := _arranged(text, clause, said_at)) is not None:
        yield arranged
    elif worth.is_worth_keeping(text, clause):
        yield _draft(text, clause, said_at, Kind.FACT, None)


def _arranged(text: str, clause: Clause, said_at: datetime) -> Draft | None:
    """Draft an appointment in the future, or a change with its date; what recurs (every year on June 5) is a lasting fact."""
    if clause.hedged or clause.denied or clause.possible or clause.tense is Tense.PAST:
        return None
    if not (clause.event or (clause.slots and clause.tense is Tense.NOW)):
        return None
    if clause.subject != USER or not stored.is_of_somebody(clause) or not any(value.dated for value in clause.values):
        return None
    arranged = _draft(text, clause, said_at, Kind.EVENT, None)
    if arranged.expires_at is None:
        return None
    return (
        replace(_draft(text, clause, said_at, Kind.FACT, None), priority="permanent", expires_at=None) if clause.habit else arranged
    )


def _draft(text: str, clause: Clause, said_at: datetime, kind: Kind, slot: Slot | None) -> Draft:
    quote = text[clause.start : clause.end]
    over = durations.end_of(quote, said_at) if kind is Kind.EVENT else None
    priority, brief = durations.of(quote, said_at) if kind is Kind.FACT and slot is None else ("permanent", None)
    return Draft(
        text=_sentence(_resolved(text, clause)),
        quote=quote,
        rule="arranged" if kind is Kind.EVENT and slot is None else "statement",
        kind=kind,
        updates=clause.cue == "corrects",
        standing=Standing.BELIEF if clause.hedged else Standing.FACT,
        slot=slot,
        importance=min(1.0, max(importance.score(quote), WEIGHT.get(kind, 0.5))),
        confidence=UNSURE if clause.hedged else 1.0,
        priority="long_term" if over else priority,
        expires_at=over or brief,
        entities=entities.extract(quote),
        relations=(Relation(slot.subject, slot.predicate, slot.object),) if slot else (),
    )


def _called(text: str, clause: Clause) -> Draft | None:
    """Draft the name that a clause gives in passing: my sister Ann."""
    if "'s " not in clause.subject or not clause.called or clause.named == (0, 0):
        return None
    quote = text[slice(*clause.named)]
    name = quote.split()[-1] if " " in quote else next((each[1:] for each in clause.called if quote.endswith(each[1:])), "")
    if not name or f"@{name}".casefold() not in {each.casefold() for each in clause.called} or len(name) == len(quote):
        return None
    slot = keys.finished(clause.subject, "name", name, Cardinality.SINGLE)
    return Draft(
        text=_sentence(quote), quote=quote, rule="name", slot=slot, relations=(Relation(slot.subject, slot.predicate, slot.object),)
    )


def _resolved(text: str, clause: Clause) -> str:
    """Return the words of a clause with its pronoun or omitted subject resolved."""
    said = text[clause.start : clause.end]
    if not clause.meant:
        return said
    start, end = (place - clause.start for place in clause.named)
    if clause.named == (0, 0):
        return f"{clause.meant}{said}" if UNSPACED_RUN.match(said) else f"{clause.meant} {said}"
    return f"{said[:start]}{clause.meant}{said[end:]}"


def _sentence(said: str) -> str:
    """Format words as a sentence: a capital in English, a full stop at the end."""
    said = said.replace("**", "").replace("`", "").strip()
    if UNSPACED_RUN.search(said):
        return said if said[-1] in f"{MARKS}」”" else f"{said}{WIDE_STOP}"
    return f"{said[0].upper()}{said[1:]}" + ("" if said[-1] in f"{MARKS}…" else ".")
