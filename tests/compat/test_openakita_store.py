"""UnifiedStore, MemoryManager and their parts: each name of the documents, on a real database."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from yiku import Memory
from yiku.errors import InvalidInput, ModelFailed
from yiku_compat import openakita
from yiku_compat.openakita import (
    TOOLS,
    ActionNode,
    Agent,
    Attachment,
    ContextManager,
    ConversationTurn,
    DailyConsolidator,
    Episode,
    MemoryConsolidator,
    MemoryManager,
    MemoryPriority,
    MemoryType,
    PromptBuilder,
    PromptCompiler,
    RetrievalEngine,
    Scratchpad,
    SemanticMemory,
    Tools,
    UnifiedStore,
)
from yiku_compat.openakita.brain import BrainChat, finished
from yiku_compat.openakita.retrieval import Candidate


class Brain:
    """A host's model that answers what it is told to."""

    model = "test-brain"

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = list(answers), []

    async def think_lightweight(self, prompt: str, system: str | None = None) -> str:
        self.asked.append((prompt, system))
        if not self.answers:
            raise ConnectionError("the model is away")
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def manager(memory, clock) -> Iterator[MemoryManager]:
    manager = MemoryManager(memory, now=clock)
    yield manager
    manager.close()


@pytest.fixture
def store(manager) -> UnifiedStore:
    return manager.store


def run(coroutine):
    return asyncio.run(coroutine)


# ------------------------------------------------------------------ statements


@pytest.mark.spec("S3-140", "S2-94")
@pytest.mark.parametrize(
    ("first", "later", "subject", "predicate"),
    [("用户用 Python 3.10", "用户用 Python 3.12", "用户", "python版本"), ("The port is 80.", "The port is 81.", "gateway", "port")],
)
def test_a_statement_is_saved_found_and_updated_under_one_id(store, first, later, subject, predicate):
    """An update is a new version of the same id; the old one stays as history, linked."""
    id = store.save_semantic(SemanticMemory(id="mine-1", content=first, subject=subject, predicate=predicate, tags=["env"]))
    assert "mine-1" == id
    assert first == store.find_similar_semantic(subject, predicate).content

    assert store.update_semantic(id, {"content": later, "confidence": 0.9, "importance_score": 0.8, "source": "turn_ai"})
    now = store.get_semantic(id)
    assert (later, id, 0.9, 0.8, "turn_ai", ["env"]) == (
        now.content, now.id, now.confidence, now.importance_score, now.source, now.tags,
    )  # fmt: skip
    versions = store.memory.history(store.db.find(id).id)
    assert [first, later] == [one.content for one in versions]
    assert versions[0].superseded_by == versions[1].id
    assert later == store.search_semantic(later, 1)[0].content
    assert not store.update_semantic("nobody", {"content": "x"})


@pytest.mark.spec("S3-140", "S3-60")
def test_a_statement_keeps_its_fields_and_what_is_deleted_comes_back(store, memory, clock):
    """Type, priority, source, decay; a mistake lasts seven days; deleting is forgetting."""
    given = SemanticMemory(
        content="Deleting the cache by hand breaks the build.",
        type=MemoryType.ERROR,
        decay_rate=0.2,
        source="task_completion",
        source_episode_id="ep1",
        created_at=clock(),
    )
    id = store.save_semantic(given)
    kept = store.get_semantic(id)

    assert (MemoryType.ERROR, 0.2, "task_completion", "ep1") == (kept.type, kept.decay_rate, kept.source, kept.source_episode_id)
    assert clock() + timedelta(days=7) == kept.expires_at
    assert store.delete_semantic(id)
    assert [] == store.search_semantic("cache breaks build")
    memory.restore(memory.history(id)[-1].id)
    assert id == store.search_semantic("cache breaks build")[0].id
    brief = store.save_semantic(SemanticMemory(content="今天电梯坏了。", priority=MemoryPriority.TRANSIENT))
    assert timedelta(days=1) == store.get_semantic(brief).expires_at - clock()
    clock.advance(days=8)
    assert [] == store.search_semantic("cache breaks build 电梯")


