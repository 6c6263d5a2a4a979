"""
Compute redacted versions of turns: sources of erased statements, and others with the same words or value.

The sources of the statement, and every other turn that holds its words or its value, also in what tools were told and
gave, and in the part of a long content that no index knows. Of a source that says it in words nobody can point at, the
paragraphs go that hold a telling word of the statement, or all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from yiku.files import sweep
from yiku.flows.common import turn_texts
from yiku.flows.common.handle import Handle, content_hash
from yiku.flows.common.turn_texts import tokens, tool_tokens
from yiku.flows.erase import quotes
from yiku.rules.privacy import erasure, redaction
from yiku.rules.text import analyze
from yiku.store.api import Index
from yiku.types import Place, SemanticMemory, Source, Turn, Turns

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


class Touched(NamedTuple):
    """Numbers of affected turns and statements."""

    turns: Collection[int]
    memories: Collection[int]


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """
    Statements, prepared for searching many turns.

    sources: those that name a span, by their turns
    """

    phrases: redaction.Phrases
    sources: Mapping[str, Sequence[tuple[SemanticMemory, Source]]]


def prepare(statements: Sequence[SemanticMemory]) -> SearchTerms:
    """Prepare statements for searching."""
    by_turn: dict[str, list[tuple[SemanticMemory, Source]]] = {}
    for memory in statements:
        for source in memory.sources:
            if source.turn is not None and source.start is not None and source.end is not None:
                by_turn.setdefault(source.turn, []).append((memory, source))
    return SearchTerms(redaction.phrases(statements), by_turn)


@dataclass(frozen=True, slots=True)
class Redaction:
    """
    A turn before and after redaction.

    cuts:    the ranges removed from its whole content, in characters; all of it where the turn is blanked
    texts:   the texts removed from its content, tool inputs and tool results
    widened: more goes than the words that say it: whole paragraphs, or all
    """

    before: Turn
    after: Turn
    cuts: tuple[redaction.Range, ...]
    texts: tuple[str, ...]
    widened: bool = False

    @property
    def blanked(self) -> bool:
        """Whether nothing is left of the turn."""
        return self.after == blank(self.before)


def redact_sources(
    handle: Handle, statements: Sequence[SemanticMemory], gone: Collection[str], *, keep: bool
) -> Iterable[Redaction]:
    """Redact the sources of statements, and other turns with the same words."""
    own, store = handle.own(), handle.store
    sources = {source.turn for memory in statements for source in memory.sources if source.turn is not None}
    found = {turn.n: turn for turn in store.turns(own, Turns(ids=sorted(sources), hidden=True))} if sources else {}
    found |= {turn.n: turn for turn in _saying(handle, statements)}
    found |= {turn.n: turn for turn in _saying_with_marks(handle, statements)}
    found |= {turn.n: turn for turn in _saying_at_length(handle, statements)}
    terms = prepare(statements)
    words = erasure.telling_words(text for memory in statements for text in _texts(memory))
    for turn in found.values():
        if turn.id in gone:
            continue
        redacted = redact_turn(handle, turn, terms, keep=keep)
        if redacted.after != turn:
            yield redacted
        elif turn.id in sources:  # it says it in words that are not known to say it
            yield redact_paragraphs(handle, turn, words, keep=keep)


def _saying(handle: Handle, statements: Sequence[SemanticMemory]) -> list[Turn]:
    """Return turns whose content or tool data contain all words of a statement, or of its value."""
    import numpy as np

    own, store = handle.own(), handle.store
    wanted = {frozenset(_words([text])) for one in statements for text in search_terms(one)}
    terms = sorted(set[str]().union(*wanted))
    ns: set[int] = set()
    for index in ("turn", "tool") if terms else ():
        found = {one.term: np.sort(one.ns) for one in store.postings(index, own, terms, past=True, cap=1 << 62).found}
        for words in wanted - {frozenset()}:
            rarest, *others = sorted((found[word] for word in words), key=len)
            ns.update(reduce(_in_both, others, rarest).tolist() if len(rarest) else ())
    return store.turns(own, Turns(ns=sorted(ns), hidden=True)) if ns else []


def _in_both(few: Array, many: Array) -> Array:
    """Intersect two ascending postings."""
    import numpy as np

    found: Array = few[many[np.searchsorted(many, few).clip(max=len(many) - 1)] == few]
    return found


def _saying_with_marks(handle: Handle, statements: Sequence[SemanticMemory]) -> list[Turn]:
    """Return turns that may contain a statement with markup inside of its words, which no index knows."""
    ns = quotes.find_marked(handle, {text for one in statements for text in search_terms(one)}, "turn")
    return handle.store.turns(handle.own(), Turns(ns=ns, hidden=True)) if ns else []


def _saying_at_length(handle: Handle, statements: Sequence[SemanticMemory]) -> Iterable[Turn]:
    """Return turns that may contain a statement in a long content beyond its indexed beginning."""
    wanted = {
        form for memory in statements for text in search_terms(memory) for form in (analyze.plain(text), redaction.reads(text))
    }
    for name in sweep.blob_names(handle.paths) if wanted else ():
        whole = turn_texts.blob(handle, name)
        said = f"{analyze.plain(whole)}\n{redaction.reads(whole)}"
        if any(text in said for text in wanted):
            yield from handle.store.turns(handle.own(), Turns(blob=name, hidden=True))


def search_terms(memory: SemanticMemory) -> set[str]:
    """Return the texts of which a turn must contain one: the statement's words, or its value."""
    return {memory.content, memory.object if memory.predicate and memory.object else memory.content}


