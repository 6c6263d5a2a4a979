"""
Types and loader of the English and Chinese lexicon, whose words are TOML data in en/ and zh/.

A word or phrase belongs to classes (`kin.sister`, `deny.longer`, `time.deadline`); what follows from a class is decided
elsewhere, in any language alike. `make lexicon` compiles the files into compiled.py, which is what is imported: reading
the files takes a hundred times as long. A language more is a folder more (docs/languages.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from yiku.rules.lexicon.flags import BIT

FORMS = frozenset(  # sorts of values that are told by their form; any other sort is a closed list
    ("time", "clock", "amount", "place", "name", "person", "contact", "thing", "any", "noun", "named", "called", "kin")
)


class Literal(NamedTuple):
    """Alternatives of literal words in a template."""

    words: tuple[tuple[str, ...], ...]
    optional: bool


class Gap(NamedTuple):
    """A gap for a value: its sort, and whether it is the value that is extracted."""

    sort: str
    told: bool


class Template(NamedTuple):
    """One plain way to say a predicate, from its verb on. Without a gap its anchor is the value: 吃素."""

    predicate: str
    parts: tuple[Literal | Gap, ...]
    anchor: int  # of the parts, the first literal that must be there
    ends: bool = False  # nothing else is told behind it


class Predicate(NamedTuple):
    """
    A predicate: the sort of its value, its cardinality, and the words of questions for it.

    names:    what else callers and people call it
    opposite: the predicate that it denies, with which it shares a slot
    """

    name: str
    takes: str
    one: bool
    kind: str
    of: str
    asks: tuple[tuple[str, ...], ...] = ()
    names: tuple[str, ...] = ()
    opposite: str = ""


class Entry(NamedTuple):
    """
    Lexicon entry of a word.

    flags:  the bits of its classes
    means:  its concepts, by their one name in all languages
    kin:    what it calls a person or pet of somebody: sister
    has:    what it calls something that one has: deadline
    sorts:  the closed lists of values that it is in: a colour
    """

    flags: int
    means: tuple[str, ...] = ()
    kin: str = ""
    has: str = ""
    sorts: tuple[str, ...] = ()


class Phrase(NamedTuple):
    """A multi-word entry."""

    words: tuple[str, ...]
    entry: Entry


UNKNOWN = Entry(0, ())


@dataclass(frozen=True, slots=True)
class Lexicon:
    """
    The words of one or several languages, by folded form.

    words:    a word → what is known of it
    phrases:  the first word of a phrase → the phrases, longest first
    runs:     the first character of a word without spaces → the lengths of such words, longest first
    """

    words: Mapping[str, Entry]
    phrases: Mapping[str, tuple[Phrase, ...]]
    runs: Mapping[str, tuple[int, ...]]
    contractions: Mapping[str, tuple[str, ...]]
    abbreviations: frozenset[str]
    firsts: frozenset[str]  # characters with which names of persons begin, where no capitals tell them
    marks: Mapping[str, int]  # a word or sign that is told by its form → the bits of its classes
    endings: Mapping[str, tuple[str, ...]]  # what words end with, by what that makes of them
    plurals: tuple[tuple[str, str], ...]  # an ending of the plural, and that of the singular
    attributes: Mapping[str, str]  # an attribute → the sort of its value
    predicates: Mapping[str, Predicate]
    templates: Mapping[str, tuple[Template, ...]]  # by the first word of their anchor
    compounds: frozenset[str]  # words without spaces that hold together, and of which nothing is known
    lists: Mapping[str, tuple[str, ...]]  # words that are only looked for, and not read: `asking.history` → used to, 以前
    labels: Mapping[str, Mapping[str, str]]  # what is shown to people, by language: `episode.goal` → Wanted: {}, 目标：{}

    def is_abbreviation(self, word: str) -> bool:
        """Whether a full stop behind this word belongs to it."""
        return word in self.abbreviations

    def is_person(self, word: str) -> bool:
        """Whether this is a word for somebody: I."""
        return bool(self.words.get(word, UNKNOWN).flags & BIT["person"])

    def is_month(self, word: str) -> bool:
        """Whether this is the name of a month."""
        return bool(self.words.get(word, UNKNOWN).flags & BIT["month"])


@cache
def built_in() -> Lexicon:
    """The languages that Yiku comes with, English and Chinese, as one lexicon."""
    from yiku.rules.lexicon import compiled  # loaded when the first text is read

    return compiled.lexicon()
