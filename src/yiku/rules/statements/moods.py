"""
Classify a clause: mood, tense, negation, order to the agent, correction or retraction, pasted text or fiction.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from yiku.rules.lexicon import flags as F
from yiku.rules.lexicon import lists
from yiku.rules.statements.clause import AGENT, USER, Mood, Tense
from yiku.rules.text.words import Word, first_with, flags_of

COLONS = frozenset(":：")
_TELLS = F.VERB | F.REQUEST | F.TASK | F.REPORT | F.STANDING | F.SUPPOSE


def mood_of(own: Sequence[Word], flags: int, subject: str, asks: bool, quoted: Sequence[tuple[int, int]], *, orders: bool) -> Mood:
    """
    Return the mood of a clause.

    orders: it is a standing order
    """
    telling = next((word for word in own if word.flags & _TELLS), own[0])
    if any(left <= telling.start < right for left, right in quoted):
        return Mood.QUOTED
    if flags & F.REPORT and any(left < own[-1].end and own[0].start < right for left, right in quoted):
        return Mood.QUOTED  # Ann wrote "…" to me
    if flags & F.SUPPOSE:
        return Mood.SUPPOSED
    lead = next((word.flags for word in own if not word.flags & (F.JOIN | F.CORRECT | F.ALSO)), 0)
    asks = asks or bool(own[-1].cjk and own[-1].flags & F.ASKS_FIRST)  # 吗
    if asks or lead & F.ASKS or (lead & F.ASKS_FIRST and _inverted(own)):
        return Mood.ASKED
    if lead & (F.REQUEST | F.ASKS_FIRST) or flags & F.REQUESTED:
        return Mood.REQUESTED
    reports = flags & F.REPORT and subject != USER and not orders  # who orders a reply reports none
    return Mood.QUOTED if reports else Mood.ASSERTED


def tells_when(last: Word) -> bool:
    """Whether the last word makes the clause the time of another: 开会时."""
    return last.cjk and bool(lists.at_end(last.text, "forms.hangs")) and not lists.at_end(last.text, "forms.hangs_else")


def _inverted(own: Sequence[Word]) -> bool:
    """Whether a subject follows the first word, as in a question: `do you`, not `do not`."""
    return any(word.flags & (F.PERSON | F.OWN | F.ARTICLE | F.KIN) for word in own[1:3])


def tense_of(flags: int, cue: str, timed: bool) -> Tense:
    """
    Return the tense. A verb of change tells what holds since; a future date is what holds of an appointment.
    """
    if flags & F.PLAN:
        return Tense.PLANNED
    if flags & F.ONCE:
        return Tense.NOW if flags & F.NOW else Tense.PAST
    if flags & F.WILL and not timed and not flags & (F.NOW | F.EVERY):
        return Tense.PLANNED
    if flags & F.DID and not flags & (F.HAVE | F.NOW):
        return Tense.PAST  # lived, but not has lived
    return Tense.PAST if flags & F.WAS and cue not in ("changes", "ends") and not flags & F.NOW else Tense.NOW


def cue_of(flags: int) -> str:
    """Return what the clause does to earlier ones: retracts, corrects, ends, changes, remembers or nothing."""
    for bits, cue in (
        (F.RETRACT, "retracts"),
        (F.CORRECT, "corrects"),
        (F.END | F.NO_LONGER, "ends"),
        (F.CHANGE | F.NOW, "changes"),
        (F.REMEMBER, "remembers"),
    ):
        if flags & bits:
            return cue
    return ""


def denies(own: Sequence[Word]) -> bool:
    """Whether a clause is negated; a contrast at its end does not count: on Tuesday, not Monday; to nuts but not to cats."""
    verb = next((place for place, word in enumerate(own) if word.flags & (F.VERB | F.TIME)), len(own))
    denials = [place for place, word in enumerate(own) if word.flags & F.DENY]
    return any(place <= verb or not (own[place - 1].flags & F.JOIN or is_apart(own[place - 1], own[place])) for place in denials)


def is_apart(before: Word, word: Word) -> bool:
    """Whether punctuation stands between two words."""
    return word.start - before.end > (0 if word.cjk else 1)


def order_in(own: Sequence[Word]) -> int | None:
    """Return the place of an imperative verb in a clause without a subject: use, 别用; None if there is none."""
    begins = 0
    if flags_of(own) & F.OPENS and not _opens(own):
        return None
    of_others = own[0].flags & (F.MY | F.KIN) or (own[0].flags & F.PERSON and not own[0].flags & F.YOU)
    if own[0].cjk and not of_others:  # the words before 一律 say when
        begins = next((place for place, word in enumerate(own) if word.flags & F.STANDING), 0)
    for place, word in enumerate(own[begins:], begins):
        if word.flags & F.HAVE:
            return None  # having run, should have used
        if word.flags & (F.TASK | F.REQUEST) and not word.flags & (F.PERSON | F.STANDING):
            told = flags_of(own) & F.BEGUN and not flags_of(own) & F.DENY
            return None if told else place
        if word.flags & F.PERSON and not word.flags & F.YOU:
            return None
        if not (word.inside or word.flags & (F.STANDING | F.NOW | F.DENY | F.OUGHT | F.YOU | F.ALSO | F.LIGHT)):
            return None
    return None


def _opens(own: Sequence[Word]) -> bool:
    """Whether an order begins with the word that makes it one: 始终用中文; not 公司禁止用微信, 始终没用过, 你始终用英文."""
    place = first_with(own, F.OPENS)
    before, behind = own[:place], own[place + 1 :]
    if not all(word.flags & (F.STANDING | F.REQUEST | F.OUGHT | F.YOU) for word in before):
        return False
    told = flags_of(before) & F.YOU and not flags_of(before) & F.OUGHT
    return not told and not any(word.flags & F.DENY and not word.flags & F.OUGHT for word in behind[:1])


def is_told_the_agent(own: Sequence[Word], subject: str) -> bool:
    """Whether the clause is a standing order to the agent: you should, 你以后要."""
    flags = flags_of(own)
    if flags & F.OPENS and not _opens(own):
        return False
    ruled = (
        subject == AGENT and bool(flags & F.STANDING) and bool(flags & (F.OUGHT | F.TASK)) and not flags & (F.WAS | F.ONCE | F.CAN)
    )
    return ruled and not any(one.flags & F.OUGHT and two.flags & F.HAVE for one, two in pairwise(own))  # should have


def to_remember_from(own: Sequence[Word]) -> int:
    """Return where the words to be remembered begin, 0 if the clause does not ask for that."""
    place = 0
    while place < len(own) and not own[place].flags & F.REMEMBER:
        if (
            not (own[place].inside or own[place].flags & (F.REQUEST | F.REQUESTED | F.YOU | F.ASKS_FIRST | F.LIGHT))
            or own[place].flags & F.SPEAKER
        ):
            return 0
        place += 1
    if place == len(own):
        return 0
    place += 1
    while place < len(own) and own[place].inside:
        place += 1
    if place < len(own) and own[place].flags & F.ASKS:
        return 0
    return own[place].start if place < len(own) else own[-1].end


def material_of(flags: int, mood: Mood, *, follows_colon: bool) -> str:
    """Return what a clause reveals about its turn: text to work on, fiction, an assistant's words, or nothing."""
    if flags & (F.FICTION | F.ASSISTANT):
        return "fiction" if flags & F.FICTION else "assistant"
    if flags & F.WORKS_ON and mood is Mood.REQUESTED and follows_colon:
        return "text"
    works = flags & (F.REQUEST | F.REQUESTED | F.TASK) or mood in (Mood.REQUESTED, Mood.ASKED)
    return "text" if flags & F.MATERIAL and works else ""
