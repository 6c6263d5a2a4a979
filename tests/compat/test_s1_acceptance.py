"""Document S1: its acceptance criteria and its regression list, in its own terms, through its own interface."""

import asyncio
import logging
import runpy
import time
from pathlib import Path

import pytest

from yiku import Memory, YikuError
from yiku.errors import InvalidInput, InvalidScope, NotFound, Stale
from yiku_compat.simple_memory import (
    TOOLS,
    BaseMemory,
    ComponentFactory,
    CoreMemoryRecallTool,
    CoreMemoryRememberTool,
    MemorySqlManager,
    MemoryType,
    SimpleMemoryRuntime,
    VectorMemoryRuntime,
    conversation_scope,
    merging,
)
from yiku_compat.simple_memory.factory import SimpleMemoryFailed
from yiku_compat.simple_memory.mirror import TagMirror

LOGGER = "yiku_compat.simple_memory"
ROOT = Path(__file__).resolve().parents[2]
RUNTIMES = {True: SimpleMemoryRuntime, False: VectorMemoryRuntime}


def now(awaited):
    """The result of a call."""
    return asyncio.run(awaited)


@pytest.fixture
def make(home, clock):
    """Makes a runtime with the switch on or off, on one home; all are closed behind the test."""
    made = []

    def runtime(simple: bool = True):
        config = {"enable_simple_memory": simple, "home": home, "owner": "user:mei", "clock": clock, "search": "words"}
        made.append(ComponentFactory(config).get_component("memory_runtime"))
        return made[-1]

    yield runtime
    for each in made:
        each.manager.close()


@pytest.fixture
def simple(make):
    return make(True)


def keep(runtime, judgment, *tags, scope="public", kind="knowledge", **more):
    return now(runtime.remember(kind, judgment, f"because {judgment}", tags, memory_scope=scope, **more))


def recalled(runtime, query, scope="public", **more):
    return [memory.judgment for memory in now(runtime.comprehensive_recall(query, memory_scope=scope, **more))]


# ------------------------------------------------------------------ acceptance (section 11)


@pytest.mark.spec("S1-01", "S1-02", "S1-13", "S1-70", "S1-74", "S1-80")
def test_with_the_switch_on_simple_memory_starts_and_works(make, caplog):
    """`enable_simple_memory=true` gives SimpleMemoryRuntime, the log names it, and what is remembered is recalled."""
    with caplog.at_level(logging.INFO, LOGGER):
        runtime = make(True)

    assert isinstance(runtime, SimpleMemoryRuntime)
    assert "记忆运行时: SimpleMemoryRuntime" in caplog.messages
    id = keep(runtime, "小明喜欢吃火锅", "小明", "火锅")
    assert [id] == [memory.id for memory in now(runtime.recall("知识", "小明说晚上去吃火锅", memory_scope="public"))]


@pytest.mark.spec("S1-12", "S1-69", "S1-75", "S1-79")
def test_with_the_switch_off_vectors_work_as_ever(make, caplog):
    """`enable_simple_memory=false` gives VectorMemoryRuntime: recall by what is said, without a tag in the question, and feedback."""
    with caplog.at_level(logging.INFO, LOGGER):
        runtime = make(False)
    id = keep(runtime, "Ann prefers green tea", "drinks")

    assert isinstance(runtime, VectorMemoryRuntime)
    assert "记忆运行时: VectorMemoryRuntime" in caplog.messages
    assert ["Ann prefers green tea"] == recalled(runtime, "what does Ann prefer?")
    added = now(runtime.feedback([id], [{"judgment": "Ann hates coffee", "reasoning": "she said so", "tags": ["drinks"]}]))
    assert ["Ann hates coffee"] == [memory.judgment for memory in added]
    assert "Ann prefers green tea" in [memory.judgment for memory in now(runtime.chained_recall("tea", ["Ann"]))]


