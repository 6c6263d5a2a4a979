"""`admin.sql`: a select statement of anybody's reads what its scope reads, and nothing else, and comes to an end."""

import json
import time

import apsw
import numpy as np
import pytest
from embedders import Hashed
from pages import ROOT

from yiku import Memory
from yiku.errors import InvalidInput, ModelUnavailable, TooLarge

SECRET = "Bob's locker code is zebra"
FOREIGN = "with g(content) as (select 'Bob''s locker code is zebra') select * from g join {} using (content)"

HOSTILE = [
    "attach 'other.db' as other",
    "detach temp",
    "pragma user_version",
    "pragma writable_schema = 1",
    "select * from pragma_table_info('memories')",
    "select * from pragma_database_list",
    "select load_extension('x')",
    "select readfile('yiku.toml')",
    "select randomblob(9)",
    "insert into memories (id) values (1)",
    "update memories set content = 'x'",
    "delete from memories",
    "delete from main.memories",
    "create table x (a)",
    "create temp table x (a)",
    "create temp view x as select 1",
    "create temp trigger x after insert on memories begin select 1; end",
    "drop table memories",
    "vacuum",
    "vacuum into 'other.db'",
    "analyze",
    "reindex",
    "begin",
    "savepoint x",
    "select 1; select 2",
    "select 1; delete from memories",
    "select * from sqlite_master",
    "select * from sqlite_temp_schema",
    "select * from main.memories",
    "select * from main.sqlite_master",
    "with memories as (select * from main.memories) select * from memories",
    "select count(*) from main.conversation_turns",
    "select (select group_concat(content) from main.memories)",
    "select * from memory_index",
    "select count(*) from memory_index where memory_index match 's2qzebra'",
    "select * from memory_index_data",
    "select * from changes",
    "select before from changes",
    "select * from tombstones",
    "select * from receipts",
    "select * from erasures",
    "select * from meta",
    "select * from model_calls",
    "select * from dbstat",
    "with g(operation) as (select 'remember') select * from g join changes using (operation)",
    "select 1 from memories natural join main.memories",
    FOREIGN.format("main.memories"),
]
ENDLESS = [
    "with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c",
    "with recursive c(x) as (select 1 union select x + 1 from c) select max(x) from c where x < 0",
    "select count(*) from json_each('[1,2,3,4,5,6,7,8,9,10]') a, json_each('[1,2,3,4,5,6,7,8,9,10]') b, " + ", ".join(
        f"json_each('[1,2,3,4,5,6,7,8,9,10]') t{n}" for n in range(9)
    ),
]  # fmt: skip
PRINTF_REFUSES = 3_054_000  # the version from which printf refuses a text over the limit; before, it gives null
LARGE = [
    "select printf('%.*c', 900000000, 'x')",
    "select replace(printf('%.*c', 9000000, 'x'), 'x', 'xxxx')",
    "select trim('x', printf('%.*c', 9000000, 'y'))",
    "with recursive c(x) as (select printf('%.*c', 4000000, 'x') union all select x || random() from c)"
    " select count(*) from (select distinct x from c)",
]


@pytest.fixture
def shared(memory, home):
    """Mei's home, in which Bob has a scope that Mei does not read, and there is something public."""
    memory.remember("Ann prefers tea", tags=["drinks"])
    memory.remember("小明喜欢喝绿茶。", tags=["饮料"])
    memory.record_turn("user", "The harbour opens at seven.", session="s1")
    for scope, text in (("user:bob", SECRET), ("public", "The office closes at six.")):
        with Memory(home, scope=scope) as other:
            other.remember(text, tags=[f"zebra of {scope}"])
            other.record_turn("user", text)
    return memory


def texts(memory: Memory, sql: str, **more: object) -> list[object]:
    return [cell for row in memory.admin.sql(sql, **more).rows for cell in row]


@pytest.mark.parametrize("sql", HOSTILE)
def test_what_is_no_question_about_ones_own_rows_is_refused(shared, home, sql):
    """Attaching, pragmas, writing, the schema, the index, the journal, and tables behind the views: a typed error, and nothing changed."""
    before = (home / "yiku.db").read_bytes(), sorted(path.name for path in home.iterdir())

    with pytest.raises(InvalidInput) as refused:
        shared.admin.sql(sql)
    assert "zebra" not in str(refused.value).replace("s2qzebra", "").replace(sql, "")
    assert before == ((home / "yiku.db").read_bytes(), sorted(path.name for path in home.iterdir()))


@pytest.mark.parametrize("sql", ENDLESS)
def test_a_statement_without_an_end_is_ended(shared, sql):
    """After the given time, whatever it does."""
    started = time.monotonic()

    with pytest.raises(TooLarge, match=r"longer than 0\.3 s"):
        shared.admin.sql(sql, timeout_s=0.3)
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("sql", LARGE)
def test_a_statement_that_takes_too_much_is_ended(shared, sql):
    """Values and memory are bounded; the memory goes on working."""
    if apsw.SQLITE_VERSION_NUMBER < PRINTF_REFUSES and sql == LARGE[0]:
        assert [None] == texts(shared, sql)
    else:
        with pytest.raises(TooLarge):
            shared.admin.sql(sql, timeout_s=60)
    assert shared.recall("tea", limit=1)


