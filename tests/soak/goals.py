"""
What the soak proves: the promises, one line each, in the words of docs/durability.md.

A test belongs to the goals that its name begins with: `test_R4_R5_…` to R4 and R5. When the soak ends,
conftest.py prints one table with a row for each goal: what was run, what was measured, whether it held.
The numbers of the goals are those that the project was planned with; a gap is a goal of a later part.
"""

import re

PROMISES = {
    "R1": "A process killed at any moment loses nothing that was acknowledged, and the home opens.",
    "R3": "A power cut loses nothing that was acknowledged; with durability = fast at most the last second.",
    "R4": "Many processes write at once: none is told that the store is locked, nothing is lost or doubled.",
    "R5": "Many processes make one home at once: there is one store, and nobody fails.",
    "R6": "SQLite's own faults under many writers do not reach us: its version and the gate are checked.",
    "R7": "Nothing in Yiku opens the live database beside SQLite, so no lock is ever dropped.",
    "R8": "Any single disk operation may fail: a typed error, and nothing half-written or refused-but-stored.",
    "R9": "A full disk is StorageFull; reading, searching and forgetting go on, and all works when there is space.",
    "R10": "On read-only media everything can be read, writing is ReadOnly, and no file changes.",
    "R11": "A damaged file is noticed: what is damaged is named, and the rest is served.",
    "R12": "A store that was emptied, replaced or set back is noticed before anything is written.",
    "R15": "A backup made while others write restores to exactly what was there.",
    "R17": "A creation or migration killed at any operation is finished by the next opening.",
    "R23": "Hostile input neither crashes, nor hangs, nor comes back altered.",
    "R24": "Every failure is a typed error that says what to do.",
    "R25": "A clock that jumps, and any order of telling, leave the same memory with unique ids.",
    "R26": "No scope ever sees, changes or hints at what belongs to another.",
    "R29": "Asked to end by a signal or by its parent's death, a process ends within 5 seconds; as R1.",
    "R30": "Learning (again, too), compressing or ending that is cut short loses nothing and doubles nothing; the next call learns the rest.",
    "S4": "What is erased is in no file of the home any more, in raw bytes, and does not come back; what must stay is named.",
    "S5": "What goes into a prompt has no mark that ends its fence or takes a role; there and on a terminal nothing is invisible.",
    "S12": "Credentials of a known form, or announced as listed, are masked before anything is written; look-alikes stay.",
    "S23": "No text forges an id, a line or a second memory in a prompt.",
}

_GOALS = re.compile(r"test_((?:[RS]\d+_)+)")


def of(test: str) -> list[str]:
    """The goals that a test proves, by its name."""
    named = _GOALS.match(test)
    return named[1].rstrip("_").split("_") if named else []
