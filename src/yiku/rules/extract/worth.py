"""
How much speaks for it that a plain clause, which neither a cue nor a shape knows, is worth knowing next month: points.

For it speak the speaker himself, what is his, numbers, names, days, what he is doing, does often or did, and some
length; against it, that it is said to the listener, of this talk, or is a wish for now. The weights are those of a
logistic regression over the clauses of the marked turns (bench/learning; of two sets one half each was never looked at)
and of 260 clauses drawn by chance and judged by a reader, doubled and rounded. It is asked last, so it decides nothing
that is known better.
"""

# ruff: noqa: E501 (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

from yiku.rules.extract import chinese, english, shapes
from yiku.rules.extract.cues import Cue, compiled
from yiku.types import Kind

NEEDED, NEEDED_ZH = 4, 3  # points
SHORT, MIDDLING, LONG = 8, 8, 22  # Chinese characters, English words, English words

_SELF = r"\b(?:i|we|my|our|me|us|mine)\b"
_NAMED = r"(?<=[a-z0-9,;&] )\W?(?!I\b|I'|OK\b|AI\b|My\b)[A-Z][A-Za-z'’-]+|\"[^\"]{3,}\""
_DID = rf"^(?:i|we)(?:'ve| have|'d| had)? (?:\w+ly |just |also |already )*(?:{english.DID}|[a-z]+ed)\b"
_SIGNS = (
    (4, r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|dozen|half)\b"),
    (2, english.PAST),
    (1, english.DATE),
    (1, r"\b(?:my|our) (?!own\b|mind\b|head\b|understanding\b|question)\w"),
    (1, _DID),
    (2, r"^(?:i'?m|i am|we'?re|i'?ve been|we'?ve been) (?:\w+ly |also |just |now |still )*\w+ing"),
    (1, r"^(?:i'?m|i am|we'?re|we are|i was|we were)\b"),
    (2, r"\b(?:usually|always|often|never|every|sometimes|typically|on weekends|each)\b"),
    (2, r"^(?:i|we)(?:'ve)? (?:\w+ )?(?:have|got|own|use|drive|keep|play|work|live|go|take|read|watch|eat|drink|run)\b"),
    (1, rf"\b{english.RELATIVES}\b"),
    (-1, r"^(?:i|we)(?:'ll| will| plan| need| want| have to|'d like)\b|\bgoing to\b"),
    (-1, r"\byou(?:r|'re|'ll|'ve)?\b"),
    (-2, shapes.TALK),
    (-3, r"\b(?:a lot|things?|stuff|something|everything|so much|better|worse)$"),
)  # fmt: skip
_BIAS = -3
_TOLD_TO_DO = r"^(?:please )?(?:make|create|write|give|tell|show|explain|let|add|use|do|try|find|get|put|take|keep|go|start|look|check|fix|change|remove|continue|provide|include|list|describe|generate)\b"
_ZH_SELF = rf"[我咱俺]|{chinese.RELATIVES}"
_ZH_WHEN = rf"{chinese.WHEN}|{chinese.COMING}|{chinese.OFTEN}"
_ZH_NEAR = 300  # characters of a turn: in a longer one, what names no person may be from elsewhere
_ZH_SIGNS = (
    (3, r"^[我俺咱]"),
    (3, chinese.WHEN),
    (3, r"喜欢|讨厌|爱(?:吃|看|听|玩|喝)|偏好|看重|注重|在意|享受|受不了|习惯"),
    (2, r"《|“"),
    (2, r"元|块|万|钱|预算|价格|工资|投资|基金|股"),
    (1, r"[了过完]"),
    (1, r"\d|[一二两三四五六七八九十]+(?:个|次|年|月|天|点|岁|家|位|份|条|篇|张)"),
    (1, r"开心|高兴|难过|焦虑|紧张|累|迷茫|压力|兴奋|幸福|温暖|感动|失落"),
    (1, chinese.OFTEN),
    (-1, chinese.TALK),
    (-2, r"[你您]"),
    (-2, r"这(?:个|些|种|样|么|套|次)|那(?:个|些|种|样|么)"),
    (-2, chinese.HEDGE),
    (-2, r"(?:太|真|很|挺|非常)[^,]{1,3}(?:了|啊|呀|呢)?$"),
)  # fmt: skip
_ZH_BIAS = -1
_WISHED = Cue(
    "plan",
    Kind.TASK,
    r"\b(?:going to|i'll|we'll|plan(?:ning)?|thinking (?:of|about)|consider(?:ing)?|need to|want to|hop(?:e|ing) to|meaning to|trying to)\b|准备|打算|计划|要去|决定|约好|预约|安排",
)
_LIKED = Cue(
    "preference",
    Kind.PREFERENCE,
    r"\b(?:love|like|enjoy|prefer|hate|favou?rite|fan of|into|interested in|looking for)\b|喜欢|讨厌|爱(?:吃|看|听|玩|喝)|偏好|看重|注重|在意|受不了",
)
_HAPPENED = Cue(
    "event",
    Kind.EVENT,
    rf"{_DID}|[了过]",
)
_PLAIN = Cue("plain", Kind.FACT, "")


def english_cue(said: str, words: str) -> Cue | None:
    """
    As what an English clause is worth keeping, if it is.

    said:   the clause in small letters
    words:  as it was written
    """
    if compiled(_SELF).search(said) is None or compiled(_TOLD_TO_DO).match(said):
        return None
    length = len(said.split())
    points = _BIAS + (length >= MIDDLING) + 2 * (length >= LONG) + (compiled(_NAMED).search(words, 2) is not None)
    return _kind(said) if points + _sum(_SIGNS, said) >= NEEDED else None


def chinese_cue(said: str, place: int) -> Cue | None:
    """As what a Chinese sentence is worth keeping, if it is. place: of its end in the turn, in characters."""
    if compiled(_ZH_SELF).search(said) is None and (place > _ZH_NEAR or compiled(_ZH_WHEN).search(said) is None):
        return None
    points = _ZH_BIAS - 2 * (len(said) < SHORT)
    return _kind(said) if points + _sum(_ZH_SIGNS, said) >= NEEDED_ZH else None


def _sum(signs: tuple[tuple[int, str], ...], said: str) -> int:
    return sum(points for points, says in signs if compiled(says).search(said))


def _kind(said: str) -> Cue:
    return next((cue for cue in (_LIKED, _WISHED, _HAPPENED) if compiled(cue.says).search(said)), _PLAIN)
