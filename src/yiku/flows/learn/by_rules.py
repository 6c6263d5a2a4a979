"""
Learn from one turn by rules: extract statements and store them, and update the scratchpad.

What users plainly say about themselves is decided like any statement, with its turn as the source. What calls of tools showed,
and what was imported, is a candidate until somebody confirms it. A turn gives its results one by one, so that what was kept
counts even where the next draft fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from yiku.errors import InvalidInput, KeptOut, NotFound
from yiku.flows.common.handle import Handle
from yiku.flows.keep import scratchpad
from yiku.flows.keep.remember import validate
from yiku.flows.learn.store_draft import Result, Trouble, Unfinished, details, keep, known_of, try_remember
from yiku.rules.deciding import retract
from yiku.rules.learning import corrections, tools
from yiku.rules.learning.drafts import drafts
from yiku.rules.privacy import fence
from yiku.rules.text.sentences import ASKING
from yiku.types import Draft, How, Origin, SemanticMemory, Turn, Turns
from yiku.types.changes import RETRACTION

TURN_S = 3.0  # of CPU to read one turn, ten times of what the first in a process takes; the rest of it is left out, and said
BEFORE = 20  # turns of a session, which must be known before something of it is taken back
METHOD = "rules"


@dataclass(frozen=True, slots=True)
class Reading:
    """
    What the rules find in a turn, independent of stored statements.

    whole:   all of the turn was read
    """

    drafts: tuple[Draft, ...] = ()
    whole: bool = True


def never() -> bool:
    """Return False: no time limit."""
    return False


def said_by_person(turn: Turn) -> bool:
    """Tell whether a person said a turn; subagent prompts and pasted files only have a user's role."""
    return turn.role == "user" and turn.origin in (Origin.USER, Origin.IMPORT)


def from_turn(handle: Handle, scope: int, turn: Turn, over: Callable[[], bool]) -> Iterator[Result]:
    """
    Learn from a turn of any speaker, and update the scratchpad.

    over: asked before and between sentences and drafts; once it is true the turn is left, to be read again
    """
    if over():
        yield Unfinished()
    elif said_by_person(turn):
        for result in from_user(handle, scope, turn, over):
            yield result
            if isinstance(result, Unfinished):
                return
        update_scratchpad(handle, turn, again=True)
    elif turn.tool_calls or turn.tool_results:
        known = known_of(handle, scope, turn)
        for draft in tools.of_tools(turn):
            if (shown := keep(handle, scope, turn, draft, known, method=METHOD, candidate=True)) is not None:
                yield shown


def update_scratchpad(handle: Handle, turn: Turn, *, again: bool = False) -> None:
    """Update the scratchpad from a turn; `again` for one that may have been processed before."""
    if handle.settings.learn != "off" and said_by_person(turn):
        scratchpad.follow(handle, fence.own_words(turn), again=again)


def from_user(
    handle: Handle, scope: int, turn: Turn, over: Callable[[], bool] = never, *, looks_back: bool = True
) -> Iterator[Result]:
    """
    Learn from a user's turn, spending at most TURN_S.

    looks_back: before something is taken back, the turns before this one are learned from
    """
    turn = fence.own_words(turn)
    reading = read(handle, turn, over)
    if over():
        yield Unfinished()
        return
    yield from _note_timeout(turn, reading)
    found = _drafts_that_count(handle, scope, turn, reading)
    known = known_of(handle, scope, turn) if found else []
    for draft in found:
        if over():
            yield Unfinished()
            return
        yield from _keep(handle, scope, turn, draft, known, looks_back=looks_back)
    handle.learned.add(turn.id)


def read(handle: Handle, turn: Turn, over: Callable[[], bool] = never) -> Reading:
    """
    Read a user's turn by the rules, in at most TURN_S of CPU.

    over: asked between sentences; once it is true the others are left out
    """
    began = time.thread_time()

    def enough() -> bool:
        return over() or time.thread_time() - began > TURN_S

    turn = fence.own_words(turn)
    found = drafts(turn.content, said_at=turn.said_at, speaker=turn.speaker, names=handle.settings.names, enough=enough)
    return Reading(tuple(found), not enough())


def _note_timeout(turn: Turn, reading: Reading) -> Iterator[Trouble]:
    """Report a turn that was not read to its end."""
    if not reading.whole:
        yield Trouble(f"left out: the end of turn #{turn.id[-8:]}, which was not read within {TURN_S:g} s")


