"""bench/conflicts.py: how it counts right, wrong, flagged and destructive decisions."""

import json
import subprocess
import sys
from pathlib import Path

import conflicts
import pytest

RUNNER = Path(conflicts.__file__)
HOME = ["user", "lives in", "Oslo", "single"]


def said(text, day, slot, **more):
    return {"at": f"2026-03-{day:02}T09:00", "text": text, "slot": slot, **more}


def case(*utterances, then):
    return {"id": "one", "lang": "en", "said": utterances, "then": then}


MOVED = case(
    said("I live in Bergen.", 1, ["user", "lives in", "Bergen", "single"]), said("I live in Oslo.", 2, HOME), then=["past", "live"]
)
TWICE = case(said("我住在奥斯陆。", 1, HOME), said("I live in Oslo.", 2, HOME), then=["live", "same:0"])
JOKE = case(
    said("I live in Oslo.", 1, HOME),
    said("I live on Mars", 2, ["user", "lives in", "Mars", "single"]),
    said("just kidding", 2, None),
    then=["live", "none", "none"],
)
BESIDE = case(
    said("I like tea", 1, ["user", "likes", "tea", "multi"]),
    said("I like coffee", 2, ["user", "likes", "coffee", "multi"]),
    then=["live", "live"],
)
ONCE = case(said("I live in Oslo.", 1, HOME), said("I used to live in Rome", 2, HOME), then=["live", "past"])
PLAN = case(said("I live in Oslo.", 1, HOME), said("I might move to Rome", 2, None), then=["live", "none"])
MARKED = case(
    said("My friend lives in Rome.", 1, ["user's friend", "lives in", "Rome", "unknown"]),
    said("我朋友住在奥斯陆", 2, ["user's friend", "lives in", "奥斯陆", "unknown"]),
    then=["past", "live"],
)
WRONG = case(
    said("I like tea", 1, ["user", "likes", "tea", "multi"]),
    said("I like coffee", 2, ["user", "likes", "coffee", "multi"]),
    then=["past", "live"],
)
DESTROYED = case(  # the labels say two things, the sentences one
    said("I live in Bergen.", 1, ["Ann", "lives in", "Bergen", "single"]), said("I live in Oslo.", 2, HOME), then=["live", "live"]
)
MERGED = case(
    said("I live in Oslo.", 1, ["Ann", "lives in", "Oslo", "single"]), said("I live in Oslo!", 2, HOME), then=["live", "live"]
)


@pytest.mark.parametrize("name", ["MOVED", "TWICE", "JOKE", "BESIDE", "ONCE", "PLAN"])
@pytest.mark.parametrize("stated", [True, False])
def test_a_case_whose_verdicts_hold_is_right(tmp_path, name, stated):
    """Past, same, taken back, beside, once and planned: by the text alone and with the slot named."""
    one = globals()[name]
    found = conflicts.judged(one, conflicts.run_case(one, stated=stated, folder=tmp_path / "home"))

    assert ("right", False, ()) == (found.verdict, found.destructive, found.why)


@pytest.mark.parametrize(
    ("name", "verdict", "destructive"),
    [("MARKED", "flagged", False), ("WRONG", "wrong", False), ("DESTROYED", "wrong", True), ("MERGED", "wrong", True)],
)
def test_a_case_that_fails_is_seen_to_fail(tmp_path, name, verdict, destructive):
    """What lives on is wrong, what is marked counts neither way, what another thing replaced or merged is destructive."""
    one = globals()[name]
    found = conflicts.judged(one, conflicts.run_case(one, stated=False, folder=tmp_path / "home"))

    assert (verdict, destructive) == (found.verdict, found.destructive)
    assert found.why


def test_the_report_counts_and_names_what_failed(tmp_path):
    """The table has a line a kind, flagged cases are in no share, and --wrong says what happened to each utterance."""
    for kind, among in (("moves", [MOVED, TWICE]), ("others", [MARKED, WRONG])):
        (tmp_path / f"{kind}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in among), "utf-8")
    out = tmp_path / "out.json"
    done = subprocess.run(
        [sys.executable, RUNNER, tmp_path, "--wrong", "--json", out], capture_output=True, text=True, encoding="utf-8", check=True
    )
    free = json.loads(out.read_text("utf-8"))["free text"]

    assert {"cases": 4, "right": 2, "wrong": 1, "flagged": 1, "destructive": 0, "share": 66.7} == {
        name: free["all"][name] for name in ("cases", "right", "wrong", "flagged", "destructive", "share")
    }
    assert 100.0 == free["kinds"]["moves"]["share"]
    assert "utterance 0 should be past: it lives" in done.stdout
    assert "I like coffee" in done.stdout


def test_an_interval_is_wilsons():
    """8 of 10 right: between 49 and 94 in a hundred; of nothing, nothing is known."""
    assert (49.0, 94.3) == tuple(round(end, 1) for end in conflicts.wilson(8, 10))
    assert (0.0, 100.0) == conflicts.wilson(0, 0)
