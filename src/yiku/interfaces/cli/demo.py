"""
The verb `demo`: a conversation is recorded turn by turn and learned from, then asked about, and each answer is checked.

The material lies in demo/: 99 turns in seven sessions, in English and Chinese, the statements that an agent keeps on the
way with `remember`, and the questions with what their answers must hold. Everything else is learned from what Mei says.
On the way she changes her mind, makes a joke and takes it back, a context grows too long and is compressed, and each session
ends as an episode. Where a model is set, it reads the conversation too. The home that it makes stays, to be tried.
"""

from __future__ import annotations

import json
import shlex
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from yiku.errors import InvalidInput
from yiku.interfaces.cli import say, shapes
from yiku.interfaces.cli.call import Call
from yiku.types import Compressed, Episode, Hit, LearnReport, SemanticMemory, State, Turn

if TYPE_CHECKING:
    from yiku.memory import Memory

MATERIAL = Path(__file__).with_name("demo")
OWNER, NAMES = "user:mei", ["Mei"]
SIGN = "# Made by `yiku demo`, which may make it anew."
OURS = frozenset(  # what a home made here holds
    "yiku.toml yiku.db yiku.db-wal yiku.db-shm store.id key reserve erased blobs locks backups damaged".split()
)
WIDTH = 80  # cells, where the terminal does not say
LONG = "2026-03-26-deskew"  # the session whose context grows too long,
LEAVES = slice(0, 10)  # and what leaves it then
STORY = "2026-05-18-export"  # the session whose episode is shown
QUESTION, STEP = "图书馆那边有没有投影仪？", "Buy curtains by 19 June"  # what is left open
MODEL_S = 120.0  # for a model, where one is set


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


@dataclass(frozen=True, slots=True)
class Kept:
    """A statement that came out of a session, and what it took the place of."""

    session: str
    memory: SemanticMemory
    instead: SemanticMemory | None

    @property
    def word(self) -> str:
        """How it came to be known, or that it is no more."""
        if self.memory.state is State.ARCHIVED:
            return "taken back"
        return "told" if self.memory.method == "told" else "learned"


@dataclass(slots=True)
class Shown:
    """All that happened, to be told afterwards."""

    home: Path
    turns: list[Turn] = field(default_factory=list)
    turn_ms: list[float] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    compressed: Compressed | None = None
    story: Episode | None = None
    markdown: dict[str, str] = field(default_factory=dict)
    learned: LearnReport | None = None
    asked: list[Asked] = field(default_factory=list)
    history: list[SemanticMemory] = field(default_factory=list)
    glimpse: list[tuple[str, str]] = field(default_factory=list)


def demo(call: Call) -> None:
    """
    Try it: a conversation is recorded, then asked about.

    It makes a new home for you to try: in --home FOLDER, or in a temporary folder named at the end.
    """
    if call.scope is not None:
        raise InvalidInput("demo makes a home of its own and takes no --scope")
    shown = Shown(_fresh(call.home))
    from yiku.memory import Memory

    with Memory(shown.home, scope=OWNER, owner=OWNER, names=NAMES, learn="at_once") as memory:
        _converse(memory, shown)
        if memory.settings.chat_url:
            call.note(f"{memory.settings.chat_model} reads what was said; this takes a while …")
            shown.learned = memory.learn(budget_s=MODEL_S, everything=True)
        _look(memory, shown)
        _ask(memory, shown)
        shown.history = memory.history(memory.recall("Where do I live?", types=["memory"])[0].id)
        _glimpse(memory, shown)
    call.answer(_data(shown), _told(shown), wanted=True)
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


def _converse(memory: Memory, shown: Shown) -> None:
    """Each turn as it was said, at its time, and what an agent keeps; each session ends when it is over."""
    statements: dict[int, dict[str, Any]] = {entry.pop("after_turn"): entry for entry in _material("remember.jsonl")}
    drafts = _material("conversation.jsonl")
    for place, draft in enumerate(drafts):
        started = time.perf_counter()
        turn = memory.record_turn(**draft)
        shown.turn_ms.append((time.perf_counter() - started) * 1000)
        shown.turns.append(turn)
        if place in statements:
            memory.remember(source=turn.id, **statements[place])
        if place + 1 == len(drafts) or drafts[place + 1]["session"] != turn.session:
            if turn.session == LONG:
                messages = [one for one in drafts if one["session"] == LONG][LEAVES]
                shown.compressed = memory.sessions.compressing(messages, session=LONG)
            memory.sessions.end(turn.session, budget_s=0)


def _look(memory: Memory, shown: Shown) -> None:
    """What came of it: statements by session, a story, the scratchpad."""
    among = {"state": ["active", "archived"], "kind": {"ne": "error"}}
    for one in reversed(memory.get_all(where=among, limit=1_000)):
        instead = [version for version in memory.history(one.id) if version.superseded_by == one.id]
        shown.kept.append(Kept(one.sources[0].session or "", one, instead[-1] if instead else None))
    shown.story = memory.sessions.episodes(session=STORY, limit=1)[0]
    memory.sessions.patch_scratchpad(add_open_questions=[QUESTION], add_next_steps=[STEP])
    shown.markdown = {
        "story": memory.sessions.to_markdown(shown.story),
        "scratchpad": memory.sessions.to_markdown(memory.sessions.scratchpad()),
    }


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
    yield say.paint("Yiku 忆库: a conversation is recorded, learned from, then asked about", "bold")
    yield from _heading("What was said, and what was learned from it")
    yield from _sessions(shown)
    yield from _model(shown)
    yield from _heading(f"{len(shown.asked)} questions")
    for number, asked in enumerate(shown.asked, 1):
        yield from _answer(number, asked)
    yield from _heading("A correction, and a joke that was taken back")
    yield from _versions(shown.history)
    yield from _heading("A context grew too long")
    yield from _compression(shown)
    yield from _heading("The story of a session")
    yield from _markdown(shown.markdown["story"])
    yield from _heading("The scratchpad: what she is at")
    yield from _markdown(shown.markdown["scratchpad"])
    yield from _heading("Nothing is lost")
    room = (say.width() or WIDTH) - 48
    yield from (f"  {say.padded(command, 44)}→ {say.cut(answer, room)}" for command, answer in shown.glimpse)
    yield from _totals(shown)


