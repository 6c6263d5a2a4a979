"""Kill a process before a given write of the store, by counting its writes."""

from typing import Any

import pytest

from yiku.store.sqlite import SqliteStore


class Killed(BaseException):
    """The process ends here."""


class Cut:
    """Each write of a store of this process is counted; before the one with number `at` everything stops. 0 stops nothing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.writes, self.at = 0, 0
        apply = SqliteStore.apply

        def counted(store: SqliteStore, *args: Any, **named: Any) -> Any:
            self.writes += 1
            if self.writes == self.at:
                raise Killed
            return apply(store, *args, **named)

        monkeypatch.setattr(SqliteStore, "apply", counted)

    def before(self, write: int) -> None:
        """Counts anew, and stops before this write."""
        self.writes, self.at = 0, write
