"""
Subjects, predicates and keys in canonical form: what makes two slots one, in either language.

The key of a slot says what cannot both hold. A known predicate has its table name in it; of any other its words
count, in any order, without the owner: «the retry limit of the gateway», «the gateway's retry limit» and 网关的 retry
limit name one thing. A denial has the key of what it denies. With many values the object is part of the key.
"""

# ruff: noqa: E501  (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from yiku.rules import values
from yiku.rules.analyze import UNSPACED_RUN, fold, tokens
from yiku.rules.predicates import PREDICATES, RELATIVES, SINGLE, UNKNOWN, Predicate
from yiku.rules.shared_words import ATTRIBUTES, LOOSE, ONE, SHORT
from yiku.types import Cardinality, Slot

USER = "user"  # the canonical subject of the scope's owner

SPACE = "\t\n\v\f\r \x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
EDGES = (
    SPACE + "\"'“”‘’「」『』《》（）()[].,!！。，;；:：~～"
)  # to strip: a pattern that ends in $ would try each run of them again and again
ARTICLE = re.compile(r"^(?:the |a |an |this |that |our |这个|那个|该)")

BY_NAME = {name: predicate for predicate in PREDICATES for name in (predicate.name, *predicate.names.split("|"))}
# A verb and its denial, in either language, are one.
_DENIES = re.compile(
    r"(?:do|does|did|is|are|am|has|have|can|will|should)(?: not|n't) (?:use to )?|cannot\b ?|can't\b ?|no longer |never |not |stopped |quit |gave up |no more |isn't |lacks? |without |(?:has|have|had|is|are) no (?=\S)|no (?=\S)"
    r"|从不|从来不|不再|不能|不(?=.)|没有(?=.)|没(?=.)|别"
)
_WITHIN = re.compile(
    r"(?<=[\u4e00-\u9fff])(?:不(?![错同足良锈动利安久时])|没有?)(?=[\u4e00-\u9fff]|$)(?<!差不)(?<!了不)(?<!对不)"
)  # 睡前不吃
_HAVE = re.compile(r"\b(?:has|have|had)\b")
_VERBS = {"喝": "drink", "吃": "eat", "用": "uses", "使用": "uses", "喜欢": "likes", "有": "owns", "养": "keep", "学": "learn", "看": "watch", "怕": "fear", "需要": "requir", "need": "requir", "cannot": "can", "会": "can", "说": "speaks"}  # fmt: skip

_FIRST_PERSON = frozenset(
    "i me my mine myself we us our 我 我们 俺 本人 咱 咱们 我家 我们家 咱家 咱们家 自己 user 用户 主人 owner me/i".split()
) | {
    "the user",
    "",
}
_MINE = re.compile(r"(?:(?:my|our) |(?:我们|咱们|我|咱|俺)(?:家)?的? ?)(?P<x>.+)")
_OWNED = re.compile(r"(?P<s>.+?)(?:'s |的)(?P<x>.+)")
KIN = {*RELATIVES, *RELATIVES.values()} - {"项目", "project"}
_LONGEST_ATTRIBUTE = max(len(name) for name in ATTRIBUTES if not name.isascii())
_GROUPS = frozenset("team company system 团队 公司 系统".split())  # «our team's database» is our database


LONGEST_SUBJECT = 300  # characters, up to which somebody's somebody is looked for


def subject_of(text: str, speaker: str | None = None, names: Sequence[str] = ()) -> str:
    """The canonical subject: USER for the owner, `x's y` for what belongs to somebody, folded otherwise."""
    folded = fold(text).strip(EDGES)
    if folded in _FIRST_PERSON:
        owner = {fold(name) for name in names}
        return fold(speaker) if speaker and owner and fold(speaker) not in owner else USER
    if any(fold(name) == folded for name in names):
        return USER
    if folded.startswith(("my ", "our ", "我", "咱", "俺")) and (match := _MINE.fullmatch(folded)):
        if "的" in match["x"] and len(folded) <= LONGEST_SUBJECT:
            return subject_of(match["x"], speaker, names)  # «our production's database» is that of production
        return f"{subject_of('i', speaker, names)}'s {RELATIVES.get(match['x'], match['x'])}"
    if ("的" in folded or "'s " in folded) and (match := _OWNED.fullmatch(folded)):
        return f"{subject_of(match['s'], speaker, names)}'s {RELATIVES.get(match['x'], match['x'])}"
    folded = ARTICLE.sub("", folded)
    return RELATIVES.get(folded, folded)


def told_of(text: str, speaker: str | None = None, names: Sequence[str] = ()) -> str:
    """The canonical subject of a statement, of which a term of kinship alone is one's own: «mum lives in Leith», 妹妹对花生过敏."""
    own = fold(text).strip(EDGES) in KIN
    return subject_of(f"my {text.strip()}" if own else text, speaker, names)


def predicate_name(text: str) -> str:
    """A predicate's name without article, case and spelling of one side of the ocean."""
    name = ARTICLE.sub("", re.sub(r"[\s_]+", " ", fold(text)).strip()).strip(EDGES)
    return name.replace("favorite", "favourite").replace("color", "colour")


def family(predicate: str) -> str:
    """What a predicate and its denial have in common: the known one that it is or denies, else the stem of its verb."""
    if known := BY_NAME.get(predicate):
        return known.opposite_of or known.name
    affirmed = predicate
    while match := _DENIES.match(affirmed):
        affirmed = affirmed[match.end() :]
    affirmed = _HAVE.sub("have", _WITHIN.sub("", affirmed)).strip() or predicate
    for name in (affirmed, affirmed + "s", _VERBS.get(affirmed, affirmed)):
        if known := BY_NAME.get(name):
            return known.opposite_of or known.name
    stems = tokens(affirmed).words if affirmed.isascii() else []
    found = " ".join(stems) or affirmed
    return _VERBS.get(found, found)