# ------------------------------------------------------------------ episodes, the scratchpad, attachments


@pytest.mark.spec("S3-141", "S2-98")
def test_episodes_are_saved_and_found_by_words_entity_and_day(store, clock):
    """An episode comes back as it was saved; saved twice, it is there once."""
    at = clock()
    node = ActionNode(
        tool_name="bash", key_params={"command": "pytest"}, result_summary="4 passed", decision="release", timestamp=at
    )
    given = Episode(
        id="ep-1", session_id="s1", summary="选择 JWT 作为登录方案。We chose JWT.", goal="choose auth", outcome="success",
        started_at=at, ended_at=at + timedelta(minutes=5), action_nodes=[node], entities=["auth.py", "JWT"], tools_used=["bash"],
    )  # fmt: skip
    clock.advance(days=1)
    id = store.save_episode(given)

    assert id == store.save_episode(given)
    (found,) = store.get_episodes_by_entity("AUTH.py")
    assert (given.summary, given.goal, given.outcome, [node]) == (found.summary, found.goal, found.outcome, found.action_nodes)
    assert (given.started_at, given.ended_at, ["bash"]) == (found.started_at, found.ended_at, found.tools_used)
    assert id == store.search_episodes("JWT 登录", 3)[0].id
    assert [id] == [one.id for one in store.get_recent_episodes(7)]
    clock.advance(days=10)
    assert [] == store.get_recent_episodes(7)
    assert "历史操作记录" in found.to_markdown()
    assert "Past work" in found.to_markdown("en")


@pytest.mark.spec("S3-142", "S3-158", "T-29")
def test_the_scratchpad_is_its_users_and_survives_a_session(manager, store):
    """What the user wrote stays; lines are added and settled; the end of a session leaves both."""
    store.save_scratchpad(Scratchpad(current_focus="重构网关", open_questions=["哪个端口？"], next_steps=["ship it"]))
    kept = store.get_scratchpad("default")
    assert ("重构网关", ["哪个端口？"], ["ship it"]) == (kept.current_focus, kept.open_questions, kept.next_steps)

    run(manager.record_turn("user", "帮我看看日志", session_id="s1"))
    episode = run(manager.on_session_end("s1"))
    after = run(manager.extractor.update_scratchpad(kept, episode))
    assert "重构网关" in after.to_markdown()
    assert store.get_scratchpad("user:lan") is None
    manager.scratchpad.update(next_steps=["写发布说明"], user_id="user:lan")
    assert ["写发布说明"] == store.get_scratchpad("user:lan").next_steps
    manager.scratchpad.update(settled=["写发布说明"], user_id="user:lan")
    assert store.get_scratchpad("user:lan") is None
    manager.scratchpad.save(Scratchpad(user_id="user:lan", current_focus="bees"))
    assert "bees" == manager.scratchpad.get("user:lan").current_focus


def test_attachments_are_found_by_what_is_known_of_them(manager):
    """A picture by its description, in a prompt too if the question speaks of one; one without a place is refused."""
    manager.record_attachment(Attachment(filename="cat.jpg", local_path="/p/cat.jpg", description="一只橘猫趴在沙发上"))
    manager.record_attachment(Attachment(filename="sales.pdf", url="https://x.test/sales.pdf", description="monthly sales report"))

    assert ["cat.jpg"] == [one.filename for one in manager.store.search_attachments("橘猫")]
    assert "cat.jpg" in manager.get_injection_context("给我那张橘猫的图片")
    assert "sales.pdf" in manager.get_injection_context("the sales report file")
    assert "sales.pdf" not in manager.get_injection_context("monthly sales")
    with pytest.raises(InvalidInput):
        manager.record_attachment(Attachment(filename="nowhere.txt"))


# ------------------------------------------------------------------ turns and the queue


