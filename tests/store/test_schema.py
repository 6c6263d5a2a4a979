"""Creating and migrating the schema, also while another process does."""

from contextlib import closing, suppress
from pathlib import Path

import apsw
import pytest

from yiku import Memory
from yiku.errors import ForeignStore
from yiku.store import schema


@pytest.mark.parametrize("begun", ["pragma application_id", "select 1 from sqlite_schema"])
def test_a_file_is_looked_at_in_one_moment(tmp_path, begun):
    """Another process that makes the store between two looks changes neither: it is nothing yet, or a whole store."""
    with Memory(tmp_path / "home", owner="user:mei"):
        pass
    made = sqlite_pages(tmp_path / "home" / "yiku.db")
    path = tmp_path / "new.db"
    path.touch()
    came = []

    def by_another_process(connection: apsw.Connection, sql: str, _: object) -> bool:
        if sql.startswith(begun) and not came:
            came.append(sql)
            with suppress(apsw.BusyError), closing(apsw.Connection(str(path))) as other, other.backup("main", made, "main") as copy:
                copy.step(-1)
        return True

    with closing(apsw.Connection(str(path))) as connection:
        connection.exec_trace = by_another_process
        try:
            current = schema.is_current(connection, path, None)
        except ForeignStore:
            current = None
    assert came, "nobody came between"
    assert current is False, "it was empty when the look began"
    made.close()


def sqlite_pages(path: Path) -> apsw.Connection:
    """The store in a connection that leaves the file alone."""
    return apsw.Connection(f"{path.as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
