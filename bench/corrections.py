"""
End-to-end benchmark of corrections: which answer comes first after something changed, or only seemed to.

    python bench/corrections.py [CASES.jsonl …] [--set NAME …] [--model] [--wrong]

Without a file these are the cases of bench/conflicts with the questions of bench/corrections/questions.jsonl. Each
case is told to a fresh home by `record_turn`, turn by turn at its own time, and then asked by `recall` and `context`.
Everything undecided counts as wrong: a flag, an answer that stands second, a turn that was not found.

A case, one JSON object a line: `said` (turns with `at`, `text`, `role`, `session`), `ask` (`at`, `text`), and what is
true when it is asked: `first`, the turns one of which must give the first hit; `answer`, groups of alternatives of which
the hit must show one each; `outdated`, values (`turn`, `words`) that no longer hold; `holds`, turns of which nothing is
outdated; `retires`, pairs (later, earlier) of a plain change that must end the earlier statement when it is recorded.
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "bench")]  # this checkout, installed or not

import embedded  # noqa: E402  (after the path)

from yiku import Memory  # noqa: E402
from yiku.rules.learning.drafts import drafts  # noqa: E402
from yiku.types import Cardinality, Hit, SemanticMemory, Turn  # noqa: E402

TMPFS = Path("/dev/shm")
MARKS = re.compile(r"said later|no longer so|taken back|此后另有说法|已不再成立|已收回")
CASES = ROOT / "bench" / "conflicts"
QUESTIONS = ROOT / "bench" / "corrections" / "questions.jsonl"
WEEKS_LATER = timedelta(days=20)
CONTEXT_TOKENS = 700
IMPLICIT = "implicit"  # kinds that only knowledge of the world decides have this in their name


@dataclass
class Judged:
    """How one case came out. Counts are (how many went well, of how many)."""

    id: str
    kind: str
    first: bool
    found: bool  # among the first five
    marked: tuple[int, int]  # outdated values that context shows: marked, shown
    spared: tuple[int, int]  # statements that hold and that context shows: not marked, shown
    retired: tuple[int, int]
    plain: tuple[int, int]  # of these the changes of which both statements fill one slot of one value
    why: list[str] = field(default_factory=list)


def tell(memory: Memory, clock: list[datetime], case: Mapping[str, Any]) -> list[Turn]:
    """Record the turns of a case, each at its own time, and let the clock go on to when it is asked."""
    turns: list[Turn] = []
    for said in case["said"]:
        clock[0] = _time(said["at"])
        session = said.get("session") or said["at"][:10]
        speaker = {"speaker": said["speaker"]} if "speaker" in said else {}
        turns.append(memory.record_turn(said.get("role", "user"), said["text"], session=session, **speaker))
    clock[0] = _time(case["ask"]["at"])
    return turns


def judged(case: Mapping[str, Any], folder: Path, *, model: bool, settings: Mapping[str, Any] | None = None) -> Judged:
    """Tell a case to a fresh home, ask, and compare. settings: a chat model by which the home also learns (bench/with_model.py)."""
    clock = [_time(case["said"][0]["at"])]
    given: dict[str, Any] = {**({"embedder": local_model()} if model else {"search": "words"}), **(settings or {})}
    with Memory(folder, owner="user:owner", clock=lambda: clock[0], durability="fast", **given) as memory:
        turns = tell(memory, clock, case)
        if settings:
            memory.learn()
        if model:
            memory.admin.embed()  # a program does it beside its work
        places = {turn.id: place for place, turn in enumerate(turns)}
        hits = memory.recall(case["ask"]["text"], limit=5)
        shown = memory.context(case["ask"]["text"], max_tokens=CONTEXT_TOKENS)
        result = Judged(case["id"], case["kind"], False, False, (0, 0), (0, 0), (0, 0), (0, 0))
        result.first = bool(hits) and _answers(case, hits[0], places)
        result.found = any(_answers(case, hit, places) for hit in hits)
        if not result.first:
            result.why += [f"first: {hit.text!r}" for hit in hits[:2]] or ["nothing was found"]
        _judge_context(case, shown.text, shown.hits, places, result)
        learned = memory.get_all(limit=1000, where=None)
        result.retired, result.plain = _retired(case, memory, turns, learned)
    return result


@cache
def local_model() -> embedded.Cached:
    """The local model, loaded once, behind the file of vectors that the other benchmarks use."""
    from yiku.models.e5 import LocalE5

    return embedded.Cached(LocalE5(), embedded.default_path())


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone()


def _turns_of(hit: Hit, places: Mapping[str, int]) -> set[int]:
    """The places of the turns that a hit comes from."""
    if isinstance(hit.item, SemanticMemory):
        return {places[source.turn] for source in hit.item.sources if source.turn in places}
    return {places[hit.id]} if hit.id in places else set()


def _answers(case: Mapping[str, Any], hit: Hit, places: Mapping[str, int]) -> bool:
    text = hit.text.casefold()
    return bool(_turns_of(hit, places) & set(case["first"])) and all(
        any(word in text for word in group) for group in case["answer"]
    )


def _judge_context(case: Mapping[str, Any], text: str, hits: Sequence[Hit], places: Mapping[str, int], result: Judged) -> None:
    """Whether what context shows of an outdated value is marked, and what holds is not."""
    lines = text.casefold().splitlines()
    marked = shown = spared = valid = 0
    outdated = {value["turn"] for value in case["outdated"]}
    for hit in hits:
        for line in (line for line in lines if line.startswith("-") and f"#{hit.id[-8:]}" in line[line.rfind("(") :]):
            own = line[: line.rfind("(")]
            for value in case["outdated"]:
                there = [own.find(words) for words in _words(value) if words in own]
                if value["turn"] in _turns_of(hit, places) and there:
                    shown += 1
                    marked += (found := MARKS.search(line, min(there))) is not None
                    result.why += [] if found else [f"unmarked: {line}"]
            if _turns_of(hit, places) & (set(case["holds"]) | set(case["first"])) - outdated:
                valid += 1
                spared += (wrongly := MARKS.search(line)) is None
                result.why += [f"marked: {line}"] if wrongly else []
    result.marked, result.spared = (marked, shown), (spared, valid)


def _words(value: Mapping[str, Any]) -> list[str]:
    """The words of an outdated value, one or several alternatives."""
    found_words = value["words"]
    return [word.casefold() for word in ([found_words] if isinstance(found_words, str) else found_words)]


def _retired(
    case: Mapping[str, Any], memory: Memory, turns: Sequence[Turn], learned: Iterable[SemanticMemory]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """
    Count the plain changes that ended the earlier statement at once.

    And the same of those of which both statements fill one slot of one value, as they are learned alone.
    """
    done = known = known_done = 0
    live = [(memory.get(one.id), one) for one in learned if one.live]
    for later, earlier in case.get("retires", ()):
        words = [word for value in case["outdated"] if value["turn"] == earlier for word in _words(value)]
        ended = [version for version in _versions(memory, live, turns[later].id) if _from(version, turns[earlier].id)]
        current = [one for _, one in live if _from(one, turns[earlier].id) and any(w in one.content.casefold() for w in words)]
        retired, both = bool(ended) and not current, bool(_slots(turns[later]) & _slots(turns[earlier]))
        done, known, known_done = done + retired, known + both, known_done + (retired and both)
    return (done, len(case.get("retires", ()))), (known_done, known)


def _slots(turn: Turn) -> set[str]:
    """The slots of one value that a turn fills, alone."""
    found = (draft.slot for draft in drafts(turn.content, said_at=turn.said_at))
    return {slot.key for slot in found if slot is not None and slot.cardinality is Cardinality.SINGLE}


def _versions(memory: Memory, live: Iterable[tuple[Any, SemanticMemory]], turn: str) -> Iterator[SemanticMemory]:
    """The earlier versions of the lines of what was learned from a turn."""
    for full, one in live:
        if _from(full, turn):
            yield from (version for version in memory.history(one.id) if not version.live)


def _from(memory: Any, turn: str) -> bool:
    return any(source.turn == turn for source in memory.sources)


def known(names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The cases of bench/conflicts with their questions, of all sets or of some."""
    sentences = {}
    for path in sorted(CASES.rglob("*.jsonl")):
        of = "first" if path.parent == CASES else path.parent.name
        sentences |= {f"{of}/{case['id']}": (path.stem, case) for case in map(json.loads, path.read_text("utf-8").splitlines())}
    for line in QUESTIONS.read_text("utf-8").splitlines():
        question = json.loads(line)
        kind, case = sentences[question["case"]]
        if not names or question["case"].partition("/")[0] in names:
            asked = {"at": (_time(case["said"][-1]["at"]) + WEEKS_LATER).isoformat(), "text": question["ask"]}
            changes = "change" if question["outdated"] else "look"
            yield {**case, **question, "id": question["case"], "kind": f"{changes}-{kind}", "ask": asked}