@pytest.mark.spec("S3-143", "S3-144", "T-25")
def test_a_turn_waits_until_something_was_learned_from_it(home, clock):
    """The turn is the entry of the queue: it is there with its tools, and leaves once it is learned from."""
    with Memory(home, owner="user:mei", clock=clock, learn="later") as memory:
        store = UnifiedStore(memory)
        calls = [{"name": "bash", "input": {"command": "ls"}, "id": "c1"}]
        store.save_turn("s1", 0, "user", "我住在杭州。")
        store.save_turn("s1", 1, "assistant", "好的", tool_calls=calls, tool_results=[{"tool_use_id": "c1", "content": "a.txt"}])
        store.save_turn("s1", 0, "user", "我住在杭州。")
        store.enqueue_extraction("s2", 4, "My sister is called Lan.")

        waiting = store.get_unextracted_turns()
        assert [("s1", 0), ("s1", 1), ("s2", 4)] == [(one["session_id"], one["turn_index"]) for one in waiting]
        assert calls == waiting[1]["tool_calls"]
        (first,) = store.dequeue_extraction(batch_size=1)
        assert [("s1", 0), ("s1", 1)] == [(one["session_id"], one["turn_index"]) for one in store.dequeue_extraction(2)]
        assert ("pending", 0, 3, "我住在杭州。") == tuple(
            first[name] for name in ("status", "retry_count", "max_retries", "content")
        )
        assert 1 == store.mark_turns_extracted("s2", [4, 9])
        assert [] == store.get_unextracted_turns()
        assert {"我住在杭州。", "My sister is called Lan."} == {one.content for one in memory.get_all()}
        with pytest.raises(InvalidInput):
            store.dequeue_extraction(0)


@pytest.mark.spec("S3-135", "S3-129", "S3-128", "T-24")
def test_a_model_that_fails_leaves_the_turn_in_the_queue(home, clock):
    """A turn is stored and learned from by rules whatever the model does; what the model has not read waits, with its tries."""
    brain = Brain()
    said = "By the way, next Sunday it is my sister Lan who brings the cake for all of us, and she bakes it herself."
    with Memory(home, owner="user:mei", clock=clock, chat=BrainChat(brain), transcripts="on") as memory:
        manager = MemoryManager(memory, brain, now=clock)

        async def talk() -> None:
            await manager.record_turn("user", said, session_id="s1")
            await manager.record_turn("user", "我对花生过敏。", session_id="s1")
            await manager.drain()

        run(talk())
        assert brain.asked
        (waiting, *_) = manager.store.dequeue_extraction()
        assert (said, "pending", 3) == (waiting["content"], waiting["status"], waiting["max_retries"])
        assert "我对花生过敏。" in [one.content for one in memory.get_all()]

        brain.answers = ['[{"type": "fact", "content": "The user\'s sister is called Lan.", "evidence": "my sister Lan"}]']
        clock.advance(days=1)
        memory.learn(everything=True)
        assert [] == manager.store.dequeue_extraction()
        assert "The user's sister is called Lan." in [one.content for one in memory.get_all()]
        brain.answers = ["no JSON at all, none of it"]
        memory.record_turn("user", said.replace("Lan", "Mia"), session="s2")
        tries = []
        for _ in range(3):
            memory.learn()
            clock.advance(days=1)
            tries += [(one["retry_count"], one["status"]) for one in manager.store.get_unextracted_turns()]
        assert [(1, "pending"), (2, "pending"), (3, "failed")] == tries
        assert [] == manager.store.dequeue_extraction()


@pytest.mark.spec("S2-89", "S3-218", "S3-237", "S2-93", "S3-14")
def test_a_conversation_is_in_the_database_and_in_json_lines(manager, memory):
    """Each session has its file; the consolidator gives its messages back."""
    consolidator = MemoryConsolidator(manager.store)
    consolidator.save_turn("s1", {"role": "user", "content": "你好"})
    consolidator.save_turn("s1", ConversationTurn(role="assistant", content="Hello.", session_id="s1"))

    assert [("user", "你好"), ("assistant", "Hello.")] == [(one["role"], one["content"]) for one in consolidator.load_session("s1")]
    memory.close()
    (file,) = consolidator.transcripts.rglob("s1-*.jsonl")
    assert 2 == sum("content" in line for line in file.read_text("utf-8").splitlines())


# ------------------------------------------------------------------ learning


