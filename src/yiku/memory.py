"""
Memory: the one object a program holds. Wiring, and no logic.

Each verb is one call into one flow. The drawer `admin` holds the rest; below stand what looks after a home that
may not open any more. Everything is
synchronous and safe to call from several threads; opening starts nothing and writes nothing, except
that a home which is not there is made.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Unpack

from yiku import settings as _settings
from yiku.admin import Admin
from yiku.errors import Damaged, ForeignStore, StoreMismatch
from yiku.files import mounts
from yiku.flows.common import checks, tombstones
from yiku.flows.common.handle import Handle, local_time
from yiku.flows.find import browse, context, recall, traces
from yiku.flows.keep import feedback, forget, record, remember, update
from yiku.rules import analyze
from yiku.sessions import Sessions
from yiku.store.api import SqliteStore, Vectors
from yiku.types import (
    Checked,
    Context,
    Details,
    Forgotten,
    Hit,
    Hits,
    LearnReport,
    Outcome,
    Recorded,
    Repaired,
    Restored,
    SemanticMemory,
    Settings,
    Status,
    Turn,
    TurnDetails,
)

if TYPE_CHECKING:
    from yiku.flows.find.embed import Worker
    from yiku.models.api import ChatModel, Embedder

CLOSE_WITHIN_S = 1.5  # for the thread in the background
Time = datetime | str
Where = Mapping[str, Any]


class Memory:
    """
    A memory: one home on the disk, seen from one scope.

        with Memory("~/.yiku") as memory:
            memory.remember("I live in Oslo.")
            memory.recall("where do I live?")

    It writes one scope and reads it, `public`, and the further scopes of the settings. Times are given as
    aware datetimes or ISO 8601 text; without an offset they are local. Ids may be given by their last
    characters. Every verb raises the errors of `yiku.errors`, and writes all of what it does or nothing.
    """

    def __init__(
        self,
        home: str | os.PathLike[str] | None = None,
        *,
        scope: str | None = None,
        create: bool = True,
        clock: Callable[[], datetime] | None = None,
        embedder: Embedder | None = None,
        chat: ChatModel | None = None,
        background: bool = False,
        **settings: Any,
    ) -> None:
        """
        Open a home, by default YIKU_HOME or ~/.yiku.

        scope:      the scope to write; by default the home's owner
        create:     make the home, owned by you, when it is not there; else raise HomeMissing
        clock:      gives the time, for tests
        embedder:   a model of your own that makes vectors, instead of the one that the settings name
        chat:       a model of your own that reads and writes text, likewise
        background: embed what is said in a thread of this memory; else `admin.embed` does when it is called
        settings:   any of docs/settings.md, over the environment and yiku.toml
        """
        checks.optional_call(clock, "clock")
        checks.can(embedder, "embed", "embedder")
        checks.can(chat, "ask", "chat")
        place = _settings.home(home)
        self.settings: Settings
        self.settings, self.created = _settings.opened(place, {**settings, "scope": scope}, create=create)
        name = _settings.scope(self.settings)
        key = place.key()
        store = SqliteStore(
            place.database,
            gate=place.write_lock,
            analyzer=analyze.VERSION,
            key=key,
            durability=self.settings.durability,
            busy_timeout_s=self.settings.busy_timeout_s,
            network=mounts.kind(place.root) == "network",
        )
        try:
            tombstones.compare(place, store)
        except BaseException:
            store.close()
            raise
        vectors = Vectors(place.vectors, busy_timeout_s=self.settings.busy_timeout_s, read_only=store.read_only)
        self._handle = Handle(
            store, self.settings, name, clock or local_time, str(place.root), vectors, key, given=embedder, given_chat=chat
        )
        self.admin = Admin(self._handle)
        self.sessions = Sessions(self._handle)
        self._worker = self._started() if background else None

    @property
    def scope(self) -> str:
        """The scope that this memory writes."""
        return self._handle.scope

    # -------------------------------------------------------------- what is said

    def record(
        self, turns: Iterable[Mapping[str, Any]], *, session: str | None = None, idempotency_key: str | None = None
    ) -> Recorded:
        """Store turns, verbatim, in one transaction. Each has role and content, and may have what `record_turn` takes."""
        return record.record(self._handle, turns, session=session, idempotency_key=idempotency_key)

    def record_turn(self, role: str, content: str, *, idempotency_key: str | None = None, **details: Unpack[TurnDetails]) -> Turn:
        """
        Store one turn; it is on the disk when this returns. An external id that is known gives the turn as it was.

        What a user plainly says of himself in it is learned at once (`learn = at_once`).
        """
        draft = {"role": role, "content": content, **details}
        turn = record.record_turn(self._handle, draft, idempotency_key=idempotency_key)
        if turn.role == "user" and self.settings.learn == "at_once":
            from yiku.flows.learn import learn

            learn.after(self._handle, turn)
        return turn

    # -------------------------------------------------------------- what is held

    def remember(
        self,
        text: str,
        *,
        idempotency_key: str | None = None,
        despite_erasure: bool = False,
        dry_run: bool = False,
        **details: Unpack[Details],
    ) -> Outcome:
        """
        Keep one statement. It is new, confirms, replaces or contradicts what is known, or belongs in the past.

        Its slot (subject, predicate, object) is read from the sentence unless it is given. A statement said
        later than the live one of its slot replaces it at once; the old one stays as history. What was erased
        is refused, unless `despite_erasure`.
        """
        return remember.remember(
            self._handle, text, details, idempotency_key=idempotency_key, despite_erasure=despite_erasure, dry_run=dry_run
        )

    def learn(
        self,
        *,
        budget_s: float | None = None,
        session: str | None = None,
        everything: bool = False,
        progress: Callable[[int, int], object] | None = None,
    ) -> LearnReport:
        """
        Learn from what was said and waits: by rules, and by a model where the settings name one.

        budget_s:   for at most so long; what is left waits
        session:    of what waits for the model only what belongs to this one
        everything: also what is not due yet, and what failed for good
        progress:   told how many are done, of how many
        """
        from yiku.flows.learn import learn

        return learn.learn(self._handle, budget_s=budget_s, session=session, everything=everything, progress=progress)

    def confirm(self, id: str) -> Outcome:
        """Say that a candidate, a belief, or one of two that contradict each other holds. See `admin.review`."""
        from yiku.flows.learn import review

        return review.confirm(self._handle, id)

    def reject(self, id: str) -> Forgotten:
        """Say that a statement does not hold: it leaves memory, and `restore` brings it back."""
        from yiku.flows.learn import review

        return review.reject(self._handle, id)

    def update(self, id: str, text: str | None = None, **details: Unpack[Details]) -> SemanticMemory:
        """A new version with another text, or other details of the current one. The old is kept."""
        return update.update(self._handle, id, text, details)

    def forget(
        self,
        id: str | None = None,
        *,
        session: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        reason: str | None = None,
        hard: bool = False,
        dry_run: bool = False,
    ) -> Forgotten:
        """
        Take a memory, a turn, a session or a time range out of memory. `restore` brings it back.

        hard: erase it instead, for good and from every copy in the home; see `admin.erase`
        """
        if hard:
            from yiku.flows.erase import erase

            return erase.erase(self._handle, id, session=session, since=since, until=until, dry_run=dry_run)
        return forget.forget(self._handle, id, session=session, since=since, until=until, reason=reason, dry_run=dry_run)

    def restore(self, id: str) -> Forgotten:
        """Bring a forgotten memory or turn back."""
        return forget.restore(self._handle, id)

    def feedback(self, id: str, access: str) -> SemanticMemory:
        """Count that a memory was `retrieved`, `used` in an answer, or `mentioned` by the user."""
        return feedback.feedback(self._handle, id, access)

    def get(self, id: str, *, as_of: Time | None = None) -> SemanticMemory | Turn:
        """One version or one turn, whole; with `as_of` as it was recorded at that time."""
        return browse.get(self._handle, id, as_of=as_of)

    def get_all(
        self,
        *,
        where: Where | None = None,
        limit: int = 100,
        offset: int = 0,
        order: Literal["said", "updated"] = "said",
        as_of: Time | None = None,
        valid_at: Time | None = None,
    ) -> list[SemanticMemory]:
        """Live memories, newest first. `as_of`: as recorded then; `valid_at`: what held then, by what is known now."""
        return browse.get_all(self._handle, where=where, limit=limit, offset=offset, order=order, as_of=as_of, valid_at=valid_at)

    def about(self, entity: str, *, limit: int = 100) -> list[SemanticMemory]:
        """Live memories about somebody or something, newest first."""
        return browse.by_entity(self._handle, entity, limit=limit)

    def history(self, id_or_text: str, *, as_of: Time | None = None) -> list[SemanticMemory]:
        """All versions of one line in the order in which they were said; found by an id or by what it is about."""
        return browse.history(self._handle, id_or_text, as_of=as_of)

    # -------------------------------------------------------------- what is found

    def recall(
        self,
        question: str,
        *,
        limit: int | None = None,
        where: Where | None = None,
        as_of: Time | None = None,
        valid_at: Time | None = None,
        types: Sequence[str] = ("memory", "turn", "episode", "attachment"),
        session: str | None = None,
    ) -> Hits:
        """
        The best hits for a question, each with its sources. Writes nothing.

        session: the running conversation, whose last turns help to understand the question
        """
        return recall.recall(
            self._handle, question, limit=limit, where=where, as_of=as_of, valid_at=valid_at, types=types, session=session
        )

    def explain(
        self,
        question: str,
        *,
        limit: int | None = None,
        where: Where | None = None,
        as_of: Time | None = None,
        valid_at: Time | None = None,
        types: Sequence[str] = ("memory", "turn", "episode", "attachment"),
        session: str | None = None,
    ) -> Hits:
        """`recall`, for those who want `.explanation`: terms, slots, routes, weights, and what was left out and why."""
        return self.recall(question, limit=limit, where=where, as_of=as_of, valid_at=valid_at, types=types, session=session)

    def context(
        self,
        question: str,
        *,
        max_tokens: int | None = None,
        where: Where | None = None,
        as_of: Time | None = None,
        valid_at: Time | None = None,
        session: str | None = None,
        rules: bool = True,
    ) -> Context:
        """
        Standing rules and the best hits, packed into a fenced text for a prompt. What went in counts as retrieved.

        session: the running conversation, whose last turns help to understand the question, and whose rules apply
        rules:   False where the host shows standing rules elsewhere in its prompt
        """
        return context.context(
            self._handle,
            question,
            max_tokens=max_tokens,
            where=where,
            as_of=as_of,
            valid_at=valid_at,
            session=session,
            rules=rules,
        )

    def retrieved(self, hits: Sequence[Hit]) -> None:
        """Say that these hits were shown to a model or a person; `context` does so itself."""
        recall.report(self._handle, hits)

    def search_traces(
        self,
        keyword: str | None = None,
        *,
        session: str | None = None,
        role: str | None = None,
        tool: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        limit: int = 20,
    ) -> list[Turn]:
        """Turns, tool calls among them, by keyword, session, time, role and tool."""
        return traces.search_traces(
            self._handle, keyword, session=session, role=role, tool=tool, since=since, until=until, limit=limit
        )

    def timeline(
        self,
        *,
        around: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        where: Where | None = None,
        limit: int = 50,
    ) -> list[SemanticMemory | Turn]:
        """Turns and memories in the order in which they were said: a window, or what lies around one of them."""
        return browse.timeline(self._handle, around=around, since=since, until=until, where=where, limit=limit)

    # -------------------------------------------------------------- the home

    def status(self) -> Status:
        """How this home is: where, whose, which versions, what waits, what is wrong."""
        from yiku.flows.home import status

        return status.status(self._handle)

    def close(self) -> None:
        """Let go of the files. Closing twice is allowed."""
        if self._worker is not None:
            self._worker.stop(CLOSE_WITHIN_S)
        self._handle.vectors.close()
        self._handle.store.close()

    def _started(self) -> Worker:
        from yiku.flows.find.embed import Worker

        return Worker(self._handle)

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Memory({self.settings.home!r}, scope={self.scope!r})"


def restore_backup(home: str | os.PathLike[str] | None, name: str, *, scope: str | None = None, dry_run: bool = False) -> Restored:
    """
    As `admin.restore_backup`, also for a home that does not open: its damaged file is moved to damaged/.

    Raises NotFound without such a backup, Damaged when it is not sound itself; then nothing has changed.
    """
    try:
        with Memory(home, scope=scope, create=False) as memory:
            return memory.admin.restore_backup(name, dry_run=dry_run)
    except (Damaged, ForeignStore, StoreMismatch):
        from yiku.flows.home import backup

        place = _settings.home(home)
        settings = _settings.load(place, {"scope": scope})
        return backup.restore_damaged(settings, _settings.scope(settings), place.key(), name, dry_run=dry_run)


def check(
    home: str | os.PathLike[str] | None = None,
    depth: Literal["quick", "full", "deep"] = "full",
    *,
    progress: Callable[[str], None] | None = None,
) -> Checked:
    """`Memory.admin.check` from outside: of a home that may not open any more. Writes nothing."""
    from yiku.flows.home import doctor

    return doctor.check(_settings.home(home), depth, progress)


def repair(
    home: str | os.PathLike[str] | None = None,
    *,
    dry_run: bool = False,
    accept: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Repaired:
    """
    Make a damaged home whole, from what can be read in it and its backups; the damaged file is kept in damaged/.

    Close every memory of this home first. accept: take the database that is there for this home's own, though
    `store.id` means another.
    """
    from yiku.flows.home import doctor

    return doctor.repair(_settings.home(home), dry_run=dry_run, accept=accept, progress=progress)
