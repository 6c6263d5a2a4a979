"""
Share of the evidence that a prompt of a given token budget contains.

Tokens are counted by a real tokenizer (o200k, of the package bpe-openai, which brings its table along), for ours and
for the others alike. Ours is what `context` returns when it is given the budget: what its own estimate let in beyond
the budget is cut off here. The others' is the same of their ranking: as many turns as `context` looks at, packed and
shortened by `rules/finding/pack.py`.

A gold turn is inside when it was packed and a piece of its text stands in what is left. That it was cut to a few
sentences shows in no figure here.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from datasets import Question, Session

from yiku.flows.find.context import TOKENS_PER_HIT
from yiku.rules.finding import pack
from yiku.rules.text import analyze
from yiku.types import Hit, Link, Origin, Turn

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


class Told(NamedTuple):
    """The turns of a case as the product has them, what makes twins of them, by their ids, and who has that."""

    turns: Mapping[str, Turn]
    same: Mapping[str, tuple[str, str]]
    alike: Mapping[tuple[str, str], Sequence[str]]

    @classmethod
    def of(cls, sessions: Sequence[Session]) -> Told:
        places = [(session, place, turn) for session in sessions for place, turn in enumerate(session.turns)]
        alike: dict[tuple[str, str], list[str]] = {}
        for _, _, turn in places:
            alike.setdefault(turn.same, []).append(turn.id)
        return cls(
            {
                turn.id: Turn(
                    id=f"{number:08x}",
                    session=session.id,
                    position=place,
                    role=turn.role,
                    content=turn.text,
                    said_at=turn.at,
                    recorded_at=turn.at,
                    speaker=turn.speaker,
                    origin=Origin(turn.role),
                    external_id=turn.id,
                )
                for number, (session, place, turn) in enumerate(places)
            },
            {id: same for same, ids in alike.items() for id in ids},
            alike,
        )

    def twin(self, id: str, gold: Collection[str]) -> str:
        """The gold turn that says the very same as this one, the first of them; else itself."""
        same = self.same.get(id)
        return min((one for one in gold if one == id or (same is not None and self.same.get(one) == same)), default=id)

    def twins(self, gold: Collection[str]) -> set[str]:
        """All turns that say the very same as one of these, themselves too."""
        return {id for one in gold for id in self.alike.get(self.same.get(one, ("", "")), [one])}

    def merged(self, gold: Collection[str]) -> frozenset[str]:
        """The gold turns, of twins among them one."""
        return frozenset(self.twin(id, gold) for id in gold)


def share(text: str, packed: Collection[str], gold: Collection[str], spoken: Told) -> float:
    """The share of the gold turns of which a piece stands in the text, among those that were packed into it; or of a twin."""
    flat = " ".join(text.split())
    inside = {(id, spoken.twin(id, gold)) for id in packed}
    return len({twin for id, twin in inside if twin in gold and contains(flat, spoken.turns[id].content)}) / len(gold)


def contains(flat: str, text: str) -> bool:
    """Whether a piece of a text stands in another that is on one line already."""
    wanted = " ".join(text.split())
    return any(wanted[start : start + PIECE] in flat for start in range(0, max(1, len(wanted) - PIECE + 1), STEP))


def shares(ranking: Sequence[str], question: Question, gold: Collection[str], spoken: Told) -> dict[int, float]:
    """The share of the gold turns that a ranking puts inside each budget, packed as ours is."""
    if not gold:
        return {}
    found = {}
    for budget in BUDGETS:
        text, ids = packed(ranking, question, budget, spoken)
        found[budget] = share(beginning(text, budget), ids, gold, spoken)
    return found


def packed(ranking: Sequence[str], question: Question, budget: int, spoken: Told) -> tuple[str, list[str]]:
    """The text that `context` would make of a ranking, and the turns that went in."""
    terms = analyze.question(question.text)
    hits = [_hit(spoken.turns[id]) for id in ranking[: max(10, min(200, budget // TOKENS_PER_HIT))]]
    language = "zh" if analyze.UNSPACED_RUN.search(question.text) else "en"
    context = pack.pack(
        hits, budget, language, [*terms.words, *terms.characters], seal=lambda text: hashlib.sha256(text.encode()).digest()
    )
    return context.text, [hit.item.external_id for hit in context.hits]


def _hit(turn: Turn) -> Hit:
    source = Link(id=turn.id, session=turn.session, speaker=turn.speaker, origin=turn.origin, said_at=turn.said_at)
    return Hit(item=turn, relevance=1.0, score=1.0, routes={}, sources=(source,))