@pytest.mark.spec("S1-03", "S1-04", "S1-05", "S1-06", "S1-76")
@pytest.mark.parametrize("switch", RUNTIMES)
def test_the_tools_work_under_both_runtimes(make, switch):
    """`core_memory_remember` and `core_memory_recall` know the interface alone; a conversation without a scope has its own."""
    runtime, scopes = make(switch), {"g1": "聚餐群"}
    remember, recall = CoreMemoryRememberTool(runtime, scopes), CoreMemoryRecallTool(runtime, scopes)
    now(remember.run("event", "小明周五请吃火锅", "群里说的", ["小明", "火锅"], conversation="g1"))

    assert {remember.name, recall.name} == {*TOOLS}
    assert "小明周五请吃火锅" in now(recall.run("小明请吃火锅", conversation="g1"))
    assert "nothing" in now(recall.run("小明请吃火锅", conversation="g2"))
    (memory,) = now(runtime.comprehensive_recall("小明请吃火锅", memory_scope="聚餐群"))
    assert (True, 50, "聚餐群", MemoryType.EVENT) == (memory.is_active, memory.strength, memory.memory_scope, memory.memory_type)
    for wrong in ({"judgment": "x" * 51}, {"reasoning": "a\nb"}, {"tags": []}, {"strength": 0}, {"memory_type": "wish"}):
        given = {"memory_type": "event", "judgment": "a", "reasoning": "b", "tags": ["c"], **wrong}
        with pytest.raises(InvalidInput):
            now(remember.run(**given, conversation="g1"))


@pytest.mark.spec("S1-10", "S1-47", "S1-77", "S1-82", "T-17", "T-20")
def test_scopes_hold(simple):
    """Public returns public only; another scope itself and public; none, or an illegal one, is refused, and nobody changes another's."""
    ids = {scope: keep(simple, f"{scope} 喜欢火锅", "火锅", scope=scope) for scope in ("public", "家庭", "team-a")}

    assert ["public 喜欢火锅"] == recalled(simple, "火锅？")
    assert {"public 喜欢火锅", "家庭 喜欢火锅"} == {*recalled(simple, "火锅？", "家庭")}
    for wrong in (None, "", "  ", "Public", "a b", "\uff50ublic", "家\u200b庭"):
        with pytest.raises(InvalidScope):
            now(simple.recall("knowledge", "火锅", memory_scope=wrong))
        with pytest.raises(InvalidScope):
            keep(simple, "x", "y", scope=wrong)
    for change in ({"useful_memory_ids": [ids["team-a"]]}, {"merge_groups": [[ids["家庭"], ids["team-a"]]]}):
        with pytest.raises(NotFound):
            now(simple.feedback(**change, memory_scope="家庭"))
    assert {"public 喜欢火锅", "team-a 喜欢火锅"} == {*recalled(simple, "火锅？", "team-a")}
    assert "conversation:c-9" == conversation_scope("c 9", {})


@pytest.mark.spec("S1-11", "S1-78", "T-38")
def test_notes_are_disabled_in_simple_mode_and_it_says_so(make, home, caplog):
    """A typed answer with the reason, and a line in the log; with the switch off notes are searched."""
    simple, vector = make(True), make(False)
    vector.manager.handle("user:mei").notes.append_daily("The lantern festival is on Friday.")
    vector.manager.handle("user:mei").notes.sync()
    answer = now(simple.note_recall("lantern festival", memory_scope="user:mei"))

    assert (False, ()) == (answer.enabled, answer.notes)
    assert "disabled" in answer.reason and "enable_simple_memory" in answer.reason
    assert answer.reason in caplog.messages
    assert "lantern" in now(vector.note_recall("lantern festival", memory_scope="user:mei")).notes[0]


# ------------------------------------------------------------------ regression (section 12)


@pytest.mark.spec("S1-45", "S1-46", "S1-48", "S1-49", "S1-50", "S1-81")
def test_recall_is_ordered_by_hits_then_day_then_strength(simple, clock):
    """The document's example, and each key where the ones before it are equal; `limit` cuts."""
    keep(simple, "B: 小明", "小明")
    keep(simple, "A: 小明和火锅", "小明", "火锅")
    keep(simple, "C: 聚餐周报", "聚餐", "周报")

    assert ["A: 小明和火锅", "B: 小明"] == recalled(simple, "小明说晚上去吃火锅")
    keep(simple, "weak", "排序", strength=1)
    clock.advance(minutes=5)
    keep(simple, "strong", "排序", strength=9)
    clock.advance(minutes=5)
    keep(simple, "middle", "排序", strength=5)
    clock.advance(days=1)
    keep(simple, "tomorrow", "排序", strength=1)
    assert ["tomorrow", "strong", "middle", "weak"] == recalled(simple, "排序吧")
    assert ["tomorrow", "strong"] == recalled(simple, "排序吧", fresh_limit=2)
    assert [] == recalled(simple, "没有标签的话") == recalled(simple, "")
    keep(simple, "later, one hit", "火锅")
    assert ["A: 小明和火锅"] == recalled(simple, "小明说晚上去吃火锅", fresh_limit=1)


