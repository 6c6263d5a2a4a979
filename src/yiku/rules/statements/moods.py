"""
How a clause is said: asked, asked for, supposed, told as somebody else's words; of which time; what it denies, corrects, orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from yiku.rules.lexicon import lists
from yiku.rules.lexicon.flags import (
    ALSO,
    ARTICLE,
    ASKS,
    ASKS_FIRST,
    ASSISTANT,
    BEGUN,
    CAN,
    CHANGE,
    CORRECT,
    DENY,
    DID,
    END,
    EVERY,
    FICTION,
    HAVE,
    JOIN,
    KIN,
    LIGHT,
    MATERIAL,
    MY,
    NO_LONGER,
    NOW,
    ONCE,
    OUGHT,
    OWN,
    PERSON,
    PLAN,
    REMEMBER,
    REPORT,
    REQUEST,
    REQUESTED,
    RETRACT,
    SPEAKER,
    STANDING,
    SUPPOSE,
    TASK,
    TIME,
    VERB,
    WAS,
    WILL,
    WORKS_ON,
    YOU,
)
from yiku.rules.statements.clause import AGENT, USER, Mood, Tense
from yiku.rules.text.words import Word, flags_of

COLONS = frozenset(":：")


def mood_of(own: Sequence[Word], flags: int, subject: str, asks: bool, quoted: Sequence[tuple[int, int]]) -> Mood:
    if any(left <= own[0].start and own[-1].end <= right for left, right in quoted):
        return Mood.QUOTED
    if flags & SUPPOSE:
        return Mood.SUPPOSED
    lead = next((word.flags for word in own if not word.flags & (JOIN | CORRECT | ALSO)), 0)
    asks = asks or bool(own[-1].cjk and own[-1].flags & ASKS_FIRST)  # 吗
    if asks or lead & ASKS or (lead & ASKS_FIRST and _inverted(own)):
        return Mood.ASKED
    if lead & (REQUEST | ASKS_FIRST) or flags & REQUESTED:
        return Mood.REQUESTED
    return Mood.QUOTED if flags & REPORT and subject != USER else Mood.ASSERTED


def tells_when(last: Word) -> bool:
    """Whether the word that ends a clause makes it the time of another: 开会时."""
    return last.cjk and bool(lists.at_end(last.text, "forms.hangs")) and not lists.at_end(last.text, "forms.hangs_else")


def _inverted(own: Sequence[Word]) -> bool:
    """Whether somebody or something stands behind the first word, as in a question: `do you`, and not `do not`."""
    return any(word.flags & (PERSON | OWN | ARTICLE | KIN) for word in own[1:3])


def tense_of(flags: int, cue: str, timed: bool) -> Tense:
    """
    Of which time it tells. A verb of change tells of what holds since; a date to come is what holds of an appointment.
    """
    if flags & PLAN:
        return Tense.PLANNED
    if flags & ONCE:
        return Tense.NOW if flags & NOW else Tense.PAST
    if flags & WILL and not timed and not flags & (NOW | EVERY):
        return Tense.PLANNED
    if flags & DID and not flags & (HAVE | NOW):
        return Tense.PAST  # lived, but not has lived
    return Tense.PAST if flags & WAS and cue not in ("changes", "ends") and not flags & NOW else Tense.NOW


def cue_of(flags: int) -> str:
    """What the clause does to what was said before."""
    for bits, cue in (
        (RETRACT, "retracts"),
        (CORRECT, "corrects"),
        (END | NO_LONGER, "ends"),
        (CHANGE | NOW, "changes"),
        (REMEMBER, "remembers"),
    ):
        if flags & bits:
            return cue
    return ""


def denies(own: Sequence[Word]) -> bool:
    """Whether a clause denies; what it sets apart at its end is not what it denies: on Tuesday, not Monday."""
    verb = next((place for place, word in enumerate(own) if word.flags & (VERB | TIME)), len(own))
    return any(word.flags & DENY and not (place > verb and is_apart(own[place - 1], word)) for place, word in enumerate(own))


def is_apart(before: Word, word: Word) -> bool:
    """Whether a sign stands between two words, beside a space where these are written."""
    return word.start - before.end > (0 if word.cjk else 1)


def order_in(own: Sequence[Word]) -> int | None:
    """Where a clause without a subject has the verb of an order: use, 别用; None where it has none."""
    begins = 0
    if not own[0].flags & (SPEAKER | MY | KIN) and own[0].cjk:  # what stands before 一律 says when
        begins = next((place for place, word in enumerate(own) if word.flags & STANDING), 0)
    for place, word in enumerate(own[begins:], begins):
        if word.flags & HAVE:
            return None  # having run, should have used
        if word.flags & (TASK | REQUEST) and not word.flags & (PERSON | STANDING):
            told = flags_of(own) & BEGUN and not flags_of(own) & DENY
            return None if told else place
        if word.flags & PERSON and not word.flags & YOU:
            return None
        if not (word.inside or word.flags & (STANDING | NOW | DENY | OUGHT | YOU | ALSO | LIGHT)):
            return None
    return None


def is_told_the_agent(own: Sequence[Word], subject: str) -> bool:
    """Whether the agent is told what it must always do: you should, 你以后要."""
    flags = flags_of(own)
    ruled = subject == AGENT and bool(flags & STANDING) and bool(flags & (OUGHT | TASK)) and not flags & (WAS | ONCE | CAN)
    return ruled and not any(one.flags & OUGHT and two.flags & HAVE for one, two in pairwise(own))  # should have


def to_remember_from(own: Sequence[Word]) -> int:
    """Where the words begin that are to be remembered; 0 where the clause does not begin with asking for that."""
    place = 0
    while place < len(own) and not own[place].flags & REMEMBER:
        if (
            not (own[place].inside or own[place].flags & (REQUEST | REQUESTED | YOU | ASKS_FIRST | LIGHT))
            or own[place].flags & SPEAKER
        ):
            return 0
        place += 1
    if place == len(own):
        return 0
    place += 1
    while place < len(own) and own[place].inside:
        place += 1
    if place < len(own) and own[place].flags & ASKS:
        return 0
    return own[place].start if place < len(own) else own[-1].end


def material_of(flags: int, mood: Mood, *, follows_colon: bool) -> str:
    """What a clause makes of the turn that it stands in, if it does."""
    if flags & (FICTION | ASSISTANT):
        return "fiction" if flags & FICTION else "assistant"
    if flags & WORKS_ON and mood is Mood.REQUESTED and follows_colon:
        return "text"
    works = flags & (REQUEST | REQUESTED | TASK) or mood in (Mood.REQUESTED, Mood.ASKED)
    return "text" if flags & MATERIAL and works else ""
