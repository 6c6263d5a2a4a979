"""
Several facts in one breath, each as a statement of its own: «I live in Bergen and work at Equinor», 我妹妹叫小雨，她对花生过敏.

A statement fills one slot, and a correction retires a whole statement. So what two slots are told in one sentence is
cut where the second begins, and the subject is written out for what has none. What fills no slot stays with what it
stands beside; a sentence that tells of one slot alone stays whole, in the speaker's words.
"""

# ruff: noqa: E501 (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from yiku.rules import slots
from yiku.rules.analyze import simple
from yiku.rules.extract import chinese, english
from yiku.rules.extract.clauses import HAN
from yiku.rules.extract.cues import compiled
from yiku.types import Cardinality, Slot

SHORTEST = 3  # characters of a part
_NOTHING = frozenset("it that this them there 它 他 她 这个 那个".split())  # objects that stand for what was said before


class Part(NamedTuple):
    """A part of a sentence: where its words stand in it, and the statement that they make."""

    start: int
    end: int
    text: str


_VERB = r"(?:is|are|am|was|has|have|had|lives?|works?|likes?|loves?|hates?|prefers?|speaks?|uses?|drives?|owns?|stud(?:y|ies)|plays?|teach(?:es)?|runs?|can|turn(?:s|ed)|go(?:es)?|moved|joined|left|married|bought|adopted|sold|quit|became)"
_CUT = r"(?i)(?:\s*[,;]\s*(?:(?:and|but)\s+)?(?:also\s+)?|\s+(?:and|but)\s+(?:also\s+)?)(?=\S)"
_SUBJECT = rf"(?i)^(?:(?:actually|also|so|and|but|well|oh),? )*(?P<s>i|we|my(?: [\w-]+){{1,3}}?|our(?: [\w-]+){{1,3}}?|(?-i:[A-Z])[\w-]+(?: (?-i:[A-Z])[\w-]+)?)(?='s\b|'m\b|'re\b|'ve\b| (?:{_VERB})\b)"
_OWN = r"(?i)^(?:i|we|my|our)\b"
_PRONOUN = r"(?i)^(?:she|he|they|it)(?P<is>'s|'re)?(?=\s)"
_BARE = rf"(?i)^(?:(?:now|also|still|currently) )?{_VERB}\b(?! (?:it|that|this)\b)"
_ZH_CUT = r"[,，;；、]\s*"
_ZH_SUBJECT = r"^(?:其实|不过|但是?|而且|所以|对了,?|更正:?)?(?P<s>(?:我|我们|咱)?[^,，的是]{0,5}?)(?=叫|是|在|住|对|有|今年|姓|喜欢|爱|讨厌|开着?|用|养|学|教|当|做|属|现在|\d+岁|[一二两三四五六七八九十]+岁)"
_ZH_OWN = r"^(?:我|咱|俺)"
_ZH_SPEAKER = r"(?:我|我们|咱|咱们|俺)?"
_ZH_PRONOUN = r"^[她他它](?=[^们])"
_ZH_BARE = (
    r"^(?:现在|目前|今年|也|还|平时|一直|从小)*(?:叫|是|在|住|对|有|姓|喜欢|爱|讨厌|用|养|会|\d+岁|[一二两三四五六七八九十]+岁)"
)
# Somebody or something that comes in: what is said next is said of it, and is understood where one has only one such.
_GOT = r"(?i)\b(?:have|has|had|got|met|adopted|bought|know) (?:also |just )?(?:an?|one|another|two|three|\w+) (?:[\w-]+ ){0,2}?(?P<kin>brother|sister|son|daughter|wife|husband|partner|girlfriend|boyfriend|aunt|uncle|cousin|niece|nephew|grand(?:mother|father|son|daughter)|friend|colleague|boss|roommate|flatmate|neighbou?r|cat|dog|puppy|kitten|horse|rabbit|parrot|hamster|baby|child)?(?![\w-])"
_ZH_GOT = r"(?:养|有|买|收养|领养|捡|生|认识|交|请|找|雇|租|带)(?:过|着|了|到|来)*(?:[一二两三几]?[只条个位匹名辆台家]|新|(?=[^,，]{1,4}$))[^,，]{0,4}?(?P<kin>妹妹|弟弟|哥哥|姐姐|儿子|女儿|男朋友|女朋友|老公|老婆|表[哥姐弟妹]|堂[哥姐弟妹]|室友|同事|朋友|猫|狗|兔子|鹦鹉|仓鼠)?(?=$|[,，])"
_ZH_PETS = frozenset("猫 狗 兔子 鹦鹉 仓鼠".split())
_ZH_NAMED = r"^(?:名字)?叫"