@pytest.mark.spec("S1-54", "S1-55", "S1-56", "S1-57", "S1-58", "S1-59")
@pytest.mark.parametrize("switch", RUNTIMES)
def test_the_interface_is_whole_under_both(make, switch):
    """Each method has the documented result, awaited."""
    runtime = make(switch)
    id = now(runtime.remember("task", "交周报 report", "经理 said", ["周报", "report"], False, 7, "public"))

    assert isinstance(id, str)
    for found in (
        now(runtime.recall("task", "周报 report", 10, True, "public")),
        now(runtime.comprehensive_recall("周报 report")),
        now(runtime.chained_recall("周报", ["report"])),
    ):
        assert [(id, "交周报 report", "经理 said", ("report", "周报"), 7, False)] == [
            (one.id, one.judgment, one.reasoning, one.tags, one.strength, one.is_active) for one in found
        ]
        assert all(isinstance(one, BaseMemory) for one in found)
    assert [] == now(runtime.recall("skill", "周报 report", memory_scope="public"))
    assert [] == now(runtime.feedback())
    assert now(runtime.consolidate_memories()) is None


@pytest.mark.spec("S1-61", "S1-62", "S1-63", "S1-83", "T-19")
def test_the_three_branches_of_feedback(simple):
    """Useful is stronger, new is there, merged is one with the tags of all, active if any was; the other can be brought back."""
    one = keep(simple, "小明爱吃火锅", "小明", strength=3)
    two = keep(simple, "小明周五都去火锅店", "火锅", strength=5, is_active=True)
    new = {"memory_type": "skill", "judgment": "会做饭", "reasoning": "看见的", "tags": ["做饭"]}
    added = now(simple.feedback([one], [new], [[one, two]]))

    assert ["会做饭", "小明周五都去火锅店"] == [memory.judgment for memory in added]
    (merged,) = now(simple.comprehensive_recall("小明火锅"))
    assert ("小明周五都去火锅店", 9, True, ("小明", "火锅")) == (merged.judgment, merged.strength, merged.is_active, merged.tags)
    memory = simple.manager.handle("public")
    assert "小明爱吃火锅" == memory.get(one).content
    memory.restore(one)
    assert 2 == len(now(simple.comprehensive_recall("小明火锅")))


@pytest.mark.spec("T-19")
def test_a_merge_is_one_operation(simple, clock):
    """One transaction, which one undo takes back, with the flags of what contradicted one that went."""
    clock.advance(minutes=1)
    ids = [keep(simple, text, tag) for text, tag in (("小明爱吃火锅", "小明"), ("小明常去火锅店", "火锅"), ("小明不吃辣", "辣"))]
    memory = simple.manager.handle("public")
    flagged = [memory.remember(f"My mentor is {name}", predicate="mentor", object=name).memory for name in ("Ann", "李雷")]
    assert memory.get(flagged[0].id).flag
    clock.advance(minutes=1)
    before = memory.get_all()
    simple.manager.merge([*ids, flagged[1].line], "public")
    done = memory.admin.journal(limit=20)
    rows = [row for row in done if row.operation == "merge"]

    assert 1 == len({row.transaction for row in rows})
    assert 2 == len(memory.get_all())
    assert memory.get(flagged[0].id).flag is None
    memory.admin.undo(rows[0].transaction)
    assert {one.id: (one.tags, one.strength, one.flag) for one in before} == {
        one.id: (one.tags, one.strength, one.flag) for one in memory.get_all()
    }


def test_a_merge_that_somebody_overtakes_changes_nothing(simple, monkeypatch):
    """Another writer changed what stays: Stale, and all are as that writer left them."""
    one, two = keep(simple, "小明爱吃火锅", "小明", strength=9), keep(simple, "小明常去火锅店", "火锅", strength=5)
    memory = simple.manager.handle("public")
    now_ = merging._now
    monkeypatch.setattr(merging, "_now", lambda memory: (memory.update(one, strength=2), now_(memory))[1])
    with pytest.raises(Stale):
        simple.manager.merge([one, two], "public")

    assert {one: (2, ("小明",)), two: (5, ("火锅",))} == {row.line: (row.strength, row.tags) for row in memory.get_all()}


@pytest.mark.spec("S1-71", "S1-72", "S1-73", "S1-84")
def test_requests_are_logged_and_after_a_flip_the_log_is_right(make, caplog):
    """Runtime, candidates, returned and the time of SQL; both runtimes see one store."""
    caplog.set_level(logging.INFO, LOGGER)
    for switch in (True, False, True):
        caplog.clear()
        runtime = make(switch)
        keep(runtime, f"火锅 hotpot {len(recalled(runtime, '火锅 hotpot'))}", "火锅")
        assert f"记忆运行时: {RUNTIMES[switch].__name__}" in caplog.messages
        assert any(line.startswith(f"runtime={RUNTIMES[switch].__name__} candidates=") for line in caplog.messages)
        assert all("returned=" in line and "sql_ms=" in line for line in caplog.messages if line.startswith("runtime="))
    assert 3 == len(recalled(runtime, "火锅"))


