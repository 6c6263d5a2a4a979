"""
Extract the task from a user's message, and detect whether a message renews or leaves the current task.

    Hi! I'm on Windows. Could you please help me fix the login page? Thanks!     fix the login page
    你好，麻烦帮我把上周的会议记录整理成表格，谢谢啦～                                   把上周的会议记录整理成表格

The first sentence that asks for something is the task. One that says too little alone (`find out why`) stands
behind the sentence before it. A message that asks for nothing new (`thanks`, 好的, `go on`) has no task.

`switched` says whether a message leaves the running task for another. Without a model this can only be seen where
it is said (換话题, `on another note`), or where a whole new request shares no word with the task. A
message that leans on the last one, by a pronoun or a word like `also`, never switches; in doubt nothing does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache, lru_cache

from yiku.rules.lexicon import built_in
from yiku.rules.lexicon.lists import at_end, at_start, has, looked_for, made_of, words
from yiku.rules.privacy import fence
from yiku.rules.text import analyze
from yiku.rules.text.analyze import UNSPACED_RUN
from yiku.rules.text.blocks import LONGEST_LINE, Kind, blocks
from yiku.rules.text.folding import folded
from yiku.rules.text.sentences import ASKING, MARKS, STOPS, split

TASK_CHARS = 80  # of a task; a Chinese character counts as 4/3, so 60 of them
READ_CHARS = 8_000  # of a message, from its beginning
READ_FIRST, READ_LAST = 60, 20  # sentences of it that are read; a list of a thousand short lines asks for nothing in its middle
ENOUGH_WORDS = 2  # that carry meaning, for a request to stand alone
NEW_WORDS = 2.5  # for one to begin another task where nothing says so; with 2, a third of the switches were follow-ups
GOING_ON_WORDS = 4  # for one that seems to go on with the last

# ------------------------------------------------------------------ lines


def short(text: str, at_most: int = TASK_CHARS) -> str:
    """Shorten a text to one line, cut between words; a Chinese character counts as 4/3."""
    flat = " ".join(text.split())
    if width(flat) <= at_most:
        return flat
    end, wide = (at_most - 1, at_most) if flat.isascii() else (0, 1.0)  # one is for the sign of omission
    while (wide := wide + (4 / 3 if UNSPACED_RUN.match(flat[end]) else 1)) <= at_most:
        end += 1
    kept = flat[:end]
    if " " in kept[-20:] and not UNSPACED_RUN.match(flat[end - 1 : end + 1]):
        kept = kept[: kept.rindex(" ")]
    return kept.rstrip(_AROUND) + "…"


def width(text: str) -> float:
    """Return the width of a text in Latin letters; a Chinese character counts as 4/3."""
    return len(text) + sum(map(len, UNSPACED_RUN.findall(text))) / 3


def sentences(text: str) -> list[str]:
    """Return the stripped sentences of a text, in order."""
    return [sentence for one in split(text, built_in()) if (sentence := one.strip())]


# ------------------------------------------------------------------ the task in a message

_AROUND = f" \t\n,，、;；:：~～—-{STOPS}"  # around a request; a question keeps its mark
_SIGNS = re.compile(f"[{re.escape(_AROUND)}]*")
_FOLLOWED = re.compile(rf"[\s,、;:~～—{STOPS}]|$")  # what may stand behind a word that says nothing
_PARTED = re.compile(rf"\s*(?:[,、;:~～—{STOPS}]|$)")  # a sign stands there
_TYPED = (Kind.PROSE, Kind.QUOTATION)  # lines such as "Budget: 200" are no prose, and typed
_PASTED = (">", "<", "{")
_NAME = re.compile(r"[A-Z][a-z]+,\s*")
_PLACED = re.compile(r"!?\[[^\[\]\n]{0,200}\]\((?:data:|https?:)[^)\s]*\)|\[([^\[\]\s:：]{1,20})[^\[\]\n]*\]")


def task(message: str) -> str:
    """Return the task of a message, at most TASK_CHARS; empty if it asks for nothing new."""
    return _task(_head(message))


@lru_cache(maxsize=2)  # a message is asked what it wants, whether it leaves the task, and whether it renews it
def _task(head: str) -> str:
    told = _read(head) if _typed(head).strip() else _told(sentences(_without_places(head))[-1:])
    if not told:
        return ""
    place = next((place for place, (text, asks) in enumerate(told) if asks and _words(text)), None)
    if place is None:
        place = next((place for place, (text, _) in enumerate(told) if _weight(_words(text)) >= ENOUGH_WORDS), 0)
    text = told[place][0]
    before = next((said for said, _ in told[:place][::-1] if _weight(_telling(said)) >= ENOUGH_WORDS), "")
    own = _telling(text)
    if before and not own:
        text = before
    elif before and _weight(own) < ENOUGH_WORDS:
        text = f"{short(before, TASK_CHARS * 2 // 3)}{'：' if UNSPACED_RUN.search(text) else ': '}{text}"
    return short(text)


def asks(message: str) -> bool:
    """Whether a message asks for something: a request, a question, a command."""
    return any(asked for _, asked in _read(_head(message)))


def _says_something(text: str) -> bool:
    """Whether a sentence is more than thanks, a yes, "go on" or a report of success."""
    told = folded(text)
    if not any(map(str.isalnum, told)) or made_of(told, "records.noise", "records.nothing"):
        return False
    behind = at_start(told, "records.reported")
    return not behind or not has(told[behind:].partition(",")[0], "records.went_well")


def typed(message: str) -> str:
    """Return what a person typed, without recalled memories, code, quotations, logs and pictures."""
    return _typed(_head(message))


def _head(message: str) -> str:
    return fence.strip_all(message)[:READ_CHARS]


@lru_cache(maxsize=2)
def _typed(head: str) -> str:
    lines = ((block.kind, line) for block in blocks(head) for line in head[block.start : block.end].splitlines())
    typed = (line for kind, line in lines if kind in _TYPED or len(line) > LONGEST_LINE)
    return _without_places("\n".join(line for line in typed if not line.lstrip().startswith(_PASTED)))


def _without_places(text: str) -> str:
    """Drop pictures, links and names of attached files."""
    return _PLACED.sub(lambda place: " " if not place[1] or folded(place[1]) in words("records.attached") else place[0], text)


@lru_cache(maxsize=2)
def _read(head: str) -> tuple[tuple[str, bool], ...]:
    """Return the telling sentences at the beginning and end of what was typed."""
    said = sentences(_typed(head))
    said = said if len(said) <= READ_FIRST + READ_LAST else [*said[:READ_FIRST], *said[-READ_LAST:]]
    return _told(said)


def _told(said: Sequence[str]) -> tuple[tuple[str, bool], ...]:
    """Return the telling sentences, stripped, each with whether it asks for something."""
    return tuple((text, asked) for text, asked in map(_stripped, said) if _says_something(text))


def _stripped(sentence: str) -> tuple[str, bool]:
    """Strip greetings and politeness; return whether the sentence asks for something."""
    text = sentence.strip(" \t-*•·")
    told = folded(text)
    at, requested = 0, False
    while True:
        if (behind := _opened(text, told, at)) == at:
            behind = _asked(told, at)
            requested |= behind > at
        if behind == at:
            break
        at = behind
    end = _closed(told, at)
    asked = requested or at_start(told, "records.orders", at=at) > at or _is_question(told[at:])
    if requested:
        end = _firm(told, at, end)
    return text[at:end].strip(_AROUND), asked


def _opened(text: str, told: str, at: int) -> int:
    """Skip a greeting, a filler, a change of topic or an address."""
    behind = at_start(told, "records.opening", at=at)
    if behind > at and (_FOLLOWED.match(told, behind) or _asked(told, behind) > behind):
        return _skipped(told, behind)
    behind = at_start(told, "records.opening_alone", at=at)
    if behind > at and _PARTED.match(told, behind):
        return _skipped(told, behind)
    name = _NAME.match(text, at)
    if name and _asked(told, name.end()) > name.end():
        return name.end()
    return _skipped(told, behind) if (behind := _left(told, at)) > at else at


def _asked(told: str, at: int) -> int:
    """Skip the words that make a request."""
    if at_start(told, "records.no_asking", at=at) > at:
        return at
    behind = at_start(told, "records.asking", at=at)
    if behind == at and (may := at_start(told, "records.may_ask", at=at)) > at:
        behind = may if at_start(told, "records.asked_for", "records.orders", at=may) > may else at
    return _skipped(told, behind) if behind > at else at


def _skipped(told: str, at: int) -> int:
    return _SIGNS.match(told, at).end()  # type: ignore[union-attr]  # it matches anything


def _closed(told: str, at: int) -> int:
    """Return where the closing politeness begins."""
    end = len(told)
    while word := at_end(bare := told[at:end].rstrip(_AROUND + MARKS), "records.closing"):
        end = at + len(bare[: -len(word)].rstrip(_AROUND))
    return end


def _is_question(told: str) -> bool:
    bare = told.rstrip()
    if bare.endswith(tuple(ASKING)) or at_start(bare, "records.question_first"):
        return True
    return has(bare, "records.question") or bool(at_end(bare, "records.question_end"))


def _firm(told: str, at: int, end: int) -> int:
    """Return the end of a request without polite particles: "can you …?" is no question."""
    bare = told[at:end].rstrip(_AROUND + ASKING)
    while word := at_end(bare, "records.closing_particles"):
        bare = bare.removesuffix(word)
        end = at + len(bare)
    wonders = at_start(bare, "records.wonders_first") or has(bare, "records.wonders")
    return end if wonders else at + len(bare)


# ------------------------------------------------------------------ another task


def switched(previous_task: str, message: str) -> bool:
    """Whether a message leaves the running task (a line from `task`) for another."""
    if not previous_task:
        return False
    said = folded(typed(message))
    if any(map(_leaves, sentences(said[:400]))):
        return True
    wanted, behind = task(message), _skipped(said, 0)
    while (begin := behind) == at_start(said, "records.aside", at=begin) < (end := at_start(said, "records.opening", at=begin)):
        behind = _skipped(said, end)
    aside = (behind := at_start(said, "records.aside", at=begin)) > begin
    rest = said[behind:].strip(_AROUND)
    if not wanted or not asks(message) or _leans(rest) or (not aside and has(rest, "records.persons")):
        return False
    telling = _telling(wanted)
    if _weight(telling) < (1 if aside else GOING_ON_WORDS if at_start(rest, "records.goes_on") else NEW_WORDS):
        return False
    return telling.isdisjoint(_words(previous_task))


def renewed(previous_task: str, message: str) -> bool:
    """Whether a self-contained message asks for more of the running task."""
    telling = _telling(task(message))
    if _weight(telling) < ENOUGH_WORDS or telling.isdisjoint(_words(previous_task)):
        return False
    return asks(message) and not _leans(folded(typed(message)))


def _leaves(told: str) -> bool:
    """Whether a sentence announces another topic."""
    begin = _skipped(told, 0)
    while _left(told, begin) == begin:
        if (behind := at_start(told, "records.opening", at=begin)) == begin:
            return False
        begin = _skipped(told, behind)
    return True


def _left(told: str, at: int) -> int:
    """Skip the words that change the topic."""
    if (behind := at_start(told, "records.leaves", at=at)) > at:
        return behind
    behind = at_start(told, "records.leaves_alone", at=at)
    return behind if _PARTED.match(told, behind) else at


def _leans(told: str) -> bool:
    """Whether a message depends on what was said before."""
    told = looked_for("records.no_leaning").sub(" ", told)
    begin, bare = _skipped(told, 0), told.rstrip(_AROUND + ASKING)
    return (
        at_start(told, "records.leans_first", at=begin) > begin
        or has(told, "records.leans")
        or bool(at_end(bare, "records.leans_last"))
    )


@cache
def _generic() -> frozenset[str]:
    return frozenset(analyze.tokens(" ".join(words("records.generic"))).words)


def _telling(text: str) -> set[str]:
    """Return the search tokens of a text without generic ones."""
    return _words(text) - _generic()


def _words(text: str) -> set[str]:
    """Return the meaningful search tokens of a text."""
    return {word for word in analyze.tokens(text[:READ_CHARS]).words if not analyze.FUNCTION_CHARACTERS.issuperset(word)}


def _weight(words: Collection[str]) -> float:
    """Count words; a Chinese bigram counts half."""
    told = (word for word in words if not word.isdecimal() and analyze.FUNCTION_CHARACTERS.isdisjoint(word))
    return sum(0.5 if UNSPACED_RUN.match(word) else 1 for word in told)
