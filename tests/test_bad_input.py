"""
Bad input to every verb: a typed error with advice, soon, and nothing written.

A table of values that no argument may have meets a table of every argument of every public verb. Each
call either raises an error of ours or, where the value happens to be allowed there, gives a result; in
any case it takes less than a second, and after an error no table has another row and no file another byte.
"""

import inspect
import os
import time
from collections import OrderedDict, UserString
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from io import BytesIO
from itertools import count, repeat
from pathlib import Path
from types import MappingProxyType

import apsw
import pytest
from sampling import Choice

from yiku import Memory
from yiku.admin import Admin
from yiku.errors import InvalidInput, YikuError
from yiku.notes import Notes
from yiku.prompt import Prompts
from yiku.sessions import Sessions
from yiku.types import MemoryRecord, TurnRecord

SOON_S = 1.0


class NoOffset(tzinfo):
    """A zone that does not know its offset."""

    def utcoffset(self, at: datetime | None) -> None:
        return None

    dst = tzname = utcoffset


class Sullen:
    """Refuses to be shown."""

    def __str__(self) -> str:
        raise ZeroDivisionError

    __repr__ = __format__ = __str__


def deep(levels: int) -> list[object]:
    value: list[object] = []
    for _ in range(levels):
        value = [value]
    return value


def wide() -> list[object]:
    """A few lists in each other that would be 10 ** 40 if they were written out."""
    value: list[object] = [1]
    for _ in range(40):
        value = [value] * 10
    return value


def endless() -> dict[str, object]:
    """An object that holds itself."""
    value: dict[str, object] = {}
    value["self"] = [value, value]
    return value


HUGE_TEXT = "x" * 100_000_000

BAD: dict[str, object] = {
    "none": None,
    "bytes": b"text",
    "number": 7,
    "negative": -1,
    "huge number": 10**5000,
    "beyond 64 bits": 2**64,
    "float": 1.5,
    "nan": float("nan"),
    "infinity": float("-inf"),
    "true": True,
    "empty": "",
    "blank": " \u3000\n",
    "nul": "a\0b",
    "lone surrogate": "a\ud800b",
    "surrogate pair, undecoded": "\ud83d\ude00",
    "100 MB": HUGE_TEXT,
    "lines": "two\nlines",
    "unknown id": "01900000-0000-7000-8000-000000000000",
    "percent": "%",
    "path": "../../../etc/passwd",
    "list": ["a"],
    "list of numbers": [1, 2],
    "tuple": ("a", "b", "c"),
    "set": {"a"},
    "mapping": {"a": 1},
    "keys that are numbers": {1: "a", None: "b"},
    "keys that are tuples": {("a",): 1},
    "key with a surrogate": {"\udfff": 1},
    "nested keys": {"a": {"b": [{2: 3}]}},
    "nan inside": {"a": [float("nan")]},
    "bytes inside": {"a": b"x"},
    "set inside": {"a": {1, 2}},
    "deep": {"a": deep(40)},
    "very deep": deep(100_000),
    "very wide": {"a": wide()},
    "endless": endless(),
    "list of the endless": [endless()],
    "list of the very wide": [{"a": wide()}],
    "list of the deep": [{"a": deep(100_000)}],
    "list of 100 MB": [HUGE_TEXT, {"content": HUGE_TEXT}],
    "dict subclass": OrderedDict(a=OrderedDict(b=1)),
    "read-only mapping": MappingProxyType({"a": 1}),
    "text-like": UserString("text"),
    "date": date(2026, 3, 1),
    "naive time": datetime(2026, 2, 1),  # noqa: DTZ001 - such times are given
    "no offset": datetime(2026, 2, 1, tzinfo=NoOffset()),
    "offset of seconds": datetime(2026, 2, 1, tzinfo=timezone(timedelta(seconds=2_597))),
    "year 1": datetime(1, 1, 1, tzinfo=UTC),
    "year 1 in Asia": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
    "year 9999": datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=timezone(timedelta(hours=-12))),
    "no date": "2026-02-30",
    "leap second": "2026-06-30T23:59:60+00:00",
    "words for a time": "tomorrow",
    "a time of 100,000 digits": "2" * 100_000,
    "half a surrogate pair in a list": ["a\ud83d"],
    "two lines for those who know more of them": "a\u2028b",
    "what cannot be shown": Sullen(),
    "what cannot be shown, in a list": [Sullen()],
    "what cannot be shown, inside": {"a": Sullen()},
    "complex": 1j,
    "range": range(3),
    "function": len,
    "class": dict,
    "object": object(),
}

