"""
Train the local model to compare two statements: `python scripts/train_supersession.py FOLDER DATA [--check FILE…]`

Needs torch (`pip install torch`), the project and the local model. FOLDER keeps what was reached, so that a run that was
stopped goes on where it was; both runs take 40 minutes on two idle cores. Examples are the turns of bench/supersession:
something said earlier, later turns after which it no longer holds, and later turns after which it does; and the cases of
bench/conflicts and bench/corrections. A second run mixes in pairs of real talk, from the development data in DATA, in
which the earlier still holds: without it long turns about a task are taken for changes. With --check FILE… these cases
are left out, and it prints how well their pairs are told apart.

The model reads both texts at once. It is multilingual-e5-small with low-rank matrices (LoRA) of its own beside its linear
layers, an added vector for each of both texts, and a head of two layers.
"""

import argparse
import json
import math
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
import train_adapter
from torch import Tensor, nn
from train_adapter import padded

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "bench")]

import corrections  # noqa: E402  (after the path)
import datasets  # noqa: E402

from yiku.flows.find.superseded import PIECE_TOKENS, PIECES  # noqa: E402
from yiku.models import supersession  # noqa: E402
from yiku.models.supersession import EARLIER, EARLIER_TOKENS, LATER, LATER_TOKENS  # noqa: E402
from yiku.models.unigram import Tokenizer, fold  # noqa: E402
from yiku.models.weights import Weights  # noqa: E402
from yiku.rules.text import analyze, chunk  # noqa: E402

TALK = ROOT / "bench" / "supersession"
CASES = ROOT / "bench" / "corrections"
RANK, HIDDEN = 12, 64  # numbers between the two matrices, in all layers; and between those of the head
BATCH, BUCKETS = 48, 8  # pairs; batches whose pairs are sorted by length together
RATE, DROPPED, DECAY = 1e-3, 0.1, 0.01
COUNTS = 2.0  # of a pair in which the later supersedes the earlier
UNRELATED = 1_200  # pairs of cases whose later turn says nothing of the matter
REAL = ("longmemeval_s_dev50.json.xz", "lifebench_zh_dev.json.xz")  # MIT, Apache-2.0
UPDATES = "pdat"  # in the name of a type of questions whose answer changed
REAL_TURNS, REAL_CHARS, REAL_SAMPLED = 800, 400, 150  # of a case: turns of the user, characters compared, turns drawn
NEAREST = 2  # earlier turns that share most words with one
REAL_SHARE, REAL_RATE = 0.4, 5e-4  # of a batch of the second run, and how fast it learns
CASES_COUNT = 2  # times that a pair of a case is read for each time of another: there turns are as they are in use
BURIED, LENGTHENED = 0.1, 0.2  # share of the turns that end something, and of the others, that get another turn beside them
WARM_UP, SAVE_EVERY = 30, 20  # steps
OTHERS = ("other_person", "near")  # sorts of later turns that are somebody's or something's own statement


@dataclass(frozen=True, slots=True)
class Pair:
    """Token ids of both texts, whether the later supersedes the earlier, and of which case and statement it is."""

    earlier: list[int]
    later: list[int]
    supersedes: bool
    of: tuple[str, int] = ("", 0)


class Comparing(train_adapter.Model):
    """The model with segments and a head: the log of the odds that the later supersedes the earlier."""

    def __init__(self, weights: Weights) -> None:
        super().__init__(weights, 0, RANK)
        self.segments = nn.Parameter(torch.zeros(3, self.width))
        self.hidden, self.out = nn.Linear(5 * self.width, HIDDEN), nn.Linear(HIDDEN, 1)

    def compare(self, pairs: Sequence[Pair]) -> Tensor:
        ids, mask = padded([[*pair.earlier, *pair.later] for pair in pairs])
        segments = torch.zeros_like(ids)
        for row, pair in enumerate(pairs):
            segments[row, : len(pair.earlier)] = EARLIER
            segments[row, len(pair.earlier) : len(pair.earlier) + len(pair.later)] = LATER
        x = self.tokens(self.words[ids] + self.places[: ids.shape[1]] + self.segments[segments], mask)
        shares = [(segments == segment).float()[..., None] for segment in (EARLIER, LATER)]
        earlier, later = ((x * share).sum(1) / share.sum(1) for share in shares)
        read = torch.cat([x[:, 0], earlier, later, earlier - later, earlier * later], 1)
        odds: Tensor = self.out(F.gelu(self.hidden(F.dropout(read, DROPPED, self.training))))
        return odds[:, 0]

    def learned(self) -> dict[str, Tensor]:
        names = {name for name, _ in self.named_parameters()}
        return {name: value for name, value in self.state_dict().items() if name in names}


