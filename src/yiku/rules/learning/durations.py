"""
How long what was said is to be kept: the time sensor, in three tiers.

1. Words that say it outright: for ever, for now, at this moment.
2. Of middling weight, the time that it names: today half a day, tomorrow two days, this week ten, this month thirty-five.
3. What hardly weighs anything: three days, which use renews.
Whatever else is said holds until something later says otherwise.
"""

# ruff: noqa: E501 (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

import re
from datetime import datetime, timedelta

from yiku.rules import importance, when
from yiku.rules.analyze import fold
from yiku.types.learning import Priority

MIDDLING = (0.35, 0.70)  # the weight from which, and up to which, a named time counts
BRIEF = timedelta(hours=12)
SHORT = timedelta(days=2)
LIGHT = timedelta(days=3)
GRACE = timedelta(days=1)  # after the date of a plan

_PERMANENT = (
    r"\b(?:forever|for ever|always|never|permanent\w*|for life|my whole life|born|birthday|allergic|blood type|my name)\b"
    r"|永远|永久|一辈子|终身|一直|从来|从不|生日|过敏|血型|我叫"
)
_BRIEF = r"\b(?:right now|at the moment|at this moment|currently (?:busy|driving|out|away|cooking|in a)|just for today|tonight only)\b|这会儿|此刻|正忙|在开会|在开车|今天先|今晚先"
_SHORT = (
    r"\b(?:for now|for the time being|temporar\w+|a day or two|the next (?:day|couple of days))\b|暂时|临时|先这样|这两天|这一两天"
)
_NAMED: tuple[tuple[timedelta, Priority, str], ...] = (
    (timedelta(hours=12), "transient", r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b|今天|今晚|今早|今日"),
    (timedelta(days=2), "transient", r"\btomorrow\b|明天|明晚|明早"),
    (timedelta(days=10), "short_term", r"\bthis week(?:end)?\b|这周|本周|这个?星期|这个?礼拜"),
    (timedelta(days=35), "long_term", r"\bthis month\b|这个月|本月"),
)


def of(text: str, said_at: datetime) -> tuple[Priority, datetime | None]:
    """The priority that its words give a statement, and when it is over, if they say so."""
    folded = fold(text[: importance.LOOKED_AT])
    if re.search(_PERMANENT, folded):
        return "permanent", None
    if re.search(_BRIEF, folded):
        return "transient", said_at + BRIEF
    if re.search(_SHORT, folded):
        return "transient", said_at + SHORT
    weight = importance.score(text)
    if MIDDLING[0] <= weight <= MIDDLING[1]:
        for span, priority, says in _NAMED:
            if re.search(says, folded):
                return priority, said_at + span
    return ("short_term", said_at + LIGHT) if weight < MIDDLING[0] else ("permanent", None)


def end_of(plan: str, said_at: datetime) -> datetime | None:
    """When a plan is over: a day after the last time that it names; None when it names none that is to come."""
    ahead = "将要" if re.search(r"[\u3400-\u9fff]", plan) else "will "  # a reader of questions looks ahead when told to
    ends = [window.until for window in when.windows(ahead + plan, said_at) if window.until > said_at]
    return max(ends) + GRACE if ends else None
