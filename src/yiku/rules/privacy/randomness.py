"""
Tell random values from words: digits among letters, and few letter pairs of natural words.

`Xk9mP2vLq8wZ` does. `GoogleCredentialV2Factory`, `projects/x/secrets/db/versions/latest`, a path, a placeholder such as
`<your-key>` or `${TOKEN}` and a password that a person thought of do not.
"""

from __future__ import annotations

import re
from itertools import pairwise

from yiku.rules.lexicon.lists import words
from yiku.rules.text import lazy

WORDLIKE = 0.55  # share of pairs: of 16 random letters and digits 1 in 200 has as many, of names in code 19 in 20

# The pairs of letters that make up nineteen in twenty of those in English words and in names of programs: behind which comes which.
_FOLLOWING = """
    a-bcdgiklmnprstuvy b-aeilou c-aehiklortu d-adeilosu e-acdefgilmnpqrstvwxy f-aefilortu g-ehinrsu h-aeiot
    i-abcdefglmnoprstvz k-eis l-adeilostuy m-abeimopsu n-acdefgiklnostuvy o-bcdiklmnoprstuvw p-aeiloprtuy q-u
    r-acdegikmnorstuy s-acehilopstuy t-acehilorstuy u-abceilmnprst v-aei w-aehinor x-cpt y-pst z-e
"""
_PAIRS = frozenset(word[0] + second for word in _FOLLOWING.split() for second in word[2:])
_PLACEHOLDER = lazy.compile(
    r"xxxx|\*\*\*|\.\.\.|…|12345678|abcdefg|0000000|[<>{}]|^\$[A-Za-z_(]|^\[|^%\(|^%[A-Za-z_]+%$", re.IGNORECASE
)
_PATH = lazy.compile(
    r"(?:~|\.{1,2}|[a-z]:)?[/\\][a-z0-9_./\\-]*|/\^.*|0x[0-9a-f]{1,16}",
    re.I,
)
_FILES = (".json", ".yml", ".yaml", ".toml", ".pem", ".key", ".txt", ".env", ".py", ".js", ".ts", ".md", ".crt", ".sh")
_FILE = lazy.compile(r"[\w.-]*+")
_PLAIN = lazy.compile(r"[\w.:/$-]*")  # the characters of names, types, members, paths
_LETTERS = lazy.compile(r"[^\W\d_].*[^\W\d_]", re.DOTALL)
_DIGIT = lazy.compile(r"[0-9]")
_SIGN = lazy.compile(r"[!#$%^*+?@|~/=]")
_MIXED = lazy.compile(r"[0-9][^0-9]++[0-9]++[^0-9]|[^0-9][0-9]++[^0-9]++[0-9]")  # three changes from digits to others or back


def is_placeholder(value: str) -> bool:
    """Whether a value is a placeholder for a secret."""
    low = value.casefold()
    if len({*value}) < 5 or low in words("secrets.placeholder_whole") or _PLACEHOLDER.search(value):
        return True
    return any(word in low for word in words("secrets.placeholder"))


def wordlike(value: str) -> float:
    """Return the share of character pairs that occur in words, in [0, 1]; words have no inner capitals."""
    pairs = [one + other for one, other in pairwise(value) if one.isalnum() and other.isalnum()]
    known = sum(pair.lower() in _PAIRS and not (pair[0].islower() and pair[1].isupper()) for pair in pairs)
    return known / len(pairs) if pairs else 0.0


def is_name(value: str) -> bool:
    """Whether a value is made of words: an identifier, a path, words with signs between, few digits."""
    return 5 * len(_DIGIT.findall(value)) <= len(value) and _PLAIN.fullmatch(value) is not None and wordlike(value) >= WORDLIKE


def looks_random(value: str, *, at_least: int) -> bool:
    """Whether a value of at least so many characters looks machine-made."""
    if len(value) < at_least or not _LETTERS.search(value):
        return False
    sorts = (value != value.upper()) + (value != value.lower()) + (_DIGIT.search(value) is not None)
    if sorts + (_SIGN.search(value) is not None) < 3 and not _MIXED.search(value):
        return False
    return not (is_name(value) or "://" in value or _PATH.fullmatch(value) or _is_file(value) or is_placeholder(value))


def _is_file(value: str) -> bool:
    """Whether a value is the name of a file."""
    return value.lower().endswith(_FILES) and _FILE.fullmatch(value) is not None


def looks_strong(value: str, *, at_least: int, every: bool = False) -> bool:
    """Whether a value looks machine-made even with a weak announcement: mixed case and digits, or (unless `every`) twice as long."""
    if not looks_random(value, at_least=at_least) or wordlike(value) >= WORDLIKE or not _DIGIT.search(value):
        return False
    return (value != value.upper() and value != value.lower()) or (not every and len(value) >= 2 * at_least)
