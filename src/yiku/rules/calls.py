"""
What tools were asked, what they gave back, and whether it went wrong.

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

from yiku.types import Turn

ERROR_CHARS = 200  # of a message that is kept
JSON_CHARS = 100_000  # a longer result is not parsed
SHORT_CHARS = 240  # a result that says one thing

_IDS = ("id", "call_id", "tool_use_id", "tool_call_id")
_INPUTS = ("input", "arguments", "args", "parameters", "params")
_CODES = ("exit_code", "exitCode", "returncode", "return_code", "exit_status")
_READERS = re.compile(r"read|get|search|grep|list|find|fetch|view|cat|glob|query|look|show|recall|browse", re.IGNORECASE)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_TAGS = re.compile(r"</?\w*error>")
_EXIT = re.compile(
    r"(?i)(?:\bexit(?:ed)?(?: with)?(?: non-?zero)? (?:code|status)|\breturn ?code|\bnon-zero exit status|退出码|返回码)[:：=\s]{0,3}(-?\d+)"
)
_BEGINS = re.compile(
    r"(?i)^\W{0,4}(?:<\w+>)?(?:(?:[\w.]*(?:error|exception)|fatal|panic|failed|failure|traceback \(most recent call last\))(?:[:：\s(\[!.]|$)"
    r"|(?:unable to|could not|couldn't|cannot|can't|failed to|permission denied|access denied|command not found|timed out)\b"
    r"|错误|出错|报错|异常[:：]|失败|无法|未能|找不到|超时)"
)
_TRACEBACK = "Traceback (most recent call last)"
_SUMMARY = re.compile(
    r"(?i)(?<![\d.])[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?)\b|[1-9]\d* ?(?:个|项|条)?(?:用例|测试)?失败"
)
_SAYS = re.compile(
    r"(?i)\b(?:command not found|no such file or directory|permission denied|access denied|connection refused|timed out"
    r"|not recognized as|does not exist|was not found|not found|failed|unauthorized|forbidden)\b"
    r"|没有那个文件|不存在|权限不[够足]|连接被拒绝|超时|失败|出错|报错"
)
_ALL_WELL = re.compile(
    r"(?i)\b(?:0|no|without|zero) (?:tests? )?(?:failed|failures?|errors?)\b|没有(?:失败|出错|错误|报错)|无(?:失败|错误)"
)


@dataclass(frozen=True, slots=True)
class Call:
    """
    One call of a tool: the turn that made it, and what came back.

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
    """Every call that the turns make, in order, each with its result where the turns have it."""
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
    params = _params(next((function[key] for key in _INPUTS if function.get(key)), {}))
    if answer is None:
        return Call(name, params, turn, place)
    result, answered = answer
    said = plain(result.get("content", result.get("output")))
    return Call(name, params, turn, place, said, answered, failure(name, result, said))


def _params(given: object) -> Mapping[str, Any]:
    if isinstance(given, str) and isinstance(parsed := _parsed(given), Mapping):
        return parsed
    return given if isinstance(given, Mapping) else {"input": given}


def _parsed(text: str) -> object:
    """The value of a JSON text; None if it is none."""
    if len(text) > JSON_CHARS or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def plain(content: object) -> str:
    """The text of a result: itself, the texts of its parts, or its JSON; without the colours of a terminal."""
    if isinstance(content, str):
        return _ESCAPES.sub("", content) if "\x1b" in content else content
    if isinstance(content, Sequence):
        return "\n".join(plain(part.get("text", "") if isinstance(part, Mapping) else part) for part in content)
    return "" if content is None else json.dumps(content, ensure_ascii=False, default=str)


# ------------------------------------------------------------------ did it go wrong


def failure(name: str, result: Mapping[str, Any], said: str) -> str | None:
    """What went wrong, on one line; None when the result does not say that anything did."""
    lines = [line for line in map(str.strip, said.splitlines()) if line]
    flagged = _flagged(result, name)
    if flagged is None and isinstance(parsed := _parsed(said), Mapping):
        flagged = _flagged(parsed, name)
    if flagged is not None:
        return _one_line(flagged or _telling(lines) or "error")
    if (code := _EXIT.search(said[:SHORT_CHARS]) or _EXIT.search(said[-SHORT_CHARS:])) is not None:
        return _one_line(_telling(lines) or code[0]) if int(code[1]) else None
    if not lines:
        return None
    if _BEGINS.search(lines[0]) and not _ALL_WELL.search(lines[0]):
        return _one_line(_telling(lines) or lines[0])
    if _READERS.search(name):
        return None
    if _TRACEBACK in said or (_SUMMARY.search(lines[-1]) and not _ALL_WELL.search(lines[-1])):
        return _one_line(lines[-1])
    return _one_line(lines[0]) if len(said) <= SHORT_CHARS and _SAYS.search(said) and not _ALL_WELL.search(said) else None


def _flagged(given: Mapping[str, Any], name: str) -> str | None:
    """The message of a result that is marked as failed, perhaps an empty one; None of any other."""
    message = next((given[key] for key in ("error", "error_message", "stderr") if isinstance(given.get(key), str)), "")
    failed = given.get("is_error") is True or given.get("success") is False or given.get("ok") is False
    failed = failed or any(isinstance(code := given.get(key), int) and code != 0 for key in _CODES)
    if not failed and not _READERS.search(name):  # what was read may be somebody's failed order
        failed = str(given.get("status", "")).casefold() in ("error", "failed", "failure") or bool(given.get("error"))
    return message if failed else None


def _telling(lines: Sequence[str]) -> str:
    """The line that names the error: of a traceback the last, else the first that reads like one, else the first."""
    if any(_TRACEBACK in line for line in lines):
        return lines[-1]
    naming = (line for line in lines if _BEGINS.search(line) or _SAYS.search(line))
    return next(naming, next((line for line in lines if not _EXIT.fullmatch(line)), lines[0] if lines else ""))


def _one_line(text: str) -> str:
    flat = " ".join(_TAGS.sub(" ", text).split())
    return flat if len(flat) <= ERROR_CHARS else f"{flat[: ERROR_CHARS - 2]} …"
