"""The manager of the notes memory, its watchers, configuration, application calls, documents, skills and answers."""

import asyncio
import json
import time
from datetime import date

import pytest
from bitwise_homes import OFF, Provider, workspace
from models import server as fake

from yiku.errors import InvalidInput
from yiku_compat.bitwise import BitwiseAI, Config, MemoryManager, config, load
from yiku_compat.bitwise.core import DocumentManager, RAGEngine, SkillIndexer
from yiku_compat.bitwise.core.memory import FileWatcher, MemoryDisabled, PollingFileWatcher
from yiku_compat.bitwise.tools import TOOLS

LONG_S = 20.0  # what nobody waits for


def until(condition):
    """Wait for what another thread does."""
    end = time.monotonic() + LONG_S
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


@pytest.fixture
def manager(home, clock):
    with workspace(home, None, clock) as manager:
        yield manager


@pytest.fixture
def ai(home, clock):
    with BitwiseAI(OFF, workspace_dir=home, clock=clock) as ai:
        yield ai


# ------------------------------------------------------------------ the manager


@pytest.mark.spec("S4-40", "S4-41", "S4-42", "S4-10", "S4-13")
def test_a_manager_makes_its_workspace_with_both_levels(home, clock, tmp_path):
    """The paths are those of the document; a database elsewhere is refused."""
    manager = MemoryManager(str(home), home / "memory.db", Provider(), clock=clock)
    assert not home.exists()
    manager.initialize()

    assert (home / "memory" / "2026-03-01.md", home / "MEMORY.md") == (
        manager.get_short_term_memory_path(),
        manager.get_long_term_memory_path(),
    )
    assert home / "memory" / "2026-02-09.md" == manager.get_short_term_memory_path("2026-02-09")
    assert home / "memory" / "2026-02-09.md" == manager.get_short_term_memory_path(date(2026, 2, 9))
    manager.close()
    with pytest.raises(InvalidInput):
        MemoryManager(home, tmp_path / "elsewhere" / "memory.db")
    with pytest.raises(InvalidInput):
        manager.get_short_term_memory_path("yesterday")


@pytest.mark.spec("S4-43")
def test_an_entry_goes_to_the_log_of_its_day_with_what_is_known_of_it(manager):
    """Today's, or that of the day which is named; it is found at once, and asynchronously."""
    manager.append_to_short_term("Learned the ARM instructions today.", metadata={"source": "chat"})
    manager.append_to_short_term("学习了乘法指令。", "2026-02-09")
    manager.append_to_short_term("And the barrel shifter.", date(2026, 2, 9))
    today = manager.get_short_term_memory_path().read_text()
    other = manager.get_short_term_memory_path("2026-02-09").read_text()

    assert "Learned the ARM" in today and '{"source": "chat"}' in today and "09:00:00" in today
    assert other.index("学习了乘法指令。") < other.index("And the barrel shifter.")
    assert "memory/2026-02-09.md" == asyncio.run(manager.search("乘法指令"))[0].path


@pytest.mark.spec("S4-44")
def test_a_lasting_note_stands_once_in_the_long_term_file(manager):
    """With its summary; what a person wrote there stays."""
    manager.get_long_term_memory_path().write_text("# Mine 我的\n\nKeep this.\n")
    for _ in range(2):
        manager.promote_to_long_term("Rd and Rm must differ. Rd 和 Rm 不能相同。", "ARM multiply")
    text = manager.get_long_term_memory_path().read_text()

    assert text.startswith("# Mine 我的\n\nKeep this.\n")
    assert (1, 1) == (text.count("Rd and Rm must differ."), text.count("ARM multiply"))


@pytest.mark.spec("S4-45", "S4-11")
def test_old_logs_move_to_the_archive_whole_and_once(manager, home):
    """They are found there; a second call changes nothing, nor does it write anything into MEMORY.md."""
    for day in ("2026-02-10", "2026-02-28"):
        manager.append_to_short_term(f"The build of {day} was green. {day} 构建通过。", day)
    before = manager.get_short_term_memory_path("2026-02-10").read_text()
    done = manager.compact_short_term(7)

    assert {"memory/2026-02-10.md": "memory/archive/2026-02-10.md"} == done.archived
    assert before == (home / "memory" / "archive" / "2026-02-10.md").read_text()
    assert {} == manager.compact_short_term(7).archived
    assert not manager.get_long_term_memory_path().exists()
    assert "memory/archive/2026-02-10.md" in {one.path for one in manager.search_sync("2026-02-10 build 构建", 5, 0.0)}


