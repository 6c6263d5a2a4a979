"""
Options of the soak (length, seed, selected promises) and the table at its end: `make soak-short`, `make soak`.

YIKU_SOAK       short (default) or long: the counts of CI, or those of a release
YIKU_SOAK_ONLY  the goals to run, as in `make soak ONLY="R1 R4"`
YIKU_SOAK_SEED  a seed that an earlier run printed, to run the same again

A test says with `count` how often it does what, and with `figure` what it measured; both travel in its
report, so the table is the same with several workers.
"""

import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sampling
from rich import box
from rich.console import Console
from rich.table import Table
from soak import goals

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))  # a year with nights is a benchmark, too

RELEASE = os.environ.get("YIKU_SOAK") == "long"
ONLY = os.environ.get("YIKU_SOAK_ONLY", "").replace(",", " ").split()
INSTALLED = {"CODING_AGENTS": "test_agents.py", "MCP_CLIENTS": "test_mcp_clients.py"}  # programs of others, where somebody has them
collect_ignore = [name for variable, name in INSTALLED.items() if not os.environ.get(variable)]
WIDTH = 120  # columns of the table where nobody says how wide the terminal is


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Of this state of the code (tests/sampling.py), in a release drawn anew, or as YIKU_SOAK_SEED says; printed with the test's name."""
    drawn = random.SystemRandom() if RELEASE else random.Random(f"{sampling.SEED} {request.node.name}")
    found = int(os.environ.get("YIKU_SOAK_SEED") or drawn.randrange(10**9))
    print(f"\n{request.node.name}: YIKU_SOAK_SEED={found}")
    return found


@pytest.fixture
def count(request: pytest.FixtureRequest) -> Callable[..., int]:
    """
    `count(300, 1_000, "kills", release=10_000)`: how often, short or long.

    release: what was promised, where it would take too long to run each time; the table says so
    """

    def chosen(short: int, long: int, what: str = "rounds", *, release: int | None = None) -> int:
        number = long if RELEASE else short
        of = f" of {release:,}" if RELEASE and release else ""
        print(f"  {number:,}{of} {what}")
        request.node.user_properties.append(("soak run", f"{number:,}{of} {what}"))
        return number

    return chosen


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[..., None]:
    """`figure("reopen p99", 12.3, "ms", most=1_000)`: what was measured, and what was promised; over it the test fails."""

    def measured(what: str, value: float, unit: str = "", *, least: float | None = None, most: float | None = None) -> None:
        bounds = [f"{sign} {bound:,g}" for sign, bound in (("≥", least), ("≤", most)) if bound is not None]
        said = " ".join(filter(None, [what, _rounded(value), unit, f"({', '.join(bounds)})" if bounds else ""]))
        print(f"  {said}")
        request.node.user_properties.append(("soak figure", said))
        assert least is None or value >= least, said
        assert most is None or value <= most, said

    return measured


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:,.3g}"


# ------------------------------------------------------------------ which tests, and the table


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Each test has goals that are known; those of others than asked for are left out."""
    if unknown := sorted({*ONLY} - {*goals.PROMISES}):
        raise pytest.UsageError(f"there is no goal {', '.join(unknown)}; there are {', '.join(goals.PROMISES)}")
    ours = [item for item in items if "soak" in item.path.parts]
    for item in ours:
        if not (named := goals.of(item.name)) or not {*named} <= {*goals.PROMISES}:
            raise pytest.UsageError(f"{item.nodeid} belongs to no goal of tests/soak/goals.py: name it test_R1_… or so")
    if left_out := [item for item in ours if ONLY and not {*ONLY} & {*goals.of(item.name)}]:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The one table."""
    reports = [
        report
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and goals.of(report.location[2])
    ]
    size = "release counts" if RELEASE else "short counts; `make soak` runs those of a release"
    table = Table(title=f"What was promised, and whether it held ({size})", box=box.SIMPLE_HEAD, title_justify="left")
    for heading, least in (("goal", 4), ("promise", 44), ("run", 22), ("measured", 22)):
        table.add_column(heading, min_width=least)
    table.add_column("seconds", justify="right", min_width=7)
    table.add_column("result", min_width=7)
    for goal in goals.PROMISES:
        if not ONLY or goal in ONLY:
            table.add_row(goal, goals.PROMISES[goal], *_row([report for report in reports if goal in _goals(report)]))
    Console(width=max(WIDTH, terminalreporter._tw.fullwidth)).print(table)


def _goals(report: pytest.TestReport) -> list[str]:
    return goals.of(report.location[2])


def _row(reports: list[pytest.TestReport]) -> Iterator[str]:
    """What was run, what was measured, seconds and result of one goal."""
    yield "\n".join(_noted(reports, "soak run"))
    yield "\n".join(_noted(reports, "soak figure"))
    yield f"{sum(report.duration for report in reports):,.0f}" if reports else ""
    if any(report.failed for report in reports):
        yield "BROKEN"
    else:
        yield "held" if any(report.when == "call" and report.passed for report in reports) else "not run"


def _noted(reports: list[pytest.TestReport], name: str) -> list[str]:
    """What the tests said of themselves; what several said alike, once with how many."""
    said = Counter(value for report in reports if report.when == "teardown" for key, value in report.user_properties if key == name)
    return [text if times == 1 else f"{times} × {text}" for text, times in said.items()]
