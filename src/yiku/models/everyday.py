"""
Mean vectors of everyday sentences, to estimate the language component of a vector.

A home knows it from its own texts, once it has some of a script (store/vectors/similarity.py). Until then these stand for them,
or a Chinese question would find any Chinese text before the English one that answers it. They are embedded once, and
their means lie beside the model's files.
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import TYPE_CHECKING

from yiku.models import prepare
from yiku.models.api import Embedder

if TYPE_CHECKING:
    from yiku.models.api import Vectors

FILE = "common.npy"
SENTENCES = (
    (
        "I went to the shop this morning",
        "Could you help me with this?",
        "We are meeting on Thursday afternoon",
        "My phone is new and works well",
        "The project needs two more weeks",
        "She likes music and long walks",
        "It rained all day yesterday",
        "Please write a short answer",
        "He works in an office in the city",
        "I had soup and bread for lunch",
        "The price went up again",
        "Our team talked about the plan",
    ),
    (
        "我今天早上去了商店",
        "你能帮我一下吗？",
        "我们周四下午开会",
        "我的手机是新的，很好用",
        "这个项目还要两个星期",
        "她喜欢音乐和散步",
        "昨天下了一整天雨",
        "请写一个简短的回答",
        "他在市里的一个办公室上班",
        "我午饭喝了汤，吃了面包",
        "价格又涨了",
        "我们团队讨论了计划",
    ),
)


def common(embedder: Embedder, folder: Path, dimensions: int) -> Vectors:
    """Return the mean vectors by script, (2, dimensions) float32, cached in the folder."""
    import numpy as np

    with contextlib.suppress(OSError, ValueError, EOFError):
        known: Vectors = np.load(folder / FILE, allow_pickle=False)
        if known.shape == (2, dimensions) and known.dtype == np.float32 and np.isfinite(known).all():
            return known
    made = np.stack([embedder.embed(some, "passage").mean(0) for some in SENTENCES]).astype(np.float32)
    kept = io.BytesIO()
    np.save(kept, made)
    with contextlib.suppress(OSError):  # a folder that cannot be written to: made anew the next time
        prepare.write(folder / FILE, kept.getvalue())
    return made
