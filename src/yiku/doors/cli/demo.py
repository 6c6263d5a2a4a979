"""
The verb `demo`: a conversation is recorded turn by turn, then asked about, and each answer is checked.

The material lies in demo/: 86 turns in six sessions, in English and Chinese, the statements that are kept
on the way, and the questions with what their answers must hold. The home that it makes stays, to be tried.
"""

from __future__ import annotations

import json
import shlex
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from yiku.doors.cli import say, shapes
from yiku.doors.cli.call import Call
from yiku.errors import InvalidInput
from yiku.types import Hit, Outcome, Replaced, SemanticMemory, Turn

if TYPE_CHECKING:
    from yiku.memory import Memory

MATERIAL = Path(__file__).with_name("demo")
OWNER, NAMES = "user:mei", ["Mei"]
SIGN = "# Made by `yiku demo`, which may make it anew."
OURS = frozenset(  # what a home made here holds
    "yiku.toml yiku.db yiku.db-wal yiku.db-shm store.id key reserve erased blobs locks backups damaged".split()
)
WIDTH = 80  # cells, where the terminal does not say


@dataclass(slots=True)
class Asked:
    """A question of the demonstration, with its answer."""

    question: Mapping[str, Any]
    hits: tuple[Hit, ...]
    milliseconds: float

    @property
    def right(self) -> bool:
        """Whether the first hits hold all that is expected, and the first nothing that is outdated."""
        text = "\n".join(hit.text for hit in self.hits)
        outdated = self.question.get("not_first")
        return all(part in text for part in self.question["expect"]) and not (outdated and outdated in self.hits[0].text)


