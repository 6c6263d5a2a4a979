"""
Fit the weights of confidence: `python scripts/fit_confidence.py FOLDER [--check]`, with the local model

FOLDER has the development data (realmem_dev.json.xz, lifebench_zh_dev.json.xz); bench/bilingual and bench/people are in the
repository. Examples are questions that a memory answers, the same where the sessions of the evidence are forgotten, and
questions that nothing there ever answered: of another person, and of general knowledge. They are asked of the whole, and of homes
with a few turns of each case. No adapter was trained on these sets.
The weights are those of a logistic regression in which each set counts alike, and in it what has an answer and what has none;
then the score is shifted so that nine in ten answerable questions get half.

With --check nothing is written: each set is judged with the weights of the others.
"""

import argparse
import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "bench"), str(ROOT / "scripts")]

import datasets  # noqa: E402  (after the path)
import fit_supersede  # noqa: E402
import metrics  # noqa: E402
import quality  # noqa: E402
from datasets import Case, Question  # noqa: E402

from yiku.rules.finding import fuse  # noqa: E402

WEIGHTS = ROOT / "src" / "yiku" / "rules" / "finding" / "confidence_weights.py"
SETS = ("realmem_dev.json.xz", "lifebench_zh_dev.json.xz")  # of the folder
OWN = (ROOT / "bench" / "bilingual" / "bilingual.json", ROOT / "bench" / "people" / "people.json")
MOST = 200  # questions of a case
SIZES = (20, 60)  # turns of a small home
SMALL_HOMES = 4  # of each size and case
OTHERS = 60  # turns of another person, whose questions nothing here answers
GENERAL = (
    "what is the capital of France?",
    "how many bones does a human have",
    "translate 'good night' into Spanish",
    "write a haiku about rain",
    "who painted the Mona Lisa",
    "how do I sort a list in Python?",
    "what's the boiling point of alcohol",
    "explain photosynthesis to a child",
    "which planet has the most moons",
    "convert 30 miles to km",
    "when did the Berlin wall fall?",
    "give me a recipe for pancakes",
    "法国的首都是哪里？",
    "人体有多少块骨头",
    "把“晚安”翻译成西班牙语",
    "写一首关于下雨的小诗",
    "蒙娜丽莎是谁画的",
    "Python 里怎么给列表排序？",
    "酒精的沸点是多少",
    "给小孩解释一下光合作用",
    "哪颗行星的卫星最多",
    "30 英里等于多少公里",
    "柏林墙是哪一年倒的？",
    "给我一个松饼的做法",
)
RIDGE, STEPS = 1.0, 25
SORTS = ("answered", "forgotten", "never", "foreign")
HEAD = '"""Weights of the confidence in rules/finding/fuse.py, written by scripts/fit_confidence.py; do not edit."""\n\n'
KEPT = 0.9  # of the answerable questions that are to be sure enough


@dataclass(frozen=True, slots=True)
class Example:
    """A question: of which set, what is known of its best hits; answered, or its answer forgotten, never there, or foreign."""

    of: str
    known: Mapping[str, float]
    sort: str


