"""
Fold case, width and Chinese variants one for one, so that offsets stay valid.
"""

from __future__ import annotations

from yiku.rules.text.compiled import FURTHER, FURTHER_SIMPLIFIED, HASHED, HASHED_SIMPLIFIED

_FULL_WIDTH = {0xFF01 + n: 0x21 + n for n in range(94)}
_QUOTES = {ord(curly): ord(straight) for curly, straight in zip("’‘“”„«»\u00a0\u3000", '\'\'"""""  ', strict=True)}
_MARKS = {ord(wide): ord(narrow) for wide, narrow in zip("，。！？；：", ",。!?;:", strict=True)}
_ONE_FORM = {**_FULL_WIDTH, **_QUOTES, **_MARKS, **str.maketrans(HASHED + FURTHER, HASHED_SIMPLIFIED + FURTHER_SIMPLIFIED)}


def folded(text: str) -> str:
    """Return the text in lower case, half width and simplified characters, of the same length."""
    if text.isascii():
        return text.lower()
    unified = text.translate(_ONE_FORM)
    small = unified.lower()
    return small if len(small) == len(unified) else "".join(one if len(one.lower()) != 1 else one.lower() for one in unified)
