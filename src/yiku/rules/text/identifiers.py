"""
Names that a machine gave or reads, told by their form: paths, file and dotted names, code, ids, versions, addresses.
"""

from __future__ import annotations

import re

from yiku.rules.lexicon import built_in, lists
from yiku.rules.text import lazy
from yiku.rules.text.analyze import normal

LOOKED_AT = 1_000  # characters
AT_MOST = 16  # a text that names more is a listing
LONGEST_WORD = 24  # characters in front of a number in which the word is looked for that makes it a version

_RUN = lazy.compile(r"[a-z0-9_~./\\#][a-z0-9_\-./\\:@#%+~=&?*,]*", re.IGNORECASE | re.ASCII)
_PATH_OF_ANY_SCRIPT = lazy.compile(r"(?:~|\.{1,2}|[a-z]:)?(?:[/\\][\w.\-]+)+\.[a-z0-9]{1,8}(?![a-z0-9])", re.IGNORECASE)
_ADDRESS = r"https?://\S{3,}|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
_FROM_A_ROOT = r"(?:~|\.{1,2}|[a-z]:)?[/\\](?=\S*[a-z])[^\s,]*[/\\.][^\s,]*|[/\\][a-z][\w.-]{2,}"
_PATH = r"[\w.-]+(?:[/\\][\w.*-]+)+\.[a-z0-9]{1,8}|[\w-]+(?:[/\\][\w.-]+){2,}[/\\]?"
_VERSION = r"(?:v\d+(?:\.\d+)?|v?\d+(?:\.\d+){2,3})(?:[-.]?[a-z]{1,5}\.?\d*)?"
_DOTTED = r"(?:[\w-]+\.)+[a-z][a-z0-9]{0,7}|(?:[a-z_]\w*\.)+[a-z_]\w*"
_SNAKE = r"[a-z0-9]+(?:_[a-z0-9]+)+|__\w+__|_[a-z]\w+"
_ID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}|#\d{1,6}"
_FORMS = tuple(
    lazy.compile(form, re.IGNORECASE | re.ASCII) for form in (_ADDRESS, _FROM_A_ROOT, _PATH, _VERSION, _DOTTED, _SNAKE, _ID)
)
_CASED = lazy.compile(r"[A-Z]{2,10}-\d{1,6}|[A-Za-z]+[a-z0-9][A-Z]\w*|[A-Z]{2,}[a-z]+[A-Z]\w*", re.ASCII)  # PROJ-12, camelCase
_DECIMAL = lazy.compile(r"\d+\.\d+")
_NAME = lazy.compile(r"[A-Z][A-Za-z]{2,20}$")


def found(text: str) -> tuple[str, ...]:
    """The identifiers at the beginning of a text, in order, each once; a part of a longer one is none."""
    said = text[:LOOKED_AT] if text.isascii() else normal(text[:LOOKED_AT])[:LOOKED_AT]
    names = {} if said.isascii() else dict.fromkeys(match[0] for match in _PATH_OF_ANY_SCRIPT.finditer(said))
    for match in _RUN.finditer(said):
        run = match[0].rstrip(".,:?*&=~#-")
        if len(run) > 1 and _is_one(run, said, match.start()) and not any(run in longer for longer in names):
            names[run] = None
    return tuple(names)[:AT_MOST]


def _is_one(run: str, said: str, place: int) -> bool:
    """Whether a run of letters, digits and signs, which stands at this place, is a name by its form."""
    small = run.lower()
    if (run.isalpha() and (run == small or run.istitle())) or run.isdecimal():
        return False
    if small in lists.words("asking.brand") or built_in().is_abbreviation(small):
        return False
    if _DECIMAL.fullmatch(run):
        return _makes_a_version(said[max(0, place - LONGEST_WORD) : place].rstrip())
    return _CASED.fullmatch(run) is not None or (not run.isalpha() and any(form.fullmatch(run) for form in _FORMS))


def _makes_a_version(before: str) -> bool:
    """Whether a number behind these words is a version: Python 3.12, 版本 3.12."""
    return _NAME.search(before) is not None or before.lower().endswith(tuple(lists.words("asking.version")))
