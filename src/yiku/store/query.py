"""
Read-only SQL over the rows of some scopes, on a connection of its own.

The store is attached read-only, under a name drawn for the call, to an empty database: no statement can name its tables. What
it can name are temporary views: `yiku_memories` and so on, one for each of TABLES, and those that the caller gives. Each reads an
inner view, whose name is drawn, too, with the condition on the scopes; an authorizer refuses to read a table through
anything else (SQLite tells it the view), and all but reading. A view that cannot be read stands
for any other table that is named, because columns by which tables are joined are not shown to an authorizer.
Time, memory, length of values and number of rows are limited.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from yiku.errors import InvalidInput, TooLarge
from yiku.store import connect, scope_names
from yiku.store.row_codec import micros
from yiku.types import SqlRows

HIDDEN = "(select turn_n from {1}.turn_state where scope_id in ({0}) and hidden_at is not null)"
IN_SCOPE = "scope_id in ({0})"
TURNS_SHOWN = f"{IN_SCOPE} and n not in {HIDDEN}"
TABLES: Mapping[str, str] = {  # by name, which rows; nothing of the journal, the index or erasures
    "scopes": "id in ({0})",
    "sessions": IN_SCOPE,
    "conversation_turns": TURNS_SHOWN,
    "memories": IN_SCOPE + " and state <> 'purged'",
    "memory_sources": IN_SCOPE,
    "memory_entities": IN_SCOPE,
    "memory_relations": IN_SCOPE,
    "memory_tags": IN_SCOPE,
    "memory_tag_rel": IN_SCOPE,
    "summary_sources": IN_SCOPE,
    "access_log": IN_SCOPE,
    "turn_work": f"{IN_SCOPE} and turn_n not in {HIDDEN}",
    "learned": IN_SCOPE,
    "extraction_queue": f"{IN_SCOPE} and turn_n not in {HIDDEN} and (turn_n > 0 or reply is null)",  # a reply may tell of any turn
    "episodes": IN_SCOPE,
    "scratchpad": IN_SCOPE,
    "attachments": IN_SCOPE,
    "files": IN_SCOPE,
    "chunks": IN_SCOPE,
}
VECTORS = "vectors"  # is in a file of its own
OF_VECTORS = """
    select v.item as item, v.row_n as row_n, v.part as part, s.n as space_n, s.name as space, s.dimensions as dimensions,
        v.factor as factor, v.code as code
    from {1}v.vectors v join {1}v.spaces s on s.n = v.space
    where v.scope_id in ({0}) and not (v.item = 'turn' and v.row_n in (
        select turn_n from {1}.turn_state where scope_id in ({0}) and hidden_at is not null))"""
NO_VECTORS = """
    select '' as item, 0 as row_n, 0 as part, 0 as space_n, '' as space, 0 as dimensions, 0.0 as factor, x'' as code where 0"""
COLUMNS = {"scopes": "id, scope_name(name) as name, label, created_at"}  # other than all as they are: the name as it was given
PREFIX = "yiku_"  # of the views that are always there, whatever names the caller gives to others
FUNCTIONS = frozenset(
    "-> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling changes char coalesce concat concat_ws cos cosh count cume_dist"
    " current_date current_time current_timestamp date datetime degrees dense_rank exp first_value floor format glob group_concat hex"
    " if ifnull iif instr json json_array json_array_length json_each json_error_position json_extract json_group_array json_group_object"
    " json_insert json_object json_patch json_pretty json_quote json_remove json_replace json_set json_tree json_type json_valid julianday"
    " lag last_value lead length like likelihood likely ln log log10 log2 lower ltrim max min mod nth_value ntile nullif octet_length"
    " percent_rank pi pow power printf quote radians random rank replace round row_number rtrim scope_name sign"
    " sin sinh soundex sqrt strftime memory_now"
    " string_agg substr substring sum tan tanh time timediff total trim trunc typeof unicode unixepoch unlikely upper"
    " vector_json".split()
)
TABLE_FUNCTIONS = frozenset(("json_each", "json_tree"))
LENGTHS = {  # of SQLite, so that one call of a function cannot take long
    apsw.SQLITE_LIMIT_LENGTH: 16 << 20,  # bytes of a value
    apsw.SQLITE_LIMIT_SQL_LENGTH: 200_000,
    apsw.SQLITE_LIMIT_EXPR_DEPTH: 200,
    apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    apsw.SQLITE_LIMIT_COMPOUND_SELECT: 100,
    apsw.SQLITE_LIMIT_COLUMN: 500,
    apsw.SQLITE_LIMIT_ATTACHED: 0,
    apsw.SQLITE_LIMIT_WORKER_THREADS: 0,
}
TRIMMED_CHARS = 100  # that `trim` may be given
STEPS = 1_000  # of SQLite's machine between two looks at the clock
MEMORY_BYTES = 256 << 20  # that SQLite may take in this process beyond what it has
ROWS_BYTES = 64 << 20  # of all rows together
Text = str | int | float | bytes | None
_WORD = re.compile(r"\w+")


# ------------------------------------------------------------------ functions
# SQLite's own compare each place with the whole pattern, and do not look at the clock: megabytes would take hours.


def _same(first: Text, second: Text) -> tuple[str, str] | tuple[bytes, bytes]:
    """Both as text, or as bytes if both are."""
    if isinstance(first, bytes) and isinstance(second, bytes):
        return first, second
    one, other = (part.decode(errors="replace") if isinstance(part, bytes) else str(part) for part in (first, second))
    return one, other


def _instr(text: Text, part: Text) -> int | None:
    if text is None or part is None:
        return None
    whole, looked_for = _same(text, part)
    return whole.find(looked_for) + 1  # type: ignore[arg-type]  # both are of one type


def _replace(text: Text, old: Text, new: Text) -> str | None:
    if text is None or old is None or new is None:
        return None
    whole, before, after = str(text), str(old), str(new)
    if not before:
        return whole
    if len(whole) + whole.count(before) * (len(after) - len(before)) > LENGTHS[apsw.SQLITE_LIMIT_LENGTH]:
        raise apsw.TooBigError("the result of replace is too large")
    return whole.replace(before, after)


def _trimming(strip: Callable[[str, str | None], str]) -> Callable[..., str | None]:
    def trim(text: Text, characters: Text = " ") -> str | None:
        if text is None or characters is None:
            return None
        if len(str(characters)) > TRIMMED_CHARS:
            raise apsw.TooBigError(f"trim takes at most {TRIMMED_CHARS} characters")
        return strip(str(text), str(characters)) if characters else str(text)

    return trim


def _vector_json(factor: Text, code: Text) -> str | None:
    """The numbers of a vector, as JSON."""
    if not isinstance(factor, float) or not isinstance(code, bytes):
        return None
    return json.dumps([round(factor * (byte - 256 if byte > 127 else byte), 6) for byte in code])


LINEAR: Mapping[str, tuple[Callable[..., Any], int]] = {
    "scope_name": (scope_names.decode, 1),
    "instr": (_instr, 2),
    "replace": (_replace, 3),
    "trim": (_trimming(str.strip), -1),
    "ltrim": (_trimming(str.lstrip), -1),
    "rtrim": (_trimming(str.rstrip), -1),
    "vector_json": (_vector_json, 2),
}


# ------------------------------------------------------------------ the statement


def select(
    path: Path,
    scopes: Sequence[int],
    sql: str,
    values: Sequence[Any] | Mapping[str, Any],
    *,
    views: Mapping[str, str],
    limit: int,
    timeout_s: float,
    now: datetime,
    vectors: Path | None = None,
) -> SqlRows:
    """
    Run one select statement over the rows of these scopes; return at most `limit` rows. now: what `memory_now()` gives

    Raises InvalidInput for what is wrong or not allowed in the statement, TooLarge when it takes too long or too much.
    """
    secret = f"s{secrets.token_hex(8)}"
    connection = connect.attach_read_only(path, secret)
    try:
        tables = {
            str(name) for (name,) in connection.execute(f"select name from {secret}.sqlite_schema where type in ('table', 'view')")
        }
        needed = [*_needed(sql, views, tables - {*TABLES})]
        there = vectors is not None and any(name.removeprefix(PREFIX) == VECTORS and text is None for name, text in needed)
        if vectors is not None and (there := there and vectors.exists()):
            connect.attach(connection, vectors, f"{secret}v")
        guard = _Guard(connection, secret, timeout_s, now, with_vectors=there)
        for name, text in needed:
            guard.create(name, text, scopes)
        with guard.errors():
            return guard.run(sql, values, limit)
    finally:
        connection.close()


def _needed(sql: str, views: Mapping[str, str], others: Collection[str]) -> Iterator[tuple[str, str | None]]:
    """Yield the views that a statement names, and those that these name; the text is None for one of ours, empty for others."""
    given = {name.casefold(): name for name in views}
    every = (*TABLES, VECTORS)
    ours = {PREFIX + table: table for table in every} | {table: table for table in every if table not in given}
    ahead, seen = [sql], set[str]()
    while ahead:
        for word in {word.casefold() for word in _WORD.findall(ahead.pop())} - seen:
            seen.add(word)
            if word in given:
                ahead.append(views[given[word]])
                yield given[word], views[given[word]]
            elif word in ours:
                yield word, None
            elif word in others:
                yield word, ""


class _Guard:
    """What a statement may do on its connection."""

    def __init__(
        self, connection: apsw.Connection, secret: str, timeout_s: float, now: datetime, *, with_vectors: bool = False
    ) -> None:
        self._connection = connection
        self._secret = secret
        self._with_vectors = with_vectors
        self._timeout_s = timeout_s
        self._until = time.monotonic() + timeout_s
        self._memory = apsw.memory_used() + MEMORY_BYTES
        self._inner: set[str] = set()
        self._shown: set[str] = set()
        self._creating: str | None = None
        self._denied: str | None = None
        self._too_much: str | None = None
        self._statements = 0
        self._columns: tuple[str, ...] = ()
        for what, most in LENGTHS.items():
            connection.limit(what, most)
        for name, (function, arguments) in LINEAR.items():
            connection.create_scalar_function(name, function, arguments, deterministic=True)
        connection.create_scalar_function("memory_now", lambda *_: micros(now), 0, deterministic=True)
        connection.authorizer = self._authorize
        connection.set_progress_handler(self._look, STEPS)

    def create(self, name: str, text: str | None, scopes: Sequence[int]) -> None:
        """Create a view: the caller's, one that cannot be read, or one of ours with the inner one that it reads."""
        if text is not None:
            self._create(name, text or f'select * from temp."{name}, which is not readable here"')
            return
        table = name.removeprefix(PREFIX)
        inner = f"{table}_{self._secret}"
        if inner not in self._inner:
            self._inner.add(inner)
            among = ",".join(map(str, scopes))
            if table == VECTORS:
                self._create(inner, (OF_VECTORS if self._with_vectors else NO_VECTORS).format(among, self._secret))
            else:
                condition = TABLES[table].format(among, self._secret)
                self._create(inner, f"select {COLUMNS.get(table, '*')} from {self._secret}.{table} where {condition}")
        self._create(name, f"select * from temp.{inner}")

    def _create(self, name: str, text: str) -> None:
        self._creating = name
        with self.errors(f"the view {name}: "):
            self._connection.execute(f'create temp view "{name}" as {text}')
        self._creating = None
        self._shown.add(name.casefold())

    def run(self, sql: str, values: Sequence[Any] | Mapping[str, Any], limit: int) -> SqlRows:
        """Run the statement."""
        cursor = self._connection.cursor()
        cursor.exec_trace = self._count
        rows, size, truncated = list[tuple[Any, ...]](), 0, False
        for row in cursor.execute(sql, values, can_cache=False):
            size += sum(len(value) if isinstance(value, (str, bytes)) else 8 for value in row)
            if truncated := len(rows) >= limit or size > ROWS_BYTES:
                break
            rows.append(row)
        cursor.close(True)
        return SqlRows(columns=self._columns, rows=tuple(rows), truncated=truncated)

    def _count(self, cursor: apsw.Cursor, sql: str, values: object) -> bool:
        self._statements += 1
        if self._statements > 1:
            self._denied = "a second statement"
            return False
        self._columns = tuple(name for name, *_ in cursor.get_description())
        return True

    def _authorize(self, action: int, first: str | None, second: str | None, database: str | None, view: str | None) -> int:
        match action:
            case apsw.SQLITE_SELECT | apsw.SQLITE_RECURSIVE:
                return apsw.SQLITE_OK
            case apsw.SQLITE_FUNCTION if second is not None and second.casefold() in FUNCTIONS:
                return apsw.SQLITE_OK
            case apsw.SQLITE_READ if view in self._inner or (first or "").casefold() in self._shown | TABLE_FUNCTIONS:
                return apsw.SQLITE_OK
            case apsw.SQLITE_READ if not second and (database is None or first in TABLES):  # no column is read
                return apsw.SQLITE_OK
            case apsw.SQLITE_CREATE_TEMP_VIEW if first == self._creating:
                return apsw.SQLITE_OK
            case apsw.SQLITE_INSERT | apsw.SQLITE_UPDATE | apsw.SQLITE_READ if self._creating and first == "sqlite_temp_master":
                return apsw.SQLITE_OK
        what = str(apsw.mapping_authorizer_function.get(action, action)).removeprefix("SQLITE_").lower()
        name = (second if action == apsw.SQLITE_FUNCTION else first) or ""
        self._denied = f"{what} {name}".strip().replace(f"_{self._secret}", "")
        return apsw.SQLITE_DENY

    def _look(self) -> bool:
        """Tell SQLite to stop when time or memory is used up."""
        if time.monotonic() > self._until:
            self._too_much = f"the statement takes longer than {self._timeout_s:g} s"
        elif apsw.memory_used() > self._memory:
            self._too_much = f"the statement takes more than {MEMORY_BYTES >> 20} MiB"
        return self._too_much is not None

    @contextmanager
    def errors(self, where: str = "") -> Iterator[None]:
        """Map what SQLite says of a statement; what it says of the file is mapped elsewhere."""
        try:
            yield
        except apsw.InterruptError as error:
            raise TooLarge(where + (self._too_much or "the statement was interrupted")) from error
        except (apsw.TooBigError, apsw.NoMemError) as error:
            raise TooLarge(f"{where}a value or the statement is too large") from error
        except (apsw.AuthError, apsw.ExecTraceAbort) as error:
            raise InvalidInput(f"{where}not allowed here: {self._denied}; one select statement on {', '.join(TABLES)}") from error
        except (
            apsw.SQLError,
            apsw.BindingsError,
            apsw.MismatchError,
            apsw.ConstraintError,
            apsw.IncompleteExecutionError,
        ) as error:
            if self._denied:
                raise InvalidInput(f"{where}not allowed here: {self._denied}") from error
            raise InvalidInput(f"{where}{error}") from error
        except KeyError as error:  # a name in the statement that nothing was given for
            raise InvalidInput(f"{where}no value for {error}") from error
