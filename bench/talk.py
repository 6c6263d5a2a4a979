"""
Load real turns and questions for the speed benchmarks from files outside the repository (formats in datasets.py).

English and Chinese take turns of a dozen, each in the order in which it was said; where a language has fewer turns than are
wanted it begins again, in sessions of other names. Questions are those of the same files.
"""

from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Any

import datasets

ROW = 12  # turns of a language side by side
SORTS = {"en": "english", "zh": "chinese"}


class Talk:
    """What was said and asked in some files."""

    def __init__(self, paths: Sequence[str]) -> None:
        cases = [case for path in paths for case in datasets.read(path)]
        self.said: dict[str, list[tuple[str, datasets.Turn]]] = {}
        self.asked: dict[str, list[str]] = {}
        for case in cases:
            said = self.said.setdefault(SORTS.get(case.language, case.language), [])
            said += [(f"{case.id}/{session.id}", turn) for session in case.sessions for turn in session.turns]
            self.asked.setdefault(SORTS.get(case.language, case.language), []).extend(each.text for each in case.questions)

    def turns(self, wanted: int, first: int = 0) -> list[dict[str, Any]]:
        """So many turns as `record` takes them, from that place on."""
        rows = [self._row(said) for said in self.said.values()]
        return list(islice((turn for _ in count() for row in rows for turn in next(row)), first, first + wanted))

    def _row(self, said: Sequence[tuple[str, datasets.Turn]]) -> Iterator[list[dict[str, Any]]]:
        for again in count():
            for start in range(0, len(said), ROW):
                yield [
                    {
                        "role": turn.role,
                        "content": turn.text,
                        "session": f"{session}~{again}" if again else session,
                        "speaker": turn.speaker,
                        "said_at": turn.at,
                    }
                    for session, turn in said[start : start + ROW]
                ]

    def questions(self, wanted: int) -> dict[str, list[str]]:
        """Questions of each language, spread over the files."""
        return {sort: asked[:: max(1, len(asked) // wanted)][:wanted] for sort, asked in self.asked.items() if asked}
