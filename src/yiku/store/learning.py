"""
`Store.learning` on SQLite: learning progress, the job queue, model usage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from yiku.store import jobs
from yiku.store.database import Database
from yiku.types import Job, LearningState, ModelCall


class SqliteLearning:
    """See yiku.store.protocol.Learning."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def upto(self, scope: int) -> int:
        """See Learning.upto."""
        with self._database.read() as connection:
            return jobs.upto(connection, scope)

    def extracted(self, scope: int, ns: Sequence[int]) -> set[int]:
        """See Learning.extracted."""
        with self._database.read() as connection:
            return jobs.extracted(connection, scope, ns)

    def waiting(self, scope: int) -> int:
        """See Learning.waiting."""
        with self._database.read() as connection:
            return jobs.waiting(connection, scope)

    def state(self, scope: int) -> LearningState:
        """See Learning.state."""
        with self._database.read() as connection:
            return jobs.learning(connection, scope)

    def compressions(self, scope: int, ns: Sequence[int]) -> Mapping[int, str]:
        """See Learning.compressions."""
        with self._database.read() as connection:
            return jobs.compressions(connection, scope, ns)

    def jobs(self, scope: int, *, ns: Sequence[int] | None = None, dead: bool | None = None) -> list[Job]:
        """See Learning.jobs."""
        with self._database.read() as connection:
            return jobs.jobs(connection, scope, ns=ns, dead=dead)

    def spent(self, scope: int, *, since: datetime | None = None, session: str | None = None) -> list[ModelCall]:
        """See Learning.spent."""
        with self._database.read() as connection:
            return jobs.spent(connection, scope, since=since, session=session)
