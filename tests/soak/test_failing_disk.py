"""R8: every flow that writes, and creating a home, with each disk operation failing in turn."""

import pytest
from faults.test_failing_disk import FLOWS, call_on_failing_disks, create_on_failing_disks
from sampling import drawn_for


@pytest.fixture
def choose(seed, count):
    """Which operations fail: in a release each one, in both ways."""
    at_most, some = count(60, 100_000, "failures at most of each flow"), drawn_for(str(seed))
    return lambda failures, _: some(failures, at_most)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # SQLite may fail again while it cleans up
def test_R8_every_operation_of_a_creation_may_fail(tmp_path, choose, figure):
    """Whichever of them: a typed error, and the next opening makes a whole home."""
    figure("operations of a creation", create_on_failing_disks(tmp_path, choose))


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name)
def test_R8_every_operation_of_a_call_may_fail(tmp_path, flow, choose, figure):
    """Whichever of them: typed error, nothing half-written, and the same call then succeeds."""
    figure(f"operations of {flow.name}", call_on_failing_disks(tmp_path, flow, choose))
