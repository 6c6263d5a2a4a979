"""
The promises that the soak proves, one line each, in the words of docs/durability.md.

A test belongs to the goals that its name begins with: `test_R4_R5_…` to R4 and R5. When the soak ends,
conftest.py prints one table with a row for each goal: what was run, what was measured, whether it held.
The numbers of the goals are those that the project was planned with; a gap is a goal of a later part.
"""

import re

PROMISES = {
    "R1": "A process killed at any moment loses nothing that was acknowledged, and the home opens.",
    "R3": "A power cut loses nothing that was acknowledged; with durability = fast at most the last second.",
    "R4": "Many processes write at once: none gets a lock error, and nothing is lost or duplicated.",
    "R5": "Many processes create one home at once: there is one store, and none of them fails.",
    "R6": "SQLite's own bugs under many writers do not affect Yiku: the SQLite version and the gate are checked.",
    "R7": "Nothing in Yiku opens the live database except through SQLite, so no lock is ever dropped.",
    "R8": "Any single disk operation may fail: a typed error, and nothing half-written or refused-but-stored.",
    "R9": "A full disk raises StorageFull; reading, searching and forgetting still work, and everything works again once there is space.",
    "R10": "On read-only media everything can be read, writing raises ReadOnly, and no file changes.",
    "R11": "Damage to a file is detected: the damaged parts are named, and the rest is still served.",
    "R12": "A store that was emptied, replaced or rolled back is detected before anything is written.",
    "R15": "A backup made while others write restores to exactly what was there.",
    "R17": "A creation or migration killed at any operation is completed by the next open.",
    "R20": "MEMORY.md and USER.md, edited in any way while memory changes, lose no word and no memory; after a sync both sides agree.",
    "R23": "Hostile input causes no crash and no hang, and is returned unaltered.",
    "R24": "Every failure is a typed error that says what to do.",
    "R25": "Clock jumps, and recording in any order, produce the same memory with unique ids.",
    "R26": "No scope ever sees, changes or reveals anything that belongs to another.",
    "R29": "A process asked to end by a signal or by its parent's death ends within 5 seconds, with the guarantees of R1.",
    "R30": "Interrupted learning, relearning, compressing or ending loses nothing and duplicates nothing; the next call processes the rest.",
    "R31": "A night cut off anywhere comes to the same end in the next call; run twice it changes nothing, and a week missed is made up for.",
    "R32": "A night can be taken back: every exported field is as before, except what was changed since, which is named.",
    "R33": "In a year with nights the present is answered as well as without, what was replaced stays replaced, and every rule is there.",
    "R34": "A coding agent gets the tools, and what belongs to its prompt once and fenced; what is said is recorded once, that block is not.",
    "R35": "Clients of others list and call every tool, and the protocol's own scenarios pass, for both versions of it.",
    "S4": "Erased content is in no file of the home, checked in raw bytes, and does not come back; whatever has to stay is named.",
    "S5": "Recalled text in a prompt cannot end its fence or take a role; there and on a terminal no character is invisible.",
    "S12": "Credentials of a known format, or announced in a listed way, are masked before anything is written; look-alikes stay.",
    "S23": "No text can forge an id, a line or a second memory in a prompt.",
}

_GOALS = re.compile(r"test_((?:[RS]\d+_)+)")


def of(test: str) -> list[str]:
    """The goals that a test proves, by its name."""
    named = _GOALS.match(test)
    return named[1].rstrip("_").split("_") if named else []
