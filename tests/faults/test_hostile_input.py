"""
R23: hostile input is stored exactly or refused with a typed error; nothing crashes, hangs or changes it.

Contents go through every verb that takes text, questions through every verb that answers. S21: what reads a
text takes ten times as long for ten times the text, not a hundred times.
"""

import hashlib
import importlib
import pkgutil
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import integrity
import pytest
from faults.hostile import CONTENTS, KEYS, QUERIES, STRUCTURES, UNITS
from sampling import Choice, drawn_for
from workers import clocked

import yiku
from yiku import Memory
from yiku.errors import TooLarge, YikuError
from yiku.interfaces import importers
from yiku.interfaces.importers import claude_code
from yiku.rules.deciding import conflict, retract, slots
from yiku.rules.finding import ask, pack
from yiku.rules.learning import importance
from yiku.rules.learning.drafts import drafts
from yiku.rules.privacy import fence, private, quoting, scopes
from yiku.rules.sessions import attachments, episodes, tasks
from yiku.rules.statements import keys
from yiku.rules.statements.read import read
from yiku.rules.text import analyze
from yiku.rules.text.lazy import Lazy
from yiku.types import MemoryRecord, Turn, TurnRecord

LONGEST_CALL_S = 1.0  # of CPU
LINEAR = 12.0  # times as long for ten times the text
NOISE_S = 0.003  # what takes less for 6,000 characters is fast enough, even if it were steep
_serial = count()


@contextmanager
def soon(what: str) -> Iterator[None]:
    """Whatever is done inside takes less than a second of CPU, with its result or its error."""
    start = time.process_time()
    try:
        yield
    finally:
        assert (took := time.process_time() - start) < LONGEST_CALL_S, f"{what} took {took:.1f} s"


# ------------------------------------------------------------------ what is kept


@dataclass(frozen=True)
class Way:
    """One way for a text into a memory: how it is put there, where it is read again, and what of it is meant to be kept."""

    name: str
    put: Callable[[Memory, str], Any]
    read: Callable[[Memory, Any], Any]
    kept: Callable[[str], Any] = str.strip


def whole(memory: Memory, turn: Any) -> str:
    turn = memory.get(turn.id)
    return memory.admin.blob(turn.blob) if turn.blob else turn.content


def given_back(memory: Memory, turn: Any) -> str:
    (result,) = memory.get(turn.id).tool_results
    return memory.admin.blob(result["blob"]) if "blob" in result else result["content"]


def target(memory: Memory) -> str:
    word = "".join(
        chr(ord("a") + int(digit)) for digit in str(next(_serial))
    )  # no number, in which two might contradict each other
    return memory.remember(f"The lantern{word} is here 在此").memory.id


def imported(memory: Memory, record: Any) -> str:
    id = f"import {next(_serial)}"
    record = (
        TurnRecord(1, {**record, "external_id": id}) if isinstance(record, dict) else MemoryRecord(1, record, {"external_id": id})
    )
    report = memory.admin.import_([record], source="x")
    if report.problems:
        raise YikuError(report.problems[0][1])
    return id


def said(memory: Memory, id: str, text: str) -> bool:
    """Whether a statement has these words, or somebody said the same in them."""
    found = memory.get(id)
    return text.strip() in (found.content, *(source.text for source in found.sources))


def turn(detail: str) -> Callable[[Memory, str], Any]:
    """A turn that carries the text in a detail."""
    return lambda memory, text: memory.record_turn("user", "早", **{detail: text})


