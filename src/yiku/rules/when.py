"""
The times that a question names, as windows of days: "last March", "3月5日至8日", 去年国庆前后.

A question is read piece by piece. Patterns find the times; each has a reader that says which days are
meant, seen from today. A time without a year is the last such that has begun, since a question is about
the past, unless it speaks of what will be. Two times with «to» or 至 between them become one window, and
what stands around a time moves its ends: since, before, around, 以来, 之前, 前后, «the week before».

The day is the smallest window: what happened in the morning is often told in the evening. What is only
vague (recently, 最近, the other day) gives no window, and neither does a date that does not exist.
Weekdays and weekends by themselves are weak: where the question names another time or asks for a habit,
they give nothing.

A time may also hang on an event: "the week before we moved", 搬家前一周. Its date is not ours to know;
`anchored` tells the event's words and how far the window reaches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from typing import Literal

from yiku.rules import chinese_times, english_times
from yiku.rules.analyze import normal, simple
from yiku.rules.days import AND, COUNT, TO, UNIT_DAYS, ZH_COUNT, ZH_UNIT, Days, Found, Reader, Rule, Said, number, week_of
from yiku.rules.holidays import Span

LONGEST_TIMED = 200  # characters; «last week» inside a long message is no filter (facts: 2 % of the gold lay inside)
EARLIEST = date(1900, 1, 1)  # where «before 2023» begins
AROUND_DAYS = {"day": 3, "week": 3, "holiday": 7, "month": 10, "season": 15, "year": 90}
_ANY_DAY = datetime(2020, 6, 1, tzinfo=UTC)  # whether a text is dated does not depend on today
ANCHOR_DAYS = {"before": 30, "after": 30, "around": 7}


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


# A text with none of these words, no digit and no Chinese names no time.
WORDS = frozenset(word for rule in english_times.RULES for word in rule.starts.split()) - frozenset(
    "0 the a an in on at over during within for throughout one two three four five six seven eight nine ten eleven twelve few couple several these".split()
) | {"ago", "past", "weekend", "month", "year", "quarter"}
# Whether a text may hang a time on an event.
HINGED = re.compile(r"\b(?:before|after|around|during|while|when)\b|[前后後]|期间|期間|的时候|的時候", re.IGNORECASE)

_BESIDE_CHINESE = r"(?<=[\u3400-\u9fff])\s+|\s+(?=[\u3400-\u9fff])"
_FUTURE = r"(?i)\bwill\b|'ll\b|\bgoing to\b|\bupcoming\b|\bplans? for\b|即将|将要"
_PAST_TOLD = r"(?i)\b(?:did|was|were|had|have|said|told)\b|'ve\b|[了过]"
_HABIT = r"(?i)\b(?:usually|always|every|each|typically|generally|normally|often)\b|一般|通常|经常|平时|每|总是|往往|习惯"


def windows(text: str, now: datetime) -> tuple[Window, ...]:
    """The times that a question names, in its order; none for a text too long to be one."""
    if len(text) > LONGEST_TIMED:
        return ()
    said = _said(text, now.date())
    if len(said.text) > LONGEST_TIMED:  # one character may become eighteen
        return ()
    _find(said, english_times.RULES, _WORD)
    if not said.text.isascii():
        english, said.times = said.times, []
        _find(said, chinese_times.RULES, _SIGN)
        taken = [(one.start, one.end) for one in english]
        free = (one for one in said.times if not any(one.start < end and start < one.end for start, end in taken))
        said.times = sorted([*english, *free], key=lambda one: one.start)
    if not said.times:
        return ()
    found = [moved for one in _ranged(said) if (moved := _moved(said, one))]
    strong = [one for one in found if not one.days.weak]
    kept = strong or ([] if re.search(_HABIT, said.small) else found)
    spans: dict[Span, str] = {}
    for one in kept:
        spans.setdefault(one.days.span, said.text[one.start : one.end].strip())
    return tuple(
        Window(_moment(since, now), _moment(until, now), words)
        for (since, until), words in spans.items()
        if since < until and since.year >= EARLIEST.year
    )


def _said(text: str, today: date) -> Said:
    said = normal(text)
    if not said.isascii():
        said = re.sub(_BESIDE_CHINESE, "", said)
    small = simple(said).lower() if not said.isascii() else said.lower()
    if len(small) != len(said):  # İ becomes two
        said = small
    past = bool(re.search(_PAST_TOLD, small))
    return Said(said, small, today, past, bool(re.search(_FUTURE, small)) and not past, [])


def _moment(day: date, now: datetime) -> datetime:
    return datetime.combine(day, time(), now.tzinfo)


# ------------------------------------------------------------------ finding


_WORD = r"[a-z]+|[0-9]+"
_SIGN = r"[0-9]+|[〇-\u9fff]"  # compiled by `re` when the first Chinese question is read: so wide a class takes milliseconds


@cache
def _by_start(rules: tuple[Rule, ...]) -> dict[str, list[Rule]]:
    """The rules that a word, or a Chinese character, may begin, in their order."""
    starts: dict[str, list[Rule]] = {}
    for rule in rules:
        for start in rule.starts.split() if " " in rule.starts or rule.starts.isascii() else rule.starts:
            starts.setdefault(start, []).append(rule)
    return starts


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A rule's pattern, compiled when the first text begins like it."""
    return re.compile(pattern, re.ASCII)