@dataclass(slots=True)
class Shown:
    """All that happened, to be told afterwards."""

    home: Path
    turns: list[Turn] = field(default_factory=list)
    turn_ms: list[float] = field(default_factory=list)
    kept: list[tuple[str, Outcome]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    history: list[SemanticMemory] = field(default_factory=list)
    glimpse: list[tuple[str, str]] = field(default_factory=list)


def demo(call: Call) -> None:
    """
    Record a conversation, ask about it, and leave the home to try.

    It makes a fresh home: in --home FOLDER, or in a temporary folder that is named at the end.
    """
    if call.scope is not None:
        raise InvalidInput("demo makes a home of its own and takes no --scope")
    shown = Shown(_fresh(call.home))
    from yiku.memory import Memory

    with Memory(shown.home, scope=OWNER, owner=OWNER, names=NAMES) as memory:
        _record(memory, shown)
        _ask(memory, shown)
        shown.history = memory.history(memory.recall("Where do I live?", types=["memory"])[0].id)
        _glimpse(memory, shown)
    call.answer(_data(shown), _told(shown))
    if not all(asked.right for asked in shown.asked):
        raise typer.Exit(1)


# ------------------------------------------------------------------ what is done


def _fresh(given: str | None) -> Path:
    """An empty home that knows its owner and her name. One that somebody else made, or put something in, is left alone."""
    home = Path(given).expanduser().absolute() if given else Path(tempfile.mkdtemp(prefix="yiku-demo-"))
    settings = home / "yiku.toml"
    if home.exists() and not home.is_dir():
        raise InvalidInput(f"{home} is a file, not a folder")
    held = {entry.name for entry in home.iterdir()} if home.exists() else set()
    if held:
        made_here = settings.is_file() and settings.read_text(encoding="utf-8", errors="replace").startswith(SIGN)
        if not made_here or held - OURS:
            raise InvalidInput(f"{home} holds something already; name an empty folder, or none")
        shutil.rmtree(home)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    settings.write_text(f"{SIGN}\nowner = {json.dumps(OWNER)}\nnames = {json.dumps(NAMES)}\n", encoding="utf-8")
    settings.chmod(0o600)
    return home


def _material(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (MATERIAL / name).read_text(encoding="utf-8").splitlines()]


def _record(memory: Memory, shown: Shown) -> None:
    """Each turn as it was said, at its time; the statements at their places."""
    statements: dict[int, dict[str, Any]] = {entry.pop("after_turn"): entry for entry in _material("remember.jsonl")}
    for place, draft in enumerate(_material("conversation.jsonl")):
        started = time.perf_counter()
        turn = memory.record_turn(**draft)
        shown.turn_ms.append((time.perf_counter() - started) * 1000)
        shown.turns.append(turn)
        if place in statements:
            shown.kept.append((turn.session, memory.remember(source=turn.id, **statements[place])))


def _ask(memory: Memory, shown: Shown) -> None:
    memory.recall("Yiku")  # what is loaded once is not the first question's time
    for question in _material("questions.jsonl"):
        started = time.perf_counter()
        hits = memory.recall(question["question"])
        milliseconds = (time.perf_counter() - started) * 1000
        shown.asked.append(Asked(question, tuple(hits[: question["within"]]), milliseconds))


def _glimpse(memory: Memory, shown: Shown) -> None:
    """A slip is taken back; what is forgotten comes back. The home is as it was afterwards."""

    def now(question: str) -> str:
        return memory.recall(question, limit=1, types=["memory"]).text or "nothing"

    slip = memory.remember("I live in Trondheim.")
    shown.glimpse.append(('yiku remember "I live in Trondheim."', now("Where do I live?")))
    memory.admin.undo(slip.operation)
    shown.glimpse.append((f"yiku undo {slip.operation}", now("Where do I live?")))
    allergy = memory.recall("我对什么药过敏？", limit=1, types=["memory"])[0]
    memory.forget(allergy.id)
    shown.glimpse.append((f"yiku forget {allergy.id[-8:]}", now("青霉素")))
    memory.restore(allergy.id)
    shown.glimpse.append((f"yiku restore {allergy.id[-8:]}", now("青霉素")))


# ------------------------------------------------------------------ what is told


def _told(shown: Shown) -> Iterator[str]:
    yield say.paint("Yiku 忆库: a conversation is recorded, then asked about", "bold")
    yield from _heading("What was said, and what was kept of it")
    yield from _sessions(shown)
    yield from _heading(f"{len(shown.asked)} questions")
    for number, asked in enumerate(shown.asked, 1):
        yield from _answer(number, asked)
    yield from _heading("The history of a corrected fact")
    for version in shown.history:
        until = say.day(version.valid_to) if version.valid_to else "now       "
        by = next((say.flat(other.content) for other in shown.history if other.id == version.superseded_by), None)
        tail = f"replaced by «{by}»" if by else "what is said now"
        yield f"  {say.day(version.valid_from)} to {until}  {say.padded(say.flat(version.content), 22)}{say.paint(tail, 'dim')}"
    yield from _heading("Nothing is lost")
    yield from (f"  {say.padded(command, 44)}→ {answer}" for command, answer in shown.glimpse)
    yield from _totals(shown)


def _heading(text: str) -> Iterator[str]:
    yield ""
    yield say.paint(text, "bold")


def _sessions(shown: Shown) -> Iterator[str]:
    limit = say.width() or WIDTH
    for session in dict.fromkeys(turn.session for turn in shown.turns):
        said = [turn for turn in shown.turns if turn.session == session]
        yield f"  {session:<22}{say.paint(say.plural(len(said), 'turn'), 'dim')}"
        for place, outcome in shown.kept:
            if place == session:
                old = f" (was {outcome.replaced.object})" if isinstance(outcome, Replaced) else ""
                line = f"{type(outcome).__name__.lower():<10}{say.flat(outcome.memory.content)}"
                yield f"    {line}{say.paint(say.cut(old, max(8, limit - 4 - say.cells(line))), 'dim')}"


def _answer(number: int, asked: Asked) -> Iterator[str]:
    limit = say.width() or WIDTH
    mark = say.paint("✓", "green") if asked.right else say.paint("✗", "red")
    yield f"{number:>2} {mark} {say.paint(asked.question['question'], 'bold')}"
    missing = set(asked.question["expect"])
    for place, hit in enumerate(asked.hits):
        yield from (f"     {line}" for line in say.wrapped(say.flat(hit.text), limit - 5, lines=2 if asked.right else 4))
        source = hit.sources[-1] if hit.sources else None
        who = (source.speaker or hit.item.origin.value) if source else hit.item.origin.value
        parts = [hit.type, who, source.session if source and source.session else "", say.when(hit.said_at)]
        parts += [f"{asked.milliseconds:.1f} ms"] if place == 0 else []
        yield f"     {say.paint(' · '.join(filter(None, parts)), 'dim')}"
        missing -= {part for part in missing if part in hit.text}
        if not missing and asked.right:
            break
    if not asked.right:
        yield f"     {say.paint('expected: ' + ', '.join(asked.question['expect']), 'red')}"


def _totals(shown: Shown) -> Iterator[str]:
    right = sum(asked.right for asked in shown.asked)
    recalls = [asked.milliseconds for asked in shown.asked]
    yield from _heading("In all")
    answers = say.paint(f"{right} of {len(shown.asked)} answers right", "green" if right == len(shown.asked) else "red")
    yield f"  {answers}, {statistics.median(recalls):.1f} ms an answer (median; slowest {max(recalls):.1f})"
    yield f"  {len(shown.turns)} turns recorded, each on the disk in {statistics.median(shown.turn_ms):.1f} ms (median)"
    yield f"  {len(shown.kept)} statements kept, {sum(isinstance(done, Replaced) for _, done in shown.kept)} of them corrections"
    yield f"  the home stays in {shown.home}"
    yield from _heading("Now you")
    yield from (f"  {line}" for line in _next(shown.home))


def _next(home: Path) -> list[str]:
    """Commands that work on this home as they stand."""
    yiku, at = _program(), f"--home {shlex.quote(_near(home))}"
    return [
        f'{yiku} recall "where did I live before Oslo?" {at}',
        f"{yiku} recall 妈妈坐哪趟航班来？ {at}",
        f'{yiku} history "Lantern deadline" {at}',
        f'{yiku} explain "what do I like?" {at}',
        f"{yiku} traces pytest {at}",
        f"{yiku} list {at}",
    ]


def _program() -> str:
    """How this program was called, so that it can be called again."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m yiku"
    found = shutil.which("yiku")
    return "yiku" if found and Path(found).samefile(called) else shlex.quote(_near(called))


def _near(path: Path) -> str:
    """The path as seen from here, when it lies below."""
    absolute, here = path.absolute(), Path.cwd()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) and absolute != here else str(absolute)


def _data(shown: Shown) -> dict[str, Any]:
    questions = [
        {
            "question": asked.question["question"],
            "right": asked.right,
            "expected": asked.question["expect"],
            "milliseconds": round(asked.milliseconds, 2),
            "hits": [shapes.hit(hit) for hit in asked.hits],
        }
        for asked in shown.asked
    ]
    return {
        "home": str(shown.home),
        "turns": len(shown.turns),
        "turn_ms": round(statistics.median(shown.turn_ms), 2),
        "statements": len(shown.kept),
        "right": sum(asked.right for asked in shown.asked),
        "questions": questions,
        "history": [shapes.item(version) for version in shown.history],
        "next": _next(shown.home),
    }