WAYS = [
    Way("turn", lambda m, t: m.record_turn("user", t), whole, str),
    Way("turns", lambda m, t: m.record([{"role": "assistant", "content": t}]), lambda m, r: whole(m, m.get(r.ids[0])), str),
    *(
        Way(name, turn(name), lambda m, r, name=name: getattr(m.get(r.id), name))
        for name in ("session", "speaker", "external_id", "parent", "agent", "project", "actor")
    ),
    Way(
        "idempotency key",
        lambda m, t: (m.record_turn("user", t[:90] or "x", idempotency_key=t), t),
        lambda m, r: r[0].content,
        lambda t: t[:90] or "x",
    ),
    Way(
        "tool call",
        lambda m, t: m.record_turn("assistant", "", tool_calls=[{"name": t, "input": {t: [t]}}]),
        lambda m, r: m.get(r.id).tool_calls[0],
        lambda t: {"name": t, "input": {t: [t]}},
    ),
    Way("tool result", lambda m, t: m.record_turn("tool", "", tool_results=[{"content": t}]), given_back, str),
    Way("metadata", lambda m, t: m.record_turn("user", "早", metadata={"a": t}), lambda m, r: m.get(r.id).metadata["a"], str),
    Way(
        "metadata key",
        lambda m, t: m.remember(f"键 {next(_serial)}", metadata={t: 1}),
        lambda m, r: m.get(r.memory.id).metadata,
        lambda t: {t: 1},
    ),
    Way("statement", lambda m, t: (m.remember(t), t), lambda m, r: said(m, r[0].memory.id, r[1]), lambda t: True),
    Way("statement anew", lambda m, t: m.update(target(m), t), lambda m, r: m.get(r.id).content),
    Way("basis", lambda m, t: m.remember(f"因 {next(_serial)}", basis=t), lambda m, r: m.get(r.memory.id).basis, str),
    Way(
        "object",
        lambda m, t: m.remember(f"Thing {next(_serial)}", subject="x", predicate=f"p{next(_serial)}", object=t),
        lambda m, r: m.get(r.memory.id).object,
    ),
    Way(
        "predicate",
        lambda m, t: m.remember(f"Thing {next(_serial)}", predicate=t, object="o"),
        lambda m, r: bool(m.get(r.memory.id).predicate is not None),
        lambda t: True,
    ),
    Way("tag", lambda m, t: m.remember(f"Tagged {next(_serial)}", tags=[t]), lambda m, r: m.get(r.memory.id).tags[0]),
    Way(
        "entity",
        lambda m, t: (m.remember(f"About {next(_serial)}", entities=[t]), t),
        lambda m, r: r[0].memory.id in {found.id for found in m.about(r[1], limit=1000)},
        lambda t: True,
    ),
    Way(
        "relation",
        lambda m, t: m.remember(f"Related {next(_serial)}", relations=[(t, t, t)]),
        lambda m, r: m.get(r.memory.id).relations[0],
        lambda t: (t.strip(),) * 3,
    ),
    Way(
        "reason",
        lambda m, t: m.forget(target(m), reason=t),
        lambda m, r: m.get(r.memories[0].id).reason,
        lambda t: f"forgotten: {t}",
    ),
    Way(
        "imported turn",
        lambda m, t: imported(m, {"role": "user", "content": t}),
        lambda m, r: whole(m, next(x for x in m.search_traces(limit=1000) if x.external_id == r)),
        str,
    ),
    Way(
        "imported statement",
        lambda m, t: (imported(m, t), t),
        lambda m, r: any(said(m, v.id, r[1]) for x in m.get_all(limit=10_000) for v in m.history(x.id)),
        lambda t: True,
    ),
]


def carried(memory: Memory, way: Way, text: str) -> bool:
    """Whether a text was taken this way; then it came back exactly. If not, a typed error said so and nothing was written."""
    before, refused = last_change(memory), ""
    try:
        with soon(way.name):
            done = way.put(memory, text)
    except YikuError as error:
        refused = str(error)
    if refused:
        made = way.name in ("statement anew", "reason")  # what this is done to is made first
        assert last_change(memory) <= before + made, f"{way.name}: refused, but something was written"
        assert len(refused) < 1_500
        return False
    with soon(f"reading {way.name}"):
        found = way.read(memory, done)
    assert way.kept(text) == found, f"{way.name}: altered"
    return True


def last_change(memory: Memory) -> int:
    """The number of the last row of the journal."""
    return next((change.number for change in memory.admin.journal(limit=1)), 0)


def asked(memory: Memory, text: str, verbs: Iterable[str]) -> None:
    """Each of these verbs answers, or refuses with a typed error, and soon."""
    for name in verbs:
        with soon(name), suppress(YikuError):
            ASKING[name](memory, text)


