"""
What a reading gives: the clauses of a text, and what a question asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

USER = "user"  # the speaker of a turn, who is the owner where no other is named
AGENT = "agent"


class Mood(StrEnum):
    """How a clause is said."""

    ASSERTED = "asserted"
    ASKED = "asked"
    REQUESTED = "requested"
    SUPPOSED = "supposed"
    QUOTED = "quoted"  # or reported
    JOKED = "joked"


class Tense(StrEnum):
    """Of which time a clause tells."""

    NOW = "now"
    PAST = "past"
    PLANNED = "planned"


@dataclass(frozen=True, slots=True)
class Value:
    """
    Something that a clause names as a value.

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
    What a clause fills.

    subject:    USER, `user's sister`, a name; empty where unknown
    predicate:  of the lexicon
    topic:      the content words beside it that say which one is meant: `retry` of the retry limit
    noun:       of an attribute or an appointment, its words as said, folded: `gateway retry limit`
    """

    subject: str
    predicate: str
    topic: frozenset[str]
    value: Value
    one: bool
    noun: str = ""
    denial: bool = False  # the predicate itself denies: does not like


@dataclass(frozen=True, slots=True)
class Clause:
    """
    One clause of a text, where it stands.

    start:    where its own words begin, behind what joins it to what stands before
    subject:  USER, AGENT, `user's sister`, `@name` or the words of a thing; empty where it is unknown, `?` where unsure
    named:    the words that name its subject here, as (start, end); both 0 where it has none of its own
    meant:    what stands for its subject where the clause alone does not say it: `my husband Tom` for `he`
    rule:     it tells the agent what to do from now on
    task:     and only for the task or session at hand
    possible: it tells what can be
    alone:    it points at nothing outside of it: no `this`, no `he`
    habit:    it tells what is so again and again
    event:    it tells of something that is arranged for a time
    to_do:    what is to be remembered is to be done
    tells:    where what is to be remembered begins, behind the words that ask for it
    slip:     it corrects what its speaker said wrongly: a typo
    beside:   its content words without those of its values and its cue
    jest:     it says that something was a joke
    bare:     it says nothing beside its cue
    sentence: where its sentence stands, as (start, end)
    material: it hands something in to be worked on (text), sets a scene (fiction), or is how an assistant speaks (assistant)
    called:   other names of the subject that the text gave: `user's sister` is ann
    also:     it adds to what was said before
    cue:      corrects, changes, ends, retracts, remembers, or nothing
    content:  its content words by their one name in both languages
    """

    start: int
    end: int
    subject: str
    called: frozenset[str]
    about: frozenset[str]  # the content words before its verb
    explicit: bool  # whether the clause names its subject
    mood: Mood
    tense: Tense
    denied: bool
    hedged: bool
    cue: str
    also: bool
    many: bool  # its verb takes many things: one reads several books
    values: tuple[Value, ...]
    slots: tuple[Slot, ...]
    content: frozenset[str]
    named: tuple[int, int] = (0, 0)
    meant: str = ""
    rule: bool = False
    task: bool = False
    possible: bool = False
    alone: bool = False
    habit: bool = False
    event: bool = False
    to_do: bool = False
    tells: int = 0
    slip: bool = False
    beside: frozenset[str] = frozenset()
    jest: bool = False
    bare: bool = False
    sentence: tuple[int, int] = (0, 0)
    material: str = ""

    @property
    def plain(self) -> bool:
        """Whether it asserts something of now, without a doubt."""
        return self.mood is Mood.ASSERTED and self.tense is Tense.NOW and not self.hedged

    @property
    def who(self) -> frozenset[str]:
        """All names of its subject; none where it is unknown."""
        return self.called | {self.subject} if self.subject else frozenset()


@dataclass(frozen=True, slots=True)
class Asked:
    """
    What a question asks for.

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
