"""
Whether a statement that a model made stands in the words that it quotes.

The quote is widened to the clauses it lies in, and each part of the statement that could be invented is looked up there,
in one form of case, width, number, date and, as far as the lexicon knows them, language: twenty is 20 and 二十, yesterday is
the day before it was said, Oslo is 奥斯陆. These parts are its names, its numbers and dates, its subject and object, and
whether it denies. A rule is held to more: every word of it must be there, and the user must have said it as an imperative.

    stands      all of it is in the quoted clauses
    elsewhere   it is in the user's turns, but not all of it in the quoted clauses; or it is in another language than they
                are, so that words cannot show it. Somebody must confirm it
    missing     something of it is nowhere, or the quote says the contrary: it is not kept
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from yiku.rules import slots, values
from yiku.rules.analyze import STOP_WORDS, UNSPACED_RUN, fold
from yiku.rules.clauses import DENIES, Clause, clauses
from yiku.rules.learning import entities
from yiku.rules.shared_words import LIGHT, LIGHT_CHINESE
from yiku.rules.statements.clause import Clause as Spoken
from yiku.rules.statements.clause import Mood
from yiku.rules.statements.read import read
from yiku.types import Kind, Turn

LEAST_WORDS = 3.0  # of a quote that is no whole clause; a Chinese character counts as 0.6
JOINS = 12  # characters between two clauses that join them
READ_CHARS = 4_000  # of a text, from its beginning

Standing = Literal["stands", "elsewhere", "missing"]


class Judgement(NamedTuple):
    """How far a statement stands in the turns; why not, where it does not; and whether the quote is the user's own words."""

    standing: Standing
    why: str = ""
    own_words: bool = False


# ------------------------------------------------------------------ texts in one form

_ENDS = re.compile(r"[，。！？；;!?\n]+|[,.:：](?=\s|$)")
_NOT_LETTERS = re.compile(r"[\W_]+")
_SOMEBODY = re.compile(
    r"\b(?:the )?(?:users?|assistants?|agents?|ai|he|she|they|their|his|her)(?:'s)?\b|用户(?:本人)?|助手|智能体|[他她](?:们|的)?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z0-9][a-z0-9'._@/+#-]*(?<![.'-])|[\u3400-\u9fff]")
_VALUE = re.compile(r"[@#%]\S+")
_YEAR = re.compile(r"@(?:\d{4}|-)-")
_NUMBER = re.compile(r"(#[\d.]+)(\S*)")
_OTHERS = frozenset(
    "like likes prefer prefers want wants need needs is are has have wish wishes work live use 喜 欢 爱 想 需 用 叫 住".split()
)


def bare(text: str) -> str:
    """A text by its letters and digits alone."""
    return _NOT_LETTERS.sub("", fold(text))


def pieces(text: str) -> list[str]:
    """A text as its clauses, by punctuation."""
    return [piece for piece in _ENDS.split(text) if piece.strip()]


@dataclass(frozen=True)
class _Said:
    """Clauses as they are looked up, said at a time."""

    parts: tuple[str, ...]
    said_at: datetime

    @cached_property
    def text(self) -> str:
        return fold(" ; ".join(self.parts))[:READ_CHARS]

    @cached_property
    def bare(self) -> str:
        return _NOT_LETTERS.sub("", self.text)

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        return tuple(clause for part in self.parts for clause in clauses(part))

    @cached_property
    def concepts(self) -> frozenset[str]:
        return frozenset(word.concept for clause in self.clauses for word in clause.words)

    @cached_property
    def forms(self) -> frozenset[str]:
        return frozenset(form for part in self.parts for form in values.form(part[:READ_CHARS], self.said_at).split())

    def word(self, concept: str) -> bool:
        """Whether a word stands here; a Chinese character wherever it stands."""
        return concept in self.concepts or (not concept.isascii() and concept in self.text)

    def phrase(self, text: str) -> bool:
        """Whether a name or a value stands here: letter for letter, in one form, or each of its words."""
        if not (wanted := bare(text)) or wanted in self.bare:
            return True
        if all(form in self.forms or self._value(form) for form in values.form(text, self.said_at).split()):
            return True
        told = [word for part in pieces(text) for clause in clauses(part) for word in clause.words]
        return bool(told) and all(self._value(word.concept) if word.sort else self.word(word.concept) for word in told)

    def unsaid(self, text: str) -> list[str]:
        """The numbers and dates of a text that are not here, each in its one form."""
        forms = [form for part in pieces(text) for form in values.form(part[:READ_CHARS], self.said_at).split()]
        return [form for form in forms if re.search(r"\d", form) and not self._value(form) and not self._letters(form)]

    def _letters(self, form: str) -> bool:
        """A version or a label such as v3 or b2, as it is written."""
        return not _VALUE.fullmatch(form) and bare(form) in self.bare

    def _value(self, value: str) -> bool:
        if value in self.forms:
            return True
        match value[0]:
            case "@":  # one of the two says no year
                day = _YEAR.sub("@-", value)
                return any(day == _YEAR.sub("@-", other) for other in self.forms if "@-" in value + other)
            case "%" if "?" in value or any("%?" in other for other in self.forms):  # one of the two says no half of the day
                return _HALF.sub(_of_twelve, value) in {_HALF.sub(_of_twelve, other) for other in self.forms}
            case "#" if number := _NUMBER.fullmatch(value):  # 5 and 5 days; never 5 km and 5 miles
                others = (_NUMBER.fullmatch(other) for other in self.forms)
                return any(other and other[1] == number[1] and not (other[2] and number[2]) for other in others)
        return False


