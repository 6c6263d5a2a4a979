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
    figure("present", nights.present[0] / nights.present[1], least=without.present[0] / without.present[1])
    figure("past", nights.past[0] / nights.past[1], least=without.past[0] / without.past[1])
    figure("a night", statistics.median(nights.nights) * 1000, "ms of CPU", most=2_000)
