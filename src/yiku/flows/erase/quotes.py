"""
Find and redact copies of erased sentences in all text columns of the database; select statements that quote them.

All text columns of all tables are looked through, as the schema has them. A statement that quotes it goes with it. Elsewhere the
text is emptied where the row can do without; what names or links a row stays, is listed in the receipt, and that is then not clean.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from yiku.flows.common.handle import Handle
from yiku.rules.privacy import erasure, redaction
from yiku.rules.privacy.word_groups import WordGroups
from yiku.rules.statements import keys
from yiku.rules.text import analyze
from yiku.rules.text.safe_ends import safe_sentences, to_safe_ends
from yiku.store.api import dumps
from yiku.types import Erase, HeldText, Memories, Place, SemanticMemory, Turn

SPEECH = (("memories", "content"), ("memories", "object"), ("memory_sources", "text"))  # what somebody told, of its own


def sentences(statements: Iterable[SemanticMemory], turns: Iterable[Turn] = (), *, names: Sequence[str]) -> list[str]:
    """Return the sentences that must not remain anywhere: statements as told, and sentences of turns."""
    texts = [text for memory in statements for text in redaction.wordings(memory)]
    texts += [sentence for turn in turns for sentence in safe_sentences(turn.content)]
    texts += [keys.subject_of(text, names=names) for text in texts]  # as entities and subjects have it: "user's locker code …"
    return [text for text in dict.fromkeys(texts) if redaction.weight(analyze.plain(text)) >= redaction.WEIGHT]


@dataclass(frozen=True, slots=True)
class Sought:
    """
    The sentences to search for.

    speech: in what others told, too: a statement goes, and not only the turn that said it
    turns:  in what belongs to turns, too
    """

    sentences: Sequence[str] = ()
    speech: bool = True
    turns: bool = True


NOTHING = Sought()


def find_quotes(handle: Handle, sought: Sought) -> list[HeldText]:
    """Return the texts of this scope that contain one of the sentences, in any form."""
    own, wanted = handle.own(), sought.sentences
    if not own or not wanted:
        return []
    passed = (*(() if sought.speech else SPEECH), *(() if sought.turns else [("conversation_turns", None)]))
    found = _holding(handle, WordGroups(_runs(wanted)))
    return [one for one in found if not {(one.table, None), (one.table, one.column)} & {*passed} and _says(one, wanted)]


def find_marked(handle: Handle, wanted: Iterable[str], among: Literal["turn", "note"]) -> list[int]:
    """Return the numbers of turns or passages that may contain a text, and that no index finds, since marks split its words."""
    return sorted({int(one.key[0]) for one in _holding(handle, WordGroups(_runs(wanted), split=True), among)})


def _holding(handle: Handle, groups: WordGroups, among: Literal["turn", "note"] | None = None) -> Iterator[HeldText]:
    """Yield the texts of this scope that contain all words of a group."""
    own, at_least = handle.own(), groups.shortest // 2  # folding may make a text longer
    for column in handle.store.erasures.texts(own[0], at_least, among) if own and groups else ():
        for place, matching in groups.among([one.text for one in column]):
            yield column[place]._replace(groups=matching)


def _runs(wanted: Iterable[str]) -> list[Sequence[str]]:
    """Return the folded words of each text, without markup, Chinese apart from others."""
    return [redaction.runs_of(redaction.forms(text)[-1]) for text in wanted]


class MarkedSentences:
    """Sentences to look for where marks may split their words."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self._sentences = sentences
        self._groups = WordGroups(_runs(sentences), split=True)

    def among(self, texts: Sequence[str]) -> set[str]:
        """Return which of them these texts say."""
        found = set[str]()
        for place, likely in self._groups.among(texts) if self._groups else ():
            folded = redaction.Folded(texts[place])
            found |= {self._sentences[n] for n in likely if folded.places(self._sentences[n])}
        return found


def _says(one: HeldText, wanted: Sequence[str]) -> bool:
    return any(
        folded.places(wanted[place]) for folded in map(redaction.Folded, erasure.strings_of(one.text)) for place in one.groups
    )


def quoting_statements(handle: Handle, statements: Sequence[SemanticMemory], found: Sequence[HeldText]) -> list[SemanticMemory]:
    """Return other statements whose words contain an erased one, also candidates and forgotten ones."""
    known = {memory.id for memory in statements}
    ids = {one.id for one in found if (one.table, one.column) == ("memories", "content") and one.id is not None} - known
    own = handle.own()
    return handle.store.with_details(handle.store.memories(own, Memories(ids=sorted(ids)))) if ids else []


def replacements(found: Iterable[HeldText], sought: Sought) -> list[tuple[HeldText, str | None]]:
    """Return a replacement for each quoting text: redacted metadata, else nothing."""
    return [(one, _left(one, sought.sentences)) for one in found if one.way != "kept"]


def _left(one: HeldText, wanted: Sequence[str]) -> str | None:
    if one.column != "before" and one.text[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            return dumps(redaction.rewrite_texts(json.loads(one.text), lambda text: _without(text, wanted)))
    return None


def _without(text: str, wanted: Sequence[str]) -> str:
    folded = redaction.Folded(text)
    places = (to_safe_ends(text, *place) for words in wanted for place in folded.places(words))
    return redaction.cut_out(text, redaction.merge_ranges(places))


def remaining(found: Iterable[HeldText]) -> list[Place]:
    """Return where a sentence remains: row and column, without its words."""
    return [
        Place(
            f"{one.table}.{one.column}" + (f" of {one.id}" if one.id and one.column != "id" else ""),
            "kept: the row is found by it",
            found=(one.text[:200],),
        )
        for one in found
    ]


def erase_quotes(handle: Handle, sought: Sought) -> list[HeldText]:
    """Erase the quotes in a copy of the store; return what remains there."""
    if gone := replacements(find_quotes(handle, sought), sought):
        handle.store.apply(handle.own()[0], [Erase(texts=gone)], handle.cause("erase"))
    return find_quotes(handle, sought)