@pytest.mark.spec("S3-156", "S2-95")
@pytest.mark.parametrize(
    ("said", "type", "content"),
    [("我女儿叫小雨。", "FACT", "小雨"), ("From now on, always answer in English.", "RULE", "English")],
)
def test_a_turn_gives_candidates_with_type_subject_and_content(manager, said, type, content):
    """Without a model rules find them; said twice, they are there once; a correction is an update, with what it replaced."""
    (found,) = run(manager.extractor.extract_from_turn_v2(ConversationTurn(role="user", content=said, session_id="s1")))
    assert type == found["type"]
    assert content in found["content"]
    assert 0 <= found["importance"] <= 1
    assert not found["is_update"]
    assert [] == run(manager.extractor.extract_from_turn_v2({"role": "user", "content": "谢谢！", "session_id": "s1"}))


def test_a_correction_is_an_update(manager):
    """What it replaced is the hint."""
    run(manager.extractor.extract_from_turn_v2({"role": "user", "content": "I live in Bergen.", "session_id": "s1"}))
    (found,) = run(manager.extractor.extract_from_turn_v2({"role": "user", "content": "I live in Oslo now.", "session_id": "s2"}))

    assert found["is_update"]
    assert "I live in Bergen." == found["update_hint"]


@pytest.mark.spec("S3-157", "S3-137")
def test_the_end_of_a_session_makes_an_episode_and_statements(manager):
    """The episode has the goal and the calls of tools; what the user stated is learned, turns that were recorded are not stored twice."""
    said = [
        {"role": "user", "content": "Please fix tests/test_login.py. 我对青霉素过敏。"},
        {
            "role": "assistant",
            "content": "Fixed.",
            "tool_calls": [{"name": "bash", "input": {"command": "pytest tests/test_login.py"}, "id": "c1"}],
            "tool_results": [{"tool_use_id": "c1", "content": "4 passed"}],
        },
    ]
    run(manager.record_turn("user", said[0]["content"], session_id="s1"))
    episode = run(manager.on_session_end("s1", said))

    assert "s1" == episode.session_id
    assert ["bash"] == episode.tools_used == [node.tool_name for node in episode.action_nodes]
    assert "tests/test_login.py" in episode.entities
    assert episode.summary
    assert episode.goal
    assert 2 == len(manager.store.memory.search_traces(session="s1"))
    assert manager.store.search_semantic("青霉素过敏")
    assert run(manager.extractor.generate_episode([], "nothing was said")) is None


@pytest.mark.spec("S3-136", "S3-166", "S3-190", "S2-100", "S3-228", "T-28")
def test_before_a_conversation_is_shortened_memory_has_all_of_it(manager):
    """Over the limit the early messages go to memory first; then their summary stands in the episode and at the head of the rest."""
    brain = Brain("Earlier they spoke of the allergy and chose JWT.")
    context = ContextManager(brain, soft_limit=100, language="en")
    long = [{"role": ("user", "assistant")[n % 2], "content": f"message {n}: " + "words " * 10} for n in range(30)]
    long[2]["content"] = "我对花生过敏。"
    long[13]["content"] = "The assistant read config.yaml."

    short = run(context.compress_if_needed(long[:3], memory_manager=manager, session_id="s1"))
    assert short == long[:3]
    assert [] == manager.store.memory.search_traces(session="s1")
    kept = run(context.compress_if_needed(long, memory_manager=manager, session_id="s1"))
    assert long[-8:] == kept[1:]
    assert "chose JWT" in kept[0]["content"]
    assert 22 == len(manager.store.memory.search_traces(session="s1", limit=100))
    assert manager.store.search_semantic("花生过敏")
    (episode,) = manager.store.get_recent_episodes()
    assert ("context_compress", "Earlier they spoke of the allergy and chose JWT.") == (episode.source, episode.summary)
    without = run(ContextManager(Brain(), soft_limit=100).compress_if_needed(long))
    assert "message 0" in without[0]["content"]