GOOD_TURN = {"role": "user", "content": "早"}
TURN_DETAILS = "session said_at speaker tool_calls tool_results external_id parent agent project metadata origin actor".split()
DETAILS = (
    "kind standing subject predicate object cardinality basis importance confidence strength priority pinned tags entities relations"
    " metadata said_at valid_from expires_at ttl_days source session speaker origin agent project external_id"
).split()
SLOT = {
    "subject": {"predicate": "x", "object": "y"},
    "object": {"predicate": "x"},
    "cardinality": {"predicate": "x", "object": "y"},
}


def calls() -> Iterator[tuple[str, object]]:
    """Every argument of every public verb, as a function of the memory and one value for it."""
    yield "record turns", lambda m, v: m.record(v)
    yield "record turn", lambda m, v: m.record([GOOD_TURN, v])
    for name in ("session", "idempotency_key"):
        yield f"record {name}", lambda m, v, name=name: m.record([GOOD_TURN], **{name: v})
    yield "record_turn role", lambda m, v: m.record_turn(v, "早")
    yield "record_turn content", lambda m, v: m.record_turn("user", v)
    for name in [*TURN_DETAILS, "idempotency_key", "id", "colour"]:
        yield f"record_turn {name}", lambda m, v, name=name: m.record_turn("user", "早", **{name: v})
    yield "remember text", lambda m, v: m.remember(v)
    for name in [*DETAILS, "idempotency_key", "dry_run", "despite_erasure", "colour"]:
        yield f"remember {name}", lambda m, v, name=name: m.remember("香蕉很好吃", **SLOT.get(name, {}), **{name: v})
    yield "update id", lambda m, v: m.update(v, "x")
    yield "update text", lambda m, v: m.update(m.target, v)
    for name in [*DETAILS, "colour"]:
        yield f"update {name}", lambda m, v, name=name: m.update(m.target, **{name: v})
    yield "update anew", lambda m, v: m.update(m.target, "y", said_at=v, metadata=v)
    for name in ("id", "session", "since", "until"):
        yield f"forget {name}", lambda m, v, name=name: m.forget(**{name: v})
    yield "forget reason", lambda m, v: m.forget(m.target, dry_run=True, reason=v)
    yield "forget dry_run", lambda m, v: m.forget(until="2020-01-01", dry_run=v)
    yield "forget hard", lambda m, v: m.forget(until="2020-01-01", hard=v)
    yield "restore id", lambda m, v: m.restore(v)
    yield "feedback id", lambda m, v: m.feedback(v, "used")
    yield "feedback access", lambda m, v: m.feedback(m.target, v)
    yield "get id", lambda m, v: m.get(v)
    yield "get as_of", lambda m, v: m.get(m.target, as_of=v)
    for name in ("where", "limit", "offset", "order", "as_of", "valid_at"):
        yield f"get_all {name}", lambda m, v, name=name: m.get_all(**{name: v})
    for name in ("subject", "relation_type", "object", "limit"):
        yield f"related {name}", lambda m, v, n=name: m.related(**{n: v})
    yield "about entity", lambda m, v: m.about(v)
    yield "about limit", lambda m, v: m.about("Ann", limit=v)
    yield "history id_or_text", lambda m, v: m.history(v)
    yield "history as_of", lambda m, v: m.history(m.target, as_of=v)
    for name in ("recall", "explain", "context"):
        yield f"{name} question", lambda m, v, name=name: getattr(m, name)(v)
    for name in ("limit", "where", "as_of", "valid_at", "types", "session"):
        yield f"recall {name}", lambda m, v, name=name: m.recall("Oslo", **{name: v})
    for name in ("limit", "where", "as_of", "valid_at", "types", "session"):
        yield f"explain {name}", lambda m, v, name=name: m.explain("Oslo", **{name: v})
    for name in ("max_tokens", "where", "as_of", "valid_at", "session", "rules"):
        yield f"context {name}", lambda m, v, name=name: m.context("Oslo", **{name: v})
    yield "retrieved hits", lambda m, v: m.retrieved(v)
    for name in ("keyword", "session", "role", "tool", "since", "until", "limit"):
        yield f"search_traces {name}", lambda m, v, name=name: m.search_traces(**{name: v})
        yield f"search_traces nothing {name}", lambda m, v, name=name: m.search_traces(**{"keyword": "zebra", name: v})
    for name in ("around", "since", "until", "where", "limit"):
        yield f"timeline {name}", lambda m, v, name=name: m.timeline(**{name: v})
    yield "timeline limit around", lambda m, v: m.timeline(around=m.target, limit=v)
    yield "admin.undo operation", lambda m, v: m.admin.undo(v)
    yield "admin.undo dry_run", lambda m, v: m.admin.undo(1, dry_run=v)
    yield "admin.undo_run run", lambda m, v: m.admin.undo_run(v)
    for name in ("item", "dry_run"):
        yield f"admin.undo_run {name}", lambda m, v, name=name: m.admin.undo_run("a run", **{name: v})
    for name in ("budgets", "turns"):
        yield f"admin.audit {name}", lambda m, v, name=name: m.admin.audit(**{name: v})
    for name in ("sql", "values", "views", "limit", "timeout_s"):
        yield f"admin.sql {name}", lambda m, v, name=name: m.admin.sql(**{"sql": "select 1", name: v})
    yield "admin.sql view", lambda m, v: m.admin.sql("select 1", views={"a_view": v})
    yield "admin.report run", lambda m, v: m.admin.report(v)
    yield "why id", lambda m, v: m.why(v)
    yield "admin.journal limit", lambda m, v: m.admin.journal(limit=v)
    yield "admin.import_ records", lambda m, v: m.admin.import_(v, source="x")
    yield "admin.import_ source", lambda m, v: m.admin.import_([], source=v)
    yield "admin.import_ dry_run", lambda m, v: m.admin.import_([TurnRecord(1, GOOD_TURN)], source="x", dry_run=v)
    yield "admin.import_ everything", lambda m, v: m.admin.import_([TurnRecord(1, GOOD_TURN)], source="x", everything=v)
    yield "admin.import_ trust", lambda m, v: m.admin.import_([TurnRecord(1, GOOD_TURN)], source="x", trust=v)
    yield "admin.import_ progress", lambda m, v: m.admin.import_([TurnRecord(1, GOOD_TURN)], source="x", progress=v)
    yield "admin.blob name", lambda m, v: m.admin.blob(v)
    for name in ("id", "session", "source", "since", "until"):
        yield f"admin.erase {name}", lambda m, v, name=name: m.admin.erase(**{name: v}, dry_run=True)
    for name in ("keep_turns", "keep_notes", "dry_run", "progress"):
        yield f"admin.erase {name}", lambda m, v, name=name: m.admin.erase(session="nobody's", **{name: v})
    yield "admin.erase everything", lambda m, v: m.admin.erase(everything=v, dry_run=True)
    yield "admin.erase confirm", lambda m, v: m.admin.erase(everything=True, confirm=v)
    yield "admin.export path", lambda m, v: m.admin.export(v)
    for name in ("everything", "since", "progress"):
        yield f"admin.export {name}", lambda m, v, name=name: m.admin.export(BytesIO(), **{name: v})
    yield "admin.export_markdown folder", lambda m, v: m.admin.export_markdown(v)
    for name in ("replace", "progress"):
        pages = lambda m, v, name=name: m.admin.export_markdown(Path(m.settings.home) / "copies" / "x", **{name: v})  # noqa: E731
        yield f"admin.export_markdown {name}", pages
    for name in ("budget_s", "progress"):
        yield f"admin.embed {name}", lambda m, v, name=name: m.admin.embed(**{name: v})
    yield "admin.ingest budget_s", lambda m, v: m.admin.ingest(budget_s=v)
    yield "admin.captured session", lambda m, v: m.admin.captured(v)
    for name in ("budget_s", "session", "progress", "everything"):
        yield f"learn {name}", lambda m, v, name=name: m.learn(**{name: v})
    for name in ("budget_s", "dry_run", "progress"):
        yield f"admin.relearn {name}", lambda m, v, name=name: m.admin.relearn(**{name: v})
    for name in ("mode", "phase", "budget_s", "dry_run", "progress", "if_due"):
        yield f"admin.consolidate {name}", lambda m, v, name=name: m.admin.consolidate(**{name: v})
    for name in ("confirm", "reject"):
        yield f"{name} id", lambda m, v, name=name: getattr(m, name)(v)
    yield "admin.review limit", lambda m, v: m.admin.review(limit=v)
    yield "admin.queue dead", lambda m, v: m.admin.queue(dead=v)
    yield "admin.spent since", lambda m, v: m.admin.spent(since=v)
    yield "admin.backup to", lambda m, v: m.admin.backup(v)
    yield "admin.backup nightly", lambda m, v: m.admin.backup(nightly=v)
    yield "admin.restore_backup name", lambda m, v: m.admin.restore_backup(v)
    yield "admin.restore_backup dry_run", lambda m, v: m.admin.restore_backup("none", dry_run=v)
    yield "admin.erase resume", lambda m, v: m.admin.erase("ffffffff", resume=v)
    yield "admin.pause until", lambda m, v: (m.admin.pause(v), m.admin.resume())
    yield "admin.check depth", lambda m, v: m.admin.check(v)
    yield "admin.check progress", lambda m, v: m.admin.check("quick", progress=v)
    yield from calls_of_sessions()
    for operator in "eq ne gt gte lt lte in nin contains icontains exists".split():
        for field in ("content", "importance", "said_at", "tags", "kind", "metadata.a"):
            yield f"where {field} {operator}", lambda m, v, f=field, o=operator: m.get_all(where={f: {o: v}})
    for group in ("AND", "OR", "NOT"):
        yield f"where {group}", lambda m, v, group=group: m.get_all(where={group: v})
    for name in (
        "home",
        "scope",
        "clock",
        "embedder",
        "chat",
        "background",
        "owner",
        "reads",
        "names",
        "limit",
        "language",
        "agent",
        "project",
        "actor",
        "durability",
        "busy_timeout_s",
        "colour",
    ):
        yield f"Memory {name}", lambda m, v, name=name: Memory(**{"home": m.settings.home + "/new", name: v}).close()


