"""
Detect noise (acknowledgements, emoji, interjections), and score a text's importance from 0 to 1 by its words.

The score is that of the weightiest class that a text names: identity, health and safety 1.0; preferences, relations and
states 0.8; projects, tasks and goals 0.7; whatever else is told 0.5; what only holds for the moment 0.2. Words that
weigh it themselves (remember, important, by the way) move it. Noise is a text that is not worth repeating.
"""

from __future__ import annotations

from yiku.rules.lexicon.lists import has, made_of
from yiku.rules.text.folding import folded

LOOKED_AT = 2_000  # characters; what a text is about shows in its beginning

_CLASSES = ((1.0, "records.self"), (0.8, "records.liking"), (0.7, "records.undertaking"), (0.2, "records.moment"))
_SIGNALS = (
    (0.5, "records.remember"),
    (-0.5, "records.reminisces"),  # which has a word of the list before
    (0.3, "records.important"),
    (0.2, "records.careful"),
    (-0.2, "records.by_the_way"),
)


def noise(text: str) -> bool:
    """Whether a text is noise: an interjection, an acknowledgement, emoji, or at most two characters."""
    if len(text) > LOOKED_AT:
        return False
    told = folded(text)
    letters = sum(map(str.isalnum, told))
    return letters <= 2 or (letters <= 60 and made_of(told, "records.noise", "records.noise_beside"))


def score(text: str) -> float:
    """Return the importance of a text: 0 for noise, 1 for identity, health and what must not be forgotten."""
    if noise(text):
        return 0.0
    told = folded(text[:LOOKED_AT])
    weight = next((weight for weight, name in _CLASSES if has(told, name)), 0.5)
    moved = weight + sum(by for by, name in _SIGNALS if has(told, name))
    return round(min(1.0, max(0.0, moved)), 2)