@pytest.mark.spec("S4-47", "S4-12")
def test_a_sync_reads_what_changed_and_a_search_does_so_by_itself(manager, home):
    """Added, changed and removed files are named; `force` reads all of them."""
    (home / "memory").mkdir(exist_ok=True)
    log = home / "memory" / "2026-02-01.md"
    log.write_text("The meeting is in room Falcon. 会议在猎鹰室。\n")
    added = asyncio.run(manager.sync())
    log.write_text("The meeting is in room Osprey. 会议在鱼鹰室。\n")
    assert "Osprey" in manager.search_sync("Which room is the meeting in?")[0].text
    forced = asyncio.run(manager.sync(force=True))
    log.unlink()
    removed = asyncio.run(manager.sync())

    assert (("memory/2026-02-01.md",), 1) == (tuple(added.added), added.chunks)
    assert (1, ("memory/2026-02-01.md",)) == (forced.unchanged, tuple(removed.removed))
    assert [] == manager.search_sync("鱼鹰室")


@pytest.mark.spec("S4-48", "S4-65")
def test_a_skill_is_found_by_its_text_and_by_what_is_known_of_it(manager, tmp_path):
    """One file, a folder of them, or all below a folder."""
    skills = tmp_path / "skills"
    (skills / "assembler").mkdir(parents=True)
    (skills / "assembler" / "SKILL.md").write_text("# Assembler\n\nChecks operand registers. 检查操作数寄存器。\n")
    (skills / "linker.md").write_text("# Linker\n\nJoins object files.\n")
    found = manager.index_skill(skills / "linker.md", {"name": "Linker", "description": "relocation of symbols 符号重定位"})
    indexer = SkillIndexer(manager)
    every = indexer.index_all(skills)

    assert ("skill", "skills/linker.md", 1) == (found.source, found.path, found.chunks)
    assert 2 == len(every)
    assert "skills/linker.card.md" == indexer.search("符号重定位")[0].path
    assert "skills/assembler/SKILL.md" == indexer.search("Which registers are checked? 操作数")[0].path
    assert {"skill"} == {one.source for one in indexer.search("registers symbols")}


@pytest.mark.spec("S4-49", "S4-65", "S4-81")
def test_documents_are_added_listed_found_and_removed(manager, tmp_path):
    """A text under a name, a file, a folder."""
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "arm.md").write_text("The barrel shifter is free. 桶形移位器是免费的。\n")
    documents = DocumentManager(manager)
    documents.add_text("MUL writes the product to Rd. 乘法写入 Rd。", "manual.md")
    manager.index_document("plain", "The carry flag is kept. 进位标志保持不变。")
    added = documents.add_folder(tmp_path / "books")
    manager.append_to_short_term("The product was written.")

    assert {"documents/manual.md", "documents/plain.md", added[0].path} == {*documents.sources()}
    assert "documents/plain.md" == documents.search("进位标志")[0].path
    assert {"document"} == {one.source for one in documents.search("product written")}
    assert "removed" == documents.remove("manual.md").status
    assert [] == documents.search("乘法写入")


@pytest.mark.spec("S4-65")
def test_an_answer_quotes_passages_with_their_files(manager):
    """Fenced, within a budget, with a model of the host or without one."""
    manager.index_document("mul.md", "Rd and Rm must differ in MUL. Rd 和 Rm 不能相同。")
    asked = []
    engine = RAGEngine(manager, lambda prompt: asked.append(prompt) or "They must differ.")

    assert "They must differ." == engine.query("Rd 和 Rm 可以相同吗？")
    assert asked[0].startswith("<yiku-memory") and asked[0].endswith("Rd 和 Rm 可以相同吗？")
    assert "documents/mul.md" in asked[0] and "documents/mul.md" == engine.retrieve("Rd and Rm")[0].path
    assert "must differ" in RAGEngine(manager).query("Rd and Rm in MUL")
    assert "xyzzy" == RAGEngine(manager).prompt("xyzzy")


# ------------------------------------------------------------------ watchers


