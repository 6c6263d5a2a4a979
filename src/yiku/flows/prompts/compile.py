"""
Compile the identity files to short summaries under identity/compiled/: by a model if there is one, else by rules.

Only what changed is compiled, by digests of source and summary (rules/prompts/stamp.py). A model is asked without any lock; what it
says counts only if the source is still the same and nothing was erased meanwhile, and where it says what the file does not, or fails,
the rules do it. The files that people wrote are read and never changed.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal, NamedTuple

from yiku.errors import ModelError, ModelUnavailable, StoreError
from yiku.files.notes import COMPILED
from yiku.files.vault import delete, write_atomically
from yiku.flows.common import checks, prompt_files
from yiku.flows.common.handle import Handle
from yiku.flows.learn import by_model
from yiku.flows.notes.publish import vault_of
from yiku.flows.prompts.identity import Identity
from yiku.models.api import ChatModel
from yiku.rules.prompts import condense, stamp
from yiku.rules.prompts.condense import TARGETS, Target
from yiku.rules.prompts.stamp import Made
from yiku.rules.text.analyze import language_of
from yiku.types import Compiled, CompiledSummary

AGAIN = 5  # times, when somebody saves a source meanwhile
LINES: dict[str, Any] = {
    "type": "object",
    "required": ["lines"],
    "properties": {"lines": {"type": "array", "maxItems": 100, "items": {"type": "string", "maxLength": 2_000}}},
}
Strategy = Literal["auto", "model", "rules"]


class _Summary(NamedTuple):
    """A summary, who made it, and why not the model where it was asked."""

    text: str
    by: stamp.By
    why: str | None = None


def compile_identity(
    handle: Handle, *, strategy: Strategy = "auto", force: bool = False, only: Collection[str] = tuple(TARGETS)
) -> Compiled:
    """Compile what changed; see Prompts.compile. `only`: names of targets."""
    checks.flag(force, "force")
    root, model = vault_of(handle), _model(handle, strategy)
    return Compiled(tuple(_target(handle, root, target, model, force=force) for target in TARGETS.values() if target.name in only))


def _model(handle: Handle, strategy: str) -> ChatModel | None:
    if strategy not in ("auto", "model", "rules"):
        checks.refuse("strategy", "must be auto, model or rules")
    model = None if strategy == "rules" else handle.chat()
    if model is None and strategy == "model":
        raise ModelUnavailable("the settings name no model (chat_url): strategy rules needs none")
    return model


def _target(handle: Handle, root: Path, target: Target, model: ChatModel | None, *, force: bool) -> CompiledSummary:
    """Compile one summary, again where its source changed meanwhile."""
    for attempt in range(AGAIN):
        identity, erasure = Identity(handle), handle.store.erasures.last()
        source = identity.source(target.source)
        if identity.troubles:
            return CompiledSummary(_name(target), "held", why=identity.troubles[0])
        known = identity.all_made().get(target.file)
        if known and not force and identity.is_current(target, known) and (known.by == "model" or model is None):
            return CompiledSummary(_name(target), "unchanged", known.by, condense.size(identity.compiled(target)))
        done = _summary(handle, target, source, model if attempt == 0 else None) if source.strip() else None
        with handle.store.exclusive():  # an erasure that comes now takes the summary, too
            if handle.store.erasures.last() == erasure and Identity(handle).source(target.source) == source:
                try:
                    return _write(handle, root, target, source, done)
                except StoreError as error:  # a full disk, a link in the place of the folder
                    return CompiledSummary(_name(target), "held", why=error.detail)
    return CompiledSummary(_name(target), "held", why="its source is being saved all the time: run this again")


def _name(target: Target) -> str:
    return f"{COMPILED}/{target.file}"


def _write(handle: Handle, root: Path, target: Target, source: str, done: _Summary | None) -> CompiledSummary:
    """Write a summary and what it was made of; one whose source is gone goes, too."""
    home, folder = Path(handle.home), root / COMPILED
    identity = Identity(handle)
    made = identity.all_made()
    if done is None:
        there = made.pop(target.file, None) is not None
        if there:
            delete(folder / target.file, below=home)
            write_atomically(folder / stamp.NAME, stamp.to_text(handle.now().isoformat(), made).encode(), below=home)
        return CompiledSummary(_name(target), "removed" if there else "missing")
    text = f"{done.text}\n" if done.text else ""
    write_atomically(folder / target.file, text.encode(), below=home)
    made[target.file] = Made(identity.digest(target, source), identity.digest(target, text), done.by)
    write_atomically(folder / stamp.NAME, stamp.to_text(handle.now().isoformat(), made).encode(), below=home)
    return CompiledSummary(_name(target), "written", done.by, condense.size(done.text), done.why)


def _summary(handle: Handle, target: Target, source: str, model: ChatModel | None) -> _Summary:
    why = None
    if model is not None:
        try:
            if lines := _asked(handle, target, source, model):
                return _Summary("\n".join(lines), "model")
            why = "the model said nothing that stands in the file"
        except ModelError as error:
            why = f"the model failed: {error.detail}"
    return _Summary(condense.condense(source, target), "rules", why)


def _asked(handle: Handle, target: Target, source: str, model: ChatModel) -> list[str]:
    """What a model makes of a file, as far as the file says it. Raises ModelError."""
    read = condense.clean(source)
    if not read.strip():
        return []
    language = language_of(read)
    wanted = prompt_files.text(f"condense_{target.name}", language).strip()
    system = prompt_files.text("condense", language).format(wanted=wanted, most=target.most)
    shown = "\n".join(["<source>", *(f"  {line}" for line in read[: condense.ASKED_CHARS].splitlines()), "</source>"])
    messages = [{"role": "system", "content": system}, {"role": "user", "content": shown}]
    reply = by_model.timed(handle, model, messages, LINES, purpose="compile")
    return condense.sound(reply.value["lines"], read, target)
