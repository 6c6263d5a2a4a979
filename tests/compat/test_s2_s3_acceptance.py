"""
The acceptance lists of S2 and S3 in their own terms: the flows of one, the twelve problems of the other, its figures, its example.

Each problem was observed in the system that S3 set out to repair; each test shows that it is not here.
"""

import asyncio
import json
import runpy
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from yiku import Memory
from yiku_compat.openakita import (
    Agent,
    ContextManager,
    MemoryManager,
    PromptBuilder,
    PromptCompiler,
    SemanticMemory,
    Tools,
    UnifiedStore,
    create_search_backend,
    migrate,
)
from yiku_compat.openakita.brain import BrainChat

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def manager(memory, clock) -> Iterator[MemoryManager]:
    manager = MemoryManager(memory, now=clock)
    yield manager
    manager.close()


def run(coroutine):
    return asyncio.run(coroutine)


class Brain:
    """A host's model: away, or answering with one text."""

    model = "test-brain"

    def __init__(self, answer: str | None = None) -> None:
        self.answer, self.asked = answer, []

    async def think_lightweight(self, prompt: str, system: str | None = None) -> str:
        self.asked.append((prompt, system))
        if self.answer is None:
            raise TimeoutError("no answer")
        return self.answer


def say(manager: MemoryManager, *said: str, session: str = "s1") -> None:
    for text in said:
        run(manager.record_turn("user", text, session_id=session))


# ------------------------------------------------------------------ S3: twelve problems


@pytest.mark.spec("S3-166", "S3-190")
def test_problem_1_nothing_is_lost_when_a_context_is_compressed(manager):
    """Even where the model is away: all early messages are recorded, learned from, and told in an episode."""
    messages = [{"role": "user", "content": f"第 {n} 步 step {n} " + "x " * 50} for n in range(20)]
    messages[11]["content"] = "记住，我的邮箱签名是阿梅。"

    run(ContextManager(Brain(), soft_limit=50).compress_if_needed(messages, memory_manager=manager, session_id="s1"))
    assert 12 == len(manager.store.memory.search_traces(session="s1", limit=50))
    assert manager.store.get_recent_episodes()
    assert manager.search_conversation_traces("邮箱签名")


@pytest.mark.spec("S3-137", "S3-157")
def test_problem_2_stories_are_kept_not_only_facts(manager):
    """Why, what was done, what came of it."""
    say(manager, "我们要给网关选登录方案，帮我比较 JWT 和 session")
    run(
        manager.record_turn(
            "assistant",
            "JWT 无状态，适合网关。",
            [{"name": "bash", "input": {"command": "make bench"}, "id": "c"}],
            session_id="s1",
        )
    )
    say(manager, "好，就用 JWT，谢谢！")
    run(manager.on_session_end("s1"))

    (found,) = manager.store.search_episodes("JWT 登录方案")
    assert "JWT" in found.goal + found.summary
    assert ["bash"] == found.tools_used
    assert found.outcome in ("success", "partial", "failed", "ongoing")


@pytest.mark.spec("S3-158", "S3-142", "T-29")
def test_problem_3_work_goes_on_in_the_next_session(manager, home, clock):
    """What was worked on is in the prompt of a new process."""
    say(manager, "请帮我重构记忆系统的存储层")
    run(manager.on_session_end("s1"))
    manager.store.memory.close()

    with Memory(home, clock=clock) as memory:
        assert "重构记忆系统的存储层" in UnifiedStore(memory).get_scratchpad().to_markdown()
        assert "重构记忆系统的存储层" in PromptBuilder(memory).build("继续吧", session_id="s2").text


@pytest.mark.spec("S3-140", "S3-153")
@pytest.mark.parametrize(
    ("first", "later", "asked"),
    [
        ("项目的 Python 版本是 3.10。", "项目的 Python 版本升级到 3.12 了。", "Python 版本"),
        ("I live in Bergen.", "I live in Oslo now.", "live"),
    ],
)
def test_problem_4_a_later_word_updates_what_was_known(manager, clock, first, later, asked):
    """One statement holds, the earlier one is history."""
    say(manager, first)
    clock.advance(days=1)
    say(manager, later, session="s2")

    found = [one.content for one in manager.store.search_semantic(asked)]
    assert later.rstrip("。.") in found[0]
    assert first not in found