def _find(said: Said, rules: tuple[Rule, ...], starts: str) -> None:
    """Add the times of one language; of two that overlap, the one that begins first, or stands first in the table."""
    by_start, place = _by_start(rules), 0
    for word in re.finditer(starts, said.small):
        start = word.start()
        if start < place:
            continue
        for rule in by_start.get("0" if word[0][0] in "0123456789" else word[0], ()):
            if (read := _compiled(rule.pattern).match(said.small, start)) and (days := _read(rule.read, read, said)):
                said.times.append(Found(start, read.end(), days))
                place = read.end()
                break


def _read(reader: Reader, match: re.Match[str], said: Said) -> Days | None:
    try:
        return reader(match, said)
    except (ValueError, OverflowError):
        return None  # no such day: 31 June, week 60, the year 30000


# ------------------------------------------------------------------ joining and moving


_BETWEEN = r"\bbetween\s+(?:the\s+)?$"


def _ranged(said: Said) -> Iterator[Found]:
    """The times with «a to b» made one, and with the year that a neighbour names."""
    times = list(said.times)
    for i, (a, b) in enumerate(pairwise(times)):
        between = said.small[a.end : b.start]
        listed = AND.fullmatch(between) is not None
        ranged = TO.fullmatch(between) is not None or (listed and re.search(_BETWEEN, said.small[: a.start]) is not None)
        if not ranged and not listed:
            continue
        if not ranged and a.days.at and b.days.at:
            continue  # each by itself: in March and June
        a_span, b_span = _beside(a.days, b.days)
        if not ranged:
            times[i] = replace(a, days=a.days._replace(span=a_span))
            times[i + 1] = replace(b, days=b.days._replace(span=b_span))
        elif a_span[0] < b_span[1]:
            times[i + 1] = Found(a.start, b.end, b.days._replace(span=(a_span[0], b_span[1]), at=None, weak=False))
            times[i] = replace(a, end=a.start)  # gone into the next
    return (one for one in times if one.end > one.start)


def _beside(a: Days, b: Days) -> tuple[Span, Span]:
    """The days of two neighbours, in order: a year that one of them names is the other's too."""
    a_span, b_span = a.span, b.span
    try:
        if b.at and not a.at:
            b_span = b.at(a_span[0].year)
            if b_span[1] <= a_span[0]:
                b_span = b.at(a_span[0].year + 1)
        elif a.at:
            if not b.at:
                a_span = a.at(b_span[0].year)
            if a_span[0] >= b_span[1]:
                a_span = a.at(a_span[0].year - 1)
    except (ValueError, OverflowError):
        return a.span, b.span
    return a_span, b_span


