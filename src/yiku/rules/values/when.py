"""
Parse the times in a question into windows of days: "last March", "3月5日至8日", 去年国庆前后.

The words of times are found in the text (time_words.py), and those that stand side by side are read as one time
(times.py). Two times with "to" or 至 between them become one window, and what stands around a time moves its ends:
since, before, around, 以来, 之前, 前后, "the week before".

The day is the smallest window: what happened in the morning is often told in the evening. What is only vague (recently,
最近, the other day) gives no window, and neither does a date that does not exist. Weekdays and weekends by themselves
are weak: where the question names another time or asks for a habit, they give nothing.

A time may also hang on an event: "the week before we moved", 搬家前一周. Its date is not known here; `anchored` tells
the event's words and how far the window reaches.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import zip_longest
from typing import Literal, NamedTuple

from yiku.rules.lexicon import built_in, lists
from yiku.rules.lexicon.flags import ASKS, ASKS_FIRST, EVENT, IT, OWN, PERSON, POSSESSIVE, THE
from yiku.rules.text.analyze import UNSPACED, normal
from yiku.rules.text.folding import folded
from yiku.rules.text.words import Word, words
from yiku.rules.values import holidays
from yiku.rules.values.days import UNIT_DAYS, week_of
from yiku.rules.values.holidays import Span
from yiku.rules.values.time_words import MONTHS, NAMES, may_name_days, tokens
from yiku.rules.values.times import Days, Found, Question, collect, read, resolve

LONGEST_TIMED = 200  # characters; "last week" inside a long message is no filter (facts: 2 % of the gold lay inside)
EARLIEST = date(1900, 1, 1)  # where "before 2023" begins
AROUND_DAYS = {"day": 3, "week": 3, "holiday": 7, "month": 10, "season": 15, "year": 90}
ANCHOR_DAYS = {"before": 30, "after": 30, "around": 7}
EVENT_CHARS = (2, 80)
MOST_JOINS = 3  # words between two times that are one
_HINGES = ("before", "after", "around", "during", "while")
_ANY_DAY = datetime(2020, 6, 1, tzinfo=UTC)  # whether a text is dated does not depend on today
_BESIDE_UNSPACED = re.compile(rf"(?<=[{UNSPACED}])\s+|\s+(?=[{UNSPACED}])")


@dataclass(frozen=True, slots=True)
class Window:
    """since <= moment < until, in the offset of the question's now; text is what the question says for it."""

    since: datetime
    until: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Anchored:
    """A time that hangs on an event: so many days before, after or around it. event holds its words."""

    event: str
    relation: Literal["before", "after", "around"]
    days: int

    def window(self, said_at: datetime) -> Window:
        """The window, once the event is known to be of that moment."""
        day = said_at.replace(hour=0, minute=0, second=0, microsecond=0)
        reach, one = timedelta(days=self.days), timedelta(days=1)
        since = day if self.relation == "after" else day - reach
        until = day if self.relation == "before" else day + reach + one
        return Window(since, until, self.event)


def windows(text: str, now: datetime, *, ahead: bool = False) -> tuple[Window, ...]:
    """
    Return the time windows of a question, in its order; none for a text too long to be one.

    ahead:  it is about the future, whatever it says
    """
    question = _question(text, now.date(), may_name_days, ahead=ahead)
    if question is None or all(NAMES.isdisjoint(token.pieces) for token in question.tokens):
        return ()
    found = [
        moved for one in _merge_ranges(question, _times_in(question)) if one.led and (moved := _apply_modifiers(question, one))
    ]
    strong = [one for one in found if not one.days.weak]
    habit = any(token.says.get("mood") == "habit" for token in question.tokens)
    spans: dict[Span, str] = {}
    for one in strong or ([] if habit else found):
        spans.setdefault(one.days.span, question.text[question.tokens[one.first].start : question.tokens[one.stop - 1].end])
    return tuple(
        Window(datetime.combine(since, time(), now.tzinfo), datetime.combine(until, time(), now.tzinfo), said)
        for (since, until), said in spans.items()
        if since < until and since >= EARLIEST
    )


def _question(text: str, today: date, is_worth: Callable[[str], bool], *, ahead: bool = False) -> Question | None:
    """Tokenize a question; None if it is too long or holds no time words."""
    if len(text) > LONGEST_TIMED:
        return None
    said = normal(text)
    if not said.isascii():
        said = _BESIDE_UNSPACED.sub("", said)
    if len(said) > LONGEST_TIMED:  # one character may become eighteen
        return None
    small = folded(said)
    if not is_worth(small):
        return None
    found = tokens(small)
    moods = {token.says["mood"] for token in found if "mood" in token.says}
    past = "told" in moods
    return Question(said, small, found, today, past, ahead or ("ahead" in moods and not past))


def _times_in(question: Question) -> list[Found]:
    """Return the times one by one."""
    found: list[Found] = []
    place = 0
    while place < len(question.tokens):
        if not question.tokens[place].pieces:
            place += 1
            continue
        last = found[-1] if found and _join(question, found[-1].stop, place) else None
        one = read(question, place, {name: last.pieces[name] for name in ("year", "month") if name in last.pieces} if last else {})
        if one and not last and (lent := _time_sharing_month(question, one)):
            found.append(lent)
        found += [one] if one else []
        place = one.stop if one else place + 1
    return found


