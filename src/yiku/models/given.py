"""
Hold models of the caller's own to what models/api.py promises: any error is a model's error, any reply fits its schema.

Such a model is somebody's code around somebody's client, so it can raise anything, and return anything. Each step that asks a
model has a fall-back for ModelError alone; an error that is none would end the night, and with it all that needs no model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from yiku.errors import ModelError, ModelFailed, ModelUnavailable
from yiku.models.api import ChatModel, Message, Reply, Role, Schema
from yiku.models.reply import TOLD, fit

if TYPE_CHECKING:
    from yiku.models.api import Vectors


@contextmanager
def _as_model_error(name: str) -> Iterator[None]:
    """Turn whatever a model raises into a ModelError."""
    try:
        yield
    except ModelError:
        raise
    except OSError as error:  # no network, or nobody there: worth another try later
        raise ModelUnavailable(_raised(name, error)) from error
    except Exception as error:  # a client's own errors have no class that is known here
        raise ModelFailed(_raised(name, error)) from error


def _raised(name: str, error: Exception) -> str:
    return f"the model {name} raised {type(error).__name__}: {error}"[:500]


class GivenEmbedder:
    """An embedding model that was handed in; what it has beside `embed` and `superseded` is its own."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        """See Embedder."""
        return getattr(self._model, name)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """See Embedder."""
        with _as_model_error(self.space):
            found: Vectors = self._model.embed(texts, role)
        return found

    def superseded(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
        """See Embedder."""
        with _as_model_error(self.space):
            found: Vectors = self._model.superseded(pairs)
        return found


class GivenChat:
    """A chat model that was handed in."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """See ChatModel: the model's own, or that of its class."""
        return str(getattr(self._model, "name", None) or type(self._model).__name__)

    def ask(self, messages: Sequence[Message], schema: Schema) -> Reply:
        """See ChatModel."""
        with _as_model_error(self.name):
            reply = self._model.ask(messages, schema)
        if not hasattr(reply, "value"):
            raise ModelFailed(f"the model {self.name} must return a Reply with value, text …, not {type(reply).__name__}")
        text, asked, said = (getattr(reply, name, None) for name in ("text", "prompt_tokens", "completion_tokens"))
        value, wrong = fit(reply.value, schema)
        if wrong:
            failed = ModelFailed("; ".join(wrong[:TOLD]), str(text or ""))
            failed.prompt_tokens, failed.completion_tokens = asked, said
            raise failed
        return Reply(value, str(text or ""), asked, said, getattr(reply, "seconds", 0.0))