@pytest.mark.spec("S3-237", "T-27")
def test_problem_5_duplicates_are_found_without_comparing_all_pairs(manager):
    """Twice as many statements take about twice as long; opposite wishes both stay."""
    manager.add_memory("The user likes the dark theme in the editor.", "preference")
    manager.add_memory("The user likes the light theme in the terminal.", "preference")
    times = []
    for count in (60, 120):
        for number in range(count):
            manager.add_memory(f"Table t{count}x{number} belongs to job {number}.")
        began = time.perf_counter()
        run(manager.lifecycle.deduplicate_batch())
        times.append(time.perf_counter() - began)

    assert times[1] < 8 * times[0] + 2.0
    assert 2 == len([one for one in manager.store.search_semantic("theme", 10) if "theme" in one.content])


@pytest.mark.spec("S3-146", "S3-150", "S3-226")
def test_problem_6_search_answers_from_the_first_moment(manager):
    """The default needs no model; while another backend starts or is missing, it answers, and stats say why."""
    assert "fts5" == manager.get_memory_stats()["search_backend"]
    say(manager, "我对花生过敏。")
    waiting = create_search_backend("chromadb")
    store = UnifiedStore(manager.store.memory, waiting)

    assert "花生" in store.search_semantic("花生")[0].content
    assert waiting.degraded
    degraded = MemoryManager(manager.store.memory, search_backend=waiting)
    assert "chromadb" in degraded.get_memory_stats()["degraded"]


@pytest.mark.spec("S3-135", "S3-144")
def test_problem_7_what_the_model_did_not_read_is_tried_again(home, clock):
    """A failed extraction waits; the next run reads it."""
    said = "Next Sunday it is my sister Lan who brings the cake for all of us, 她最会做蛋糕了。"
    brain = Brain()
    with Memory(home, owner="user:mei", clock=clock, chat=BrainChat(brain)) as memory:
        manager = MemoryManager(memory, brain, now=clock)
        say(manager, said)
        run(manager.on_session_end("s1"))
        assert [said] == [one["content"] for one in manager.store.dequeue_extraction()]

        brain.answer = json.dumps([{"type": "fact", "content": "The user's sister is called Lan.", "evidence": "my sister Lan"}])
        clock.advance(days=1)
        run(manager.lifecycle.process_unextracted_turns())
        assert manager.store.search_semantic("sister Lan")


@pytest.mark.spec("S3-218", "S2-28")
def test_problem_8_what_was_said_is_searched_itself(manager):
    """Original words that no statement holds, by the second level."""
    say(manager, "昨天的发布窗口是 22:40 到 23:10，build 7781。")

    assert "build 7781" in Tools(manager).call("search_conversation_traces", {"keyword": "7781"})


@pytest.mark.spec("S3-135", "S3-115")
def test_problem_9_the_calls_of_tools_are_kept_and_found(manager):
    """Arguments and results: in the traces, and in the story."""
    calls = [{"name": "bash", "input": {"command": "pytest tests/test_gate.py"}, "id": "c1"}]
    say(manager, "跑一下网关的测试")
    run(
        manager.record_turn(
            "assistant", "失败了", calls, [{"tool_use_id": "c1", "content": "E assert 3 == 4", "is_error": True}], session_id="s1"
        )
    )
    episode = run(manager.on_session_end("s1"))

    assert "assert 3 == 4" in Tools(manager).call("search_conversation_traces", {"keyword": "assert 3"})
    (node,) = episode.action_nodes
    assert not node.success
    assert "tests/test_gate.py" in str(node.key_params)


@pytest.mark.spec("S3-217", "S3-222", "S3-234")
def test_problem_10_one_database_and_the_old_file_is_not_read_again(home, tmp_path):
    """memories.json comes in once; what it says afterwards is nobody's business."""
    file = tmp_path / "memories.json"
    file.write_text(json.dumps([{"id": "a", "type": "fact", "content": "用户住在杭州"}]), "utf-8")
    migrate(file, home)
    file.write_text(json.dumps([{"id": "b", "type": "fact", "content": "用户住在巴黎"}], ensure_ascii=False), "utf-8")

    with Memory(home) as memory:
        store = UnifiedStore(memory)
        store.save_semantic(SemanticMemory(content="用户养了一只猫"))
        assert not [one for one in store.search_semantic("巴黎") if "巴黎" in one.content]
    assert "巴黎" in file.read_text("utf-8")
    assert "猫" not in file.read_text("utf-8")
    with sqlite3.connect(home / "yiku.db") as database:
        assert database.execute("select count(*) from memories where content like '%猫%'").fetchone() == (1,)
    database.close()


