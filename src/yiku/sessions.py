"""
The drawer `Memory.sessions`: what a host does with a running conversation. Wiring only; each flow is loaded when it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from yiku.types import Attachment, Compressed, Ended, Episode, Messages, Scratchpad, Session

if TYPE_CHECKING:
    from yiku.flows.common.handle import Handle


class Sessions:
    """Compression, the end of a session, episodes, the scratchpad, attachments."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    # -------------------------------------------------------------- the conversation

    def compressing(self, messages: Iterable[Mapping[str, Any]], *, session: str, summary: str | None = None) -> Compressed:
        """
        Call this when messages leave the context of a host: every one is kept, learned from by rules, and told of in an episode.

        summary: the host's own summary, where it has one

        Raises InvalidInput, TooLarge, Paused, StoreBusy.
        """
        from yiku.flows.learn import sessions

        return sessions.compress(self._handle, messages, session=session, summary=summary)

    def end(self, session: str, *, budget_s: float = 5.0) -> Ended:
        """
        Call this when a session is over: it becomes an episode, what held only for it expires, the scratchpad goes on.

        budget_s: how long a model is asked, where there is one; the rest waits for `learn`

        Raises NotFound, InvalidInput, Paused, StoreBusy.
        """
        from yiku.flows.learn import sessions

        return sessions.end(self._handle, session, budget_s=budget_s)

    def get(self, session: str) -> Session:
        """A session: how many turns, when, its variables and task, whether it was ended. Raises NotFound."""
        from yiku.flows.learn import sessions

        return sessions.state(self._handle, session)

    def messages(self, session: str, *, limit: int = 100, after: str | None = None, last: bool = False) -> Messages:
        """
        The messages of a session in order, in the shapes of the chat API that they came in.

        limit: turns on a page; after: the `cursor` of the page before; last: the last `limit` turns instead of the first
        Turns that were forgotten are left out. Raises NotFound where there is no such session.
        """
        from yiku.flows.keep import messages

        return messages.page(self._handle, session, limit=limit, after=after, last=last)

    def get_all(self, *, limit: int = 50) -> list[Session]:
        """Sessions, the last one first. Raises InvalidInput."""
        from yiku.flows.learn import sessions

        return sessions.listed(self._handle, limit=limit)

    def set(self, session: str, *, task: str | None = None, **variables: Any) -> None:
        """
        Keep variables for a session, and the task it is at; None takes a variable away.

        Raises InvalidInput, TooLarge, Paused.
        """
        from yiku.flows.learn import sessions

        sessions.set_variables(self._handle, session, variables, task)

    # -------------------------------------------------------------- episodes

    def episodes(
        self,
        *,
        session: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        limit: int = 20,
    ) -> list[Episode]:
        """Episodes, the newest first. Raises InvalidInput."""
        from yiku.flows.learn import episodes

        return episodes.listed(self._handle, session=session, since=since, until=until, limit=limit)

    # -------------------------------------------------------------- the scratchpad

    def scratchpad(self, user: str | None = None) -> Scratchpad:
        """What a user is at, by default the owner of this scope. Raises InvalidInput."""
        from yiku.flows.keep import scratchpad

        return scratchpad.read(self._handle, user)

    def patch_scratchpad(
        self,
        *,
        add_open_questions: Sequence[str] = (),
        settle_open_questions: Sequence[str] = (),
        add_next_steps: Sequence[str] = (),
        settle_next_steps: Sequence[str] = (),
        user: str | None = None,
    ) -> Scratchpad:
        """
        Add lines to the open questions and next steps, or settle them; `left_out` has those that could not be used.

        Raises InvalidInput, Paused.
        """
        from yiku.flows.keep import scratchpad

        return scratchpad.patch(
            self._handle,
            user,
            add_open_questions=add_open_questions,
            settle_open_questions=settle_open_questions,
            add_next_steps=add_next_steps,
            settle_next_steps=settle_next_steps,
        )

    def edit_scratchpad(self, text: str, user: str | None = None) -> Scratchpad:
        """
        The scratchpad as its user writes it, in Markdown: a section that they changed is theirs until they remove it. See `left_out`.

        Raises InvalidInput, TooLarge, Paused.
        """
        from yiku.flows.keep import scratchpad

        return scratchpad.edit(self._handle, text, user)

    def to_markdown(self, item: Episode | Scratchpad, language: Literal["en", "zh"] | None = None) -> str:
        """An episode or a scratchpad as a person reads it. Raises InvalidInput."""
        from yiku.flows.learn import sessions

        return sessions.to_markdown(self._handle, item, language)

    # -------------------------------------------------------------- attachments

    def attach(self, place: str | os.PathLike[str], *, session: str, keep: bool = False, **details: Any) -> Attachment:
        """
        Note a file that was sent, or with direction="outbound" made: a path or an address.

        keep: keep its content here too, as long as it is at most 64 MiB
        details: turn, direction, filename, original_filename, mime_type, url, description, transcription, extracted_text, tags

        Raises InvalidInput, NotFound, TooLarge, Paused.
        """
        from yiku.flows.keep import attach

        return attach.attach(self._handle, place, session=session, keep=keep, **details)

    def describe(self, id: str, **details: Any) -> Attachment:
        """
        What was seen, heard or read in an attachment since: description, transcription, extracted_text, tags …

        Raises InvalidInput, NotFound, Paused.
        """
        from yiku.flows.keep import attach

        return attach.describe(self._handle, id, **details)

    def attachments(self, *, session: str | None = None, limit: int = 50) -> list[Attachment]:
        """Attachments, the newest first. Raises InvalidInput."""
        from yiku.flows.keep import attach

        return attach.listed(self._handle, session=session, limit=limit)

    def content(self, id: str) -> bytes:
        """The content of an attachment that was kept. Raises NotFound where it was only noted."""
        from yiku.flows.keep import attach

        return attach.content(self._handle, id)
