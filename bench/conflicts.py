"""
Benchmark of conflict decisions over the labelled cases of bench/conflicts (format in its README).

    python bench/conflicts.py [FOLDER] [--wrong] [--json OUT]

Each case is told twice through the public API, each utterance at its own time to a fresh home: once by its text
alone, once with its slot named. Then the fate of each statement is compared with its verdict. A case is right when
all of them hold, and counts neither way when what does not was kept and flagged as a possible conflict. It is
destructive when something that should live was replaced, merged or taken back by what speaks of something else.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))  # this checkout, installed or not

from yiku import Memory  # noqa: E402  (after the path)
from yiku.rules.deciding import slots  # noqa: E402
from yiku.types import Cardinality, Confirmed, Outcome, Refused, Retracted, SemanticMemory  # noqa: E402

CASES = ROOT / "bench" / "conflicts"
TMPFS = Path("/dev/shm")
RUNS = ("stated", "free text")
Z = 1.96  # of the normal distribution: intervals of 95 %


@dataclass
class Told:
    """One utterance, what `remember` made of it, and the statement that it belongs to: the first utterance that said it."""

    text: str
    slot: Sequence[str] | None
    outcome: Outcome
    statement: int
    live: bool = False
    slots: frozenset[str] = frozenset()  # that its live rows fill
    flagged: bool = False


@dataclass(frozen=True)
class Judged:
    """How a case came out, and why not right."""

    id: str
    verdict: str  # right, wrong, flagged
    destructive: bool
    why: tuple[str, ...]
    what: tuple[str, ...]


# ------------------------------------------------------------------ telling


def run_case(case: Mapping[str, Any], *, stated: bool, folder: Path) -> list[Told]:
    """A case told to a fresh home, and what became of each utterance after the last."""
    at = [datetime.fromisoformat(said["at"]).astimezone() for said in case["said"]]
    now = iter(at)
    clock = [at[0]]
    owners: dict[str, int] = {}  # rows, and the utterance that each belongs to
    utterances: list[Told] = []
    with Memory(folder, owner="user:owner", names=["Owner"], clock=lambda: clock[0], durability="fast", search="words") as memory:
        for i, said in enumerate(case["said"]):
            clock[0] = next(now)
            details = {"said_at": clock[0], "session": said.get("session") or said["at"][:10]}
            if "speaker" in said:
                details["speaker"] = said["speaker"]
            if stated and said["slot"]:
                details |= dict(zip(("subject", "predicate", "object", "cardinality"), said["slot"], strict=True))
            outcome = memory.remember(said["text"], **details)
            row = outcome.said if isinstance(outcome, Retracted) else None if isinstance(outcome, Refused) else outcome.memory
            statement = i
            if row is not None:
                statement = _statement(memory, outcome, row, owners, i)
                owners.setdefault(row.id, statement)
            utterances.append(Told(said["text"], said["slot"], outcome, statement))
        _settle(memory, utterances, owners)
    return utterances


def _statement(memory: Memory, outcome: Outcome, row: SemanticMemory, owners: Mapping[str, int], i: int) -> int:
    """The utterance that first said what this one says, if it was confirmed; else its own."""
    if row.id in owners:
        return owners[row.id]
    if isinstance(outcome, Confirmed):
        before = [version.id for version in memory.history(row.id) if version.id in owners]
        return owners[before[-1]] if before else i
    return i


def _settle(memory: Memory, utterances: Sequence[Told], owners: Mapping[str, int]) -> None:
    rows = [(owner, memory.get(id)) for id, owner in owners.items()]
    for one in utterances:
        live = [row for owner, row in rows if owner == one.statement and row.live and row.valid_to is None]
        one.live, one.flagged = bool(live), any(row.flag for row in live)
        one.slots = frozenset(row.slot for row in live if row.slot)


# ------------------------------------------------------------------ judging


def judged(case: Mapping[str, Any], utterances: Sequence[Told]) -> Judged:
    """The fate of each statement against its verdict."""
    failing = [(i, why) for i in range(len(utterances)) if (why := _fails(case, i, utterances))]
    touched = [i for i, one in enumerate(utterances) if one.flagged]
    verdict = "wrong" if any(not utterances[i].flagged for i, _ in failing) else "flagged" if touched else "right"
    why = tuple(f"utterance {i} should be {case['then'][i]}: {why}" for i, why in failing)
    what = tuple(f"{_shown(one)}  {one.text}" for one in utterances)
    return Judged(case["id"], verdict, _destructive(case["then"], utterances), why, what)


def _fails(case: Mapping[str, Any], i: int, utterances: Sequence[Told]) -> str:
    """Why a verdict does not hold; empty when it does."""
    then, verdict, planned = case["then"], case["then"][i], case["id"].startswith("plans")
    one = utterances[i]
    if verdict.startswith("same:"):
        return "" if one.statement == utterances[int(verdict[5:])].statement else "it is a statement of its own"
    twins = [k for k, other in enumerate(utterances) if other.statement == one.statement and k != i]
    if any(then[k] != f"same:{i}" and verdict != f"same:{k}" for k in twins) and verdict != "none":
        return f"it is one with {twins}"
    if verdict == "live":
        return "" if one.live else "it does not live"
    if verdict == "past":
        return "it lives" if one.live else ""
    if one.slot is not None and (one.slots or not planned):
        return "it lives" if one.live else ""
    if one.slot is not None:  # a plan that is kept as what it is fills no slot
        return ""
    named = {key for other in utterances if other.slot is not None for key in _keys(other)}
    return "it fills a slot of the case" if one.slots & named else ""


def _keys(one: Told) -> Iterator[str]:
    """The keys of the slot that an utterance names: as its label has it, and as it was read."""
    subject, predicate, object_, cardinality = one.slot or ("", "", "", "unknown")
    yield slots.stated(subject, predicate, object_, Cardinality(cardinality)).key
    row = one.outcome.memory
    if row.slot:
        yield row.slot


def _destructive(then: Sequence[str], utterances: Sequence[Told]) -> bool:
    """Whether something that should live ended, or was merged, by what speaks of something else."""
    for i, verdict in enumerate(then):
        one = utterances[i]
        again = any(then[k] == f"same:{i}" or _same_slot(one, other) for k, other in enumerate(utterances) if k > i and other.live)
        if verdict == "live" and not one.live and not again:
            return True
        for k, other in enumerate(utterances):
            merged = k < i and other.statement == one.statement
            if merged and verdict != f"same:{k}" and not _same_slot(one, other):
                return True
    return False


def _same_slot(one: Told, other: Told) -> bool:
    """Whether the labels name one slot: that of a subject and predicate with one value, or with the same value."""
    if not one.slot or not other.slot or one.slot[:2] != other.slot[:2]:
        return False
    return "multi" not in (one.slot[3], other.slot[3]) or one.slot[2] == other.slot[2]


def _shown(one: Told) -> str:
    """What became of an utterance, in a word or two, with the slot that was seen."""
    outcome = one.outcome
    row = outcome.memory
    slot = f"{row.slot or (row.subject and '(' + row.subject + '|' + str(row.predicate) + ')')} = {row.object}"
    return f"{type(outcome).__name__.lower():9} {'live' if one.live else 'not live':8} [{slot}]"


# ------------------------------------------------------------------ reporting


def wilson(right: int, of: int) -> tuple[float, float]:
    """The interval of a share (Wilson, 95 %), in per cent."""
    if of == 0:
        return 0.0, 100.0
    share, z2 = right / of, Z * Z
    middle, half = share + z2 / (2 * of), Z * (share * (1 - share) / of + z2 / (4 * of * of)) ** 0.5
    return max(0.0, 100 * (middle - half) / (1 + z2 / of)), min(100.0, 100 * (middle + half) / (1 + z2 / of))


def cases(folder: Path) -> dict[str, list[Any]]:
    """The cases of a folder by kind: one file a kind."""
    return {
        path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in sorted(folder.glob("*.jsonl"))
    }


def run(found: Mapping[str, Iterable[Any]]) -> dict[str, dict[str, list[Judged]]]:
    """Every case in both runs: run, kind, how each came out."""
    results: dict[str, dict[str, list[Judged]]] = {name: {} for name in RUNS}
    with tempfile.TemporaryDirectory(dir=TMPFS if TMPFS.is_dir() else None) as scratch:
        for name in RUNS:
            for kind, among in found.items():
                results[name][kind] = [
                    judged(case, run_case(case, stated=name == "stated", folder=Path(scratch) / f"{name[0]}-{case['id']}"))
                    for case in among
                ]
    return results


def figures(among: Sequence[Judged]) -> dict[str, Any]:
    """Counts, and the share of what was right among what was right or wrong."""
    counts = Counter(one.verdict for one in among)
    right, wrong = counts["right"], counts["wrong"]
    low, high = wilson(right, right + wrong)
    return {
        "cases": len(among),
        "right": right,
        "wrong": wrong,
        "flagged": counts["flagged"],
        "destructive": sum(one.destructive for one in among),
        "share": round(100 * right / max(right + wrong, 1), 1),
        "interval": [round(low, 1), round(high, 1)],
    }


def lines(results: Mapping[str, Mapping[str, list[Judged]]]) -> Iterator[str]:
    """The report as a table a run."""
    for name, kinds in results.items():
        yield f"{name:14} cases right wrong flagged destructive  share  95 %"
        every = [one for among in kinds.values() for one in among]
        for kind, among in [*kinds.items(), ("all", every)]:
            f = figures(among)
            row = f"{kind:14} {f['cases']:5} {f['right']:5} {f['wrong']:5} {f['flagged']:7} {f['destructive']:11}"
            yield f"{row}  {f['share']:5.1f}  {f['interval'][0]:.1f} to {f['interval'][1]:.1f}"
        yield ""


def wrong(results: Mapping[str, Mapping[str, list[Judged]]]) -> Iterator[str]:
    """The cases that failed, with what happened."""
    for name, kinds in results.items():
        for among in kinds.values():
            for one in among:
                if one.verdict != "right" or one.destructive:
                    yield f"{one.id} ({name}) {one.verdict}{', destructive' if one.destructive else ''}: {'; '.join(one.why)}"
                    yield from (f"    {line}" for line in one.what)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=CASES, help="where the cases lie, one JSON Lines file a kind")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures and each case there too")
    parser.add_argument("--wrong", action="store_true", help="list the cases that are not right, with what happened")
    given = parser.parse_args()
    results = run(cases(given.folder))
    if given.wrong:
        print(*wrong(results), sep="\n", end="\n\n")
    print(*lines(results), sep="\n")
    if given.json:
        every = {
            name: {
                "kinds": {kind: figures(among) for kind, among in kinds.items()},
                "all": figures([one for among in kinds.values() for one in among]),
                "cases": [asdict(one) for among in kinds.values() for one in among],
            }
            for name, kinds in results.items()
        }
        given.json.write_text(json.dumps(every, ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    main()
