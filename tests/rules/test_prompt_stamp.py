"""Parsing and formatting `.compiled_at`."""

import pytest

from yiku.rules.prompts import stamp
from yiku.rules.prompts.stamp import Made

KNOWN = {"soul.summary.md": Made("a" * 32, "b" * 32, "model"), "user.summary.md": Made("c" * 32, "d" * 32, "rules")}


@pytest.mark.spec("S3-232")
def test_it_reads_back_what_was_written():
    """The time stands first, as in the design."""
    text = stamp.to_text("2026-03-01T09:00:00+01:00", KNOWN)

    assert "2026-03-01T09:00:00+01:00" == text.splitlines()[0]
    assert KNOWN == stamp.parse(text) == stamp.parse(text.replace("\n", "\r\n"))


@pytest.mark.parametrize(
    "text", ["", "2026-03-01", "soul.summary.md", f"../x {'a' * 32} {'b' * 32} model", "一二三", f"x {'a' * 31} {'b' * 32} rules"]
)
def test_what_cannot_be_read_says_nothing(text):
    """Then the summary is made again."""
    assert {} == stamp.parse(text)
