"""
Format an export of a memory as Markdown pages for a person: statements, history, review, episodes, messages.

    README.md                 what is here, with counts, and what is not
    memories/KIND.md          statements that hold, by topic, newest first, with dates and sources
    history.md                statements that changed or ended, each with its versions
    review.md                 conflicts, candidates, beliefs
    work.md                   the scratchpads, attachments
    episodes.md               episodes, newest first
    conversations/NAME.md     the messages of a session, in order

A text of somebody stays what it was, in one place: it is put on one line of a list or quoted, and nothing in it is a heading, a
link, a picture or HTML of the page.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from yiku.rules.lexicon.lists import label
from yiku.rules.pages.choosing import title
from yiku.rules.sessions import scratchpad as pads
from yiku.rules.statements import keys
from yiku.types import Attachment, Episode, Kind, Scratchpad, SemanticMemory, Source, Standing, State, Turn

README, HISTORY, REVIEW, WORK, EPISODES = "README.md", "history.md", "review.md", "work.md", "episodes.md"
MEMORIES, CONVERSATIONS = "memories", "conversations"
NAME_CHARS = 60  # of a session in a file's name
RESULT_CHARS = 1_000  # of what a tool was given or gave; `yiku export FILE` has all of it
_MARKED = re.compile(r"[\\`*_\[\]<>#|~]")
_LEADING = re.compile(r"(\s*)(?:([-+=])|(\d{1,9})([.)]))")  # how a list, an underline or a rule begins
_NO_NAME = re.compile(r"[^\w.@=+-]+")


@dataclass(frozen=True, slots=True)
class Words:
    """The words of the pages, in a language."""

    language: str
    said: Mapping[str, str]

    def __call__(self, name: str, *values: object) -> str:
        return self.said[name].format(*values)


# ------------------------------------------------------------------ statements


def memories(kind: Kind, rows: Sequence[SemanticMemory], words: Words) -> str:
    """Return the page of the statements of a kind that hold."""
    topics: dict[str, list[SemanticMemory]] = {}
    for row in sorted(rows, key=lambda row: (row.confirmed_at, row.id), reverse=True):
        topics.setdefault(topic_of(row, words), []).append(row)
    first, last = words("about_you"), words("other")
    lines = [f"# {title(kind, words.language)} ({len(rows)})"]
    for topic in sorted(topics, key=lambda topic: (topic != first, topic == last, topic)):
        lines += ["", f"## {escaped(topic)}", ""]
        lines += [line for row in topics[topic] for line in statement(row, words)]
    return "\n".join([*lines, ""])


def topic_of(row: SemanticMemory, words: Words) -> str:
    """Return what a statement is about: its subject, else the first thing that it names or is tagged with."""
    subject = row.subject or next(iter((*row.entities, *row.tags)), None)
    return words("about_you") if subject == keys.USER else one_line(subject) if subject else words("other")


def statement(row: SemanticMemory, words: Words, up: str = "../") -> list[str]:
    """Return the lines of a statement. up: from its page to the folder of the export."""
    details = [
        words("since", day(row.valid_from)) if row.valid_to is None else words("held", day(row.valid_from), day(row.valid_to)),
        *([words("until", minute(end.astimezone(row.said_at.tzinfo)))] if (end := row.ends_at) else []),
        *(said_by(source, words, up) for source in row.sources[:3]),
        *([words("pinned")] if row.pinned else []),
        *([words("unconfirmed")] if row.state is State.CANDIDATE else []),
        *([words("belief", f"{row.confidence:.2f}")] if row.standing is Standing.BELIEF else []),
        *([words("summary")] if row.standing is Standing.SUMMARY else []),
        *([words("conflict", ", ".join(map(short, row.flagged_with)))] if row.flag and row.flagged_with else []),
        *([words("said_later", short(row.said_later))] if row.said_later else []),
        *([words("because", escaped(one_line(row.basis)))] if row.basis else []),
        *([words("tags", escaped(", ".join(row.tags)))] if row.tags else []),
        *([words("project", escaped(row.project))] if row.project else []),
        *([words("agent", escaped(row.agent))] if row.agent else []),
        short(row.id),
    ]
    return [f"- {escaped(one_line(row.content))}  ", f"  {' · '.join(details)}"]


def said_by(source: Source, words: Words, up: str = "../") -> str:
    """Return who said something, when and where."""
    who = source.actor or source.origin.value
    where = words("in_session", link(source.session, up)) if source.turn and source.session else ""
    return words("said", minute(source.said_at), escaped(who)) + where


def history(lines: Iterable[Sequence[SemanticMemory]], now: datetime, words: Words) -> tuple[str, int]:
    """Return the page of what changed or ended, and how many statements there are. lines: the versions of each, in the order said."""
    entries: list[tuple[datetime, list[str]]] = []
    for versions in lines:
        last = versions[-1]
        text_lines = ["", f"## {escaped(one_line(last.content))}", ""]
        for version in versions:
            *before, details = statement(version, words, "")
            text_lines += [*before, f"{details} · {standing(version, now, words)}"]
        entries.append((last.updated_at, text_lines))
    entries.sort(key=lambda entry: entry[0], reverse=True)
    page = [f"# {words('history')} ({len(entries)})", *(line for _, text_lines in entries for line in text_lines), ""]
    return "\n".join(page), len(entries)


def standing(row: SemanticMemory, now: datetime, words: Words) -> str:
    """Return whether a version holds, and if not, why."""
    if row.superseded_by is not None:
        return words("replaced")
    if row.live and not row.expired(now):
        return words("holds")
    why = "expired" if row.live else row.reason or row.state.value
    return words("ended", words(f"why_{why}") if f"why_{why}" in words.said else escaped(one_line(why)))


def review(rows: Sequence[SemanticMemory], words: Words) -> tuple[str, int]:
    """Return the page of what is not certain, and how many statements there are."""
    groups = {
        "conflicts": [row for row in rows if row.flag],
        "candidates": [row for row in rows if row.state is State.CANDIDATE and not row.flag],
        "beliefs": [row for row in rows if row.standing is Standing.BELIEF and row.state is State.ACTIVE and not row.flag],
    }
    lines, count = [f"# {words('review')}", "", words("how")], 0
    for name, found in groups.items():
        if found:
            lines += ["", f"## {words(name)} ({len(found)})", ""]
            lines += [line for row in found for line in statement(row, words, "")]
            count += len(found)
    return "\n".join([*lines, ""]), count


# ------------------------------------------------------------------ what grew out of sessions


def episodes(found: Sequence[Episode], words: Words) -> str:
    """Return the page of the episodes, newest first."""
    lines = [f"# {words('episodes')} ({len(found)})"]
    for one in sorted(found, key=lambda one: (one.started_at, one.id), reverse=True):
        outcome = label(f"episode_outcome.{one.outcome}", words.language)
        reason = f" ({escaped(one_line(one.outcome_reason))})" if one.outcome_reason else ""
        facts = {
            "goal": escaped(one_line(one.goal)),
            "outcome": outcome + reason,
            "decisions": "; ".join(escaped(one_line(decision)) for decision in one.decisions),
            "actions": ", ".join(escaped(f"{node.tool_name}{'' if node.success else ' ✗'}") for node in one.action_nodes),
            "about": escaped(", ".join(one.entities)),
        }
        lines += ["", f"## {minute(one.started_at)} – {minute(one.ended_at)}", "", *quoted(one.summary), ""]
        lines += [f"- {words(name, text)}" for name, text in facts.items() if text]
        lines += [f"- {link(one.session, '')} · {short(one.id)}"]
    return "\n".join([*lines, ""])


def work(found: Sequence[Scratchpad], attachments: Sequence[Attachment], words: Words) -> str:
    """Return the page of the scratchpads and attachments."""
    lines = [f"# {words('work')}"]
    for pad in found:
        lines += ["", f"## {escaped(pad.user_id)} ({minute(pad.updated_at)})", ""]
        lines += [_of_pad(line) for line in pads.to_markdown(pad, words.language).splitlines()]
    if attachments:
        lines += ["", f"# {words('attachments')} ({len(attachments)})", ""]
    for one in attachments:
        place = one.local_path or one.url or one.blob or ""
        details = [minute(one.said_at), escaped(place), link(one.session, ""), short(one.id)]
        lines += [f"- {escaped(one.original_filename or one.filename)}  ", f"  {' · '.join(filter(None, details))}"]
        for text in (one.description, one.transcription, one.extracted_text):
            lines += [f"  {line}" for line in quoted(text)] if text else []
    return "\n".join([*lines, ""])


def _of_pad(line: str) -> str:
    """Return a line of a scratchpad: its headings and entries stay what they are."""
    mark, gap, rest = line.partition(" ")
    return f"{'###' if mark == '##' else mark} {escaped(rest)}" if gap and mark in ("##", "-") else escaped(line)


def conversation_head(session: str) -> str:
    """Return the beginning of the page of a session."""
    return f"# {escaped(session)}\n"


def message(turn: Turn, content: str, words: Words) -> str:
    """Return a message, quoted, with the calls of tools behind it."""
    who = escaped(turn.speaker or turn.role)
    lines = ["", f"### {minute(turn.said_at)} · {who} · {short(turn.id)}", "", *(quoted(content) if content.strip() else [])]
    for call in turn.tool_calls:
        lines += [
            "",
            f"{words('called', escaped(str(call.get('name', '?'))))}:",
            "",
            *quoted(cut(str(call.get("input", call)), words)),
        ]
    for result in turn.tool_results:
        lines += ["", f"{words('result')}:", "", *quoted(cut(str(result.get("content", "")), words))]
    return "\n".join([*lines, ""])


def file_name(session: str) -> str:
    """Return the name of the page of a session: like it, and unlike that of any other."""
    digest = hashlib.blake2b(session.encode(), digest_size=4).hexdigest()
    return f"{_NO_NAME.sub('-', session).strip('-.')[:NAME_CHARS] or 'session'}-{digest}.md"


def link(session: str, up: str) -> str:
    """Return a link to the page of a session."""
    return f"[{escaped(session)}]({up}{CONVERSATIONS}/{file_name(session)})"


# ------------------------------------------------------------------ the first page


@dataclass(frozen=True, slots=True)
class Contents:
    """What an export holds: of each page its title and how many entries it has; notes that lie elsewhere; what was forgotten."""

    scope: str
    counts: Mapping[str, tuple[str, int]]
    notes: Sequence[str]
    forgotten: int


def first_page(found: Contents, now: datetime, words: Words) -> str:
    """Return the page that names the others."""
    lines = [f"# {words('title', escaped(found.scope))}", "", words("made", minute(now)), "", f"## {words('what')}", ""]
    lines += [f"- [{escaped(name)}]({path}): {count:,}" for path, (name, count) in found.counts.items()] or [words("nothing")]
    lines += ["", f"## {words('left_out')}", ""]
    lines += [f"- {words('forgotten', found.forgotten)}"] if found.forgotten else []
    lines += [f"- {words('notes', ', '.join(map(escaped, found.notes)))}"] if found.notes else []
    return "\n".join([*lines, f"- {words('other_scopes')}", f"- {words('erased')}", ""])


# ------------------------------------------------------------------ texts


def one_line(text: str) -> str:
    """Return a text as one line."""
    return " ".join(text.split())


def escaped(text: str) -> str:
    """Return a text in which nothing is a mark of Markdown."""
    escaped_text = _MARKED.sub(lambda found: "\\" + found.group(), text)
    if found := _LEADING.match(escaped_text):
        blank, mark, number, dot = found.groups()
        escaped_text = f"{blank}{number or ''}\\{mark or dot}{escaped_text[found.end() :]}"
    return escaped_text


def quoted(text: str) -> list[str]:
    """Return a text as a quotation, line by line as it is."""
    return [f"> {escaped(line)}  " if line.strip() else ">" for line in text.splitlines()]


def cut(text: str, words: Words) -> str:
    """Return the beginning of a long text, with how much is left out."""
    return text if len(text) <= RESULT_CHARS else text[:RESULT_CHARS] + words("shortened", len(text) - RESULT_CHARS)


def short(id: str) -> str:
    """Return the short form of an id."""
    return f"#{id[-8:]}"


def day(at: datetime) -> str:
    """Return a day in the speaker's time."""
    return at.isoformat()[:10]


def minute(at: datetime) -> str:
    """Return a minute in the speaker's time."""
    return at.isoformat(sep=" ")[:16]
