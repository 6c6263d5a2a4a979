"""No regular expression of the code can take exponential time."""

import os
import re

import backtracking
import patterns
import pytest
from cpu import TookTooLong, within
from faults.hostile import UNITS
from sampling import Choice

from yiku.rules.learning import entities
from yiku.rules.sessions import calls

WINDOW = 300  # characters; what is tried on more is linear (tests/faults/test_hostile_input.py)
LONGEST_S = 3.0  # of CPU for one pattern and one text; the slowest takes 0.5 s, from each place of a run of 也
SIGNS = (*map(chr, range(128)), *"的我在一也，。：“」　é\u0301🙂")


def test_no_loop_of_any_pattern_reads_a_text_in_two_ways(some: Choice) -> None:
    """With n such texts in a row there would be 2ⁿ ways, and all are tried before a match fails. In a fast run a third of them."""
    every = [*patterns.patterns().items()]
    looked_at = every if os.environ.get("YIKU_WHOLE") else some(every, len(every) // 3)
    ambiguous = {
        f"{place}: {pattern.pattern[:80]!r} reads {texts} in two ways"
        for place, pattern in looked_at
        if (texts := backtracking.ambiguous_loops(pattern))
    }

    assert set() == ambiguous


def test_every_pattern_is_known_also_those_that_are_compiled_later() -> None:
    """Patterns as data, in calls, in caches; of both languages."""
    known = {pattern.pattern for pattern in patterns.patterns().values()}

    assert {calls._BEGINS.pattern, entities._capitals().pattern} <= known
    assert len(known) > 300


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(?:[\s,\0]+|so(?:\s*,\s*))+", "\t\t"),
        (r"(?:a|ab|b)*c", "aab"),
        (r"(?:哈+|嗯)*", "哈哈"),
        (r"(?:\w+ly |finally )*now", "finally "),
        (r"(?:.{1,12}x)+", "xx"),
        (r"(?:(?:a+)+b)++", "aa"),
        (r"(?>(?:a+)+b)", "aa"),
        (r"(?=(?:a|a)*b)", "a"),
        (r"(?:我|我们|很)*", None),
        (r"(?:a+,)+", None),
        (r"(?>(?:a+)+)", None),
        (r"(?:a+)++", None),
        (r"(?:(?!_)\w)+(?:_(?:(?!_)\w)+)*", None),
    ],
)
def test_an_ambiguous_loop_is_found(pattern: str, text: str | None) -> None:
    """A repeat inside a repeat, branches that overlap, in a possessive loop, in a lookahead; what can be read in one way is left alone."""
    found = backtracking.ambiguous_loops(re.compile(pattern))

    assert bool(found) is (text is not None)
    if text is not None and "(?=" not in pattern:
        with pytest.raises(TookTooLong), within(0.2):
            re.fullmatch(pattern.replace("(?>", "(?:").replace("++", "+"), (text or "") * 400 + "\n!")


def test_no_pattern_is_slow_on_a_run_of_any_sign(some: Choice) -> None:
    """Each pattern is tried on runs of some signs and words (in the soak on all)."""
    assert [] == slow(some)


def slow(choose: Choice) -> list[str]:
    """The patterns that take too long on a run of one sign, or of a few words, and the run."""
    texts = {place: pattern for place, pattern in patterns.patterns().items() if isinstance(pattern.pattern, str)}
    return [
        f"{place} with {unit!r}"
        for place, pattern in texts.items()
        for unit in choose([*SIGNS, *UNITS], 2)
        if not _is_quick(pattern, (unit * WINDOW)[:WINDOW])
    ]


def _is_quick(pattern: re.Pattern[str], text: str) -> bool:
    try:
        with within(LONGEST_S):
            pattern.search(text)
            pattern.fullmatch(text)
    except TookTooLong:
        return False
    return True
