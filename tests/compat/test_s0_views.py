"""The memory system's tables, as read-only views over Yiku's: a value written natively comes back under its name, type and form."""

import pytest

from yiku import Memory
from yiku.errors import InvalidInput
from yiku_compat.memory_system import views

COLUMNS = {
    "memories": "id type content importance score final_score created updated last_accessed access_count retrieval_count access_boost"
    " source state conflict_downgraded downgrade_reason superseded superseded_by ttl_days auto_delete_at confidence basis extract_method"
    " expires_at is_permanent",
    "memory_entities": "memory_id entity",
    "memory_relations": "id memory_id subject relation_type object confidence created superseded",
    "summary_sources": "summary_id source_fact_id",
    "access_log": "id memory_id access_type timestamp",
}


@pytest.fixture
def memory(home):
    """A memory with the clock of this machine: the views are of now."""
    with Memory(home, owner="user:mei") as memory:
        yield memory


@pytest.mark.parametrize("content", ["Ann prefers tea.", "安喜欢茶。"])
def test_scores_and_states_are_those_of_the_memorys_clock(home, clock, content):
    """They fade and end with the clock that the memory was given, not with that of the machine."""
    with Memory(home, owner="user:mei", clock=clock) as memory:
        kept = memory.remember(content, kind="fact", expires_at="2026-04-01").memory.id
        memory.feedback(kept, "used")
        fresh = one(memory, kept)
        clock.advance(days=90)
        faded = one(memory, kept)

    assert (0, 1) == (fresh["state"], faded["state"])
    assert fresh["score"] > faded["score"] and fresh["access_boost"] > faded["access_boost"]


def one(memory: Memory, id: str) -> dict[str, object]:
    return views.rows(memory, "select * from memories where id = :id", {"id": id})[0]


@pytest.mark.spec("S0-13", "S0-39", "S0-40", "S0-49", "S0-50")
def test_each_table_has_the_columns_of_the_document_in_its_order(memory):
    """Also where it is empty."""
    got = {name: memory.admin.sql(f"select * from {name}", views=views.S0).columns for name in COLUMNS}

    assert {name: tuple(columns.split()) for name, columns in COLUMNS.items()} == got
    assert COLUMNS.keys() == views.VIEWS["s0"].keys()


@pytest.mark.spec("S0-14", "S0-15", "S0-16", "S0-17", "S0-18", "S0-20")
@pytest.mark.parametrize("content", ["Ann prefers tea.", "安喜欢茶。"])
def test_the_core_of_a_memory(memory, content):
    """Id, type, content, importance 0.5 and score 1.0 if nobody says otherwise, created as text."""
    plain = memory.remember(content, said_at="2026-11-01T10:00:00+01:00").memory
    belief = memory.remember(f"{content} 2", standing="belief", importance=0.25).memory
    row = one(memory, plain.id)

    assert (plain.id, "fact", content, 0.5) == tuple(row[name] for name in ("id", "type", "content", "importance"))
    assert "2026-11-01T09:00:00Z" == row["created"]
    assert 0.5 < row["score"] <= 1.0
    assert 1.0 == one(memory, belief.id)["score"]
    assert ("belief", 0.25) == (one(memory, belief.id)["type"], one(memory, belief.id)["importance"])
    assert [str, str, str, float, float] == [type(row[name]) for name in ("id", "type", "content", "importance", "score")]


@pytest.mark.spec("S0-21", "S0-22", "S0-23", "S0-24", "S0-25", "S0-19")
def test_times_and_accesses(memory):
    """Null until it happens; the sum of score and boost is the final score."""
    id = memory.remember("Ann prefers tea. 茶").memory.id
    before = one(memory, id)
    memory.feedback(id, "retrieved")
    memory.feedback(id, "used")
    memory.update(id, importance=0.9)
    after = one(memory, id)

    assert (None, None, 0, 0, 0.0) == tuple(
        before[name] for name in "updated last_accessed access_count retrieval_count access_boost".split()
    )
    assert (2, 1) == (after["access_count"], after["retrieval_count"])
    assert after["access_boost"] == pytest.approx(0.1386, abs=0.001)  # 0.1 * ln(1 + 1 retrieved + 2 used)
    assert after["final_score"] == pytest.approx(after["score"] + after["access_boost"])
    assert all(len(str(after[name])) == len("2026-02-14T10:00:00Z") for name in ("updated", "last_accessed"))


@pytest.mark.spec("S0-26", "S0-27", "S0-34", "S0-35", "S0-36", "S0-38")
def test_source_state_and_the_fields_of_a_type(memory):
    """The session that it comes from; 0 active, 1 archived; confidence, basis, method, permanence."""
    turn = memory.record_turn("user", "Maybe I move. 也许搬家", session="s7")
    id = memory.remember(
        "He may move. 他也许搬家", standing="belief", confidence=0.6, basis="he said so 他说的", source=turn.id
    ).memory.id
    row = one(memory, id)
    memory.forget(id)

    assert ("s7", 0, 0.6, "he said so 他说的", "told", 1) == tuple(
        row[name] for name in "source state confidence basis extract_method is_permanent".split()
    )
    assert 1 == one(memory, id)["state"]