def calls_of_sessions() -> Iterator[tuple[str, object]]:
    """The same of the drawer for running conversations."""
    messages = [GOOD_TURN]
    yield "sessions.compressing messages", lambda m, v: m.sessions.compressing(v, session="s")
    yield "sessions.compressing message", lambda m, v: m.sessions.compressing([GOOD_TURN, v], session="s")
    yield "sessions.compressing content", lambda m, v: m.sessions.compressing([{"role": "user", "content": v}], session="s")
    for name in ("role", "content", "tool_calls", "tool_results", "external_id", "metadata", "colour"):
        yield f"sessions.compressing {name}", lambda m, v, n=name: m.sessions.compressing([{**GOOD_TURN, n: v}], session="s")
    for name in ("session", "summary"):
        yield (
            f"sessions.compressing {name}",
            lambda m, v, n=name: m.sessions.compressing(messages, **{"session": "s", n: v}),
        )
    for name in ("session", "budget_s"):
        yield f"sessions.end {name}", lambda m, v, n=name: m.sessions.end(**{"session": "s", n: v})
    yield "sessions.get session", lambda m, v: m.sessions.get(v)
    for name in ("session", "limit", "after", "last"):
        yield f"sessions.messages {name}", lambda m, v, n=name: m.sessions.messages(**{"session": "s", n: v})
    yield "sessions.get_all limit", lambda m, v: m.sessions.get_all(limit=v)
    for name in ("session", "task", "variables"):
        yield f"sessions.set {name}", lambda m, v, n=name: m.sessions.set(**{"session": "s", n: v})
    for name in ("session", "since", "until", "limit"):
        yield f"sessions.episodes {name}", lambda m, v, n=name: m.sessions.episodes(**{n: v})
    yield "sessions.scratchpad user", lambda m, v: m.sessions.scratchpad(v)
    for name in ("add_open_questions", "settle_open_questions", "add_next_steps", "settle_next_steps", "user"):
        yield f"sessions.patch_scratchpad {name}", lambda m, v, n=name: m.sessions.patch_scratchpad(**{n: v})
    for name in ("text", "user"):
        yield f"sessions.edit_scratchpad {name}", lambda m, v, n=name: m.sessions.edit_scratchpad(**{"text": "早", n: v})
    for name in ("force", "progress", "stopped"):
        yield f"notes.sync {name}", lambda m, v, n=name: m.notes.sync(**{n: v})
    yield "notes.publish keep", lambda m, v: m.notes.publish(keep=v)
    for name in ("id", "before", "after"):
        yield f"notes.edited {name}", lambda m, v, n=name: m.notes.edited(**{"id": m.target, "before": "a", "after": "b", n: v})
    yield "notes.index_document path", lambda m, v: m.notes.index_document(v)
    yield "notes.index_document update", lambda m, v: m.notes.index_document(__file__, update=v)
    yield "notes.index_document dry_run", lambda m, v: m.notes.index_document(__file__, update=True, dry_run=v)
    yield "notes.index_document progress", lambda m, v: m.notes.index_document(__file__, update=True, progress=v)
    yield "notes.index_skill path", lambda m, v: m.notes.index_skill(v)
    for name in ("text", "metadata", "said_at"):
        yield f"notes.append_daily {name}", lambda m, v, n=name: m.notes.append_daily(**{"text": "早", n: v})
    for name in ("text", "topic", "summary"):
        yield f"notes.promote {name}", lambda m, v, n=name: m.notes.promote(**{"text": "早", n: v})
    for name in ("older_than", "strategy", "dry_run"):
        yield f"notes.compact {name}", lambda m, v, n=name: m.notes.compact(**{n: v})
    yield "notes.watch tell", lambda m, v: m.notes.watch(v, stopped=lambda: True)
    yield "notes.watch stopped", lambda m, v: m.notes.watch(stopped=(lambda: True) if v is None or callable(v) else v)
    for name in ("message session max_tokens auto_recall persona runtime session_rules catalogs tools user").split():
        yield f"prompts.build {name}", lambda m, v, n=name: m.prompts.build(**{"message": "早", n: v})
    for name in ("session", "prompt", "project", "restarted", "count"):
        yield f"prompts.inject {name}", lambda m, v, n=name: m.prompts.inject(**{"session": "s", "prompt": "早", n: v})
    yield "prompts.compressed session", lambda m, v: m.prompts.compressed(v)
    for name in ("strategy", "force"):
        yield f"prompts.compile {name}", lambda m, v, n=name: m.prompts.compile(**{n: v})
    yield "sessions.to_markdown item", lambda m, v: m.sessions.to_markdown(v)
    yield "sessions.to_markdown language", lambda m, v: m.sessions.to_markdown(m.sessions.scratchpad(), v)
    for name in (
        "place session keep turn direction filename original_filename mime_type url description transcription extracted_text tags colour"
    ).split():
        yield f"sessions.attach {name}", lambda m, v, n=name: m.sessions.attach(**{"place": "早.png", "session": "s", n: v})
    for name in ("id", "description", "tags", "colour"):
        yield f"sessions.describe {name}", lambda m, v, n=name: m.sessions.describe(**{"id": m.attached, n: v})
    for name in ("session", "limit"):
        yield f"sessions.attachments {name}", lambda m, v, n=name: m.sessions.attachments(**{n: v})
    yield "sessions.content id", lambda m, v: m.sessions.content(v)