ASKING: dict[str, Callable[[Memory, str], Any]] = {
    "recall": lambda m, t: m.recall(t),
    "explain": lambda m, t: m.explain(t, limit=3),
    "context": lambda m, t: m.context(t),
    "history": lambda m, t: m.history(t),
    "about": lambda m, t: m.about(t),
    "related": lambda m, t: m.related(subject=t),
    "get": lambda m, t: m.get(t),
    "blob": lambda m, t: m.admin.blob(t),
    "traces": lambda m, t: m.search_traces(t),
    "traces of": lambda m, t: m.search_traces(session=t, tool=t),
    "around": lambda m, t: m.timeline(around=t),
    "where equal": lambda m, t: m.get_all(where={"content": t}),
    "where among": lambda m, t: m.timeline(where={"OR": [{"tags": [t, "x"]}, {"NOT": {"speaker": {"ne": t}}}]}),
    "where any case": lambda m, t: m.get_all(where={"content": {"icontains": t}}),
    "where named": lambda m, t: m.recall("tea 茶", where={f"metadata.{t}": {"contains": t}}),
    "where a field": lambda m, t: m.get_all(where={t: t}),
    "where an operator": lambda m, t: m.get_all(where={"content": {t: t}}),
    "when": lambda m, t: m.get_all(as_of=t),
}


def fill(memory: Memory) -> Memory:
    """Something to find, and contents to scan."""
    memory.record_turn("user", "I like tea in Oslo. 我在奥斯陆喝茶。", session="s")
    memory.remember("I live in Oslo 奥斯陆", metadata={"a": "100%"}, tags=["茶"])
    memory.remember("a_b is 50% of 100%")
    memory.remember("axb is half of a hundred 茶")
    return memory


@pytest.fixture
def peopled(memory: Memory) -> Memory:
    return fill(memory)


@pytest.fixture(scope="module")
def questioned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The same, for those that only ask; when all have asked, it is whole, and nothing was written."""
    home = tmp_path_factory.mktemp("questioned") / "home"
    with clocked(home) as memory:
        last = last_change(fill(memory))
        yield memory
        assert last == last_change(memory)
    integrity.check(home / "yiku.db")


@pytest.mark.spec("S2-33")
@pytest.mark.parametrize("name", drawn_for("contents")([*CONTENTS], 21))
def test_R23_a_hostile_content_is_kept_exactly_or_refused(peopled: Memory, name: str, some: Choice) -> None:
    """On some ways into the memory (in the soak on all); afterwards questions are still answered, and the store is whole."""
    unstorable = any(character in CONTENTS[name] for character in ("\0", "\ud83d"))

    assert attacked(peopled, name, some) is not unstorable


def attacked(memory: Memory, name: str, choose: Choice) -> bool:
    """Send one content in on several ways, and ask for it; whether it was taken as a turn."""
    taken = {way.name: carried(memory, way, CONTENTS[name]) for way in (WAYS[0], *choose(WAYS[1:], 2))}
    asked(memory, CONTENTS[name], choose([*ASKING], 2))
    assert "Oslo" in memory.recall("where do I live?")[0].text
    return taken["turn"]


@pytest.mark.parametrize("name", STRUCTURES)
def test_R23_a_hostile_structure_is_kept_exactly_or_refused(peopled: Memory, name: str) -> None:
    """As metadata of a turn and of a statement, as what a tool was given and gave, and as a filter."""
    value = STRUCTURES[name]
    ways: dict[str, Callable[[], Any]] = {
        "metadata": lambda: peopled.get(peopled.record_turn("user", "早", metadata=value).id).metadata,
        "of a statement": lambda: peopled.get(peopled.remember("早安", metadata=value).memory.id).metadata,
        "tool call": lambda: peopled.get(peopled.record_turn("assistant", "", tool_calls=[value]).id).tool_calls[0],
        "tool result": lambda: peopled.get(peopled.record_turn("tool", "", tool_results=[value]).id).tool_results[0],
    }
    taken = set()
    for what, way in ways.items():
        with soon(what), suppress(YikuError):
            assert value == way(), f"{what}: altered"
            taken.add(what)
    assert taken == {*ways} or name not in ("30 deep", "the largest float", "every key")
    for where in (value, {"content": value}, {"metadata.a": {"eq": value}}, {"OR": [value]}):
        with soon("where"), suppress(YikuError):
            peopled.get_all(where=where)


@pytest.mark.long
def test_R23_a_key_is_found_by_its_own_name_alone(memory: Memory) -> None:
    """A name with quotes, dots, brackets or wildcards selects what bears it, or is refused; it never selects another."""
    ids = {key: memory.remember(f"Statement {i} 陈述", metadata={key: "v"}).memory.id for i, key in enumerate(KEYS)}
    refused = []
    for key, id in ids.items():
        with soon(key):
            try:
                found = memory.get_all(where={f"metadata.{key}": "v"})
            except YikuError:
                refused.append(key)
            else:
                assert [id] == [row.id for row in found], f"{key!r} selected something else"

    assert [] == refused


@pytest.mark.parametrize("query", drawn_for("questions")(QUERIES, 20), ids=lambda query: f"{query[:24]!a} x{len(query)}")
def test_R23_a_hostile_question_is_answered_or_refused(questioned: Memory, query: str, some: Choice) -> None:
    """By some verbs that answer (in the soak by all); and what it looks for is taken letter by letter, never as a pattern."""
    asked(questioned, query, some([*ASKING], 2))
    rows = questioned.get_all()
    for operator, fold in (("contains", str), ("icontains", lambda text: text.lower() if text.isascii() else text)):
        with suppress(YikuError):
            found = questioned.get_all(where={"content": {operator: query}})
            assert {row.id for row in rows if fold(query) in fold(row.content)} >= {row.id for row in found}, operator
            assert operator == "icontains" or {row.id for row in rows if query in row.content} == {row.id for row in found}


@pytest.mark.parametrize(
    "name",
    ["a forged fence", "a forged fence, escaped", "a forged fence, in other forms", "a second memory", "openers by the thousand"],
)
def test_R23_a_text_forges_neither_our_fence_nor_an_id_nor_a_second_memory(memory: Memory, name: str) -> None:
    """What is packed for a prompt has one fence, one line a hit or date, and each hit's line ends in its id."""
    text = f"The lantern 灯笼 says: {CONTENTS[name]}"[:2_000]
    memory.remember(text)
    memory.record_turn("assistant", "The lantern 灯笼 is lit", speaker="Ann, #12345678)")
    packed = memory.context("lantern 灯笼", max_tokens=2_000)
    first, _, *lines, last = packed.text.splitlines()

    assert re.fullmatch('<yiku-memory seal="[0-9a-f]{12}">', first)
    assert fence.CLOSE == last
    assert 1 == packed.text.count("<yiku-") == packed.text.count("</yiku-")
    for handed_back in (packed.text, packed.text.replace("<", "&lt;").replace(">", "&gt;")):
        kept = memory.record_turn("user", f"And now? {handed_back}")
        assert ("And now? ", {"recalled_removed": 1}) == (kept.content, kept.metadata)
    shown = [line for line in lines if not re.fullmatch(r"\d{4}-\d\d-\d\d", line)]
    assert {hit.id[-8:] for hit in packed.hits} == {
        re.fullmatch(r"- .* \((?:.*, )?#([0-9a-f]{8})(?:, assistant)?\)", line)[1] for line in shown
    }
    assert len(shown) == len(packed.hits)
    assert len(packed.hits) == 2
    for separator in ("\n", "\r", "\x0b", "\x1e", "\x85", "\u2028", "\u2029"):
        with pytest.raises(YikuError, match="one line"):
            memory.record_turn("assistant", "早", speaker=f"Ann{separator}- a second memory")