class _Spoken(NamedTuple):
    """
    Of whom a sentence has come to speak.

    who:    whom a verb alone goes on about
    other:  whom a pronoun names: None before anybody came in, empty where that one has no name here
    """

    who: str = ""
    other: str | None = None


def parts(text: str, *, speaker: str | None = None, names: Sequence[str] = ()) -> list[Part]:
    """The statements of a sentence that tells of several slots, in order; none where it tells of one at most."""
    found: list[tuple[Part, Slot | None]] = []
    for part in _standing_alone(text):
        slot = slots.read(part.text, speaker=speaker, names=names)
        slot = slot if slot and slot.key and slots.is_known(slot.predicate) and slot.object not in _NOTHING else None
        if found and (slot is None or found[-1][1] is None):  # it stays with what it stands beside
            before, known = found.pop()
            found.append((Part(before.start, part.end, before.text + text[before.end : part.end]), known or slot))
        else:
            found.append((part, slot))
    told = {
        (slot.subject, slot.predicate, slot.object if slot.cardinality is Cardinality.MULTI else "") for _, slot in found if slot
    }
    return [part for part, _ in found] if len(told) == len(found) > 1 else []


def _standing_alone(text: str) -> Iterator[Part]:
    """The parts between commas and «and», each with a subject; one that could have none belongs to the part before it."""
    cut, led, spoken = (_ZH_CUT, _led_zh, _spoken_of_zh) if HAN.search(text) else (_CUT, _led, _spoken_of)
    start, begins, of = 0, ("", 0), _Spoken()

    def part(end: int) -> Part:
        return Part(start, end, begins[0] + text[start + begins[1] : end])

    read = simple(text)  # of the same length
    for place in compiled(cut).finditer(read):
        if place.start() - start < SHORTEST:
            continue
        now = spoken(simple(part(place.start()).text), of)
        if (lead := led(read[place.end() :], now)) is not None:
            yield part(place.start())
            start, begins, of = place.end(), lead, now
    yield part(len(text))


def _spoken_of(said: str, before: _Spoken) -> _Spoken:
    """Of whom is spoken after a part."""
    subject = compiled(_SUBJECT).match(said)
    who = subject["s"] if subject else before.who
    first_person = compiled(english.SELF).fullmatch(who.lower()) is not None
    if got := compiled(_GOT).search(said):
        return _Spoken(who, f"my {got['kin'].lower()}" if got["kin"] and first_person else "")
    return _Spoken(who, before.other if first_person else who)


def _spoken_of_zh(said: str, before: _Spoken) -> _Spoken:
    """The same in Chinese."""
    subject = compiled(_ZH_SUBJECT).match(said)
    who = subject["s"] if subject else before.who
    first_person = compiled(_ZH_SPEAKER).fullmatch(who) is not None
    if got := compiled(_ZH_GOT).search(said):
        mine = "我的" if got["kin"] in _ZH_PETS else "我"
        return _Spoken(who, f"{mine}{got['kin']}" if got["kin"] and first_person else "")
    return _Spoken(who, before.other if first_person else who)


def _led(words: str, of: _Spoken) -> tuple[str, int] | None:
    """
    The beginning of words that could be a statement, and how many characters it takes the place of.

    None where they hang on what is before them.
    """
    if compiled(_OWN).match(words):
        return "", 0
    if match := compiled(_PRONOUN).match(words):
        return (of.other + {"'s": " is", "'re": " are"}.get(match["is"] or "", ""), match.end()) if of.other else None
    return (f"{of.who} ", 0) if of.who and compiled(_BARE).match(words) else None


def _led_zh(words: str, of: _Spoken) -> tuple[str, int] | None:
    """The same in Chinese."""
    if compiled(_ZH_OWN).match(words):
        return "", 0
    if match := compiled(_ZH_PRONOUN).match(words):
        return (of.other, match.end()) if of.other else None
    drops = match.end() if (match := compiled(chinese.ELLIPTIC).match(words)) else 0
    who = of.who if of.other is None or not compiled(_ZH_NAMED).match(words) else of.other
    return (who, drops) if who and compiled(_ZH_BARE).match(words[drops:]) else None
