"""R17: migrating every earlier version, killed and failing at each operation."""

import pytest
from faults.disk import BROKEN, FULL
from faults.test_migration import SCHEMAS, failed_migrations, held, killed_migrations, old_home

of_each = pytest.mark.parametrize("version", SCHEMAS, ids="schema {}".format)


@of_each
def test_R17_a_migration_is_finished_whichever_operation_it_was_killed_at(tmp_path, version, count, figure):
    """Killed before each operation: the next opening finishes, every row is there, no file is left over."""
    figure("operations of a migration", killed_migrations(tmp_path, count(20, 1, "operations from kill to kill"), version))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # SQLite may fail again while it cleans up
@of_each
@pytest.mark.parametrize("failure", [FULL, BROKEN], ids=["full", "broken"])
def test_R17_a_migration_is_finished_whichever_operation_failed(tmp_path, failure, version, count, figure):
    """Each operation fails: a typed error, and the next opening finishes."""
    rows, every = held(old_home(tmp_path / "wanted", version)), count(40, 1, "operations from failure to failure")
    figure("operations of a migration", failed_migrations(tmp_path, failure, every, version, rows))
