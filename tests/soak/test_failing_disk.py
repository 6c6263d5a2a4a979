"""R8: every flow that writes, and the first opening of a home, with every single operation failing in turn."""

import pytest
from faults.test_failing_disk import FAILURES, FLOWS, call_on_failing_disks, create_on_failing_disks


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # SQLite may fail again while it cleans up
@pytest.mark.parametrize("kind", FAILURES)
def test_R8_every_operation_of_a_creation_may_fail(tmp_path, kind):
    """Whichever of them: a typed error, and the next opening makes a whole home."""
    create_on_failing_disks(tmp_path, kind, every=1)


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name)
def test_R8_every_operation_of_a_call_may_fail(tmp_path, flow):
    """Whichever of them: typed error, nothing half-written, and the same call then succeeds."""
    call_on_failing_disks(tmp_path, flow, "broken", every=1)