def redact_turn(
    handle: Handle,
    turn: Turn,
    terms: SearchTerms,
    *,
    keep: bool,
    also: Callable[[str], Iterable[redaction.Range]] | None = None,
) -> Redaction:
    """
    Return the turn without the sentences that contain the statements.

    also: what else goes of each of its texts
    keep: the blobs of what is left are on the disk
    """
    speaker, names = turn.speaker if turn.role == "user" else None, handle.settings.names
    of_content, gone, widened = list[redaction.Range](), list[str](), False

    def cut(text: str, spans: Iterable[redaction.Range] = ()) -> list[redaction.Range]:
        nonlocal widened
        found = redaction.cuts(text, terms.phrases, speaker=speaker, names=names, spans=spans)
        ranges = redaction.merge_ranges([*found.ranges, *(also(text) if also is not None else ())])
        widened = widened or found.widened
        gone.extend(text[start:end] for start, end in ranges)
        return ranges

    def left(text: str) -> str:
        return redaction.cut_out(text, cut(text))

    def left_of_content(text: str) -> str:
        of_content[:] = cut(text, _spans(turn, text, terms))
        return redaction.cut_out(text, of_content)

    after = turn_texts.rewrite(handle, turn, left, of_content=left_of_content, keep=keep)
    return Redaction(turn, after, tuple(of_content), tuple(gone), widened)


def _spans(turn: Turn, text: str, terms: SearchTerms) -> list[redaction.Range]:
    """Return the recorded spans of the statements in a turn, unless no word matches."""
    found = []
    for memory, source in terms.sources.get(turn.id, ()):
        if source.start is not None and source.end is not None and source.end <= len(text):
            stands = _words([text[source.start : source.end]])
            if not stands or stands & _words(_texts(memory)):
                found.append((source.start, source.end))
    return found


def _words(texts: Iterable[str]) -> set[str]:
    tokenized = [analyze.tokens(text) for text in texts]
    return {word for tokens in tokenized for word in (*tokens.words, *tokens.characters)}


def remaining_words(
    handle: Handle, redacted: Sequence[Redaction], statements: Sequence[SemanticMemory], gone: Touched
) -> list[Place]:
    """
    Return telling words that a redacted turn still contains and nothing else in the scope does.

    gone: numbers of the turns and statements that go, or lose something
    """
    telling = erasure.telling_words(text for memory in statements for text in _texts(memory))
    words_by_turn: dict[str, set[str]] = {}
    for one in redacted:
        if not one.blanked:
            said = {*tokens(one.after).words, *(tools.words if (tools := tool_tokens(one.after)) is not None else ())}
            words_by_turn[one.after.id] = said & (telling | erasure.telling_words(one.texts))
    others = words_elsewhere(handle, set().union(*words_by_turn.values()), gone)
    return [
        Place(f"turn {id}", "what is left of it still says this; erase the turn, too, if it must not", found=tuple(sorted(words)))
        for id, said in words_by_turn.items()
        if (words := said - others)
    ]


def words_elsewhere(handle: Handle, words: Collection[str], gone: Touched) -> set[str]:
    """Return those index words that other turns or statements contain."""
    found = set[str]()
    of_index: tuple[tuple[Index, Collection[int]], ...] = (("turn", gone.turns), ("tool", gone.turns), ("memory", gone.memories))
    for index, ns in of_index if words else ():
        for posting in handle.store.postings(index, handle.own(), sorted(words), past=True, cap=len(ns) + 1).found:
            if posting.documents > len(posting.ns) or not set(ns).issuperset(posting.ns.tolist()):
                found.add(posting.term)
    return found


def _texts(memory: SemanticMemory) -> list[str]:
    """Return the wordings and the value of a statement."""
    return [text for text in (memory.content, memory.object, *(source.text for source in memory.sources)) if text]


def redact_paragraphs(handle: Handle, turn: Turn, words: Collection[str], *, keep: bool) -> Redaction:
    """Return the turn without paragraphs that contain one of these words; blank if no paragraph does."""
    of_content, gone = list[redaction.Range](), list[str]()

    def cut(text: str) -> list[redaction.Range]:
        ranges = redaction.paragraphs_with(text, words) if words else []
        gone.extend(text[start:end] for start, end in ranges)
        return ranges

    def left_of_content(text: str) -> str:
        of_content[:] = cut(text)
        return redaction.cut_out(text, of_content)

    left: Callable[[str], str] = lambda text: redaction.cut_out(text, cut(text))  # noqa: E731
    after = turn_texts.rewrite(handle, turn, left, of_content=left_of_content, keep=keep)
    return redact_whole(handle, turn) if after == turn else Redaction(turn, after, tuple(of_content), tuple(gone), widened=True)


def redact_whole(handle: Handle, turn: Turn) -> Redaction:
    """Return the turn without any content."""
    return Redaction(
        turn, blank(turn), ((0, len(turn_texts.content(handle, turn))),), tuple(turn_texts.texts(handle, turn)), widened=True
    )


def blank(turn: Turn) -> Turn:
    """Return the placeholder of a deleted turn: id, place, speaker and time."""
    content = redaction.mark(turn.content)
    return replace(
        turn,
        content=content,
        content_hash=content_hash(content),
        blob=None,
        speaker=None,
        tool_calls=(),
        tool_results=(),
        external_id=None,
        parent=None,
        agent=None,
        project=None,
        metadata={},
        actor=None,
    )