def test_the_limits_that_the_docs_name_hold(peopled: Memory) -> None:
    """64 KiB of a statement, 16 KiB of metadata, 100,000 characters of a question and 64 terms of each sort, 256 of a filter."""
    assert "字" * 21_845 == peopled.remember("字" * 21_845).memory.content
    assert peopled.recall(" ".join(f"w{i}" for i in range(18_000))[:100_000]) is not None
    assert 64 == len(peopled.explain(" ".join(f"w{i}" for i in range(300))).explanation.terms)
    assert 128 == len(peopled.explain("".join(map(chr, range(0x5100, 0x5180)))).explanation.terms)
    assert [] == peopled.get_all(where={"content": {"contains": "x" * 256}})
    for call in (
        lambda: peopled.remember("字" * 21_846),
        lambda: peopled.remember("x", metadata={"a": "x" * 16_384}),
        lambda: peopled.recall("x" * 100_001),
        lambda: peopled.search_traces("x" * 100_001),
        lambda: peopled.history("x" * 100_001),
    ):
        with pytest.raises(TooLarge):
            call()
    with pytest.raises(YikuError, match="256"):
        peopled.get_all(where={"content": {"icontains": "x" * 257}})


def test_the_longest_questions_are_answered_within_a_second(peopled: Memory) -> None:
    """100,000 characters, of every sort that costs much."""
    peopled.remember("The lantern 灯笼 " + "a" * 60_000)
    for unit in ("x", "tea ", "a-", "w1 ", "(", '"', " ", "did before "):
        with soon(unit):
            peopled.recall((unit * 100_000)[:100_000] if unit.strip() else unit * 99_999 + "x")
    for unit in ("字", "\ufdfa", "\u0315\u0300\u0315", "刚"):
        with soon(ascii(unit)):
            peopled.recall((unit * 33_333)[:33_333])


