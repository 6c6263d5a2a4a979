"""The fence: what memory put into a prompt is not learned again."""

from hypothesis import given
from hypothesis import strategies as st

from yiku.rules import fence


@given(st.text(max_size=100), st.text(max_size=100), st.text(max_size=100))
def test_what_was_wrapped_is_stripped_and_the_rest_stays(before: str, inside: str, after: str) -> None:
    """Whatever a memory says, exactly the fence and its inside go."""
    if "yiku-memory" not in before + inside + after:
        assert before + after == fence.strip(before + fence.wrap(inside) + after)


def test_nested_marks_cannot_smuggle_text_out() -> None:
    """A memory that contains the closing mark stays inside."""
    assert "ab" == fence.strip("a" + fence.wrap(f"x{fence.CLOSE}evil{fence.OPEN}y") + "b")


def test_escaped_marks_count_and_open_ends_stay() -> None:
    """Hosts that escape HTML give the fence back escaped; half a fence is the user's own text."""
    escaped = fence.wrap("x").replace("<", "&lt;").replace(">", "&gt;")

    assert "我说 好" == fence.strip(f"我说{escaped} 好")
    assert f"a {fence.OPEN} b" == fence.strip(f"a {fence.OPEN} b")


def test_many_open_marks_cost_no_more_than_their_length() -> None:
    """A hostile text is read once."""
    hostile = fence.OPEN * 50_000

    assert hostile == fence.strip(hostile)