def of_talk(files: Sequence[Path], tokenizer: Tokenizer, chance: random.Random) -> Iterator[Pair]:
    """Yield the pairs of bench/supersession: of each statement what ends it, what does not, and something of another matter."""
    items = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]

    def among_others(text: str, often: float) -> str:
        """With something else said in the same breath, as often as that: so that length tells nothing, and matters may be buried."""
        if chance.random() > often:
            return text
        parts = [text, chance.choice(chance.choice(items)["keeps"])[1]]
        return " ".join(chance.sample(parts, 2))

    for item in items:
        for later in item["ends"]:
            yield _pair(tokenizer, item["earlier"], among_others(later, BURIED), supersedes=True)
        for _, later in item["keeps"]:
            yield _pair(tokenizer, item["earlier"], among_others(later, LENGTHENED), supersedes=False)
        other = chance.choice(items)
        if other is not item:
            yield _pair(tokenizer, item["earlier"], chance.choice(other["ends"]), supersedes=False)
        for sort, earlier in item["keeps"]:
            if sort in OTHERS and chance.random() < 0.5:
                yield _pair(tokenizer, earlier, chance.choice(item["ends"]), supersedes=False)


def of_cases(cases: Sequence[dict[str, Any]], tokenizer: Tokenizer, chance: random.Random, unrelated: int | None) -> list[Pair]:
    """Return the pairs of turns of the user in cases; `unrelated`: how many whose later turn says nothing of the matter, or all."""
    found: list[Pair] = []
    others: list[Pair] = []
    for case in cases:
        said, first = case["said"], {*case["first"]}
        outdated = {value["turn"] for value in case["outdated"]}
        holds, ends = ({*case["holds"]} | first) - outdated, {(earlier, later) for later, earlier in case["retires"]}
        own = [place for place, turn in enumerate(said) if turn.get("role", "user") == "user"]
        for earlier, later in ((one, other) for one in own for other in own if one < other):
            yes = (earlier in outdated and later in first) or (earlier, later) in ends
            if yes or earlier in holds:
                texts = said[earlier]["text"], said[later]["text"]
                pair = _pair(tokenizer, *texts, supersedes=yes, of=(case["id"], earlier))
                (found if yes or later in holds | outdated | first else others).append(pair)
    chance.shuffle(others)
    return found + others[:unrelated]


def _pair(tokenizer: Tokenizer, earlier: str, later: str, *, supersedes: bool, of: tuple[str, int] = ("", 0)) -> Pair:
    first = tokenizer.encode(fold(earlier))[:EARLIER_TOKENS]
    return Pair(first, tokenizer.encode(fold(later))[1:][:LATER_TOKENS], supersedes, of)


def of_real_talk(folder: Path, tokenizer: Tokenizer, chance: random.Random) -> Iterator[Pair]:
    """Yield pairs of turns of real talk that share words or stand together: in nearly all of them the earlier still holds."""
    for name in REAL:
        for case in datasets.read(str(folder / name)):
            if any(UPDATES in str(question.type) for question in case.questions):
                continue
            said = [turn.text for session in case.sessions for turn in session.turns if turn.role == "user" and turn.text.strip()]
            said = said[:REAL_TURNS]
            words = [frozenset(analyze.tokens(text[:REAL_CHARS]).words) for text in said]
            for later in chance.sample(range(1, len(said)), min(REAL_SAMPLED, len(said) - 1)):
                alike = sorted(range(later), key=lambda n: -len(words[n] & words[later]) / (1 + len(words[n] | words[later])))
                for earlier in sorted({*alike[:NEAREST], later - 1}):
                    yield _pair(tokenizer, said[earlier], _one_piece(said[later], chance), supersedes=False)


def _one_piece(text: str, chance: random.Random) -> str:
    return chance.choice(chunk.windows(text, PIECE_TOKENS)[:PIECES])


def batches(pairs: Sequence[Pair], seed: int, size: int = BATCH) -> Iterator[list[Pair]]:
    """Yield batches without end; pairs of a batch are of similar length, so little is padded."""
    chance = random.Random(seed)
    while True:
        order = chance.sample(pairs, len(pairs))
        for first in range(0, len(order) - size + 1, BUCKETS * size):
            part = sorted(order[first : first + BUCKETS * size], key=lambda pair: len(pair.earlier) + len(pair.later))
            groups = [part[at : at + size] for at in range(0, len(part) - size + 1, size)]
            yield from chance.sample(groups, len(groups))


def with_real(pairs: Sequence[Pair], real: Sequence[Pair], seed: int) -> Iterator[list[Pair]]:
    """Yield batches of which a share is real talk."""
    share = round(REAL_SHARE * BATCH)
    for some, others in zip(batches(pairs, seed, BATCH - share), batches(real, seed, share), strict=True):
        yield some + others


