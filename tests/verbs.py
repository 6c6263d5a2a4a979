"""Table of the verbs that must work whatever a home holds, each with a call and its arguments."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

from yiku import Memory

Verb = Callable[[Memory, Path], Any]


def _said(memory: Memory, text: str) -> Any:
    """A statement that was never made before, in a home that is asked again and again."""
    return memory.remember(f"{text} {memory.admin.stats().changes}")


def _first(memory: Memory) -> str:
    return memory.get_all(limit=1)[0].id


VERBS: dict[str, Verb] = {
    "list": lambda m, h: m.get_all(limit=1_000),
    "list all": lambda m, h: m.get_all(where={"state": {"exists": True}}, limit=1_000),
    "as of": lambda m, h: m.get_all(as_of="2026-06-01", limit=1_000),
    "recall": lambda m, h: m.recall("where do I live? 我住在哪里？ cat"),
    "context": lambda m, h: m.context("tea 茶, Oslo?"),
    "timeline": lambda m, h: m.timeline(limit=1_000),
    "traces": lambda m, h: m.search_traces(limit=1_000),
    "history": lambda m, h: [m.history(row.id) for row in m.get_all(where={"state": {"exists": True}}, limit=1_000)],
    "why": lambda m, h: m.why(_first(m)),
    "audit": lambda m, h: m.admin.audit(),
    "sql": lambda m, h: m.admin.sql("select content from memories union all select content from conversation_turns"),
    "about": lambda m, h: m.about("user"),
    "status": lambda m, h: m.status(),
    "stats": lambda m, h: m.admin.stats(),
    "journal": lambda m, h: m.admin.journal(limit=1_000),
    "review": lambda m, h: m.admin.review(),
    "sessions": lambda m, h: (m.sessions.get_all(), m.sessions.episodes(), m.sessions.attachments(), m.sessions.scratchpad()),
    "record": lambda m, h: m.record([{"role": "user", "content": "天气 weather"}], session="s1"),
    "remember": lambda m, h: m.remember("The harbour opens at seven. 港口七点开门。"),
    "update": lambda m, h: m.update(_said(m, "Kim owns a boat 船").memory.id, importance=0.9),
    "undo": lambda m, h: m.admin.undo(_said(m, "A note to take back 收回").operation),
    "forget": lambda m, h: m.forget(_said(m, "To be forgotten 忘记").memory.id),
    "ingest": lambda m, h: m.admin.ingest(),
    "learn": lambda m, h: m.learn(),
    "relearn": lambda m, h: m.admin.relearn(),
    "consolidate": lambda m, h: m.admin.consolidate(),
    "schedule": lambda m, h: m.admin.schedule(),
    "end": lambda m, h: m.sessions.end("s1"),
    "feedback": lambda m, h: m.feedback(_first(m), "used"),
    "export": lambda m, h: m.admin.export(BytesIO(), everything=True),
    "export markdown": lambda m, h: m.admin.export_markdown(h / "copies" / str(m.admin.stats().changes), replace=True),
    "backup": lambda m, h: m.admin.backup(),
    "erase": lambda m, h: m.admin.erase(_said(m, "My code word is Xylophon 木琴").memory.id),
    "check": lambda m, h: m.admin.check("deep"),
}
