"""
What the frames of both languages share: what reads as a subject, what is only a remark, which aspect a value is about.

A frame names its subject, predicate and object by their places: something is so, has so many, does something, does it
no more. How many values it can have follows from the sort of object (a number, a time, a colour: one) and from the noun
(a port, a budget, a manager: one); what is liked, used or eaten may be many.
"""

# ruff: noqa: E501  (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

import re
from typing import NamedTuple

from yiku.rules import values
from yiku.rules.cues import compiled
from yiku.rules.keys import attribute, holds_one, tail
from yiku.rules.predicates import RELATIVES
from yiku.rules.shared_words import TWINS
from yiku.types import Cardinality


class Found(NamedTuple):
    """What a frame says, in folded words; `takes` is the sort of object that it asks for."""

    subject: str
    predicate: str
    object: str
    cardinality: Cardinality
    takes: str = ""


COLOURS = frozenset(word for word, chinese in TWINS.items() if chinese.endswith("色")) | {"teal", "beige", "turquoise", "golden"}
_DIMENSIONS = {"s": "duration", "m": "length", "g": "weight", "l": "volume", "b": "size", "degc": "temperature", "pct": "share", "eur": "price", "usd": "price", "cny": "price", "nok": "price"}  # fmt: skip
# Things of which one has one, and of which more can be said than which one it is.
THINGS = frozenset("car bike laptop watch camera hair room desk school hotel phone app tool gate class spot image".split())
CLOSED = frozenset(["relationship status", "diet", "age", "job"])  # whose objects come from a closed list
# Subjects that say nothing of which one is meant.
NOBODY = frozenset(
    "i we home it there here what that meeting call event appointment thing one talk session party plan problem point time day".split()
)
# What may be said of a thing and is no value of it.
_REMARKS = frozenset(
    "broken wrong full boring hiring slow fast ready done fine good bad great nice late early tired busy sick ill happy sad hard easy high low long short heavy huge tiny old new open closed down up here there gone lost missing dead dirty clean empty ugly beautiful important weird strange terrible awful perfect ok okay okey right true false unclear unknown free cheap expensive asleep awake hungry lovely amazing annoying flat hot cold warm wet dry loud quiet noisy safe dangerous useless useful painful stuck dying leaking ringing working running".split()
)
PERSONS = frozenset(RELATIVES.values()) | frozenset(
    "aunt uncle cousin niece nephew grandma grandpa granny baby partner grandson granddaughter".split()
)
_STOP = re.compile(
    r"\b(?:that|which|who|because|when|while|if|why|how|what|where|not|never|you|it|they|he|she|this|there|let|let's)\b|n't\b"
)


# Behind an object: when, how often, why.
AFTERWARDS = re.compile(r"(?>(?: (?:every|each) (?!\d|two|three|four|five|six|seven|eight|ten|twelve|other).*| on \w+days?| at (?:home|work|night|all)| in the (?:morning|evening|afternoon)s?| these days| all the time| a bit| a lot| any ?more| any longer| now| when .*| because .*| after all| with (?:everything|breakfast|lunch)| for (?:breakfast|lunch|dinner)| too| as well)+)$")  # fmt: skip
TAILS = r"(?>(?:,.*| so (?:pls|please|i|we|you|send|plan|don't|dont|book|that|the)\b.*| now| again| daily| at last| for .*| because .*)+)$"
PREPOSITION = re.compile(r"^(?:on|at|in|by|from|to|every|each) (?:the )?(?=.)")


# A request begins with one of these.
ASKED_FOR = (
    r"(?:please |now |then )?(?:re)?(?:write|tell|give|make|create|expand|combine|use|using|define|generate|list|explain|show|provide|summari[sz]e|draft"
    r"|find|add|remove|change|continue|describe|translate|compare|suggest|recommend|pick|since|when|if|while|after|before|especially)\b"
)
PRONOUNS = frozenset("it them this that these those you him her us me one".split())
# The adverbs behind a subject: «I actually», «we always».
BEHIND_I = (
    r"^(i|we)(?: (?:actually|also|really|just|always|usually|currently|still|already|recently|mostly|often|even|only|now"
    r"|personally|honestly|generally|normally|typically|sometimes|definitely|absolutely))+$"
)
# No thing, but what somebody does or asks for: «I also got», «we can», «rewrite chapter».
SENTENCE = rf"(?:i|we) |(?:i|we)'(?:d|ll)\b|{ASKED_FOR}"


def is_subject(subject: str) -> bool:
    """Whether this reads as somebody or something, not as half a sentence."""
    if len(subject.split()) > 7 or len(subject) > 48 or compiled(SENTENCE).match(subject) or _STOP.search(subject):
        return False
    return (
        re.search(
            r"[你您他她它这那谁]$|^[你您他她它]|[,，;；。!！?？]|^(?:这|那)(?:不|就|只)|什么|怎么|如何|把|^(?:at|in|on|to|for|with|from|by|of|as) ",
            subject,
        )
        is None
    )


def is_remark(object_: str, said: str) -> bool:
    """Whether an object is a remark rather than a value: «broken», «a mess», «hard to spell», «the one that …»."""
    words = object_.split()
    if not words or re.search(
        r"^(?:too|very|so|quite|really|pretty|a bit|a lot|not|always|never|still|being|going|getting|made of|shaped|like|full of|out of|about to)\b|\bto (?!\d)\w+|^(?:my|your|his|her) ",
        object_,
    ):
        return True
    if re.search(
        r"^(?:很|太|非常|挺|好像|不|没|谁|什么|怎么|我的|个|一个[^\d]*(?:问题|噩梦))|(?:错|假|真|坏)的$|做\w*的$|问题$|定的$|城堡$",
        object_,
    ):
        return True
    if words[0] in ("a", "an") and words[-1] in frozenset(
        "mess pain problem nightmare castle joke disaster secret mystery bit".split()
    ):
        return True
    return words[0] in _REMARKS and said[:1].islower() and len(words) < 4


def aspect_in(object_: str) -> str:
    """Which aspect of a thing such an object is about: its colour, weight, time …; empty for words and plain numbers."""
    if object_ in COLOURS or compiled(r"[\u4e00-\u9fff]{1,2}色的?").fullmatch(object_):
        return "colour"
    sort = values.sort_of(compiled(r"^(?:每天|每日|天天|每周)(?:的)?(?=.)").sub("", object_))
    if sort == "when" or compiled(r"at \d{1,2}").fullmatch(object_):
        return "date" if "@" in values.form(object_) else "time"
    return _DIMENSIONS.get(sort, "")


def aspect_of(name: str, object_: str) -> str:
    """Which aspect of what a name stands for such an object is about; empty when the name says it, or nothing does."""
    said = AFTERWARDS.sub("", compiled(TAILS).sub("", object_))
    aspect = aspect_in(said) or aspect_in(PREPOSITION.sub("", said))
    return "" if holds_one(name) and attribute(tail(name)) not in THINGS else aspect
