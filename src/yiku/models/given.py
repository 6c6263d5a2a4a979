"""
Hold a chat model of the caller's own to what ChatModel promises: any error is a model's error, any reply fits its schema.

Such a model is somebody's code around somebody's client, so it can raise anything, and return anything. Each step that asks a
model has a fall-back for ModelError alone; an error that is none would end the night, and with it all that needs no model.
"""

from __future__ import annotations

from collections.abc import Sequence

from yiku.errors import ModelError, ModelFailed, ModelUnavailable
from yiku.models.api import ChatModel, Message, Reply, Schema
from yiku.models.reply import TOLD, fit


class Given:
    """A chat model that was handed in."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """See ChatModel: the model's own, or that of its class."""
        return str(getattr(self._model, "name", None) or type(self._model).__name__)

    def ask(self, messages: Sequence[Message], schema: Schema) -> Reply:
        """See ChatModel."""
        try:
            reply = self._model.ask(messages, schema)
        except ModelError:
            raise
        except OSError as error:  # no network, or nobody there: worth another try later
            raise ModelUnavailable(self._raised(error)) from error
        except Exception as error:  # a client's own errors have no class that is known here
            raise ModelFailed(self._raised(error)) from error
        if not hasattr(reply, "value"):
            raise ModelFailed(f"the model {self.name} must return a Reply with value, text …, not {type(reply).__name__}")
        text, asked, said = (getattr(reply, name, None) for name in ("text", "prompt_tokens", "completion_tokens"))
        value, wrong = fit(reply.value, schema)
        if wrong:
            failed = ModelFailed("; ".join(wrong[:TOLD]), str(text or ""))
            failed.prompt_tokens, failed.completion_tokens = asked, said
            raise failed
        return Reply(value, str(text or ""), asked, said, getattr(reply, "seconds", 0.0))

    def _raised(self, error: Exception) -> str:
        return f"the model {self.name} raised {type(error).__name__}: {error}"[:500]