@pytest.mark.spec("S0-28", "S0-29", "S0-30", "S0-31", "T-01")
@pytest.mark.parametrize(("old", "new"), [("I live in Bergen.", "I live in Oslo."), ("我住在北京。", "我住在上海。")])
def test_a_corrected_memory_is_downgraded_by_the_one_that_replaced_it(memory, old, new):
    """It names its successor and is active no more."""
    first = memory.remember(old, said_at="2026-01-01").memory.id
    second = memory.remember(new, said_at="2026-02-01").memory.id
    row = one(memory, first)

    assert (1, second, 1, second, 1) == tuple(
        row[name] for name in "conflict_downgraded downgrade_reason superseded superseded_by state".split()
    )
    assert (0, None, 0, None, 0) == tuple(
        one(memory, second)[name] for name in "conflict_downgraded downgrade_reason superseded superseded_by state".split()
    )


@pytest.mark.spec("S0-32", "S0-33", "S0-37", "S0-38", "T-10")
def test_ends(memory):
    """Days, their end and an expiry as texts; what is past them counts as such at once."""
    days = memory.remember("A trial of 30 days. 试用", ttl_days=30).memory
    until = memory.remember("Until May. 到五月", expires_at="2027-05-01T00:00:00+08:00").memory
    over = memory.remember("Over. 过期", expires_at="2026-05-01T00:00:00Z", said_at="2026-01-01").memory

    assert (30, f"{days.auto_delete_at:%Y}", 0) == (
        one(memory, days.id)["ttl_days"], str(one(memory, days.id)["auto_delete_at"])[:4], one(memory, days.id)["is_permanent"],
    )  # fmt: skip
    assert ("2027-04-30T16:00:00Z", 0) == (one(memory, until.id)["expires_at"], one(memory, until.id)["state"])
    assert 1 == one(memory, over.id)["state"]


@pytest.mark.spec("S0-39", "S0-41", "S0-42", "S0-43", "S0-44", "S0-45")
def test_entities_and_relations(memory):
    """Rows of their own, by the memory's id; a relation has a number."""
    id = memory.remember(
        "Ann works for Acme. 安", entities=["Atlas"], relations=[("Ann", "works for", "Acme"), ("安", "认识", "小明")]
    ).memory.id
    entities = views.rows(memory, "select * from memory_entities where memory_id = :id", {"id": id})
    relations = views.rows(memory, "select * from memory_relations order by id")

    assert "atlas" in {row["entity"] for row in entities}
    assert [(id, "Ann", "works for", "Acme", 1.0, 0), (id, "安", "认识", "小明", 1.0, 0)] == [
        tuple(row[name] for name in "memory_id subject relation_type object confidence superseded".split()) for row in relations
    ]
    assert [1, 2] == [row["id"] for row in relations]


@pytest.mark.spec("S0-13", "S0-74")
def test_the_documents_own_select_statements_run(memory):
    """Those of its search and its clean-up."""
    memory.remember("小明住在北京", entities=["小明", "北京"])
    memory.remember("A trial. 试用", ttl_days=30)
    by_entity = views.rows(
        memory,
        "SELECT m.*, GROUP_CONCAT(me.entity) as matched_entities FROM memories m JOIN memory_entities me ON m.id = me.memory_id"
        " WHERE me.entity IN (:a, :b) AND m.state = 0 GROUP BY m.id ORDER BY m.final_score DESC LIMIT :top",
        {"a": "小明", "b": "北京", "top": 10},
    )
    due = "SELECT count(*) as due FROM memories WHERE auto_delete_at IS NOT NULL AND auto_delete_at < datetime('now') AND state = 0"

    assert [("小明住在北京", {"小明", "北京"})] == [
        (row["content"], {*str(row["matched_entities"]).split(",")}) for row in by_entity
    ]
    assert [{"due": 0}] == views.rows(memory, due)


def test_other_scopes_candidates_and_what_is_erased_are_not_there(memory, home):
    """The views show what recall may show."""
    with Memory(home, scope="team:atlas") as other:
        other.remember("Theirs. 他们的", entities=["secretive"])
    gone = memory.remember("My watchword is Zephyrine. 暗号").memory.id
    memory.admin.erase(gone)
    memory.agent.propose("The server runs on Debian. 服务器")

    assert [] == views.rows(memory, "select * from memories")
    assert [] == views.rows(memory, "select * from memory_entities")


@pytest.mark.parametrize("statement", ["delete from memories", "insert into memories (id) values ('x')", "drop view memories"])
def test_nothing_is_written_through_a_view(memory, statement):
    """Writing goes through the functions."""
    with pytest.raises(InvalidInput):
        views.rows(memory, statement)