@pytest.mark.spec("S4-50", "S4-51", "S4-52", "S4-53", "S4-87")
@pytest.mark.parametrize("kind", [FileWatcher, PollingFileWatcher])
def test_a_watcher_tells_of_changes_together_once_they_are_quiet(kind, tmp_path):
    """Of made, changed, renamed and removed files, below folders that are added; of none that is removed, or after the end."""
    calls = []
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    for folder in (first, second, third):
        folder.mkdir()
    watcher = kind([first], calls.append, debounce_ms=100)
    watcher.start()
    watcher.start()
    (first / "a.md").write_text("one 一")
    (first / "b.md").write_text("two")
    assert until(lambda: {str(first / "a.md"), str(first / "b.md")} <= {path for paths in calls for path in paths})
    watcher.add_path(second)
    fresh = first / "swap.md"
    fresh.write_text("an editor saves so")
    fresh.rename(first / "a.md")
    (second / "c.md").write_text("three")
    (second / "no.bin").write_text("not told")
    assert until(lambda: str(second / "c.md") in {path for paths in calls for path in paths})
    assert str(second / "no.bin") not in {path for paths in calls for path in paths}
    watcher.remove_path(second)
    watcher.add_path(third)
    (second / "d.md").write_text("four")
    (third / "e.md").write_text("five")
    assert until(lambda: str(third / "e.md") in {path for paths in calls for path in paths})
    assert str(second / "d.md") not in {path for paths in calls for path in paths}
    watcher.stop()
    assert not watcher.is_running
    count = len(calls)
    (first / "f.md").write_text("six")
    assert count == len(calls)
    with pytest.raises(InvalidInput):
        kind([first], calls.append, debounce_ms=0)


@pytest.mark.spec("S4-53")
def test_who_writes_all_the_time_puts_nothing_off_for_ever(tmp_path):
    """The longest wait is ten times the debounce; what a callback raises ends nothing."""
    calls = []

    def tell(paths):
        calls.append(paths)
        raise RuntimeError("busy")

    watcher = FileWatcher([tmp_path], tell, debounce_ms=300)
    watcher.start()
    assert 1000 == 1000 * FileWatcher([tmp_path], tell).debounce_s
    end = time.monotonic() + LONG_S
    while len(calls) < 2 and time.monotonic() < end:
        (tmp_path / "a.md").write_text(str(time.monotonic()))
        time.sleep(0.01)
    watcher.stop()

    assert len(calls) >= 2
    assert "busy" in watcher.trouble


# ------------------------------------------------------------------ configuration


@pytest.mark.spec("S4-67", "S4-69", "S4-70", "S4-71", "S4-72", "S4-73")
def test_the_example_file_is_the_default(tmp_path):
    """Its placeholders are no keys; every name is that of the format."""
    example = config.Path(config.__file__).with_name("config.json.example")
    found = load(example)

    assert Config() == found
    assert json.loads(example.read_text()) == {
        part: {name: value for name, value in values.items() if name != "base_url"}
        for part, values in json.loads(found.to_json()).items()
    }
    assert ("gpt-4o-mini", "", "text-embedding-3-small", "") == (
        found.llm.model, found.llm.api_key, found.embedding.model, found.embedding.api_key,
    )  # fmt: skip
    assert (True, "~/.bitwiseai", "~/.bitwiseai/memory.db") == (
        found.memory.enabled, found.memory.workspace_dir, found.memory.db_path,
    )  # fmt: skip


@pytest.mark.spec("S4-74", "S4-75", "S4-76", "S4-77", "S4-78")
def test_each_setting_takes_effect(home, clock):
    """Vectors off, other weights and limits, another retention; a size that cannot be had is refused."""
    assert (True, 400, 80) == (Config().memory.vector_enabled, Config().memory.chunking.tokens, Config().memory.chunking.overlap)
    hybrid = Config().memory.hybrid_search
    assert (True, 0.7, 0.3, 0.5) == (hybrid.enabled, hybrid.vector_weight, hybrid.text_weight, hybrid.min_score)
    assert (True, 1000, True, 7) == (
        Config().memory.sync.watch, Config().memory.sync.watch_debounce_ms,
        Config().memory.short_term.enabled, Config().memory.short_term.retention_days,
    )  # fmt: skip
    given = {
        "memory": {
            "vector_enabled": False,
            "hybrid_search": {"min_score": 0.95},
            "sync": {"watch": True, "watch_debounce_ms": 100},
            "short_term": {"enabled": False, "retention_days": 3},
        }
    }
    with BitwiseAI(given, workspace_dir=home, embedding_provider=Provider(), clock=clock) as ai:
        settings = ai.memory_manager.storage.memory.settings
        assert (3, 0.1, "words") == (settings.daily_days, settings.watch_debounce_s, settings.search)
        assert (0.95, None) == (ai.memory_manager.searcher.config.min_score, ai.get_memory_stats()["embedding"])
        with pytest.raises(MemoryDisabled):
            ai.append_to_memory("short")
        ai.append_to_memory("long 长期", to_long_term=True)
        assert ai.search_memory("长期")
    with pytest.raises(MemoryDisabled):
        BitwiseAI({"memory": {"enabled": False}}).append_to_memory("nothing")


