"""
Subcommands of `yiku-compat ms`, Memory System's own: capture, search, consolidate, logs, pending buffer, migrate.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from yiku_compat.memory_system import homes, layout, migration, pending, qmd, search, sqlite_backend
from yiku_compat.memory_system.homes import folder_of, opened
from yiku_compat.memory_system.ids import find, shown

DEFAULT = "~/.yiku"
TOKENS = 500
SHOWN = 50

Run = Callable[[Path, argparse.Namespace], int]


def main(arguments: Sequence[str]) -> int:
    """Run one command; return the exit code. Raises YikuError."""
    given = _parser().parse_args(arguments)
    memory_dir = Path(given.memory_dir or os.environ.get("YIKU_HOME") or DEFAULT).expanduser()
    try:
        run: Run = COMMANDS[given.command][1]
        return run(memory_dir, given)
    finally:
        homes.close(memory_dir)


# ------------------------------------------------------------------ the home


def _init(memory_dir: Path, _given: argparse.Namespace) -> int:
    memory = sqlite_backend.init_sqlite_db(memory_dir)
    return _say(f"{memory.settings.home}, scope {memory.scope}")


def _status(memory_dir: Path, _given: argparse.Namespace) -> int:
    status = opened(memory_dir).status()
    return _print({"home": status.home, "scope": status.scope, "waiting": dict(status.waiting), "troubles": list(status.troubles)})


def _stats(memory_dir: Path, _given: argparse.Namespace) -> int:
    return _print(asdict(opened(memory_dir).admin.stats()))


def _validate(memory_dir: Path, _given: argparse.Namespace) -> int:
    checked = opened(memory_dir).admin.check()
    for problem in checked.problems:
        _say(problem)
    _say("not sound" if checked.problems else "sound")
    return 1 if checked.problems else 0


def _migrate(memory_dir: Path, given: argparse.Namespace) -> int:
    old = Path(given.old) if given.old else folder_of(memory_dir)
    memory = opened(memory_dir)
    return _print(asdict(migration.migrate(old, memory.settings.home, scope=memory.scope)))


# ------------------------------------------------------------------ memories


def _capture(memory_dir: Path, given: argparse.Namespace) -> int:
    details = {"importance": given.importance, "confidence": given.confidence}
    known = {name: value for name, value in details.items() if value is not None}
    return _say(
        sqlite_backend.add_memory(memory_dir, given.content, given.type, entities=given.entity, source=given.source, **known)
    )


def _archive(memory_dir: Path, given: argparse.Namespace) -> int:
    for id in given.id:
        sqlite_backend.delete_memory(memory_dir, id)
    done = len(given.id) or opened(memory_dir).admin.consolidate(phase=5).counts.get("archived", 0)
    return _say(f"{done} archived")


def _search(memory_dir: Path, given: argparse.Namespace) -> int:
    if given.qmd:
        answer = qmd.qmd_search(given.query, memory_dir, given.top_k)
        rows = answer.rows
        _say(f"by {answer.engine}{f': {answer.why}' if answer.why else ''}")
    else:
        rows = search.router_search_sqlite(given.query, memory_dir, given.top_k)
    for row in rows:
        sqlite_backend.update_access_stats(str(row["id"]), "retrieval", memory_dir)
    return _rows(rows)


def _record_access(memory_dir: Path, given: argparse.Namespace) -> int:
    sqlite_backend.update_access_stats(given.id, given.type, memory_dir)
    return _say(shown(find(opened(memory_dir), given.id)))


def _inject(memory_dir: Path, given: argparse.Namespace) -> int:
    memory = opened(memory_dir)
    if given.query:
        return _say(memory.context(given.query, max_tokens=given.max_tokens).text)
    return _say(memory.prompts.build(max_tokens=given.max_tokens).text)


# ------------------------------------------------------------------ nights, logs, the buffer, QMD


def _consolidate(memory_dir: Path, given: argparse.Namespace) -> int:
    memory = opened(memory_dir)
    if given.input:
        text = Path(given.input).read_text(encoding="utf-8")
        memory.record([{"role": "user", "content": line} for line in text.splitlines() if line.strip()])
    report = memory.admin.consolidate(phase=given.phase, if_due=not given.force and given.phase is None)
    return _print({"run": report.run, "finished": report.finished, "counts": dict(report.counts), "notes": list(report.notes)})


def _rebuild_index(memory_dir: Path, _given: argparse.Namespace) -> int:
    memory = opened(memory_dir)
    report = memory.admin.consolidate(phase=6)
    memory.notes.sync(force=True)
    return _say(f"indexes are whole{''.join(f'; {note}' for note in report.notes)}")


def _view_access_log(memory_dir: Path, given: argparse.Namespace) -> int:
    return _rows(list(layout.paged(opened(memory_dir), "access_log", "id"))[-given.limit :])


def _view_expired_log(memory_dir: Path, given: argparse.Namespace) -> int:
    return _rows(list(layout.expired(opened(memory_dir)))[-given.limit :])


def _add_pending(memory_dir: Path, given: argparse.Namespace) -> int:
    details = {"source": given.source or "user", "urgent": given.urgent, "category": given.category}
    return _say(pending.add_pending(memory_dir, given.content, importance=given.importance, **details))


def _view_pending(memory_dir: Path, _given: argparse.Namespace) -> int:
    return _rows(pending.view_pending(memory_dir))


def _mini_consolidate(memory_dir: Path, _given: argparse.Namespace) -> int:
    return _print(pending.mini_consolidate(memory_dir))


def _export_qmd(memory_dir: Path, _given: argparse.Namespace) -> int:
    return _print(qmd.export_for_qmd(memory_dir))


# ------------------------------------------------------------------ the parser

COMMANDS: Mapping[str, tuple[str, Run]] = {
    "init": ("make the home", _init),
    "status": ("its state, and what waits", _status),
    "stats": ("how much it holds", _stats),
    "capture": ("store a memory", _capture),
    "archive": ("archive memories by their ids, or what has faded", _archive),
    "consolidate": ("run the night, if it is due", _consolidate),
    "rebuild-index": ("merge the indexes, read the notes again", _rebuild_index),
    "validate": ("check the home", _validate),
    "search": ("search, by entity and by words", _search),
    "record-access": ("count one access of a memory", _record_access),
    "view-access-log": ("the last accesses", _view_access_log),
    "view-expired-log": ("what is past its time", _view_expired_log),
    "inject": ("what belongs into a prompt", _inject),
    "export-qmd": ("write pages for QMD", _export_qmd),
    "add-pending": ("record something for the next light run", _add_pending),
    "view-pending": ("what waits for the light run", _view_pending),
    "mini-consolidate": ("the light run", _mini_consolidate),
    "migrate": ("bring the JSON Lines of an old home in", _migrate),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="yiku-compat ms", description="The memory system's commands over one Yiku home.")
    parser.add_argument("--memory-dir", help=f"the folder [default: YIKU_HOME or {DEFAULT}]")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    made = {name: commands.add_parser(name, help=line) for name, (line, _) in COMMANDS.items()}
    for name in ("capture", "add-pending"):
        made[name].add_argument("content")
        made[name].add_argument("--source")
    made["capture"].add_argument("--type", choices=sqlite_backend.TYPES, default="fact")
    made["capture"].add_argument("--importance", type=float)
    made["capture"].add_argument("--confidence", type=float)
    made["capture"].add_argument("--entity", action="append", default=[], help="what it is about; may be repeated")
    made["add-pending"].add_argument("--importance", type=float, default=0.5)
    made["add-pending"].add_argument("--urgent", action="store_true")
    made["add-pending"].add_argument("--category")
    made["archive"].add_argument("id", nargs="*")
    made["consolidate"].add_argument("--force", action="store_true", help="also where no night is due")
    made["consolidate"].add_argument("--phase", type=int, choices=range(8))
    made["consolidate"].add_argument("--input", help="a text file, of which each line is recorded first")
    made["search"].add_argument("query")
    made["search"].add_argument("--top-k", type=int, default=10)
    made["search"].add_argument("--qmd", action="store_true", help="ask QMD where it can be asked")
    made["record-access"].add_argument("id")
    made["record-access"].add_argument("--type", default="retrieval")
    made["inject"].add_argument("query", nargs="?")
    made["inject"].add_argument("--max-tokens", type=int, default=TOKENS)
    made["migrate"].add_argument("old", nargs="?", help="the old folder [default: the same]")
    for name in ("view-access-log", "view-expired-log"):
        made[name].add_argument("--limit", type=_whole, default=SHOWN)
    return parser


def _whole(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of lines")
    return int(text)


def _say(text: str) -> int:
    print(text)
    return 0


def _print(value: Mapping[str, Any]) -> int:
    return _say(json.dumps(value, ensure_ascii=False, default=str))


def _rows(rows: Iterable[Mapping[str, Any]]) -> int:
    for row in rows:
        _print(row)
    return 0
