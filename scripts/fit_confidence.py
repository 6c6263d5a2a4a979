"""
Fit the weights of confidence: `python scripts/fit_confidence.py ADAPTER [--check]`, with the local model

Examples are questions that a memory answers, the same where the sessions of the evidence are forgotten, and questions that
nothing there ever answered: near misses, matters of another person, general knowledge. They come from homes of 20, 60 and 250
turns of bench/pairs, and from the bilingual set.

ADAPTER is one that was trained without the authors in HELD, so that their questions are new to it: what
`train_adapter.py FOLDER --check bench/pairs/talk-[3456].jsonl --steps 200 --out ADAPTER` writes. The weights are those of a
logistic regression in which each set counts alike; then the score is shifted so that nine in ten answerable questions get half.

With --check nothing is written: each set is judged with the weights of the others.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "bench"), str(ROOT / "scripts")]

import datasets  # noqa: E402  (after the path)
import fit_supersede  # noqa: E402
import metrics  # noqa: E402
import quality  # noqa: E402
from datasets import Case, Question, Session, Turn  # noqa: E402

from yiku.models import adapter  # noqa: E402
from yiku.rules.finding import fuse  # noqa: E402

WEIGHTS = ROOT / "src" / "yiku" / "rules" / "finding" / "confidence_weights.py"
HELD = ("talk-3.jsonl", "talk-4.jsonl", "talk-5.jsonl", "talk-6.jsonl")  # of bench/pairs
SIZES = (20, 60, 250)  # turns of a home
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
HEAD = '"""Weights of the confidence in rules/finding/fuse.py, written by scripts/fit_confidence.py; do not edit."""\n\n'
KEPT = 0.9  # of the answerable questions that are to be sure enough
START = datetime(2026, 1, 1, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Example:
    """A question: of which set, what is known of its best hits, and whether the memory answers it."""

    of: str
    known: Mapping[str, float]
    answered: bool


def of_pairs(file: Path, size: int) -> Iterator[Case]:
    """Homes of turns by one author: half of what is asked about was said, of the rest only near misses."""
    items = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for first in range(0, len(items) // 2 if size > 100 else size * 4, size):
        said, others = items[first : first + size : 2], items[first + 1 : first + size : 2]
        texts = [one["said"] for one in said] + [one["near"][0] for one in others]
        turns = [Turn(str(n), "user", text, START + timedelta(hours=7 * n)) for n, text in enumerate(texts)]
        sessions = tuple(Session(turn.id, turn.at, (turn,)) for turn in turns)
        yield Case(
            file.stem,
            f"{file.stem} {size}",
            "mixed",
            sessions,
            _asked(said, turns[-1].at),
            0,
            _asked(others, turns[-1].at, gold=False),
        )


def _asked(items: Sequence[Mapping[str, Any]], at: datetime, *, gold: bool = True) -> tuple[Question, ...]:
    return tuple(
        Question(
            f"{n} {text}", "", "", text, at + timedelta(days=9), *([frozenset({str(n)})] * 2 if gold else [frozenset[str]()] * 2)
        )
        for n, item in enumerate(items)
        for texts in item["ask"].values()
        for text in texts
    )


def of_authors() -> Iterator[tuple[str, Case, int]]:
    """Homes of the held authors: the name of the set, a case, and how many of its questions are asked at most."""
    for name in HELD:
        for size in SIZES:
            for case in of_pairs(ROOT / "bench" / "pairs" / name, size):
                yield f"{case.id} {size}", case, 400


def of_others() -> Iterator[tuple[str, Case, int]]:
    """The bilingual set likewise."""
    for case in datasets.read(ROOT / "bench" / "bilingual" / "bilingual.json"):
        yield "bilingual", case, 150


def examples(cases: Iterator[tuple[str, Case, int]], captured: list[Mapping[str, float]], cached: Any | None) -> Iterator[Example]:
    """Tell each case to a home of its own, and ask."""
    foreign = [one["ask"] for one in map(json.loads, (ROOT / "bench/pairs/talk-1.jsonl").read_text(encoding="utf-8").splitlines())]
    never = [text for asked in foreign[:60] for texts in asked.values() for text in texts[:1]] + [*GENERAL]
    options = quality.Options()
    for of, case, most in cases:
        with tempfile.TemporaryDirectory(prefix="yiku-fit-") as scratch:
            talk = quality.Conversation(Path(scratch) / "home", cached, options)
            with closing(talk.memory):
                talk.add(case.sessions)
                known = len(case.sessions)
                chosen = [one for one in case.questions if one.before is None or one.before <= known]
                for question in chosen[:: max(1, len(chosen) // most)]:
                    yield from _example(of, talk, question, captured, answered=True)
                    if len(case.questions) < most * 3 and not of.startswith("talk"):
                        with talk.without(sorted(question.gold_sessions & {*talk.session_of.values()})):
                            yield from _example(of, talk, question, captured, answered=False)
                for question in case.unanswerable[: most // 2]:
                    yield from _example(of, talk, question, captured, answered=False)
                for text in [*GENERAL] if of.startswith("talk") else never:
                    asked = Question(text, "", "", text, talk.last + timedelta(days=1), frozenset(), frozenset())
                    yield from _example(of, talk, asked, captured, answered=False)


def _example(of: str, talk: quality.Conversation, question: Question, captured: list[Any], *, answered: bool) -> Iterator[Example]:
    captured.clear()
    talk.recall(question)
    if captured:  # of talk, and of notes where there are any
        yield Example(of, dict(captured[0]), answered)


def fitted(some: Sequence[Example]) -> dict[str, float]:
    """The weights, by Newton's method; each set counts alike, and in it both sorts."""
    names = sorted({name for one in some for name in one.known})
    table = np.array([[1.0, *(one.known[name] for name in names)] for one in some])
    right = np.array([one.answered for one in some])
    groups = [(one.of, one.answered) for one in some]
    share = {group: groups.count(group) for group in {*groups}}
    mass = np.array([1000 / len(share) / share[group] for group in groups])
    weights = fit_supersede.logistic(table, right, mass, RIDGE * np.diag([0.0, *[1.0] * len(names)]), STEPS)
    found = dict(zip(["sure", *names], weights.tolist(), strict=True))
    scores = sorted(score(found, one) for one in some if one.answered)
    return found | {"sure": found["sure"] - scores[int((1 - KEPT) * len(scores))]}