CALLS = dict(calls())


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A small memory that no bad call may change; it knows a good id."""

    class Target(Memory):
        target = attached = ""

    now = datetime.fromisoformat("2026-03-01T09:00:00+01:00")
    folder = tmp_path_factory.mktemp("bad")
    with (
        pytest.MonkeyPatch.context() as patch,
        Target(folder / "home", owner="user:mei", names=["Mei"], clock=lambda: now) as memory,
    ):
        (deep_down := folder / "a/b/c/d").mkdir(parents=True)
        patch.chdir(deep_down)  # a relative path may be a good one
        patch.setenv("HOME", str(folder))  # and without one there is the default
        memory.record_turn("user", "I live in Bergen", session="s", tool_calls=[{"name": "look"}])
        memory.attached = memory.sessions.attach("a.png", session="s").id
        memory.target = memory.remember("I live in Oslo", tags=["家"], entities=["Ann"]).memory.id
        yield memory


class Watch:
    """Sees every commit by anybody else, and every file that comes or goes."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.connection = apsw.Connection(str(home / "yiku.db"), flags=apsw.SQLITE_OPEN_READONLY)

    def state(self) -> tuple[object, ...]:
        """SQLite's count of others' commits, and the names of all files but its own and locks, which are empty."""
        files = [n for _, _, names in os.walk(self.home) for n in names if not n.startswith("yiku.db") and not n.endswith(".lock")]
        return self.connection.pragma("data_version"), sorted(files)


