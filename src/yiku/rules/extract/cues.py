"""
A cue: one way in which something worth keeping is said, in one language. english.py and chinese.py hold them, as data.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from yiku.types import Kind, Standing


class Cue(NamedTuple):
    """
    A way to say a thing.

    name:    for `explain` and for tests: the class of the phrase
    says:    a regular expression; English ones begin where the clause begins, Chinese ones stand anywhere in it
    unless:  a regular expression over the clause; where it is found, the cue stays silent
    """

    name: str
    kind: Kind
    says: str
    unless: str = ""
    standing: Standing = Standing.FACT

    def found(self, clause: str, *, anywhere: bool) -> re.Match[str] | None:
        """Where a clause says it."""
        pattern = compiled(self.says)
        match = pattern.search(clause) if anywhere else pattern.match(clause)
        return None if match is None or (self.unless and compiled(self.unless).search(clause)) else match


@cache
def compiled(says: str) -> re.Pattern[str]:
    """A pattern, compiled when the first clause needs it."""
    return re.compile(says)