def test_a_search_within_a_long_text_takes_no_time(shared):
    """Megabytes in megabytes: SQLite's own function would take hours."""
    sql = "select instr(printf('%.*c', 8000000, 'a'), printf('%.*c', 4000000, 'a') || 'b')"

    assert [0] == texts(shared, sql)
    as_sqlite = "select instr('abc', 'c'), instr(x'414243', x'43'), replace('acc', 'c', 'X'), trim('  b '), instr(null, 'a')"
    assert [3, 3, "aXX", "b", None] == texts(shared, as_sqlite)


@pytest.mark.parametrize("table", ["memories", "memory_sources", "memory_tags", "memory_entities", "conversation_turns", "scopes"])
def test_rows_of_other_scopes_are_not_there(shared, table):
    """Neither whole nor counted nor joined; what is public is, and Bob sees his own."""
    cells = [cell for row in shared.admin.sql(f"select * from {table}").rows for cell in row]
    seen = " ".join(str(cell) for cell in cells if not isinstance(cell, bytes))
    digests = b" ".join(cell for cell in cells if isinstance(cell, bytes))

    assert cells
    assert "zebra" not in seen.replace("zebra of public", "")
    assert "bob" not in seen.lower()
    assert b"zebra" not in digests  # "bob" is three bytes: a digest may have them by chance, or a printed \xbb before "ob"
    assert [2] == texts(shared, "select count(distinct scope_id) from memories")
    assert () == shared.admin.sql(FOREIGN.format("memories")).rows
    with Memory(shared.settings.home, scope="user:bob") as bob:
        assert SECRET in texts(bob, "select content from memories")
        assert SECRET in texts(bob, "select content from conversation_turns")


def test_what_is_forgotten_or_erased_is_not_there(shared):
    """A forgotten turn is gone from its table, a forgotten memory is archived, an erased one is gone with its tags."""
    turn = shared.record_turn("user", "The lighthouse is closed.", session="s1")
    archived = shared.remember("The ferry is late", tags=["ferry"]).memory
    erased = shared.remember("My code word is Xylophon 木琴", tags=["xylo"]).memory
    shared.forget(turn.id)
    shared.forget(archived.id)
    shared.admin.erase(erased.id)

    assert "The lighthouse is closed." not in texts(shared, "select content from conversation_turns")
    assert ["archived"] == texts(shared, "select state from memories where content = 'The ferry is late'")
    everything = [texts(shared, f"select * from {table}") for table in ("memories", "memory_sources", "memory_tags")]
    assert "Xylophon" not in str(everything) and "xylo" not in str(everything)


def test_what_waits_is_shown_without_what_is_forgotten(home, clock):
    """A turn that waits is in the queue, with what is learned and how far; a forgotten one is neither there, nor is a reply of a session."""
    said = "By the way, next Sunday it is my sister Lan who brings the cake for all of us, 她最会做蛋糕了。"
    with Memory(home, owner="user:mei", clock=clock, chat=Away()) as memory:
        first, second = (memory.record_turn("user", f"{said} {n}", session="s") for n in (1, 2))
        memory.learn()
        waiting = (
            "select t.id from extraction_queue q join conversation_turns t on t.n = q.turn_n where q.kind = 'extract' order by 1"
        )
        upto = "select upto from learned"

        assert [(first.id,), (second.id,)] == [*memory.admin.sql(waiting).rows]
        assert ((second.n,),) == memory.admin.sql(upto).rows
        memory.forget(first.id)
        assert ((second.id,),) == memory.admin.sql(waiting).rows
        hidden = "select count(*) from {} where turn_n = ?"
        assert [0, 0] == [
            memory.admin.sql(hidden.format(table), [first.n]).rows[0][0] for table in ("extraction_queue", "turn_work")
        ]
        assert ((0,),) == memory.admin.sql("select count(*) from extraction_queue where turn_n = 0 and reply is not null").rows
    with Memory(home, scope="user:lan", clock=clock) as other:
        assert [0, 0, 0] == [
            other.admin.sql(f"select count(*) from {table}").rows[0][0] for table in ("extraction_queue", "turn_work", "learned")
        ]


class Away:
    """A model that does not answer."""

    name = "away"

    def ask(self, messages, schema):
        raise ModelUnavailable("away")

    def close(self) -> None: ...


