"""
`Memory.prompts`: build system prompts, inject memories for hooks, compile identity files. Calls flows only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from yiku.types import Compiled, Context, Prompt

if TYPE_CHECKING:
    from yiku.flows.common.handle import Handle


class Prompts:
    """Build what memory adds to a system prompt."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def build(
        self,
        message: str | None = None,
        *,
        session: str | None = None,
        max_tokens: int | None = None,
        auto_recall: Literal["off", "gated", "always"] | None = None,
        persona: str | None = None,
        runtime: bool | Mapping[str, str] = False,
        session_rules: str | None = None,
        catalogs: str | None = None,
        tools: Mapping[str, str] | None = None,
        user: str | None = None,
    ) -> Prompt:
        """
        Build a system prompt: how memory works, who the agent is, standing rules, what is known, current work, what is recalled.

        message:       what the user says now: the current task follows from it, and what is recalled
        session:       the running conversation: its rules, and its last turns to understand the message
        max_tokens:    by default the setting `prompt_tokens`; catalogs have a budget of their own
        auto_recall:   what is recalled for the message, by default the setting; persona: likewise
        runtime:       True for system, folder, shell and time of this machine, or lines of your own
        session_rules: your rules for this channel; catalogs: your tools, skills, servers. Both stand there as they are
        tools:         your names of the tools `search`, `traces` and `add`, of which the prompt tells: `Tools.in_prompt`; an
                       empty name is of a tool that you do not show
        user:          whose scratchpad, by default the owner's

        What was recalled counts as retrieved; nothing else is written.
        Raises InvalidInput, ModelError where `search` names a model that does not answer.
        """
        from yiku.flows.prompts import build

        return build.build(
            self._handle,
            message,
            session=session,
            max_tokens=max_tokens,
            auto_recall=auto_recall,
            persona=persona,
            runtime=runtime,
            session_rules=session_rules,
            catalogs=catalogs,
            tools=tools,
            user=user,
        )

    def inject(
        self, session: str, prompt: str | None = None, *, project: str | None = None, restarted: bool = False, count: bool = True
    ) -> Context:
        """
        Return what a hook brings into a prompt of a session: a fenced text, empty if nothing belongs there.

        Standing rules come with the first call for a session; memories that surely belong to the prompt, at most 300 tokens
        of them, come once. The setting `auto_recall` says how sure that has to be.

        prompt:    what the user says; None brings rules alone
        project:   the project in which it is said: its rules
        restarted: the agent has nothing of what was brought in before in its context any more
        count:     what is brought in counts as retrieved; else `memory.retrieved` is to be told, which may have to wait for others

        The ids of what was brought in are noted. Raises InvalidInput, ModelError, StoreError.
        """
        from yiku.flows.prompts import inject

        return inject.inject(self._handle, session, prompt, project=project, restarted=restarted, count=count)

    def compressed(self, session: str) -> None:
        """Note that an agent has compressed its context: what was brought into it may come again. Raises InvalidInput."""
        from yiku.flows.prompts import inject

        inject.forget(self._handle, session)

    def compile(self, *, strategy: Literal["auto", "model", "rules"] = "auto", force: bool = False) -> Compiled:
        """
        Compile the files of identity/ and USER.md to short summaries in identity/compiled/, those that changed since.

        strategy: "model" asks the chat model, "rules" does not; "auto" asks one if the settings name it, and takes the rules where it fails
        force:    also what did not change

        A summary that cannot be written is `held`, and says why.

        Raises InvalidInput in a scope without files, ModelUnavailable for "model" without one, StoreBusy.
        """
        from yiku.flows.prompts import compile

        return compile.compile_identity(self._handle, strategy=strategy, force=force)
