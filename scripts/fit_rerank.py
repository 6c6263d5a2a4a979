"""
Fit the weights that rerank hits: `python scripts/fit_rerank.py DATA_FOLDER [--check]`, with the local model

Examples are conversations in which something changed or only seemed to (bench/corrections), each told
twice: alone, and in the midst of talk about other things; questions to whole years of talk (bench);
and questions to real talk of the data folder: the hits that may change places, and which of them answer. The weights, and
two directions of the model's space, are those of a conditional logistic regression: they make it likeliest that a hit that
answers is chosen among its hits.

With --check nothing is written: each set is judged with the weights of all others. Only that says what to expect of
unseen talk: each file of cases has an author of its own.
"""

import argparse
import json
import shutil
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "bench"), str(ROOT / "scripts")]

import corrections  # noqa: E402  (after the path)
import datasets  # noqa: E402
import embedded  # noqa: E402

from yiku import Memory  # noqa: E402
from yiku.flows.find import local_rerank  # noqa: E402
from yiku.models.e5 import LocalE5  # noqa: E402
from yiku.rules.finding import rerank, rerank_weights  # noqa: E402

WEIGHTS = ROOT / "src" / "yiku" / "rules" / "finding" / "rerank_weights.py"
BENCH = ROOT / "bench"
CASES = sorted((BENCH / "corrections").glob("talk*.jsonl"))
TALK = ("bilingual/bilingual.json", "people/people.json", "sealed/two_languages.json", "sealed/two_people.json")
REAL = {"realmem_dev.json.xz": 250, "lifebench_zh_dev.json.xz": 400, "longmemeval_s_dev50.json.xz": 1}  # questions of each case
AROUND = {"realmem_dev.json.xz": 7, "lifebench_zh_dev.json.xz": 9}  # of whose turns each so-manyth is told around a case
OTHER_TURNS = 300
HITS = 12  # that are asked for: more than may change places
OTHERS_SINCE, OTHERS_SPAN = datetime(2025, 6, 1, tzinfo=UTC), timedelta(days=400)
TALK_COUNTS = 2.0  # of a question to whole years of talk: most questions are such, and most cases are not
RIDGE, OF_DIRECTIONS = 3.0, 12.0
STEPS = 25  # of Newton's method
ENOUGH = 1e-3  # by which no weight may still move
WIDTH = 120  # of the lines of a direction
LEAST = 0.02  # weights below are nothing
UNREAD = ("leaning", "leaning in time")  # what the directions give
HEAD = '''"""Weights of the score in rules/finding/rerank.py, written by scripts/fit_rerank.py; do not edit."""

WEIGHTS: dict[str, float] = {
'''
OTHERS = """    "leaning": 1.0,
    "leaning in time": 1.0,
}

WITHOUT_DIRECTIONS: dict[str, float] = {
"""
MIDDLE = """}

# fmt: off
DIRECTIONS: tuple[tuple[float, ...], ...] = (  # of the space of the local model: of what answers, and of what does if it was said later
"""

Captured = list[tuple[Any, Sequence[rerank.Candidate], Mapping[str, NDArray[np.float32]]]]


@dataclass(frozen=True, slots=True)
class Example:
    """Hits that may change places: of which set and kind, what is known of each, and which answer."""

    of: str
    kind: str
    features: Sequence[Mapping[str, float]]
    vectors: NDArray[np.float32]  # (hits, d), zeros of a hit without
    answers: Sequence[bool]


@cache
def local_model() -> embedded.Cached:
    """The local model without its pairs, which take longer than all else, and have their say beside this."""
    return embedded.Cached(LocalE5(), embedded.default_path(), compares=False)


def example(of: str, kind: str, found: tuple[Any, ...], answers: Sequence[bool]) -> Example:
    """What was captured of one question."""
    asked, candidates, vectors = found
    zero = np.zeros(len(rerank_weights.DIRECTIONS[0]), np.float32)
    return Example(
        of, kind, rerank.features(asked, candidates), np.stack([vectors.get(one.id, zero) for one in candidates]), answers
    )