@pytest.mark.spec("S1-07", "S1-14", "S1-85", "S1-88", "T-38")
def test_simple_memory_that_cannot_start_is_an_error(home, caplog):
    """A damaged home stops the start; nothing falls back to vectors."""
    home.mkdir()
    (home / "yiku.db").write_bytes(b"no database at all" * 400)
    with caplog.at_level(logging.INFO, LOGGER), pytest.raises(SimpleMemoryFailed, match="enable_simple_memory"):
        ComponentFactory({"enable_simple_memory": True, "home": home}).create_all_components()

    assert not [line for line in caplog.messages if "Runtime" in line]
    with pytest.raises(YikuError):
        ComponentFactory({"enable_simple_memory": True, "home": home.parent / "new", "colour": 1}).get_memory_runtime()


# ------------------------------------------------------------------ tables and tags


@pytest.mark.spec("S1-16", "S1-17", "S1-18", "S1-19", "S1-20", "S1-21")
def test_records_stand_under_the_documents_names(simple):
    """What was remembered comes back from `memory_records` with the documented types."""
    id = keep(simple, "小明爱吃火锅", "小明", strength=7, is_active=True, scope="家庭")
    sql = "select id, memory_type, judgment, reasoning, strength from memory_records where id = ?"

    assert [(id, "知识", "小明爱吃火锅", "because 小明爱吃火锅", 7)] == simple.manager.select(sql, "家庭", [id])
    assert [] == simple.manager.select(sql, "public", [id])


@pytest.mark.spec("S1-22", "S1-23", "S1-24", "S1-25", "S1-28", "S1-29")
def test_scope_activity_and_times_stand_under_their_names(simple, clock):
    """`is_active` is 0 or 1, the scope is the name that was given, times are seconds; questions by the documented indexes answer."""
    keep(simple, "one", "tag", is_active=True, strength=20, scope="家庭")
    keep(simple, "two", "tag", scope="家庭")
    at = clock.now.timestamp()
    found = "select judgment, is_active, created_at from memory_records"
    by_scope = f"{found} where memory_scope = '家庭' and created_at >= ? order by strength desc"

    assert [("one", 1, at), ("two", 0, at)] == simple.manager.select(by_scope, "家庭", [at])
    weak = "select judgment, typeof(updated_at), updated_at from memory_records where is_active = 0 and strength < 20"
    assert [("two", "real", at)] == simple.manager.select(weak, "家庭")
    clock.advance(days=1)
    simple.manager.strengthen(simple.manager.select("select id from memory_records where judgment = 'two'", "家庭")[0][0], "家庭")
    assert [("two", "real", clock.now.timestamp())] == simple.manager.select(weak, "家庭")
    with pytest.raises(InvalidInput):
        simple.manager.select("delete from memory_records", "家庭")


@pytest.mark.spec("S1-26", "S1-27", "S1-30", "S1-32", "S1-33", "S1-34")
def test_tags_are_written_once_and_related(simple):
    """Each name is one row of `memory_tags`, each pair one row of `memory_tag_rel`, and the mirror knows it at once."""
    first = keep(simple, "one", "小明", "火锅", "小明")
    second = keep(simple, "two", "小明", scope="家庭")
    tags = dict(simple.manager.select("select name, id from memory_tags", "家庭"))

    assert {"小明", "火锅"} == {*tags}
    pairs = simple.manager.select("select memory_id, tag_id from memory_tag_rel", "家庭")
    assert {(first, tags["小明"]), (first, tags["火锅"]), (second, tags["小明"])} == {*pairs} and 3 == len(pairs)
    assert "火锅" in simple.manager.tags


@pytest.mark.spec("S1-35", "S1-36", "S1-37", "S1-38", "S1-39", "S1-43")
def test_tags_change_and_memories_go(simple):
    """New tags take the place of the old; a deleted memory leaves records and relations, and its tags stay for now."""
    one, two = keep(simple, "one", "小明", "火锅"), keep(simple, "two", "周报")
    simple.manager.update_tags(one, ["聚餐"], "public")

    assert ["one"] == recalled(simple, "去聚餐") and [] == recalled(simple, "小明火锅")
    assert "小明" in simple.manager.tags
    simple.manager.delete(two, "public")
    assert [("one",)] == simple.manager.select("select judgment from memory_records", "public")
    assert [(one,)] == simple.manager.select("select memory_id from memory_tag_rel", "public")
    assert {"小明", "火锅", "聚餐", "周报"} == {name for (name,) in simple.manager.select("select name from memory_tags", "public")}
    assert [] == recalled(simple, "周报")


