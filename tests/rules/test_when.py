"""Times in questions: the days they name, in both languages, and relative to events."""

import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from yiku.rules.lexicon import built_in
from yiku.rules.values import holidays, when

CHINA = timezone(timedelta(hours=8))
NOW = datetime(2025, 5, 21, 12, tzinfo=CHINA)  # a Wednesday
DAY = timedelta(days=1)
CASES = {
    language: [
        (question.strip(), days.strip())
        for line in (Path(__file__).parent / f"times_{language}.txt").read_text("utf-8").splitlines()[1:]
        for question, _, days in [line.partition("|")]
    ]
    for language in ("en", "zh")
}
WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


def days(text: str, now: datetime = NOW) -> str:
    """The windows of a text as the tables write them."""
    spans = [(window.since.date(), window.until.date() - DAY) for window in when.windows(text, now)]
    return " ".join(f"{first}" if first == last else f"{first}..{last}" for first, last in spans)


@pytest.mark.parametrize("language", CASES)
def test_a_question_names_its_days(language: str) -> None:
    """Dates, months and their parts, years, weekdays, holidays, ranges, what is relative; and what only looks like a time."""
    wrong = [(question, expected, found) for question, expected in CASES[language] if (found := days(question)) != expected]

    assert len(CASES[language]) >= 150
    assert [] == wrong


@pytest.mark.parametrize("language", CASES)
def test_full_width_and_spaced_forms_name_the_same_days(language: str) -> None:
    """１月１８日 and 1 月 18 日 are 1月18日; spaces around Chinese and wide letters change nothing."""
    for question, _ in CASES[language]:
        expected = days(question)
        assert expected == days(question.translate(WIDE)), question
        if language == "zh":
            assert expected == days("".join(f" {c} " if "\u4e00" <= c <= "\u9fff" else c for c in question)[:200]), question


def test_a_window_begins_and_ends_at_midnight_where_the_question_is_asked() -> None:
    """Half-open, in the offset of now; with the words that name it."""
    (window,) = when.windows("what did I say last week?", NOW)

    assert (datetime(2025, 5, 12, tzinfo=CHINA), datetime(2025, 5, 19, tzinfo=CHINA)) == (window.since, window.until)
    assert "last week" == window.text
    assert "去年国庆前后" == when.windows("我去年国庆前后去了哪里？", NOW)[0].text


def test_a_long_message_names_no_time() -> None:
    """`Last week` inside a page is no filter."""
    assert when.windows("last week " + "tea " * 47, NOW)
    assert () == when.windows("last week " + "tea " * 48, NOW)
    assert () == when.windows("上周" + "茶" * 199, NOW)


def test_a_month_without_a_year_is_the_last_that_has_begun() -> None:
    """Seen from any month; a question about what will be looks ahead."""
    for month in range(1, 13):
        now = datetime(2025, month, 15, tzinfo=CHINA)
        assert f"{2025 if month >= 10 else 2024}-10-01" == days("in October", now)[:10] == days("10月我去了哪里", now)[:10]
        assert f"{2025 if month <= 10 else 2026}-10-01" == days("what will we do in October?", now)[:10]


def test_a_holiday_by_the_moon_is_when_it_was() -> None:
    """Known dates, those where the new moon stood near midnight too; 春节 always lies between 21 January and 21 February."""
    first = {year: holidays.dates("lunar 1-1", year)[0] for year in range(2000, 2051)}

    assert all((1, 21) <= (day.month, day.day) <= (2, 21) for day in first.values())
    assert {(first[year + 1] - first[year]).days for year in range(2000, 2050)} <= {353, 354, 355, 383, 384, 385}
    assert ["2007-02-18", "2025-01-29", "2027-02-06", "2030-02-03", "2034-02-19"] == [
        f"{first[year]}" for year in (2007, 2025, 2027, 2030, 2034)
    ]
    for rule, on in {"lunar 5-5": "2025-05-31", "lunar 8-15": "2025-10-06"}.items():
        assert on == f"{holidays.dates(rule, 2025)[0]}"
    assert "2012-08-23" == f"{holidays.dates('lunar 7-7', 2012)[0]}"
    assert "1999-01-01..1999-12-31" == days("1999年春节我在哪")  # no table, so the year


def test_a_holiday_that_moves_is_when_it_was() -> None:
    """By their arithmetic, in years that are known; with the days around them that are celebrated."""
    assert ["2024-03-31", "2025-04-20", "2026-04-05"] == [f"{holidays.dates('easter', year)[0]}" for year in (2024, 2025, 2026)]
    assert ["2023-11-23", "2024-11-28"] == [f"{holidays.dates('11:4:4', year)[0]}" for year in (2023, 2024)]
    assert ["2025-05-26", "2026-05-25"] == [f"{holidays.dates('05:-1:1', year)[0]}" for year in (2025, 2026)]
    assert ["2024-04-04", "2026-04-05"] == [f"{holidays.dates('qingming', year)[0]}" for year in (2024, 2026)]
    assert ["2025-12-24", "2025-12-27"] == [f"{day}" for day in holidays.dates("12-25, -1 to 1", 2025)]