def score(weights: Mapping[str, float], one: Example) -> float:
    return weights["sure"] + sum(weights[name] * value for name, value in one.known.items())


def check(some: Sequence[Example]) -> None:
    """Judge each set with the weights of the others."""
    for of in dict.fromkeys(one.of.partition(" ")[0] for one in some):
        weights = fitted([one for one in some if not one.of.startswith(of)])
        own = [one for one in some if one.of.startswith(of)]
        present, absent = ([score(weights, one) for one in own if one.answered is answered] for answered in (True, False))
        _, caught = metrics.caught(present, absent)
        passed = sum(value >= 0 for value in present) / len(present)
        area = metrics.auroc(present, absent)
        print(
            f"{of:12} {len(present):4} {len(absent):4}  AUROC {area:.3f}  caught {100 * caught:.1f}  kept at 0.5 {100 * passed:.0f}"
        )


def all_examples(held_out: Path) -> list[Example]:
    """Gather the examples; the held authors are asked with the adapter that was trained without them."""
    captured: list[Mapping[str, float]] = []
    real = fuse.nearness

    def noting(*given: Any) -> Mapping[str, float]:
        captured.append(real(*given))
        return captured[-1]

    fuse.nearness, shipped = noting, adapter.FILE
    some: list[Example] = []
    try:
        for file, cases in ((held_out, of_authors()), (shipped, of_others())):
            adapter.FILE = file
            with quality.embedder(quality.Options(search="local")) as cached:
                some += examples(cases, captured, cached)
    finally:
        fuse.nearness, adapter.FILE = real, shipped
    return some


def write(weights: Mapping[str, float]) -> None:
    """Write the module of the weights."""
    shown = json.dumps({name: round(value, 3) for name, value in weights.items()})
    WEIGHTS.write_text(f"{HEAD}WITH_VECTORS: dict[str, float] = {shown}\n", encoding="utf-8")


def main() -> None:
    """Fit, and write or judge the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adapter", type=Path)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    some = all_examples(given.adapter)
    if given.check:
        check(some)
    else:
        write(fitted(some))


if __name__ == "__main__":
    main()
