"""
What erasing a statement or a turn means for the words around it.

A statement is taken out of a turn sentence by sentence: each one that says it, in the same words or by
filling the same slot with the same value, gives way to a mark. What must not come back is written down
as short texts, which the flow turns into keyed hashes before they are kept anywhere. What proves that a
file is clean is a list of texts to look for: those that went, their words, and what an index keeps of words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, TypeVar

from yiku.rules import analyze, slots
from yiku.rules.analyze import UNSPACED_RUN, plain
from yiku.types import SemanticMemory, Turn

T = TypeVar("T")

MARKS = {"en": "[erased]", "zh": "[已抹去]"}
WEIGHT = 12  # from here on a sentence of a turn is enough of a statement to be kept out; a Chinese character counts two
WORD_CHARS = 5  # shorter words, and shorter ends of words, stand everywhere and prove nothing; of Chinese, a pair
RUN_CHARS = 8  # of Chinese: so long a run is no part of another word by chance
STOPS = ".!?。！？；;…"  # what may end a sentence
_PARTICLES = frozenset("的了吧呢啊吗呀哦嘛啦着过")  # what may follow a Chinese statement without being part of its last word
_SENTENCE = re.compile(r"[^.!?。！？；;\n]*(?:[.!?](?!\s)[^.!?。！？；;\n]*)*[.!?。！？；;\n]*\s*")
_WORD = re.compile(r"[0-9A-Za-z\u00c0-\u024f\u0370-\u052f]+")
_NOT_WORDS = frozenset("id line role method scope superseded_by flagged_with turn blob".split())  # ids and our own words


# ------------------------------------------------------------------ taking a statement out of a text


def sentences(text: str) -> list[str]:
    """The sentences of a text, each with what ends it; together they are the text."""
    return [sentence for sentence in _SENTENCE.findall(text) if sentence]


def mark(text: str) -> str:
    """What stands where a text was, in its language."""
    return MARKS["zh" if UNSPACED_RUN.search(text) else "en"]


def without(text: str, statements: Sequence[SemanticMemory], *, speaker: str | None, names: Sequence[str]) -> str:
    """The text with a mark for each sentence that says one of the statements."""
    gone = {
        sentence
        for sentence in sentences(text)
        if any(says(sentence, statement, speaker=speaker, names=names) for statement in statements)
    }
    return marked(text, gone)


def marked(text: str, gone: Container[str]) -> str:
    """The text with a mark in the place of some of its sentences."""
    return "".join(
        mark(sentence) + sentence[len(sentence.rstrip()) :] if sentence in gone else sentence for sentence in sentences(text)
    )


def says(sentence: str, statement: SemanticMemory, *, speaker: str | None, names: Sequence[str]) -> bool:
    """Whether a sentence says a statement: with its words, or by filling its slot with its value."""
    words, told = plain(sentence), plain(statement.content)
    if not words or not told:
        return False
    if _stands_in(told, words) or (weight(words) >= WEIGHT and _stands_in(words, told)):
        return True
    if not statement.predicate or not statement.object or (value := plain(statement.object)) not in words:
        return False
    slot = slots.read(sentence, speaker=speaker, names=names)
    return slot is not None and (slot.subject, slot.predicate, plain(slot.object)) == (
        statement.subject,
        statement.predicate,
        value,
    )


def _stands_in(part: str, whole: str) -> bool:
    """Whether words stand among others as words: «tea» is not in «teapot», 我喜欢茶 not in 我喜欢茶叶."""
    at = whole.find(part)
    while at >= 0:
        before, after = whole[at - 1 : at], whole[at + len(part) : at + len(part) + 1]
        if not _joined(before, part[:1]) and not (_joined(part[-1:], after) or _goes_on(part, after)):
            return True
        at = whole.find(part, at + 1)
    return False


def _joined(left: str, right: str) -> bool:
    """Whether two characters are inside one word of letters and digits."""
    return all(side.isalnum() and not UNSPACED_RUN.match(side) for side in (left, right))


def _goes_on(part: str, after: str) -> bool:
    """Whether a Chinese word may go on behind its last character here."""
    if not UNSPACED_RUN.match(after) or after in _PARTICLES:
        return False
    runs = UNSPACED_RUN.findall(part)
    return bool(runs) and part.endswith(runs[-1]) and len(runs[-1]) < RUN_CHARS


def weight(words: str) -> int:
    """How much a text says: its characters, a Chinese one twice."""
    return len(words) + sum(map(len, UNSPACED_RUN.findall(words)))


def rewritten(value: T, text: Callable[[str], str]) -> T:
    """A JSON value with each text in it, names of fields apart, as a function has it."""
    if isinstance(value, str):
        return text(value)  # type: ignore[return-value]
    if isinstance(value, Mapping):
        return {key: rewritten(entry, text) for key, entry in value.items()}  # type: ignore[return-value]
    if isinstance(value, (list, tuple)):
        return type(value)(rewritten(entry, text) for entry in value)
    return value


# ------------------------------------------------------------------ what must not come back


def of_statement(memory: SemanticMemory) -> list[str]:
    """A statement by its words, and by its slot and value."""
    found = [f"text\0{plain(memory.content)}"]
    if memory.predicate and memory.object:
        found.append(f"slot\0{memory.subject}\0{memory.predicate}\0{plain(memory.object)}")
    return found


def of_turn(turn: Turn) -> list[str]:
    """A turn by its external id, by its place and words, and by its words alone when they say something."""
    words = plain(turn.content)
    found = [f"turn\0{turn.session}\0{turn.role}\0{turn.said_at.timestamp():.6f}\0{words}"]
    if turn.external_id is not None:
        found.append(f"external\0{turn.external_id}")
    if weight(words) >= WEIGHT:
        found.append(f"text\0{words}")
    return found


def of_session(session: str) -> str:
    """A session by its name."""
    return f"session\0{session}"


def of_record(id: str) -> str:
    """An episode, a scratchpad or an attachment by its id."""
    return f"record\0{id}"


def of_sentences(text: str) -> dict[str, set[str]]:
    """The sentences of a text that say something, by the text that stands for them."""
    found: dict[str, set[str]] = {}
    for sentence in sentences(text):
        if weight(words := plain(sentence)) >= WEIGHT:
            found.setdefault(f"text\0{words}", set()).add(sentence)
    return found


# ------------------------------------------------------------------ what proves that it is gone


def strings(value: Any) -> Iterator[str]:
    """Every text inside a value: a JSON value with the names of its fields, or one of our words without ids."""
    if isinstance(value, Enum):
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from map(str, value)
        for entry in value.values():
            yield from strings(entry)
    elif is_dataclass(value):
        for field in fields(value):
            if field.name not in _NOT_WORDS:
                yield from strings(getattr(value, field.name))
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from strings(entry)


def looked_for(texts: Iterable[str]) -> dict[str, str]:
    """
    What to look for in a file, the most telling first, and which word of the index it is, if it is one.

    Whole texts; their words as said, folded and stemmed; pairs of Chinese characters; and the ends of words,
    since an index keeps of a word only what it has beyond its neighbour.
    """
    words, stems = dict[str, None](), dict[str, None]()
    whole = [text for text in texts if len(text) >= WORD_CHARS or UNSPACED_RUN.search(text)]
    for text in texts:
        words |= dict.fromkeys(word[: analyze.TOKEN_CHARS] for word in _WORD.findall(text) if len(word) >= WORD_CHARS)
        words |= dict.fromkeys(run[: analyze.TOKEN_CHARS] for run in UNSPACED_RUN.findall(text) if len(run) > 1)
        stems |= dict.fromkeys(analyze.tokens(text).words)
    forms = dict.fromkeys([*whole, *sorted(words, key=len, reverse=True)], "")
    for form in list(forms):
        forms.setdefault(analyze.fold(form), "")
    for stem in stems:
        if (len(stem) >= WORD_CHARS and stem.isascii()) or (len(stem) == 2 and UNSPACED_RUN.match(stem)):
            forms.setdefault(stem, stem)
    for word in [*map(analyze.fold, words), *stems]:
        for start in range(1, len(word) - WORD_CHARS + 1) if word.isascii() else ():
            forms.setdefault(word[start:], word if word in stems else "")
    return forms
