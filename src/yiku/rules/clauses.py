"""
A statement as clauses, and a clause as its telling words: what is compared where no slot says what is spoken of.

A word is a concept: a stem, a thing or an attribute under one name in both languages (synonyms.SAME and others), a
value in its one form («half six» and 6:30), a Chinese character where no word is known. With each goes what it stands
behind, if a value often stands there: «is», «at», «uses», 是, 在, 改到.

    >>> [word.concept for word in clauses("The dentist moved me to Friday.")[0].words]
    ['dentist', '@w5']
"""

# ruff: noqa: E501  (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from yiku.rules import analyze, values
from yiku.rules.predicates import RELATIVES
from yiku.rules.shared_words import (
    ATTRIBUTES,
    CHANGED_TO,
    CHANGES,
    EVERYDAY,
    EVERYDAY_CHINESE,
    LIGHT,
    LIGHT_CHINESE,
    MARKS,
    MARKS_CHINESE,
    MONTH,
    PERSONS,
    PERSONS_CHINESE,
    SHORT,
    TWINS,
)
from yiku.rules.synonyms import SAME, WHOLE

LONGEST = 240  # characters of a statement that is compared; a longer one is a story
MOST = 4  # clauses of a statement
WORD = 2  # the weight of a word; a Chinese character weighs 1
CHANGE = "→"  # the mark of what something changed to


class Word(NamedTuple):
    """A telling word: its concept, which sort of value it is if one, what it stands behind, whether it is written as a name."""

    concept: str
    sort: str = ""
    mark: str = ""
    name: bool = False

    @property
    def weight(self) -> int:
        return 1 if not self.sort and len(self.concept) == 1 and not self.concept.isascii() else WORD

    @property
    def is_person(self) -> bool:
        return self.concept.startswith(_KIN) or self.concept in PERSONS_CHINESE


class Clause(NamedTuple):
    """
    A clause: its folded text, its words in their order, whether it denies, whether it is about the speaker.

    telling: its concepts that say what is spoken of, and its pairs of Chinese characters; no values, and no everyday words
    values:  its numbers, days and times, each in its one form
    """

    text: str
    words: tuple[Word, ...]
    denies: bool
    mine: bool
    telling: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()


# ------------------------------------------------------------------ where a clause ends

_TITLES = "".join(rf"(?<!\b{title})" for title in ("mr", "ms", "dr", "st", "mrs"))
_ENDS = re.compile(
    rf"(?:,(?! ?\d)|[，;；!！。?？\n])\s*"
    rf"|(?<!\d){_TITLES}[.](?:\s|$)"
    r"|\s(?:and|but|so|because|since)\s(?=(?:i|we|my|our|it|he|she|they|the|that)\b)"
    r"|\s[-–—]\s",
    re.IGNORECASE,
)
DENIES = re.compile(
    r"\bnot\b(?! (?:just|only|too|even|so|yet)\b)|n't\b|\bnever\b|\bneither\b|\bno (?:longer|more)\b|\b(?:stopped|quit|ceased|gave up|given up)\b"
    r"|(?:^|\b(?:is|are|has|have|got) )no \b"
    r"|不(?!过(?!敏)|错|久|仅|但|同|止|论|好意思|然|知|一定|太|只|得不|光|断|要紧|客气|如|少|管.*都)"
    r"|没(?!问题|关系|想到|事)|(?<![特个性区级])别(?![的人墅说])|[停戒]了?掉?|并非|无[需须]"
)
_NO_DENIAL = re.compile("|".join(rf"\b{said}\b" if said.isascii() else said for said in WHOLE if DENIES.search(said)))  # 睡不着
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|my|me)\b|我(?!们)|咱(?!们)")
# Ways to say one thing, in one form.
_FORMS = tuple(
    (re.compile(said), form)
    for said, form in (
        (r"\b(?:works?|working) as\b|从事|当(?=.{1,6}$)", "is"),
        (r"\b(?:go|goes) to (?:bed|sleep)\b|上床睡觉|[就上]床睡", "bedtime"),
        (r"\b(?:runs? out|is up)(?= (?:on|in)\b)", "expires"),
        (r"\b(first|second|third|fourth|fifth|sixth) (floor|grade|year)\b", r"\2 \1"),
    )
)
_IT_IS = re.compile(r"[,;] (?:it|that)(?:'s| is) (?=now |at |on |\d)|[,，](?:就?是|现在是)(?=\d)")  # of what stands before
_PRONOUN = re.compile(r"^(?:(?:so|and|but|now) )?(?:she|he|they)\b|^[她他](?!们)")
_EMPTY = re.compile("今天|一般|平时|通常|大概|左右|[一总]共|目前|现在")
_NAME = re.compile(r"(?<!^)\b[A-Z][\w'-]+")