def test_questions_people_ask(shared):
    """Joins, groups, JSON, values by place and by name, Chinese; unknown columns are named, and rows bounded."""
    tagged = (
        "select m.content from memories m join memory_tag_rel r on r.memory_n = m.n join memory_tags t on t.id = r.tag_id"
        " where t.name = ?"
    )

    assert ["Ann prefers tea"] == texts(shared, tagged, values=["drinks"])
    assert ["小明喜欢喝绿茶。"] == texts(shared, tagged.replace("?", ":name"), values={"name": "饮料"})
    assert ["小明喜欢喝绿茶。"] == texts(shared, 'select "content" from [MEMORIES] where content like ?', values=["%绿茶%"])
    assert [1, "b"] == texts(shared, """select json_extract('{"a": 1}', '$.a'), '["a", "b"]' ->> 1""")
    assert [3] == texts(shared, "select count(*) from yiku_memories")
    assert "memories_by_said_at" in str(shared.admin.sql("explain query plan select content from memories where said_at > 3").rows)
    found = shared.admin.sql("select content, kind from memories", limit=2)
    assert (("content", "kind"), 2, True) == (found.columns, len(found.rows), found.truncated)
    for wrong, said in (("select colour from memories", "no such column"), ("selec", "syntax error"), ("select :x", "binding")):
        with pytest.raises(InvalidInput, match=said):
            shared.admin.sql(wrong)


def test_views_of_the_caller_stand_for_this_statement_only(shared):
    """A view may have a table's name, name other views, and read no more than the statement itself."""
    views = {
        "memories": "select content as judgment from yiku_memories where state = 'active'",
        "tea": "select judgment from memories where judgment like '%tea%'",
    }

    assert ["Ann prefers tea"] == texts(shared, "select * from tea", views=views)
    assert ["Ann prefers tea"] == texts(shared, "select judgment from memories where judgment like 'Ann%'", views=views)
    both = {"both": "select m.content as words, s.name as place from yiku_memories m join yiku_scopes s on s.id = m.scope_id"}
    assert {"Ann prefers tea", "小明喜欢喝绿茶。"} < {*texts(shared, "select words from both", views=both)}
    for text in (
        "select * from main.memories",
        "select 1; attach 'x' as y",
        "select 1; create temp view yiku_tea as select 1",
        "select * from sqlite_master",
        "select * from changes",
        "delete from memories",
        "select * from tea",
    ):
        with pytest.raises(InvalidInput):
            shared.admin.sql("select * from tea", views={"tea": text})
    for name in ("yiku_memories", "sqlite_master", "a b", "", 'a"b', 7):
        with pytest.raises(InvalidInput):
            shared.admin.sql("select 1", views={name: "select 1"})
    with pytest.raises(InvalidInput):
        shared.admin.sql("select * from tea")


def test_a_home_that_cannot_be_written_is_read(shared, home):
    """Read-only folders and files are enough."""
    shared.close()
    for path in [home, *home.rglob("*")]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        with Memory(home) as memory:
            assert "Ann prefers tea" in texts(memory, "select content from memories")
    finally:
        for path in [home, *home.rglob("*")]:
            path.chmod(0o700 if path.is_dir() else 0o600)


def test_every_table_that_can_be_read_is_on_the_page():
    """docs/python.md and the command's help name them."""
    from yiku.store.query import TABLES

    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8").partition("**`admin.sql")[2].partition("\n")[0]

    assert [] == [table for table in TABLES if f"`{table}`" not in page]


def test_vectors_are_those_of_what_a_scope_shows(home):
    """With the name of their space; none of another scope, of a forgotten turn, or where nothing is embedded."""
    model = Hashed()
    with Memory(home, embedder=model) as memory, Memory(home, scope="other", embedder=model) as other:
        sql = "select t.content, v.space, vector_json(v.factor, v.code) from conversation_turns t join vectors v on v.row_n = t.n"
        assert () == memory.admin.sql("select * from vectors").rows
        said = [memory.record_turn("user", text) for text in ("I saw a heron. 我看到一只苍鹭。", "It was forgotten. 忘记的。")]
        other.record_turn("user", SECRET)
        memory.admin.embed()
        other.admin.embed()
        memory.forget(said[1].id)
        [(text, space, numbers)] = memory.admin.sql(sql).rows

        assert (said[0].content, model.space) == (text, space)
        assert np.allclose(model.embed([text], "passage")[0], json.loads(numbers), atol=0.01)
        assert 1 == len(memory.admin.sql("select * from yiku_vectors").rows) == len(other.admin.sql("select * from vectors").rows)
        for table in ("spaces", "embedding_cache", "progress", "vectors_of"):
            with pytest.raises(InvalidInput):
                memory.admin.sql(f"select v.*, x.* from vectors v, {table} x")


def test_the_time_of_a_statement_is_that_of_the_memorys_clock(memory, clock):
    """`memory_now()` is the clock's time, so a view can tell what has ended by it."""
    memory.remember("The lift is out of order. 电梯坏了。", expires_at="2026-03-10")
    held = "select count(*) from memories where expires_at > memory_now()"
    at = "select memory_now()"

    assert ((int(clock.now.timestamp() * 1_000_000),),) == memory.admin.sql(at).rows
    assert ((1,),) == memory.admin.sql(held).rows
    clock.advance(days=30)
    assert ((0,),) == memory.admin.sql(held).rows