def _time_sharing_month(question: Question, one: Found) -> Found | None:
    """Return the time of a number that shares the month of the next time: 3-8 March, 7、8月."""
    place = one.first - 2
    if place < 0 or "month" not in one.pieces or [*question.tokens[place].pieces] != ["number"]:
        return None
    name, n = next((name for name in ("date", "number") if name in one.pieces), "month"), question.tokens[place].pieces["number"]
    if name == "month" and n not in range(1, MONTHS + 1):
        return None
    pieces = {**one.pieces, name: n}
    try:
        days = resolve(question, pieces, place) if _join(question, place + 1, one.first) else None
    except (ValueError, OverflowError):
        return None
    return Found(place, place + 1, pieces, days) if days else None


def _join(question: Question, stop: int, place: int) -> str:
    """Return how a time that ends at a token is joined to what begins at another: "to", "and", or not at all."""
    between = range(stop, place)
    if not 0 < len(between) <= MOST_JOINS or not all(map(question.is_adjacent, range(stop, place + 1))):
        return ""
    joins = [question.says(each, "join") for each in between if not question.says(each, "article")]
    return "" if not all(joins) else "to" if "to" in joins else "and"


def _merge_ranges(question: Question, found: list[Found]) -> list[Found]:
    """Merge "a to b" into one time, and share the year that a neighbour names."""
    times: list[Found | None] = [*found]
    for place, b in enumerate(found[1:], 1):
        a = times[place - 1] or found[place - 1]
        how = _join(question, a.stop, b.first)
        if not how:
            continue
        ranged = how == "to" or question.says(question.lead(a.first)[0], "fore") == "between"
        led = a.led or b.led or (how == "to" and a.pieces.keys() == b.pieces.keys() == {"month"})
        if ranged and a.days.weak and b.days.weak:  # Monday to Friday, each week
            led, ranged = False, False
        a_span, b_span = (a.days.span, b.days.span) if not ranged and a.days.at and b.days.at else _shared_year(a, b)
        if not ranged:
            times[place - 1] = replace(a, days=a.days._replace(span=a_span), led=led)
            times[place] = replace(b, days=b.days._replace(span=b_span), led=led)
        elif a_span[0] < b_span[1]:
            days = b.days._replace(span=(a_span[0], b_span[1]), at=None, weak=False)
            times[place - 1] = None
            times[place] = replace(b, first=a.first, days=days, led=led)
    return [one for one in times if one]


def _shared_year(a: Found, b: Found) -> tuple[Span, Span]:
    """Return the days of two neighbouring times that share the year of one of them."""
    (a_span, _, a_at, _), (b_span, _, b_at, _) = a.days, b.days
    try:
        if b_at and not a_at:
            b_span = b_at(a_span[0].year)
            if b_span[1] <= a_span[0]:
                b_span = b_at(a_span[0].year + 1)
        elif a_at:
            if not b_at:
                a_span = a_at(b_span[0].year)
            if a_span[0] >= b_span[1]:
                a_span = a_at(a_span[0].year - 1)
    except (ValueError, OverflowError):
        return a.days.span, b.days.span
    return a_span, b_span


def _apply_modifiers(question: Question, one: Found) -> Found | None:
    """Apply the words around a time to its ends: "since", "the week before", 前一周."""
    first, stop, reach = question.lead(one.first)[0], one.stop, None
    if how := question.says(first, "fore"):
        reach = _duration_before(question, first) if how in ("before", "after", "of") else None
        first = reach.first if reach else first
    else:
        first = one.first
        while question.is_adjacent(stop) and question.says(stop, "tail"):
            stop += 1
        how = question.says(stop, "behind") if question.is_adjacent(stop) else None
        reach = _duration(question, stop + 1) if how in ("before", "after") and question.is_adjacent(stop + 1) else None
        stop = reach.stop if reach else stop + 1
    try:
        days = one.days
        if reach and reach.unit == "day" and "holiday" in one.pieces:  # the day after Thanksgiving is a Friday
            days = days._replace(span=holidays.own_day(one.pieces["holiday"], days.span))
        span = _modified_span(days, how, reach, question.today)
    except OverflowError:
        return None
    return one if span is None else replace(one, first=first, stop=stop, days=one.days._replace(span=span, weak=False))


def _modified_span(days: Days, how: str | None, reach: _Duration | None, today: date) -> Span | None:
    """Return the days of a time after its modifier, with the duration next to that."""
    since, until = days.span
    tomorrow = today + timedelta(days=1)
    match how:
        case "before":
            return (since - reach.length, since) if reach else (min(EARLIEST, since), since)
        case "after" if reach:
            return until, until + reach.length
        case "after":
            return until, max(until + timedelta(days=ANCHOR_DAYS["after"]), tomorrow) if until >= tomorrow else tomorrow
        case "of" if reach and reach.unit == "week":
            return week_of(since)
        case "since":
            return since, max(until, tomorrow)
        case "until":
            return min(EARLIEST, since), until
        case "around" | "about" | "for" if how != "for" or days.unit == "holiday":
            wide = timedelta(days=AROUND_DAYS[days.unit])
            return since - wide, until + wide
    return None