@pytest.mark.parametrize(
    "given",
    [
        "[]", "{", '{"memory": {"chunking": {"tokens": 512}}}', '{"vector_db": {}}', '{"memory": {"enabled": "yes"}}', '{"memory": 7}',
        '{"memory": {"hybrid_search": {"min_score": 2}}}', '{"llm": {"model": 7}}',
    ],
)  # fmt: skip
def test_a_wrong_configuration_is_named(given, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(given)
    with pytest.raises(InvalidInput, match=r"config\.json"):
        load(path)
    with pytest.raises(InvalidInput):
        load(tmp_path / "none.json")


@pytest.mark.spec("S4-70", "S4-69")
def test_keys_of_the_configuration_name_the_models(home, clock):
    """Both endpoints; no key is shown in what is printed."""
    with fake.serving() as server:
        given = {"llm": {"api_key": "sk-chat-123456"}, "embedding": {"api_key": "sk-embed-123456", "base_url": server.url}, **OFF}
        with BitwiseAI(given, workspace_dir=home, clock=clock) as ai:
            ai.add_text("The heron stood in the pond.", "a.md")
            assert "documents/a.md" == ai.search_memory("heron")[0].path
            settings = ai.memory_manager.storage.memory.settings
            assert ("gpt-4o-mini", "sk-chat-123456") == (settings.chat_model, settings.chat_key.reveal())
            assert {"Bearer sk-embed-123456"} == {headers["Authorization"] for headers in server.headers}
            assert "123456" not in repr(ai.config) + ai.config.to_json() + str(ai.get_memory_stats())


# ------------------------------------------------------------------ the application


@pytest.mark.spec("S4-79", "S4-80", "S4-82")
def test_the_calls_of_the_application(ai, home, clock):
    """Short-term by default, long-term on request, found in both languages, archived after their days."""
    ai.append_to_memory("Learned the ARM instructions. 今天学习了 ARM 指令。")
    ai.append_to_memory("ARM multiply: Rd and Rm must differ. ARM 乘法：Rd 和 Rm 不能相同。", to_long_term=True)
    for question in ("Which registers must differ?", "哪两个寄存器不能相同？Rd 和 Rm"):
        assert "MEMORY.md" == ai.search_memory(question, max_results=1)[0].path
    assert len(ai.search_memory("ARM", max_results=2, min_score=0)) == 2
    clock.advance(days=8)

    assert {"memory/2026-03-01.md": "memory/archive/2026-03-01.md"} == ai.compact_memory(days_to_keep=7).archived
    assert {} == ai.compact_memory().archived


@pytest.mark.spec("S4-83", "S4-81", "S4-66")
def test_the_statistics_say_what_is_there(ai, home):
    """Files, chunks, both levels, documents, whether it is watched, and an old database that lies beside."""
    ai.append_to_memory("今天学习了 ARM 指令")
    ai.append_to_memory("Rd and Rm must differ.", to_long_term=True)
    ai.add_text("MUL writes to Rd.", source="manual.md")
    (home / "memory.db").write_bytes(b"old")
    stats = ai.get_memory_stats()
    wanted = {
        "files": 3,
        "chunks": 3,
        "short_term_files": 1,
        "long_term": True,
        "documents": 1,
        "skills": 0,
        "vector_enabled": True,
    }

    assert wanted == {name: stats[name] for name in wanted}
    assert (False, str(home), str(home / "memory.db")) == (stats["watching"], stats["workspace_dir"], stats["old_database"])
    assert b"old" == (home / "memory.db").read_bytes()
    assert {"append_to_memory", "search_memory", "get_memory_stats"} == {*TOOLS.values()}


@pytest.mark.spec("S4-77", "S4-87")
def test_the_application_follows_its_files(home):
    """An edit is in the index without a call, while it runs."""
    with BitwiseAI({"memory": {"sync": {"watch_debounce_ms": 100}}}, workspace_dir=home) as ai:
        assert until(lambda: ai.get_memory_stats()["watching"])
        (home / "MEMORY.md").write_text("The bittern calls at dusk. 麻鳽在黄昏鸣叫。\n")
        assert until(lambda: ai.memory_manager.storage.search_fts("bittern"))
