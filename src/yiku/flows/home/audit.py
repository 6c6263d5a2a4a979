"""
Audit a memory: duplicates, contradictions, unsupported statements, secrets, unused and orphaned rows.

Rows are read a page at a time, and of each only a digest is kept, so a large memory takes time and little room. Nothing is
written. Each check has a budget, a share of what it looked at; an audit over one of them can fail a script.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.flows.common.intake import SHORT
from yiku.rules.finding import same_slot
from yiku.rules.pages import audit as rules
from yiku.rules.privacy import secrets
from yiku.rules.text.analyze import language_of
from yiku.types import Audit, Check, Finding, Memories, SemanticMemory, Turns

PAGE = 500  # rows
SAMPLE = 200  # memories by which the language of the page is told


@dataclass(slots=True)
class Seen:
    """What was seen of the rows so far: digests and numbers, no text."""

    memories: int = 0
    turns: int = 0
    old: int = 0  # that are old enough to have been recalled
    alike: dict[bytes, list[int]] = field(default_factory=dict)  # numbers of rows by their words, and by their slot and value
    slots: dict[bytes, list[int]] = field(default_factory=dict)  # by their slot
    known: set[str] = field(default_factory=set)  # ids of all versions
    named: dict[str, tuple[str, str]] = field(default_factory=dict)  # an id that a row names: by which row, and how
    found: dict[Check, list[tuple[str, ...]]] = field(default_factory=lambda: {check: [] for check in rules.CHECKS})
    orphans: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("sources", "replaced", "flags"), 0))
    sample: list[str] = field(default_factory=list)


def audit(handle: Handle, *, budgets: Mapping[Check, float] | None = None, turns: bool = True) -> Audit:
    """
    Look through the memories of this scope, and its turns for secrets.

    budgets: the share that a check may find, by its name; None of a check's own where it is not named
    turns:   False leaves out the search for secrets in turns, which takes longest
    Raises InvalidInput for a check that does not exist, or a share outside of 0 to 1.
    """
    allowed = _budgets(budgets)
    checks.flag(turns, "turns")
    began, now, own, seen = time.monotonic(), handle.now(), handle.own(), Seen()
    if own:
        for rows in _pages(handle, own):
            _look_at(handle, own, rows, seen, now)
        _compare(handle, own, seen)
        _named(seen)
        if turns:
            _secrets_in_turns(handle, own, seen)
    of = {"never_recalled": seen.old, "secrets": seen.memories + seen.turns}
    findings = tuple(_finding(check, seen, of.get(check, seen.memories), allowed) for check in rules.CHECKS)
    ids = [id for one in findings if one.check != "secrets" for group in one.examples for id in group]
    rows = handle.store.memories(own, Memories(ids=ids)) if ids else []
    language = handle.settings.language
    language = language_of(" ".join(seen.sample)) if language == "auto" else language
    done = Audit(findings=findings, memories=seen.memories, turns=seen.turns, details=seen.orphans, seconds=0.0, page="")
    page = rules.page(done, {row.id: row.content for row in rows}, now, language)
    return replace(done, page=page, seconds=time.monotonic() - began)


def _budgets(given: Mapping[Check, float] | None) -> Mapping[Check, float]:
    if given is None:
        return rules.BUDGETS
    if not isinstance(given, Mapping):
        checks.refuse("budgets", "must map names of checks to shares")
    for name, share in given.items():
        if name not in rules.CHECKS:
            checks.refuse("budgets", f"has no check {str(name)[:40]!r}: there are {', '.join(rules.CHECKS)}")
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
            checks.refuse(f"budgets[{name}]", "must be a share from 0 to 1")
    return {**rules.BUDGETS, **given}


def _finding(check: Check, seen: Seen, of: int, budgets: Mapping[Check, float]) -> Finding:
    groups = seen.found[check]
    count = sum(len(group) - 1 for group in groups) if check == "duplicates" else len(groups)
    return rules.finding(check, count if check != "orphans" else sum(seen.orphans.values()), of, groups, budgets)


# ------------------------------------------------------------------ memories


def _pages(handle: Handle, own: Sequence[int]) -> Iterator[list[SemanticMemory]]:
    """Yield all versions, in order, with their sources."""
    after = 0
    while rows := handle.store.memories(own, Memories(after=after, limit=PAGE)):
        after = rows[-1].n
        yield handle.store.with_details(rows)


def _look_at(handle: Handle, own: Sequence[int], rows: Sequence[SemanticMemory], seen: Seen, now: datetime) -> None:
    """Look at a page of rows by themselves."""
    wanted = {source.turn for row in rows for source in row.sources if source.turn}
    there = {turn.id for turn in handle.store.turns(own, Turns(ids=sorted(wanted), hidden=True))} if wanted else set()
    for row in rows:
        seen.known.add(row.id)
        for name, ids in (("replaced", [row.superseded_by] if row.superseded_by else []), ("flags", row.flagged_with)):
            seen.named.update({id: (row.id, name) for id in ids if id not in seen.known})
        gone = [source for source in row.sources if source.turn and source.turn not in there]
        if gone:
            seen.orphans["sources"] += len(gone)
            seen.found["orphans"].append((row.id,))
        if row.live and not row.expired(now):
            _look_at_live(handle, row, len(gone), seen, now)


def _look_at_live(handle: Handle, row: SemanticMemory, gone: int, seen: Seen, now: datetime) -> None:
    seen.memories += 1
    if len(seen.sample) < SAMPLE:
        seen.sample.append(row.content[:SAMPLE])
    for key in filter(None, (rules.same_words(row), rules.same_value(row))):
        seen.alike.setdefault(_digest(key), []).append(row.n)
    if (slot := same_slot.slot_of(row)) is not None:
        seen.slots.setdefault(_digest(slot), []).append(row.n)
    if gone == len(row.sources):
        seen.found["unsupported"].append((row.id,))
    if row.flag is not None:
        seen.found["contradictions"].append((row.id, *row.flagged_with[:1]))
    if _holds_secret(handle, row.content):
        seen.found["secrets"].append((row.id,))
    if rules.may_be_unused(row, now):
        seen.old += 1
        if not row.access_count:
            seen.found["never_recalled"].append((row.id,))
    if rules.stale(row, now):
        seen.found["stale"].append((row.id,))


def _compare(handle: Handle, own: Sequence[int], seen: Seen) -> None:
    """Compare rows that have their words, their value or their slot in common."""
    grouped: set[str] = set()
    for rows in _groups(handle, own, seen.alike.values()):
        first, *others = rows
        more = [row.id for row in others if row.id not in grouped]
        if more:
            seen.found["duplicates"].append((first.id, *more))
            grouped.update(more)
    flagged = {group[0] for group in seen.found["contradictions"]}
    for rows in _groups(handle, own, seen.slots.values()):
        later = same_slot.said_later(rows).items()
        seen.found["contradictions"] += [(earlier, last) for earlier, last in later if earlier not in flagged]


def _groups(handle: Handle, own: Sequence[int], numbers: Iterable[Sequence[int]]) -> Iterator[list[SemanticMemory]]:
    """Yield the rows of each group of several, reading some groups at a time."""
    groups = [ns for ns in numbers if len(ns) > 1]
    for start in range(0, len(groups), PAGE):
        some = groups[start : start + PAGE]
        rows = {row.n: row for row in handle.store.memories(own, Memories(ns=[n for ns in some for n in ns]))}
        for ns in some:
            yield [rows[n] for n in ns if n in rows]


def _named(seen: Seen) -> None:
    """Note rows that name a memory which is not there."""
    for id, (by, how) in seen.named.items():
        if id not in seen.known:
            seen.orphans[how] += 1
            seen.found["orphans"].append((by,))


def _digest(key: Sequence[str]) -> bytes:
    return hashlib.blake2b("\0".join(key).encode(), digest_size=12).digest()


# ------------------------------------------------------------------ secrets


def _secrets_in_turns(handle: Handle, own: Sequence[int], seen: Seen) -> None:
    after = 0
    while turns := handle.store.turns(own, Turns(after=after, limit=PAGE, hidden=True)):
        after = turns[-1].n
        seen.turns += len(turns)
        seen.found["secrets"] += [(turn.id,) for turn in turns if _holds_secret(handle, turn.content)]


def _holds_secret(handle: Handle, text: str) -> bool:
    """Tell whether something in a text looks like a secret that would be masked if it were said now."""
    if len(text) <= SHORT and not any(pattern.search(text) for pattern in secrets.SUSPECT):
        return False
    return bool(secrets.mask_secrets(text, handle.seal)[1])
