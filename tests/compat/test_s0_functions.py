"""The memory system's own functions over a Yiku home: accesses, search, relations, clean-up, the pending buffer."""

import json
import os
from datetime import datetime, timedelta

import pytest

from yiku import Memory
from yiku.errors import InvalidInput, NotFound
from yiku_compat import memory_system as ms
from yiku_compat.memory_system import search, views


@pytest.fixture
def folder(home):
    """A folder whose home is open, with the clock of this machine, as the document's callers have it."""
    ms.init_sqlite_db(home)
    yield home
    ms.close(home)


def found(query: str, folder, **given) -> list[str]:
    return [row["content"] for row in ms.router_search_sqlite(query, folder, **given)]


@pytest.mark.spec("S0-61", "S0-13", "S0-83")
def test_a_home_is_made_once_and_stays_open(folder):
    """All tables are there after the first call; the second finds the same memory."""
    memory = ms.init_sqlite_db(folder)
    tables = [views.rows(memory, f"select * from {name}") for name in views.S0]

    assert memory is ms.init_sqlite_db(str(folder))
    assert [[]] * 5 == tables
    assert (folder / "yiku.db").stat().st_size
    ms.close(folder)
    assert memory is not ms.init_sqlite_db(folder)


@pytest.mark.spec("S0-83", "S0-87")
@pytest.mark.parametrize(
    ("content", "changed"), [("Ann lives in Oslo.", "Ann lives in Bergen."), ("安住在奥斯陆。", "安住在卑尔根。")]
)
def test_a_memory_is_stored_read_changed_and_archived(folder, content, changed):
    """Basic operations, by one id."""
    id = ms.add_memory(folder, content, entities=["Ann"], importance=0.9, source="session_1")
    stored = ms.get_memory(folder, id)
    later = ms.update_memory(folder, id, changed)
    ms.delete_memory(folder, later["id"])

    assert (id, "fact", content, 0.9, "session_1", 0) == tuple(
        stored[name] for name in ("id", "type", "content", "importance", "source", "state")
    )
    assert (changed, 1) == (later["content"], ms.get_memory(folder, later["id"])["state"])
    assert 1 == ms.get_memory(folder, ms.init_sqlite_db(folder).history(id)[0].id)["superseded"]
    assert ms.get_memory(folder, "f_20260101_none") is None
    with pytest.raises(InvalidInput):
        ms.add_memory(folder, content, "rumour")


@pytest.mark.spec("S0-68", "S0-23", "S0-24", "S0-22", "S0-25", "S0-50")
def test_an_access_is_counted_on_the_row(folder):
    """Every access counts, only a retrieval as one, and the time of the last is there; use raises the boost and the final score."""
    id = ms.add_memory(folder, "小明喜欢茶。")
    before = ms.get_memory(folder, id)
    for access in ("retrieval", "used_in_response", "user_mentioned", "opened"):
        ms.update_access_stats(id, access, folder)
    after = ms.get_memory(folder, id)
    logged = views.rows(ms.init_sqlite_db(folder), "select memory_id, access_type from access_log order by id")

    assert (0, 0, None, 0.0) == tuple(before[name] for name in "access_count retrieval_count last_accessed access_boost".split())
    assert (4, 1) == (after["access_count"], after["retrieval_count"])
    assert after["last_accessed"].endswith("Z")
    assert 0 < after["access_boost"] <= 0.5
    assert after["final_score"] == pytest.approx(after["score"] + after["access_boost"])
    assert [(id, name) for name in ("retrieval", "used_in_response", "user_mentioned", "used_in_response")] == [
        (row["memory_id"], row["access_type"]) for row in logged
    ]
    for bad in ("", " ", None):
        with pytest.raises(InvalidInput):
            ms.update_access_stats(id, bad, folder)
    with pytest.raises(NotFound):
        ms.update_access_stats("f_20260101_none", "retrieval", folder)


@pytest.mark.spec("S0-72", "S0-74", "S0-77")
def test_a_rare_entity_answers_by_final_score(folder):
    """Only active memories of the entity that is meant, the best first, with what matched, as dictionaries."""
    for number in range(5):
        ms.add_memory(folder, f"小明的第{number}本书 book {number}", entities=["小明", "Books"], importance=0.5)
    best = ms.add_memory(folder, "小明住在北京", entities=["小明"])
    gone = ms.add_memory(folder, "小明爱唱老歌", entities=["小明"])
    ms.delete_memory(folder, gone)
    ms.update_access_stats(best, "user_mentioned", folder)
    rows = ms.router_search_sqlite("小明在哪里？", folder, 3)

    assert [dict] * 3 == [type(row) for row in rows]
    assert ("小明住在北京", "小明") == (rows[0]["content"], rows[0]["matched_entities"])
    assert [row["final_score"] for row in rows] == sorted((row["final_score"] for row in rows), reverse=True)
    assert "小明爱唱老歌" not in found("小明在哪里？", folder)
    assert {*views._COLUMNS, "matched_entities"} == rows[0].keys()


