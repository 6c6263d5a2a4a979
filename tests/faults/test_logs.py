"""Privacy of logs: no stored text appears in a log, an error message, stderr or another file."""

import contextlib
import logging
import zlib

import commands
import pytest

from yiku.errors import YikuError
from yiku.types import MemoryRecord, TurnRecord

WORD = "kumquat金橘"  # the canary, in every text that a verb takes

LIBRARY = {
    "record": lambda m: m.record(
        [{"role": "user", "content": WORD, "session": WORD, "metadata": {WORD: WORD}}], idempotency_key=WORD
    ),
    "record, refused": lambda m: m.record([{"role": WORD, "content": WORD, WORD: WORD}]),
    "record_turn": lambda m: m.record_turn("user", WORD, speaker=WORD, tool_calls=[{"name": WORD, "input": {WORD: WORD}}]),
    "remember": lambda m: m.remember(f"I like {WORD}", tags=[WORD], basis=WORD, metadata={"a": WORD}),
    "remember, refused": lambda m: m.remember(WORD, kind=WORD, said_at=WORD),
    "update": lambda m: m.update(m.get_all()[0].id, f"I like {WORD} more"),
    "update, refused": lambda m: m.update(WORD, WORD),
    "feedback, refused": lambda m: m.feedback(m.get_all()[0].id, WORD),
    "recall": lambda m: m.recall(WORD, where={"tags": WORD}),
    "recall, refused": lambda m: m.recall(WORD, where={WORD: WORD}, types=[WORD]),
    "context": lambda m: m.context(WORD),
    "search_traces": lambda m: m.search_traces(WORD, session=WORD, tool=WORD, since=WORD),
    "about": lambda m: m.about(WORD),
    "related": lambda m: m.related(object=WORD),
    "history": lambda m: m.history(WORD),
    "get": lambda m: m.get(WORD),
    "import": lambda m: m.admin.import_([TurnRecord(1, {"role": WORD}), MemoryRecord(2, WORD, {WORD: WORD}), WORD], source=WORD),
    "pause, refused": lambda m: m.admin.pause(WORD),
    "blob": lambda m: m.admin.blob(WORD),
    "forget": lambda m: m.forget(m.get_all()[0].id, reason=WORD),
    "restore": lambda m: m.restore(WORD),
}


def leaks(home) -> list[str]:
    """The files of a home, but for the store, the blobs and the transcripts, that hold the canary in raw bytes."""
    return [
        str(path.relative_to(home))
        for path in home.rglob("*")
        if path.is_file()
        and not path.name.startswith("yiku.db")
        and not {"blobs", "transcripts"} & {*path.parts}
        and WORD.encode() in path.read_bytes()
    ]


def test_no_verb_of_the_library_logs_what_is_said(memory, home, caplog, capfd):
    """Done or refused, at the finest level of logging: not a word in a record, on stderr, or in a file beside the store."""
    caplog.set_level(logging.DEBUG)
    logging.getLogger("yiku").debug("the log works")
    memory.record_turn("user", WORD * 9_000)
    for call in LIBRARY.values():
        with contextlib.suppress(YikuError):
            call(memory)
    memory.admin.pause()

    assert "the log works" in caplog.text
    assert WORD not in caplog.text and WORD not in "".join(capfd.readouterr())
    assert [] == leaks(home)
    assert any(WORD in zlib.decompress(path.read_bytes()).decode() for path in (home / "blobs").glob("*/*.z"))


BROKEN = """
import sys
from yiku.flows.{chapter} import {module}
def broken(*given, **more):
    raise RuntimeError("a fault inside")
{module}.{verb} = broken
from yiku.interfaces.cli.app import main
sys.exit(main(sys.argv[1:]))
"""
CLI = {
    "record": ["record", WORD, "--session", WORD, "--metadata", f'{{"a": "{WORD}"}}'],
    "remember": ["remember", WORD, "--tag", WORD],
    "update": ["update", WORD, WORD],
    "recall": ["recall", WORD],
    "context": ["context", WORD],
    "forget": ["forget", WORD, "--reason", WORD],
    "search_traces": ["traces", WORD],
    "history": ["history", WORD],
}
MODULES = {
    "record": "keep.record",
    "remember": "keep.remember",
    "update": "keep.update",
    "forget": "keep.forget",
    "recall": "find.recall",
    "context": "find.context",
    "search_traces": "find.traces",
    "history": "find.browse",
}


@pytest.mark.parametrize("verb", CLI)
def test_a_fault_inside_tells_nothing_of_what_was_said(home, verb):
    """The lines that a person may send with a report hold the fault and where it was, and no word of his."""
    chapter, _, module = MODULES[verb].partition(".")
    code = BROKEN.format(chapter=chapter, module=module, verb="record_turn" if verb == "record" else verb)
    done = commands.run(*CLI[verb], program=code, YIKU_HOME=home)

    assert (1, True) == (done.code, "a fault inside" in done.err and "Traceback" in done.err)
    assert WORD not in done.out + done.err
    assert [] == leaks(home)
