"""
Estimate token counts, cut texts into windows for embedding, and give short turns the turn before as context.

A text of up to WINDOW_TOKENS is one window; a longer one is cut at its sentences. A turn of a few words ("Yes,
that one.") means little alone, so it is embedded twice, alone and behind the end of the turn before, and the
mean of both is kept. Tokens are estimated here, so no tokenizer is needed to cut.
"""

from __future__ import annotations

from yiku.rules.lexicon import built_in
from yiku.rules.text.analyze import UNSPACED_RUN
from yiku.rules.text.sentences import split

WINDOW_TOKENS = 480  # of the model's 512; its prefix and what the estimate gets wrong take the rest
SHORT_TOKENS = 40
TAIL_CHARS = 200
CHARS_PER_TOKEN = 4.0
TOKENS_PER_UNSPACED = 0.75


def tokens(text: str) -> int:
    """Estimate the tokens of a text for a multilingual embedding model."""
    return round(cost(text))


def is_cjk(text: str) -> bool:
    """Whether a text is mostly Chinese, or in another script without spaces: a character weighs about two of a word."""
    return 3 * sum(map(len, UNSPACED_RUN.findall(text))) > len(text)


def windows(text: str, at_most: int = WINDOW_TOKENS) -> list[str]:
    """Cut a text into windows of at most so many tokens, between sentences where possible."""
    if tokens(text) <= at_most:
        return [text]
    pieces, piece, spent = [], "", 0.0
    for sentence in _sentences(text, at_most):
        price = cost(sentence)
        if piece and spent + price > at_most:
            pieces.append(piece)
            piece, spent = "", 0.0
        piece += sentence
        spent += price
    return [kept for part in (*pieces, piece) if (kept := part.strip())]


def with_previous(before: str, text: str) -> str | None:
    """Return a short turn after the end of the turn before it, None for a turn that is long enough."""
    if not before or tokens(text) >= SHORT_TOKENS:
        return None
    tail = " ".join(before.split())
    if len(tail) > TAIL_CHARS:
        tail = tail[-TAIL_CHARS:]
        start = tail.find(" ")
        tail = tail[start + 1 :] if 0 <= start < TAIL_CHARS // 4 else tail
    return f"{tail}\n{text}"


def cost(text: str) -> float:
    """The same, unrounded: costs of two texts add up to that of both together."""
    cjk_chars = 0 if text.isascii() else sum(map(len, UNSPACED_RUN.findall(text)))
    return (len(text) - cjk_chars) / CHARS_PER_TOKEN + cjk_chars * TOKENS_PER_UNSPACED


def _sentences(text: str, at_most: int) -> list[str]:
    """Return sentences with trailing space; one that is too long is cut by characters."""
    longest = int(at_most / max(TOKENS_PER_UNSPACED, 1 / CHARS_PER_TOKEN))
    found = []
    for sentence in split(text, built_in()):
        if tokens(sentence) <= at_most:
            found.append(sentence)
        else:
            found += [sentence[i : i + longest] for i in range(0, len(sentence), longest)]
    return found