_HALF = re.compile(r"%\??(\d\d)(?=:)")


def _of_twelve(match: re.Match[str]) -> str:
    return f"%{int(match[1]) % 12:02}"


# ------------------------------------------------------------------ the quote in its turn


def widened(quote: str, text: str) -> tuple[str, ...]:
    """The clauses of a text in which a quote lies, whole; none where it is not there, letter for letter."""
    wanted, parts = bare(quote), pieces(text)
    letters = [bare(part) for part in parts]
    start = "".join(letters).find(wanted)
    if start < 0 or not wanted:
        return ()
    end, at = start + len(wanted), 0
    found = []
    for part, its in zip(parts, letters, strict=True):
        if at < end and at + len(its) > start:
            found.append(part.strip())
        at += len(its)
    return tuple(found)


def is_a_clause(quote: str, clauses_: Sequence[str]) -> bool:
    """Whether a quote says something: a whole clause, however short, or some words of one."""
    words = len(re.findall(r"[a-z0-9]+", UNSPACED_RUN.sub(" ", fold(quote)))) + 0.6 * sum(map(len, UNSPACED_RUN.findall(quote)))
    return words + 0.5 >= LEAST_WORDS or any(bare(part) == bare(quote) for part in clauses_)


@dataclass(frozen=True, slots=True)
class OwnSentence:
    """
    A sentence that a user says themselves.

    states: its words up to where it asks something
    orders: it tells the agent what to do from now on
    """

    words: str
    states: str
    orders: bool


def own_sentences(turn: Turn) -> tuple[OwnSentence, ...]:
    """What of a turn its user says themselves: nothing that is quoted, pasted or made up."""
    if turn.role != "user":
        return ()
    found: dict[tuple[int, int], list[Spoken]] = {}
    for clause in read(turn.content[:READ_CHARS]):
        if clause.mood is not Mood.QUOTED:
            found.setdefault(clause.sentence, []).append(clause)
    return tuple(_own(turn.content, spoken) for spoken in found.values())


def _own(text: str, spoken: Sequence[Spoken]) -> OwnSentence:
    """A sentence by its clauses: with what joins them, but for what stands quoted between them."""
    parts = [(clause.start, clause.end) for clause in spoken]
    joined = []
    for (start, end), (after, _) in pairwise([*parts, (len(text) + JOINS, 0)]):
        joined.append(text[start : after if after - end < JOINS else end])
    asked = next((place for place, clause in enumerate(spoken) if clause.mood is Mood.ASKED), len(spoken))
    return OwnSentence(" ".join(joined), " ".join(joined[:asked]), any(clause.rule for clause in spoken))


def _stated(sentences: Sequence[OwnSentence]) -> str:
    """The letters of what they state. Of a question only what stands before it: "I live in Oslo, what do I wear?"."""
    return bare(" ".join(one.states for one in sentences))


def _holding(quote: str, sentences: Sequence[OwnSentence]) -> Iterator[OwnSentence]:
    """The sentences in which a quote lies, or which lie in it."""
    wanted = bare(quote)
    for one in sentences:
        if (its := bare(one.words)) and (wanted in its or its in wanted):
            yield one