def _heading(text: str) -> Iterator[str]:
    yield ""
    yield say.paint(text, "bold")


def _sessions(shown: Shown) -> Iterator[str]:
    """By session: how many turns, what was learned from them, and what an agent told with `remember`."""
    limit = say.width() or WIDTH
    for session in dict.fromkeys(turn.session for turn in shown.turns):
        said = [turn for turn in shown.turns if turn.session == session]
        yield f"  {session:<22}{say.paint(say.plural(len(said), 'turn'), 'dim')}"
        for one in (kept for kept in shown.kept if kept.session == session):
            word = f"    {one.word:<12}"
            line = say.cut(say.flat(one.memory.content), limit - len(word))
            old = f" (was {one.instead.object})" if one.instead and one.instead.object else ""
            room = limit - len(word) - say.cells(line)
            styled = say.paint(word, {"learned": "green", "taken back": "yellow"}.get(one.word, "dim"))
            yield styled + line + (say.paint(old, "dim") if say.cells(old) <= room else "")


def _model(shown: Shown) -> Iterator[str]:
    """What a model added, where there is one."""
    done = shown.learned
    if done is None:
        yield say.paint("  by rules alone; with YIKU_CHAT_URL and YIKU_CHAT_MODEL a model reads it too", "dim")
        return
    found = ", ".join(f"{count:,} {name}" for name, count in done.outcomes.items()) or "nothing new"
    yield f"  {done.model}: {say.plural(done.jobs, 'question')} in {done.seconds:.0f} s, {found}; {done.waiting:,} wait"
    for trouble in done.troubles[:5]:
        yield say.paint(f"  ! {say.cut(say.flat(trouble), (say.width() or WIDTH) - 4)}", "yellow")


def _versions(history: list[SemanticMemory]) -> Iterator[str]:
    """The versions of one statement, each with what became of it."""
    limit = say.width() or WIDTH
    for version in history:
        archived = version.state is State.ARCHIVED
        until = say.day(version.valid_to) if version.valid_to else "-         " if archived else "now       "
        lead = f"  {say.day(version.valid_from)} to {until}  "
        tail = "taken back" if archived else "replaced" if version.superseded_by else "what holds now"
        body = say.padded(say.cut(say.flat(version.content), limit - len(lead) - 16), limit - len(lead) - 16)
        yield f"{lead}{body}  {say.paint(tail, 'dim')}"


def _compression(shown: Shown) -> Iterator[str]:
    done = shown.compressed
    if done is None or done.episode is None:
        return
    yield f"  {say.plural(done.recorded + done.known, 'message')} of {LONG} left it. Memory has them all, and tells:"
    yield from _markdown(done.episode.summary)


def _markdown(text: str) -> Iterator[str]:
    """A text of ours, without the blank lines between its sections."""
    for line in filter(None, text.splitlines()):
        yield from (f"  {part}" for part in say.wrapped(line, (say.width() or WIDTH) - 2))


def _answer(number: int, asked: Asked) -> Iterator[str]:
    limit = say.width() or WIDTH
    mark = say.paint("✓", "green") if asked.right else say.paint("✗", "red")
    yield f"{number:>2} {mark} {say.paint(asked.question['question'], 'bold')}"
    missing = set(asked.question["expect"])
    for place, hit in enumerate(asked.hits):
        yield from (f"     {line}" for line in say.wrapped(say.flat(hit.text), limit - 5, lines=2 if asked.right else 4))
        source = hit.sources[-1] if hit.sources else None
        who = (source.speaker or source.origin.value) if source else "user"
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
    counts = Counter(one.word for one in shown.kept)
    corrections = sum(one.instead is not None and one.word != "taken back" for one in shown.kept)
    told = ", ".join(f"{count} {word}" for word, count in counts.items())
    yield f"  {len(shown.kept)} statements: {told}; {say.plural(corrections, 'correction')}"
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
        f"{yiku} episodes {at}",
        f"{yiku} scratchpad {at}",
    ]


def _program() -> str:
    """How this program was called, so that it can be called again."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py" or not called.exists():
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
        "statements": [{"session": one.session, "word": one.word, "memory": shapes.item(one.memory)} for one in shown.kept],
        "compressed": shapes.plain(shown.compressed),
        "episode": shapes.plain(shown.story),
        "scratchpad": shown.markdown["scratchpad"],
        "model": shapes.plain(shown.learned),
        "right": sum(asked.right for asked in shown.asked),
        "questions": questions,
        "history": [shapes.item(version) for version in shown.history],
        "next": _next(shown.home),
    }
