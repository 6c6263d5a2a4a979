"""
Pytest plugin: report which rows of the specification a run proved, and where its time went.

A test names the rows it proves, at most six: @pytest.mark.spec("S2-76", "T-22"). After the run
`.spec-report.jsonl` in the root has a line for each pair of row and test:

    {"row": "S2-76", "test": "tests/rules/test_fuse.py::test_x", "outcome": "passed"}

outcome: passed, failed, error (setup, teardown or a crash) or skipped. A run replaces the lines of
the files it ran, or, when tests were chosen by name, of those tests; so `make test` renews all lines
but the soak's. The marks travel inside the reports, so it is the same with workers.
"""

import fcntl
import json
from collections import Counter
from collections.abc import Generator, Iterable
from pathlib import Path

import pytest
import sampling

MOST_ROWS = 6  # a test that claims more shows none of them well
BAD_TO_GOOD = ["error", "failed", "skipped", "passed"]
NARROWING = ["keyword", "markexpr", "deselect", "lf", "stepwise", "maxfail"]  # options that leave out a part of a file


def rows_of(item: pytest.Item) -> list[str]:
    return list(dict.fromkeys(row for mark in item.iter_markers("spec") for row in mark.args))


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: pytest.Collector) -> Generator[None, object, object]:
    """A test that names more than six rows is not collected."""
    made = yield
    for item in made if isinstance(made, list) else [made]:
        if isinstance(item, pytest.Item) and len(rows_of(item)) > MOST_ROWS:
            raise collector.CollectError(f"{item.name} names {len(rows_of(item))} rows; at most {MOST_ROWS} are shown well")
    return made


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.user_properties.extend(("spec", row) for row in rows_of(item))


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # with workers, only their controller reports
        config.pluginmanager.register(SpecReport(config), "spec-report")


class SpecReport:
    """Listens to the reports of one run."""

    def __init__(self, config: pytest.Config) -> None:
        self.root = config.rootpath
        self.everything = config.args_source is not config.ArgsSource.ARGS
        self.whole_files = not any(config.getoption(name, default=False) for name in NARROWING) and not any(
            "::" in arg for arg in config.args
        )
        self.rows: dict[str, set[str]] = {}
        self.outcomes: dict[str, str] = {}
        self.seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test = report.nodeid
        self.rows.setdefault(test, set()).update(row for name, row in report.user_properties if name == "spec")
        self.seconds[room(test)] += report.duration
        if report.passed and report.when != "call":
            return  # setup or teardown went well: that proves nothing yet
        outcome = "error" if report.failed and report.when != "call" else report.outcome
        self.outcomes[test] = min(outcome, self.outcomes.get(test, outcome), key=BAD_TO_GOOD.index)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if not self.outcomes:
            return
        self.whole_files &= exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        with (self.root / ".spec-report.jsonl").open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # `make -j test check` ends two runs at once
            file.seek(0)
            ran = {*map(file_of, self.rows)}
            kept = [entry for entry in map(json.loads, file) if self.keeps(entry["test"], ran)]
            file.truncate(0)
            file.writelines(json.dumps(entry) + "\n" for entry in [*kept, *self.entries()])

    def keeps(self, test: str, ran: set[str]) -> bool:
        """Whether the line of an earlier run still stands, when these files ran."""
        if self.whole_files:
            return file_of(test) not in ran and (self.root / file_of(test)).exists()
        return test not in self.rows

    def entries(self) -> Iterable[dict[str, str]]:
        for test, outcome in sorted(self.outcomes.items()):
            for row in sorted(self.rows[test]):
                yield {"row": row, "test": test, "outcome": outcome}

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.everything and self.seconds:
            shares = " · ".join(f"{name} {seconds:.1f}" for name, seconds in self.seconds.most_common())
            terminalreporter.write_line(f"share of the two minutes, seconds by room: {shares}")
        if self.outcomes:
            terminalreporter.write_line(f"samples were drawn with YIKU_SEED={sampling.SEED}")


def file_of(test: str) -> str:
    return test.partition("::")[0]


def room(test: str) -> str:
    """The folder below tests/ that a test lies in, or `tests` itself."""
    parts = Path(file_of(test)).parts
    return parts[1] if len(parts) > 2 else parts[0]
