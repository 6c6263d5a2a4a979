"""
Update, edit and format the scratchpad: current focus, recent tasks, open questions, next steps.

The focus follows from what the user says (tasks.py): a request for more of the same renews it; one that leaves it
puts it among the recent tasks, with its times, and whether it was done or only left. Questions and
next steps come at the end of a session, by a patch that can add and settle a few lines and rewrite nothing. What the
user wrote stands for the whole section until they remove it.

    ## 当前任务            ## Current task
    ## 当前项目            ## Projects
    ## 近期进展            ## Recent progress       - 2026-02-20: one line a task, newest first
    ## 未解决的问题         ## Open questions
    ## 下一步              ## Next steps

It is kept within STORED_CHARS as it is shown, and within a budget of tokens in a prompt: whole lines go, the least
needed first, and a last line says how many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import cache

from yiku.rules.finding import pack
from yiku.rules.lexicon.lists import label, languages, words
from yiku.rules.sessions import tasks
from yiku.rules.sessions.tasks import short
from yiku.rules.text import analyze
from yiku.rules.text.folding import folded
from yiku.types import Scratchpad, ScratchpadPatch, Task

STORED_CHARS = 2_000  # as shown; C-38
PROMPT_TOKENS = 500
RECENT_TASKS = 5
PROJECTS = 5
LINES = 10  # of open questions, and of next steps
LINE_CHARS = 120
PATCH_LINES = 5  # that one patch may add to a section
OWN_CHARS = 1_200  # of a section that the user wrote
OWN_SECTIONS = 12


SECTIONS = ("current_focus", "active_projects", "recent", "open_questions", "next_steps")  # the fields that they show
_PROMPT_ORDER = ("current_focus", "next_steps", "open_questions", "recent", "active_projects")
_DROP_ORDER = ("recent", "next_steps", "open_questions", "active_projects")  # from the end of each, but for one line
_HEADING = re.compile(r"\s{0,3}#{1,6}(.*)|\s{0,3}\*\*([^*]{1,40})\*\*[\s:：]*")
_BULLET = re.compile(r"^\s*(?:[-*•·+]|\d{1,2}[.)、])\s*(?:\[[ xX]\]\s*)?")
_DATED = re.compile(r"(?:(\d{4})[-/.\u4e00-\u9fff])?(\d{1,2})[-/.\u4e00-\u9fff](\d{1,2})[\u4e00-\u9fff]?\s*[:：]\s*")


@cache
def _fields() -> dict[str, str]:
    """Map section titles, folded, to fields."""
    shown = {folded(label(f"scratchpad.{field}", language)): field for field in SECTIONS for language in languages()}
    return shown | {name: field for field in SECTIONS for name in (field, *words(f"records.section_{field}"))}


@cache
def _omission_pattern() -> re.Pattern[str]:
    """Pattern of the line that counts omitted lines."""
    return re.compile(
        "|".join(re.escape(label("scratchpad.omitted", language)).replace(r"\{\}", r"\d+") for language in languages())
    )


# ------------------------------------------------------------------ what changes it


def follow(
    pad: Scratchpad,
    message: str,
    *,
    now: datetime,
    session: str | None = None,
    project: str | None = None,
) -> Scratchpad:
    """Update the scratchpad after a user message; one that asks for nothing new changes nothing."""
    task = tasks.task(message)
    projects = (
        tuple(dict.fromkeys((short(project, LINE_CHARS), *pad.active_projects)))[:PROJECTS] if project else pad.active_projects
    )
    moved = replace(pad, active_projects=projects)
    if tasks.switches(pad.current_focus, message):
        task = task if tasks.asks(message) else ""
        moved = replace(_put_by(moved, now, session, done=False), current_focus=task, focus_since=now if task else None)
    elif task and not pad.current_focus and tasks.asks(message):
        moved = replace(moved, current_focus=task, focus_since=now)
    elif tasks.renews(pad.current_focus, message):
        moved = replace(moved, current_focus=task)
    return trim(replace(moved, updated_at=now))[0] if moved != pad else pad


def finish(pad: Scratchpad, *, now: datetime, session: str | None = None) -> Scratchpad:
    """Mark the current focus as done."""
    return trim(replace(_put_by(pad, now, session, done=True), updated_at=now))[0] if pad.current_focus else pad


def _put_by(pad: Scratchpad, now: datetime, session: str | None, *, done: bool) -> Scratchpad:
    """Move the current focus to the recent tasks, each task once."""
    if not pad.current_focus:
        return pad
    since = min(pad.focus_since or pad.updated_at, now)  # a clock may have run ahead
    task = Task(text=pad.current_focus, since=since, until=now, session=session, done=done)
    others = [one for one in pad.recent if analyze.plain(one.text) != analyze.plain(task.text)]
    return replace(pad, current_focus="", focus_since=None, recent=(task, *others)[:RECENT_TASKS])


def patch(pad: Scratchpad, patch: ScratchpadPatch, *, now: datetime) -> tuple[Scratchpad, tuple[str, ...]]:
    """
    Apply a patch; return the scratchpad and the lines that could not be used.

    Each section takes PATCH_LINES new lines of LINE_CHARS, the newest first, and holds LINES. To settle a line is to
    repeat it, whatever its case and punctuation.
    """
    questions, first = _lines(pad.open_questions, patch.add_open_questions, patch.settle_open_questions)
    steps, second = _lines(pad.next_steps, patch.add_next_steps, patch.settle_next_steps)
    moved = replace(pad, open_questions=questions, next_steps=steps)
    if moved == pad:
        return pad, (*first, *second)
    kept, dropped = trim(replace(moved, updated_at=now))
    return kept, (*first, *second, *dropped)


def _lines(known: Sequence[str], add: Sequence[str], settle: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    left = {analyze.plain(line): line for line in known}
    unused = [line for line in settle if left.pop(analyze.plain(line), None) is None]
    fresh: dict[str, str] = {}
    for line in add:
        flat = short(_BULLET.sub("", line), LINE_CHARS)
        key = analyze.plain(flat)
        if not key or key in left or key in fresh or len(fresh) == PATCH_LINES:
            unused.append(line)
        else:
            fresh[key] = flat
    all_lines = (*fresh.values(), *left.values())
    return all_lines[:LINES], [*unused, *all_lines[LINES:]]


# ------------------------------------------------------------------ what the user writes


def from_markdown(text: str) -> dict[str, str]:
    """
    Parse Markdown into sections by field; unknown sections by their title.

    Headings are known in both languages. What stands before the first is the current task.
    """
    found: dict[str, list[str]] = {}
    name = "current_focus"
    for line in text.splitlines():
        if match := _HEADING.fullmatch(line):
            title = (match[1] or match[2] or "").strip(" \t#:：")
            name = _fields().get(folded(title), title)
            found.setdefault(name, [])
        elif not _omission_pattern().fullmatch(line.strip()) and (line.strip() or name in found):
            found.setdefault(name, []).append(line.rstrip())
    bodies = {name: "\n".join(lines).strip("\n") for name, lines in found.items()}
    return {name: body for name, body in bodies.items() if name and (body or name in _fields())}


def edit(pad: Scratchpad, text: str, *, now: datetime) -> tuple[Scratchpad, tuple[str, ...]]:
    """
    Apply the user's edit; return the scratchpad and the lines that did not fit.

    A section that reads otherwise than it was shown is theirs from now on. A section that they left out is no longer
    theirs; an empty one stays empty.
    """
    shown = [from_markdown(to_markdown(pad, language)) for language in languages()]
    own: dict[str, str] = {}
    omitted: list[str] = []
    for name, body in from_markdown(text).items():
        if name in pad.overrides or all(one.get(name) != body for one in shown):
            own[name], cut = _cut_lines(body, OWN_CHARS if len(own) < OWN_SECTIONS else 0)
            omitted += cut
    own = {name[:LINE_CHARS]: body for name, body in [*own.items()][:OWN_SECTIONS]}
    if own == pad.overrides:
        return pad, tuple(omitted)
    kept, dropped = trim(replace(pad, overrides=own, updated_at=now))
    return kept, (*omitted, *dropped)


def _cut_lines(text: str, at_most: int) -> tuple[str, list[str]]:
    """Cut a text to whole lines that fit, and return the rest."""
    lines = [short(line, at_most - 1) if len(line) >= at_most else line for line in text.splitlines()]
    kept = 0
    while kept < len(lines) and len("\n".join(lines[: kept + 1])) <= at_most:
        kept += 1
    return "\n".join(lines[:kept]), lines[kept:]


def apply(pad: Scratchpad) -> Scratchpad:
    """Parse the user's own sections into the fields of the scratchpad."""
    fields: dict[str, object] = {}
    for name, body in pad.overrides.items():
        lines = [line for raw in body.splitlines() if (line := _BULLET.sub("", raw).strip())]
        if name == "current_focus":
            fields[name] = short(" ".join(lines))
        elif name == "recent":
            fields[name] = tuple(_task(line, pad.updated_at) for line in lines)[:RECENT_TASKS]
        elif name in _fields():
            fields[name] = tuple(lines)
    return replace(pad, **fields) if fields else pad  # type: ignore[arg-type]  # each field gets what it holds