@pytest.fixture(scope="module")
def watch(target: Memory) -> Iterator[Watch]:
    watch = Watch(Path(target.settings.home))
    yield watch
    watch.connection.close()


def test_every_argument_of_every_verb_is_tried() -> None:
    """What is added to a verb comes into the table above."""
    skipped = {"self", "details", "settings", "create"}
    wanted = {
        f"{prefix}{name} {argument}"
        for owner, prefix in ((Memory, ""), (Admin, "admin."), (Sessions, "sessions."), (Notes, "notes."), (Prompts, "prompts."))
        for name, verb in vars(owner).items()
        if inspect.isfunction(verb) and not name.startswith("_")
        for argument in inspect.signature(verb).parameters
        if argument not in skipped
    }

    assert wanted
    assert set() == wanted - {*CALLS}


@pytest.mark.parametrize("call", CALLS)
def test_a_bad_value_is_refused_and_nothing_is_written(target: Memory, watch: Watch, call: str, some: Choice) -> None:
    """For some of sixty values, in the soak for each: ours and soon, or allowed; and an error leaves everything as it was."""
    assert [] == taken_wrongly(target, watch, call, some)


def taken_wrongly(target: Memory, watch: Watch, call: str, choose: Choice) -> list[str]:
    """Give values to one argument; what went wrong."""
    wrong = []
    for name, value in choose([*BAD.items()], 5):
        if call.endswith(" progress") and callable(value):
            continue  # a callable is what is wanted, and what it raises is its caller's
        before, start = watch.state(), time.process_time()
        try:
            CALLS[call](target, value)
        except YikuError as error:
            message = str(error)
            if error.advice not in message or len(message) > 1_500:
                wrong.append(f"{name}: a message that does not help: {message[:200]}")
            if before != watch.state():
                wrong.append(f"{name}: refused, but something was written")
        except Exception as error:  # that none comes is what we test
            wrong.append(f"{name}: {type(error).__name__}: {str(error)[:100]}")
        if (took := time.process_time() - start) > SOON_S:
            wrong.append(f"{name}: took {took:.1f} s")
    return wrong


