"""
Fit the weights by which a clause is judged worth keeping: `python scripts/fit_worth.py DATA_FOLDER [--check]`

The marks of bench/learning/worth.tsv say, by the hash of a turn and the place of a clause in it, whether a reader would keep the
clause; the texts lie in the data folder. Printed is what cross-validation gives on the clauses that were drawn evenly:
how many of those to keep are kept where so many of the kept ones are right. Without --check the weights of all marks are
written to rules/lexicon/weights.py.
"""

import argparse
import hashlib
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "bench")]

import marked_talk  # noqa: E402  (after the path)

from yiku.rules.learning import drafts, worth  # noqa: E402

MARKS = ROOT / "bench" / "learning" / "worth.tsv"
WEIGHTS = ROOT / "src" / "yiku" / "rules" / "lexicon" / "weights.py"
SEEN = 3  # clauses that have a feature, at least
RIDGE, LASSO = 2.0, 0.6
ROUNDS = 250
FOLDS = 5
PRECISION = 0.87  # of what is kept; readers differ about one clause in ten themselves
SHOWN = (0.9, 0.85, 0.8, 0.75, 0.7)
HEAD = '''"""Written by scripts/fit_worth.py from marks of real talk; do not edit. rules/learning/worth.py says what a feature is."""

# fmt: off
# ruff: noqa

ENOUGH = {enough:.3f}
WEIGHTS = {{
'''


@dataclass(frozen=True, slots=True)
class Mark:
    """A clause that was judged: its features, whether to keep it, how it was drawn, and the turn that it comes from."""

    features: frozenset[str]
    keep: bool
    drawn: str  # evenly, or one of those that weights of fewer marks held for likely or unsure
    turn: str


def marks(folder: Path) -> list[Mark]:
    """The judged clauses that the reader of language finds where they were marked."""
    wanted: dict[str, dict[tuple[int, int], tuple[str, str]]] = defaultdict(dict)
    for line in MARKS.read_text("utf-8").splitlines()[1:]:
        turn, start, end, verdict, drawn = line.split("\t")
        wanted[turn][int(start), int(end)] = verdict, drawn
    found, seen = [], set[str]()
    for path in sorted(folder.glob("*.xz")):
        for said in marked_talk.said(path):
            turn = hashlib.sha256(said.text.encode()).hexdigest()[:16]
            if turn in wanted and turn not in seen and said.role == "user":
                seen.add(turn)
                for offset, part, clause in drafts.clauses_of(said.text):
                    if judged := wanted[turn].get((offset + clause.start, offset + clause.end)):
                        found.append(Mark(frozenset(worth.features(part, clause)), judged[0] == "keep", judged[1], turn))
    print(f"{len(found)} of {sum(map(len, wanted.values()))} marked clauses found, {sum(one.keep for one in found)} to keep")
    return found


class Features:
    """Which features each mark has, as numbers in one row behind the other."""

    def __init__(self, sample: Sequence[Mark], names: Sequence[str]) -> None:
        place = {name: number for number, name in enumerate(names)}
        rows = [[place[each] for each in sorted(one.features) if each in place] for one in sample]
        self.columns = np.array([column for row in rows for column in row], dtype=np.int64)
        self.of = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        self.rows, self.names = len(rows), names

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of its weights for each mark."""
        return np.bincount(self.of, weights[self.columns], self.rows)

    def gathered(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each feature the sum of the values of the marks that have it."""
        return np.bincount(self.columns, values[self.of], len(self.names))


def fitted(sample: Sequence[Mark], names: Sequence[str]) -> NDArray[np.float64]:
    """The weights that predict best whether a mark is kept: proximal gradient descent with momentum."""
    have, keep = Features(sample, names), np.array([one.keep for one in sample], dtype=float)
    vector = np.ones(len(names))
    for _ in range(30):
        vector = have.gathered(have.scores(vector))
        vector /= np.linalg.norm(vector)
    step = 1 / (0.25 * float(np.linalg.norm(have.gathered(have.scores(vector)))) + RIDGE)
    weights = ahead = np.zeros(len(names))
    momentum = 1.0
    for _ in range(ROUNDS):
        error = 1 / (1 + np.exp(-have.scores(ahead))) - keep
        moved = ahead - step * (have.gathered(error) + RIDGE * ahead)
        moved = np.sign(moved) * np.maximum(np.abs(moved) - LASSO * step, 0)
        following = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        weights, ahead, momentum = moved, moved + (momentum - 1) / following * (moved - weights), following
    return weights


def named(sample: Sequence[Mark]) -> list[str]:
    """The features that enough marks have."""
    return sorted(name for name, seen in Counter(each for one in sample for each in one.features).items() if seen >= SEEN)


def held_out(sample: Sequence[Mark]) -> NDArray[np.float64]:
    """The score of each mark by weights fitted to the turns of the other folds."""
    fold = np.array([int(one.turn, 16) % FOLDS for one in sample])
    result = np.zeros(len(sample))
    for each in range(FOLDS):
        rest = [one for one, of in zip(sample, fold, strict=True) if of != each]
        names = named(rest)
        result[fold == each] = Features([sample[n] for n in np.flatnonzero(fold == each)], names).scores(fitted(rest, names))
    return result


def shares(scores: NDArray[np.float64], keep: NDArray[np.bool_]) -> Iterator[tuple[float, float, float]]:
    """For each precision the largest share of those to keep that some threshold keeps, and that threshold."""
    order = np.argsort(-scores)
    right = np.cumsum(keep[order])
    precision = right / np.arange(1, len(order) + 1)
    for wanted in (*SHOWN, PRECISION):
        last = max((int(n) for n in np.flatnonzero(precision >= wanted)), default=0)
        yield wanted, right[last] / max(1, right[-1]), float(scores[order[last]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the development data")
    parser.add_argument("--check", action="store_true", help="only print what cross-validation gives")
    given = parser.parse_args()
    sample = marks(given.folder)
    scores, keep = held_out(sample), np.array([one.keep for one in sample])
    evenly = np.array([one.drawn == "evenly" for one in sample])
    enough = 0.0
    for precision, share, threshold in shares(scores[evenly], keep[evenly]):
        print(f"precision {precision:.2f}: {share:.0%} of {keep[evenly].sum()} kept, from {threshold:+.2f}")
        enough = threshold
    if given.check:
        return
    names = named(sample)
    weights = {name: weight for name, weight in zip(names, fitted(sample, names), strict=True) if abs(weight) >= 0.005}
    lines = "".join(f"    {name!r}: {weight:.2f},\n" for name, weight in sorted(weights.items()))
    WEIGHTS.write_text(f"{HEAD.format(enough=enough)}{lines}}}\n", "utf-8")
    print(f"{len(weights)} weights written")


if __name__ == "__main__":
    main()