@pytest.mark.spec("S1-15", "S1-31", "S1-40", "S1-41", "S1-42")
def test_the_mirror_is_loaded_at_the_start_and_made_again_by_collection(simple, make, home):
    """A new manager knows all tags; one that another process writes is found; unused ones go, and both agree then."""
    id = keep(simple, "one", "小明", "火锅")
    again = MemorySqlManager(home, search="words")
    again.refresh("public")
    with Memory(home, scope="public", search="words") as other:
        other.remember("three", tags=["钓鱼"])
    simple.manager.update_tags(id, ["聚餐"], "public")

    assert {"小明", "火锅"} <= {name for name in ("小明", "火锅", "钓鱼") if name in again.tags}
    assert ["three"] == recalled(simple, "一起钓鱼")
    now(simple.consolidate_memories())
    stored = {name for (name,) in simple.manager.select("select name from memory_tags", "public")}
    assert {"聚餐", "钓鱼"} == stored
    assert len(stored) == len(simple.manager.tags) and all(name in simple.manager.tags for name in stored)
    again.close()


@pytest.mark.spec("T-15", "T-16", "S1-44", "S1-60")
def test_faults_of_the_original_are_not_ours(simple):
    """A type filter comes before the limit, `art` is not in `start`, case and width do not matter, one character finds nothing."""
    for n in range(5):
        keep(simple, f"event {n}", "火锅", kind="event", strength=9)
    keep(simple, "a skill", "火锅", kind="skill", strength=1)
    keep(simple, "about art", "art", "人", "C++", "Python")

    assert ["a skill"] == [one.judgment for one in now(simple.recall("skill", "火锅", limit=2, memory_scope="public"))]
    assert [] == recalled(simple, "let us start, 每个人")
    assert ["about art"] == recalled(simple, "modern ART?") == recalled(simple, "用ｐｙｔｈｏｎ写") == recalled(simple, "in c++")
    each = [now(simple.chained_recall("火锅", ["art"])), now(simple.comprehensive_recall("火锅 art", fresh_limit=7))]
    assert [one.id for one in each[0]] == [one.id for one in each[1]]


@pytest.mark.spec("T-18")
def test_what_is_recalled_ten_times_is_as_strong_as_before(simple):
    """Being recalled weakens nothing, and tidying takes nothing of it."""
    keep(simple, "one", "小明", strength=5)
    for _ in range(10):
        now(simple.chained_recall("小明在吗", []))
    now(simple.consolidate_memories())

    assert [5] == [one.strength for one in now(simple.comprehensive_recall("小明"))]


@pytest.mark.spec("S1-86")
def test_a_hundred_thousand_tags_are_scanned_in_no_time():
    """The scan costs what the question costs."""
    mirror = TagMirror([f"标签{n}号" for n in range(50_000)] + [f"tag-{n}" for n in range(50_000)])
    question = "小明说晚上去吃火锅，标签777号和 tag-4242 也要来，还有谁有空一起去？"
    started = time.process_time()
    for _ in range(100):
        found = mirror.found_in(question)

    assert {"标签777号", "tag-4242"} == found
    assert time.process_time() - started < 100 * 0.005


def test_the_example_runs(home, capsys):
    """examples/simple_memory.py prints what was found, with the calls of the document."""
    now(runpy.run_path(str(ROOT / "examples" / "simple_memory.py"))["main"](str(home)))
    printed = capsys.readouterr().out.splitlines()

    assert ["2 事件 小明周五请大家吃火锅", "1 任务 小明每周一交周报", "小明不吃香菜"] == printed[:3]
    assert "disabled" in printed[3] and "小明不吃香菜" in printed[4] and "nothing is kept about that" == printed[5]


def test_the_command_runs_the_documents_select_statements(simple, home, capsys):
    """`yiku-compat sql s1` prints rows of its tables."""
    from yiku_compat import console

    keep(simple, "小明爱吃火锅", "小明", scope="user:mei")
    words = ["sql", "s1", "select judgment, memory_type from memory_records", "--home", str(home), "--scope", "user:mei"]

    assert 0 == console.run(words)
    assert "judgment\tmemory_type\n小明爱吃火锅\t知识\n" == capsys.readouterr().out
    words[2] = "delete from memory_records"
    assert 1 == console.run(words)
    assert "InvalidInput" in capsys.readouterr().err
