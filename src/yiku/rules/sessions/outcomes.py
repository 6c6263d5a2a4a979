"""
Determine how a session ended, from the user's verdict, the last request or the last tool calls.

What cannot be determined is `partial`, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from yiku.rules.lexicon.lists import at_start, has, label, looked_for
from yiku.rules.sessions import tasks
from yiku.rules.sessions.calls import Call
from yiku.rules.sessions.tasks import sentences, short
from yiku.rules.text.analyze import UNSPACED_RUN
from yiku.rules.text.folding import folded
from yiku.rules.text.sentences import ASKING, CLOSING, MARKS, STOPS
from yiku.types import EpisodeOutcome, Origin, Turn

VERDICT_CHARS = 600  # of the user's last words
REFUSAL_CHARS = 400  # of an answer, from its beginning
NOT_CHARS = 20  # in front of a happy word, in which a "not" stands


def by_user(turn: Turn) -> bool:
    """Whether a person wrote the turn; prompts for subagents only have the role of a user."""
    return turn.role == "user" and turn.origin is Origin.USER and bool(turn.content.strip())


def outcome(turns: Sequence[Turn], made: Sequence[Call], language: str) -> tuple[EpisodeOutcome, str]:
    """Return the outcome of a session and its reason."""

    def because(outcome: EpisodeOutcome, why: str, words: str = "") -> tuple[EpisodeOutcome, str]:
        return outcome, label(f"episode_reason.{why}", language).format(short(words, 60))

    last = max((place for place, turn in enumerate(turns) if by_user(turn)), default=-1)
    said = turns[last].content if last >= 0 else ""
    answers = [turn.content for turn in turns[last + 1 :] if turn.role == "assistant" and turn.content.strip()]
    later = [call for call in made if call.place > last]
    verdict = _verdict(said) if last > 0 else None
    if verdict == "gave up":
        return because("failed", "gave_up", said)
    if verdict == "happy":
        return because("success", "said_so", said)
    if verdict == "unhappy" and not answers and not later:
        return because("failed", "not_so", said)
    if not said and not made:
        return because("partial", "nothing_asked")
    if (answers or later) and later and later[-1].error is not None:
        return because(
            "failed" if not answers or has(folded(answers[-1]), "records.refuses") else "partial", "failed_call", later[-1].error
        )
    if not answers:
        return because("ongoing", "unanswered")
    answer = folded(answers[-1])
    refuses, claims = has(answer[:REFUSAL_CHARS], "records.refuses"), has(answer, "records.claims")
    if answers[-1].rstrip(CLOSING + " *_\n").endswith(tuple(ASKING)):
        return because("ongoing", "asked_back")
    if refuses and not claims:
        return because("failed", "refused")
    if verdict != "unhappy" and made and made[-1].error is None and claims:
        return because("success", "claimed")
    return because("partial", "unconfirmed")


def _verdict(said: str) -> str | None:
    """Return the user's verdict: happy, unhappy, gave up; None if they ask for something else."""
    text = folded(said[:VERDICT_CHARS])
    if at_start(text.lstrip(f" ,{STOPS}"), "records.gives_up"):
        return "gave up"
    if has(text, "records.unhappy") or _falls_short(text):
        return "unhappy"
    happy = looked_for("records.happy").search(text)
    if happy is None or _is_denied(text[: happy.start()]):
        return None
    rest = " ".join(one for one in sentences(text) if not has(one, "records.happy"))
    return None if tasks.asks(rest) or _wants_more(text) else "happy"


def _falls_short(text: str) -> bool:
    """Whether a text reports a failure: "doesn't work", "that's not what I wanted"."""
    denials = (match.end() for match in looked_for("records.denies").finditer(text))
    return any(at_start(text[end:].lstrip(), "records.should") for end in denials)


def _is_denied(before: str) -> bool:
    """Whether a happy word is negated: "not great", 不太好了."""
    clause = re.split(rf"[,;{MARKS}]", before[-NOT_CHARS:])[-1]
    denials = looked_for("records.not_happy").finditer(clause)
    return any(not UNSPACED_RUN.match(match[0]) or match.end() == len(clause) for match in denials)


def _wants_more(text: str) -> bool:
    """Whether thanks come with another request: "great, now add tests"."""
    if text.rstrip().endswith(tuple(ASKING)) or at_start(text, "records.more_first"):
        return True
    return any(at_start(part.lstrip(), "records.more") for part in re.split("[,!]", text)[1:])
