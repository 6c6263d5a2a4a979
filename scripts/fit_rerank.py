"""
Fit the weights that rerank hits: `python scripts/fit_rerank.py DATA_FOLDER [--check]`, with the local model

Examples are the cases of bench/conflicts and bench/corrections, told and asked one by one, and questions to real talk of
the data folder: the hits that may change places, and which of them answer. The weights are those of a conditional
logistic regression: they make it likeliest that a hit that answers is chosen among its hits.

With --check nothing is written: each set is judged with the weights of all others. Only that says what to expect of
unseen talk. The known cases share authors with each other, the files of bench/corrections have one each.
"""

import argparse
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
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "bench"), str(ROOT / "scripts")]

import corrections  # noqa: E402  (after the path)
import datasets  # noqa: E402
import fit_supersede  # noqa: E402

from yiku import Memory  # noqa: E402
from yiku.rules.finding import rerank  # noqa: E402

WEIGHTS = ROOT / "src" / "yiku" / "rules" / "finding" / "rerank_weights.py"
REAL = {"realmem_dev.json.xz": 130, "lifebench_zh_dev.json.xz": 60}  # questions of each case
EVERY = 2  # of the known cases one is told; their authors wrote many of one form
RIDGE = 3.0
STEPS = 25  # of Newton's method
ENOUGH = 1e-4  # by which no weight may still move
LEAST = 0.02  # weights below are nothing
HEAD = '''"""Weights of the score in rules/finding/rerank.py, written by scripts/fit_rerank.py; do not edit."""

WEIGHTS: dict[str, float] = {
'''

Captured = list[tuple[Any, Sequence[rerank.Candidate]]]


@dataclass(frozen=True, slots=True)
class Example:
    """Hits that may change places: of which set and kind, what is known of each, and which answer."""

    of: str
    kind: str
    features: Sequence[Mapping[str, float]]
    answers: Sequence[bool]


def of_cases(captured: Captured, scratch: Path) -> Iterator[Example]:
    """The hits of the cases; a case in which nothing may change places has one that stands first, or none."""
    known = 0
    for number, (of, case) in enumerate(fit_supersede.all_cases()):
        known += not of.startswith("talk")
        if not of.startswith("talk") and known % EVERY:
            continue
        captured.clear()
        turns = fit_supersede.turns_of_case(case, scratch / str(number), corrections.local_model())
        if captured:
            asked, candidates = captured[-1]
            right = [bool(turns.get(one.id, set()) & {*case["first"]}) and _shows(case, one.text) for one in candidates]
            yield Example(of, case["kind"], rerank.features(asked, candidates), right)


def _shows(case: Mapping[str, Any], text: str) -> bool:
    return all(any(word in text.casefold() for word in group) for group in case["answer"])


def of_talk(captured: Captured, folder: Path, scratch: Path) -> Iterator[Example]:
    """The hits of questions to real talk, each asked when what came before it is in memory."""
    for name, most in REAL.items():
        for number, case in enumerate(datasets.read(folder / name)):
            questions = sorted(
                case.questions[:: max(1, len(case.questions) // most)], key=lambda one: one.before or len(case.sessions)
            )
            with Memory(
                scratch / f"{name}-{number}", owner="user:owner", durability="fast", embedder=corrections.local_model()
            ) as memory:
                of, held = dict[str, tuple[str, str]](), 0
                for question in questions:
                    until = len(case.sessions) if question.before is None else question.before
                    for session in case.sessions[held:until]:
                        ids = memory.record([_draft(turn, session.id) for turn in session.turns]).ids
                        of |= {id: (turn.id, session.id) for id, turn in zip(ids, session.turns, strict=True)}
                    held = max(held, until)
                    memory.admin.embed()
                    captured.clear()
                    memory.recall(question.text)
                    for asked, candidates in captured[-1:]:
                        gold = question.gold_turns or question.gold_sessions
                        right = [not gold.isdisjoint(of.get(one.id, ())) for one in candidates]
                        yield Example(name, "real", rerank.features(asked, candidates), right)


def _draft(turn: datasets.Turn, session: str) -> Any:
    return {"role": turn.role, "content": turn.text, "session": session, "said_at": turn.at, "speaker": turn.speaker}


def fitted(examples: Sequence[Example]) -> dict[str, float]:
    """The weights, by Newton's method; of several hits that answer any may be chosen."""
    names = sorted({name for one in examples for hit in one.features for name in hit})
    usable = [one for one in examples if any(one.answers) and not all(one.answers)]
    tables = [(_table(one, names), np.array(one.answers)) for one in usable]
    weights = np.zeros(len(names))
    for _ in range(STEPS):
        slope, bend = RIDGE * weights, RIDGE * np.eye(len(names))
        for have, right in tables:
            scores = have @ weights
            likely = np.exp(scores - scores.max())
            likely /= likely.sum()
            wanted = likely * right / (likely * right).sum()
            slope += have.T @ (likely - wanted)
            bend += have.T @ (np.diag(likely) - np.outer(likely, likely)) @ have
        step = np.linalg.solve(bend, slope)
        weights -= step
        if np.abs(step).max() < ENOUGH:
            break
    return dict(zip(names, weights.tolist(), strict=True))


def _table(one: Example, names: Sequence[str]) -> NDArray[np.float64]:
    return np.array([[hit.get(name, 0.0) for name in names] for hit in one.features])


def check(examples: Sequence[Example]) -> None:
    """Judge each set with the weights of the others: how often a hit that answers stands first, before and after."""
    seen, before, after = Counter[str](), Counter[str](), Counter[str]()
    for of in sorted({one.of for one in examples}):
        weights = fitted([one for one in examples if one.of != of])
        for one in (one for one in examples if one.of == of):
            if corrections.IMPLICIT in one.kind:
                continue
            scores = [sum(weights.get(name, 0.0) * value for name, value in hit.items()) for hit in one.features]
            group = f"{of} {one.kind.partition('-')[0]}"
            seen[group] += 1
            before[group] += one.answers[0]
            after[group] += one.answers[max(range(len(scores)), key=scores.__getitem__)]
    for group in sorted(seen):
        print(f"{group:32} {seen[group]:4}  first before {before[group]:4}  after {after[group]:4}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the development data")
    parser.add_argument("--check", action="store_true", help="only print what the sets give that were left out")
    given = parser.parse_args()
    captured: Captured = []
    rerank.WEIGHTS.clear()  # the order before reranking is what is learned from
    score = rerank.scores
    rerank.scores = lambda *hits: captured.append(hits) or score(*hits)  # type: ignore[func-returns-value]
    with tempfile.TemporaryDirectory(dir=corrections.TMPFS if corrections.TMPFS.is_dir() else None) as scratch:
        examples = [*of_cases(captured, Path(scratch)), *of_talk(captured, given.folder, Path(scratch))]
    print(f"{len(examples)} questions, {sum(any(one.answers) for one in examples)} with an answer among their hits", flush=True)
    if given.check:
        check(examples)
        return
    weights = {name: weight for name, weight in fitted(examples).items() if abs(weight) >= LEAST}
    WEIGHTS.write_text(HEAD + "".join(f'    "{name}": {weight:.2f},\n' for name, weight in weights.items()) + "}\n", "utf-8")
    print(f"{len(weights)} weights written")


if __name__ == "__main__":
    main()
