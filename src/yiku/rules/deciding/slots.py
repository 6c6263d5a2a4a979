"""
Determine a statement's slot (subject, predicate, object), whether it is past, undecided, a rule; index its words.

A single-valued predicate (home, employer, version, deadline) holds one object at a time; a multi-valued one (likes, uses,
owns) holds many; of any other nobody knows yet. The key says what cannot both hold (rules/statements/keys.py).

Precision comes first: only a text that is one plain statement fills a slot. What is past, planned, hedged, asked,
supposed or reported fills none. A memory is found by its words, and by those of its slot (index_tokens).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from yiku.rules.lexicon import built_in, lists
from yiku.rules.lexicon import flags as F
from yiku.rules.statements import keys
from yiku.rules.statements.clause import AGENT, Clause, Mood, Tense
from yiku.rules.statements.clause import Slot as Filled
from yiku.rules.statements.keys import USER
from yiku.rules.statements.read import read as clauses
from yiku.rules.statements.slots import SCHEDULED
from yiku.rules.text.analyze import fold, normal, tokens
from yiku.rules.values import canonical
from yiku.types import Cardinality, Kind, SemanticMemory, Slot, Tokens

LONGEST_STATEMENT = 300  # characters; a longer text is a story, not a statement


def read(text: str, *, speaker: str | None = None, names: Sequence[str] = ()) -> Slot | None:
    """
    Return the slot that a text fills, None unless it is one plain statement about the present.

    speaker: who says it, when that is not the owner; the first person is then the speaker
    names:   what the owner is called; these resolve to USER
    """
    if len(text) > LONGEST_STATEMENT:
        return None
    candidates = [clause for clause in clauses(text) if not clause.bare or clause.mood is Mood.ASKED]
    stating = [(clause, filled) for clause in candidates if (filled := plain_slot(clause)) is not None]
    if not stating:
        return None
    said = {id(clause) for clause, _ in stating}
    if any(_stands_beside(other, *stating[0]) for other in candidates if id(other) not in said):
        return None
    first, *others = [slot_for(text, clause, filled, speaker=speaker, names=names) for clause, filled in stating]
    again = all(first.key == other.key and canonical.form(first.object) == canonical.form(other.object) for other in others)
    return first if again else None  # one in English and again in Chinese is one


def plain_slot(clause: Clause, *, hedged: bool = False) -> Filled | None:
    """
    Return the slot of a clause that asserts something of now about a known subject, not what will be.

    hedged: one that is hedged fills it, too
    """
    states = clause.mood is Mood.ASSERTED and clause.tense is Tense.NOW and not clause.possible
    states = states and not clause.upcoming and (hedged or not clause.hedged)
    return filled_by(clause) if states and is_of_somebody(clause) else None


def filled_by(clause: Clause) -> Filled | None:
    """Choose the slot that a clause fills: that of its own subject, or the opposite of the one it denies."""
    own = [slot for slot in clause.slots if slot.subject in (clause.subject, USER)]
    filled = min(own, key=lambda slot: slot.predicate == SCHEDULED, default=None)  # of one value the deadline before the date
    if filled is None or filled.denial or not (clause.denied or clause.cue == "ends"):
        return filled
    denial = next((one.name for one in built_in().predicates.values() if one.opposite == filled.predicate), None)
    return replace(filled, predicate=denial, denial=True) if denial else None  # I no longer use Vim


def is_of_somebody(clause: Clause) -> bool:
    """Whether the subject of a clause is known, not guessed, and not the agent."""
    known = clause.subject not in ("", "?", AGENT)
    return known and bool(clause.explicit or clause.meant or clause.start == 0)


def _stands_beside(other: Clause, clause: Clause, filled: Filled) -> bool:
    """Whether a clause adds something to the statement: not its denial ("not Oslo"), nor an announcement of the change."""
    if other.mood is Mood.ASKED:
        return other.bare and other.sentence == clause.sentence  # is that right?
    if other.tense is Tense.PAST:
        return False
    denies = other.denied and all(slot.predicate == filled.predicate for slot in other.slots)
    leads = other.start < clause.start and other.cue and not other.values and not other.slots
    return not (denies or leads)


def slot_for(text: str, clause: Clause, filled: Filled, *, speaker: str | None = None, names: Sequence[str] = ()) -> Slot:
    """Return the slot of a clause as it is stored: canonical subject and predicate, the object as said."""
    subject = _subject(text, clause, filled, speaker, names)
    object_ = normal(text[filled.value.start : filled.value.end]).strip(keys.EDGES)
    one_of_many = subject.rpartition("'s ")[2] in lists.words("slots.many_kin")  # my friend lives in Rome: which of them?
    many = Cardinality.MULTI if not filled.one else Cardinality.UNKNOWN if clause.also or one_of_many else Cardinality.SINGLE
    if filled.predicate == SCHEDULED:
        whose = f"{subject}'s {filled.noun}" if "'s " in clause.subject else filled.noun or subject
        return keys.finished(whose, "date" if filled.value.dated else "time", object_, many)
    if filled.noun:
        owned = filled.subject == USER or "'s " in filled.subject or filled.subject.startswith("@")
        whose = subject if owned else keys.subject_of(filled.holder, speaker, names) if filled.holder else USER
        noun = filled.noun if not (owned and filled.holder) else f"{filled.holder} {filled.noun}"  # our project's deadline
        return keys.finished(whose, keys.predicate_name(noun), object_, many)
    return keys.finished(subject, filled.predicate, object_, many)


def _subject(text: str, clause: Clause, filled: Filled, speaker: str | None, names: Sequence[str]) -> str:
    mine = keys.subject_of("", speaker, names)
    if USER in (filled.subject, clause.subject):
        return mine
    if clause.subject.startswith(f"{USER}'s "):
        return f"{mine}{clause.subject[len(USER) :]}"
    named = text[slice(*clause.named)] if clause.subject.startswith("@") else ""
    return keys.subject_of(named or clause.subject.removeprefix("@"), speaker, names)


def stated(
    subject: str,
    predicate: str,
    object_: str | None,
    cardinality: Cardinality | None,
    *,
    speaker: str | None = None,
    names: Sequence[str] = (),
) -> Slot:
    """Return a slot named by the caller, in canonical form."""
    name = keys.predicate_name(predicate)
    many = cardinality or keys.cardinality_of(name, object_ or "")
    return keys.finished(
        keys.statement_subject(subject, speaker, names), name, (object_ or "").strip(), many, told=cardinality is not None
    )


def is_past(text: str, of: str | None = None) -> bool:
    """
    Whether a text is about a state that has ended (I used to live in Oslo), not about a single event.

    of: the value that is spoken of, where the caller named it: one clause may tell how it is, another how something was
    """
    assertions = _telling(text)
    if of is not None and fold(of) in fold(text):
        assertions = [clause for clause in assertions if fold(of) in fold(text[clause.start : clause.end])] or assertions
    return bool(assertions) and all(_is_over(clause) for clause in assertions)


def _is_over(clause: Clause) -> bool:
    state = clause.flags & (F.ONCE | F.DID | F.UNTIL) and clause.cue not in ("changes", "ends")
    return clause.tense is Tense.PAST and bool(state) and clause.mood is Mood.ASSERTED


def is_open(text: str) -> bool:
    """Whether everything in a text is planned, wished, hearsay or undecided."""
    assertions = _telling(text)
    return bool(assertions) and all(
        clause.hedged or (clause.tense is Tense.PLANNED and not clause.possible) or clause.mood in (Mood.SUPPOSED, Mood.QUOTED)
        for clause in assertions
    )


def _telling(text: str) -> list[Clause]:
    if len(text) > LONGEST_STATEMENT:
        return []
    return [clause for clause in clauses(text) if not clause.bare and clause.mood is not Mood.ASKED]


def is_rule(text: str) -> bool:
    """Whether a text is one sentence that tells the agent what to do at any time: "Always answer in English."."""
    assertions = _telling(text)
    return any(clause.rule and not clause.task for clause in assertions) and len({clause.sentence for clause in assertions}) == 1


def kind_of(slot: Slot | None) -> Kind:
    """Return the kind that a slot implies."""
    known = built_in().predicates.get(slot.predicate) if slot else None
    return Kind(known.kind) if known and known.name != SCHEDULED else Kind.FACT


# ------------------------------------------------------------------ in the index


def index_tokens(memory: SemanticMemory) -> Tokens:
    """Return the index terms of a memory: its words, and its slot where the words lack it. Constant for a row."""
    slot = (part for part in (memory.subject, memory.predicate, memory.object) if part and part != USER)
    return tokens(" ".join([memory.content, *(part for part in slot if part.casefold() not in memory.content.casefold())]))
