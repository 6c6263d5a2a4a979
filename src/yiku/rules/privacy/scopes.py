"""
Validate names of scopes (isolated memory spaces) against look-alikes, and derive one from a login.

A scope is a privacy boundary, so two names are two scopes, whatever they look like: nothing is folded, trimmed or
mended. The ids that users have elsewhere are taken as they are (`auth0|Ab12`, `T02/U7`, `ann@example.com`, a name in
Chinese). Names that cannot be told apart from others are rejected: spaces, invisible characters, second writings of one
character, letters of two alphabets that share their shapes, other writings of `public`; and names that stand for all scopes.
"""

from __future__ import annotations

import re
import unicodedata

PUBLIC = "public"
READS_AT_MOST = 6  # further scopes that a handle may read
LONGEST_CHARS = 128
_PLAIN = re.compile(r"[a-z0-9][a-z0-9._:@-]{0,127}", re.ASCII)
_MARKS = frozenset("._:@-|/\\+=~#!$&()[]{}'^%")  # a comma parts the names in YIKU_READS; quotes and wildcards mean something
_FIRST = frozenset("@+_#")
_LIKE_ONE_ANOTHER = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "COPTIC", "CHEROKEE", "LISU")
# Letters and marks that nobody sees (Unicode's Default_Ignorable_Code_Point); what else is invisible is neither.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def is_valid(name: object) -> bool:
    """Whether this is a valid scope name as it stands."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_CHARS:
        return False
    if _PLAIN.fullmatch(name):
        return True
    if not unicodedata.is_normalized("NFKC", name) or name.casefold() == PUBLIC or _UNSEEN.search(name):
        return False
    if not (name[0] in _FIRST or name[0].isalnum()) or not any(map(str.isalnum, name)):
        return False
    if not all(c.isalnum() or c in _MARKS or unicodedata.category(c) in ("Mn", "Mc") for c in name):
        return False
    return len(_alphabets(name)) < 2


def _alphabets(name: str) -> set[str]:
    """Return the look-alike alphabets that a name has letters of."""
    begins = {unicodedata.name(c, "").partition(" ")[0] for c in name if c.isalpha()}
    return begins & {*_LIKE_ONE_ANOTHER}


def from_login(name: str) -> str:
    """Return a plain scope name for a login or title; may be empty."""
    kept = re.sub(r"[^a-z0-9._:@-]+", "-", name.lower())
    return re.sub(r"^[^a-z0-9]+", "", kept)[:100].rstrip("-")
