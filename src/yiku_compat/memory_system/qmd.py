"""
Optional search by QMD, an external program: export active memories to it, query it, fall back to Yiku's search.

    copies/qmd/{facts,beliefs,summaries}.md    `- [id] content` and a line of entities each
    copies/qmd/meta.json                       how many, when, and what the home was like then
    copies/qmd/health.lock                     while an export is being made

An id that QMD gives is looked up in the database, so what was forgotten or erased is never found again; an erasure also removes
files here that hold what was erased. Where QMD is not installed, fails, or its pages are older than the home, Yiku's own search
answers, and the answer says so.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from yiku import Memory
from yiku_compat.memory_system import views
from yiku_compat.memory_system.homes import MemoryDir, opened
from yiku_compat.memory_system.migration import COPIES
from yiku_compat.memory_system.old_home import TYPES
from yiku_compat.memory_system.search import Rows, router_search_sqlite

COLLECTION = "curated"
FOLDER, LOCK, META = "qmd", "health.lock", "meta.json"
SEARCH_S, STATUS_S = 10, 5
PAGE = 2_000
STALE_AFTER = 20  # memories that are newer than the pages
WEIGHTS = {"qmd": 0.4, "score": 0.35, "importance": 0.25}
_ID = re.compile(r"\[([^\[\]\s]{4,200})\]")
_SCORE = re.compile(r"(?:score\D{0,3})?(\d+(?:\.\d+)?)\s*%")


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows found, best first; by which engine, `qmd` or `yiku`; and why not by QMD."""

    rows: Rows
    engine: str
    why: str | None = None


def export_for_qmd(memory_dir: MemoryDir) -> dict[str, int]:
    """Write the active memories as pages for QMD, in place of the earlier ones; return how many of each type."""
    memory = opened(memory_dir)
    folder = Path(memory.settings.home) / COPIES / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = folder / LOCK
    lock.write_text(str(os.getpid()))
    try:
        counts = {name: _page(memory, folder / f"{name}.md", name, type_) for name, type_ in TYPES.items()}
        meta = {"counts": counts, "at": datetime.now(UTC).isoformat(timespec="seconds"), "newest": _newest(memory)}
        _replace(folder / META, json.dumps(meta))
    finally:
        lock.unlink(missing_ok=True)
    return counts


def qmd_available(memory_dir: MemoryDir) -> str | None:
    """Return None if QMD can be asked about this home; else why not."""
    memory = opened(memory_dir)
    folder = Path(memory.settings.home) / COPIES / FOLDER
    if shutil.which("qmd") is None:
        return "qmd is not installed"
    if (folder / LOCK).exists():
        return "an export is being made, or was cut off: export again"
    meta = {}
    with suppress(OSError, ValueError):
        meta = json.loads((folder / META).read_text(encoding="utf-8"))
    if not isinstance(meta, dict) or not all((folder / f"{name}.md").is_file() for name in TYPES) or not meta:
        return "nothing is exported: export first"
    if _newer(memory, int(meta.get("newest", 0))) >= STALE_AFTER:
        return f"the export is of {meta.get('at')}, and {STALE_AFTER} memories or more are newer: export again"
    status = _run("status", timeout_s=STATUS_S)
    return status if isinstance(status, str) else None if status.returncode == 0 else f"qmd status ended with {status.returncode}"


def qmd_search(query: str, memory_dir: MemoryDir, top_k: int = 10) -> Answer:
    """
    Ask QMD, or Yiku's own search where QMD cannot be asked; `why` says so then.

    What QMD finds is ordered by 0.4 of its score, 0.35 of the memory's and 0.25 of its importance.
    """
    memory = opened(memory_dir)
    why = qmd_available(memory)
    if why is None:
        folder = Path(memory.settings.home) / COPIES / FOLDER
        _run("collection", "add", str(folder), "--name", COLLECTION, "--mask", "*.md", timeout_s=SEARCH_S)
        _run("update", timeout_s=SEARCH_S)
        found = _run("search", "-c", COLLECTION, "-n", str(top_k), "--", query, timeout_s=SEARCH_S)
        if isinstance(found, str) or found.returncode != 0:
            why = found if isinstance(found, str) else f"qmd search ended with {found.returncode}"
        else:
            return Answer(_ranked(memory, _scores(found.stdout))[:top_k], "qmd")
    return Answer(router_search_sqlite(query, memory, top_k), "yiku", why)


def _page(memory: Memory, path: Path, name: str, type_: str) -> int:
    """Write the page of one type."""
    lines, last = [f"# {name}", ""], 0
    count = 0
    while True:
        sql = (
            "select r.n, r.id, r.content, (select group_concat(e.entity, ', ') from yiku_memory_entities e where e.memory_n = r.n)"
            " as entities from memory_rows r where r.n > :last and r.type = :type and r.state = 0 order by r.n limit :page"
        )
        page = views.rows(memory, sql, {"last": last, "type": type_, "page": PAGE}, limit=PAGE)
        for row in page:
            lines.append(f"- [{row['id']}] {' '.join(str(row['content']).split())}")
            lines += [f"  entities: {row['entities']}"] if row["entities"] else []
            last = int(str(row["n"]))
        count += len(page)
        if len(page) < PAGE:
            _replace(path, "\n".join([*lines, ""]))
            return count


def _replace(path: Path, text: str) -> None:
    """Write a file whole, or not at all."""
    new = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.rename(path)


def _run(*arguments: str, timeout_s: float) -> subprocess.CompletedProcess[str] | str:
    """Run QMD; return what it wrote, or why it could not."""
    try:
        return subprocess.run(["qmd", *arguments], capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        return f"qmd {arguments[0]} took longer than {timeout_s:g} s"
    except (OSError, ValueError) as error:
        return f"qmd {arguments[0]} cannot be run: {error}"


def _scores(output: str) -> dict[str, float]:
    """Return the ids in QMD's answer, best first, each with the score above it, or one by its place."""
    found: dict[str, float] = {}
    score = None
    for line in output.splitlines():
        if (given := _SCORE.search(line)) is not None:
            score = float(given[1]) / 100
        for id in _ID.findall(line):
            found.setdefault(id, min(score, 1.0) if score is not None else 1 / (1 + len(found)))
    return found


def _ranked(memory: Memory, scores: dict[str, float]) -> Rows:
    """Return the active memories with these ids, by the weighted sum."""
    sql = "select m.* from memories m where m.id in (select value from json_each(:ids)) and m.state = 0"
    rows: Rows = [dict(row) for row in views.rows(memory, sql, {"ids": json.dumps(list(scores))}, limit=max(len(scores), 1))]

    def worth(row: dict[str, Any]) -> float:
        parts: dict[str, float] = {"qmd": scores[row["id"]], "score": min(row["final_score"], 1.0), "importance": row["importance"]}
        return sum(WEIGHTS[name] * value for name, value in parts.items())

    return sorted(({**row, "qmd_score": scores[row["id"]]} for row in rows), key=worth, reverse=True)


def _newest(memory: Memory) -> int:
    return int(str(views.rows(memory, "select coalesce(max(n), 0) as n from yiku_memories")[0]["n"]))


def _newer(memory: Memory, than: int) -> int:
    return int(str(views.rows(memory, "select count(*) as many from yiku_memories where n > :n", {"n": than})[0]["many"]))
