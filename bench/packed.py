"""
Share of the evidence that a prompt of a given token budget contains.

Tokens are counted by a real tokenizer (o200k, of the package bpe-openai, which brings its table along), for ours and
for the others alike. Ours is what `context` returns when it is given the budget: what its own estimate let in beyond
the budget is cut off here. The others' is what a plain program does: whole turns in rank order, each on a line with
its date and role, one that is too long for the rest passed over.

A gold turn is inside when it was packed and a piece of its text stands in what is left. That it was cut to a few
sentences shows in no figure here.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache

from datasets import Turn

BUDGETS = (350, 700, 1_500, 2_500, 4_000)
PIECE = 24  # characters that must stand in the text, or all of a shorter turn
STEP = 8  # characters between the beginnings of two pieces that are looked for

_WIDE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")


def _tokenizer() -> tuple[str, Callable[[str], int], Callable[[str, int], str]]:
    """Its name, the tokens of a text, and the beginning of a text that has so many."""
    try:
        with warnings.catch_warnings():  # it opens its table in a way that is going out of use
            warnings.simplefilter("ignore", DeprecationWarning)
            import bpe_openai
    except ImportError:
        return "estimated: 4 characters, or 1 Chinese one", estimate, estimated_beginning
    encoding = bpe_openai.get_encoding("o200k_base")
    encode, decode = encoding.encode_ordinary, encoding.decode
    return "o200k", lambda text: len(encode(text)), lambda text, tokens: decode(encode(text)[:tokens])


def estimate(text: str) -> int:
    wide = len(_WIDE.findall(text))
    return wide + (len(text) - wide) // 4


def estimated_beginning(text: str, tokens: int) -> str:
    spent = 0.0
    for place, character in enumerate(text):
        spent += 1 if _WIDE.match(character) else 0.25
        if spent > tokens:
            return text[:place]
    return text


TOKENIZER, count, beginning = _tokenizer()


@lru_cache(maxsize=100_000)
def _line_tokens(turn: Turn) -> int:
    return count(f"- {turn.said} ({turn.at.date()}, {turn.role})\n")


def share(text: str, packed: Collection[str], gold: Collection[str], turns: Mapping[str, Turn]) -> float:
    """The share of the gold turns of which a piece stands in the text, among those that were packed into it."""
    flat = " ".join(text.split())
    return sum(id in packed and contains(flat, turns[id].text) for id in gold) / len(gold)


def contains(flat: str, text: str) -> bool:
    """Whether a piece of a text stands in another that is on one line already."""
    wanted = " ".join(text.split())
    return any(wanted[start : start + PIECE] in flat for start in range(0, max(1, len(wanted) - PIECE + 1), STEP))


def shares(ranking: Sequence[str], gold: Collection[str], turns: Mapping[str, Turn]) -> dict[int, float]:
    """The share of the gold turns that whole turns in rank order put inside each budget."""
    return {budget: len(whole(ranking, turns, budget) & set(gold)) / len(gold) for budget in BUDGETS} if gold else {}


def whole(ranking: Sequence[str], turns: Mapping[str, Turn], budget: int) -> set[str]:
    """The turns that fit."""
    kept, left = set(), budget
    for id in ranking:
        if (cost := _line_tokens(turns[id])) <= left:
            kept.add(id)
            left -= cost
    return kept
