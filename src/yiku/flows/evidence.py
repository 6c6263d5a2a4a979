"""
Which turns say a statement, and what is left of them without it.

The sources of the statement, and every other turn that holds its words or its value, also in what tools were told and
gave, and in the part of a long content that no index knows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from yiku.files import blobs, sweep
from yiku.flows import barred
from yiku.flows.handle import Handle, content_hash
from yiku.rules import analyze, erasure
from yiku.types import SemanticMemory, Turn, Turns


def of(handle: Handle, statements: Sequence[SemanticMemory], gone: Collection[str], *, keep: bool) -> Iterable[tuple[Turn, Turn]]:
    """Turns that say a statement: its sources, and others with the same words; before, and without those sentences."""
    own, store = handle.own(), handle.store
    sources = {source.turn for memory in statements for source in memory.sources if source.turn is not None}
    found = {turn.n: turn for turn in store.turns(own, Turns(ids=sorted(sources), hidden=True))} if sources else {}
    for memory in statements:
        found |= {turn.n: turn for turn in _saying(handle, memory)}
    found |= {turn.n: turn for turn in _saying_at_length(handle, statements)}
    for turn in found.values():
        if turn.id in gone:
            continue
        after = _redacted(handle, turn, statements, keep=keep)
        if after != turn:
            yield turn, after
        elif turn.id in sources:  # it says it in words that are not known to say it
            yield turn, blank(turn)


def _saying(handle: Handle, memory: SemanticMemory) -> list[Turn]:
    """Turns that hold, in what is said or in what tools were told and gave, all the words of a statement, or of its value."""
    own, store = handle.own(), handle.store
    ns: set[int] = set()
    for text in telling(memory):
        terms = list(dict.fromkeys([*(words := analyze.tokens(text)).words, *words.characters]))
        for index in ("turn", "tool") if terms else ():
            postings = store.postings(index, own, terms, past=True, cap=1 << 62)
            ns |= set.intersection(*sorted((set(posting.ns.tolist()) for posting in postings.found), key=len))
    return store.turns(own, Turns(ns=sorted(ns), hidden=True)) if ns else []


def _saying_at_length(handle: Handle, statements: Sequence[SemanticMemory]) -> Iterable[Turn]:
    """Turns that may say a statement in a long content, of which only the beginning is indexed."""
    told = {analyze.plain(text) for memory in statements for text in telling(memory)}
    for name in sweep.blob_names(handle.paths) if told else ():
        whole = analyze.plain(barred.blob(handle, name))
        if any(text in whole for text in told):
            yield from handle.store.turns(handle.own(), Turns(blob=name, hidden=True))


def span(handle: Handle, turn: Turn, words: str) -> tuple[int, int] | None:
    """Where words stand verbatim in the whole content of a turn: the first place, in characters; None where they do not."""
    words = words.strip()
    if (at := turn.content.find(words)) < 0:
        words = words.rstrip(erasure.STOPS)
        at = turn.content.find(words) if words else -1
    if turn.blob is not None and words and not 0 <= at <= blobs.HEAD_CHARS - len(words):  # behind the head all stands elsewhere
        at = barred.content(handle, turn).find(words)
    return (at, at + len(words)) if at >= 0 and words else None


def telling(memory: SemanticMemory) -> set[str]:
    """What a text must hold to say a statement: its words, or its value."""
    return {memory.content, memory.object if memory.predicate and memory.object else memory.content}


def _redacted(handle: Handle, turn: Turn, statements: Sequence[SemanticMemory], *, keep: bool) -> Turn:
    """The turn without the sentences that say the statements."""
    speaker, names = turn.speaker if turn.role == "user" else None, handle.settings.names
    return barred.without(handle, turn, lambda text: erasure.without(text, statements, speaker=speaker, names=names), keep=keep)


def blank(turn: Turn) -> Turn:
    """What stands in the place of a turn that is gone: its id, its place, when and by whom it was said."""
    content = erasure.mark(turn.content)
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
