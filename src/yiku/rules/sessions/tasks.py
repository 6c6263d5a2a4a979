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
    parts = _read(head) if _typed(head).strip() else _telling_sentences(sentences(_without_places(head))[-1:])
    if not parts:
        return ""
    place = next((place for place, (text, asks) in enumerate(parts) if asks and _words(text)), None)
    if place is None:
        place = next((place for place, (text, _) in enumerate(parts) if _weight(_words(text)) >= ENOUGH_WORDS), 0)
    text = parts[place][0]
    before = next((said for said, _ in parts[:place][::-1] if _weight(_telling(said)) >= ENOUGH_WORDS), "")
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
    folded_text = folded(text)
    if not any(map(str.isalnum, folded_text)) or made_of(folded_text, "records.noise", "records.nothing"):
        return False
    after = at_start(folded_text, "records.reported")
    return not after or not has(folded_text[after:].partition(",")[0], "records.went_well")


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
    return _telling_sentences(said)


def _telling_sentences(said: Sequence[str]) -> tuple[tuple[str, bool], ...]:
    """Return the telling sentences, stripped, each with whether it asks for something."""
    return tuple((text, asked) for text, asked in map(_strip_politeness, said) if _says_something(text))


def _strip_politeness(sentence: str) -> tuple[str, bool]:
    """Strip greetings and politeness; return whether the sentence asks for something."""
    text = sentence.strip(" \t-*•·")
    folded_text = folded(text)
    at, requested = 0, False
    while True:
        if (after := _skip_opening(text, folded_text, at)) == at:
            after = _skip_request(folded_text, at)
            requested |= after > at
        if after == at:
            break
        at = after
    end = _find_closing(folded_text, at)
    asked = requested or at_start(folded_text, "records.orders", at=at) > at or _is_question(folded_text[at:])
    if requested:
        end = _firm(folded_text, at, end)
    return text[at:end].strip(_AROUND), asked


def _skip_opening(text: str, folded_text: str, at: int) -> int:
    """Skip a greeting, a filler, a change of topic or an address."""
    after = at_start(folded_text, "records.opening", at=at)
    if after > at and (_FOLLOWED.match(folded_text, after) or _skip_request(folded_text, after) > after):
        return _skip_signs(folded_text, after)
    after = at_start(folded_text, "records.opening_alone", at=at)
    if after > at and _PARTED.match(folded_text, after):
        return _skip_signs(folded_text, after)
    name = _NAME.match(text, at)
    if name and _skip_request(folded_text, name.end()) > name.end():
        return name.end()
    return _skip_signs(folded_text, after) if (after := _skip_leave(folded_text, at)) > at else at


def _skip_request(folded_text: str, at: int) -> int:
    """Skip the words that make a request."""
    if at_start(folded_text, "records.no_asking", at=at) > at:
        return at
    after = at_start(folded_text, "records.asking", at=at)
    if after == at and (may := at_start(folded_text, "records.may_ask", at=at)) > at:
        after = may if at_start(folded_text, "records.asked_for", "records.orders", at=may) > may else at
    return _skip_signs(folded_text, after) if after > at else at


def _skip_signs(folded_text: str, at: int) -> int:
    return _SIGNS.match(folded_text, at).end()  # type: ignore[union-attr]  # it matches anything


def _find_closing(folded_text: str, at: int) -> int:
    """Return where the closing politeness begins."""
    end = len(folded_text)
    while word := at_end(bare := folded_text[at:end].rstrip(_AROUND + MARKS), "records.closing"):
        end = at + len(bare[: -len(word)].rstrip(_AROUND))
    return end


def _is_question(folded_text: str) -> bool:
    bare = folded_text.rstrip()
    if bare.endswith(tuple(ASKING)) or at_start(bare, "records.question_first"):
        return True
    return has(bare, "records.question") or bool(at_end(bare, "records.question_end"))


def _firm(folded_text: str, at: int, end: int) -> int:
    """Return the end of a request without polite particles: "can you …?" is no question."""
    bare = folded_text[at:end].rstrip(_AROUND + ASKING)
    while word := at_end(bare, "records.closing_particles"):
        bare = bare.removesuffix(word)
        end = at + len(bare)
    wonders = at_start(bare, "records.wonders_first") or has(bare, "records.wonders")
    return end if wonders else at + len(bare)


# ------------------------------------------------------------------ another task


def switches(previous_task: str, message: str) -> bool:
    """Whether a message leaves the running task (a line from `task`) for another."""
    if not previous_task:
        return False
    said = folded(typed(message))
    if any(map(_leaves, sentences(said[:400]))):
        return True
    wanted, after = task(message), _skip_signs(said, 0)
    while (begin := after) == at_start(said, "records.aside", at=begin) < (end := at_start(said, "records.opening", at=begin)):
        after = _skip_signs(said, end)
    aside = (after := at_start(said, "records.aside", at=begin)) > begin
    rest = said[after:].strip(_AROUND)
    if not wanted or not asks(message) or _leans(rest) or (not aside and has(rest, "records.persons")):
        return False
    telling = _telling(wanted)
    if _weight(telling) < (1 if aside else GOING_ON_WORDS if at_start(rest, "records.goes_on") else NEW_WORDS):
        return False
    return telling.isdisjoint(_words(previous_task))


def renews(previous_task: str, message: str) -> bool:
    """Whether a self-contained message asks for more of the running task."""
    telling = _telling(task(message))
    if _weight(telling) < ENOUGH_WORDS or telling.isdisjoint(_words(previous_task)):
        return False
    return asks(message) and not _leans(folded(typed(message)))


def _leaves(folded_text: str) -> bool:
    """Whether a sentence announces another topic."""
    begin = _skip_signs(folded_text, 0)
    while _skip_leave(folded_text, begin) == begin:
        if (after := at_start(folded_text, "records.opening", at=begin)) == begin:
            return False
        begin = _skip_signs(folded_text, after)
    return True


def _skip_leave(folded_text: str, at: int) -> int:
    """Skip the words that change the topic."""
    if (after := at_start(folded_text, "records.leaves", at=at)) > at:
        return after
    after = at_start(folded_text, "records.leaves_alone", at=at)
    return after if _PARTED.match(folded_text, after) else at


def _leans(folded_text: str) -> bool:
    """Whether a message depends on what was said before."""
    folded_text = looked_for("records.no_leaning").sub(" ", folded_text)
    begin, bare = _skip_signs(folded_text, 0), folded_text.rstrip(_AROUND + ASKING)
    return (
        at_start(folded_text, "records.leans_first", at=begin) > begin
        or has(folded_text, "records.leans")
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
    counted = (word for word in words if not word.isdecimal() and analyze.FUNCTION_CHARACTERS.isdisjoint(word))
    return sum(0.5 if UNSPACED_RUN.match(word) else 1 for word in counted)
