"""
Apply people's edits of MEMORY.md and USER.md to memory, then rewrite the generated block of each page.

A region is known by its marker: unedited, it is written anew and teaches nothing, however old it is. What was edited is compared
with the version that the person had before them (rules/pages/hand_edits.py). A region in which an accident is likelier than a
wish is held: nothing is read from it and nothing is written until somebody says which of the two is right. The row that says
what a page should contain is written before the page, and the page only while it is as it was read; so whatever is cut off,
the next call does the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Literal

from yiku.errors import InvalidInput
from yiku.files import pages
from yiku.files.notes import PAGES
from yiku.flows.common import checks, pause
from yiku.flows.common.handle import Handle
from yiku.flows.find.said_later import mark
from yiku.flows.notes import edits
from yiku.rules.lexicon.lists import label
from yiku.rules.pages import choosing, hand_edits, region
from yiku.rules.pages.hand_edits import Edits
from yiku.rules.pages.region import Broken, Page, Shown
from yiku.rules.statements import keys
from yiku.rules.text.analyze import language_of
from yiku.store.api import one_at_a_time
from yiku.types import (
    Condition,
    Group,
    KeepPageVersion,
    Kind,
    Memories,
    PageReport,
    PageVersion,
    PublishReport,
    SemanticMemory,
    State,
)

AGAIN = 5  # times, when somebody saves a page meanwhile
POOL = 1_000  # of the newest statements, beside all rules and what is said of the user
Keep = Literal["memory", "file"]
HELD = {  # why a page is held, and what to do
    "conflict": "has conflict markers of a merge: settle them in an editor",
    "markers": "has one of Yiku's two markers, or several: restore them, or yiku publish --keep memory",
    "gone": "has lost its managed region: yiku publish --keep memory writes it again",
    "lines": "has lost most of its lines: yiku publish --keep file forgets them, --keep memory writes them again",
    "damaged": "has characters that were lost in a conversion: restore it, or yiku publish --keep memory",
    "paused": "has edits, and memory is paused: yiku resume",
}
_ANSWERS = {"lines": ("memory", "file"), "markers": ("memory",), "gone": ("memory",), "damaged": ("memory",)}


@dataclass(frozen=True, slots=True)
class Look:
    """
    A page as it lies there, and what somebody did to it.

    found: None where it has no region; edits: None where it went back in time, or was left alone; held: a key of HELD, or another reason
    orphaned: lines that memory knows nothing of any more; they stay as the person's own text
    """

    path: Path
    seen: pages.Seen | None
    found: Page | None
    known: Sequence[PageVersion]
    edits: Edits | None = None
    held: str | None = None
    orphaned: tuple[str, ...] = ()


# ------------------------------------------------------------------ the verbs


def publish(handle: Handle, *, keep: Keep | None = None) -> PublishReport:
    """
    Read the edits of MEMORY.md and USER.md, and write both as memory has them now.

    keep: for a page that is held: `memory`, and what is missing is written again; `file`, and it is forgotten
    Raises InvalidInput in a scope that has no files.
    """
    if keep not in (None, "memory", "file"):
        checks.refuse("keep", "must be memory or file")
    root = vault_of(handle)
    handle.paths.ignore()
    return _all(handle, root, make=True, keep=keep)


def vault_of(handle: Handle) -> Path:
    """The folder of the files of the scope that is written. Raises InvalidInput where it has none."""
    if handle.vault is None:
        raise InvalidInput(
            f"the scope {handle.scope} has no folder of notes: the one of this home is its owner's; "
            f'vaults = ["{handle.scope}"] in yiku.toml gives it one, once it holds something'
        )
    return handle.vault


def apply_edits(handle: Handle) -> PublishReport:
    """Read the edits of pages that were published and exist, and update their regions. Creates no page."""
    root = handle.vault
    if root is None or not any((root / name).exists() for name in PAGES):
        return PublishReport(())
    return _all(handle, root, make=False, keep=None)


def troubles(handle: Handle) -> Iterator[str]:
    """A line for each page that waits for somebody, or for a sync."""
    root = handle.vault
    if root is None:
        return
    for name in PAGES:
        look = _look(handle, root / name)
        if look.held is not None:
            yield f"{name} {HELD.get(look.held, look.held)}"
        elif look.seen is None and look.known:
            yield f"{name} was removed: yiku publish writes it again"
        elif look.edits:
            yield f"{name} has edits that were not read yet: yiku publish"


def exclusive_writer(handle: Handle) -> AbstractContextManager[None]:
    """While this is held, no other process or thread of Yiku writes to the files of a vault. Raises StoreBusy."""
    return one_at_a_time(
        handle.paths.locks / "note-writer.lock", "another process is writing notes", handle.settings.busy_timeout_s
    )


def _all(handle: Handle, root: Path, *, make: bool, keep: Keep | None) -> PublishReport:
    """All pages of a vault; twice where the edits of one change what another shows."""
    run = replace(handle, run=f"edits {handle.new_id()}")
    with exclusive_writer(handle):
        reports = {name: _page(run, root / name, make=make, keep=keep) for name in PAGES}
        if any(report.edits for report in reports.values()):
            first, second = PAGES
            if reports[second].edits and reports[first].action not in ("held", "missing"):
                again = _page(run, root / first, make=make, keep=None)
                reports[first] = replace(reports[first], shown=again.shown, omitted=again.omitted)
    own = handle.own()
    done = handle.store.journal(own, run=run.run) if own and any(report.edits for report in reports.values()) else []
    return PublishReport(tuple(reports.values()), tuple(sorted({row.transaction for row in done})))


# ------------------------------------------------------------------ one page


def _page(handle: Handle, path: Path, *, make: bool, keep: Keep | None) -> PageReport:
    """One page is read and written; again where somebody saves it meanwhile."""
    applied = edits.Applied()
    for _ in range(AGAIN):
        look = _look(handle, path)
        if not make and (look.seen is None or look.found is None or not look.known):
            why = HELD.get(look.held or "", look.held)
            return PageReport(path.name, "held" if look.held else "missing", why)
        if look.held and keep not in _ANSWERS.get(look.held, ()):
            return PageReport(path.name, "held", HELD.get(look.held, look.held))
        if look.edits is not None and look.found is not None:
            what = replace(look.edits, removed=()) if look.held and keep == "memory" else look.edits
            done = edits.apply(handle, path.name, look.found.version, what)
            for mine, more in zip(_lists(applied), _lists(done), strict=True):
                mine += [text for text in more if text not in mine]
            _keep(handle, _read(handle, path.name, look.found, done.own))
        applied.own += [line for line in look.orphaned if line not in applied.own]
        text, version, shown, omitted = _text(handle, look, applied.own)
        if version is not None:
            _keep(handle, version)
        same = look.seen is not None and text == look.seen.text
        if not same and not pages.replace(path, text, look.seen, below=Path(handle.home)):
            continue
        action: Literal["unchanged", "written"] = "unchanged" if same else "written"
        return PageReport(path.name, action, None, shown, omitted, *map(tuple, _lists(applied)))
    return PageReport(path.name, "held", "is being saved all the time: run this again", 0, 0, *map(tuple, _lists(applied)))


def _lists(done: edits.Applied) -> tuple[list[str], list[str], list[str], list[str]]:
    return done.changed, done.added, done.removed, done.own


def _look(handle: Handle, path: Path) -> Look:
    """The page, what is known of it, and what became of its region. Nothing is written."""
    own = handle.own()
    known = handle.store.page_versions(own[0], path.name) if own else []
    try:
        seen = pages.read(path, below=Path(handle.home))
    except InvalidInput as error:
        return Look(path, None, None, known, held=error.detail.removeprefix(f"{path.name} "))
    found = region.find(seen.text) if seen else None
    if isinstance(found, Broken):
        return Look(path, seen, None, known, held=found.why)
    if seen is None or found is None:
        return Look(path, seen, None, known, held="gone" if seen is not None and known else None)
    look = Look(path, seen, found, known)
    if _digest(handle, found.version, found.body) == found.digest:
        known_version = any(one.version == found.version for one in known)
        return look if known_version else replace(look, orphaned=_orphaned(handle, found))  # as it was written
    read = hand_edits.read(found.body, found.version, known, handle.line_seal)
    if read.own:
        read = replace(read, own=tuple(raw for raw in read.own if not _is_said(handle, raw)))
    return replace(look, edits=read, held=_doubt(handle, look, read))


def _is_said(handle: Handle, raw: str) -> bool:
    """Whether memory says a line under another id, as after the loss of the database and the key: the region shows it anyway."""
    items = region.items(raw)
    if len(items) != 1 or not items[0].id:
        return False
    return any(" ".join(row.content.split()) == items[0].text for row in pool(handle))


def _orphaned(handle: Handle, found: Page) -> tuple[str, ...]:
    """Lines whose memories are not there, not even as history: the database was lost, or is older than the page."""
    own = handle.own()
    lines = [item for item in region.items(found.body) if item.id]
    gone = [item for item in lines if not own or not handle.store.count(own, Memories(suffix=item.id))]
    there = {" ".join(row.content.split()) for row in pool(handle)} if gone else set()
    return tuple(f"- {item.text}" for item in gone if item.text not in there)


def _doubt(handle: Handle, look: Look, read: Edits) -> str | None:
    """Why edits are likelier an accident."""
    if any("\ufffd" in item.text for item in (*read.added, *(one.item for one in read.changed))):
        return "damaged"
    if read.removed:
        base = {
            entry.id for one in look.known if look.found and one.version == look.found.version for entry in one.entries if entry.id
        }
        live = edits.in_use(handle, [*base])
        if hand_edits.most_gone(replace(read, removed=tuple(id for id in read.removed if id in live)), len(live)):
            return "lines"
    return "paused" if read and pause.paused(handle)[0] else None


def _keep(handle: Handle, version: PageVersion) -> None:
    older = handle.now() - timedelta(days=hand_edits.KNOWN_DAYS)
    handle.store.apply(handle.writes(), [KeepPageVersion(version, older)], handle.cause("publish"))


def _read(handle: Handle, name: str, found: Page, own: Sequence[str]) -> PageVersion:
    """The region as it was read: without what is still to be moved below it, so that it is moved whenever this is cut off."""
    whole = _whole_ids(handle.store.page_versions(handle.writes(), name))
    left = {" ".join(raw.split()) for raw in own}
    there = [
        item
        for item in region.items(found.body)
        if left.isdisjoint(" ".join(raw.split()) for raw in (item.raw, region.without_id(item)))
    ]
    entries = hand_edits.entries(there, handle.line_seal, lambda id: whole.get(id[-8:], ""))
    digest = _digest(handle, found.version, found.body)
    return PageVersion(name, found.version, f"part of {digest}" if own else digest, entries)


def _whole_ids(known: Sequence[PageVersion]) -> dict[str, str]:
    return {entry.id[-8:]: entry.id for one in known for entry in one.entries if entry.id}


# ------------------------------------------------------------------ what is written


def _text(handle: Handle, look: Look, own: Sequence[str]) -> tuple[str, PageVersion | None, int, int]:
    """The whole text of a page, the version that it shows if that is new, and how many statements are shown and omitted."""
    name = look.path.name
    rows = pool(handle)
    language = handle.settings.language
    language = language_of(" ".join(row.content for row in rows)) if language == "auto" else language
    sections, further = choosing.sections(name, rows, handle.now(), language)
    if name == choosing.MEMORY:
        further = max(0, live(handle) - sum(len(lines) for _, lines in sections))
    short = _short_ids(handle, [row for _, lines in sections for row in lines])
    body, shown = region.body(
        sections,
        at_most=choosing.CHARS,
        short=lambda id: short[id],
        omitted=label("page.omitted", language),
        further=further,
    )
    omitted = further + sum(len(lines) for _, lines in sections) - len(shown)
    before = look.found or _new_page(handle, look, label(f"page.{'memory' if name == choosing.MEMORY else 'user'}", language))
    whole = {short[row.id]: row.id for row in shown}
    entries = hand_edits.entries(region.items(body), handle.line_seal, lambda id: whole.get(id, ""))
    if look.seen and look.found and not look.edits and _same(look.found.body, body):
        there = PageVersion(name, look.found.version, look.found.digest, entries)
        known = any(one.version == there.version for one in look.known)  # not where the database went back in time
        return look.seen.text, None if known else there, len(shown), omitted
    version = handle.new_id()[-8:]
    digest = _digest(handle, version, body)
    text = region.format_page(
        Page(before.before, version, digest, body, region.below(before.after, own)), help=label("page.help", language)
    )
    return text, PageVersion(name, version, digest, entries), len(shown), omitted


def _same(before: str, now: str) -> bool:
    """Whether two regions say the same, whatever a formatter made of one."""
    one, two = ([(item.text or " ".join(item.raw.split()), item.id) for item in region.items(body)] for body in (before, now))
    return one == two


def _new_page(handle: Handle, look: Look, title: str) -> Page:
    """Where the region stands in a page that has none, or none that can be told: behind what people wrote."""
    if look.seen is None or not look.seen.text.strip():
        return Page(f"# {title}\n\n", "", "", "", "")
    text = look.seen.text
    if look.known:
        text = region.clear(text, hand_edits.shown(look.known, handle.line_seal))
    end = region.line_end(text)
    gap = "" if text.endswith(end * 2) or not text else end if text.endswith(end) else end * 2
    return Page(text + gap, "", "", "", "")


def pool(handle: Handle) -> list[SemanticMemory]:
    """The statements of this scope that pages are made of: all rules, what is said of the user, and the newest."""
    own, now = handle.own(), handle.now()
    if not own:
        return []
    newest = Memories(states=(State.ACTIVE,), current=True, unexpired_at=now, order="said", newest_first=True, limit=POOL)
    found = [
        *handle.store.memories(own, Memories(live_kind=Kind.RULE, unexpired_at=now)),
        *handle.store.memories(own, replace(newest, where=Condition("subject", "eq", keys.USER))),
        *handle.store.memories(own, newest),
    ]
    return mark(handle, [*{row.n: row for row in found}.values()])


def live(handle: Handle, project: str | None = None) -> int:
    """How many statements of this scope hold now, without those of projects other than this one."""
    own = handle.own()
    belongs = Group("or", (Condition("project", "exists", False), *([Condition("project", "eq", project)] if project else [])))
    select = Memories(states=(State.ACTIVE,), current=True, unexpired_at=handle.now(), where=belongs)
    return handle.store.count(own, select) if own else 0


def _short_ids(handle: Handle, rows: Sequence[Shown]) -> dict[str, str]:
    """The ends of ids by which they are known in this scope."""
    short: dict[str, str] = {}
    for row in rows:
        length = 8
        while length < len(row.id) and (
            handle.store.count(handle.own(), Memories(suffix=row.id[-length:])) > 1 or row.id[-length] == "-"
        ):
            length += 4
        short[row.id] = row.id[-length:]
    return short


def _digest(handle: Handle, version: str, body: str) -> str:
    return handle.scope_seal(f"page\0{region.without_blank_lines(version, body)}").hex()[:12]