@pytest.mark.spec("S2-63", "S3-228", "S3-17", "S3-22")
def test_a_session_hands_its_oldest_messages_to_memory(manager):
    """What is cut from the history is recorded and told; the messages that stay are the host's own."""
    sessions = openakita.SessionManager(manager)
    session = sessions.get("s1")
    session.max_messages = 8
    for number in range(9):
        run(session.add_message("user" if number % 2 == 0 else "assistant", f"第 {number} 条消息"))
    session.set(task="messages", branch="main")

    assert [f"第 {number} 条消息" for number in range(3, 9)] == [one["content"] for one in session.messages]
    assert 9 == len(manager.store.memory.search_traces(session="s1", limit=50))
    assert 1 == len(manager.store.get_recent_episodes())
    assert ("messages", {"branch": "main"}) == (session.current_task, dict(session.variables))
    assert 9 == len(openakita.SessionManager(manager).get("s1").messages)
    run(sessions.end("s1"))
    assert "session_end" in {one.source for one in manager.store.get_recent_episodes()}


# ------------------------------------------------------------------ retrieval


@pytest.mark.spec("S3-163")
@pytest.mark.parametrize("content", ["The gateway listens on port 8123.", "网关监听 8123 端口。"])
def test_the_score_is_the_documents_sum(manager, memory, clock, content):
    """0.4 relevance + 0.25 recency + 0.2 importance + 0.15 access frequency; a persona raises skills and mistakes by a fifth."""
    id = manager.add_memory(SemanticMemory(content=content, type="skill", importance_score=0.8))
    at = manager.store.db.find(id).id
    memory.feedback(at, "used")
    clock.advance(days=10)
    engine = RetrievalEngine(manager.store)

    (one,) = engine.retrieve_candidates("8123")
    assert one.score == pytest.approx(0.4 * one.relevance + 0.25 * one.recency + 0.2 * 0.8 + 0.15 * one.access_frequency)
    assert one.recency == pytest.approx(2.718281828 ** -(0.1 * 10), rel=1e-6)
    assert one.access_frequency == pytest.approx(0.6931471805 / 5)
    (raised,) = engine.retrieve_candidates("8123", active_persona="tech_expert")
    assert raised.score == pytest.approx(1.2 * one.score)
    item = manager.store.db.find(id)
    parts = engine._rerank([Candidate(item, 1.0), Candidate(item, 0.0)], "", None)
    assert parts[0].score - parts[1].score == pytest.approx(0.4)


@pytest.mark.spec("S3-159", "S3-138", "S2-96", "S3-52", "S3-248")
def test_retrieval_joins_several_ways_in_one_budget(manager, clock):
    """Statements, episodes and what is recent, each once, whole lines within the tokens; the last rounds tell what `it` is."""
    for number in range(30):
        manager.add_memory(SemanticMemory(content=f"Import job number {number} reads table t{number}. 导入任务 {number}。"))
    manager.store.save_episode(
        Episode(session_id="s1", summary="The import job was rewritten. 重写了导入任务。", goal="import job")
    )
    engine = manager.retriever

    found = engine.retrieve_candidates("import job 导入任务")
    assert len({one.item.id for one in found}) == len(found)
    assert {"semantic", "episodes", "recent"} <= {way for one in found for way in one.ways}
    text = manager.get_injection_context("import job 导入任务", max_tokens=200)
    assert "<yiku-memory" in text
    assert len(text) < 200 * 5
    assert all(line.endswith((")", ">", ".", "。")) for line in text.splitlines())
    clock.advance(days=30)
    assert "t17" in manager.get_injection_context("When does it run?", [{"role": "user", "content": "job number 17 table t17"}])
    assert "" == manager.get_injection_context("")
    assert "" == engine.retrieve("zebra 斑马")


# ------------------------------------------------------------------ tools


