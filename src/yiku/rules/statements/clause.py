"""
Types of parsed text: clauses with mood and tense, typed values, slots, and parsed questions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from yiku.rules.lexicon import flags as F

USER = "user"  # the speaker of a turn, who is the owner where no other is named
AGENT = "agent"
KEPT = F.ALSO | F.CAN | F.DID | F.EVENT | F.EVERY | F.FOR_THIS | F.IT | F.JOKE | F.MANY | F.ONCE | F.OTHER | F.SLIP
KEPT |= F.TO_DO | F.UNTIL | F.YOU | F.YOUR | F.AHEAD | F.CHANGE | F.FROM_NOW | F.NOW | F.WILL  # of a clause
NOWHERE = (0, 0)  # where a clause names its subject that leaves it out


class Mood(StrEnum):
    """Grammatical and pragmatic mood of a clause."""

    ASSERTED = "asserted"
    ASKED = "asked"
    REQUESTED = "requested"
    SUPPOSED = "supposed"
    QUOTED = "quoted"  # or reported
    JOKED = "joked"


class Tense(StrEnum):
    """Tense of a clause."""

    NOW = "now"
    PAST = "past"
    PLANNED = "planned"


@dataclass(frozen=True, slots=True)
class Value:
    """
    A value in a clause.

    sort:        time, amount, place, person, name or thing
    start, end:  its place in the text
    text:        folded
    exact:       of a time: it names a day or an hour, and not a part of the day alone
    dated:       of a time: it names a day, and not an hour alone
    """

    sort: str
    start: int
    end: int
    text: str
    dated: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Slot:
    """
    A slot filled by a clause.

    subject:    USER, `user's sister`, a name; empty where unknown
    predicate:  of the lexicon
    noun:       of an attribute or an appointment, its words as said, folded: `retry limit`
    holder:     the thing that has an attribute, as said: `gateway`
    """

    subject: str
    predicate: str
    value: Value
    one: bool
    noun: str = ""
    denial: bool = False  # the predicate itself denies: does not like
    holder: str = ""


class _Has:
    """Whether a clause has a word of some classes."""

    def __init__(self, bits: int) -> None:
        self._bits = bits

    def __get__(self, clause: Clause, _: object) -> bool:
        return bool(clause.flags & self._bits)


@dataclass(frozen=True, slots=True)
class Clause:
    """
    A clause with its place in the text.

    start:    where its own words begin, behind what joins it to what stands before
    sentence: where its sentence stands, as (start, end)
    flags:    of the bits of the classes of its words (lexicon/flags.py) those that are KEPT
    subject:  USER, AGENT, `user's sister`, `@name` or the words of a thing; empty where it is unknown, `?` where unsure
    called:   other names of the subject that the text gave: `user's sister` is ann
    named:    the words that name its subject here, as (start, end); both 0 where it has none of its own
    meant:    what stands for its subject where the clause alone does not say it: `my husband Tom` for `he`
    cue:      corrects, changes, ends, retracts, remembers, or nothing
    content:  its content words by their one name in both languages
    about:    those of them before its verb
    beside:   those without its values and its cue
    bare:     it says nothing beside its cue
    rule:     it tells the agent what to do from now on
    tells:    where what is to be remembered begins, behind the words that ask for it
    material: it hands something in to be worked on (text), sets a scene (fiction), or is how an assistant speaks (assistant)
    """

    start: int
    end: int
    sentence: tuple[int, int]
    flags: int = field(compare=False)
    subject: str
    called: frozenset[str]
    named: tuple[int, int]
    meant: str
    mood: Mood
    tense: Tense
    denied: bool
    hedged: bool
    cue: str
    values: tuple[Value, ...]
    slots: tuple[Slot, ...]
    content: frozenset[str]
    about: frozenset[str]
    beside: frozenset[str]
    bare: bool
    rule: bool
    tells: int
    material: str

    @property
    def plain(self) -> bool:
        """Whether it asserts something about the present without a hedge."""
        return self.mood is Mood.ASSERTED and self.tense is Tense.NOW and not self.hedged

    @property
    def upcoming(self) -> bool:
        """Whether it says what will hold: next month I will work at Globex, 明年我要搬到深圳. An appointment holds now."""
        flags = self.flags
        ahead = bool(flags & F.AHEAD) and not flags & F.UNTIL
        will = bool(flags & F.WILL) and not flags & F.FROM_NOW and bool(flags & F.CHANGE or not flags & (F.NOW | F.EVERY))
        return (ahead or will) and not any(slot.value.sort == "time" for slot in self.slots)

    @property
    def who(self) -> frozenset[str]:
        """All names of its subject; empty if unknown."""
        return self.called | {self.subject} if self.subject else frozenset()

    @property
    def explicit(self) -> bool:
        """Whether it names its subject."""
        return self.named != NOWHERE

    also = _Has(F.ALSO)  # it adds to what was said before
    many = _Has(F.MANY)  # its verb takes many things: one reads several books
    slip = _Has(F.SLIP)  # it corrects what its speaker said wrongly: a typo
    jest = _Has(F.JOKE)  # it says that something was a joke
    task = _Has(F.FOR_THIS)  # what it orders is for the task or session at hand alone
    to_do = _Has(F.TO_DO)  # what is to be remembered is to be done
    possible = _Has(F.CAN)  # it tells what can be
    habit = _Has(F.EVERY)  # it tells what is so again and again
    event = _Has(F.EVENT)  # it tells of something that is arranged for a time

    @property
    def alone(self) -> bool:
        """Whether it is self-contained: no `this`, no `he`."""
        return not self.flags & (F.IT | F.OTHER | F.YOU | F.YOUR)


@dataclass(frozen=True, slots=True)
class Asked:
    """
    A parsed question.

    sort:      of the value: time, amount, place, person, thing, or yes (or no)
    subjects:  whom it names; empty where nobody
    wanted:    predicates of the lexicon that it asks for
    content:   its content words, without those of asking, change and time
    several:   it asks for a list, a count, a comparison
    before:    it asks how it was
    around:    content words of the conversation that it is asked in
    """

    sort: str
    subjects: frozenset[str]
    wanted: frozenset[str]
    content: frozenset[str]
    several: bool
    before: bool
    around: frozenset[str] = frozenset()
