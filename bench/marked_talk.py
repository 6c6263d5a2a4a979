"""
Read conversations in the formats of four data sets, each message with the place by which labels refer to it.

A mark of bench/learning or bench/sealed says where its turn stands: file, case, session, the turn's place, and the part
of a chat that is kept in one record. `said` gives each message with that place.
"""

import json
import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from datasets import moment

Place = tuple[str, str, str, int, int | None]  # file, case, session, turn, part
_SPEAKS = re.compile(r"(?m)^(?=user: |assistant: )")
_SPECSTORY = re.compile(r"(?m)^_\*\*(User|Agent)[^*]*\*\*_\n")
_UNDATED = datetime(2026, 4, 15, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Said:
    """A message: where it stands, whose it is (user, assistant or other), and when it was said."""

    place: Place
    role: str
    text: str
    at: datetime


def said(path: Path) -> Iterator[Said]:
    """The messages of a file in their order."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        if ".jsonl" in path.name:
            yield from _claude_code(path.name, file)
            return
        entries = json.load(file)
    if isinstance(entries, dict):
        yield from _specstory(path.name, entries)
    for entry in entries if isinstance(entries, list) else ():
        if "traj" in entry:
            yield from _tau_bench(path.name, entry)
        elif "haystack_sessions" in entry:
            yield from _longmemeval(path.name, entry)
        else:
            yield from _sessions(path.name, entry)


def _claude_code(name: str, lines: Iterator[str]) -> Iterator[Said]:
    for turn, line in enumerate(map(json.loads, lines)):
        message = line.get("message") if isinstance(line, dict) else None
        if isinstance(message, dict) and isinstance(message.get("content"), str):
            typed = line["type"] == "user" and not message["content"].startswith("<")
            at = moment(line["timestamp"])
            yield Said((name, "", line["sessionId"], turn, None), "user" if typed else "other", message["content"], at)


def _specstory(name: str, histories: dict[str, str]) -> Iterator[Said]:
    for case, history in histories.items():
        pieces = _SPECSTORY.split(history)[1:]
        turn = -1  # the user's pieces are counted; an answer is a part of none
        for who, text in zip(pieces[::2], pieces[1::2], strict=True):
            turn += who == "User"
            role, part = ("user", None) if who == "User" else ("assistant", -1)
            yield Said((name, case, "", turn, part), role, text.strip().removesuffix("---").strip(), _UNDATED)


def _tau_bench(name: str, entry: dict[str, Any]) -> Iterator[Said]:
    for turn, message in enumerate(entry["traj"]):
        if isinstance(message.get("content"), str):
            role = message["role"] if message["role"] in ("user", "assistant") else "other"
            yield Said((name, str(entry["task_id"]), str(entry["trial"]), turn, None), role, message["content"], _UNDATED)


def _longmemeval(name: str, entry: dict[str, Any]) -> Iterator[Said]:
    sessions = zip(entry["haystack_session_ids"], entry["haystack_dates"], entry["haystack_sessions"], strict=True)
    for session, date, turns in sessions:
        for turn, message in enumerate(turns):
            place = (name, entry["question_id"], session, turn, None)
            yield Said(place, message["role"], message["content"], moment(date))


def _sessions(name: str, entry: dict[str, Any]) -> Iterator[Said]:
    for session in entry["sessions"]:
        for turn, message in enumerate(session["turns"]):
            at = moment(message.get("datetime") or session["datetime"])
            place = (name, entry["id"], session["id"], turn)
            if message["role"] == "agent_chat":
                part = -1  # the user's pieces are counted
                for piece in _SPEAKS.split(message["text"]):
                    who, _, text = piece.partition(": ")
                    if who in ("user", "assistant"):
                        part += who == "user"
                        yield Said((*place, part if who == "user" else None), who, text, at)
            role = message["role"] if message["role"] in ("user", "assistant") else "other"
            yield Said((*place, None), role, message["text"], at)