def _drafts_that_count(handle: Handle, scope: int, turn: Turn, reading: Reading) -> Sequence[Draft]:
    """Return the drafts to learn, or the draft of a bare correction."""
    if not any(draft.action == "state" for draft in reading.drafts) and (draft := _correct_draft(handle, scope, turn)):
        return [draft]
    return reading.drafts


def _correct_draft(handle: Handle, scope: int, turn: Turn) -> Draft | None:
    """Return the speaker's previous statement with the value that this turn corrects."""
    if not corrections.may_correct(turn.content):
        return None
    select = Turns(session=turn.session, newest_first=True, limit=BEFORE)
    before = [fence.own_words(one) for one in handle.store.turns([scope], select) if one.n < turn.n]
    place = next((k for k, one in enumerate(before) if one.role == "user"), None)
    if place is None or before[place].speaker != turn.speaker or not turn.said_at - before[place].said_at <= corrections.REACHES:
        return None
    asked = any(one.role == "assistant" and one.content.rstrip().endswith(tuple(ASKING)) for one in before[:place])
    return corrections.draft(turn.content, known_of(handle, scope, before[place]), answers=asked)


# ------------------------------------------------------------------ one draft


def _keep(
    handle: Handle,
    scope: int,
    turn: Turn,
    draft: Draft,
    known: Sequence[SemanticMemory],
    *,
    looks_back: bool,
    dry_run: bool = False,
) -> Iterator[Result]:
    """Store a user's draft, unless this turn gave it before."""
    candidate = turn.origin is not Origin.USER  # what was imported waits until somebody confirms it
    if draft.action == "state":
        result = keep(handle, scope, turn, draft, known, method=METHOD, candidate=candidate, dry_run=dry_run)
    else:
        once = f"{RETRACTION} {turn.id}"  # once: done again, it would take back what was said before that
        standalone = retract.marker(draft.text) in {
            None,
            "slip",
        }  # "I misspoke" does not say what was wrong, and is no statement either
        if candidate or standalone or handle.store.receipt(scope, once) is not None:
            return
        if looks_back:
            yield from _from_those_before(handle, scope, turn)
        result = try_remember(handle, draft, {"source": turn.id}, How(method=METHOD), once, dry_run=dry_run)
    if result is not None:
        yield result


def _from_those_before(handle: Handle, scope: int, turn: Turn) -> Iterator[Result]:
    """
    Learn pending earlier turns before a retraction, so that it hits the right one.

    These look back no further: else each of n jokes would have all before it read again, 2ⁿ turns.
    """
    select = Turns(session=turn.session, after=handle.store.learning.upto(scope), newest_first=True, limit=BEFORE)
    for earlier in reversed(handle.store.turns([scope], select)):
        if earlier.n < turn.n and said_by_person(earlier) and earlier.id not in handle.learned:
            yield from from_user(handle, scope, earlier, looks_back=False)


# ------------------------------------------------------------------ turns that were learned from before


def statements(handle: Handle, turn: Turn, reading: Reading) -> list[SemanticMemory]:
    """Return the statements that a reading would store."""
    scope, turn = handle.writes(), fence.own_words(turn)
    found = _drafts_that_count(handle, scope, turn, reading)
    return [one for draft in found if draft.action == "state" and (one := _statement(handle, turn, draft)) is not None]


def reread(
    handle: Handle,
    turn: Turn,
    reading: Reading,
    known: Sequence[SemanticMemory],
    unknown: Callable[[Draft, SemanticMemory], bool],
    *,
    dry_run: bool = False,
) -> Iterator[Result]:
    """
    Learn from a turn once more after those before it were read.

    known:   what was learned from this turn before
    unknown: whether a draft, as the statement that would be kept, is to be learned
    """
    scope, turn = handle.writes(), fence.own_words(turn)
    yield from _note_timeout(turn, reading)
    for draft in _drafts_that_count(handle, scope, turn, reading):
        one = _statement(handle, turn, draft)
        if one is not None and unknown(draft, one):
            yield from _keep(handle, scope, turn, draft, known, looks_back=False, dry_run=dry_run)


def takes_back(draft: Draft) -> bool:
    """Tell whether a draft is a retraction."""
    return draft.action == "retract" or retract.marker(draft.text) is not None


def _statement(handle: Handle, turn: Turn, draft: Draft) -> SemanticMemory | None:
    try:
        return validate(
            handle, draft.text, details(handle, turn, draft, candidate=turn.origin is not Origin.USER), quote=draft.quote
        )
    except (InvalidInput, KeptOut, NotFound):  # it could not be kept either
        return None