_PRECEDED = (
    rf"(?:\b(?P<n>{COUNT}) (?P<u>day|night|week|weekend|month|year)s? (?P<by>before|after|of|following|leading up to)|\b(?P<word>since|before|prior to|after|following|until|till|up to|around|circa|near|for))"
    r" (?:(?:on|in) )?(?:the )?$"
)
_HOLIDAY_TAIL = r"(?:假期|长假|小长假|黄金周|放假|期间|那天|当天|那周|那几天)*(?:结束)?的?"
_FOLLOWED = (
    rf"{_HOLIDAY_TAIL}(?:(?:之)?(?P<by>前|后)的?[那第]?(?P<n>{ZH_COUNT})个?(?P<u>天|周|星期|礼拜|月|年)|(?P<around>前后|左右|附近)|(?P<since>以来|至今|到现在|到目前|到今天|开始|起(?![床来初因码飞草诉]))"
    r"|(?P<after>之后|以后|过后|后(?![天来面台续期半悔者备院勤果]))|(?P<before>之前|以前|前(?![后天往台面任期半端景提女男夫妻去来进几])))"
)


def _moved(said: Said, one: Found) -> Found | None:
    """A time with its ends where the words beside it put them."""
    try:
        before = re.search(_PRECEDED, said.small[max(0, one.start - 40) : one.start])
        if before and before["n"]:
            span = _stretch(one.days.span, before["by"], number(before["n"]), before["u"], said.small[one.start :])
            return replace(one, start=one.start - len(before[0]), days=one.days._replace(span=span, weak=False))
        if before and (word := before["word"]) and not (word == "for" and one.days.unit != "holiday"):
            span = _shifted(one.days, {"prior to": "before", "following": "after"}.get(word, word), said.today)
            return replace(one, start=one.start - len(before[0]), days=one.days._replace(span=span, weak=False))
        after = None if said.text.isascii() else re.match(_FOLLOWED, said.small[one.end :])
        if after and after["n"]:
            span = _stretch(
                one.days.span, "before" if after["by"] == "前" else "after", number(after["n"]), ZH_UNIT[after["u"]], ""
            )
            return replace(one, end=one.end + after.end(), days=one.days._replace(span=span, weak=False))
        if after and after.lastgroup:
            span = _shifted(one.days, after.lastgroup, said.today)
            return replace(one, end=one.end + after.end(), days=one.days._replace(span=span, weak=False))
    except OverflowError:
        return None
    return one


def _stretch(span: Span, by: str, n: float, unit: str, what: str) -> Span:
    """So many days, weeks or months right before or after a time; «the week of» a day is the week it lies in."""
    if by == "of":
        return week_of(span[0]) if unit.startswith("week") else span
    reach = timedelta(days=round(n * UNIT_DAYS[unit]))
    return (span[1], span[1] + reach) if by in ("after", "following") else (span[0] - reach, span[0])


def _shifted(days: Days, word: str, today: date) -> Span:
    since, until = days.span
    tomorrow = today + timedelta(days=1)
    match word:
        case "since":
            return since, max(until, tomorrow)
        case "after":
            return until, max(until + timedelta(days=30), tomorrow) if until >= tomorrow else tomorrow
        case "before":
            return min(EARLIEST, since), since
        case "until" | "till" | "up to":
            return min(EARLIEST, since), until
        case _:
            wide = timedelta(days=AROUND_DAYS[days.unit])
            return since - wide, until + wide


# ------------------------------------------------------------------ anchored on an event


