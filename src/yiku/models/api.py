"""
Protocols that embedding models, chat models and rerankers implement.

An embedder takes texts and returns a unit vector for each; a chat model takes messages and a schema and returns a reply
that fits the schema; a reranker takes a question and texts and returns a score for each.

    e5.py         multilingual-e5-small on this machine          embed.py   any OpenAI-compatible endpoint
    select.py     which of them the settings mean                cached.py  the questions asked last
    chat.py       any OpenAI-compatible endpoint                 reply.py   what a reply says, held to its schema
    rerank.py     any Cohere-compatible endpoint                 given.py   a chat model of the caller's own

A vector lives in a space, and two spaces have nothing to do with each other, even where their dimensions agree.
A reply is data from a stranger: it has the form that was asked for, and nothing else about it can be relied on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]

Role = Literal["query", "passage"]
Vocab = Literal["en+zh", "full"]  # which pieces the local model keeps

Message = Mapping[str, str]  # {"role": "system", "content": "…"}
Schema = Mapping[str, Any]  # of JSON, as far as reply.py knows it

Progress = Callable[[str, float], None]  # what is being done, and which share of it is done, 0 to 1


class Embedder(Protocol):
    """
    An embedding model. Thread-safe.

    It may have `common() -> (2, dimensions)`, too: the means of everyday texts in scripts with spaces and without, for
    homes that have few of either. And `calibrated`: that confidence was fitted to its resemblances. And `compares`, the
    name of a model of pairs, or empty, with `superseded(pairs) -> (pairs,)`: of pairs of texts, the earlier first, how
    likely it is that the later one means that the earlier no longer holds.
    """

    @property
    def space(self) -> str:
        """The name of the vector space, which identifies everything a vector depends on."""
        ...

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """
        Return a unit vector for each text: (len(texts), dimensions) float32.

        role: a question and what may answer it are embedded differently
        Raises ModelUnavailable when the model is not there, ModelFailed when its answer cannot be used.
        """
        ...

    def close(self) -> None:
        """Release resources; the next `embed` loads them again."""
        ...


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply and its usage."""

    value: Any  # JSON that fits the schema, and has nothing that the schema does not name
    text: str  # the words in which it came, without thoughts
    prompt_tokens: int | None  # as the endpoint counts them; None where it does not say
    completion_tokens: int | None
    seconds: float  # with all tries


class ChatModel(Protocol):
    """A chat model. Thread-safe."""

    @property
    def name(self) -> str:
        """The name recorded with what the model produced."""
        ...

    def ask(self, messages: Sequence[Message], schema: Schema) -> Reply:
        """
        Return the reply to some messages.

        Raises ModelUnavailable when the model is not there, ModelFailed when its answer cannot be used. The latter's
        `said` is the reply then, and its detail what is wrong with it, so that it can be asked to mend it; where `said`
        is empty there is nothing to mend.
        """
        ...


class Reranker(Protocol):
    """A model that reads a question and a text together. Thread-safe."""

    @property
    def name(self) -> str:
        """The model and its address, for people."""
        ...

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """
        Return for each text how well it answers, comparable within one call only; the more, the better.

        Raises ModelUnavailable when the model is not there or not in time, ModelFailed when its answer cannot be used.
        """
        ...
