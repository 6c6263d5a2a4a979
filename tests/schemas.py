"""A store as the first schema had it, for tests of what is older than today."""

import re
from importlib.resources import files

import apsw

from yiku.store import schema


def to_schema_1(connection: apsw.Connection) -> None:
    """Everything that later schemas added to a copy goes."""
    later = "".join(files("yiku.store.sql").joinpath(script).read_text(encoding="utf-8") for script in schema.MIGRATIONS[1:])
    gone = re.findall(r"create (?:virtual )?table (\w+)", later)
    for table in gone:
        connection.execute(f"drop table {table}")
    for table, column in reversed(re.findall(r"alter table (\w+) add column (\w+)", later)):
        if table not in gone:
            connection.execute(f"alter table {table} drop column {column}")
    connection.execute("pragma user_version = 1")
