"""
Parse the tool calls of turns, pair them with their results, and detect failures.

A host writes a call as {"name", "input", "id"} or as {"id", "function": {"name", "arguments": JSON text}}; a result
names the call it belongs to (`tool_use_id`, `tool_call_id`), or belongs to the first call that still waits for one.

A result failed when it says so: by a flag, by an exit code, or by how its text begins or ends. Words in the middle
of a text say nothing, since what a tool reads (a log, a source file) speaks of errors without being one.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from yiku.rules.lexicon.lists import at_start, has, looked_for, words
from yiku.rules.text.folding import folded
from yiku.types import Turn

ERROR_CHARS = 200  # of a message that is kept
JSON_CHARS = 100_000  # a longer result is not parsed
SHORT_CHARS = 240  # a result that says one thing

_IDS = ("id", "call_id", "tool_use_id", "tool_call_id")
_INPUTS = ("input", "arguments", "args", "parameters", "params")
_CODES = ("exit_code", "exitCode", "returncode", "return_code", "exit_status")
_FAILED = ("error", "failed", "failure")  # what a field `status` says
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_TAGS = re.compile(r"</?\w*error>")
_CODE = re.compile(r"[:=\s]{0,3}(-?\d+)")
_COUNT = re.compile(r"(?<![\d.])[1-9]\d{0,8} ?")
_BEGINS = re.compile(r"\W{0,4}(?:<\w+>)?((?:[\w.]{0,80}(?=[:\s(\[!.]|$))?)")  # in front of the first word; the group has that word
_TRACEBACK = "Traceback (most recent call last)"


@dataclass(frozen=True, slots=True)
class Call:
    """
    A tool call with its turn and its result.

    result:     the text that came back, None while nothing did
    answered:   the place, among the turns, of the one that brought it
    error:      what went wrong, on one line; None when nothing is known to have
    """

    name: str
    params: Mapping[str, Any]
    turn: Turn
    place: int
    result: str | None = None
    answered: int | None = None
    error: str | None = None


def calls(turns: Sequence[Turn]) -> tuple[Call, ...]:
    """Return every tool call of the turns, in order, with its result if there is one."""
    made = [(given, turn, place) for place, turn in enumerate(turns) for given in turn.tool_calls]
    named: dict[str, deque[int]] = {}  # some hosts give one id to several calls
    for number, (given, _, _) in enumerate(made):
        named.setdefault(_id(given), deque()).append(number)
    waiting = dict.fromkeys(range(len(made)))
    results: dict[int, tuple[Mapping[str, Any], int]] = {}
    for place, turn in enumerate(turns):
        for result in turn.tool_results:
            name = next((str(result[key]) for key in _IDS[1:] if result.get(key)), None)
            asked = next(iter(waiting if name is None else named.get(name, ())), None)
            if asked is not None and made[asked][2] <= place:
                results[asked] = (result, place)
                del waiting[asked]
                named[_id(made[asked][0])].remove(asked)
    return tuple(_call(given, turn, place, results.get(number)) for number, (given, turn, place) in enumerate(made))


def _id(given: Mapping[str, Any]) -> str:
    return next((str(given[key]) for key in _IDS if given.get(key)), "")


def _call(given: Mapping[str, Any], turn: Turn, place: int, answer: tuple[Mapping[str, Any], int] | None) -> Call:
    function = inner if isinstance(inner := given.get("function"), Mapping) else given
    name = str(function.get("name") or given.get("tool") or "?")
    params: Any = next((function[key] for key in _INPUTS if function.get(key)), {})
    params = parsed if isinstance(params, str) and isinstance(parsed := _parse_json(params), Mapping) else params
    params = params if isinstance(params, Mapping) else {"input": params}
    if answer is None:
        return Call(name, params, turn, place)
    result, answered = answer
    said = plain(result.get("content", result.get("output")))
    return Call(name, params, turn, place, said, answered, failure(name, result, said))


def _parse_json(text: str) -> object:
    """Parse JSON, None if the text is not JSON."""
    if len(text) > JSON_CHARS or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def plain(content: object) -> str:
    """Return the text of a result, or its parts or JSON as text, without terminal escapes."""
    if isinstance(content, str):
        return _ESCAPES.sub("", content) if "\x1b" in content else content
    if isinstance(content, Sequence):
        return "\n".join(plain(part.get("text", "") if isinstance(part, Mapping) else part) for part in content)
    return "" if content is None else json.dumps(content, ensure_ascii=False, default=str)


# ------------------------------------------------------------------ did it go wrong


def failure(name: str, result: Mapping[str, Any], said: str) -> str | None:
    """Return the error of a result on one line, None if it reports none."""
    lines = [line for line in map(str.strip, said.splitlines()) if line]
    reads = any(word in name.casefold() for word in words("records.reading_tools"))
    for given in (result, _parse_json(said)):
        if isinstance(given, Mapping) and (flagged := _flagged_error(given, reads)) is not None:
            return _one_line(flagged or _telling(lines) or "error")
    if not lines:
        return None
    if (code := _exit_code(said[:SHORT_CHARS]) or _exit_code(said[-SHORT_CHARS:])) is not None:
        return _one_line(_telling(lines)) if code else None
    if _begins(lines[0]):
        return _one_line(_telling(lines))
    if not reads and (_TRACEBACK in said or _counts(lines[-1])):
        return _one_line(lines[-1])
    return _one_line(lines[0]) if not reads and len(said) <= SHORT_CHARS and _tells(said, "records.failed") else None


def _flagged_error(given: Mapping[str, Any], reads: bool) -> str | None:
    """Return the message of a result flagged as failed, perhaps empty; None for any other."""
    message = next((given[key] for key in ("error", "error_message", "stderr") if isinstance(given.get(key), str)), "")
    failed = given.get("is_error") is True or given.get("success") is False or given.get("ok") is False
    failed = failed or any(isinstance(code := given.get(key), int) and code != 0 for key in _CODES)
    if not failed and not reads:  # what was read may be somebody's failed order
        failed = str(given.get("status", "")).casefold() in _FAILED or bool(given.get("error"))
    return message if failed else None


def _exit_code(said: str) -> int | None:
    folded_text = folded(said)
    codes = (_CODE.match(folded_text, match.end()) for match in looked_for("records.exit_code").finditer(folded_text))
    return next((int(code[1]) for code in codes if code), None)


def _begins(line: str) -> bool:
    """Whether a line begins like an error message: `ValueError: …`, `fatal: …`, "could not …"."""
    begins = _BEGINS.match(folded_text := folded(line))
    if begins is None or has(folded_text, "records.all_well"):
        return False
    return (
        begins[1].endswith(tuple(words("records.errors"))) or at_start(folded_text[begins.start(1) :], "records.begins_failed") > 0
    )


def _counts(line: str) -> bool:
    """Whether a line counts failures: `2 failed, 10 passed`."""
    counts = _COUNT.finditer(folded_text := folded(line))
    return _tells(line, "records.counted") and any(
        at_start(folded_text, "records.counted", at=each.end()) > each.end() for each in counts
    )


def _tells(said: str, name: str) -> bool:
    """Whether a text has a word of a list and none that says that all is well."""
    return has(folded_text := folded(said), name) and not has(folded_text, "records.all_well")


def _telling(lines: Sequence[str]) -> str:
    """Return the line that names the error: the last of a traceback, else the first that reads like one."""
    if any(_TRACEBACK in line for line in lines):
        return lines[-1]
    naming = (line for line in lines if _begins(line) or has(folded(line), "records.failed"))
    return next(naming, next((line for line in lines if _exit_code(line) is None), lines[0] if lines else ""))


def _one_line(text: str) -> str:
    flat = " ".join(_TAGS.sub(" ", text).split())
    return flat if len(flat) <= ERROR_CHARS else f"{flat[: ERROR_CHARS - 2]} …"
