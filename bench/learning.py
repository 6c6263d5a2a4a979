"""
Benchmark of learning by rules against labelled turns (format and judging: bench/learning/README.md).

    python bench/learning.py DATA_FOLDER [MARKS]     the figures; of the marks in bench/learning, or in a folder like it
    python bench/learning.py DATA_FOLDER --asked     also the questions of marks that have some, end to end
    python bench/learning.py DATA_FOLDER --asked --model     these questions with the local model
    python bench/learning.py DATA_FOLDER --wrong     and each item that was missed, each memory that was wrong

Every turn is given to the rules alone (`drafts`), as its user's, at its own date. What they say counts as
learned; a retraction by itself adds nothing. Files are read where they lie.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import corrections
import marked_talk
from rich.console import Console
from rich.table import Table

from yiku import Memory
from yiku.rules.learning.drafts import drafts
from yiku.types import Hit, SemanticMemory
from yiku.types.learning import Draft

MARKS = Path(__file__).parent / "learning"
INVENTED_AT = datetime(2026, 4, 15, 12, tzinfo=UTC)  # when the cases of kinds.jsonl are said


@dataclass(frozen=True, slots=True)
class Judged:
    """A marked turn with what was learned from it."""

    mark: dict[str, Any]
    text: str
    learned: tuple[Draft, ...]

    @property
    def explicit(self) -> list[dict[str, Any]]:
        """What must be learned and is said outright."""
        return [item for item in self.mark["must"] if item["explicit"]]

    @property
    def missed(self) -> list[dict[str, Any]]:
        """What must be learned and was not."""
        return [item for item in self.mark["must"] if not any(matches(draft.text, item) for draft in self.learned)]

    @property
    def wrong(self) -> list[Draft]:
        """What was learned and matches nothing."""
        items = [*self.mark["must"], *self.mark["may"]]
        return [draft for draft in self.learned if not any(matches(draft.text, item) for item in items)]


def matches(content: str, item: dict[str, Any]) -> bool:
    """Whether a memory says an item: of every group of words, one occurs."""
    folded = content.casefold()
    return all(any(word in folded for word in group) for group in item["words"])


# ------------------------------------------------------------------ the turns


def turns(folder: Path, marked: Path = MARKS) -> list[tuple[dict[str, Any], str, datetime]]:
    """The marks of turns.jsonl with their texts and dates; a text that is not the marked one ends the run."""
    marks = [json.loads(line) for line in (marked / "turns.jsonl").read_text(encoding="utf-8").splitlines()]
    there = {one.place: one for name in sorted({mark["file"] for mark in marks}) for one in marked_talk.said(folder / name)}
    found = []
    for mark in marks:
        one = there[place_of(mark)]
        if (text := _same(one.text, mark["sha256"])) is None:
            raise SystemExit(f"{mark['id']}: the text in {mark['file']} is not the one that was marked")
        found.append((mark, text, one.at))
    return found


def place_of(mark: dict[str, Any]) -> marked_talk.Place:
    """Where the turn of a mark stands."""
    return mark["file"], mark["case"], mark["session"], mark["turn"], mark.get("part")


def kinds(marked: Path = MARKS) -> list[tuple[dict[str, Any], str, datetime]]:
    """The invented cases; a folder may have none."""
    if not (marked / "kinds.jsonl").exists():
        return []
    marks = [json.loads(line) for line in (marked / "kinds.jsonl").read_text(encoding="utf-8").splitlines()]
    return [(mark, mark["text"], INVENTED_AT) for mark in marks]


def _same(text: str, digest: str) -> str | None:
    """The text whose hash was marked; a piece of a chat may have been marked without the line end that follows it."""
    return next((t for t in (text, text.rstrip("\n"), text.strip()) if hashlib.sha256(t.encode()).hexdigest()[:16] == digest), None)


# ------------------------------------------------------------------ the figures


def judge(cases: Sequence[tuple[dict[str, Any], str, datetime]]) -> list[Judged]:
    """Each turn with what the rules learn from it alone."""
    return [
        Judged(mark, text, tuple(draft for draft in drafts(text, said_at=at) if draft.action == "state"))
        for mark, text, at in cases
    ]


def figures(judged: Sequence[Judged]) -> dict[str, float]:
    """Recall of explicit items, precision, how many memories were learned and how long they are in the middle."""
    items = [(item, case) for case in judged for item in case.explicit]
    learned = [draft for case in judged for draft in case.learned]
    missed = sum(item in case.missed for item, case in items)
    wrong = sum(len(case.wrong) for case in judged)
    return {
        "items": len(items),
        "recall": 1 - missed / len(items) if items else 1.0,
        "learned": len(learned),
        "precision": 1 - wrong / len(learned) if learned else 1.0,
        "length": statistics.mean(len(draft.text) for draft in learned) if learned else 0.0,
    }


def groups(real: Sequence[Judged], invented: Sequence[Judged]) -> dict[str, list[Judged]]:
    """The rows of the report: all real turns, by how they were drawn, by language; the invented ones by their sort."""
    rows: dict[str, list[Judged]] = defaultdict(list)
    for case in real:
        for row in ("turns", f"drawn by {case.mark['drawn']}", f"turns, {case.mark['lang']}"):
            rows[row].append(case)
    for case in invented:
        for row in ("kinds", f"kinds, {case.mark['lang']}", f"· {case.mark['of']}"):
            rows[row].append(case)
    return {row: rows[row] for row in sorted(rows, key=lambda row: (row[0] == "·", "kinds" in row))}


def fit(invented: Sequence[Judged]) -> tuple[int, int, int]:
    """Count the learned items: all, with the right kind, and with the right standing."""
    pairs = [
        (draft, item) for case in invented for item in case.mark["must"] for draft in case.learned if matches(draft.text, item)
    ]
    kind = sum(draft.kind.value == item["kind"] for draft, item in pairs)
    standing = sum(draft.standing.value == item.get("standing", "fact") for draft, item in pairs)
    return len(pairs), kind, standing


def asked(folder: Path, judged: Sequence[Judged], *, model: bool = False) -> tuple[int, int, int]:
    """
    Count explicit items with a question: all, learned, and those found by themselves or by their turn.

    Whole cases are told to a home each, by `record_turn` at their own times; then the questions are asked. What is found is among
    the first five. model: with the local model, whose vectors of all turns are computed first
    """
    given: dict[str, Any] = {"embedder": corrections.local_model()} if model else {"search": "words"}
    wanted: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for case in judged:
        if any("question" in item for item in case.explicit):
            wanted[case.mark["file"], case.mark["case"]].append(case)
    items = learned = found = 0
    for (file, name), cases in sorted(wanted.items(), key=lambda pair: pair[0]):
        with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as home:
            clock = [INVENTED_AT]
            with Memory(home, owner="user:owner", clock=lambda clock=clock: clock[0], durability="fast", **given) as memory:
                turns: dict[marked_talk.Place, str] = {}
                for one in marked_talk.said(folder / file):
                    if one.place[1] == name and one.role != "other" and one.text.strip():
                        clock[0] = max(clock[0], one.at) if turns else one.at
                        turns[one.place] = memory.record_turn(one.role, one.text, session=one.place[2] or "s", said_at=one.at).id
                if model:
                    memory.admin.embed()
                for case in cases:
                    for item in (item for item in case.explicit if "question" in item):
                        known = item not in case.missed
                        items, learned = items + 1, learned + known
                        own = turns.get(place_of(case.mark))
                        hits = () if known else memory.recall(item["question"], limit=5)
                        found += known or any(own in _turns_of(hit) for hit in hits)
    return items, learned, found


def _turns_of(hit: Hit) -> set[str]:
    return {source.turn for source in hit.item.sources} if isinstance(hit.item, SemanticMemory) else {hit.id}


def show(rows: dict[str, list[Judged]], console: Console) -> None:
    """One line a group."""
    table = Table("", "items", "recall %", "learned", "precision %", "mean length", box=None)
    for name, cases in rows.items():
        row = figures(cases)
        shown = (f"{row['items']:.0f}", f"{100 * row['recall']:.1f}", f"{row['learned']:.0f}")
        table.add_row(name, *shown, f"{100 * row['precision']:.1f}", f"{row['length']:.0f}")
    console.print(table)


def show_wrong(judged: Sequence[Judged], console: Console) -> None:
    """Each turn that is not right, with what was missed and what was wrong in it."""
    for case in judged:
        missed = [item for item in case.missed if item["explicit"] or case.mark.get("of")]
        if missed or case.wrong:
            console.print(f"\n{case.mark['id']}: {case.text[:300]}", markup=False, highlight=False)
            for item in missed:
                console.print(f"  missed  {item['says']}", markup=False, highlight=False)
            for draft in case.wrong:
                console.print(f"  wrong   {draft.text}  ({draft.rule})", markup=False, highlight=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[1])
    parser.add_argument("folder", type=Path, help="the development data")
    parser.add_argument("marks", type=Path, nargs="?", default=MARKS, help="a folder with a turns.jsonl of marks")
    parser.add_argument("--wrong", action="store_true", help="each item missed and each memory that is wrong")
    parser.add_argument("--asked", action="store_true", help="tell whole cases and ask for each explicit item that has a question")
    parser.add_argument("--model", action="store_true", help="ask with the local model")
    options = parser.parse_args()
    console = Console(width=132)
    real, invented = judge(turns(options.folder, options.marks)), judge(kinds(options.marks))
    if options.wrong:
        show_wrong([*real, *invented], console)
    show(groups(real, invented), console)
    if options.asked:
        items, learned, found = asked(options.folder, real, model=options.model)
        console.print(
            f"of {items} questions for explicit items: {learned} learned, {found} learned or their turn in the first five"
        )
    if not invented:
        return
    learned, kind, standing = fit(invented)
    console.print(
        f"of {learned} items of kinds.jsonl that were learned, {kind} have the kind and {standing} the standing of their mark"
    )


if __name__ == "__main__":
    main()
