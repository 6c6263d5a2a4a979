"""
`Memory`, the public API object. No logic.

Each verb is one call into one flow. Maintenance methods are in `admin`; what looks after a home that may not open
any more is in `maintenance`. Everything is synchronous and safe to call from several threads; opening starts nothing
and writes nothing, except that a home which is not there is made.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast

from yiku import settings as _settings
from yiku.admin import Admin
from yiku.agent import Agent
from yiku.files import mounts
from yiku.flows.common import checks, tombstones
from yiku.flows.common.handle import Handle, local_time
from yiku.flows.find import browse, context, recall, timeline, traces
from yiku.flows.keep import feedback, forget, record, remember, transcripts, update, upsert
from yiku.flows.learn import at_once
from yiku.notes import Notes
from yiku.prompt import Prompts
from yiku.rules.text import analyze
from yiku.sessions import Sessions
from yiku.store.api import SqliteStore, Vectors
from yiku.types import (
    Access,
    Context,
    Details,
    Forgotten,
    Hit,
    Hits,
    ItemType,
    Kind,
    KindName,
    LearnReport,
    MoreDetails,
    MoreTurnDetails,
    Note,
    Outcome,
    Recorded,
    Role,
    SemanticMemory,
    Settings,
    SettingsArguments,
    Status,
    Turn,
    TurnDraft,
    Why,
)

if TYPE_CHECKING:
    from yiku.flows.common.background import Worker
    from yiku.models.api import ChatModel, Embedder

CLOSE_WITHIN_S = 1.5  # for the threads in the background
Time = datetime | str
Where = Mapping[str, Any]


def _given(**details: Any) -> dict[str, Any]:
    """Those that were given."""
    return {name: value for name, value in details.items() if value is not None}


class Memory:
    """
    A memory: one home on the disk, used from one scope.

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
        **settings: Unpack[SettingsArguments],
    ) -> None:
        """
        Open a home, by default YIKU_HOME or ~/.yiku.

        scope:      the scope to write; by default the home's owner
        create:     make the home, owned by you, when it is not there; else raise HomeMissing
        clock:      gives the time, for tests
        embedder:   a model of your own that makes vectors, instead of the one that the settings name
        chat:       a model of your own that reads and writes text, likewise
        background: follow the notes, embed what is said and record what hooks capture in threads of this memory; else
                    `notes.sync`, `admin.embed` and `admin.ingest` do
        settings:   any of docs/settings.md, over the environment and yiku.toml: durability="fast", limit=5 …

        Raises HomeMissing, ScopeRequired, SettingsError, InvalidScope, StoreMismatch, Damaged and others of StoreError.
        """
        checks.optional_call(clock, "clock")
        checks.has_method(embedder, "embed", "embedder")
        checks.has_method(chat, "ask", "chat")
        if chat is not None or embedder is not None:
            from yiku.models.given import GivenChat, GivenEmbedder

            chat = GivenChat(chat) if chat is not None else None
            embedder = GivenEmbedder(embedder) if embedder is not None else None
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
            tombstones.refuse_older_copy(place, store)
        except BaseException:
            store.close()
            raise
        vectors = Vectors(place.vectors, busy_timeout_s=self.settings.busy_timeout_s, read_only=store.read_only)
        self._handle = Handle(
            store, self.settings, name, clock or local_time, str(place.root), vectors, key, given=embedder, given_chat=chat
        )
        self.admin = Admin(self._handle)
        self.sessions = Sessions(self._handle)
        self.notes = Notes(self._handle)
        self.agent = Agent(self._handle)
        self.prompts = Prompts(self._handle)
        self._workers = self._started() if background else ()

    @property
    def scope(self) -> str:
        """The scope that this memory writes."""
        return self._handle.scope

    # -------------------------------------------------------------- what is said

    def record(self, turns: Iterable[TurnDraft], *, session: str | None = None, idempotency_key: str | None = None) -> Recorded:
        """
        Store turns verbatim, in one transaction; OpenAI's and Anthropic's message formats are accepted too.

            memory.record([{"role": "user", "content": "I moved to Oslo."}], session="s1")

        session:         of the turns that name none, by default "default"
        idempotency_key: a second call with the same key and turns returns the first result and writes nothing

        Raises InvalidInput, TooLarge, Paused, IdempotencyMismatch, StoreBusy, StorageFull; then none of them is stored.
        """
        return record.record(self._handle, turns, session=session, idempotency_key=idempotency_key)

    def record_turn(
        self,
        role: Role,
        content: str | Sequence[Any] | None,
        *,
        session: str | None = None,
        said_at: Time | None = None,
        speaker: str | None = None,
        tool_calls: Sequence[Mapping[str, Any]] | None = None,
        tool_results: Sequence[Mapping[str, Any]] | None = None,
        external_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        **details: Unpack[MoreTurnDetails],
    ) -> Turn:
        """
        Store one turn; it is on the disk when this returns. What users plainly say of themselves is learned at once.

        content:      a text, the parts of a chat API's message, or None where there are only calls of tools
        session:      the conversation that it belongs to, by default "default"
        said_at:      when it was said, by default now
        speaker:      the name of who spoke, where several do
        tool_calls:   {"id", "name", "input"} each, or as OpenAI has them; tool_results: {"tool_use_id", "content"} each
        external_id:  its id elsewhere; one that is known gives the turn as it was stored
        metadata:     any JSON object, up to 16 KiB
        details:      parent, agent, project, origin, actor

        Raises InvalidInput, TooLarge, KeptOut, Paused, WasErased, IdempotencyMismatch, StoreBusy, StorageFull.
        """
        given = _given(
            session=session, said_at=said_at, speaker=speaker, tool_calls=tool_calls, tool_results=tool_results,
            external_id=external_id, metadata=metadata,
        )  # fmt: skip
        draft = {"role": role, "content": content, **given, **details}
        return at_once.record_turn(self._handle, draft, idempotency_key=idempotency_key)

    # -------------------------------------------------------------- what is held

    def remember(
        self,
        text: str,
        *,
        kind: Kind | KindName | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,
        importance: float | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        said_at: Time | None = None,
        expires_at: Time | None = None,
        source: str | None = None,
        session: str | None = None,
        external_id: str | None = None,
        idempotency_key: str | None = None,
        despite_erasure: bool = False,
        dry_run: bool = False,
        **details: Unpack[MoreDetails],
    ) -> Outcome:
        """
        Store a statement. One newer than the live value of its slot replaces it; the old one stays as history.

            outcome = memory.remember("Ann prefers tea.", kind="preference", tags=["drinks"])
            outcome.kind, outcome.memory.id

        kind:        what sort of thing it states, by default a fact, or what its predicate is
        subject, predicate, object: its slot, where it is not to be read from the sentence
        importance:  from 0 to 1; tags and metadata (a JSON object up to 16 KiB) are for filters
        said_at:     when it was said, by default now; after expires_at it is left out of answers
        source:      the id of the turn that it comes from; session: the conversation
        external_id: its id elsewhere, a key: what is known under it is updated
        idempotency_key: a second call with the same key and statement returns the first outcome
        despite_erasure: keep it though it was erased; dry_run: decide, and write nothing
        details:     standing, cardinality, basis, confidence, strength, priority, pinned, entities, relations, valid_from,
                     ttl_days, speaker, origin, agent, project

        Returns New, Confirmed, Replaced, Past, Flagged, Retracted or Refused: `.kind` is its name, `.memory` the statement.
        Raises InvalidInput, NotFound (the source), KeptOut, Paused, IdempotencyMismatch, StoreBusy, StorageFull.
        """
        given = _given(
            kind=kind, subject=subject, predicate=predicate, object=object, importance=importance, tags=tags,
            metadata=metadata, said_at=said_at, expires_at=expires_at, source=source, session=session,
            external_id=external_id,
        )  # fmt: skip
        all_details = cast("Details", {**given, **details})
        return remember.remember(
            self._handle,
            text,
            all_details,
            idempotency_key=idempotency_key,
            despite_erasure=despite_erasure,
            dry_run=dry_run,
            keyed=None if external_id is None else upsert.upsert,
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
        Process pending turns: by rules, and by a model if one is set.

        budget_s:   for at most so long; what is left waits
        session:    of what waits for the model only what belongs to this one
        everything: also what is not due yet, and what failed for good
        progress:   told how many are done, of how many

        Raises InvalidInput, Paused, StoreBusy while another process learns.
        """
        from yiku.flows.learn import learn

        return learn.learn(self._handle, budget_s=budget_s, session=session, everything=everything, progress=progress)

    def confirm(self, id: str) -> Outcome:
        """
        Confirm a candidate, a belief, or one of two contradicting memories. See `admin.review`.

        Raises NotFound, Ambiguous, InvalidInput, Paused.
        """
        from yiku.flows.learn import review

        return review.confirm(self._handle, id)

    def reject(self, id: str) -> Forgotten:
        """
        Reject a memory: it is archived, and `restore` brings it back.

        Raises NotFound, Ambiguous, InvalidInput.
        """
        from yiku.flows.learn import review

        return review.reject(self._handle, id)

    def update(self, id: str, text: str | None = None, **details: Unpack[Details]) -> SemanticMemory:
        """
        Store a new version with other text or details. The old one is kept.

        Raises NotFound, Ambiguous, InvalidInput, WasErased, Paused.
        """
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
        Forget (archive) a memory, a turn, a session or a time range. `restore` brings it back.

        hard: erase it instead, for good and from every copy in the home; see `admin.erase`

        Raises NotFound, Ambiguous, InvalidInput.
        """
        if hard:
            from yiku.flows.erase import erase

            return erase.erase(self._handle, id, session=session, since=since, until=until, dry_run=dry_run)
        return forget.forget(self._handle, id, session=session, since=since, until=until, reason=reason, dry_run=dry_run)

    def restore(self, id: str) -> Forgotten:
        """Restore a forgotten memory or turn. Raises NotFound, Ambiguous."""
        return forget.restore(self._handle, id)

    def feedback(self, id: str, access: Access) -> SemanticMemory:
        """
        Count that a memory was `retrieved`, `used` in an answer, or `mentioned` by the user.

        Raises NotFound, Ambiguous, InvalidInput.
        """
        return feedback.feedback(self._handle, id, access)

    def get(self, id: str, *, as_of: Time | None = None) -> SemanticMemory | Turn | Note:
        """Return one version, turn or note in full; with `as_of` as recorded then. Raises NotFound, Ambiguous, Unreadable."""
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
        """
        Return live memories, newest first. `as_of`: as recorded then; `valid_at`: valid then, as known now.

        Raises InvalidInput, InvalidFilter.
        """
        return browse.get_all(self._handle, where=where, limit=limit, offset=offset, order=order, as_of=as_of, valid_at=valid_at)

    def about(self, entity: str, *, limit: int = 100) -> list[SemanticMemory]:
        """Return live memories about an entity, newest first. Raises InvalidInput."""
        return browse.by_entity(self._handle, entity, limit=limit)

    def related(
        self, *, subject: str | None = None, relation_type: str | None = None, object: str | None = None, limit: int = 100
    ) -> list[SemanticMemory]:
        """
        Return live memories with a matching relation, newest first. See their `.relations`.

        Raises InvalidInput.
        """
        return browse.related(self._handle, subject=subject, relation_type=relation_type, object=object, limit=limit)

    def history(self, id_or_text: str, *, as_of: Time | None = None) -> list[SemanticMemory]:
        """
        Return all versions of a memory in the order said; found by id or by topic.

        Raises NotFound, Ambiguous, InvalidInput.
        """
        return browse.history(self._handle, id_or_text, as_of=as_of)

    def why(self, id: str) -> Why:
        """
        Explain a memory: since when it is believed, from which words, what it replaced, who changed it, where it was shown.

        `.page` has it as one page of Markdown. Raises NotFound, Ambiguous, InvalidInput.
        """
        from yiku.flows.find import why

        return why.why(self._handle, id)

    # -------------------------------------------------------------- what is found

    def recall(
        self,
        question: str,
        *,
        limit: int | None = None,
        where: Where | None = None,
        as_of: Time | None = None,
        valid_at: Time | None = None,
        types: Sequence[ItemType] = ("memory", "turn", "episode", "attachment", "note"),
        session: str | None = None,
    ) -> Hits:
        """
        Search; return the best hits with sources. Writes nothing.

        session: the running conversation, whose last turns help to understand the question

        Raises InvalidInput, InvalidFilter, ModelError where `search` names a model that does not answer.
        """
        return recall.recall(
            self._handle,
            question,
            limit=limit,
            where=where,
            as_of=as_of,
            valid_at=valid_at,
            types=types,
            session=session,
            reranked=True,
        )

    def explain(
        self,
        question: str,
        *,
        limit: int | None = None,
        where: Where | None = None,
        as_of: Time | None = None,
        valid_at: Time | None = None,
        types: Sequence[ItemType] = ("memory", "turn", "episode", "attachment", "note"),
        session: str | None = None,
    ) -> Hits:
        """
        Search as `recall` does, for the `.explanation`: terms, slots, routes, weights, what was left out and why.

        Raises InvalidInput, InvalidFilter, ModelError, as `recall` does.
        """
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
        Build prompt context: standing rules and the best hits in a fenced text. Counts them as retrieved.

        session: the running conversation, whose last turns help to understand the question, and whose rules apply
        rules:   False where the host shows standing rules elsewhere in its prompt

        Raises InvalidInput, InvalidFilter, ModelError, as `recall` does.
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

    def retrieved(self, hits: Sequence[Hit] | Context) -> None:
        """Report that hits, or a context, were shown to a model or a person; `context` does so itself. Raises InvalidInput."""
        recall.report_shown(self._handle, hits)

    def search_traces(
        self,
        keyword: str | None = None,
        *,
        session: str | None = None,
        role: Literal["user", "assistant", "system", "tool"] | None = None,
        tool: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        limit: int = 20,
    ) -> list[Turn]:
        """Search turns and tool calls by keyword, session, time, role and tool. Raises InvalidInput."""
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
        """
        Return turns and memories in the order said: a window, or around one of them; around an episode, from its first turn on.

        Raises InvalidInput, InvalidFilter, NotFound.
        """
        return timeline.timeline(self._handle, around=around, since=since, until=until, where=where, limit=limit)

    # -------------------------------------------------------------- the home

    def status(self) -> Status:
        """Return the home's state: path, owner, versions, pending work, problems. Raises StoreError."""
        from yiku.flows.home import status

        return status.status(self._handle)

    def close(self) -> None:
        """Release the files. Idempotent."""
        until = time.monotonic() + CLOSE_WITHIN_S
        for worker in self._workers:
            worker.end()
        for worker in self._workers:
            worker.stop(max(until - time.monotonic(), 0.0))
        self._handle.store.shorten_busy_timeout()
        record.flush_read_marks(self._handle)
        transcripts.finish(self._handle)
        self._handle.vectors.close()
        self._handle.store.close()

    def _started(self) -> tuple[Worker, ...]:
        from yiku.flows.find import embed
        from yiku.flows.learn import ingest
        from yiku.flows.night import schedule
        from yiku.flows.notes import watch

        return tuple(each.in_background(self._handle) for each in (embed, watch, ingest, schedule))

    if not TYPE_CHECKING:  # a type checker knows which verbs there are

        def __getattr__(self, name: str) -> Any:
            """Say which verb it is, where somebody asks for one of another library or of a sub-object."""
            from yiku.other_names import in_python

            text = f"Memory has no {name!r}"
            if not name.startswith("_"):
                places = {"": Memory, "admin.": Admin, "sessions.": Sessions, "notes.": Notes, "agent.": Agent, "prompts.": Prompts}
                verbs = [f"{place}{verb}" for place, kind in places.items() for verb in vars(kind) if not verb.startswith("_")]
                text += f": {hint}" if (hint := in_python(name, verbs)) else ""
            raise AttributeError(text, name=name, obj=self)

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Memory({self.settings.home!r}, scope={self.scope!r})"