def _task(line: str, now: datetime) -> Task:
    """Parse a dated line as a task; a date without a year is the latest one."""
    match = _DATED.match(line)
    at = now
    if match:
        for year in (int(match[1]),) if match[1] else (now.year, now.year - 1):
            try:
                at = now.replace(year=year, month=int(match[2]), day=int(match[3]))
            except ValueError:
                continue
            if match[1] or at <= now:
                break
        else:
            match, at = None, now
    text = line[match.end() if match else 0 :]
    left = next((mark for language in languages() if text.endswith(mark := label("scratchpad.left", language))), "")
    return Task(text=text.removesuffix(left), since=at, until=at, done=not left)


# ------------------------------------------------------------------ how it is shown


def to_markdown(pad: Scratchpad, language: str) -> str:
    """Format the scratchpad as Markdown of at most STORED_CHARS; a last line counts omitted lines."""
    if len(text := _shown(pad, language)) <= STORED_CHARS:
        return text
    kept, dropped = trim(pad, STORED_CHARS - 40)
    return f"{_shown(kept, language)}\n\n{label('scratchpad.omitted', language).format(len(dropped))}"


def _shown(pad: Scratchpad, language: str) -> str:
    return "\n\n".join("\n".join((f"## {title}", *body)) for title, _, body in _sections(pad, language))