@lru_cache(2048)
def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of a statement, at most MOST; none of a story."""
    if len(text) > LONGEST:
        return ()
    found: list[Clause] = []
    for part in _ENDS.split(_IT_IS.sub(" is ", text)):
        clause = _clause(part)
        if found and _PRONOUN.search(clause.text):  # it tells of whom or what was spoken of
            first = found[0].words[0]
            words = (first, *(word for word in clause.words if word.concept not in _PRONOUNS))
            clause = clause._replace(words=words, telling=clause.telling | ({first.concept} & found[0].telling))
        if clause.words:
            found.append(clause)
    return tuple(found[:MOST])


def _clause(text: str) -> Clause:
    folded = analyze.fold(text.strip())
    for said, form in _FORMS:
        folded = said.sub(form, folded)
    names = {name.lower() for name in _NAME.findall(text)}
    bare = _EMPTY.sub(" ", folded)
    words, starts = _words(bare, names)
    values = frozenset(word.concept for word in words if word.sort) - _ONE
    return Clause(
        folded,
        tuple(words),
        bool(DENIES.search(_NO_DENIAL.sub("", folded))),
        bool(_FIRST_PERSON.search(folded)),
        _telling(words, starts, bare),
        values,
    )


def _telling(words: Sequence[Word], starts: Sequence[int], folded: str) -> frozenset[str]:
    """What of its words says what a clause is about: no everyday word, and of Chinese the pairs that stand side by side."""
    telling = {word.concept for word in words if word.weight >= WORD and not word.sort and len(word.concept) > 1}
    if not folded.isascii():
        everyday = {place for match in EVERYDAY_CHINESE.finditer(folded) for place in range(match.start(), match.end())}
        lone = [i for i, word in enumerate(words) if word.weight < WORD and starts[i] not in everyday]
        telling |= {words[i].concept + words[k].concept for i, k in pairwise(lone) if starts[k] == starts[i] + 1}
    for word, start in zip(words, starts, strict=True):
        if word.concept in NAMES and (phrase := _phrase(folded, start)):  # «the night shift» is 夜班, and has «shift»
            telling |= {concept(part) for part in phrase.split() if part not in LIGHT}
    return frozenset(telling - EVERYDAY)


# ------------------------------------------------------------------ the words of a clause

_HAN = values.CHINESE_NUMERAL
_COUNT = rf"(?:\d{{1,2}}|{_HAN}{{1,3}})"
_ENGLISH_UNIT = (
    r"(?:ms|kg|km|cm|mm|ml|mg|mcg|gb|mb|tb|[gl](?![a-z])|kilos?|grams?|kilograms?|tonnes?|seconds?|minutes?|mins?|hours?|days?|weeks?|months?|years?"
    r"|(?:centi|kilo|milli)?met(?:re|er)s?|litres?|miles?|degrees?|celsius|fahrenheit|pounds?|euros?|dollars?)\b"
)
_CHINESE_UNIT = "(?:个(?:半)?(?:小时|月|星期)|个半|公里|公斤|千克|毫克|毫升|小时|分钟|平方米|平米|厘米|毫米|千米|块钱?|秒钟?|[米斤亩元岁度天周月年层楼升吨克里倍兆])"
_MONTH = f"(?:{MONTH})"
_PART_OF_DAY = "(?:凌晨|早上|上午|中午|下午|晚上|傍晚)?"
_WHEN = (
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
    r"\b(?:noon|midnight)\b",
    rf"\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?",
    rf"\b(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b(?:,? \d{{4}})?",
    rf"\b{_MONTH}\b(?:,? \d{{4}})?",
    rf"{_PART_OF_DAY}\d{{1,2}}:\d\d(?: ?[ap]m)?",
    r"\b\d{1,2} ?[ap]m\b",
    rf"(?:half|quarter) (?:past |to )?(?:\d{{1,2}}|{values.ENGLISH_NUMBER})",
    r"\d{4}-\d\d-\d\d",
    r"\b\d{1,2}/\d{1,2}(?:/\d{2,4})?\b",
    r"\b(?:the )?\d{1,2}(?:st|nd|rd|th)\b",
    "[下上这本]?(?:周|星期|礼拜)[一二三四五六日天末]",
    rf"(?:\d{{4}}年)?{_COUNT}月(?:{_COUNT}[日号]?|[底初份])?",
    rf"{_COUNT}[日号](?![线楼院])",
    rf"{_PART_OF_DAY}{_COUNT}点(?![心赞])(?:半|\d\d分?|一刻|钟)?",
)
_NUMBER = (
    rf"[$€£¥]? ?(?<![a-z\d])\d[\d.,]*(?:%|k\b|万|千)?(?: ?(?:{_ENGLISH_UNIT}|{_CHINESE_UNIT}))?",
    rf"{values.ENGLISH_NUMBER}(?: (?:and a half )?{_ENGLISH_UNIT})?",
    "半(?:个?小时|个月|年|天|斤|[包瓶杯碗盒片粒])",
    rf"{_HAN}+半?{_CHINESE_UNIT}",
    rf"{_HAN}+(?=[个名位页间台条口人辆次分倍张只杯份家套箱瓶盒号遍组期根支片粒颗趟块头])",
    rf"{_HAN}{{2,}}",
    rf"(?<=第){_HAN}",
    rf"(?<=[初高大研]){_HAN}",
)
# «Chapter 3» and «chapter 4» are two things, not two values of one.
_LABEL = (
    r"\b(?:no|item|task|chapter|sprint|step|phase|part|team|group|level|issue|ticket|case|line|page|question|test|gate|track|exit|grade|lot|bus|tram|highway|route|shot)\.? ?#?\d+\b",
    rf"第(?:\d+|{_HAN}+)[章节条题步轮]",
)
_PIECE = re.compile(
    rf"(?P<label>{'|'.join(_LABEL)})|(?P<when>{'|'.join(_WHEN)})|(?P<number>{'|'.join(_NUMBER)})"
    rf"|(?P<change>{CHANGED_TO})"
    r"|(?P<word>[a-z0-9]+(?:['._@/+#-][a-z0-9]+)*[+#]*)|(?P<run>[\u3400-\u9fff])|(?P<colon>[:=：])",
    re.ASCII,
)
_BETWEEN = frozenset("the a an my our now mr mrs ms dr about around just".split())  # a mark and its value
_UNTO = frozenset("to until till".split())  # behind a word of change
_PRONOUNS = frozenset("她他")
_KIN = "kin:"
_ONE = frozenset(["#1"])  # «one of them», 一下: seldom a number
_LONGEST_KNOWN = 6  # Chinese characters of a word of the lexicon


def _words(folded: str, names: set[str]) -> tuple[list[Word], list[int]]:
    """The words of a clause, and where each stands."""
    words: list[Word] = []
    starts: list[int] = []
    mark, start, changed = "", 0, False
    while match := _PIECE.search(folded, start):
        start, said = match.end(), match[0]
        match match.lastgroup:
            case "when" | "number" as sort:
                words.append(Word(values.form(said.strip()), sort, mark))
                mark = ""
            case "label":
                words.append(Word(said, "", mark))
                mark = ""
            case "change":
                mark = CHANGE
            case "colon":
                mark = ":"
            case "word" if phrase := _phrase(folded, match.start()):
                words.append(Word(PHRASES[phrase], "", mark))
                start, mark = match.start() + len(phrase), ""
            case "word":
                bare = said.removesuffix("'s")
                if bare in MARKS:
                    mark = CHANGE if changed and bare in _UNTO else bare
                elif bare in CHANGES:
                    changed = True
                elif bare in LIGHT or "'" in bare:
                    mark = mark if bare in _BETWEEN else ""
                else:
                    words.append(Word(concept(bare), "", mark, bare in names))
                    mark = "is" if said.endswith("'s") else ""
            case _:
                if known := _known(folded, match.start()):
                    words.append(Word(_KNOWN[known], "", mark))
                    start, mark = match.start() + len(known), ""
                elif said in MARKS_CHINESE:
                    mark = said
                elif said not in LIGHT_CHINESE:
                    words.append(Word(said, "", mark))
                    mark = ""
        starts += [match.start()] * (len(words) - len(starts))
    return words, starts


def _known(folded: str, start: int) -> str:
    """The longest word of the lexicon that stands here."""
    told = (folded[start : start + size] for size in range(_LONGEST_KNOWN, 0, -1))
    return next((word for word in told if word in _KNOWN), "")


def _phrase(folded: str, start: int) -> str:
    """The longest phrase of several words that stands here and has a name: «graveyard shift», «only child»."""
    first = folded[start : folded.find(" ", start)]
    return next(
        (one for one in _FIRST.get(first, ()) if folded.startswith(one, start) and not folded[start + len(one) :][:1].isalnum()), ""
    )


def alike(text: str) -> list[str]:
    """The search words of what a text says under another name, of several words or one: an only child, 没有兄弟姐妹."""
    said = {word.concept for clause in clauses(text) for word in clause.words}
    names = " ".join(name for concept in sorted(said & NAMES.keys()) for name in NAMES[concept])
    return [word for word in analyze.tokens(names).words if word not in LIGHT and word not in EVERYDAY] if names else []


@lru_cache(10_000)
def concept(word: str) -> str:
    """The one name of a word, whatever its form and language, as far as the lexicon knows it."""
    (stem, *_) = analyze.tokens(SHORT.get(word, word)).words or [word]
    known = SAME.get(word) or ATTRIBUTES.get(word) or _STEMS.get(stem) or TWINS.get(word) or TWINS.get(stem)
    return known or (_KIN + stem if word in PERSONS else stem)


_AMBIGUOUS = frozenset(
    "前端 后端 测试 运维 翻译 自动 手动 满了 关了 满员 中班 远程 走路 高处 离了 每天 每日 天天 每周 每星期 每月 每个月 每晚".split()
)  # other things, too
_STEMS = {stems[0]: name for word, name in SAME.items() if word.isascii() and len(stems := analyze.tokens(word).words) == 1}
_CALLED = {said: SAME.get(name, name) for said, name in WHOLE.items()}  # by the one name that its concept has
_KNOWN = (
    {name: name for name in TWINS.values() if len(name) > 1}
    | {name: concept(kin) for name, kin in RELATIVES.items() if name not in "先生儿子"}
    | {name: to for name, to in ATTRIBUTES.items() if not name.isascii() and len(name) > 1}
    | {name: to for name, to in SAME.items() if not name.isascii()}
    | {name: name for name in PERSONS_CHINESE if len(name) > 1}
    | {said: name for said, name in _CALLED.items() if not said.isascii() and len(said) > 1 and said not in _AMBIGUOUS}
    | {name: SAME.get(name, name) for name in WHOLE.values() if name not in _AMBIGUOUS}
)
PHRASES = {
    said: name
    for said, name in _CALLED.items()
    if said.isascii() and " " in said and said.partition(" ")[2] not in WHOLE  # «on weekdays» is «weekdays»
}
NAMES: dict[str, list[str]] = {}
for _said, _name in WHOLE.items():
    NAMES.setdefault(_CALLED[_said], []).extend((_said, _name))
_FIRST: dict[str, list[str]] = {}
for _said in sorted(PHRASES, key=len, reverse=True):
    _FIRST.setdefault(_said.split()[0], []).append(_said)


def _abroad() -> dict[str, tuple[str, ...]]:
    """What else a search word is called, in either language, as search words."""
    found: dict[str, list[str]] = {}
    pairs = [(english, chinese) for english, chinese in TWINS.items()]
    called: dict[str, list[str]] = {}
    for word, name in SAME.items():
        called.setdefault(name, []).append(word)
    pairs += [(one, other) for one, name in SAME.items() for other in called[name] if one != other]
    for pair in pairs:
        for one, other in (pair, pair[::-1]):
            for word in analyze.tokens(one).words:
                found.setdefault(word, []).extend(analyze.tokens(other).words)
    return {word: tuple(dict.fromkeys(others)) for word, others in found.items()}


ABROAD = _abroad()
