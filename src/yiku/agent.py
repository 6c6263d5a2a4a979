"""
`Memory.agent`: methods for an AI agent's tools: propose and amend statements, extract, read items, quote hits.

What an agent states is believed as far as the user's own turns say it, and what it is shown is fenced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from yiku.errors import ReadOnly
from yiku.types import (
    Attachment,
    Context,
    Episode,
    Excerpt,
    Forgotten,
    Hit,
    Kind,
    KindName,
    LearnReport,
    Note,
    Outcome,
    SemanticMemory,
    Turn,
)

if TYPE_CHECKING:
    from yiku.flows.common.handle import Handle


class Agent:
    """State and find memories on behalf of a model."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    # -------------------------------------------------------------- what it states

    def propose(
        self,
        text: str,
        *,
        evidence: str | None = None,
        kind: Kind | KindName | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        importance: float | None = None,
        expires_at: str | None = None,
        idempotency_key: str | None = None,
    ) -> Outcome:
        """
        Store a statement of an agent: as the user's where a turn of theirs says it, else as a candidate that waits for `confirm`.

        evidence: the user's words that it rests on, copied from their turn; without, their turns are searched for it

        Raises InvalidInput, KeptOut, Paused, IdempotencyMismatch, StoreBusy, StorageFull.
        """
        from yiku.flows.learn import propose

        given = {"kind": kind, "tags": tags, "metadata": metadata, "importance": importance, "expires_at": expires_at}
        details = {name: value for name, value in given.items() if value is not None}
        return propose.propose(self._handle, text, details, evidence=evidence, idempotency_key=idempotency_key)

    def amend(
        self,
        id: str,
        text: str | None = None,
        *,
        evidence: str | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """
        Correct a memory on an agent's word. A memory of the user's changes only where the user's turns say so; else a candidate waits.

        Raises NotFound, Ambiguous, InvalidInput, KeptOut, Paused.
        """
        from yiku.flows.learn import propose

        details = {name: value for name, value in {"tags": tags, "metadata": metadata}.items() if value is not None}
        return propose.amend(self._handle, id, text, details, evidence=evidence)

    def forget(self, id: str) -> Forgotten:
        """
        Forget a memory or turn on an agent's word. What the agent states of it afterwards waits as a candidate.

        Raises NotFound, Ambiguous.
        """
        from yiku.flows.learn import propose

        return propose.withdraw(self._handle, id)

    def token(self) -> str:
        """
        Return the token by which a server of this scope knows its clients: made of the home's key, another one for each scope.

        Raises ReadOnly for a home without a key.
        """
        if not self._handle.key:
            raise ReadOnly("this home has no key to make a token of")
        return self._handle.scope_seal("token of the mcp server").hex()

    def excerpt(self) -> Excerpt | None:
        """
        Hand out the next piece of a conversation for the agent to learn from, where no model does; None if nothing waits.

        Raises Paused, StoreError.
        """
        from yiku.flows.learn import by_agent

        return by_agent.excerpt(self._handle)

    def learned(self, id: str, statements: Sequence[Mapping[str, Any]]) -> LearnReport:
        """
        Take the agent's statements about an excerpt; they are checked against its turns, as a model's are.

        id: of the excerpt; an empty list says that nothing in it is worth keeping

        Raises NotFound where the excerpt is no longer handed out, InvalidInput, Paused.
        """
        from yiku.flows.learn import by_agent

        return by_agent.learned(self._handle, id, statements)

    # -------------------------------------------------------------- what it is shown

    def get(self, id: str) -> SemanticMemory | Turn | Episode | Attachment | Note:
        """Return a memory, turn, episode, attachment or passage of a note by its id. Raises NotFound, Ambiguous, Unreadable."""
        from yiku.flows.find import read_item

        return read_item.read_item(self._handle, id)

    def note(self, path: str) -> list[Note]:
        """Return the indexed passages of a note, in order. Raises NotFound, InvalidInput."""
        from yiku.flows.find import read_item

        return read_item.read_note(self._handle, path)

    def current(
        self,
        *,
        state: Literal["active", "candidate"] | None = None,
        where: Mapping[str, Any] | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[SemanticMemory]:
        """
        List current memories in a state, newest first: neither replaced nor expired ones.

        Raises InvalidInput, InvalidFilter.
        """
        from yiku.flows.find import browse

        return browse.current(self._handle, state=state, where=where, limit=limit, offset=offset)

    def unconfirmed(self, question: str, *, limit: int = 5) -> list[Hit]:
        """Search the candidates, which `recall` leaves out. Raises InvalidInput."""
        from yiku.flows.find import unconfirmed

        return unconfirmed.unconfirmed(self._handle, question, limit=limit)

    def quote(self, hits: Sequence[Hit], question: str = "", *, max_tokens: int | None = None) -> Context:
        """
        Pack hits into a fenced text in their order, each with source, date, trust and id; long ones are cut to what was asked.

        Raises InvalidInput.
        """
        from yiku.flows.find import quote

        return quote.listed(self._handle, hits, question, max_tokens=max_tokens)

    def quote_whole(
        self,
        items: Sequence[SemanticMemory | Turn | Episode | Attachment | Note],
        *,
        max_chars: int = 16_000,
        from_line: int = 1,
    ) -> str:
        """
        Return items as a fenced text with all their lines, and the calls of tools with their arguments and results.

        from_line: the first line of each that is shown

        Raises InvalidInput.
        """
        from yiku.flows.find import quote

        return quote.whole(self._handle, items, max_chars=max_chars, from_line=from_line)