# ------------------------------------------------------------------ judging


def judged(item: Mapping[str, Any], quote: str, turn: Turn, turns: Sequence[Turn], *, names: Sequence[str] = ()) -> Judgement:
    """
    How far a statement of a model stands in what was said.

    item:  as extraction.ITEMS has it; its quote stands in `turn`, one of the `turns` that the model was shown
    names: what the owner is called
    """
    said_in = next((parts for text in texts(turn) if (parts := widened(quote, text))), ())
    if not is_a_clause(quote, said_in):
        return Judgement("missing", "its evidence is less than a clause")
    quoted = _Said(said_in, turn.said_at)
    mine = own_sentences(turn)
    own_words = bare(quote) in _stated(mine)
    content = _without(item["content"], (*names, turn.speaker or ""))
    if item["type"] == Kind.RULE.value:
        return _rule(content, quoted, [*_holding(quote, mine)])
    if _denied(content, quoted):
        return Judgement("missing", "its evidence says the contrary")
    if chinese(content) != chinese(" ".join(said_in)):
        wrong = quoted.unsaid(content)
        return Judgement("missing", _not_there(wrong)) if wrong else Judgement("elsewhere", "it is in another language", own_words)
    if not (missing := _missing(item, content, quoted, names)):
        return Judgement("stands", "", own_words)
    around = _Said(tuple(part for one in turns if one.role == "user" for part in pieces(one.content[:READ_CHARS])), turn.said_at)
    if nowhere := _missing(item, content, around, names):
        return Judgement("missing", _not_there(nowhere))
    return Judgement("elsewhere", f"{', '.join(missing)[:60]} is not in its evidence", own_words)


def texts(turn: Turn) -> Iterator[str]:
    """What a quote may stand in: the words of a turn, and what tools gave back."""
    yield turn.content
    for result in turn.tool_results:
        if isinstance(content := result.get("content"), str):
            yield content


def chinese(text: str) -> bool:
    """Whether most of a text is Chinese: a character counts as a word."""
    return sum(map(len, UNSPACED_RUN.findall(text))) > len(re.findall(r"[A-Za-z]+", text))


def _not_there(missing: Sequence[str]) -> str:
    return f"{', '.join(missing)[:60]} is not in its evidence, nor elsewhere in what the user said"


def _without(content: str, names: Sequence[str]) -> str:
    """A statement without the user, who is meant by «I»."""
    for name in filter(None, names):
        edge = r"(?<!\w)", r"(?:'s)?(?!\w)"
        content = re.sub(
            rf"{edge[0]}{re.escape(name)}{edge[1]}" if name.isascii() else re.escape(name), " ", content, flags=re.IGNORECASE
        )
    return _SOMEBODY.sub(" ", content)


def _missing(item: Mapping[str, Any], content: str, said: _Said, names: Sequence[str]) -> list[str]:
    """The names, numbers and dates of a statement, its subject and its object, as far as they were not said."""
    slot = slots.read(item["content"], names=names)
    who = [item.get("subject") or "", slot.subject if slot else ""]
    what = [item.get("object") or "", slot.object if slot else "", _last(content)]
    called = [_without(one, names) for one in (*who, *what, *entities.found(content))]
    return list(dict.fromkeys([one.strip() for one in called if not said.phrase(one)] + said.unsaid(content)))


def _last(content: str) -> str:
    """The last telling word, which in both languages is mostly the object; of Chinese the last two characters."""
    text = fold(content)
    words = [word for word in _WORD.findall(text) if word not in LIGHT and word not in STOP_WORDS and word not in _OTHERS]
    words = [word for word in words if not word.isdecimal()]
    if not words or len(words[-1]) > 1 or words[-1].isascii():
        return words[-1] if words else ""
    signs = [word for word in words if word not in LIGHT_CHINESE]
    return "".join(signs[-2:]) if "".join(signs[-2:]) in text else "".join(signs[-1:])


def _denied(content: str, said: _Said) -> bool:
    """Whether a clause of a statement denies what was said, or says what was denied: by the clauses that share most words with it."""
    return any(_contrary(clause, said) for part in pieces(content) for clause in clauses(part))