def test_a_refused_call_makes_no_scope(target: Memory, watch: Watch) -> None:
    """In a scope to which nothing was ever written, bad input leaves it so."""
    before = watch.state()
    with Memory(target.settings.home, scope="team:new") as fresh:
        fresh.target, fresh.attached = target.target, target.attached
        for name, call in CALLS.items():
            if not name.startswith("Memory "):
                with pytest.raises(YikuError):
                    call(fresh, b"bytes")

    assert before == watch.state()


# ------------------------------------------------------------------ what comes in one by one


def failing(*items: object) -> Iterator[object]:
    yield from items
    raise ZeroDivisionError


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.record(failing(GOOD_TURN, GOOD_TURN)),
        lambda m: m.remember("香蕉很好吃", tags=failing("a")),
        lambda m: m.remember("香蕉很好吃", entities=failing("a")),
        lambda m: m.update(m.target, tags=failing("a")),
    ],
    ids=["record", "tags", "entities", "update"],
)
def test_what_a_caller_s_generator_raises_is_the_caller_s(target: Memory, watch: Watch, call: Callable[[Memory], object]) -> None:
    """His own error reaches him as it is, and of what came before it nothing was written."""
    before = watch.state()
    with pytest.raises(ZeroDivisionError):
        call(target)

    assert before == watch.state()


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.record(repeat(GOOD_TURN)),
        lambda m: m.remember("香蕉很好吃", tags=repeat("a")),
        lambda m: m.remember("香蕉很好吃", entities=map(str, count())),
        lambda m: m.recall("香蕉", types=repeat("turn")),
    ],
    ids=["record", "tags", "entities", "types"],
)
def test_what_never_ends_is_refused(target: Memory, watch: Watch, call: Callable[[Memory], object]) -> None:
    """A list without an end is over the limit, and found out in time."""
    before, start = watch.state(), time.process_time()
    with pytest.raises(InvalidInput):
        call(target)

    assert time.process_time() - start < SOON_S
    assert before == watch.state()