@pytest.mark.spec("S3-224", "S2-28")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_tools_keep_their_names_and_arguments(manager, language):
    """add_memory, search_memory, get_memory_stats and the second level; what the user did not say waits."""
    tools = Tools(manager, language)
    run(manager.record_turn("user", "我住在杭州。", session_id="s1"))
    run(manager.record_turn("user", "I like oolong tea.", session_id="s1"))
    calls = [{"name": "read_file", "input": {"path": "atlas.toml"}, "id": "c1"}]
    run(manager.record_turn("assistant", "ok", calls, [{"tool_use_id": "c1", "content": "retry_limit = 3"}], session_id="s1"))

    assert "杭州" in tools.call("add_memory", {"content": "用户住在杭州。", "type": "fact"})
    waits = tools.call("add_memory", {"content": "The user owns a boat.", "type": "fact", "importance": 0.9})
    assert ("confirms" if language == "en" else "确认") in waits
    assert "杭州" in tools.call("search_memory", {"query": "杭州"})
    assert "oolong" in tools.call("search_memory", {"query": "oolong tea"})
    assert "boat" not in tools.call("search_memory", {"query": "boat"})
    assert "杭州" not in tools.call("search_memory", {"query": "杭州", "type": "rule"})
    assert "retry_limit = 3" in tools.call("search_conversation_traces", {"keyword": "retry_limit"})
    assert "fts5" in tools.call("get_memory_stats")
    assert tools.call("consolidate_memories")
    assert {"add_memory", "search_memory", "get_memory_stats"} <= {*TOOLS} == {one["function"]["name"] for one in tools.openai()}
    for wrong in (("forget_all", {}), ("add_memory", {"content": "x"}), ("search_memory", {"query": "x", "limit": 3})):
        with pytest.raises(InvalidInput):
            tools.call(*wrong)


@pytest.mark.spec("S3-134", "S3-139", "S2-62", "S2-97", "S3-13")
def test_the_manager_is_made_of_its_parts(manager, memory, clock):
    """store, extractor, retriever, lifecycle, scratchpad; a night through it; counts; T-18: what is recalled often stays."""
    parts = {"store": "UnifiedStore", "extractor": "MemoryExtractor", "retriever": "RetrievalEngine"}
    parts |= {"lifecycle": "LifecycleManager", "scratchpad": "ScratchpadManager"}
    assert parts == {name: type(getattr(manager, name)).__name__ for name in parts}
    manager.start_session("s1")
    run(manager.record_turn("user", "我喜欢喝乌龙茶。"))
    twin = manager.add_memory("Backups run at three.")
    manager.add_memory(SemanticMemory(content="The lift is broken.", expires_at=clock() + timedelta(hours=1)))
    clock.advance(days=2)

    report = run(manager.consolidate_daily())
    assert report["finished"]
    assert report["counts"]["expired"] == 1
    assert [one["action"] for one in report["decisions"]]
    for _ in range(10):
        manager.get_injection_context("乌龙茶 backups")
    clock.advance(days=40)
    assert run(manager.consolidate_daily())["finished"]
    assert {"Backups run at three.", "我喜欢喝乌龙茶。"} <= {one.content for one in manager.store.search_semantic("backups 乌龙茶")}
    assert manager.store.get_semantic(twin)
    assert [] == manager.search_memory("lift", "fact")
    stats = manager.get_memory_stats()
    assert (2, "fts5", None, 1) == (stats["total"], stats["search_backend"], stats["degraded"], stats["conversation_turns"])
    assert manager.search_conversation_traces("乌龙茶", days_back=90)


def test_the_steps_of_a_night_can_be_called_one_by_one(manager, clock):
    """Duplicates, decay, expiry, pages."""
    night = DailyConsolidator(manager.store)
    kept = manager.add_memory("The staging server runs Debian 12.")
    manager.add_memory("The staging server runs Debian 12 now!")
    manager.add_memory(SemanticMemory(content="电梯坏了。", expires_at=clock() + timedelta(hours=1)))
    clock.advance(days=1)

    assert 0 <= run(night.deduplicate_batch()) <= 1
    assert 1 == night.cleanup_expired()
    assert night.cleanup_expired() == 0
    assert isinstance(night.compute_decay(), dict)
    assert 0 == run(night.process_unextracted_turns())
    assert "Debian" in run(night.refresh_memory_md()).read_text("utf-8")
    assert run(night.refresh_user_md()).name == "USER.md"
    assert night.daily_summaries.parent == manager.store.db.home / "reports"
    assert kept


# ------------------------------------------------------------------ prompts