def _contrary(clause: Clause, said: _Said) -> bool:
    if not said.clauses:
        return False
    shares = [_shared(clause.text, other.text) for other in said.clauses]
    nearest = [other for other, share in zip(said.clauses, shares, strict=True) if share == max(shares)]
    if _denies(clause) in map(_denies, nearest):
        return False
    told = {word.concept for word in clause.words}  # 吃素 and 不吃肉: the lexicon has one word for both
    return not (told <= said.concepts and clause.denies in {other.denies for other in nearest})


def _denies(clause: Clause) -> bool:
    return DENIES.search(clause.text) is not None


def _shared(one: str, other: str) -> tuple[int, int]:
    """How many words two clauses share, of Chinese characters; then how many letters."""
    return len({*_WORD.findall(one)} & {*_WORD.findall(other)}), len({*bare(one)} & {*bare(other)})


# ------------------------------------------------------------------ rules

_VERBS = (
    "always|never|don'?t|do not|make sure|be (?:sure|brief|careful|concise|polite|formal|direct)|remember to|stop|keep|avoid|only|no more|use"
    "|call me|answer|reply|respond|write|speak|talk|address|treat|ask|tell|show|give|send|put|add|start|begin|end|format|translate|let|leave"
    "|skip|include|explain|summari[sz]e|check|run|test|commit|remind|refer|assume|prefer|limit|round|sort|list|name|sign|quote|cite|follow"
    "|wait|confirm|warn"
)
_FIRST = "and|but|so|also|ok|okay|hey|oh|well|btw|yes|then|please|pls|just|kindly|from now on|going forward|next time|in future|in the future"
_IMPERATIVE = re.compile(
    rf"^\W{{0,8}}(?:(?:{_FIRST})\s{{1,4}}){{0,4}}(?:{_VERBS})\b"
    r"|\byou (?:should|must|need to|have to|may not|can'?t|shouldn'?t|mustn'?t|are to|are not to|ought to)\b"
    r"|\b(?:can|could|will|would) you\b"
    r"|\bi(?:'d)?(?: would)? (?:want|need|like|prefer|expect|ask|beg) (?:it if )?you\b"
    r"|^\W{0,8}(?:请|麻烦|以后|今后|往后|从现在|从今|下次|记住|记得|务必|一定|必须|不要|不准|不许|不得|别|勿|禁止|总是|永远|每次|每当|凡是"
    r"|只|用|叫我|称呼|回答|回复|写|说|给我|把|帮我|先|尽量|都|全部|一律)"
    r"|你们?(?:要|得|应该|必须|不要|不能|别|务必|以后|每次)|(?:希望|要求|想要?|需要|要)你|请你"
)
_LASTING = re.compile(
    r"\b(?:always|never|every|each|whenever|any ?time|all|from now on|going forward|in future|in the future|don'?t|do not|stop|no|not|when|if"
    r"|only|until|unless)\b|总|永|每|凡|一律|都|全部|以后|今后|往后|从现在|从今|下次|不|别|勿|禁止|如果|当|只"
)
_ALWAYS = re.compile(r"\b(?:always|never|every|each|whenever|all|any)\b|总是|总|永远|每|凡是|一律|从不|绝不|都|全部|的?时候?")


def _rule(content: str, said: _Said, sentences: Sequence[OwnSentence]) -> Judgement:
    """A rule is what the user told the agent to do, in the user's words; nothing else makes one."""
    if not any(_asks_of_the_agent(one) for one in sentences):
        return Judgement("missing", "no imperative of the user says this rule")
    if _ALWAYS.search(fold(content)) and not _LASTING.search(said.text):
        return Judgement("missing", "the user asked for it once, and not for always")
    told = _ALWAYS.sub(" ", fold(content))
    words = [word for part in pieces(told) for clause in clauses(part) for word in clause.words]
    missing = [word.concept for word in words if not word.sort and not said.word(word.concept)]
    if missing := list(dict.fromkeys([*missing, *said.unsaid(content)])):
        return Judgement("missing", f"{', '.join(missing)[:60]} is not in the user's words")
    if _denied(content, said):
        return Judgement("missing", "its evidence says the contrary")
    return Judgement("stands", "", own_words=True)


def _asks_of_the_agent(sentence: OwnSentence) -> bool:
    return sentence.orders or any(_IMPERATIVE.search(part.strip()) for part in pieces(fold(sentence.words)))
