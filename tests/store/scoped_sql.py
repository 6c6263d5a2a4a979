"""
Check that an SQL statement is restricted to its scope in every table that has a `scope_id`.

SQL is read as nested lists of words. In each `select`, `update` and `delete` a scoped table needs a condition of its own among those
joined by AND: `scope_id = ?`, `scope_id in (?, …)`, or equality with that of a table that has one. An OR beside them makes all of them
void. What may do without is in EXCUSED, with the reason. `Watch` sees each statement that the handles of a world really execute, and
the values bound to those conditions: what is read is in sight of the handle, and what is written is its own.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import apsw
from store.scope_home import World
from store.scopes import Model, Operation, View

from yiku.store import scope_names
from yiku.store.byte_search import SAID

Tree = list[Any]  # words, marks, and lists for brackets

# (table or *, how it is reached): why there is no condition
PROOF = "whether others still say what was erased: yes or no, and no row"
OPEN = ("sqlite_schema", "meta", "scopes", "_config")  # have no scope
EXCUSED = {
    ("sessions", "join sessions s on s.n = t.session_n"): "a turn's own session, by its number",
    ("turn_state", "left join turn_state x on x.turn_n = t.n"): "a turn's own state, by its number",
    ("memory_tags", "join memory_tags g on g.id = r.tag_id"): "the tags of a row, by their numbers",
    ("memories", "scope_id in (select scope_id from memories where n in (select value from json_each(?)))"): "rows read in their scopes",
    ("memories", "update memories set changed = ? where n = ?"): "`_there` has looked for the row in its scope just before",
    ("turn_state", "select hidden_at from turn_state where turn_n = ?"): "`_there` has looked for the turn in its scope just before",
    ("erasures", "select coalesce(max(tx), 0) from erasures"): "the home's last erasure, a number",
    ("erasures", "select tx, scope_id, at, rows, receipt is not null, id from erasures"): "of the home: none is missing",
    ("*", "select reason, before from changes c where"): PROOF,
    **{(table, f"select {', '.join(columns.split())} from {table}"): PROOF for table, columns in SAID.items() if not table.endswith(OPEN)},
    ("changes", "select number, digest from changes union all"): "one chain of digests for all scopes; no content is read",
}  # fmt: skip

# Needed only when a flush of `fast`, half a second after a write, falls into the run; or when a home is opened in it.
SOMETIMES = {
    ("changes", "select coalesce(max(number), 0) from changes"): "how far the store came, for its mark",
    ("erasures", "select id from erasures where id in"): "whether an older copy was laid over the home: yes or no",
}

# These are about the home and all that lies in it; what they answer, the world has looked through.
OF_THE_HOME = frozenset("admin.backup admin.backups admin.check admin.restore_backup".split())

_WORD = re.compile(r"'[^']*'|\?\d*|[A-Za-z_][\w.]*|\d+|[^\s\w]")
_ENDS = frozenset("group order limit returning set values join left inner cross".split())
_NO_ALIAS = _ENDS | frozenset("where on as do using".split())


@dataclass(frozen=True)
class Mark:
    """A question mark: which of the bound values it stands for."""

    place: int


def parsed(sql: str) -> Tree:
    """The words of a statement, brackets as lists."""
    stack: list[Tree] = [[]]
    count = 0
    for word in _WORD.findall(sql):
        if word == "(":
            stack.append([])
        elif word == ")":
            inner = stack.pop()
            stack[-1].append(inner)
        elif word.startswith("?"):
            count = int(word[1:] or count + 1)
            stack[-1].append(Mark(count - 1))
        else:
            stack[-1].append(word if word.startswith("'") else word.lower())
    return stack[0]


@dataclass
class Select:
    """One select: its tables by alias, and the conditions that all must hold."""

    tables: dict[str, str] = field(default_factory=dict)
    conditions: list[Tree] = field(default_factory=list)
    void: bool = False  # an OR stands among them


def read(tree: Tree) -> Select:
    """The tables and conditions of one select, update or delete, without those of the selects within."""
    found, state = Select(), "head"
    for i, word in enumerate(tree):
        after = tree[i + 1 : i + 3]
        if not isinstance(word, str):
            if state == "conditions":
                found.conditions[-1].append(word)
        elif word in ("from", "join", "update") or (word == "," and state == "tables"):
            if after and isinstance(after[0], str) and after[0] != "set":  # not `do update set`
                name = after[1] if len(after) > 1 and isinstance(after[1], str) and after[1] not in _NO_ALIAS else after[0]
                found.tables[name if re.match(r"[a-z_]", name) else after[0]] = after[0]
            state = "tables"
        elif word == "where" or (word == "on" and after[:1] != ["conflict"]):
            state = "conditions"
            found.conditions.append([])
        elif word in _ENDS or word == "on":
            state = "head"
        elif state == "conditions" and word == "and":
            found.conditions.append([])
        elif state == "conditions":
            found.void = found.void or word == "or"
            found.conditions[-1].append(word)
    return found


def narrowed(select: Select, outer: set[str]) -> tuple[set[str], list[int]]:
    """The aliases that are narrowed to scopes, and the places of the values that they are narrowed to."""
    names, equal, places = set(outer), [], []
    for condition in [] if select.void else select.conditions:
        while len(condition) == 1 and isinstance(condition[0], list):
            condition = condition[0]  # noqa: PLW2901 - brackets around one condition say nothing
        match [word for word in condition if word != "+"]:
            case [str(column), "=", Mark(place)] if _scope(column):
                names.add(_alias(column, select))
                places.append(place)
            case [str(column), "in", [Mark(), *_] as marks] if _scope(column) and all(
                mark == "," or isinstance(mark, Mark) for mark in marks
            ):
                names.add(_alias(column, select))
                places += [mark.place for mark in marks if isinstance(mark, Mark)]
            case [str(column), "in", ["select", "scope_id", "from", "memories", "where", "n", "in", list()]] if _scope(column):
                names.add(_alias(column, select))
            case [str(one), "=", str(other)] if _scope(one) and _scope(other):
                equal.append((_alias(one, select), _alias(other, select)))
    for _ in equal:
        for one, other in equal:
            if one in names or other in names:
                names |= {one, other}
    return names, places


def selects(tree: Tree, outer: set[str]) -> Iterator[tuple[Select, set[str], list[int]]]:
    """Each select, update or delete, also those within others, with the aliases that are narrowed there, and to which values."""
    start = 0
    for i, word in enumerate([*tree, "union"]):  # the halves of a union know nothing of each other
        if word == "union":
            part, start = tree[start:i], i + 1
            select = read(part)
            names, places = narrowed(select, outer)
            if select.tables:
                yield select, names, places
            for inner in part:
                if isinstance(inner, list):
                    yield from selects(inner, names)


def _scope(column: str) -> bool:
    return column == "scope_id" or column.endswith(".scope_id")


def _alias(column: str, select: Select) -> str:
    alias, _, name = column.rpartition(".")
    return alias if name and alias else next(iter(select.tables), "")


def judged(sql: str, scoped: dict[str, int]) -> tuple[list[str], list[int], set[tuple[str, str]]]:
    """
    What is wrong with a statement, the places of its scope values, and the excuses it uses.

    scoped: the tables that have a scope_id, and its place among their columns
    """
    plain, tree = " ".join(sql.split()), parsed(sql)
    wrong, places, used = [], list[int](), set[tuple[str, str]]()
    for select, scoped_by, more in selects(tree, set()):
        places += more
        for alias, table in select.tables.items():
            if table not in scoped or alias in scoped_by:
                continue
            excuse = next((key for key in (*EXCUSED, *SOMETIMES) if key[0] in (table, "*") and key[1] in plain), None)
            if excuse is None:
                wrong.append(f"{table} without its scope")
            else:
                used.add(excuse)
    if "into" in tree and (table := tree[tree.index("into") + 1]) in scoped:
        place = _inserted(tree, scoped[table])
        if place is None:
            wrong.append(f"{table} gets a row whose scope is not a bound value")
        else:
            places.append(place)
    return wrong, places, used


def _inserted(tree: Tree, column: int) -> int | None:
    """The place of the value that becomes the scope of a new row."""
    i = tree.index("into") + 2
    if isinstance(tree[i], list):
        names = [word for word in tree[i] if word != ","]
        column, i = names.index("scope_id"), i + 1
    given = tree[i + 1] if tree[i] == "values" else tree[i + 1 : tree.index("from")]
    values = [value for value in given if value != ","]
    return values[column].place if isinstance(values[column], Mark) else None


class Watch(World):
    """A world whose handles are watched: every statement is judged, with the values that it is given."""

    def __init__(self, folder: Any, seed: int) -> None:
        super().__init__(folder, seed)
        self.seen: dict[str, tuple[list[str], list[int]]] = {}
        self.used: set[tuple[str, str]] = set()
        self.tables: set[str] = set()
        self.wrong: dict[str, str] = {}  # by statement
        self.scoped: dict[str, int] = {}
        self.watching = True

    def step(self, operation: Operation) -> None:
        """One operation; unwatched when it is about the whole home."""
        self.watching = operation.verb not in OF_THE_HOME
        super().step(operation)

    def opened(self, name: str, model: Model) -> View:
        """A handle whose connections tell what they execute."""
        opened: list[View] = []

        def watched(connection: apsw.Connection) -> None:
            connection.exec_trace = lambda _, sql, values: self.note(opened, sql, values)

        apsw.connection_hooks.append(watched)
        try:
            opened.append(super().opened(name, model))
        finally:
            apsw.connection_hooks.remove(watched)
        return opened[0]

    def note(self, opened: Sequence[View], sql: str, values: Any) -> bool:
        """Judge a statement once, and its values each time."""
        if not opened or not self.watching or not hasattr(self, "watcher"):
            return True  # opening: the schema, and facts about the store
        me = opened[0]
        self.scoped = self.scoped or scoped_tables(self.watcher)
        if sql not in self.seen:
            wrong, places, used = judged(sql, self.scoped)
            self.seen[sql] = wrong, places
            self.used |= used
            self.tables |= {table for table in self.scoped if re.search(rf"\b{table}\b", sql)}
        wrong, places = self.seen[sql]
        reads = sql.lstrip().lower().startswith("select")
        allowed = self.numbers(me.reads if reads else {me.name})
        bound = [values[place] for place in places]
        if wrong:
            self.wrong[sql] = "; ".join(wrong)
        elif not allowed:
            pass  # the scope is being opened: it has no number yet
        elif not set(bound) <= allowed | {0}:  # 0 is nobody's number
            self.wrong[sql] = f"scopes {sorted(set(bound))} by a handle that may see {sorted(allowed)}"
        elif strange := [term for term in _terms(sql, values) if not _prefixed(term, allowed)]:
            self.wrong[sql] = f"terms {strange[:3]} by a handle that may see {sorted(allowed)}"
        return True

    def numbers(self, scopes: Any) -> set[int]:
        """The numbers of these scopes."""
        given = json.dumps([*map(scope_names.encode, scopes)])
        return {
            n for (n,) in self.watcher.execute("select id from scopes where name in (select value from json_each(?))", (given,))
        }


def scoped_tables(connection: apsw.Connection) -> dict[str, int]:
    """Each table that has a scope_id, and its place among the columns."""
    tables = [name for (name,) in connection.execute("select name from sqlite_schema where type = 'table'")]
    columns = {name: [row[1] for row in connection.execute(f"select * from pragma_table_info('{name}')")] for name in tables}
    return {name: found.index("scope_id") for name, found in columns.items() if "scope_id" in found}


def _terms(sql: str, values: Any) -> list[str]:
    """The index terms that a statement writes or looks for."""
    if not re.search(r"\b(turn|tool|memory|episode|attachment)_(index|rows|places)\b", sql):
        return []
    texts = [value for value in values or () if isinstance(value, str)]
    return [term for text in texts for term in (json.loads(text) if text.startswith("[") else text.split(" ")) if term]


def _prefixed(term: str, allowed: set[int]) -> bool:
    found = re.match(r"[sh](\d+)q", term)
    return found is not None and int(found[1]) in allowed
