"""
Check whether a model's statement is supported by the words it quotes as evidence.

The quote is widened to the clauses it lies in, as the reader cuts them, and each part of the statement that could be
invented is looked up there: its names, its numbers and dates, its subject and object, and whether it denies. Words are
compared by their one name in both languages, values in their one form: twenty is 20 and 二十, yesterday is the day
before it was said. A rule is held to more: every word of it must be there, in an order that the user gave the agent.

    stands      all of it is in the quoted clauses
    elsewhere   it is in the user's turns, but not all of it in the quoted clauses; or words cannot show it: it is in
                another language, or the quote tells of an end. Somebody must confirm it
    missing     something of it is nowhere, or the quote says the contrary: it is not kept
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from textwrap import wrap
from typing import Any, Literal, NamedTuple

from yiku.rules.learning import entities
from yiku.rules.learning.drafts import clauses_of
from yiku.rules.lexicon import built_in, lists
from yiku.rules.lexicon import flags as F
from yiku.rules.statements.clause import Clause, Mood
from yiku.rules.statements.moods import order_in
from yiku.rules.statements.read import read
from yiku.rules.statements.subjects import is_person
from yiku.rules.statements.voices import sayings
from yiku.rules.text.analyze import UNSPACED_RUN, language_of
from yiku.rules.text.folding import folded
from yiku.rules.text.once import once
from yiku.rules.text.sentences import sentences
from yiku.rules.text.words import Word, content, flags_of, words
from yiku.rules.values import canonical
from yiku.types import Kind, Turn

LEAST_WORDS = 2.3  # of a quote that is no whole clause
CHARACTER = 0.6  # of a word, where no spaces are written
# Words that are compared as values.
_COUNTED = F.NUMBER | F.UNIT | F.TIME | F.DAY | F.PART_OF_TIME | F.NAMES_A_DAY
_SORTS = ("time", "amount")  # of values that have one form
# What makes more of an order than a request for now.
_LASTING = F.STANDING | F.EVERY | F.STILL | F.DENY | F.SUPPOSE | F.WHEN

Standing = Literal["stands", "elsewhere", "missing"]


class Judgement(NamedTuple):
    """
    How well a statement is grounded in the turns, and why not.

    own_words: whether the quote is the user's own words
    plain:     whether what it quotes is asserted, of now, not hedged, and not said to come on top of something
    """

    standing: Standing
    why: str = ""
    own_words: bool = False
    plain: bool = False


def judge(item: Mapping[str, Any], quote: str, turn: Turn, turns: Sequence[Turn], *, names: Sequence[str] = ()) -> Judgement:
    """
    Judge how well a model's statement is grounded in what was said.

    item:  as extraction.ITEMS has it; its quote stands in `turn`, one of the `turns` that the model was shown
    names: what the owner is called
    """
    parts = next((found for text in texts(turn) if (found := _quoted(quote, text))), ())
    if not _is_a_clause(quote, parts):
        return Judgement("missing", "its evidence is less than a clause")
    said = _Said(parts, turn.said_at, tuple(_parts("; ".join([*names, turn.speaker or "", *lists.words("records.talkers")]))))
    stated = tuple(_parts(_set_apart(item["content"], (*names, turn.speaker or ""))))
    contrary = {part.ends is not one.ends for part in stated for one in _contrary(part, parts)}
    if False in contrary:
        return Judgement("missing", "its evidence says the contrary")
    if item["type"] == Kind.RULE.value:
        return _rule(stated, said, turn)
    own_words = turn.role == "user" and all(part.is_own for part in parts)
    plain = all(one.is_plain for part in stated for one in _nearest(part, parts))
    if language_of(item["content"]) != language_of(" ".join(part.text for part in parts)):
        if wrong := said.unsaid(item["content"]):
            return Judgement("missing", _not_there(wrong))
        return Judgement("elsewhere", "it is in another language", own_words, plain)
    missing = _missing(item, stated, said)
    if not missing and not contrary:
        return Judgement("stands", "", own_words, plain)
    around = tuple(part for one in turns if one.role == "user" for part in _parts(one.content))
    if nowhere := _missing(item, stated, _Said((*parts, *around), turn.said_at, said.called)):
        return Judgement("missing", _not_there(nowhere))
    why = f"{', '.join(missing)[:60]} is not in its evidence" if missing else "one of them says that it is over"
    return Judgement("elsewhere", why, own_words, plain)


def texts(turn: Turn) -> Iterator[str]:
    """Yield the texts that evidence may come from: the turn, and its tool results."""
    yield turn.content
    for result in turn.tool_results:
        if isinstance(found := result.get("content"), str):
            yield found


def bare(text: str) -> str:
    """Return only the letters and digits of a text, folded."""
    return "".join(filter(str.isalnum, folded(unicodedata.normalize("NFC", text))))


def _not_there(missing: Sequence[str]) -> str:
    return f"{', '.join(missing)[:60]} is not in its evidence, nor elsewhere in what the user said"


# ------------------------------------------------------------------ the quote in its turn


@dataclass(frozen=True)
class _Part:
    """
    A clause with what joins it to the one before, or a sentence of what is no prose.

    start, end: its place in the text
    clause:     as it was read; None of what is no prose
    own_voice:  whether it is its speaker's own word, and nothing that they quote, report or paste
    """

    text: str
    start: int
    end: int
    clause: Clause | None = None
    own_voice: bool = True

    @once
    def words(self) -> Sequence[Word]:
        return words(folded(self.text), 0, len(self.text), built_in())

    @once
    def content(self) -> frozenset[str]:
        return content(self.words)

    @property
    def is_own(self) -> bool:
        """Whether its speaker says it of their own, and does not ask it."""
        return self.own_voice and self.clause is not None and self.clause.mood not in (Mood.QUOTED, Mood.ASKED, Mood.JOKED)

    @property
    def is_quoted(self) -> bool:
        return self.clause is not None and self.clause.mood is Mood.QUOTED

    @property
    def is_plain(self) -> bool:
        return self.clause is not None and self.clause.plain and not self.clause.also

    @property
    def named(self) -> list[str]:
        """Whom it names as its subject, the names in it, and what fills its slots; no numbers and times."""
        if self.clause is None:
            return []
        every = (*self.clause.values, *(slot.value for slot in self.clause.slots))
        told = [(value.start, value.end) for value in every if value.sort not in _SORTS]
        whom = [self.clause.named] if is_person(self.clause.subject) and self.clause.explicit else []
        return [self.text[start - self.start : end - self.start] for start, end in (*whom, *told)]

    @property
    def ends(self) -> bool:
        """Whether a word of it says that something is over."""
        return any(word.flags & F.END and not word.flags & F.DENY for word in self.words)

    @once
    def sides(self) -> tuple[frozenset[str], frozenset[str]]:
        """The content words that it affirms, and those that it denies: behind a denial, or all where it tells of an end."""
        begins = self.clause.start - self.start if self.clause else 0
        own = [word for word in self.words if word.start >= begins]
        first = next((place for place, word in enumerate(own) if word.flags & F.DENY), len(own))
        denied = self.clause.denied if self.clause else first < len(own)
        affirmed, behind = frozenset[str]() if denied else content(own[:first]), content(own[first:])
        return (behind, affirmed) if self.ends else (affirmed, behind)


def _parts(text: str) -> Iterator[_Part]:
    """A text cut where its clauses end; what is no prose at its sentences."""
    text = unicodedata.normalize("NFC", text)
    done = 0
    for clause in read(text):
        begins = max(done, clause.sentence[0])
        yield from _unread(text, done, begins)
        yield _Part(text[begins : clause.end], begins, clause.end, clause)
        done = clause.end
    yield from _unread(text, done, len(text))


def _unread(text: str, start: int, end: int) -> Iterator[_Part]:
    for one in sentences(text[start:end], built_in()):
        if any(map(str.isalnum, text[start + one.start : start + one.stop])):
            yield _Part(text[start + one.start : start + one.stop], start + one.start, start + one.stop)


def _quoted(quote: str, text: str) -> tuple[_Part, ...]:
    """Return the parts of a text that a verbatim quote lies in; none if it is not there."""
    text = unicodedata.normalize("NFC", text)
    places = [place for place, character in enumerate(folded(text)) if character.isalnum()]
    wanted, first = bare(quote), bare(text).find(bare(quote))
    if first < 0 or not wanted:
        return ()
    start, end = places[first], places[first + len(wanted) - 1]
    within = any(begins <= start and end < ends for begins, ends in sayings(folded(text), 0, len(text)))
    own = set[int]() if within else {begins + clause.start for begins, _, clause in clauses_of(text)}
    return tuple(
        replace(part, own_voice=part.clause is not None and part.clause.start in own)
        for part in _parts(text)
        if part.start <= end and part.end > start
    )


def _is_a_clause(quote: str, parts: Sequence[_Part]) -> bool:
    """Whether a quote is a whole clause, however short, or enough words of one."""
    told = [word for word in words(folded(quote), 0, len(quote), built_in()) if not word.sign]
    if parts and sum(CHARACTER * len(word.text) if word.cjk else 1 for word in told) >= LEAST_WORDS:
        return True
    return any(bare(part.text) == bare(quote) for part in parts)


# ------------------------------------------------------------------ looking up


@dataclass(frozen=True)
class _Said:
    """
    What was said at a time, as parts of a statement are looked up in it.

    called: what the user and the agent are called; a model may name them where the quote says I and you
    """

    parts: tuple[_Part, ...]
    said_at: datetime
    called: tuple[_Part, ...] = ()

    @once
    def content(self) -> frozenset[str]:
        return frozenset[str]().union(*(part.content for part in (*self.parts, *self.called)))

    @once
    def unknown(self) -> str:
        """Runs without spaces that the lexicon does not know, in which a word is found wherever it stands."""
        return " ".join(word.text for part in (*self.parts, *self.called) for word in part.words if word.cjk and not word.known)

    @once
    def forms(self) -> frozenset[str]:
        return frozenset(form for part in self.parts for form in _forms(part.text, self.said_at))

    def has(self, told: Sequence[Word]) -> bool:
        """Whether words stand here, by their one name in both languages; numbers and times aside."""
        return all(
            word in self.content or (not word.isascii() and word in self.unknown)
            for word in content([word for word in told if not word.flags & _COUNTED and not word.text[0].isdigit()])
        )

    def names(self, text: str) -> bool:
        """Whether a name or a value stands here."""
        return self.has(words(folded(text), 0, len(text), built_in())) and not self.unsaid(text)

    def unsaid(self, text: str) -> list[str]:
        """The numbers and dates of a text that are not here, each in its one form."""
        wanted = [form for form in _forms(text, self.said_at) if any(map(str.isdigit, form))]
        return [form for form in wanted if not any(_fits(form, other) or _fits(other, form) for other in self.forms)]


def _forms(text: str, said_at: datetime) -> list[str]:
    """Return the words and values of a text in canonical form."""
    return [form for piece in wrap(text, canonical.LONGEST) for form in canonical.form(piece, said_at).split()]


def _fits(form: str, fuller: str) -> bool:
    """Whether a form may be another one: a day without its year, an hour without its half of the day."""
    if form.startswith("@--"):
        return fuller[0] == "@" and form[3:] == fuller.partition("-")[2]
    hours = form[2:4], fuller[1:3]
    if form[0] == fuller[0] == "%" and all(map(str.isdigit, hours)):
        return int(hours[0]) % 12 == int(hours[1]) % 12 and form[4:] == fuller[3:]
    return form == fuller


def _missing(item: Mapping[str, Any], stated: Sequence[_Part], said: _Said) -> list[str]:
    """Return the names, numbers, dates, subject and object of a statement that were not said."""
    told = [item.get("subject") or "", item.get("object") or "", *entities.extract(item["content"])]
    told += [text for part in stated for text in part.named]
    missing = [text.strip() for text in told if not said.names(text)]
    missing += [last.text for part in stated if (last := _last(part, said.called)) is not None and not said.has([last])]
    missing += [word.text for part in stated if part.clause is None for word in part.words if not said.has([word])]  # no prose
    return list(dict.fromkeys([*missing, *said.unsaid(item["content"])]))


def _last(part: _Part, called: Sequence[_Part]) -> Word | None:
    """Return the last content word, mostly the object; no number or time, and not what the user or the agent is called."""
    names = frozenset[str]().union(*(one.content for one in called))
    given = part.clause.values if part.clause else ()
    counted = [(value.start - part.start, value.end - part.start) for value in given if value.sort in _SORTS]
    for word in reversed(part.words):
        tells = not (word.sign or word.inside or word.flags & (F.EMPTY | F.VERB | _COUNTED) or word.text[0].isdigit())
        if tells and not any(start <= word.start < end for start, end in counted) and not content([word]) <= names:
            return word
    return None


def _set_apart(text: str, names: Sequence[str]) -> str:
    """A statement in which no word runs on from a name that is written without spaces."""
    for name in names:
        text = text.replace(name, f" {name} ") if UNSPACED_RUN.match(name) else text
    return text


# ------------------------------------------------------------------ denials and rules


def _nearest(part: _Part, said: Sequence[_Part]) -> list[_Part]:
    """Return the clauses that share most words with a clause of the statement."""
    most = max((len(part.content & one.content) for one in said), default=0)
    return [one for one in said if len(part.content & one.content) == most]


def _contrary(part: _Part, said: Sequence[_Part]) -> list[_Part]:
    """What was said that a clause of a statement denies, or that denies what it says; nothing where a clause as near agrees."""
    near, (affirmed, denied) = _nearest(part, said), part.sides
    return near if all(affirmed & one.sides[1] or denied & one.sides[0] for one in near) else []


def _rule(stated: Sequence[_Part], said: _Said, turn: Turn) -> Judgement:
    """Judge a rule: only an order that the user gave the agent, in the user's words, makes one."""
    said = replace(said, parts=tuple(part for part in said.parts if part.own_voice and not part.is_quoted))
    if turn.role != "user" or not any(map(_is_order, said.parts)):
        return Judgement("missing", "no order of the user says this rule")
    told = [word for part in stated for word in part.words]
    always = lists.words("records.at_any_time")
    if any(word.text in always for word in told) and not any(flags_of(part.words) & _LASTING for part in said.parts):
        return Judgement("missing", "the user asked for it once, and not for always")
    missing = [word.text for word in told if not (word.sign or word.text in always or said.has([word]))]
    if missing := list(dict.fromkeys([*missing, *(form for part in stated for form in said.unsaid(part.text))])):
        return Judgement("missing", f"{', '.join(missing)[:60]} is not in the user's words")
    return Judgement("stands", "", own_words=True)


def _is_order(part: _Part) -> bool:
    """Whether the user gives the agent an order, in the clause or in a part set off by punctuation."""
    if part.clause is None or part.clause.mood is Mood.JOKED:
        return False
    quoted = sayings(folded(part.text), 0, len(part.text))
    told = [word for word in part.words if not any(start <= word.start < end for start, end in quoted)]
    pieces = ([*piece] for is_sign, piece in groupby(told, lambda word: word.sign) if not is_sign)
    asked = F.REQUESTED | F.TASK  # could you answer
    return part.clause.rule or any(order_in(piece) is not None or flags_of(piece) & asked == asked for piece in pieces)
