"""A store as the first schema had it, for tests of what is older than today."""

import re
from importlib.resources import files

import apsw

from yiku.store import schema


def to_schema_1(connection: apsw.Connection) -> None:
    """Everything that later schemas added to a copy goes."""
    for script in schema.MIGRATIONS[1:]:
        sql = files("yiku.store.sql").joinpath(script).read_text(encoding="utf-8")
        for table in re.findall(r"create (?:virtual )?table (\w+)", sql):
            connection.execute(f"drop table {table}")
    for table in ("conversation_turns", "memories"):
        connection.execute(f"alter table {table} drop column digest")
    connection.execute("pragma user_version = 1")