class Word(str):
    """Text of another class."""

    __slots__ = ()


def test_subclasses_of_text_and_objects_are_what_they_hold(target: Memory) -> None:
    """They are taken as text and objects, and come back as plain ones."""
    turn = target.record_turn(Word("user"), Word("早安"), session=Word("s2"), metadata=OrderedDict(a=Word("b")))
    read = target.get(Word(turn.id))

    assert ("早安", "s2", {"a": "b"}) == (read.content, read.session, read.metadata)
    assert [str, str, dict] == [type(value) for value in (read.content, read.session, read.metadata)]


def test_bad_records_of_an_import_are_reported_and_the_rest_goes_on(tmp_path: Path) -> None:
    """Each bad value in the place of a record, a turn or its details is one problem; the good ones between are kept."""
    values = [value for name, value in BAD.items() if name not in ("100 MB", "list of 100 MB")]
    records = []
    for value in values:
        records += [value, TurnRecord(len(records), value), TurnRecord(len(records), {**GOOD_TURN, "said_at": value or 5})]
        records += [MemoryRecord(len(records), value, {}), MemoryRecord(len(records), "香蕉", value)]
        records.append(
            TurnRecord(len(records), {"role": "user", "content": f"good {len(records)}", "external_id": str(len(records))})
        )
    with Memory(tmp_path / "home", owner="user:mei") as memory:
        dry = memory.admin.import_(records, source="x", dry_run=True)
        report = memory.admin.import_(records, source="x")

        assert len(records) == report.records == report.turns + report.memories + len(report.problems) + report.known
        assert (dry.turns, dry.memories, len(dry.problems)) == (report.turns, report.memories, len(report.problems))
        assert len(values) <= report.turns <= 2 * len(values)
        assert len(values) == sum(turn.content.startswith("good") for turn in memory.search_traces(limit=1_000))
