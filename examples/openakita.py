"""A day with memory under OpenAkita's names: record, find, compress, end a session, consolidate. Run: python examples/openakita.py HOME"""

import asyncio
import sys

from yiku_compat.openakita import MemoryManager, MemoryType, SemanticMemory, Tools


async def main(home: str) -> None:
    manager = MemoryManager(home, settings={"search_backend": "fts5"})

    # A conversation. Each turn is on the disk when record_turn returns; rules learn from it at once.
    manager.start_session("monday")
    await manager.record_turn("user", "我们要给登录服务选方案，比较一下 JWT 和 session。")
    await manager.record_turn(
        "assistant",
        "JWT 无状态，适合网关。",
        tool_calls=[{"name": "bash", "input": {"command": "make bench"}, "id": "c1"}],
        tool_results=[{"tool_use_id": "c1", "content": "jwt 1.2 ms, session 3.4 ms"}],
    )
    await manager.record_turn("user", "好，就用 JWT。以后回答都用中文。")

    # Statements. An update is a new version under the same id.
    id = manager.add_memory(
        SemanticMemory(content="用户喜欢用 Python 3.10", type=MemoryType.PREFERENCE, subject="用户", predicate="偏好")
    )
    manager.store.update_semantic(id, {"content": "用户喜欢用 Python 3.12"})
    print(manager.store.find_similar_semantic("用户", "偏好").content)

    # Before messages leave the context, memory has them.
    await manager.on_context_compressing([{"role": "user", "content": "服务器的端口是 8123。"}])

    # The end of the session: its story, what it states, the scratchpad.
    episode = await manager.on_session_end("monday")
    print(episode.to_markdown())

    # What belongs into the next prompt, and what the model asks for itself.
    print(manager.get_injection_context("登录用什么方案？Python 用哪个版本？"))
    tools = Tools(manager)
    print(tools.call("search_memory", {"query": "Python 版本", "type": "preference"}))
    print(tools.call("search_conversation_traces", {"keyword": "make bench"}))

    # The night.
    report = await manager.consolidate_daily()
    print("finished:", report["finished"])
    print(manager.get_memory_stats()["search_backend"])
    manager.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "openakita-home"))
