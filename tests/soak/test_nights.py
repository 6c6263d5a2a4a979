"""R32, R33: nights of random histories undone, and a simulated year of nights."""

import statistics

import night
import undone_nights


def test_R32_nights_of_random_histories_are_undone(tmp_path, seed, count, figure):
    """Every exported field is as before the night, or is what somebody made of it since; an undo of the undo brings it back."""
    taken_back = [undone_nights.check(tmp_path / str(i), seed + i) for i in range(count(20, 200, "histories"))]

    figure("decisions taken back", sum(taken_back), least=1)


def test_R33_a_year_with_nights_and_without(tmp_path, seed, count, figure):
    """The answers about the present are no fewer than without nights; what was replaced stays so, and every rule is there."""
    days = count(60, 365, "days")
    years = night.simulate(tmp_path, seed, 2_000 if days == 365 else 300, days)
    nights, without = years["nights"], years["without"]
    for line in night.lines(years):
        print(f"  {line}")

    assert ([], []) == (nights.back, nights.rules_missing)
    figure("wrong decisions in 1,000 statements", 1_000 * len(nights.wrong) / nights.statements, most=1)
    figure("present", _share(nights.present), least=_share(without.present))
    figure("past", _share(nights.past), least=_share(without.past))
    figure("present, in other words", _share(nights.present_loosely), least=_share(without.present_loosely))
    figure("past, in other words", _share(nights.past_loosely), least=_share(without.past_loosely))
    figure("a night", statistics.median(nights.nights) * 1000, "ms of CPU", most=2_000)


def _share(counted: tuple[int, int]) -> float:
    return counted[0] / counted[1]
