"""
What takes back what was said: jokes, slips, words to be forgotten; and which statement is meant.

A marker is a sentence of its own («just kidding», 上一条作废), or leads a sentence that goes on («haha no, I still live
in Ghent»). What it takes back is the last thing told in its session, or what its own words name: «the 5:10 was Ilse
typing, disregard». A slip («I got that wrong about Dan») takes back only what it names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Literal

from yiku.rules import analyze, cues, slots, values
from yiku.rules.lexicon import built_in
from yiku.rules.text.sentences import split
from yiku.types import SemanticMemory

Marker = Literal["joke", "void", "slip"]
JOKE_REACHES = timedelta(days=3)  # outside of its session, and only to what it names
SLIP_REACHES = timedelta(days=31)
DAY = timedelta(days=1)
ENOUGH = 6  # three words, or six Chinese characters
_MARKS = f"{cues.JOKE}|{cues.VOID}"
_CLAUSE = re.compile(r".+?(?:[,，:：]\s*|\s(?:and|but) |$)", re.DOTALL)
# What people call a statement whose own words are others: «about the job» takes back 我在腾讯上班.
_NOUNS = {
    "works at": r"\b(?:job|work)\b|工作|上班",
    "lives in": r"\b(?:move|moving|address)\b|搬家|住址",
    "spouse": r"\b(?:marriage|wedding)\b|结婚",
}
LONGEST = 300  # characters
LOOKED_AT = 2_000  # characters of a statement that may be taken back


def marker(text: str) -> Marker | None:
    """Whether a text takes back what was said, and as what. A long one is a story, which takes nothing back."""
    if len(text) > LONGEST:
        return None
    folded = analyze.fold(text)
    if re.search(cues.NOT_BACK, folded):
        return None
    if re.search(cues.JOKE, folded):
        return "joke"
    if re.search(cues.VOID, folded):
        return "void"
    return "slip" if re.search(cues.MISTAKE, folded) else None


def rest(text: str) -> str:
    """What a text says beside taking back."""
    kept: list[str] = []
    for part in (part for sentence in split(analyze.normal(text), built_in()) for part in _CLAUSE.findall(sentence)):
        bare = re.sub(_MARKS, "", part, flags=re.IGNORECASE)
        if (
            re.search(_MARKS, analyze.fold(part))
            and len(bare.strip(" 啦呢的了.,!，。！")) > 1
            and re.search(r"(?i)\bstill\b|还|照旧", bare)
        ):
            kept.append(bare)
        elif not re.search(f"{_MARKS}|{cues.MISTAKE}", analyze.fold(part)):
            kept.append(part)
    return re.sub(r"(?i)\bstill (?=live|work|have|am|use|drive)|还(?=住|在|用|叫|做|是)|照旧", "", "".join(kept).strip(" ,，。"))


def states(text: str) -> bool:
    """Whether what follows the words that take back is a statement of its own, worth keeping."""
    folded = analyze.fold(text)
    if re.search(rf"{cues.NOT_STATED}|{cues.NOT_PLAIN}|(?a:\b(?:was|were|had|did)\b)", folded):
        return False
    return (
        re.search(
            r"(?a:\b(?:is|are|am|i'm|lives?|works?|has|have|likes?|runs?|now|instead)\b|\w's )|[是在有叫住]|换成|改[成为到用]",
            folded,
        )
        is not None
    )


def says_more(text: str) -> bool:
    """Whether a text says more beside taking back than a word or two of why."""
    told = rest(text)
    return states(told) or sum(2 if word.isascii() else len(word) for word in _words(told)) >= ENOUGH


def meant(
    new: SemanticMemory, told: Sequence[SemanticMemory], sort: Marker, recent: Sequence[SemanticMemory] | None = None
) -> SemanticMemory | None:
    """
    The statement that is taken back: of those told in the session what the words name, else the last; elsewhere only what they name.

    recent: of those told the ones that may be meant without a name, where not all may: «just kidding» is about what was said just before it
    """
    session, actor = new.sources[0].session, new.sources[0].actor
    words = [*dict.fromkeys(_words(new.content))]
    folded = analyze.fold(new.content)
    spoken_of = {*slots.asked(folded), *(predicate for predicate, noun in _NOUNS.items() if re.search(noun, folded))}

    def named(memory: SemanticMemory) -> list[int]:
        there = set(_words(memory.content))
        places = [place for place, word in enumerate(words) if word in there]
        return [*places, len(words)] if memory.predicate in spoken_of else places

    by_same = [memory for memory in told if any(source.actor == actor for source in memory.sources)]
    here = [memory for memory in by_same if any(source.session == session for source in memory.sources)]
    if sort != "slip":
        naming = [(named(memory)[0], -place, memory) for place, memory in enumerate(here) if named(memory)]
        if naming:
            return min(naming, key=lambda found: found[:2])[2]
        before = (new.said_at - DAY).date()
        if re.search(cues.YESTERDAY, folded) and (yesterday := [one for one in by_same if one.said_at.date() == before]):
            return max(enumerate(yesterday), key=lambda told: (len(named(told[1])), told[0]))[1]
        elsewhere = re.search(cues.NAMED, folded) is not None
        if not elsewhere and (latest := [memory for memory in here if recent is None or memory in recent]):
            return latest[-1]
        reach, least = JOKE_REACHES, 1
    else:
        reach, least = SLIP_REACHES, 2
    near = [memory for memory in by_same if new.said_at - memory.said_at <= reach]
    among = [
        (len(named(memory)) + 2 * _one_slot(new, memory), place, memory) for place, memory in enumerate(near) if _sure(new, memory)
    ]
    best = max(among, key=lambda found: found[:2], default=None)
    return best[2] if best is not None and best[0] >= least else None


def _one_slot(new: SemanticMemory, memory: SemanticMemory) -> bool:
    return (
        new.subject is not None and new.predicate is not None and (new.subject, new.predicate) == (memory.subject, memory.predicate)
    )


def _sure(new: SemanticMemory, memory: SemanticMemory) -> bool:
    """Not what says the same as the new statement, nor what speaks of another person's like thing."""
    return not (
        new.object
        and memory.object
        and _one_slot(new, memory)
        and values.same(new.object, new.said_at, memory.object, memory.said_at)
    )


def _words(text: str) -> tuple[str, ...]:
    """The words that name something: no marker, no stop word, no single character."""
    return _telling(text[:LOOKED_AT])


@lru_cache(maxsize=128)  # a joke looks through what was told last, several times
def _telling(text: str) -> tuple[str, ...]:
    bare = re.sub(f"{_MARKS}|{cues.MISTAKE}", " ", analyze.fold(text))
    found = analyze.tokens(bare).words
    return tuple(word for word in found if not analyze.FUNCTION_CHARACTERS.issuperset(word) and word not in _EMPTY)


_EMPTY = frozenset(
    "said say tell told messag last thing today tomorrow yesterdai just realli time now 今天 昨天 明天 现在 上次 刚才 一下".split()
)