@pytest.mark.spec("S3-178", "S3-219", "S2-99", "T-38")
def test_the_compiler_writes_a_file_for_each_target(home, clock):
    """With a brain it writes, without one rules do; .compiled_at is there; a folder that is no home's is refused."""
    with Memory(home, owner="user:mei", clock=clock):
        pass
    folder = home / "identity"
    folder.mkdir(exist_ok=True)
    (folder / "SOUL.md").write_text("# Soul\n\n- Be honest. 要诚实。\n- Never invent results.\n", "utf-8")
    (folder / "AGENT.md").write_text("# Work\n\n## Flow\n\n- Read first, then write.\n\n## Tools\n\n- Prefer ripgrep.\n", "utf-8")

    paths = run(PromptCompiler().compile_all(folder))
    assert {"soul_summary", "agent_core"} <= paths.keys()
    for target, path in paths.items():
        assert path == folder / "compiled" / f"{target.replace('_', '.')}.md"
        assert path.read_text("utf-8").strip()
    assert (folder / "compiled" / ".compiled_at").read_text("utf-8")
    (folder / "SOUL.md").write_text("# Soul\n\n- Be honest and kind.\n", "utf-8")
    brain = Brain('{"lines": ["Be honest and kind."]}')
    again = run(PromptCompiler(brain).compile_all(folder))
    assert brain.asked
    assert "honest and kind" in again["soul_summary"].read_text("utf-8")
    with pytest.raises(InvalidInput):
        run(PromptCompiler().compile_all(home))


@pytest.mark.spec("S2-61", "S2-64", "S2-101", "S2-99", "S3-16", "S3-15")
def test_the_agent_records_builds_a_prompt_and_answers(manager):
    """The message is on the disk before the model is asked; the prompt has the task and the guide; `off` recalls nothing by itself."""
    run(manager.record_turn("user", "我对花生过敏。", session_id="s0"))
    brain = Brain("好的。")
    agent = Agent(manager, brain)

    assert "好的。" == run(agent.chat("请修复登录页面", "s1"))
    (_, prompt), *_ = brain.asked
    assert "search_memory" in prompt
    assert "修复登录页面" in prompt
    assert [("assistant", "好的。"), ("user", "请修复登录页面")] == [
        (turn.role, turn.content) for turn in manager.store.memory.search_traces(session="s1")
    ]
    literal = PromptBuilder(manager.store.memory, auto_recall="off").build("What am I allergic to? 我对什么过敏？")
    dynamic = PromptBuilder(manager.store.db, auto_recall="always").build("What am I allergic to? 我对什么过敏？")
    assert [] == [section.name for section in literal.sections if section.name == "recalled"]
    assert "花生" in dynamic.text
    assert run(agent.identity.compile()) == {} or agent.identity.folder.exists()


# ------------------------------------------------------------------ a brain


def test_a_brains_answer_is_read_from_what_it_wraps_it_in():
    """Code blocks, words around, exactly NONE; what is no JSON is an error, so it is asked again."""
    schema = {"type": "array"}
    for text, value in (("[1]", [1]), ("```json\n[2]\n```", [2]), ("Here: [3] done", [3]), (" NONE ", [])):
        assert value == BrainChat(Brain(text)).ask([{"role": "user", "content": "x"}], schema).value
    with pytest.raises(ModelFailed):
        BrainChat(Brain("none of it is worth it")).ask([{"role": "user", "content": "x"}], schema)
    assert 5 == finished(5)

    async def inside() -> int:
        async def five() -> int:
            return 5

        return finished(five())

    assert 5 == run(inside())


@pytest.mark.spec("S3-227", "S2-92", "S2-90", "S3-230")
def test_the_modules_and_names_of_the_documents_are_there(manager):
    """types, manager, unified_store … each with its class."""
    folder = Path(openakita.__file__).parent
    names = "types manager unified_store storage search_backends vector_store extractor retrieval lifecycle consolidator"
    names += " daily_consolidator model_hub context_manager sessions agent"
    assert set() == {name for name in names.split() if not (folder / f"{name}.py").is_file()}
    for name in openakita.__all__:
        assert hasattr(openakita, name)
    assert manager.store.db.home.is_dir()