@pytest.mark.spec("S0-75", "T-12")
def test_a_common_entity_does_not_stop_the_full_text(folder):
    """An entity on most memories says little, and two that compete decide nothing: words decide then, with the entity's behind."""
    for number in range(60):
        ms.add_memory(folder, f"用户的第{number}件事 matter {number}", entities=["用户"])
    ms.add_memory(folder, "发布定在周五 The release is on Friday")
    ms.add_memory(folder, "Ann rows.", entities=["Ann"])
    ms.add_memory(folder, "Atlas ships.", entities=["Atlas"])

    assert "发布定在周五 The release is on Friday" == found("用户什么时候发布 release", folder)[0]
    assert {"Ann rows.", "Atlas ships."} <= {*found("Ann or Atlas", folder)}
    assert ["Ann rows."] == found("What does ann do?", folder)


@pytest.mark.spec("T-12", "S0-76", "T-08")
@pytest.mark.parametrize("query", ["朝阳区", "小明住在哪里", "district of Beijing"])
def test_a_question_without_an_entity_is_searched_by_words(folder, query):
    """No entity is no error, and Chinese is found by any part of it."""
    ms.add_memory(folder, "小明住在北京朝阳区 Chaoyang, a district of Beijing")

    assert ["小明住在北京朝阳区 Chaoyang, a district of Beijing"] == found(query, folder)
    assert {*ms.extract_entities(query, folder)} <= {"小明"}


@pytest.mark.parametrize("query", ["C++", "NOT", '"', "「」", "D:\\code", "a" * 5_000, "茶" * 3_000, "'; drop table memories"])
def test_an_odd_question_is_no_error(folder, query):
    """Whatever is asked: found or empty."""
    ms.add_memory(folder, "Tea. 茶")

    assert isinstance(ms.router_search_sqlite(query, folder), list)


@pytest.mark.spec("T-13")
def test_an_answer_is_remembered_until_something_is_written(folder, monkeypatch):
    """The second question asks nothing; a write by any process makes the third ask again."""
    asked = []
    search._cache.clear()
    monkeypatch.setattr(search, "RACY_NS", -1)
    monkeypatch.setattr(
        search, "_search", lambda memory, query, top_k, real=search._search: (asked.append(query), real(memory, query, top_k))[1]
    )
    ms.add_memory(folder, "Ann drinks tea. 茶", entities=["Ann"])

    first, second = found("茶", folder), found("茶", folder)
    with Memory(folder) as other:
        other.remember("Bob drinks tea. 茶")
    third = found("茶", folder)

    assert ["茶"] * 2 == asked
    assert first == second == ["Ann drinks tea. 茶"]
    assert {"Ann drinks tea. 茶", "Bob drinks tea. 茶"} == {*third}


def test_memories_are_counted_again_when_one_was_written(folder, monkeypatch):
    """What is rare depends on how many there are: counted once, and anew after a write of any process."""
    monkeypatch.setattr(search, "RACY_NS", -1)
    memory = ms.init_sqlite_db(folder)
    ms.add_memory(folder, "Ann drinks tea. 茶", entities=["Ann"])

    assert (1, 1) == (search._total(memory), search._total(memory))
    with Memory(folder) as other:
        other.remember("Bob drinks tea. 茶")
    assert 2 == search._total(memory)


@pytest.mark.spec("T-13")
def test_what_was_written_a_moment_ago_is_not_remembered(folder):
    """A file may change twice within one tick of its clock."""
    ms.add_memory(folder, "Ann drinks tea. 茶")
    os.utime(folder / "yiku.db-wal")

    assert () == search._mark(ms.init_sqlite_db(folder))


