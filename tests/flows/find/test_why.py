"""`why`: since when, sources, replaced versions, changes, and where the statement was shown."""

import pytest

from yiku.errors import NotFound


def test_a_statement_names_its_words_and_what_it_replaced(memory, clock):
    """Learned from a turn, it shows that turn's words; the statement that it replaced is named with the days on which it held."""
    bergen = memory.remember("I live in Bergen", said_at="2026-01-05").memory
    turn = memory.record_turn("user", "So much to tell! I live in Oslo now. The flat is small.", session="s1")
    oslo = next(row for row in memory.get_all() if row.object == "Oslo")
    clock.advance(days=1)
    memory.context("Where do I live?")
    why = memory.why(oslo.id)

    assert ["I live in Oslo now"] == [words.text for words in why.words]
    assert [turn.id] == [words.source.turn for words in why.words]
    assert [bergen.id] == [row.id for row in why.replaced]
    assert why.current is None
    assert "Believed: yes" in why.page
    assert f'2026-03-01 09:00, Mei, s1, #{turn.id[-8:]}: "I live in Oslo now"' in why.page.replace("user, s1", "Mei, s1")
    assert f"2026-01-05 to 2026-03-01: I live in Bergen #{bergen.id[-8:]}" in why.page
    assert "In answers: 1, last on 2026-03-02" in why.page


def test_times_are_those_of_who_said_it(memory, clock):
    """What happened to a statement is told in the offset in which it was said, also when and where it was replaced."""
    memory.remember("I live in Bergen", said_at="2026-02-02T07:00+08:00")
    oslo = memory.remember("I live in Oslo", said_at="2026-02-08T20:00-05:00").memory
    page = memory.why(oslo.id).page
    at = f"{clock().astimezone(oslo.said_at.tzinfo):%Y-%m-%d %H:%M}"

    assert "Held: from 2026-02-08 to now" in page
    assert f"Said 2026-02-08 20:00, stored {at}" in page
    assert f"{at} remember" in page
    assert "2026-02-02 to 2026-02-08: I live in Bergen" in page


def test_an_outdated_statement_names_what_counts_now(memory, clock):
    """Asked about the old one, the page says first that it is over, and what holds instead."""
    bergen = memory.remember("我住在卑尔根", said_at="2026-01-05").memory
    oslo = memory.remember("我住在奥斯陆").memory
    why = memory.why(bergen.id[-8:])

    assert oslo.id == why.current.id
    assert () == why.replaced
    assert f"已不再成立。现为：我住在奥斯陆 #{oslo.id[-8:]}" in why.page


def test_what_was_forgotten_says_by_which_operation(memory, clock):
    """The changes of a line are listed in their order, with their numbers, as `undo` takes them."""
    boat = memory.remember("I own a boat")
    clock.advance(days=1)
    memory.update(boat.memory.id, importance=0.9)
    gone = memory.forget(boat.memory.id, reason="sold")
    why = memory.why(boat.memory.id)

    assert ["remember", "update", "forget"] == list(dict.fromkeys(change.operation for change in why.changes))
    assert "Believed: no, it is archived (forgotten: sold)." in why.page
    assert f"forget (operation {gone.operation})" in why.page
    assert "It was never shown." in why.page


def test_what_may_contradict_it_and_the_page_it_stands_on_are_named(memory):
    """A flagged statement names the other one; a published one names its pages."""
    memory.remember("My mentor is Ann", subject="user", predicate="mentor", object="Ann")
    lilei = memory.remember("My mentor is 李雷", subject="user", predicate="mentor", object="李雷").memory
    memory.remember("我喜欢绿茶")
    memory.notes.publish()
    tea = next(row for row in memory.get_all() if "绿茶" in row.content)

    assert ["My mentor is Ann"] == [row.content for row in memory.why(lilei.id).others]
    assert ("MEMORY.md", "USER.md") == memory.why(tea.id).pages
    assert "列在 MEMORY.md, USER.md 上" in memory.why(tea.id).page


def test_a_long_history_is_cut_in_the_middle(memory, clock):
    """Of thirty changes the first and the last four are listed, and how many lie between them."""
    boat = memory.remember("I own a boat").memory
    for number in range(30):
        clock.advance(hours=1)
        memory.update(boat.id, importance=0.3 + number / 100)
    page = memory.why(boat.id).page

    assert "(23 more)" in page
    assert len(page.splitlines()) < 45


def test_a_turn_has_no_why(memory):
    """The id of a turn is no memory's."""
    turn = memory.record_turn("user", "早", session="s1")
    with pytest.raises(NotFound, match="is a turn's"):
        memory.why(turn.id)
