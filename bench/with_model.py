"""
What a chat model adds: statements learned, corrections, and questions that it answers rightly from `context`.

    python bench/with_model.py --url http://127.0.0.1:8080/v1 --model NAME [--key KEY] [--part PART] [--limit 20] [DATA.json…]

Any OpenAI-compatible endpoint will do; bench/small_model.py serves a small one on this machine. All cases are invented and in this
repository, English and Chinese, drawn by the seed; DATA are questions of LongMemEval, for the answers alone. Each figure stands beside
the same without a model, over the same cases:

    extraction   bench/learning/kinds.jsonl: a turn that says something outright is recorded, and learned from. Found: items that it
                 says outright; wrong: live memories that say none of its items.
    corrections  bench/conflicts with its questions: the cases are told turn by turn and asked (bench/corrections.py)
    answers      the same questions, and those of DATA: the model is given what `context` returns, and asked. Right: the reply has a
                 word of each group of the answer, and no outdated value. Beside it: the same question without context, and how often
                 the answer stands in the context at all, which is the most that any model could get right from it.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "bench")]  # this checkout, installed or not

import corrections  # noqa: E402  (after the path)
import learning  # noqa: E402

from yiku import Memory  # noqa: E402

PARTS = ("extraction", "corrections", "answers")
CONTEXT_TOKENS = 400
REPLY_TOKENS = 60
TIMEOUT_S = 300.0
PROMPT = {
    "en": "Answer the question in a few words, only from what memory says. If memory does not say it, answer: unknown.",
    "zh": "只根据记忆的内容，用几个字回答问题。如果记忆中没有，回答：不知道。",
}
_SHORT_WORDS = 6  # of an answer that can be looked for in a reply
_WORD = re.compile(r"[a-z]+|\d+(?:[.,]\d+)*|[\u4e00-\u9fff]")
_DROPPED = frozenset("a an the in on at of to my your his her their i it is was and for with from by".split())


@dataclass
class Endpoint:
    """An OpenAI-compatible endpoint, and what it was asked."""

    url: str
    model: str
    key: str | None
    most_tokens: int = 512  # of a reply from which is learned
    asked: int = 0
    tokens: int = 0
    seconds: float = 0.0

    def learned(self, memory: Memory) -> None:
        """Count what a memory asked it."""
        calls = memory.admin.spent()
        self.asked += len(calls)
        self.tokens += sum((call.prompt_tokens or 0) + (call.completion_tokens or 0) for call in calls)
        self.seconds += sum(call.seconds for call in calls)

    def settings(self) -> dict[str, Any]:
        """Settings of a memory that learns by it."""
        given = {"chat_url": self.url, "chat_model": self.model, "chat_timeout_s": TIMEOUT_S, "chat_max_tokens": self.most_tokens}
        return given | ({"chat_key": self.key} if self.key else {})

    def reply(self, system: str, question: str) -> str:
        """Ask, and return what it says."""
        body = {
            "model": self.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": question}],
            "temperature": 0,
            "max_tokens": REPLY_TOKENS,
        }
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self.key}"} if self.key else {})
        request = urllib.request.Request(f"{self.url.rstrip('/')}/chat/completions", json.dumps(body).encode(), headers)
        began = time.monotonic()
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answered:
            said = json.load(answered)
        self.asked, self.seconds = self.asked + 1, self.seconds + time.monotonic() - began
        self.tokens += (said.get("usage") or {}).get("total_tokens", 0)
        return str(said["choices"][0]["message"]["content"])


@dataclass
class Learned:
    """What was learned from some marked turns."""

    items: int = 0
    found: int = 0
    memories: int = 0
    wrong: int = 0

    def line(self, name: str) -> str:
        """A line of the report."""
        return f"  {name:12} {self.found:4} of {self.items} items, {self.wrong} of {self.memories} memories say none of them"


def extraction(endpoint: Endpoint, marks: Sequence[Mapping[str, Any]], folder: Path) -> tuple[Learned, Learned, list[str]]:
    """Return what rules alone and what rules and model learn, and what went wrong with the model."""
    by_rules, both, troubles = Learned(), Learned(), list[str]()
    for number, mark in enumerate(marks):
        for model, sums in ((False, by_rules), (True, both)):
            more = endpoint.settings() if model else {}
            place = folder / f"{number}-{model}"
            with Memory(place, owner="user:owner", clock=lambda: learning.INVENTED_AT, search="words", **more) as memory:
                memory.record_turn("user", mark["text"], session="s")
                memory.learn()
                if model:
                    troubles += [str(job.error) for job in memory.admin.queue() if job.error]
                    endpoint.learned(memory)
                texts = [one.content for one in memory.get_all(limit=1_000)]
            said = [item for item in mark["must"] if item["explicit"]]
            sums.items += len(said)
            sums.found += sum(any(learning.matches(text, item) for text in texts) for item in said)
            sums.memories += len(texts)
            sums.wrong += sum(not any(learning.matches(text, item) for item in (*mark["must"], *mark["may"])) for text in texts)
    return by_rules, both, troubles


@dataclass
class Answered:
    """How questions were answered."""

    asked: int = 0
    there: int = 0
    right: int = 0
    without: int = 0
    wrong: list[str] = field(default_factory=list)

    def line(self, name: str) -> str:
        """A line of the report."""
        return f"  {name:12} {self.right:4} of {self.asked} right; {self.without} without context; in {self.there} the context has the answer"


@dataclass(frozen=True)
class Question:
    """What is told, asked and right; `outdated` are words of values that no longer hold."""

    id: str
    text: str
    said: Sequence[Mapping[str, Any]]
    at: datetime
    answer: Sequence[Sequence[str]]
    outdated: Sequence[str] = ()


def answers(endpoint: Endpoint, questions: Sequence[Question], folder: Path) -> Answered:
    """Tell each case to a fresh home, and let the model answer from its context."""
    result = Answered()
    for number, one in enumerate(questions):
        clock = [one.at]
        with Memory(folder / str(number), owner="user:owner", clock=lambda: clock[0], search="words", durability="fast") as memory:  # noqa: B023
            memory.record(one.said)
            context = memory.context(one.text, max_tokens=CONTEXT_TOKENS).text
        system = PROMPT["zh" if re.search(r"[\u4e00-\u9fff]", one.text) else "en"]
        reply = endpoint.reply(f"{system}\n\n{context}", one.text)
        result.asked += 1
        result.there += says(context, one)
        result.right += (right := says(reply, one) and not any(word in reply.casefold() for word in one.outdated))
        result.without += says(endpoint.reply(system, one.text), one)
        result.wrong += [] if right else [f"{one.id}: {one.text!r} → {reply!r}"]
    return result


def says(text: str, one: Question) -> bool:
    """Whether a text has a word of each group of the answer."""
    folded = text.casefold()
    return all(any(word in folded for word in group) for group in one.answer)


def of_corrections(case: Mapping[str, Any]) -> Question:
    """The question of a case of bench/corrections.py."""
    outdated = [word for value in case["outdated"] for word in corrections._words(value)]
    right = " ".join(word for group in case["answer"] for word in group)
    said = [{"role": "user", "content": turn["text"], "said_at": turn["at"], "session": turn["at"][:10]} for turn in case["said"]]
    at = datetime.fromisoformat(case["ask"]["at"]).astimezone()
    return Question(case["id"], case["ask"]["text"], said, at, case["answer"], [word for word in outdated if word not in right])


def of_longmemeval(path: Path) -> Iterator[Question]:
    """The questions of a file whose answers are short enough to be looked for."""
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else open(path, encoding="utf-8") as file:
        for case in json.load(file):
            words = [word for word in _WORD.findall(str(case["answer"]).casefold()) if word not in _DROPPED]
            if not 0 < len(words) <= _SHORT_WORDS or case["question_id"].endswith("_abs"):
                continue
            said = [
                {"role": turn["role"], "content": turn["content"] or "…", "said_at": _moment(date).isoformat(), "session": id}
                for id, date, turns in zip(
                    case["haystack_session_ids"], case["haystack_dates"], case["haystack_sessions"], strict=True
                )
                for turn in turns
            ]
            yield Question(case["question_id"], case["question"], said, _moment(case["question_date"]), [[word] for word in words])


def _moment(text: str) -> datetime:
    return datetime.strptime(re.sub(r" \(\w+\)", "", text), "%Y/%m/%d %H:%M").astimezone()


def report_extraction(endpoint: Endpoint, marks: Sequence[Mapping[str, Any]], folder: Path) -> Iterator[str]:
    """Yield the lines on what is learned."""
    by_rules, both, troubles = extraction(endpoint, marks, folder)
    yield f"extraction, {len(marks)} turns"
    yield by_rules.line("rules")
    yield both.line("rules, model")
    yield f"  {len(troubles)} of {endpoint.asked} replies could not be used"
    yield from (f"    {trouble[:120]}" for trouble in sorted({*troubles})[:5])


def report_corrections(endpoint: Endpoint, cases: Sequence[Mapping[str, Any]], folder: Path) -> Iterator[str]:
    """Yield the lines on what holds after a correction."""
    yield f"corrections, {len(cases)} cases"
    for name, more in (("rules", {}), ("rules, model", endpoint.settings())):
        judged = [
            corrections.judged(case, folder / f"{name}{number}", model=False, settings=more) for number, case in enumerate(cases)
        ]
        yield f"  {name}"
        yield from (f"    {line}" for line in corrections.lines(judged) if line.startswith(("kind", "all  ")))


def report_answers(endpoint: Endpoint, groups: Mapping[str, Sequence[Question]], folder: Path, wrong: bool) -> Iterator[str]:
    """Yield the lines on what is answered rightly."""
    yield f"answers from {CONTEXT_TOKENS} tokens of context"
    for name, questions in groups.items():
        result = answers(endpoint, questions, folder / name)
        yield result.line(name)
        yield from (f"    {one}" for one in result.wrong if wrong)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", type=Path, help="questions of LongMemEval")
    parser.add_argument("--url", required=True, help="the endpoint, ending in /v1")
    parser.add_argument("--model", required=True, help="its model")
    parser.add_argument("--key", help="its key, if it wants one")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--limit", type=int, default=20, help="cases of each part")
    parser.add_argument("--max-tokens", type=int, default=512, help="of a reply from which is learned")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wrong", action="store_true", help="show the answers that were wrong")
    given = parser.parse_args()
    endpoint, chance = Endpoint(given.url, given.model, given.key, given.max_tokens), random.Random(given.seed)
    outright = [mark for mark, _, _ in learning.kinds() if any(item["explicit"] for item in mark["must"])]
    marks = chance.sample(outright, min(given.limit, len(outright)))
    cases = chance.sample([*corrections.known([])], given.limit)
    groups = {"invented": [of_corrections(case) for case in cases]}
    for path in given.data:
        found = [*of_longmemeval(path)]
        groups[path.name.partition(".")[0]] = chance.sample(found, min(given.limit, len(found)))
    with tempfile.TemporaryDirectory(dir=corrections.TMPFS if corrections.TMPFS.is_dir() else None) as scratch:
        folder = Path(scratch)
        parts = {
            "extraction": report_extraction(endpoint, marks, folder / "extraction"),
            "corrections": report_corrections(endpoint, cases, folder / "corrections"),
            "answers": report_answers(endpoint, groups, folder / "answers", given.wrong),
        }
        for name in given.part or PARTS:
            for line in parts[name]:
                print(line, flush=True)
    print(f"{endpoint.asked} calls, {endpoint.tokens} tokens, {endpoint.seconds:.0f} s")


if __name__ == "__main__":
    main()