def _sections(pad: Scratchpad, language: str) -> list[tuple[str, str, list[str]]]:
    """Return title, field and lines of each section that has any, or that the user left empty."""
    found = []
    for field in SECTIONS:
        body = pad.overrides[field].splitlines() if field in pad.overrides else _body(pad, field, language)
        if body or field in pad.overrides:
            found.append((label(f"scratchpad.{field}", language), field, body))
    return [*found, *((name, name, text.splitlines()) for name, text in pad.overrides.items() if name not in _fields())]


def _body(pad: Scratchpad, field: str, language: str) -> list[str]:
    if field == "current_focus":
        return [pad.current_focus] if pad.current_focus else []
    if field == "recent":
        return [f"- {_day(task)}: {task.text}{'' if task.done else label('scratchpad.left', language)}" for task in pad.recent]
    lines: Iterable[str] = getattr(pad, field)
    return [f"- {line}" for line in lines]


def _day(task: Task) -> date:
    return (task.until or task.since).date()


def for_prompt(pad: Scratchpad, language: str, max_tokens: int = PROMPT_TOKENS) -> str:
    """
    Format the scratchpad for a prompt: focus, next steps, open questions, recent tasks, projects; omissions are named.

    A line that is too long for what is left is passed over for a shorter one. Empty when there is nothing to say.
    """
    titles = {field: (title, body) for title, field, body in _sections(pad, language)}
    order = [field for field in dict.fromkeys((*_PROMPT_ORDER, *titles)) if field in titles and titles[field][1]]
    reserve = (
        pack.estimate(label("scratchpad.no_room", language).format(", ".join(f"{titles[field][0]} 10" for field in order))) + 2
    )
    spent, shown, omitted = reserve, list[str](), list[str]()
    for field in order:
        title, body = titles[field]
        kept: list[str] = []
        for line in filter(str.strip, body):
            cost = pack.estimate(line) + 1 + (0 if kept else pack.estimate(f"## {title}") + 1)
            if spent + cost <= max_tokens:
                kept.append(line)
                spent += cost
        left = sum(1 for line in body if line.strip()) - len(kept)
        omitted += [f"{title} {left}"] if left else []
        shown += [f"## {title}", *kept] if kept else []
    if omitted and spent <= max_tokens:
        shown.append(label("scratchpad.no_room", language).format(", ".join(omitted)))
    return "\n".join(shown)


def trim(pad: Scratchpad, at_most: int = STORED_CHARS) -> tuple[Scratchpad, tuple[str, ...]]:
    """
    Trim the scratchpad to so many characters in every language; return it and the dropped lines.

    The oldest recent task goes first; of each section one line stays as long as others can go, and what the user
    wrote goes last.
    """

    def full() -> bool:
        return any(len(_shown(pad, language)) > at_most for language in languages())

    dropped: list[str] = []
    for fewest in (1, 0):
        for field in _DROP_ORDER:
            while full() and field not in pad.overrides and len(lines := getattr(pad, field)) > fewest:
                dropped.append(lines[-1].text if isinstance(lines[-1], Task) else lines[-1])
                pad = replace(pad, **{field: lines[:-1]})
    while full() and (longest := max(pad.overrides.values(), key=len, default="")):
        name = next(name for name, body in pad.overrides.items() if body == longest)
        body, _, last = longest.rpartition("\n")
        dropped.append(last)
        pad = replace(pad, overrides={**pad.overrides, name: body})
    return pad, tuple(dropped)