def of_cases(captured: Captured, scratch: Path, around: Path | None) -> Iterator[Example]:
    """The hits of the cases. around: a home with talk about other things, in whose midst each is told."""
    for file in CASES:
        for number, line in enumerate(file.read_text("utf-8").splitlines()):
            case, folder = json.loads(line), scratch / f"{file.stem}-{number}"
            if corrections.IMPLICIT in case["kind"]:
                continue
            if around is not None:
                shutil.copytree(around, folder)
            if found := _asked(captured, case, folder):
                yield example(f"{file.stem} {'around' if around else 'alone'}", case["kind"], *found)
            shutil.rmtree(folder)


def _asked(captured: Captured, case: Mapping[str, Any], folder: Path) -> tuple[Any, Sequence[bool]] | None:
    """Tell a case to a home and ask; what was captured, and which of its hits answer. None where nothing may change places."""
    clock = [corrections._time(case["said"][0]["at"])]
    model = local_model()
    with Memory(folder, owner="user:owner", clock=lambda: clock[0], durability="fast", embedder=model) as memory:
        places = {turn.id: place for place, turn in enumerate(corrections.tell(memory, clock, case))}
        memory.admin.embed()
        captured.clear()
        hits = {hit.id: corrections._answers(case, hit, places) for hit in memory.recall(case["ask"]["text"], limit=HITS)}
    return (captured[-1], [hits.get(one.id, False) for one in captured[-1][1]]) if captured else None


def tell_others(folder: Path, data: Path) -> Path:
    """Tell a home what other people said, half of it English, half Chinese, spread over the time of the cases."""
    files = [
        [turn for case in datasets.read(data / name) for one in case.sessions for turn in one.turns][::each]
        for name, each in AROUND.items()
    ]
    turns = [turn for pair in zip(*files, strict=False) for turn in pair][:OTHER_TURNS]
    clock = [OTHERS_SINCE]
    with Memory(folder, owner="user:owner", clock=lambda: clock[0], durability="fast", embedder=local_model()) as memory:
        for number, turn in enumerate(turns):
            clock[0] = OTHERS_SINCE + number / len(turns) * OTHERS_SPAN
            memory.record_turn(turn.role, turn.text, session=f"others {number // 6}")
        memory.admin.embed()
    return folder


