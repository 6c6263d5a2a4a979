"""Regular expressions that are compiled on first use, since one command needs few of them."""

from __future__ import annotations

import re
from typing import Any, cast


class Lazy:
    """A pattern compiled on first use; then its methods are the pattern's own."""

    def __init__(self, source: str, flags: int) -> None:
        self._given = (source, flags)

    def compiled(self) -> re.Pattern[str]:
        """The pattern itself."""
        source, flags = self._given
        return re.compile(source, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = self.compiled()
        self.__dict__.update({each: getattr(found, each) for each in dir(found) if not each.startswith("_")})
        return getattr(found, name)


def compile(source: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, at the first use."""
    return cast("re.Pattern[str]", Lazy(source, flags))