def test_every_holiday_of_the_lexicon_has_its_days() -> None:
    """In each year of the table, in both languages."""
    rules = [name.removeprefix("clock.holiday.") for name in built_in().lists if name.startswith("clock.holiday.")]

    assert len(rules) > 30
    for rule in rules:
        for year in range(2000, 2051):
            first, end = holidays.dates(rule, year)
            assert 1 <= (end - first).days <= 62, (rule, year)


WORDS = sorted({word for name, words in built_in().lists.items() if name.startswith("clock.") for word in words})
PIECES = st.one_of(
    st.sampled_from("March 5 2024 31 - to 月 日 年 0 99999 / . Feb 29 ９ 18th 2025-01-18".split()), st.sampled_from(WORDS)
)


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=12).map(" ".join), st.lists(PIECES, max_size=12).map("".join)),
    st.datetimes(min_value=datetime(1950, 1, 1), max_value=datetime(2190, 1, 1)),  # noqa: DTZ001, hypothesis wants them naive
)
@example("25-last Mar", datetime(2000, 1, 1))  # noqa: DTZ001
@example("00前十十月", datetime(2000, 1, 1))  # noqa: DTZ001
@example("十五十五天前", datetime(2000, 1, 1))  # noqa: DTZ001
@pytest.mark.long
def test_any_text_gives_windows_that_have_a_length(text: str, now: datetime) -> None:
    """Whatever it says, nothing is raised, and what begins ends later."""
    found = when.windows(text, now.replace(tzinfo=CHINA))
    when.anchored(text)

    assert all(window.since < window.until and window.since.tzinfo is CHINA and window.text for window in found)


@pytest.mark.parametrize(
    ("text", "event", "relation", "reach"),
    [
        ("What did I eat the week before we moved?", "we moved", "before", 7),
        ("What did I buy after my trip to Japan?", "my trip to Japan", "after", 30),
        ("Who called me two days after the wedding?", "the wedding", "after", 2),
        ("How did I feel during my vacation in Spain?", "my vacation in Spain", "around", 7),
        ("before Ann left Oslo, what did she give me?", "Ann left Oslo", "before", 30),
        ("after I moved to Bergen what did I buy", "I moved to Bergen", "after", 30),
        ("when did we meet after her recent relocation?", "her recent relocation", "after", 30),
        ("What did I plan around the launch?", "the launch", "around", 7),
        ("Who lent me the drill when I rearranged the living room?", "I rearranged the living room", "around", 7),
        ("What went wrong after the last migration?", "the last migration", "after", 30),
        ("搬家前一周我买了什么", "搬家", "before", 7),
        ("我去日本之后买了什么？", "去日本", "after", 30),
        ("提交论文终稿后的第二天我做了什么", "提交论文终稿", "after", 2),
        ("出差期间我住哪家酒店？", "出差", "around", 7),
        ("在莽山露营期间，他哪里不舒服", "莽山露营", "around", 7),
        ("参加婚礼的时候我穿了什么", "参加婚礼", "around", 7),
        ("毕业典礼前后我见过谁", "毕业典礼", "around", 7),
        ("手術之後兩個月我吃什麼藥", "手術", "after", 60),
    ],
)
def test_a_time_hangs_on_an_event(text: str, event: str, relation: str, reach: int) -> None:
    """The event's words, on which side of it, and how far."""
    assert when.Anchored(event, relation, reach) == when.anchored(text)


@pytest.mark.parametrize(
    "text",
    [
        "remind me before lunch",
        "what do I do after work?",
        "who looks after the cat?",
        "after all, what did we say?",
        "the day after tomorrow",
        "before March 5",
        "what did I buy after Christmas?",
        "When did I move?",
        "around 30 people",
        "what happened after that",
        "我以前住在哪里",
        "睡觉之前做什么",
        "饭后散步",
        "下班后我一般做什么",
        "三天前",
        "春节之后",
        "3月5日之前",
        "不久之后",
        "这之后呢",
        "后来怎么样",
        "前往北京的票",
        "完成哪个项目之后我休假了",
        "与我之前学的有什么不同",
    ],
)
def test_a_habit_or_a_date_is_no_event(text: str) -> None:
    """Meals, work and sleep come every day; a date needs no looking up."""
    assert when.anchored(text) is None


def test_an_event_that_was_found_gives_a_window() -> None:
    """Before ends with its day's beginning, after begins there, around reaches both ways."""
    moved = datetime(2024, 6, 10, 15, tzinfo=CHINA)
    spans = {
        relation: (window.since.day, window.until.day)
        for relation in ("before", "after", "around")
        for window in [when.Anchored("we moved", relation, 7).window(moved)]
    }

    assert {"before": (3, 10), "after": (10, 18), "around": (3, 18)} == spans


def test_the_longest_question_is_read_soon() -> None:
    """200 characters of whatever begins a time again and again."""
    for unit in (
        "last ",
        "the ",
        "1",
        "1 ",
        "一",
        "3月",
        "月",
        "上",
        "前",
        "in the last ",
        "a few ",
        "after my ",
        "before ",
        "去年",
        "Jan ",
        "2024-",
        "之前",
    ):
        started = time.process_time()
        for _ in range(3):
            when.windows((unit * 200)[:200], NOW)
            when.anchored((unit * 200)[:200])
        assert time.process_time() - started < 0.5, unit