def of_talk(captured: Captured, file: Path, most: int, scratch: Path) -> Iterator[Example]:
    """The hits of questions to talk, each asked when what came before it is in memory."""
    for number, case in enumerate(datasets.read(file)):
        questions = sorted(case.questions[:: max(1, len(case.questions) // most)], key=lambda one: one.before or len(case.sessions))
        home = scratch / f"{file.name}-{number}"
        with Memory(home, owner="user:owner", durability="fast", embedder=local_model()) as memory:
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
                for found in captured[-1:]:
                    gold = question.gold_turns or question.gold_sessions
                    yield example(file.stem, "talk", found, [not gold.isdisjoint(of.get(one.id, ())) for one in found[1]])
        shutil.rmtree(home)


def _draft(turn: datasets.Turn, session: str) -> Any:
    return {"role": turn.role, "content": turn.text, "session": session, "said_at": turn.at, "speaker": turn.speaker}


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights of the properties, and the two directions, (2, d)."""

    weights: Mapping[str, float]
    directions: NDArray[np.float64]

    def scores(self, one: Example) -> NDArray[np.float64]:
        """The score of each hit."""
        names = [*self.weights]
        return _table(one, names) @ np.concatenate([[*self.weights.values()], *self.directions])


def fitted(examples: Sequence[Example]) -> Fitted:
    """The weights, by Newton's method; of several hits that answer any may be chosen."""
    names = sorted({name for one in examples for hit in one.features for name in hit} - {*UNREAD})
    usable = [one for one in examples if any(one.answers) and not all(one.answers)]
    have, right = np.concatenate([_table(one, names) for one in usable]), np.concatenate([one.answers for one in usable])
    starts = np.cumsum([0, *(len(one.answers) for one in usable[:-1])])
    lengths = [len(one.answers) for one in usable]
    counts = np.repeat([TALK_COUNTS if one.kind == "talk" else 1.0 for one in usable], lengths)
    weights = np.zeros(have.shape[1])
    ridge = np.where(np.arange(len(weights)) < len(names), RIDGE, OF_DIRECTIONS)

    def shares(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values / np.repeat(np.add.reduceat(values, starts), lengths)

    for _ in range(STEPS):
        scores = have @ weights
        likely = shares(np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), lengths)))
        wanted = shares(likely * right)
        mean = np.add.reduceat(have * likely[:, None], starts)
        centred = (have - np.repeat(mean, lengths, axis=0)) * np.sqrt(counts * likely)[:, None]
        slope = ridge * weights + have.T @ (counts * (likely - wanted))
        step = np.linalg.solve(centred.T @ centred + np.diag(ridge), slope)
        weights -= step
        if np.abs(step).max() < ENOUGH:
            break
    known = len(names)
    return Fitted(dict(zip(names, weights[:known].tolist(), strict=True)), weights[known:].reshape(2, -1))


def _table(one: Example, names: Sequence[str]) -> NDArray[np.float64]:
    """The properties of each hit, its vector, and its vector times its place in time."""
    known = np.array([[hit.get(name, 0.0) for name in names] for hit in one.features])
    in_time = np.array([hit["in time"] for hit in one.features])
    return np.concatenate([known, one.vectors, in_time[:, None] * one.vectors], axis=1)


def check(examples: Sequence[Example]) -> None:
    """Judge each set with the weights of the others: how often a hit that answers stands first, before and after."""
    seen, before, after = Counter[str](), Counter[str](), Counter[str]()
    for author in sorted({one.of.partition(" ")[0] for one in examples}):
        found = fitted([one for one in examples if one.of.partition(" ")[0] != author])
        for one in (one for one in examples if one.of.partition(" ")[0] == author):
            for group in (
                f"{one.of} {one.kind.partition('-')[0]}",
                f"all, {one.of.rpartition(' ')[2]}" if " " in one.of else "all, talk",
            ):
                seen[group] += 1
                before[group] += one.answers[0]
                after[group] += one.answers[int(found.scores(one).argmax())]
    for group in sorted(seen):
        print(f"{group:32} {seen[group]:4}  first before {before[group]:4}  after {after[group]:4}")


def write(found: Fitted, without: Fitted) -> None:
    """Write the module of weights. without: what was fitted to the same without vectors"""
    tables = [
        [f'    "{name}": {weight:.2f},\n' for name, weight in one.weights.items() if abs(weight) >= LEAST]
        for one in (found, without)
    ]
    numbers = (", ".join(f"{value:.3f}" for value in row) for row in found.directions)
    rows = [f"    (\n{textwrap.indent(textwrap.fill(row, WIDTH), ' ' * 8)}\n    ),\n" for row in numbers]
    WEIGHTS.write_text("".join([HEAD, *tables[0], OTHERS, *tables[1], MIDDLE, *rows, ")\n"]), "utf-8")
    print(f"{len(tables[0])} and {len(tables[1])} weights and {len(rows)} directions written")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the development data")
    parser.add_argument("--check", action="store_true", help="only print what the sets give that were left out")
    given = parser.parse_args()
    captured: Captured = []
    vectors: list[Mapping[str, NDArray[np.float32]]] = [{}]
    for weights in (rerank.WEIGHTS, rerank.WITHOUT_DIRECTIONS):
        weights.clear()  # the order before reranking is what is learned from
    score, vectors_of = rerank.scores, local_rerank.vectors_of

    def scores(asked: Any, candidates: Sequence[rerank.Candidate]) -> list[float]:
        captured.append((asked, candidates, vectors[-1]))
        return score(asked, candidates)

    def kept(*of: Any) -> Mapping[str, NDArray[np.float32]]:
        vectors[:] = [vectors_of(*of)]
        return {}

    rerank.scores, local_rerank.vectors_of = scores, kept
    with tempfile.TemporaryDirectory(dir=corrections.TMPFS if corrections.TMPFS.is_dir() else None) as folder:
        scratch = Path(folder)
        examples = [*of_cases(captured, scratch, None), *of_cases(captured, scratch, tell_others(scratch / "others", given.folder))]
        print(f"{len(examples)} cases", flush=True)
        for file, most in [*((BENCH / name, 1000) for name in TALK), *((given.folder / name, most) for name, most in REAL.items())]:
            examples += of_talk(captured, file, most, scratch)
    print(f"{len(examples)} questions, {sum(any(one.answers) for one in examples)} with an answer among their hits", flush=True)
    if given.check:
        check(examples)
    else:
        write(fitted(examples), fitted([replace(one, vectors=np.zeros_like(one.vectors)) for one in examples]))


if __name__ == "__main__":
    main()