def lines(results: Sequence[Judged]) -> Iterator[str]:
    """The report: a line a kind, then the sums."""
    kinds = list(dict.fromkeys(one.kind for one in results))
    yield f"{'kind':22} cases first  share  any@5 | outdated unmarked | holding marked | retired at once: all, of one slot"
    sums = [
        ("all", results),
        ("all but implicit", [one for one in results if IMPLICIT not in one.kind]),
        ("changes", [one for one in results if one.kind.startswith("change")]),
        ("changes but implicit", [one for one in results if one.kind.startswith("change") and IMPLICIT not in one.kind]),
        ("look-alikes", [one for one in results if one.kind.startswith("look")]),
    ]
    for name, among in [*((kind, [one for one in results if one.kind == kind]) for kind in kinds), *sums]:
        if not among:
            continue
        first, found = sum(one.first for one in among), sum(one.found for one in among)
        marked, shown = (sum(one.marked[i] for one in among) for i in (0, 1))
        spared, valid = (sum(one.spared[i] for one in among) for i in (0, 1))
        retired, changes = (sum(one.retired[i] for one in among) for i in (0, 1))
        plain, slots = (sum(one.plain[i] for one in among) for i in (0, 1))
        yield (
            f"{name:22} {len(among):5} {first:5} {100 * first / len(among):6.1f} {100 * found / len(among):6.1f} "
            f"| {shown - marked:4} of {shown:4} {_share(shown - marked, shown)} "
            f"| {valid - spared:3} of {valid:4} {_share(valid - spared, valid)} | {retired} of {changes}, {plain} of {slots}"
        )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:4.0f}%" if whole else "    -"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", type=Path, help="JSON Lines of cases")
    parser.add_argument("--set", action="append", default=[], metavar="NAME", help="only this set of bench/conflicts")
    parser.add_argument("--model", action="store_true", help="with the local model, if it is installed")
    parser.add_argument("--wrong", action="store_true", help="show what went wrong; never on a sealed set")
    given = parser.parse_args()
    cases = [json.loads(line) for path in given.cases for line in path.read_text("utf-8").splitlines() if line.strip()]
    cases = cases or [*known(given.set)]
    with tempfile.TemporaryDirectory(dir=TMPFS if TMPFS.is_dir() else None) as scratch:
        results = [judged(case, Path(scratch) / str(i), model=given.model) for i, case in enumerate(cases)]
    if given.wrong:
        for one in results:
            if one.why:
                print(one.id, *one.why, sep="\n    ")
    print(*lines(results), sep="\n")


if __name__ == "__main__":
    main()
