"""R17: the migration of every earlier version, killed and failing at each of its operations."""

import pytest
from faults.disk import BROKEN, FULL
from faults.test_migration import failed_migrations, held, killed_migrations, old_home


def test_R17_a_migration_is_finished_whichever_operation_it_was_killed_at(tmp_path, count, figure):
    """Killed before each operation: the next opening finishes, every row is there, no file is left over."""
    figure("operations of a migration", killed_migrations(tmp_path, count(20, 1, "operations from kill to kill")))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # SQLite may fail again while it cleans up
@pytest.mark.parametrize("failure", [FULL, BROKEN], ids=["full", "broken"])
def test_R17_a_migration_is_finished_whichever_operation_failed(tmp_path, failure, count, figure):
    """Each operation fails: a typed error, and the next opening finishes."""
    rows = held(old_home(tmp_path / "wanted"))
    figure(
        "operations of a migration", failed_migrations(tmp_path, failure, count(40, 1, "operations from failure to failure"), rows)
    )
