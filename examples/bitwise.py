"""
A notes memory by its own names: what is written down, found, added, archived, counted.

    python examples/bitwise.py [FOLDER]     a workspace; by default a temporary one
"""

import sys
import tempfile
from pathlib import Path

from yiku_compat.bitwise import BitwiseAI


def main(folder: Path) -> None:
    """Make the calls of the design, one after the other."""
    with BitwiseAI({"memory": {"sync": {"watch": False}}}, workspace_dir=folder) as ai:
        ai.append_to_memory("Read about the multiply instructions today. 今天读了乘法指令。", to_long_term=False)
        ai.append_to_memory("ARM multiply: Rd and Rm must differ. 乘法指令约束：Rd 和 Rm 不能相同。", to_long_term=True)
        for found in ai.search_memory("Which registers must differ? 乘法指令约束", max_results=5):
            print(f"{found.path}:{found.start_line}-{found.end_line}  {found.score:.2f}  {found.text.splitlines()[-1]}")
        added = ai.add_text("MUL Rd, Rm, Rs writes the low 32 bits of the product to Rd.", source="manual.md")
        print(added.path, added.status, "·", ai.search_memory("Where do the low bits of the product go?")[0].path)
        print(len(ai.compact_memory(days_to_keep=7).archived), "logs archived")
        stats = ai.get_memory_stats()
        print(stats["files"], "files,", stats["chunks"], "chunks,", stats["documents"], "document")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary) / "workspace")