@pytest.mark.spec("S3-139", "S3-204")
def test_problem_11_the_profile_fills_itself(manager):
    """USER.md has what is known, no placeholders; it is compiled in the night."""
    say(manager, "我叫梅，是后端工程师。", "我喜欢简短的回答。", "I live in Oslo.")
    assert run(manager.consolidate_daily())["finished"]

    page = (manager.store.db.home / "USER.md").read_text("utf-8")
    assert "Oslo" in page
    assert "待学习" not in page
    assert "Oslo" in (manager.store.db.home / "identity" / "compiled" / "user.summary.md").read_text("utf-8")


@pytest.mark.spec("S3-178", "S3-219", "S3-225")
def test_problem_12_the_compiler_keeps_sentences_and_drops_comments(manager):
    """No remains of comments, no placeholders; a long principle in the middle of a story stays whole; without a model as well."""
    folder = manager.store.db.home / "identity"
    folder.mkdir(exist_ok=True)
    long = "Never claim that a test passed unless you have run it in this session and have seen its output with your own eyes"
    story = f"Once upon a time there was an agent.\n{long}, since a false report costs more than a late one.\n"
    (folder / "SOUL.md").write_text(f"# Soul\n\n<!-- a note\n- not this\n-->\n\n{story}\n- 诚实\n- [待学习]\n", "utf-8")

    paths = run(PromptCompiler(Brain(), memory=manager.store.memory).compile_all(folder))
    text = paths["soul_summary"].read_text("utf-8")
    assert "-->" not in text
    assert "not this" not in text
    assert "待学习" not in text
    assert long in text
    assert "诚实" in text


# ------------------------------------------------------------------ S2: its flows


@pytest.mark.spec("S2-61", "S2-64", "S2-101")
def test_flow_of_a_message(manager):
    """Recorded; the task in the scratchpad; a small prompt without dynamic memories; two levels of search for the model."""
    say(manager, "我对花生过敏。", session="s0")
    brain = Brain("知道了")
    answer = run(Agent(manager, brain).chat("请帮我安排周五的晚餐菜单", "s1"))
    (_, prompt), *_ = brain.asked

    assert "知道了" == answer
    assert "search_memory" in prompt
    assert "search_conversation_traces" in prompt
    assert "安排周五的晚餐菜单" in prompt
    tools = Tools(manager)
    assert "花生" in tools.call("search_memory", {"query": "过敏"})
    assert "菜单" in tools.call("search_conversation_traces", {"keyword": "菜单"})


@pytest.mark.spec("S2-97", "S2-90", "S2-91")
def test_flow_of_a_night(manager, clock):
    """Extract, remove duplicates, let fade, expire, MEMORY.md, USER.md; a second night changes nothing."""
    say(manager, "我喜欢喝乌龙茶。", "From now on, always answer in one line.")
    manager.add_memory(SemanticMemory(content="今天电梯坏了", priority="transient"))
    clock.advance(days=2)
    first = run(manager.consolidate_daily())
    pages = {name: (manager.store.db.home / name).read_text("utf-8") for name in ("MEMORY.md", "USER.md")}
    again = run(manager.consolidate_daily())

    assert 1 == first["counts"]["expired"]
    assert "乌龙茶" in pages["MEMORY.md"] + pages["USER.md"]
    assert "one line" in pages["MEMORY.md"]
    assert "电梯" not in pages["MEMORY.md"]
    assert {} == {name: count for name, count in again["counts"].items() if name not in ("published",)}
    assert pages == {name: (manager.store.db.home / name).read_text("utf-8") for name in pages}


@pytest.mark.spec("S2-62", "S2-63")
def test_the_example_runs(tmp_path, monkeypatch, capsys):
    """examples/openakita.py, which makes the documents' calls, runs on a fresh home and says what they promise."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["openakita.py", str(tmp_path / "home")])
    runpy.run_path(str(ROOT / "examples" / "openakita.py"), run_name="__main__")
    said = capsys.readouterr().out

    assert "用户喜欢用 Python 3.12" in said
    assert "JWT" in said
    assert "fts5" in said