_WHO = r"(?:i|we|he|she|they|it|you)"
_OCCASION = (
    r"(?:trip|wedding|move|accident|surgery|operation|meeting|party|conference|interview|exams?|launch|release|concert|marathon|race|vacation|holiday|honeymoon|birth|funeral"
    r"|graduation|talk|call|visit|workshop|course|birthday|appointment|outage|incident|migration|deploy(?:ment)?|demo|deadline|promotion|divorce|renovation|pandemic|flight|tour)"
)
_DID = r"(?:\w{2,}ed|went|got|bought|came|left|began|had|met|took|made|saw|lost|found|sold|broke|gave|started|quit|flew|wrote|ran|became|told|spoke|was|were|did|moved|built|paid|sent|won|fell|chose)"
_EVENT = (
    rf"(?i)(?:\b(?P<n>{COUNT}) (?P<u>day|night|week|month|year)s? )?\b(?P<by>before|after|around|during|while|when)(?: the time)? (?:that )?"
    rf"(?P<event>(?:{_WHO}|(?:my|our|his|her|their) \w+|(?-i:[A-Z]\w+)|\w+'s \w+) (?:first |finally |last |just )?{_DID}\b[^?.!,;]{{0,60}}|(?:my|our|his|her|their|\w+'s) (?!own\b)[^?.!,;]{{3,60}}|the (?:[\w-]+ ){{0,3}}{_OCCASION}\b[^?.!,;]{{0,40}})"
)
_DAILY = r"^(?:my|our|his|her|their) (?:breakfast|lunch|dinner|supper|work|workouts?|shower|bed(?:time)?|nap|meals?|coffee|commute|shift|run|morning|turn|age|head|heart|time|life|day|eyes|own)\b"
_CLAUSE = r"(?i),?\s(?:(?:did|do|does|have|had|was|were|am|is|are) (?:i|we|you|he|she|they|it|my|our|there)|what|where|who|which|how)\b.*$"
_UNSAID = r"^\S+ \S+ (?:it|that|this|them|so)$"  # «after I bought it»: the words alone find nothing
_ZH_EVENT = rf"(?:^|[,。?!;:、\s])(?P<event>[^,。?!;:、\s]{{2,30}}?)(?:(?P<around>前后|期间|的时候|那段时间|那阵子)|(?P<before>之前|以前|前(?!往|台|面|任))|(?P<after>之后|以后|后(?!来|面|台|续|天|期)))(?!还是)的?(?:(?:第(?!几))?(?P<n>{ZH_COUNT})个?(?P<u>天|日|周|星期|礼拜|月|年)(?!次))?"
_ZH_OWN = r"^(?:.*(?:是在|还是|请问|基于)|在|从|自从|自|当|等)?(?:我们?|咱们?|你们?)?(?:在|从|自从)?"
_ZH_NO_EVENT = r"^(?:睡觉?|起床|[早午晚]?饭|吃[早午晚]?饭|早餐|午餐|晚餐|[上下]班|放学|运动|此|不久|很久.*|多年|今|最|目|以|[这那每].*|.*(?:[我你他她它]们?|假期?|寒假|暑假|了|[几天月年周])|.*(?:[哪谁吗]|多少|怎么|如何|什么).*)$"


def anchored(text: str) -> Anchored | None:
    """The event that a question hangs its time on; None when there is none, or when it has a date of its own."""
    if len(text) > LONGEST_TIMED or not HINGED.search(text):
        return None
    said = normal(text)
    if len(said) > LONGEST_TIMED:
        return None
    if not said.isascii() and (found := _anchored_in_chinese(re.sub(_BESIDE_CHINESE, "", said))):
        return found
    for match in re.finditer(_EVENT, said):
        event = re.sub(_CLAUSE, "", match["event"]).strip()
        by = match["by"].lower()
        if (
            " " not in event
            or re.match(_DAILY, event.lower())
            or re.match(_UNSAID, event)
            or _dated(event)
            or (by in ("while", "when") and not re.match(rf"{_WHO}\b", event.lower()))
        ):
            continue
        if by == "when" and match.start("by") == 0 and re.match(rf"when {_WHO} did\b", said.lower()):
            continue
        return _anchor(event, by if by in ("before", "after") else "around", match["n"], match["u"])
    return None


def _anchored_in_chinese(said: str) -> Anchored | None:
    for match in re.finditer(_ZH_EVENT, simple(said)):
        event = re.sub(_ZH_OWN, "", match["event"])
        by = "before" if match["before"] else "after" if match["after"] else "around"
        sure = match["n"] or len(match[by]) > 1  # 前 and 后 alone stand in many words
        if sure and len(event) >= 2 and not re.match(_ZH_NO_EVENT, event) and not _dated(event):
            return _anchor(
                said[match.end("event") - len(event) : match.end("event")], by, match["n"], ZH_UNIT.get(match["u"] or "")
            )
    return None


def _dated(event: str) -> bool:
    return bool(windows(event, _ANY_DAY))


def _anchor(event: str, by: str, n: str | None, unit: str | None) -> Anchored:
    relation: Literal["before", "after", "around"] = "before" if by == "before" else "after" if by == "after" else "around"
    days = round(number(n) * UNIT_DAYS[unit]) if n and unit else ANCHOR_DAYS[relation]
    return Anchored(event, relation, days)
