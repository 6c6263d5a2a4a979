"""
Fit the weights by which one clause supersedes another: `python scripts/fit_supersede.py DATA_FOLDER [--check]`

The cases of bench/conflicts and bench/corrections say which values no longer hold and which turn says what holds. Each case
is told to a fresh home and asked; every pair of clauses that is compared there is an example. Pairs from real talk, in
questions that ask for no update, are examples of clauses that have nothing to do with each other.

With --check nothing is written: for each set of cases the weights and the threshold come from all other sets, and its cases are
judged with them as bench/corrections.py judges. Only these figures say what to expect of unseen talk.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "bench")]

import corrections  # noqa: E402  (after the path)
import datasets  # noqa: E402

from yiku import Memory  # noqa: E402
from yiku.rules.finding import said_later, supersede  # noqa: E402

WEIGHTS = ROOT / "src" / "yiku" / "rules" / "finding" / "supersede_weights.py"
TALK = ROOT / "bench" / "corrections"  # a file an author, beside the questions to the cases of bench/conflicts
REAL = {  # files of the data folder, with how many cases and how many questions of each
    "longmemeval_s_dev50.json.xz": (50, 1),
    "longmemeval_s_dev100.json.xz": (60, 1),
    "realmem_dev.json.xz": (4, 40),
    "lifebench_zh_dev.json.xz": (4, 60),
}
REAL_TURNS = 1_500
UPDATES = "pdat"  # in the name of a type of questions whose answer changed
SEEN = 8  # pairs that have a feature, at least
RIDGE = 4.0
REAL_COUNTS, UNSURE_COUNTS = 0.2, 0.5  # of a pair of real talk, and of one whose turns the case says nothing of
MARKED_WRONGLY = 0.016  # of the statements that hold, at most
FIRST = 0.0  # likelier than not
STEPS = 9  # of Newton's method
HEAD = '''"""Written by scripts/fit_supersede.py; do not edit. rules/finding/supersede.py says what a feature is."""

# fmt: off
# ruff: noqa

MARKED = {marked:.3f}
FIRST = {first:.3f}
WEIGHTS: dict[str, float] = {{
'''


@dataclass(frozen=True, slots=True)
class Pair:
    """Two clauses that were compared: of which set and statement, their features, whether one supersedes, what that counts."""

    of: str
    old: tuple[str, str]
    features: frozenset[str]
    supersedes: bool
    counts: float
    holds: bool  # the old one's statement holds


Captured = list[tuple[Any, ...]]


def all_cases() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All cases, with the set that each belongs to."""
    for case in corrections.known(()):
        yield case["id"].partition("/")[0], case
    for file in sorted(TALK.glob("talk*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            yield file.stem, json.loads(line)


def of_cases(captured: Captured, scratch: Path) -> tuple[list[Pair], Counter[str]]:
    """The pairs of all cases, and how many statements that hold were compared in each set."""
    pairs, holding = list[Pair](), Counter[str]()
    for number, (of, case) in enumerate(all_cases()):
        captured.clear()
        turns = turns_of_case(case, scratch / str(number))
        if captured:
            asked, terms, pool, following = captured[-1]
            answers, _ = said_later.answers(asked, terms, pool, following)
            right = {*case["holds"], *case["first"]} - {value["turn"] for value in case["outdated"]}
            holding[of] += sum(bool(turns.get(one.id, set()) & right) for one in pool)
            pairs += _labelled(of, case, asked, answers, turns)
    return pairs, holding


def turns_of_case(case: Mapping[str, Any], folder: Path) -> dict[str, set[int]]:
    """Tell a case to a home and ask by words; the turns of each turn and statement, by their places."""
    clock = [corrections._time(case["said"][0]["at"])]
    with Memory(folder, owner="user:owner", clock=lambda: clock[0], durability="fast", search="words") as memory:
        places = {turn.id: place for place, turn in enumerate(corrections.tell(memory, clock, case))}
        memory.recall(case["ask"]["text"])
        learned = [memory.get(one.id) for one in memory.get_all(limit=1000, where=None)]
    of = {one.id: {places[source.turn] for source in one.sources if source.turn in places} for one in learned}
    return {**of, **{turn: {place} for turn, place in places.items()}}


def _labelled(
    of: str, case: Mapping[str, Any], asked: Any, answers: Sequence[supersede.Answer], turns: Mapping[str, set[int]]
) -> Iterator[Pair]:
    """The pairs of a case. Of a turn that answers only the clause that has the answer supersedes; its others are left out."""
    outdated: dict[int, list[str]] = {}
    for value in case["outdated"]:
        outdated.setdefault(value["turn"], []).extend(corrections._words(value))
    right = {*case["holds"], *case["first"]}
    for old in answers:
        of_old = turns.get(old.statement.id, set())
        wrong = _says(old, [word for turn in of_old & outdated.keys() for word in outdated[turn]])
        holds = bool(of_old & right) and not of_old & outdated.keys()
        for new in (new for new in answers if supersede.may_supersede(new, old)):
            of_new = turns.get(new.statement.id, set())
            supersedes = wrong and bool(of_new & {*case["first"]}) and (max(of_new) > min(of_old) or new.key < old.key)
            if supersedes and not _answers(case, new):
                continue
            features = frozenset(supersede.features(asked, old, new))
            counts = 1.0 if supersedes or holds else UNSURE_COUNTS
            yield Pair(of, (case["id"], old.statement.id), features, supersedes, counts, holds)


def _says(answer: supersede.Answer, words: Sequence[str]) -> bool:
    """Whether one of these words stands in a clause, or begins or ends in it."""
    text, clause = answer.statement.text.casefold(), answer.clause
    spans = [(start, start + len(word)) for word in words if (start := text.find(word)) >= 0]
    return any(word in text[clause.start : clause.end] for word in words) or any(
        start < clause.end and end > clause.start for start, end in spans
    )


def _answers(case: Mapping[str, Any], new: supersede.Answer) -> bool:
    """Whether a clause has the answer, or its turn shows none."""
    text = new.statement.text.casefold()
    own = text[new.clause.start : new.clause.end]
    words = [word for group in case["answer"] for word in group]
    return any(word in own for word in words) or not any(word in text for word in words)


def of_talk(captured: Captured, folder: Path, scratch: Path) -> Iterator[Pair]:
    """Pairs of real talk, none of which supersedes."""
    for name, (most, questions) in REAL.items():
        cases = [
            (case, [one for one in case.questions if UPDATES not in str(one.type)]) for case in datasets.read(str(folder / name))
        ]
        for number, (case, asked) in enumerate([each for each in cases if each[1]][:most]):
            said = [(session, turn) for session in case.sessions for turn in session.turns][-REAL_TURNS:]
            with Memory(scratch / f"{name}-{number}", owner="user:owner", durability="fast", search="words") as memory:
                memory.record(
                    [
                        {
                            "role": turn.role,
                            "content": turn.text,
                            "session": session.id,
                            "said_at": turn.at,
                            "speaker": turn.speaker,
                        }
                        for session, turn in said
                    ]
                )
                for question in asked[:: max(1, len(asked) // questions)][:questions]:
                    captured.clear()
                    memory.recall(question.text)
                    for read in captured[-1:]:
                        answers, _ = said_later.answers(*read)
                        for old in answers:
                            for new in (new for new in answers if supersede.may_supersede(new, old)):
                                features = frozenset(supersede.features(read[0], old, new))
                                yield Pair(f"real {name}", (question.text, old.statement.id), features, False, REAL_COUNTS, True)


class Table:
    """The features of pairs as columns of zeros and ones."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        often = Counter(feature for pair in pairs for feature in pair.features)
        self.names = sorted(feature for feature, seen in often.items() if seen >= SEEN)
        place = {name: number for number, name in enumerate(self.names)}
        self.have = np.zeros((len(pairs), len(self.names)))
        for row, pair in enumerate(pairs):
            self.have[row, [place[feature] for feature in pair.features if feature in place]] = 1
        self.yes = np.array([pair.supersedes for pair in pairs], float)
        self.counts = np.array([pair.counts for pair in pairs])

    def fitted(self, rows: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The weights that predict best which of these pairs supersede: logistic regression by Newton's method."""
        return logistic(self.have[rows], self.yes[rows], self.counts[rows], RIDGE * np.eye(len(self.names)), STEPS)


def logistic(
    have: NDArray[Any], yes: NDArray[Any], counts: NDArray[np.float64], ridge: NDArray[np.float64], steps: int
) -> NDArray[np.float64]:
    """Return the weights of a logistic regression by so many steps of Newton's method."""
    weights = np.zeros(have.shape[1])
    for _ in range(steps):
        likely = 1 / (1 + np.exp(-have @ weights))
        slope = have.T @ (counts * (likely - yes)) + ridge @ weights
        bend = (have * (counts * likely * (1 - likely))[:, None]).T @ have + ridge
        weights = weights - np.linalg.solve(bend, slope)
    return weights


def fitted(pairs: Sequence[Pair], holding: int) -> tuple[dict[str, float], float]:
    """The weights, and from which score so few statements that hold are marked, each scored by weights of the other sets."""
    table, sets = Table(pairs), np.array([pair.of for pair in pairs])
    best: dict[tuple[str, str], float] = {}
    for of in sorted({pair.of for pair in pairs if not pair.of.startswith("real")}):
        left_out = sets == of
        found = table.have[left_out] @ table.fitted(~left_out)
        for row, score in zip(np.flatnonzero(left_out), found, strict=True):
            if pairs[row].holds:
                best[pairs[row].old] = max(best.get(pairs[row].old, -99.0), float(score))
    highest = sorted(best.values(), reverse=True)
    marked = highest[min(int(MARKED_WRONGLY * holding), len(highest) - 1)] + 1e-6
    return dict(zip(table.names, table.fitted(np.ones(len(pairs), np.bool_)).tolist(), strict=True)), marked


def check(pairs: Sequence[Pair], real: Sequence[Pair], holding: Mapping[str, int], scratch: Path) -> None:
    """Judge each set with weights and threshold of the others, and print the sums."""
    results = list[corrections.Judged]()
    for of in sorted({pair.of for pair in pairs}):
        rest = [*(pair for pair in pairs if pair.of != of), *real]
        _use(*fitted(rest, sum(count for name, count in holding.items() if name != of)))
        own = [case for name, case in all_cases() if name == of]
        judged = [corrections.judged(case, scratch / f"{of}-{n}", model=False) for n, case in enumerate(own)]
        print(f"{of}, marked from {said_later.MARKED:+.2f}", *[*corrections.lines(judged)][-4:], sep="\n", flush=True)
        results += judged
    print("all sets, each by weights of the others", *corrections.lines(results), sep="\n")
    for of in sorted({pair.of for pair in real}):
        weights, marked = fitted([*pairs, *(pair for pair in real if pair.of != of)], sum(holding.values()))
        own = [(pair.old, sum(weights.get(feature, 0.0) for feature in pair.features)) for pair in real if pair.of == of]
        print(f"{of}: {len({old for old, score in own if score >= marked})} of {len({old for old, _ in own})} compared marked")


def _use(weights: Mapping[str, float], marked: float) -> None:
    """Let the rules judge with these weights."""
    supersede.WEIGHTS.clear()
    supersede.WEIGHTS.update(weights)
    said_later.MARKED, said_later.FIRST = marked, FIRST


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the development data")
    parser.add_argument("--check", action="store_true", help="only print what the sets give that were left out")
    given = parser.parse_args()
    captured: Captured = []
    compare = said_later.compare_hits
    said_later.compare_hits = lambda *read: captured.append(read) or compare(*read)  # type: ignore[func-returns-value]
    with tempfile.TemporaryDirectory(dir=corrections.TMPFS if corrections.TMPFS.is_dir() else None) as scratch:
        pairs, holding = of_cases(captured, Path(scratch))
        real = [*of_talk(captured, given.folder, Path(scratch))]
        print(
            f"{len(pairs)} pairs of cases, {sum(pair.supersedes for pair in pairs)} supersede; {len(real)} of real talk", flush=True
        )
        if given.check:
            check(pairs, real, holding, Path(scratch))
            return
    every, marked = fitted([*pairs, *real], holding.total())
    weights = {name: weight for name, weight in every.items() if abs(weight) >= 0.005}
    lines = "".join(f"    {name!r}: {weight:.2f},\n" for name, weight in weights.items())
    WEIGHTS.write_text(f"{HEAD.format(marked=marked, first=FIRST)}{lines}}}\n", "utf-8")
    print(f"{len(weights)} weights written, marked from {marked:+.2f}")


if __name__ == "__main__":
    main()
