"""
Integrity checks of a store or a backup, at three depths: quick, full, deep.

quick: whose file it is, its schema, its pages as SQLite sees them. full: every row against its digest, the
journal against its chain, and all that rows say of each other. deep: what is derived is made anew from the
rows and compared, and each page is read from the disk. Nothing is written, and what cannot be read is a
line of the report, so a damaged file is looked at like any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import apsw

from yiku.errors import Damaged, ReadOnly, Unreadable
from yiku.store import copy, index, note_tables, pages, records, row_codec, schema, write
from yiku.store.damaged_file import UNREADABLE, describe_error, fetch_all, open_damaged, tables
from yiku.store.protocol import Index
from yiku.types import SemanticMemory, Tokens, Turn

Depth = Literal["quick", "full", "deep"]
LIVE = "state = 'active' and superseded_by is null"
SHOWN = 10  # of one sort of problem; how many more there are is said
BATCH = 2_000  # rows read at a time
PAGE_BYTES = 4_096

LOST = "lost"  # the action of a journal row that stands for so many rows which a repair did not find
FOUND = "found"  # and for rows that it found, of which the journal had no word

FROM_TURNS = (
    "conversation_turns t left join sessions s on s.n = t.session_n left join scopes c on c.id = t.scope_id"
    " left join turn_state x on x.turn_n = t.n"
)
FROM_MEMORIES = "memories m left join scopes c on c.id = m.scope_id"
Entries = Counter[tuple[int, str]]  # row number in the index, token as written: once each


@dataclass(frozen=True, slots=True)
class Tokenizers:
    """Functions that tokenize a row; the store keeps tokens and cannot compute them."""

    turn: Callable[[Turn], Tokens]
    tools: Callable[[Turn], Tokens | None]
    memory: Callable[[SemanticMemory], Tokens]
    note: Callable[[str, str], Tokens]  # of headings and text


@dataclass(slots=True)
class Findings:
    """Findings of a check: what was checked, how many of each, problems and notes."""

    key: bytes = b""
    looked_at: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    say: Callable[[str], None] = lambda _: None

    def run_check(self, what: str, found: Iterator[str]) -> None:
        """Collect the problems that a check yields; an error in the check is a problem too."""
        self.say(what)
        count = 0
        try:
            for problem in found:
                count += 1
                if count <= SHOWN:
                    self.problems.append(problem)
        except (*UNREADABLE, Damaged, ValueError) as error:
            self.problems.append(f"{what} cannot be read to the end: {describe_error(error)}")
        if count > SHOWN:
            self.problems.append(f"{what}: {count - SHOWN:,} more")

    def count_checked(self, what: str, number: int = 1) -> None:
        """Add to the number of items checked."""
        self.looked_at[what] = self.looked_at.get(what, 0) + number


# ------------------------------------------------------------------ the whole of it


def check_store(findings: Findings, path: Path, depth: Depth, mark: tuple[str, int] | None, tokenizers: Tokenizers) -> None:
    """Check the store at a path; `mark` is the content of `store.id`."""
    if not path.exists():
        findings.problems.append(f"{path.name} is not there" + (f"; it had {mark[1]:,} changes" if mark else ""))
        return
    try:
        connection = open_damaged(path)
    except (*UNREADABLE, OSError, ReadOnly) as error:
        findings.problems.append(f"{path.name} cannot be opened: {describe_error(error)}")
        return
    try:
        findings.run_check("header", check_header(findings, connection, path, mark))
        if findings.problems and not tables(connection):
            return
        check_connection(findings, connection, depth, tokenizers)
    finally:
        connection.close()
    if depth == "deep":
        findings.run_check("pages", check_pages(findings, path))


def check_connection(findings: Findings, connection: apsw.Connection, depth: Depth, tokenizers: Tokenizers) -> None:
    """Check everything that a connection shows, in one snapshot."""
    with suppress(apsw.Error):
        connection.execute("begin")
    findings.run_check("tables", check_structure(findings, connection, depth))
    if depth != "quick":
        findings.run_check("row numbers", check_numbers(findings, connection))
        findings.run_check("links", check_links(findings, connection))
        findings.run_check("spans", check_spans(findings, connection))
        findings.run_check("rows", check_rows(findings, connection))
        findings.run_check("sessions", check_sessions(findings, connection))
        findings.run_check("journal", check_journal(findings, connection))
        findings.run_check("change numbers", check_change_numbers(findings, connection))
    if depth == "deep":
        findings.run_check("search index", check_indexes(findings, connection, tokenizers))
    with suppress(apsw.Error):
        connection.execute("rollback")


# ------------------------------------------------------------------ quick


def check_header(findings: Findings, connection: apsw.Connection, path: Path, mark: tuple[str, int] | None) -> Iterator[str]:
    """Check application id, schema version, and that the file is the store that `store.id` names."""
    findings.count_checked("files")
    application = index.fetch_one(connection, "pragma application_id")[0]
    version = index.fetch_one(connection, "pragma user_version")[0]
    if version == application == 0 and not tables(connection):
        yield f"{path.name} is empty" + (f"; it had {mark[1]:,} changes" if mark else "")
        return
    if application != schema.APPLICATION_ID:
        yield f"{path.name} is another program's database (application {application})"
        return
    if version > len(schema.MIGRATIONS):
        findings.notes.append(f"schema {version}: a later Yiku wrote it; this one reads up to {len(schema.MIGRATIONS)}")
    elif version < len(schema.MIGRATIONS):
        findings.notes.append(f"schema {version}: an earlier Yiku wrote it, the next opening migrates it")
    if pages.enabled() and not pages.has_checksums(connection):
        findings.notes.append("its pages carry no checksums: only rows are verified when they are read")
    if mark is None:
        yield "store.id is not there or cannot be read: that the file is the newest cannot be told"
        return
    store_id, last = schema.identity(connection)
    if store_id != mark[0]:
        yield f"{path.name} is of store {store_id[:8]}…, store.id says {mark[0][:8]}…: it belongs to another home"
    elif last < mark[1]:
        yield f"{path.name} is an older copy: it has {last:,} changes of {mark[1]:,}"


def check_structure(findings: Findings, connection: apsw.Connection, depth: Depth) -> Iterator[str]:
    """Run SQLite's integrity check, including FTS5's; if a page fails its checksum, once more without verification."""
    what = "quick_check" if depth == "quick" else "integrity_check"
    findings.count_checked("pages", index.fetch_one(connection, "pragma page_count")[0])
    try:
        yield from (str(row[0]) for row in connection.execute(f"pragma {what}").fetchall() if row[0] != "ok")
    except UNREADABLE as error:
        yield describe_error(error)
        for name in sorted(tables(connection) - {f"{index}_index" for index in get_args(Index)}):  # those cannot be gone through
            try:
                for _ in connection.execute(f'select * from "{name}"'):
                    pass
            except UNREADABLE as error:
                yield f"table {name}: {describe_error(error)}"
    if depth != "quick":
        for table, row, parent, _ in connection.execute("pragma foreign_key_check").fetchall():
            yield f"row {row} of {table} belongs to a row of {parent} that is not there"


def check_pages(findings: Findings, path: Path) -> Iterator[str]:
    """
    Verify the checksum of every page on the disk.

    The file is read over SQLite's own layer, which knows that others in this process hold locks on it.
    """
    verify = apsw.Connection(":memory:")
    file = apsw.VFSFile("unix", str(path), [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        size = file.xFileSize()
        if size < PAGE_BYTES or file.xRead(100, 0)[20] != pages.RESERVED_BYTES or not pages.enabled():
            return
        if size % PAGE_BYTES:
            yield f"{path.name} ends in the middle of a page"
        for number in range(1, size // PAGE_BYTES + 1):
            page = file.xRead(PAGE_BYTES, (number - 1) * PAGE_BYTES)
            if index.fetch_one(verify, "select verify_checksum(?)", page)[0] != 1:
                yield f"page {number} is not what was written"
        findings.count_checked("pages on the disk", size // PAGE_BYTES)
    finally:
        file.xClose()
        verify.close()


# ------------------------------------------------------------------ full


def check_links(findings: Findings, connection: apsw.Connection) -> Iterator[str]:
    """Check that successors exist in the same scope and line, and that no slot or text has two live rows."""
    queries = {
        "memory {0} is superseded by {1}, which is not there": """
            select m.id, m.superseded_by from memories m where m.superseded_by is not null and not exists
            (select 1 from memories s where s.scope_id = m.scope_id and s.id = m.superseded_by and s.line = m.line)""",
        "slot {0} has {1} live values": f"""
            select slot, count(*) from memories where slot is not null and standing = 'fact' and flag is null and {LIVE}
            group by scope_id, slot having count(*) > 1""",
        "memory {0}: {1} live rows have its words": f"""
            select min(id), count(*) from memories where {LIVE} group by scope_id, kind, content_hash having count(*) > 1""",
        "a {0} of memory row {1} lies in another scope": """
            select 'source', memory_n from memory_sources x where scope_id <> (select scope_id from memories where n = x.memory_n)
            union all
            select 'entity', memory_n from memory_entities x where scope_id <> (select scope_id from memories where n = x.memory_n)
            union all
            select 'tag', memory_n from memory_tag_rel x where scope_id <> (select scope_id from memory_tags where id = x.tag_id)""",
        "memory {0} has no source": "select id from memories m where not exists (select 1 from memory_sources where memory_n = m.n)",
    }
    for text, sql in queries.items():
        yield from (text.format(*row) for row in connection.execute(sql).fetchall())


def check_spans(findings: Findings, connection: apsw.Connection) -> Iterator[str]:
    """Check that the span of each source lies within its turn."""
    if "span_start" not in {row[1] for row in connection.execute("pragma table_info(memory_sources)")}:
        return  # an earlier schema
    sql = """
        select memory_n from memory_sources s left join conversation_turns t on t.scope_id = s.scope_id and t.id = s.turn
        where s.span_start is not null and (t.n is null or (t.blob is null and s.span_end > length(t.content)))"""
    for (n,) in connection.execute(sql).fetchall():
        yield f"a source of memory row {n} names characters that its turn does not have"


def check_numbers(findings: Findings, connection: apsw.Connection) -> Iterator[str]:
    """Check that no row number can be given out twice."""
    given = dict(map(tuple, connection.execute("select name, seq from sqlite_sequence")))
    counted = connection.execute("select name from sqlite_schema where type = 'table' and sql like '%autoincrement%'")
    for (table,) in counted.fetchall():
        last = index.fetch_one(connection, f'select coalesce(max(rowid), 0) from "{table}"')[0]
        if last > given.get(table, 0):
            yield f"{table} would give the number {last:,} again"


def check_rows(findings: Findings, connection: apsw.Connection) -> Iterator[str]:
    """Check the digest of every row, and that it can be decoded."""
    wrong: list[str] = []
    report: Callable[[Unreadable], object] = lambda error: wrong.append(error.detail)  # noqa: E731

    def decoded(what: str, decode: Callable[[Any], object], sql: str) -> Iterator[str]:
        for row in connection.execute(sql):
            if what:
                findings.count_checked(what)
            row_codec.decode_all(decode, [row], report)
            if wrong:
                yield wrong.pop()

    yield from decoded("conversation_turns", row_codec.turn, f"select {row_codec.TURN_COLUMNS} from {FROM_TURNS}")
    yield from decoded("memories", row_codec.memory, f"select {row_codec.MEMORY_COLUMNS} from {FROM_MEMORIES}")
    yield from decoded("", row_codec.source, f"select {row_codec.SOURCE_COLUMNS} from memory_sources")
    yield from decoded("", row_codec.change, f"select {row_codec.JOURNAL_COLUMNS} from changes")
    for table in records.readable(connection, report):
        findings.count_checked(table)
        if wrong:
            yield wrong.pop()


def check_sessions(findings: Findings, connection: apsw.Connection) -> Iterator[str]:
    """Check that turns have distinct positions and sessions the right counts and times."""
    counted = """
        select s.scope_id, s.id, s.turns, s.started_at, s.ended_at, count(t.n), min(t.position), max(t.position),
        count(distinct t.position), min(t.said_at), max(t.said_at), total(t.scope_id <> s.scope_id)
        from sessions s left join conversation_turns t on t.session_n = s.n group by s.n"""
    missing = 0
    for scope, id, turns, start, end, count, first, last, distinct, earliest, latest, foreign in connection.execute(counted):
        findings.count_checked("sessions")
        missing += turns - count
        if not count or foreign or distinct != count or first < 0 or last >= turns:
            yield f"session {id} of scope {scope}: the positions of its turns are wrong"
        elif (start, end) != (earliest, latest) and (turns == count or start > earliest or end < latest):
            yield f"session {id} of scope {scope}: its times are not those of its turns"
    gone = "select total(count) from changes where tbl = 'conversation_turns' and action in ('erase', ?)"
    if missing > index.fetch_one(connection, gone, LOST)[0]:
        yield f"{missing:,} turns are missing in their sessions, and the journal does not say why"


def check_journal(findings: Findings, connection: apsw.Connection) -> Iterator[str]:
    """Verify the digest chain of the journal; a row where a chain starts says how many rows it replaces."""
    known = connection.execute("select value from meta where key = 'key'").fetchone()
    if known is not None and known != (write.fingerprint(findings.key),):
        findings.notes.append(
            "the key is another than the one that the journal was written with: its chain cannot be verified until it goes on"
        )
        yield "the file key is lost or another's: the journal's chain cannot be verified"
        return
    restarts = [
        number for (number,) in connection.execute("select number from changes where action = ? order by number", (write.RESTART,))
    ]
    unverified = 0  # rows before this one were written under a key that is lost
    previous, expected = b"", 1
    for *header, digest in connection.execute(f"select {write.CHAINED}, digest from changes order by number"):
        findings.count_checked("changes")
        number, action, table, count = header[0], header[5], header[6], header[8]
        expected += count - 1 if (action, table) == (LOST, "changes") else 0
        if action == write.RESTORED and header[7] == expected - 1:  # the numbers of what a restored backup does not hold
            expected = number
        if number != expected:
            yield f"journal rows {expected:,} to {number - 1:,} are missing"
        previous = b"" if action == write.RESTART else previous
        if number >= unverified and write.digest(findings.key, previous, header) != digest:
            unverified = next((restart for restart in restarts if restart > number), 0)
            if unverified and expected == number == 1:
                findings.notes.append(
                    f"journal rows 1 to {unverified - 1:,} were written under a key that is lost: they cannot be verified"
                )
            else:
                yield f"journal row {number:,} was altered, or one before it"
                unverified = unverified or 1 << 62
        previous, expected = digest, number + 1


def check_change_numbers(findings: Findings, connection: apsw.Connection) -> Iterator[str]:
    """Check that memories and records carry the number of their last change, and the journal knows every turn."""
    sql = """
        select id from memories m where changed is not
        (select max(number) from changes where tbl in ('memories', 'memory_sources') and row_n = m.n)"""
    yield from (f"memory {id} does not carry its last change" for (id,) in connection.execute(sql).fetchall())
    for table in records.KINDS:
        last = "select max(number) from changes where tbl = ? and row_n = r.n"
        sql = f"select id from {table} r where changed is not ({last})"
        yield from (f"{id} of {table} does not carry its last change" for (id,) in connection.execute(sql, (table,)).fetchall())
    sql = f"select count(*) - ({TURNS_TOLD}) from conversation_turns"
    if differ := int(index.fetch_one(connection, sql)[0]):
        yield f"there are {abs(differ):,} turns {'more' if differ > 0 else 'fewer'} than the journal tells"


TURNS_TOLD = f"""
    select coalesce(sum(case when action in ('insert', '{FOUND}') then count when action in ('erase', '{LOST}') then -count else 0 end), 0)
    from changes where tbl = 'conversation_turns'"""


# ------------------------------------------------------------------ deep


def check_indexes(findings: Findings, connection: apsw.Connection, tokenizers: Tokenizers) -> Iterator[str]:
    """Check that each index contains exactly the tokens of the rows, and the right totals."""
    for name, documents in expected_tokens(connection, tokenizers).items():
        index.prepare(connection, name)
        expected, totals = Entries(), Counter[tuple[int, str]]()
        for n, scope, past, tokens in documents:
            number = n * index.STEPS + index.step(len(tokens.words))
            expected.update((number, token) for token in index.prefixed(tokens, scope, past).split(" ") if token)
            if not past:
                totals[scope, "documents"] += 1
                totals[scope, "words"] += len(tokens.words)
        findings.count_checked("index entries", expected.total())
        found = Entries(connection.execute(f"select doc, term from temp.{name}_places"))
        if expected != found:
            yield f"{name}_index differs from the rows: {_differences(expected, found)}"
        kept = fetch_all(connection, "select scope_id, documents, words from index_stats where name = ?", name)
        right = {(scope, totals[scope, "documents"], totals[scope, "words"]) for scope, _, _ in kept}
        if right != {*kept} or not {scope for scope, _ in totals} <= {scope for scope, _, _ in kept}:
            yield f"the counters of {name}_index are wrong"


def expected_tokens(connection: apsw.Connection, tokenizers: Tokenizers) -> dict[Index, list[tuple[int, int, bool, Tokens]]]:
    """Yield what each index should contain: row number, scope, hidden flag, tokens. Raises Unreadable."""
    documents: dict[Index, list[tuple[int, int, bool, Tokens]]] = {name: [] for name in get_args(Index)}
    for scope, *row in connection.execute(f"select t.scope_id, {row_codec.TURN_COLUMNS} from {FROM_TURNS}"):
        turn = row_codec.turn(row)
        documents["turn"].append((turn.n, scope, turn.hidden_at is not None, tokenizers.turn(turn)))
        if tools := tokenizers.tools(turn):
            documents["tool"].append((turn.n, scope, False, tools))
    for scope, *row in connection.execute(f"select m.scope_id, {row_codec.MEMORY_COLUMNS} from {FROM_MEMORIES}"):
        memory = row_codec.memory(row)
        documents["memory"].append((memory.n, scope, not memory.live, tokenizers.memory(memory)))
    for name, n, scope, tokens in records.indexed(connection):
        documents[name].append((n, scope, False, tokens))
    if "chunks" in tables(connection):
        for n, scope, heading, text in note_tables.indexed(connection):
            documents["note"].append((n, scope, False, tokenizers.note(heading, text)))
    return documents


def _differences(expected: Entries, found: Entries) -> str:
    def shown(entries: Entries) -> str:
        return ", ".join(f"{token} of row {number // index.STEPS}" for number, token in [*entries][:3]) or "none"

    return f"missing {shown(expected - found)}; too many {shown(found - expected)}"


def check_backup(path: Path) -> list[str]:
    """Check the pages and rows of a backup."""
    if found := copy.page_errors(path):
        return found
    findings = Findings()
    connection = copy.open_copy(path)
    try:
        if index.fetch_one(connection, "pragma user_version")[0] >= len(schema.MIGRATIONS):  # older ones have no digests
            findings.run_check(
                path.name, (line for line in check_rows(findings, connection) if line.endswith(row_codec.NOT_AS_WRITTEN))
            )
    finally:
        connection.close()
    return findings.problems
