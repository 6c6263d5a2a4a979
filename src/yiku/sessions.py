"""
`Memory.sessions`: methods for session state and end, compression, episodes, scratchpad, attachments. No logic.
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
        Record messages that leave a host's context, learn from them by rules, and summarize them as an episode.

        summary: the host's own summary, where it has one

        Raises InvalidInput, TooLarge, Paused, StoreBusy.
        """
        from yiku.flows.learn import sessions

        return sessions.compress(self._handle, messages, session=session, summary=summary)

    def end(self, session: str, *, budget_s: float = 5.0) -> Ended:
        """
        End a session: create its episode, expire what held only for it, and carry the scratchpad on.

        budget_s: how long a model is asked, where there is one; the rest waits for `learn`

        Raises NotFound, InvalidInput, Paused, StoreBusy.
        """
        from yiku.flows.learn import sessions

        return sessions.end(self._handle, session, budget_s=budget_s)

    def get(self, session: str) -> Session:
        """Return a session: turn count, times, variables, task, end. Raises NotFound."""
        from yiku.flows.learn import sessions

        return sessions.state(self._handle, session)

    def messages(self, session: str, *, limit: int = 100, after: str | None = None, last: bool = False) -> Messages:
        """
        Return the messages of a session in order, in the chat API format in which they came.

        limit: turns on a page; after: the `cursor` of the page before; last: the last `limit` turns instead of the first
        Turns that were forgotten are left out. Raises NotFound where there is no such session.
        """
        from yiku.flows.keep import messages

        return messages.page(self._handle, session, limit=limit, after=after, last=last)

    def get_all(self, *, limit: int = 50) -> list[Session]:
        """Return sessions, newest first. Raises InvalidInput."""
        from yiku.flows.learn import sessions

        return sessions.listed(self._handle, limit=limit)

    def set(self, session: str, *, task: str | None = None, **variables: Any) -> None:
        """
        Set variables of a session, and its task; None deletes a variable.

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
        """Return episodes, newest first. Raises InvalidInput."""
        from yiku.flows.learn import episodes

        return episodes.listed(self._handle, session=session, since=since, until=until, limit=limit)

    # -------------------------------------------------------------- the scratchpad

    def scratchpad(self, user: str | None = None) -> Scratchpad:
        """Return a user's current work, by default the owner's. Raises InvalidInput."""
        from yiku.flows.keep import scratchpad

        return scratchpad.shown(self._handle, user)

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
        Add lines to open questions and next steps, or settle them; `left_out` has unusable ones.

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
        Replace the scratchpad by the user's Markdown: sections they changed are theirs. See `left_out`.

        Raises InvalidInput, TooLarge, Paused.
        """
        from yiku.flows.keep import scratchpad

        return scratchpad.edit(self._handle, text, user)

    def to_markdown(self, item: Episode | Scratchpad, language: Literal["en", "zh"] | None = None) -> str:
        """Render an episode or a scratchpad as Markdown. Raises InvalidInput."""
        from yiku.flows.learn import sessions

        return sessions.to_markdown(self._handle, item, language)

    # -------------------------------------------------------------- attachments

    def attach(self, place: str | os.PathLike[str], *, session: str, keep: bool = False, **details: Any) -> Attachment:
        """
        Store a file that was sent or, with direction="outbound", made: a path or an address.

        keep: keep its content here too, as long as it is at most 64 MiB
        details: turn, direction, filename, original_filename, mime_type, url, description, transcription, extracted_text, tags

        Raises InvalidInput, NotFound, TooLarge, Paused.
        """
        from yiku.flows.keep import attach

        return attach.attach(self._handle, place, session=session, keep=keep, **details)

    def describe(self, id: str, **details: Any) -> Attachment:
        """
        Add what is known of an attachment: description, transcription, extracted_text, tags …

        Raises InvalidInput, NotFound, Paused.
        """
        from yiku.flows.keep import attach

        return attach.describe(self._handle, id, **details)

    def attachments(self, *, session: str | None = None, limit: int = 50) -> list[Attachment]:
        """Return attachments, newest first. Raises InvalidInput."""
        from yiku.flows.keep import attach

        return attach.listed(self._handle, session=session, limit=limit)

    def content(self, id: str) -> bytes:
        """Return the stored content of an attachment. Raises NotFound if it was not stored."""
        from yiku.flows.keep import attach

        return attach.content(self._handle, id)