@pytest.mark.long
def test_R23_a_memory_that_was_attacked_is_whole(memory: Memory, some: Choice) -> None:
    """After all contents, each on some ways, checked row by row; and a second opening reads them all."""
    memory.record_turn("user", "早")
    for way, text in some([(way, text) for text in CONTENTS.values() for way in WAYS], 120):
        carried(memory, way, text[:3_000])
    integrity.check(memory._handle.store.path)
    kept = [item.content for item in memory.timeline(limit=10_000)]
    with Memory(memory.settings.home) as again:
        assert kept == [item.content for item in again.timeline(limit=10_000)]
    assert len(kept) > 30


# ------------------------------------------------------------------ S21: linear scanners


def best_of(call: Callable[[], object], times: int = 5) -> float:
    """The least CPU of several runs; one is enough when it is next to nothing."""
    took: list[float] = []
    while len(took) < times and min(took, default=1.0) > NOISE_S:
        start = time.process_time()
        call()
        took.append(time.process_time() - start)
    return min(took)


def grows(scan: Callable[[str], object], unit: str, size: int = 6_000) -> float:
    """How many times as long a scanner takes for ten times the text; 0 when it is fast however long the text."""
    ratio = 0.0
    for around in ("{}", "x{}x", "茶 {}。"):
        texts = [around.format((unit * (n // len(unit) + 1))[:n]) for n in (size, size // 10)]
        for _ in range(3):  # a ratio that was an accident of the machine does not come again
            large, small = (best_of(lambda text=text: scan(text)) for text in texts)
            if large < NOISE_S or large <= LINEAR * small:
                break
        else:
            ratio = max(ratio, large / small)
    return ratio


SCANNERS: dict[str, Callable[[str], object]] = {
    "fold": analyze.fold,
    "plain": analyze.plain,
    "tokens": analyze.tokens,
    "question": analyze.question,
    "ask": ask.analyse,
    "ask at a time": lambda text: ask.analyse(text, (), datetime(2026, 3, 1, tzinfo=UTC)),
    "slot": slots.read,
    "slot stated": lambda text: slots.stated(text[:256], text[:256], text[:256], None),
    "subject": keys.subject_of,
    "hash": lambda text: conflict.text_hash(text, None),
    "fence": fence.strip_all,
    "fence, sealed": lambda text: fence.strip_ours(text, lambda inside: hashlib.blake2b(inside.encode()).digest()),
    "private": private.without,
    "quoted for a prompt": quoting.inert,
    "pack": lambda text: pack.cut(text, pack.CUT_TOKENS),
    "scope": lambda text: (scopes.is_valid(text), scopes.from_login(text)),
    "what was typed": lambda text: claude_code._without_wrapping(importers.unpacked([{"type": "text", "text": text}])),
    "what a tool gave": lambda text: claude_code._without_last_reminder(text, importers.Content()),
    "a line": lambda text: importers.parsed(1, text.encode(), cut_off=False),
}


@pytest.mark.parametrize("scanner", SCANNERS)
def test_S21_ten_times_the_text_takes_at_most_twelve_times_as_long(scanner: str, some: Choice) -> None:
    """Whatever it is made of: spaces, triggers, brackets, openers, digits, marks, half-matches in both languages."""
    too_steep = {unit: f"{ratio:.0f}x" for unit in some(UNITS, 8) if (ratio := grows(SCANNERS[scanner], unit)) > LINEAR}

    assert {} == too_steep


def test_S21_four_megabytes_of_reminders_are_taken_out_within_a_second() -> None:
    """What a tool gave may be long, and end in as many of them as fit."""
    kept = importers.Content()
    with soon("reminders"):
        text = claude_code._without_last_reminder("灯 " + "<system-reminder></system-reminder> " * 100_000, kept)
    assert ("灯", 100_000) == (text, len(kept.left_out))


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Every regular expression that a module of ours holds."""
    for info in pkgutil.walk_packages(yiku.__path__, "yiku."):
        if info.name != "yiku.__main__":
            for name, held in vars(importlib.import_module(info.name)).items():
                value = held.compiled() if isinstance(held, Lazy) else held
                if isinstance(value, re.Pattern):
                    yield f"{info.name}.{name}", value


def scanned(pattern: re.Pattern[Any], text: str, *, everywhere: bool) -> None:
    """Try a pattern at every place of a text, or of its bytes; or at its beginning only, if the code does no more."""
    given, nothing = (text, "") if isinstance(pattern.pattern, str) else (text.encode(), b"")
    if everywhere:
        pattern.sub(nothing, given)
    else:
        pattern.fullmatch(given)


# They see questions and statements of at most 300 characters, names of 256 and what folding makes of those.
SHORT_ONLY = {  # modules whose patterns see a question, a statement of at most 300 characters, or the beginning of a turn
    f"yiku.rules.{name}"
    for name in (
        "finding.ask deciding.slots values.when values.times values.time_words values.days values.holidays "
        "statements.keys values.canonical deciding.retract sessions.tasks sessions.episodes"
    ).split()
} | {"yiku.flows.keep.remember"}


@pytest.mark.long
def test_S21_every_pattern_of_the_code_is_linear_or_sees_short_texts_only(some: Choice) -> None:
    """Also those that come later: a pattern at the top of any module is tried with half-matches."""
    steep, tried = steep_patterns(some)

    assert tried > 2
    assert [] == steep


def steep_patterns(choose: Choice) -> tuple[list[str], int]:
    """The patterns that take too long, with what; and how many patterns there are."""
    found, code = dict(patterns()), "".join(path.read_text() for path in Path(yiku.__file__).parent.rglob("*.py"))
    scanning = {*re.findall(r"(\w+)\.(?:sub|subn|search|findall|finditer|split|scanner)\b", code)}
    steep = []
    for name, pattern in found.items():
        module, _, own = name.rpartition(".")
        scan = partial(scanned, pattern, everywhere=own in scanning)
        if module not in SHORT_ONLY:
            steep += [f"{name} with {unit!r}" for unit in choose(UNITS, 8) if grows(scan, unit) > LINEAR]
    assert len(scanning & {name.rpartition(".")[2] for name in found}) > 8
    return steep, len(found)


def test_S21_what_reads_statements_is_fast_for_the_longest(some: Choice) -> None:
    """300 characters, the longest that the patterns of slots see, of any two half-matches: no pattern runs away."""
    slowest = max(
        (best_of(lambda text=text: (slots.read(text), ask.analyse(text)), 1), text[:40])
        for first, second in some([(first, second) for first in UNITS for second in ("", "在", "to ")], 5)
        for text in (((first + second) * 300)[:300], f"我{(first + second) * 300}"[:300])
    )

    assert slowest[0] < 0.25, slowest


def test_S21_what_reads_whole_turns_is_fast_for_any(some: Choice) -> None:
    """A turn of 200,000 characters of any half-match: each rule looks at a bounded part of it."""
    at = datetime(2026, 3, 1, tzinfo=UTC)

    def turn(text: str) -> Turn:
        return Turn(id="1", session="s", role="user", content=text, said_at=at, recorded_at=at)

    readers: list[Callable[[str], object]] = [
        lambda text: drafts(text, said_at=at),
        read.__wrapped__,
        tasks.task,
        lambda text: tasks.switches("fix the login 修登录", text),
        lambda text: episodes.tell([turn(text)], id="e", now=at),
        lambda text: attachments.all_files([turn(text)]),
        importance.score,
        retract.marker,
    ]
    slowest = max(
        (best_of(lambda read=read, text=text: read(text), 1), place, text[:9])
        for text in some([(unit * 200_000)[:200_000] for unit in UNITS], 3)
        for place, read in enumerate(readers)
    )

    assert slowest[0] < 1.0, slowest


def test_what_is_remembered_of_words_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long words are met once, as hashes are, and many words are soon too many: they do not fill the memory of the process."""
    monkeypatch.setattr(analyze, "CACHED_WORDS", 500)
    for i in range(20):
        analyze.tokens(f"{i}-" * 5_000 + f"词 {i}é-" * 300 + " ".join(f"w{i}x{k}" for k in range(100)))

    assert max(map(len, analyze._WORDS)) <= analyze.TOKEN_CHARS
    assert 0 < len(analyze._WORDS) <= 500


def test_sorted_marks_fold_to_the_same() -> None:
    """Marks are put in order before Python does it; what comes out is what Python would have made."""
    import unicodedata

    for unit in UNITS:
        for text in (unit * 300, f"é{unit * 200}ａ", f"ｶ{unit * 70}\u0300\u0315{unit}"):
            assert unicodedata.normalize("NFKC", text) == analyze.normal(text), ascii(unit)
