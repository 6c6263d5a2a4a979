"""Formatting additions to pages: entries of a daily log, notes under a topic, days of a digest."""

import json
import re
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yiku.rules.pages import daily

AT = datetime.fromisoformat("2026-03-01T14:02:31+01:00")


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("2026-03-01.md", date(2026, 3, 1)),
        ("2026-02-30.md", None),
        ("2026-3-1.md", None),
        ("２０２６-03-01.md", None),
        ("2026-03-01.txt", None),
        ("2026-03-01-2.md", None),
        ("ideas.md", None),
        ("", None),
    ],
)
def test_which_files_are_daily_logs(name: str, day: date | None) -> None:
    assert day == daily.day_of(name)


@pytest.mark.spec("S4-10")
def test_an_entry() -> None:
    """It has its time, what is known of it, and its text."""
    entry = daily.entry("We chose Postgres. 我们选了 Postgres。\n", AT, {"source": "chat", "项目": "忆库"})

    assert '## 14:02:31\n<!-- {"source": "chat", "项目": "忆库"} -->\n\nWe chose Postgres. 我们选了 Postgres。\n' == entry
    assert "## 14:02:31\n\nWe chose Postgres.\n" == daily.entry("\n\nWe chose Postgres.  \n\n", AT)


def test_metadata_stays_in_its_comment() -> None:
    """No value ends the comment, and JSON reads it back."""
    metadata = {"a": "--> # not a heading", "b": ["<!--", "-->"], ">": ">"}
    line = daily.entry("x", AT, metadata).split("\n")[1]

    assert 1 == line.count(">")
    assert metadata == json.loads(line.removeprefix("<!-- ").removesuffix(" -->"))


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("```python\nprint(1)", "\n```"),
        ("~~~~\n~~~\n```", "\n~~~~"),
        ("a\n```\nb\n```", "b\n```"),
        ("``` not `a` fence", "not `a` fence"),
        ("see <!-- a remark", "\n-->"),
        ("<!-- a --> b", "<!-- a --> b"),
        ("一行\r\n```\r\n代码", "代码\n```"),
    ],
)
def test_nothing_that_is_added_swallows_what_follows(text: str, ends: str) -> None:
    """A block of code or a comment that a text leaves open is closed; another text stays as it is."""
    assert daily.close_blocks(text).endswith(ends)
    assert daily.close_blocks(daily.close_blocks(text)) == daily.close_blocks(text)


@pytest.mark.parametrize(
    ("page", "page_after"),
    [
        ("", "# 2026-03-01\n\n## 14:02:31\n\nx\n"),
        ("# Mine 我的", "# Mine 我的\n\n## 14:02:31\n\nx\n"),
        ("# Mine\n", "# Mine\n\n## 14:02:31\n\nx\n"),
        ("# Mine\n\n", "# Mine\n\n## 14:02:31\n\nx\n"),
    ],
)
def test_at_the_end_of_a_page(page: str, page_after: str) -> None:
    """A new page begins with its title; what stood there stays, and the lines are those of the entry."""
    found = daily.append(page, daily.entry("x", AT), "2026-03-01")

    assert page_after == found.text
    assert ["## 14:02:31", "", "x"] == found.text.split("\n")[found.first - 1 : found.last]


# ------------------------------------------------------------------ topics

PAGE = """# Memory 记忆

## Food 饮食

- Ann prefers tea

Some prose.

### Drinks

- coffee at nine

## Work

```
## Food 饮食
```
"""


def everywhere(page: str) -> list[tuple[int, int]]:
    return [(1, page.count("\n") + 1)]


def added(page: str, topic: str, text: str) -> daily.Added:
    return daily.under_topic(page, topic, daily.note(text), everywhere(page))


@pytest.mark.parametrize(
    ("topic", "before", "after"),
    [
        ("Food 饮食", "- coffee at nine\n", "\n## Work"),
        ("food  饮食", "- coffee at nine\n", "\n## Work"),
        ("DRINKS", "- coffee at nine\n", "\n## Work"),
        ("Work", "```\n\n", ""),
        ("Memory 记忆", "```\n\n", ""),
        ("New 新", "```\n\n## New 新\n\n", ""),
    ],
)
def test_under_a_topic(topic: str, before: str, after: str) -> None:
    """A note goes to the end of its section, whatever case and width the topic is in; one that is not there is made at the end."""
    found = added(PAGE, topic, "no sugar 不加糖")

    assert f"{before}- no sugar 不加糖\n{after}" in found.text
    assert ["- no sugar 不加糖"] == found.text.split("\n")[found.first - 1 : found.last]
    assert found.text.replace("- no sugar 不加糖\n", "").replace("\n", "").replace("## New 新", "") == PAGE.replace("\n", "")


def test_told_twice() -> None:
    """A note that stands under its topic is not added once more; under another topic it is."""
    once = added(PAGE, "Food 饮食", "no sugar")
    twice = added(once.text, "food 饮食", "no sugar")

    assert (once.text, once.first, once.last, False) == twice
    assert added(once.text, "Work", "no sugar").new


def test_an_empty_page_and_a_long_note() -> None:
    """On an empty page the topic is all there is; several lines stay as they are, behind their summary."""
    found = daily.under_topic("", "Database", daily.note("We chose Postgres.\nIt was there.", "Postgres  it is"), everywhere(""))

    assert "## Database\n\n**Postgres it is**\n\nWe chose Postgres.\nIt was there.\n" == found.text
    assert ("**Postgres it is**", "It was there.") == tuple(found.text.split("\n")[i - 1] for i in (found.first, found.last))
    assert "- 第一\n- 第二" == daily.note("- 第一\n- 第二")
    assert "1. first" == daily.note("1. first")


def test_lines_that_are_not_to_be_touched() -> None:
    """A heading in lines that belong to somebody else is not the topic, and a section ends where they begin."""
    page = "## Food\n\n- tea\n<!-- a -->\n## Food\n- mine\n<!-- b -->\n\n## Food\n"

    found = daily.under_topic(page, "Food", "- milk", [(1, 3), (8, 10)])
    assert "## Food\n\n- tea\n- milk\n\n<!-- a -->\n## Food\n- mine\n<!-- b -->\n\n## Food\n" == found.text
    assert daily.under_topic(page, "Food", "- milk", [(8, 10)]).text.endswith("<!-- b -->\n\n## Food\n\n- milk\n")
    assert daily.under_topic(page, "Food", "- milk", []).text.endswith("## Food\n\n## Food\n\n- milk\n")


@given(st.text(alphabet="#-`~ \n<!>ab字"), st.text(alphabet="#-`~ \n<!>ab字", min_size=1).filter(str.strip))
def test_no_character_that_stood_there_is_lost(page: str, text: str) -> None:
    """Whatever stands on a page, adding to it leaves every line that was there, in order, and tells where the new ones are."""
    for found in (added(page, "topic", text), daily.append(page, daily.entry(text, AT), "2026-03-01")):
        left = iter(found.text.split("\n"))
        assert all(line in left for line in page.rstrip("\n").split("\n"))
        shown = "\n".join(found.text.split("\n")[found.first - 1 : found.last])
        assert daily.close_blocks(text) in shown


def test_a_digest() -> None:
    """The points of a day, each on one line, and where the rest is."""
    digest = daily.digest(date(2026, 3, 1), ["We chose\nPostgres.", "定了数据库"])

    assert "## 2026-03-01\n\n- We chose Postgres.\n- 定了数据库\n\n[2026-03-01.md](2026-03-01.md)\n" == digest
    assert re.search(f"^{daily.digest_heading(date(2026, 3, 1))}$", digest, re.MULTILINE)
