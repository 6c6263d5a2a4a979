"""
SimpleMemory over a Yiku home: two memories found by their tags, feedback, a merge, and the tools of a model.

    python examples/simple_memory.py [HOME]
"""

import asyncio
import sys
import tempfile

from yiku_compat.simple_memory import ComponentFactory, CoreMemoryRecallTool, CoreMemoryRememberTool


async def main(home: str) -> None:
    runtime = ComponentFactory({"enable_simple_memory": True, "home": home, "search": "words"}).get_component("memory_runtime")
    dinner = await runtime.remember("event", "小明周五请大家吃火锅", "他在群里说的", ["小明", "火锅"], memory_scope="聚餐群")
    report = await runtime.remember("task", "小明每周一交周报", "经理要求", ["小明", "周报"], memory_scope="聚餐群")

    for memory in await runtime.comprehensive_recall("小明说晚上去吃火锅", memory_scope="聚餐群"):
        print(memory.hits, memory.memory_type, memory.judgment)

    new = {"memory_type": "knowledge", "judgment": "小明不吃香菜", "reasoning": "点菜时说过", "tags": ["小明", "香菜"]}
    await runtime.feedback([dinner], [new], [[dinner, report]], memory_scope="聚餐群")
    print(*(memory.judgment for memory in await runtime.recall("knowledge", "香菜要吗？", memory_scope="聚餐群")))
    print((await runtime.note_recall("火锅", memory_scope="聚餐群")).reason)

    scopes = {"group-1": "聚餐群"}
    print(await CoreMemoryRecallTool(runtime, scopes).run("香菜", conversation="group-1"))
    await CoreMemoryRememberTool(runtime, scopes).run("skill", "会煮火锅", "看过视频", ["火锅"], conversation="somebody-else")
    print(await CoreMemoryRecallTool(runtime, scopes).run("火锅吗", conversation="a-third"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else f"{folder}/home"))