def train(model: Comparing, source: Iterator[list[Pair]], saved: Path, *, steps: int, seed: int, rate: float) -> None:
    """Train, and save the state every SAVE_EVERY steps; go on from a saved state."""
    learned = list(model.parameters())
    optimizer = torch.optim.AdamW(learned, lr=rate, weight_decay=DECAY)
    first = 0
    if saved.exists():
        state = torch.load(saved)
        model.load_state_dict(state["model"], strict=False)
        optimizer.load_state_dict(state["optimizer"])
        first = state["steps"]
    begun, log = time.monotonic(), list[float]()
    model.train()
    for step in range(steps):
        batch = next(source)
        if step < first:
            continue
        torch.manual_seed(seed * 1_000_003 + step)
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1, (step + 1) / WARM_UP) * (0.5 + 0.5 * math.cos(math.pi * step / steps))
        yes = torch.tensor([float(pair.supersedes) for pair in batch])
        loss = F.binary_cross_entropy_with_logits(model.compare(batch), yes, pos_weight=torch.tensor(COUNTS))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learned, 1.0)
        optimizer.step()
        log.append(loss.item())
        if (step + 1) % SAVE_EVERY == 0 or step + 1 == steps:
            state = {"model": model.learned(), "optimizer": optimizer.state_dict(), "steps": step + 1}
            torch.save(state, saved.with_suffix(".part"))
            saved.with_suffix(".part").rename(saved)
            print(f"step {step + 1} of {steps}, {time.monotonic() - begun:.0f} s: loss {np.mean(log[-100:]):.3f}", flush=True)


@torch.no_grad()
def check(model: Comparing, pairs: Sequence[Pair]) -> None:
    """Print how well pairs are told apart, and which share of the superseded statements is found where so many others are, too."""
    model.eval()
    order = sorted(range(len(pairs)), key=lambda n: len(pairs[n].earlier) + len(pairs[n].later))
    scores = np.zeros(len(pairs))
    for at in range(0, len(order), BATCH):
        scores[order[at : at + BATCH]] = model.compare([pairs[n] for n in order[at : at + BATCH]]).numpy()
    best: dict[tuple[str, int], tuple[bool, float]] = {}
    for pair, score in zip(pairs, scores.tolist(), strict=True):
        known = best.get(pair.of, (False, -math.inf))
        best[pair.of] = known[0] or pair.supersedes, max(known[1], score)
    gone = np.array([score for yes, score in best.values() if yes])
    held = np.sort([score for yes, score in best.values() if not yes])[::-1]
    shown = []
    for share in (0.01, 0.02, 0.05, 0.1):
        from_here = held[int(share * len(held))]
        shown.append(f"{100 * (gone > from_here).mean():.0f} % at {share:.0%} ({1 / (1 + math.exp(-from_here)):.3f})")
    print(
        f"{len(gone)} superseded, {len(held)} hold; area {(gone[:, None] > held).mean():.3f}; found", ", ".join(shown), flush=True
    )


def write(model: Comparing, file: Path) -> None:
    """Write the model, see yiku.models.supersession."""
    parts = {"segments": model.segments, "hidden": model.hidden.weight.T, "hidden.bias": model.hidden.bias}
    parts |= {"out": model.out.weight[0], "out.bias": model.out.bias}
    halves = {name: value.detach().numpy().astype(np.float16) for name, value in parts.items()}
    np.savez(file, **halves, **train_adapter.packed(model, 1.0))


def main() -> None:
    """Train, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("data", type=Path, metavar="DATA", help="the folder of the development data")
    parser.add_argument("--real-steps", type=int, default=220)
    parser.add_argument("--steps", type=int, default=650)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--check", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--out", type=Path, default=supersession.FILE, metavar="FILE")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(given.seed)
    given.folder.mkdir(parents=True, exist_ok=True)
    weights, tokenizer = train_adapter.load()
    model, chance = Comparing(weights), random.Random(given.seed)
    left_out = {file.resolve() for file in given.check}
    talk = [file for file in sorted(CASES.glob("talk*.jsonl")) if file not in left_out]
    cases = [*corrections.known(()), *(json.loads(line) for file in talk for line in file.read_text("utf-8").splitlines())]
    pairs = [*of_talk(sorted(TALK.glob("*.jsonl")), tokenizer, chance)]
    pairs += CASES_COUNT * of_cases(cases, tokenizer, chance, UNRELATED)
    held = [json.loads(line) for file in given.check for line in file.read_text("utf-8").splitlines()]
    print(f"{len(pairs)} pairs, in {sum(pair.supersedes for pair in pairs)} of which the later supersedes the earlier")
    train(model, batches(pairs, given.seed), given.folder / "state.pt", steps=given.steps, seed=given.seed, rate=RATE)
    real = [*of_real_talk(given.data, tokenizer, chance)]
    print(f"{len(real)} pairs of real talk", flush=True)
    mixed = with_real(pairs, real, given.seed + 1)
    train(model, mixed, given.folder / "real.pt", steps=given.real_steps, seed=given.seed + 1, rate=REAL_RATE)
    if held:
        check(model, of_cases(held, tokenizer, chance, None))
    write(model, given.out)


if __name__ == "__main__":
    main()