class _Duration(NamedTuple):
    """How long "two weeks" is, and its tokens."""

    length: timedelta
    unit: str
    first: int
    stop: int


def _duration(question: Question, first: int) -> _Duration | None:
    """Read a number and a unit; a unit alone is one."""
    place, found = first, None
    while question.is_adjacent(place + 1) and "glue" in question.tokens[place].says:
        place += 1
    for pieces, stop in collect(question, place):
        n, unit = (
            next((pieces[name] for name in ("number", "count", "ordinal", "date") if name in pieces), 1),
            pieces.get("unit", "day"),
        )
        if pieces.keys() <= {"number", "count", "ordinal", "unit", "date", "vague"} and not pieces.keys().isdisjoint(
            ("unit", "date")
        ):
            found = _Duration(timedelta(days=round(n * UNIT_DAYS.get(unit, 0))), unit, first, stop)
    return found


def _duration_before(question: Question, stop: int) -> _Duration | None:
    """Read a number, or an article, and a unit that end in front of a token."""
    every = (_duration(question, stop - back) for back in (3, 2) if stop >= back and question.is_adjacent(stop))
    return next((reach for reach in every if reach and reach.stop == stop), None)


# ------------------------------------------------------------------ anchored on an event


def anchored(text: str) -> Anchored | None:
    """Return the event that a time in a question is relative to, None if there is none or it has a date."""
    question = _question(text, _ANY_DAY.date(), _may_have_anchor)
    if question is None:
        return None
    for place, token in enumerate(question.tokens):
        if (fore := token.says.get("fore")) in _HINGES and (event := _event_behind(question, token.end, fore)):
            return _anchor(event, fore, _duration_before(question, place))
        if (hinge := token.says.get("behind")) in _HINGES:
            reach = _duration(question, place + 1) if question.is_adjacent(place + 1) else None
            # a single character is part of many words
            if (reach or token.end - token.start > 1) and (event := _event_before(question, token.start)):
                return _anchor(event, hinge, reach)
    return None


def _may_have_anchor(small: str) -> bool:
    return lists.has(small, *(f"clock.{side}.{hinge}" for side in ("fore", "behind") for hinge in _HINGES))


def _anchor(event: str, hinge: str, reach: _Duration | None) -> Anchored:
    relation: Literal["before", "after", "around"] = "before" if hinge == "before" else "after" if hinge == "after" else "around"
    return Anchored(event, relation, reach.length.days if reach else ANCHOR_DAYS[relation])


def _event_behind(question: Question, start: int, hinge: str) -> str:
    """Return the event after a hinge word: what somebody did, something of theirs, a wedding."""
    event_words: list[Word] = []
    following = words(question.small, start, min(len(question.small), start + EVENT_CHARS[1]), built_in())
    for word, after in zip_longest(following, following[1:]):
        if word.sign or (event_words and word.flags & ASKS):
            break
        if event_words and word.flags & ASKS_FIRST and after and after.flags & PERSON:
            break
        event_words.append(word)
    if len(event_words) < 2 or event_words[-1].flags & IT:  # the words of "after I bought it" find nothing
        return ""
    first, second = event_words[:2]
    somebody = first.flags & PERSON and not first.flags & IT
    named = question.text[first.start].isupper() or first.flags & OWN
    of_somebody = first.flags & OWN or second.flags & POSSESSIVE or first.text in lists.words("clock.event.owner")
    did = any(_is_past(word.text) for word in event_words[1:4])
    happened = first.flags & THE and any(
        word.flags & EVENT or word.text in lists.words("clock.event.noun") for word in event_words[1:5]
    )
    daily = any(word.text in lists.words("clock.event.daily") for word in event_words[1:3])
    if not (somebody and did) and (hinge == "while" or not ((named and did) or (of_somebody and not daily) or happened)):
        return ""
    event = question.text[first.start : event_words[-1].end]
    return "" if windows(event, _ANY_DAY) else event


def _is_past(word: str) -> bool:
    return word in lists.words("clock.mood.told") or word.endswith(tuple(lists.words("clock.event.past")))


def _event_before(question: Question, end: int) -> str:
    """Return the event before a hinge word, in a script without spaces."""
    start = end
    while start and question.small[start - 1].isalnum():
        start -= 1
    leads = tuple(lists.words("clock.event.lead"))
    while question.small.startswith(leads, start, end):
        start += max(len(lead) for lead in leads if question.small.startswith(lead, start, end))
    said = question.small[start:end]
    no_event = (
        said in lists.words("clock.event.daily")
        or said.startswith(tuple(lists.words("clock.event.begins")))
        or said.endswith(tuple(lists.words("clock.event.ends")))
        or lists.has(said, "clock.event.has")
    )
    event = question.text[start:end]
    return "" if no_event or not EVENT_CHARS[0] <= len(said) <= EVENT_CHARS[1] or windows(event, _ANY_DAY) else event
