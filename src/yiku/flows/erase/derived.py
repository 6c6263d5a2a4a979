"""
Find records derived from erased statements and turns, to delete or shorten: episodes, scratchpad, attachments, jobs.

An episode that tells of a turn that goes, or loses a sentence, goes with it: it can be told again from what is left. An
attachment of a turn that goes wholly goes, with its blob. Of the rest goes what says it: one of its sentences, or a word
that nothing else in this scope says. A scratchpad only loses the lines that do, and gets a new id, so that its older forms,
in the journal and in copies of the store, are known by the old one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from yiku.flows.common import turn_texts
from yiku.flows.common.handle import Handle
from yiku.flows.common.turn_texts import tokens, tool_tokens
from yiku.flows.erase import redact
from yiku.flows.keep import attach
from yiku.flows.learn import episodes
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.privacy import erasure, redaction
from yiku.rules.text import analyze
from yiku.rules.text.safe_ends import pieces, safe_sentences
from yiku.store.api import RECORD_KINDS, RECORD_TABLES, record_was
from yiku.types import (
    Attachment,
    Change,
    Episode,
    Job,
    Put,
    Record,
    Records,
    Scratchpad,
    SemanticMemory,
    Session,
    Task,
    Turn,
    Turns,
)

Window = tuple[datetime | None, datetime | None]


@dataclass(frozen=True, slots=True)
class DerivedRecords:
    """Records that an erasure deletes or shortens, besides statements and turns."""

    gone: Sequence[Record] = ()
    left: Sequence[tuple[Scratchpad, Scratchpad]] = ()  # before, and what is left, under a new id
    unlinked: Sequence[Episode | Attachment] = ()  # they stay, and name a statement no more
    images: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)  # what rows of the journal keep of older forms
    states: Sequence[Session] = ()  # sessions whose variables and task go
    jobs: Sequence[Job] = ()  # that go, or lose what a model said to them

    def __bool__(self) -> bool:
        return bool(self.gone or self.left or self.images or self.states)

    def ids(self) -> dict[str, list[str]]:
        """Return the ids of the affected records, by table."""
        found: dict[str, list[str]] = {}
        for record in (*self.gone, *(before for before, _ in self.left)):
            found.setdefault(RECORD_TABLES[type(record)], []).append(record.id)
        return found

    def blobs(self) -> set[str]:
        """Return the blobs of deleted attachments."""
        return {record.blob for record in self.gone if isinstance(record, Attachment) and record.blob}

    def put(self) -> list[Change]:
        """Return the shortened records."""
        again: list[Change] = [Put(after) for _, after in self.left]
        for one in self.unlinked:
            again.append(Put(one, episodes.tokens(one) if isinstance(one, Episode) else attach.tokens(one)))
        return again

    def texts(self) -> list[str]:
        """Return the texts that are deleted."""
        found = [*erasure.strings(self.gone), *erasure.strings([*self.images.values()])]
        for before, after in self.left:
            stays = {*_texts_of(after)}
            found += [line for line in _texts_of(before) if line not in stays]
        for state in self.states:
            found += [state.id, *_texts_of_state(state)]
        return [*found, *(text for job in self.jobs for text in (job.session, job.reply, job.error) if text)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureContext:
    """The statements and turns of an erasure, to test other texts against."""

    statements: Sequence[SemanticMemory]  # all that they say goes
    memories: Sequence[SemanticMemory]  # all rows that go, also of statements that are told anew
    retold: Sequence[SemanticMemory]  # these stand in their places
    turns: Sequence[Turn]  # wholly
    redacted: Sequence[tuple[Turn, Turn]]  # before and after
    texts: Sequence[str]
    session: str | None = None  # goes whole, or of that time
    window: Window | None = None
    spared: bool = False  # the turns that say a statement stay, and so does what grew out of them
    ids: Collection[str] = ()  # of records that go in any case: they did in another copy


def select_all(handle: Handle, *, until: datetime | None = None, ids: Collection[str] = ()) -> DerivedRecords:
    """Select all records of a scope, up to a time, and those of earlier erasures."""
    own = handle.own()
    if not own:
        return DerivedRecords()
    every: list[Record] = [record for kind in RECORD_TABLES for record in handle.store.records(kind, own, Records())]
    return DerivedRecords(
        gone=[one for one in every if until is None or one.updated_at <= until or one.id in ids],
        images={row.number: dict(row.before or {}) for row in _older(handle, own) if until is None or row.at <= until},
        states=[state for state in _states(handle, own) if until is None or state.ended_at is None or state.ended_at <= until],
        jobs=[job for job in handle.store.learning.jobs(own[0]) if until is None or job.created_at <= until],
    )


def select_by_id(handle: Handle, ids: Collection[str], *, suffix: str | None = None) -> list[Record]:
    """Select the records with these ids, or the one with this id suffix."""
    own, found = handle.own(), list[Record]()
    select = Records(suffix=suffix) if suffix is not None else Records(ids=[*ids])
    for kind in RECORD_TABLES if own and (ids or suffix) else ():
        found += handle.store.records(kind, own, select)
    return found if suffix is None or len(found) == 1 else []


def derived_from(handle: Handle, erased: ErasureContext) -> DerivedRecords:
    """Select the records derived from these statements and turns."""
    own, store = handle.own(), handle.store
    if not own:
        return DerivedRecords()
    every: list[Record] = [record for kind in RECORD_TABLES for record in store.records(kind, own, Records())]
    images = {row.number: row for row in _older(handle, own)}
    older = {number: record_was(row.table, dict(row.before or {}), handle.scope) for number, row in images.items()}
    states = _states(handle, own)
    texts = [text for record in (*every, *older.values()) for text in _texts_of(record)]
    judge = _Selector(
        handle, erased, mentions(handle, erased, [*texts, *(text for state in states for text in _texts_of_state(state))])
    )

    gone, unlinked, left = list[Record](), list[Episode | Attachment](), list[tuple[Scratchpad, Scratchpad]]()
    marked = {number for number, one in older.items() if judge.takes(one) or judge.shortens(one)}
    before_now = {older[number].id for number in marked}
    for record in every:
        if judge.takes(record):
            gone.append(record)
        elif isinstance(record, Scratchpad):
            after = judge.left_of(record)
            if after != record or record.id in before_now:
                left.append((record, replace(after, n=0, changed=0, id=handle.new_id())))
            elif record.id in erased.ids:  # nobody can tell here which line it was
                gone.append(record)
        elif (stays := _unlink(record, erased.memories)) != record:
            unlinked.append(stays)
    affected = {record.id for record in (*gone, *(before for before, _ in left))} | {*erased.ids}
    return DerivedRecords(
        gone=gone,
        left=left,
        unlinked=unlinked,
        images={n: dict(images[n].before or {}) for n, one in older.items() if n in marked or one.id in affected},
        states=[
            state
            for state in states
            if state.id in judge.turns or judge.ends(state.id) or any(map(judge.says, _texts_of_state(state)))
        ],
        jobs=[job for job in store.learning.jobs(own[0]) if job.session in judge.turns or _of_episode(job) in affected],
    )


def _older(handle: Handle, own: Sequence[int]) -> Iterator[Any]:
    """Return the journal rows that keep an older version of a record."""
    for table in RECORD_KINDS:
        yield from (row for row in handle.store.journal(own, table=table, after=0) if row.before)


def _states(handle: Handle, own: Sequence[int]) -> list[Session]:
    return [state for state in handle.store.sessions(own[0]) if state.variables or state.task]


def _of_episode(job: Job) -> str | None:
    return job.content_hash.decode() if job.kind == "episode" else None


def _unlink(record: Episode | Attachment, memories: Sequence[SemanticMemory]) -> Episode | Attachment:
    gone = {memory.id for memory in memories}
    return replace(record, linked_memory_ids=tuple(id for id in record.linked_memory_ids if id not in gone))


# ------------------------------------------------------------------ one record


@dataclass(frozen=True, slots=True)
class _Selector:
    """Decides for each record whether it is deleted, and what remains of a scratchpad."""

    handle: Handle
    erased: ErasureContext
    says: Callable[[str], bool]

    @property
    def turns(self) -> Mapping[str, Sequence[Turn]]:
        """The affected turns, by session."""
        found: dict[str, list[Turn]] = {}
        for turn in (*self.erased.turns, *(before for before, _ in self.erased.redacted)):
            found.setdefault(turn.session, []).append(turn)
        return found

    def ends(self, session: str | None) -> bool:
        """Tell whether a session is erased completely."""
        return session is not None and session == self.erased.session and self.erased.window is None

    def takes(self, record: Record) -> bool:
        """Tell whether a record is deleted."""
        match record:
            case Episode():
                return record.id in self.erased.ids or self._tells_of_it(record) or any(map(self.says, _texts_of(record)))
            case Attachment():
                return record.id in self.erased.ids or self._belongs_to_it(record) or any(map(self.says, _texts_of(record)))
            case Scratchpad():  # of somebody of whom nothing else is left
                return record.user_id != self.handle.scope and self.says(record.user_id)

    def _tells_of_it(self, episode: Episode) -> bool:
        if self.ends(episode.session) or self._within(episode.session, episode.started_at, episode.ended_at):
            return True
        turns = self.turns.get(episode.session, ())
        ends = {turn.id: turn.position for turn in (*turns, *self._ends_of(episode))} if turns else {}
        first, last = ends.get(episode.first_turn or ""), ends.get(episode.last_turn or "")
        if first is None or last is None:  # an end of it is not there any more
            return any(episode.started_at <= turn.said_at <= episode.ended_at for turn in turns)
        return any(first <= turn.position <= last for turn in turns)

    def _ends_of(self, episode: Episode) -> list[Turn]:
        ids = [id for id in (episode.first_turn, episode.last_turn) if id is not None]
        return self.handle.store.turns(self.handle.own(), Turns(ids=ids, hidden=True)) if ids else []

    def _belongs_to_it(self, attachment: Attachment) -> bool:
        if attachment.turn is not None:
            return any(turn.id == attachment.turn for turn in self.erased.turns) or self._kept_says(attachment)
        at = attachment.said_at
        return self.ends(attachment.session) or self._within(attachment.session, at, at) or self._kept_says(attachment)

    def _kept_says(self, attachment: Attachment) -> bool:
        """Tell whether an attachment's stored content contains a statement."""
        if attachment.blob is None or self.erased.spared or not self.erased.statements:
            return False
        whole = analyze.plain(turn_texts.blob(self.handle, attachment.blob))
        return any(analyze.plain(text) in whole for one in self.erased.statements for text in redact.search_terms(one))

    def _within(self, session: str, start: datetime, end: datetime) -> bool:
        """Tell whether a time span lies in the erased window."""
        if self.erased.window is None or self.erased.session not in (None, session):
            return False
        since, until = self.erased.window
        return (since is None or end >= since) and (until is None or start < until)

    def shortens(self, record: Record) -> bool:
        """Tell whether a record loses lines."""
        return isinstance(record, Scratchpad) and self.left_of(record) != record

    def left_of(self, record: Scratchpad) -> Scratchpad:
        """Return a scratchpad without the erased lines."""
        moments = {turn.said_at for turns in self.turns.values() for turn in turns}

        def stays(task: Task) -> bool:
            return not (self.ends(task.session) or task.since in moments or self.says(task.text))

        def lines(known: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(line for line in known if not self.says(line))

        written = {name: body.splitlines() for name, body in record.overrides.items() if not self.says(name)}
        over = bool(record.current_focus) and (record.focus_since in moments or self.says(record.current_focus))
        return replace(
            record,
            current_focus="" if over else record.current_focus,
            focus_since=None if over else record.focus_since,
            active_projects=lines(record.active_projects),
            recent=tuple(task for task in record.recent if stays(task)),
            open_questions=lines(record.open_questions),
            next_steps=lines(record.next_steps),
            overrides={name: "\n".join(lines(tuple(body))) for name, body in written.items()},
        )


def _texts_of(record: Record) -> list[str]:
    """Return the texts of a record, without session names and ids."""
    match record:
        case Episode():
            words = (record.summary, record.goal, record.outcome_reason, record.entities, record.tools_used, record.decisions)
            return [*erasure.strings([text for text in (*words, record.tags, record.action_nodes) if text is not None])]
        case Attachment():
            where = (record.filename, record.original_filename, record.local_path, record.url, *record.tags)
            return [text for text in (*where, record.description, record.transcription, record.extracted_text) if text]
        case Scratchpad():
            tasks = (task.text for task in record.recent)
            own = (line for name, body in record.overrides.items() for line in (name, *body.splitlines()))
            found = (
                record.user_id,
                record.current_focus,
                *record.active_projects,
                *tasks,
                *record.open_questions,
                *record.next_steps,
                *own,
            )
            return [text for text in found if text]


def _texts_of_state(state: Session) -> list[str]:
    return [*erasure.strings(state.variables), *([state.task] if state.task else [])]


# ------------------------------------------------------------------ what says it


def mentions(handle: Handle, erased: ErasureContext, texts: Iterable[str]) -> Callable[[str], bool]:
    """Tell whether a text contains an erased sentence or statement, or a word that nothing else contains."""
    if erased.spared:
        return lambda _: False
    words_by_text, going = {text: _words(text) for text in texts}, _words_of(erased)
    unique = _unique_words(handle, erased, going & {word for words in words_by_text.values() for word in words})
    sentences = {words for text in erased.texts for words in erasure.of_sentences(text)}
    known = going.union(*map(_words, sentences))
    names, phrases = handle.settings.names, redaction.phrases(erased.statements)

    def stated(text: str) -> bool:
        parts = [*pieces(text), *safe_sentences(text)]
        return not sentences.isdisjoint(erasure.runs(text)) or any(
            redaction.says(part, phrases, speaker=None, names=names) for part in parts
        )

    found = {
        text
        for text, words in words_by_text.items()
        if not unique.isdisjoint(words) or (not (words and known.isdisjoint(words)) and stated(text))
    }
    return lambda text: text in found


def _words(text: str) -> set[str]:
    analyzed = analyze.tokens(text)
    return {*analyzed.words, *analyzed.characters}


def _words_of(erased: ErasureContext) -> set[str]:
    """Return the search words of erased content."""
    going = {word for memory in erased.memories for word in _search_words(index_tokens(memory))}
    for turn in (*erased.turns, *(before for before, _ in erased.redacted)):
        going.update(_search_words(tokens(turn)), _search_words(tool_tokens(turn)))
    return going


def _unique_words(handle: Handle, erased: ErasureContext, words: Collection[str]) -> set[str]:
    """Return those words that nothing outside the erasure contains."""
    stays = {word for memory in erased.retold for word in _search_words(index_tokens(memory))}
    for _, after in erased.redacted:
        stays.update(_search_words(tokens(after)), _search_words(tool_tokens(after)))
    wanted = sorted(word for word in words if word not in stays and _is_telling(word))
    turns = {turn.n for turn in (*erased.turns, *(before for before, _ in erased.redacted))}
    stays |= redact.words_elsewhere(handle, wanted, redact.Touched(turns, {one.n for one in erased.memories}))
    return {word for word in wanted if word not in stays}


def _is_telling(word: str) -> bool:
    """Tell whether a word alone may identify erased content; common words do not."""
    return len(word) >= erasure.WORD_CHARS or (len(word) > 1 and (not word.isascii() or any(map(str.isdigit, word))))


def _search_words(tokens: Any) -> Iterator[str]:
    if tokens is not None:
        yield from tokens.words
        yield from tokens.characters
