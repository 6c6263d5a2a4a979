"""Build stores with the schemas of earlier versions, for tests of migration."""

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
    first = files("yiku.store.sql").joinpath(schema.MIGRATIONS[0]).read_text(encoding="utf-8")
    for index, table in re.findall(r"create (?:unique )?index (\w+) on (\w+)", later):
        if table not in gone and f"index {index} " not in first:  # one that was only widened stays
            connection.execute(f"drop index {index}")
    for table, column in reversed(re.findall(r"alter table (\w+) add column (\w+)", later)):
        if table not in gone:
            connection.execute(f"alter table {table} drop column {column}")
    connection.execute("pragma user_version = 1")
