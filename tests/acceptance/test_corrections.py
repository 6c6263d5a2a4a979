"""Conflict decisions: a sample of the labelled cases of bench/conflicts, with each slot given, as a perfect extractor would."""

import conflicts
import pytest

EACH = 8  # every eighth of the 24 cases of a kind; all of them: python bench/conflicts.py


@pytest.mark.spec("S0-97", "S0-09")
def test_with_perfect_extraction_over_95_of_100_conflicts_are_decided_rightly(tmp_path):
    """Cue and no cue, negation, number, unit, date, another person's, plans …: and nothing unrelated is ever replaced or merged."""
    sample = [case for among in conflicts.cases(conflicts.CASES).values() for case in among[::EACH]]
    judged = [conflicts.judged(case, conflicts.run_case(case, stated=True, folder=tmp_path / case["id"])) for case in sample]
    wrong = [(one.id, one.why) for one in judged if one.verdict == "wrong"]
    figures = conflicts.figures(judged)

    assert len(sample) >= 45
    assert [] == [one.id for one in judged if one.destructive]
    assert figures["share"] > 95, wrong
    assert figures["flagged"] < 0.05 * len(sample)