def denies(predicate: str) -> bool:
    """Whether a predicate denies what its family affirms; «does not hate» denies a denial."""
    denied = False
    while predicate not in BY_NAME and (match := _DENIES.match(predicate)):
        predicate, denied = predicate[match.end() :], not denied
    denied = denied is not bool(predicate not in BY_NAME and _WITHIN.search(predicate))
    known = BY_NAME.get(predicate) or BY_NAME.get(f"{predicate}s")
    return denied is not bool(known and known.opposite_of)


def attribute(name: str) -> str:
    """The one name of an attribute that both languages know, or nothing: «line manager» and 直属主管 are `manager`."""
    if name in ATTRIBUTES:
        return ATTRIBUTES[name]
    if UNSPACED_RUN.search(name):
        for size in range(min(_LONGEST_ATTRIBUTE, len(name) - 1), 0, -1):
            if name[-size:] in ATTRIBUTES and name[:-size] in LOOSE:
                return ATTRIBUTES[name[-size:]]
        return ""
    words = name.split()
    return ATTRIBUTES.get(" ".join(words[1:]), "") if len(words) > 1 and words[0] in LOOSE else ""


def tail(text: str) -> str:
    """The longest attribute that a name ends in: «limit» of «retry limit», 预算 of 年会预算."""
    if UNSPACED_RUN.search(text[-1:]):
        return next((text[-size:] for size in range(min(_LONGEST_ATTRIBUTE, len(text)), 0, -1) if text[-size:] in ATTRIBUTES), "")
    words = text.split()
    return next((phrase for i in range(len(words)) if (phrase := " ".join(words[i:])) in ATTRIBUTES), "")


def holds_one(predicate: str) -> bool:
    """Whether a predicate outside the table is an attribute of which a thing has one."""
    return bool(attribute(predicate) or tail(predicate)) or predicate.startswith(ONE)


def cardinality_of(predicate: str, object_: str) -> Cardinality:
    """What the table says; else an attribute, a number, a date has one value at a time, and of the rest nobody knows."""
    if known := BY_NAME.get(predicate):
        return known.cardinality
    return SINGLE if holds_one(predicate) or values.sort_of(object_) else UNKNOWN


def topic(subject: str, predicate: str) -> str:
    """What a slot outside the table is about: its words in one order, without the owner; Chinese as it is written."""
    known = attribute(predicate)
    told = re.sub(r"最(?:喜欢|爱)的?", "favourite ", f"{subject} {known or predicate}")
    told = re.sub(r"(?:[^ ]*的)?[那这][个套款场条次辆家]?", "", told)
    words: set[str] = {known} if known else set()
    written = ""
    for place, run in enumerate(UNSPACED_RUN.split(told)):
        if place % 2:
            kin, rest = _kin(run.replace("的", ""))
            written += rest
            words |= {*tokens(kin).words}
        else:
            words |= {SHORT.get(word, word) for raw in run.split() for word in tokens(SHORT.get(raw, raw.removesuffix("'s"))).words}
    if written and not known and (attr := tail(written)):
        written = written.removesuffix(attr)
        words |= {*tokens(ATTRIBUTES[attr]).words}
    return " ".join(
        [
            *sorted(words - {USER, known} | {*tokens(known).words} - _GROUPS),
            *_again(subject, predicate),
            *([written] if written else []),
        ]
    )


def _again(subject: str, predicate: str) -> list[str]:
    """The relations that a subject goes through twice: «my boss's boss», 我师父的师父."""
    if "'s " not in subject and "的" not in subject:
        return []
    links = [attribute(link) or RELATIVES.get(link, link) for link in re.split("'s |的", subject)]
    if attribute(predicate) in ONLY:
        links.append(attribute(predicate))
    words = Counter(word for link in links for word in tokens(link).words)
    return [f"{word}*{times}" for word, times in sorted(words.items()) if times > 1]


def _kin(run: str) -> tuple[str, str]:
    """A term of kinship that Chinese text begins with, in English, and what follows it."""
    for size in (3, 2, 1):
        if (kin := RELATIVES.get(run[:size])) and (size > 1 or len(run) != 2):
            return kin, run[size:]
    return "", run


# Of whom somebody has one, and whom one calls by name.
ONLY = frozenset("manager landlord teacher doctor accountant coach hairdresser principal owner secretary".split())


def finished(subject: str, predicate: str, object_: str, cardinality: Cardinality, *, told: bool = False) -> Slot:
    """
    The slot with its key.

    told: its cardinality was given by the caller, so that a number is a number whatever it counts
    """
    whom = subject if (own := subject.removeprefix(f"{USER}'s ")).partition("'s ")[0] in KIN else own  # 年糕 is 我家年糕
    if cardinality is not SINGLE:
        key = f"{whom}|{family(predicate)}|{values.thing(object_)}"
    elif predicate == "name" and ATTRIBUTES.get((whose := subject.rpartition("'s "))[2]) in ONLY:
        key = topic(whose[0], whose[2])  # «my boss is called Ann» and «my boss is Ann»
    elif predicate in BY_NAME:
        key = f"{whom}|{family(predicate)}"
    else:
        key = topic(subject, predicate)
        sort = "" if told or holds_one(predicate) else values.sort_of(object_)
        key = f"{key}|{sort}" if sort and sort != "number" else key
    return Slot(subject, predicate, object_, cardinality, key)


def known_or(name: str) -> Predicate:
    """The predicate of the table by any of its names, or one of its own."""
    return BY_NAME.get(name) or Predicate(name, UNKNOWN, "")