def examples(file: Path, captured: list[Mapping[str, float]], cached: Any | None) -> Iterator[Example]:
    """Tell each case of a file to a home of its own, and ask."""
    turns = (ROOT / "bench" / "pairs" / "talk-1.jsonl").read_text(encoding="utf-8").splitlines()[:OTHERS]
    never = [text for turn in turns for texts in json.loads(turn)["ask"].values() for text in texts[:1]] + [*GENERAL]
    for case in (part for whole in datasets.read(file) for part in (whole, *small_homes(whole))):
        with tempfile.TemporaryDirectory(prefix="yiku-fit-") as scratch:
            talk = quality.Conversation(Path(scratch) / "home", cached, quality.Options())
            with closing(talk.memory):
                talk.add(case.sessions)
                chosen = [one for one in case.questions if one.before is None or one.before <= len(case.sessions)]
                for question in chosen[:: max(1, len(chosen) // MOST)]:
                    yield from _example(case.dataset, talk, question, captured, "answered")
                    if sessions := sorted(question.gold_sessions & {*talk.session_of.values()}):
                        with talk.without(sessions):
                            yield from _example(case.dataset, talk, question, captured, "forgotten")
                for question in case.unanswerable:
                    yield from _example(case.dataset, talk, question, captured, "never")
                for text in never:
                    asked = Question(text, "", "", text, talk.last + timedelta(days=1), frozenset(), frozenset())
                    yield from _example(case.dataset, talk, asked, captured, "foreign")


def small_homes(case: Case) -> Iterator[Case]:
    """Parts of a case that have a few turns, with the questions that these answer."""
    for size in SIZES:
        for begin in range(0, len(case.sessions), max(1, len(case.sessions) // SMALL_HOMES)):
            turns = accumulate(len(session.turns) for session in case.sessions[begin:])
            sessions = case.sessions[begin : begin + 1 + sum(count <= size for count in turns)]
            known = {session.id for session in sessions}
            if asked := tuple(replace(one, before=None, session=None) for one in case.questions if one.gold_sessions <= known):
                yield replace(case, dataset="few turns", sessions=sessions, questions=asked, unanswerable=())


def _example(of: str, talk: quality.Conversation, question: Question, captured: list[Any], sort: str) -> Iterator[Example]:
    captured.clear()
    talk.recall(question)
    if captured:  # of talk, and of notes where there are any
        yield Example(of, dict(captured[0]), sort)


def fitted(some: Sequence[Example]) -> dict[str, float]:
    """The weights, by Newton's method; each set counts alike, and in it both sorts."""
    names = sorted({name for one in some for name in one.known})
    table = np.array([[1.0, *(one.known[name] for name in names)] for one in some])
    right = np.array([one.sort == "answered" for one in some])
    count = Counter((one.of, one.sort) for one in some)
    without = Counter(of for of, sort in count if sort != "answered")  # sorts of questions without an answer
    mass = [100 / count[one.of, one.sort] / (1 if one.sort == "answered" else without[one.of]) for one in some]
    weights = fit_supersede.logistic(table, right, np.array(mass), RIDGE * np.diag([0.0, *[1.0] * len(names)]), STEPS)
    found = dict(zip(["sure", *names], weights.tolist(), strict=True))
    scores = sorted(score(found, one) for one in some if one.sort == "answered")
    return found | {"sure": found["sure"] - scores[int((1 - KEPT) * len(scores))]}


def score(weights: Mapping[str, float], one: Example) -> float:
    return weights["sure"] + sum(weights[name] * value for name, value in one.known.items())


def check(some: Sequence[Example]) -> None:
    """Judge each set with the weights of the others: the AUROC, and what is caught where nine in ten of the answered are kept."""
    for of in dict.fromkeys(one.of for one in some):
        weights = fitted([one for one in some if one.of != of])
        own = {sort: [score(weights, one) for one in some if (one.of, one.sort) == (of, sort)] for sort in SORTS}
        present = own.pop("answered")
        low = (
            f"{100 * sum(value < math.log(at / (1 - at)) for value in present) / len(present):.0f}" for at in (0.5, fuse.TOO_FAR)
        )
        print(f"{of:14} {len(present):4} answered, % below 0.5 and below the floor: {', '.join(low)}")
        for sort, absent in own.items():
            if absent:
                _, caught = metrics.caught(present, absent)
                below = sum(value < math.log(fuse.TOO_FAR / (1 - fuse.TOO_FAR)) for value in absent) / len(absent)
                area = metrics.auroc(present, absent)
                print(f"{len(absent):19} {sort:9} AUROC {area:.3f}, caught {100 * caught:.0f}, below the floor {100 * below:.0f}")


def all_examples(files: Sequence[Path]) -> list[Example]:
    """Gather the examples of all sets."""
    captured: list[Mapping[str, float]] = []
    real = fuse.known_of

    def noting(*given: Any) -> Mapping[str, float]:
        captured.append(real(*given))
        return captured[-1]

    fuse.known_of = noting
    try:
        with quality.embedder(quality.Options(search="local")) as cached:
            return [one for file in files for one in examples(file, captured, cached)]
    finally:
        fuse.known_of = real


def write(weights: Mapping[str, float]) -> None:
    """Write the module of the weights."""
    shown = json.dumps({name: round(value, 3) for name, value in weights.items()})
    WEIGHTS.write_text(f"{HEAD}WITH_VECTORS: dict[str, float] = {shown}\n", encoding="utf-8")


def main() -> None:
    """Fit, and write or judge the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("also", nargs="*", type=Path, help="further sets, for --check")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    some = all_examples([*OWN, *(given.folder / name for name in SETS), *given.also])
    if given.check:
        check(some)
    else:
        write(fitted(some))


if __name__ == "__main__":
    main()