@pytest.mark.spec("S0-78", "T-11", "S0-40", "S0-48", "S0-46", "S0-47")
@pytest.mark.parametrize(
    ("who", "lives", "likes", "objects"),
    [("Ann", "lives in", "likes", ("Bergen", "Oslo", "tea", "coffee")), ("小明", "住在", "喜欢", ("北京", "上海", "绿茶", "咖啡"))],
)
def test_a_new_address_supersedes_the_old_and_a_second_liking_does_not(folder, who, lives, likes, objects):
    """The relation is kept with the memory that states it, its time and confidence 1."""
    old, new, first, second = (ms.add_memory(folder, f"{who} {what}!") for what in objects)
    outcomes = [
        ms.resolve_relation_conflict(who, relation, object, id, folder)
        for relation, object, id in zip((lives, lives, likes, likes), objects, (old, new, first, second), strict=True)
    ]
    rows = views.rows(ms.init_sqlite_db(folder), "select * from memory_relations order by id")

    assert ["new", "replaced", "new", "new"] == outcomes
    assert [(old, 1), (new, 0), (first, 0), (second, 0)] == [(row["memory_id"], row["superseded"]) for row in rows]
    assert [(who, lives, objects[1], 1.0)] == [
        (row["subject"], row["relation_type"], row["object"], row["confidence"]) for row in rows[1:2]
    ]
    assert [row["created"][10] for row in rows] == ["T"] * 4
    assert [0] * 4 == [ms.get_memory(folder, id)["state"] for id in (old, new, first, second)]
    assert 4 == len(views.rows(ms.init_sqlite_db(folder), "select * from memories"))
    with pytest.raises(NotFound):
        ms.resolve_relation_conflict(who, lives, "Paris", "f_20260101_none", folder)


def test_a_relation_of_unknown_number_keeps_both(folder):
    """Where nobody knows whether one or many hold, both stay, flagged for a review."""
    id = ms.add_memory(folder, "Ann knows them. 认识")
    outcomes = [ms.resolve_relation_conflict("Ann", "knows of", whom, id, folder) for whom in ("Bo", "Cy")]

    assert ["new", "flagged"] == outcomes
    assert [0, 0] == [row["superseded"] for row in views.rows(ms.init_sqlite_db(folder), "select superseded from memory_relations")]


@pytest.mark.spec("S0-81", "S0-82", "S0-33", "S0-32", "T-10")
def test_what_is_past_its_days_becomes_junk_and_is_counted(home):
    """The document's clean-up: active rows past auto_delete_at get state 2; the same day, and nothing else."""
    past = datetime.now().astimezone() - timedelta(days=3)
    with Memory(home, clock=lambda: past) as memory:
        gone = memory.remember("The offer stands. 优惠", ttl_days=2).memory.id
        stays = memory.remember("The rent is 900. 房租", ttl_days=40).memory.id
    state = {name: ms.get_memory(home, id)["state"] for name, id in (("gone", gone), ("stays", stays))}
    done = ms.ttl_cleanup(home)
    rows = {row["id"]: row["state"] for row in views.rows(ms.init_sqlite_db(home), "select id, state from memories")}
    again = ms.ttl_cleanup(home)
    ms.close(home)

    assert {"gone": 2, "stays": 0} == state  # nothing that is past its end is shown as active in the meantime
    assert (1, 0) == (done, again)
    assert {gone: 2, stays: 0} == rows


@pytest.mark.spec("T-08")
def test_what_is_pending_is_found_and_becomes_a_memory_once(folder):
    """Found by a part of it before any night; a light run keeps what is urgent or important and empties the buffer."""
    ids = [
        ms.add_pending(folder, "小明喜欢吃火锅 Xiaoming likes hotpot", urgent=True, importance=0.2, category="food"),
        ms.add_pending(folder, "嗯嗯 hm", importance=0.1),
    ]
    waiting = ms.view_pending(folder)
    hit = ms.init_sqlite_db(folder).recall("小明喜欢什么")[0]
    first, second = ms.mini_consolidate(folder), ms.mini_consolidate(folder)
    third = ms.add_pending(folder, "明天出发 We leave tomorrow")

    assert ids == [entry["id"] for entry in waiting]
    assert ("food", True) == (waiting[0]["category"], waiting[0]["urgent"])
    assert hit.id == ids[0]
    assert {"entries": 2, "kept": 1, "pending": 0} == first
    assert {"entries": 0, "kept": 0, "pending": 0} == second
    assert [third] == [entry["id"] for entry in ms.view_pending(folder)]
    contents = [row["content"] for row in views.rows(ms.init_sqlite_db(folder), "select content from memories")]
    assert 1 == contents.count("小明喜欢吃火锅 Xiaoming likes hotpot")


def test_the_snapshot_is_the_nights(folder):
    """What matters most, as the night writes it."""
    ms.add_memory(folder, "Ann is allergic to nuts. 对坚果过敏", importance=0.95)

    assert "Ann is allergic to nuts. 对坚果过敏" in ms.snapshot(folder)
    assert json.dumps(ms.snapshot(folder))
