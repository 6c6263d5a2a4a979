"""
The command `demo`: replay a sample conversation into a new data folder, check its answers, try edits and undo.

The material lies in demo/: 99 turns in seven sessions, in English and Chinese, the statements that an agent keeps on the
way with `remember`, and the questions with what their answers must hold. Everything else is learned from what Mei says.
On the way she changes her mind, makes a joke and takes it back, a context grows too long and is compressed, and each session
ends as an episode. Where a model is set, it reads the conversation too. Then MEMORY.md is published, and a line of it edited as
a person would. Last comes a night, whose report is shown and one of whose decisions is undone. The home stays, to be tried.
A person is shown two screens of it: the statements of demo/shown.jsonl and the questions marked as shown.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from yiku.errors import InvalidInput
from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call
from yiku.types import Compressed, Episode, Hit, LearnReport, RunReport, SemanticMemory, State, Turn

if TYPE_CHECKING:
    from yiku.memory import Memory

MATERIAL = Path(__file__).with_name("demo")
OWNER, NAMES = "user:mei", ["Mei"]
SIGN = "# Made by `yiku demo`, which may make it anew."
OURS = frozenset(  # what a home made here holds
    "yiku.toml yiku.db yiku.db-wal yiku.db-shm store.id key reserve erased blobs locks backups damaged"
    " .gitignore MEMORY.md USER.md memory documents skills transcripts reports identity inbox".split()
)
WIDTH = 80  # cells, where the terminal does not say
LONG = "2026-03-26-deskew"  # the session whose context grows too long,
LEAVES = slice(0, 10)  # and what leaves it then
STORY = "2026-05-18-export"  # the session whose episode is shown
QUESTION, STEP = "图书馆那边有没有投影仪？", "Buy curtains by 19 June"  # what is left open
PAGE, LINE, EDITED = "MEMORY.md", "I live in Oslo now.", "I live in Drammen now."  # what a person changes there
WHERE = "Where do I live?"
BRIEF, BRIEF_SAID, BRIEF_ENDS = "The lift is out of order until Sunday. 电梯停到周日。", "2026-05-20", "2026-05-25"
TELLING = ("merged", "replaced", "flagged", "archived")  # decisions that are shown before others
NIGHT_LINES = 3  # of its report
MODEL_S = 120.0  # for a model, where one is set


@dataclass(slots=True)
class Asked:
    """A question of the demonstration, with its answer."""

    question: Mapping[str, Any]
    hits: tuple[Hit, ...]
    milliseconds: float

    @property
    def right(self) -> bool:
        """Tell whether the first hits contain what is expected, and the first nothing outdated."""
        text = "\n".join(hit.text for hit in self.hits)
        outdated = self.question.get("not_first")
        return all(part in text for part in self.question["expect"]) and not (outdated and outdated in self.hits[0].text)


@dataclass(frozen=True, slots=True)
class Kept:
    """A statement learned in a session, and what it replaced."""

    session: str
    memory: SemanticMemory
    instead: SemanticMemory | None

    @property
    def word(self) -> str:
        """Return how it was learned, or that it is gone."""
        if self.memory.state is State.ARCHIVED:
            return "taken back"
        return "told" if self.memory.method == "told" else "learned"


@dataclass(slots=True)
class Shown:
    """Everything that happened, for printing."""

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
    page: list[str] = field(default_factory=list)
    edited: list[tuple[str, str]] = field(default_factory=list)
    night: RunReport | None = None
    undone: tuple[str, SemanticMemory] | None = None

    @property
    def right(self) -> bool:
        """Whether every answer is right, the edit changed one, and the undo brought its memory back."""
        edited = [answer for _, answer in self.edited] == [EDITED, LINE]
        return all(asked.right for asked in self.asked) and edited and self.undone is not None and self.undone[1].live


def demo(call: Call) -> None:
    """
    Try it: a conversation is recorded, then asked about.

    It makes a new home for you to try: in --home FOLDER, or in a temporary folder named at the end.
    """
    if call.scope is not None:
        raise InvalidInput("demo creates its own home and takes no --scope")
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
        _edit(memory, shown)
        _sleep(memory, shown)
    call.answer(_data(shown), _format_run(shown), wanted=True)
    if not shown.right:
        raise typer.Exit(1)


# ------------------------------------------------------------------ what is done


def _fresh(given: str | None) -> Path:
    """Return an empty home with an owner; a home in use is left alone."""
    home = Path(given).expanduser().absolute() if given else Path(tempfile.mkdtemp(prefix="yiku-demo-"))
    settings = home / "yiku.toml"
    if home.exists() and not home.is_dir():
        raise InvalidInput(f"{home} is a file, not a folder")
    entries = {entry.name for entry in home.iterdir()} if home.exists() else set()
    if entries:
        made_here = settings.is_file() and settings.read_text(encoding="utf-8", errors="replace").startswith(SIGN)
        if not made_here or entries - OURS:
            raise InvalidInput(f"{home} is not empty; name an empty folder, or none")
        shutil.rmtree(home)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    settings.write_text(f"{SIGN}\nowner = {json.dumps(OWNER)}\nnames = {json.dumps(NAMES)}\n", encoding="utf-8")
    settings.chmod(0o600)
    return home


def _material(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (MATERIAL / name).read_text(encoding="utf-8").splitlines()]


def _converse(memory: Memory, shown: Shown) -> None:
    """Record each turn at its time, and end each session."""
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
    """Collect statements by session, an episode, the scratchpad."""
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
    """Retract a slip; forget and restore a memory."""

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


def _edit(memory: Memory, shown: Shown) -> None:
    """Publish MEMORY.md, change a line of it as a person would, ask, and undo."""

    def answer() -> str:
        return memory.recall(WHERE, limit=1, types=["memory"]).text

    memory.notes.publish()
    page = shown.home / PAGE
    text = page.read_text(encoding="utf-8")
    shown.page = [line for line in text.splitlines() if line.startswith(("## ", "- "))]
    page.write_text(text.replace(LINE, EDITED), encoding="utf-8")
    operation = memory.notes.publish().operations[-1]
    shown.edited.append(("yiku publish", answer()))
    memory.admin.undo(operation)
    memory.notes.publish()
    shown.edited.append((f"yiku undo {operation}", answer()))


def _sleep(memory: Memory, shown: Shown) -> None:
    """Run a night and undo one of its decisions."""
    memory.remember(BRIEF, said_at=BRIEF_SAID, expires_at=BRIEF_ENDS)
    run = memory.admin.consolidate().run
    shown.night = memory.admin.report(run)
    items = [item for item in shown.night.items if item.operation]
    item = next((one for one in items if one.action in TELLING), items[0])
    memory.admin.undo_run(run, item.item)
    back = memory.get(item.ids[-1])
    if isinstance(back, SemanticMemory):
        shown.undone = f"yiku undo {run[-8:]} {item.item}", back


# ------------------------------------------------------------------ what is told


def _format_run(shown: Shown) -> Iterator[str]:
    """Two screens; --json has all of it."""
    weeks = (shown.turns[-1].said_at - shown.turns[0].said_at).days // 7
    yield terminal.paint(f"Yiku 忆库: {weeks} weeks of Mei's talk, in English and Chinese", "bold")
    yield from _heading(f"Learned from {len(shown.turns)} messages, each on disk in {statistics.median(shown.turn_ms):.1f} ms")
    yield from _list_learned(shown)
    yield from _model(shown)
    right, median = sum(asked.right for asked in shown.asked), statistics.median(asked.milliseconds for asked in shown.asked)
    yield from _heading(f"{right} of {len(shown.asked)} questions answered right, {median:.1f} ms each (median)")
    for asked in shown.asked:
        if asked.question.get("shown") or not asked.right:
            yield from _answer(asked)
    yield from _heading("A correction keeps the past; a joke is taken back")
    yield from _versions(shown.history)
    yield from _heading("Nothing is lost")
    limit = (terminal.width() or WIDTH) - 44
    yield from (f"  {terminal.pad(command, 40)}→ {terminal.cut(answer, limit)}" for command, answer in shown.glimpse)
    yield from _heading(f"{PAGE} is yours to edit")
    yield from (f"  {terminal.cut(line, limit + 42)}" for line in _some(shown.page))
    yield ""
    yield f"  {terminal.pad(f'an editor: Oslo becomes {EDITED.split()[3]}', 40)}  {WHERE}"
    yield from (f"  {terminal.pad(command, 40)}→ {terminal.cut(answer, limit)}" for command, answer in shown.edited)
    if shown.night is not None and shown.undone is not None:
        yield from _heading("At night it tidies itself; what it did can be undone")
        decided = [line for line in shown.night.page.splitlines() if line.startswith("- ")]
        yield from (f"  {terminal.cut(line, limit + 42)}" for line in decided[:NIGHT_LINES])
        command, back = shown.undone
        yield f"  {terminal.pad(command, 40)}→ {terminal.cut(terminal.flat(back.content), limit)}"
    yield from _heading(f"Now you: this memory stays in {_near(shown.home)}")
    yield from (f"  {line}" for line in _next(shown.home))


def _some(page: Sequence[str]) -> Iterator[str]:
    """Yield the headings of a page, the first line below each, and the line that is edited."""
    for before, line in zip(["", *page], page, strict=False):
        if line.startswith("## ") or before.startswith("## ") or LINE in line:
            yield line


def _heading(text: str) -> Iterator[str]:
    yield ""
    yield terminal.paint(text, "bold")


def _list_learned(shown: Shown) -> Iterator[str]:
    """Yield learned statements with their day and what they replaced."""
    limit, left = terminal.width() or WIDTH, 0
    chosen = [(one["session"], one["begins"]) for one in _material("shown.jsonl")]
    for kept in shown.kept:
        if not any(kept.session == session and kept.memory.content.startswith(begins) for session, begins in chosen):
            left += 1
            continue
        lead = f"  {terminal.day(kept.memory.said_at)}  "
        old = f" (was {kept.instead.object})" if kept.instead and kept.instead.object else ""
        line = terminal.cut(terminal.flat(kept.memory.content), limit - len(lead) - terminal.cells(old))
        yield terminal.paint(lead, "dim") + line + terminal.paint(old, "dim")
    yield terminal.paint(f"  and {left} more: yiku list", "dim")


def _model(shown: Shown) -> Iterator[str]:
    """Yield what a model added, if there is one."""
    done = shown.learned
    if done is None:
        return
    found = ", ".join(f"{count:,} {name}" for name, count in done.outcomes.items()) or "nothing new"
    yield f"  {done.model}: {terminal.plural(done.jobs, 'question')} in {done.seconds:.0f} s, {found}; {done.waiting:,} pending"
    for trouble in done.troubles[:5]:
        yield terminal.paint(f"  ! {terminal.cut(terminal.flat(trouble), (terminal.width() or WIDTH) - 4)}", "yellow")


def _versions(history: list[SemanticMemory]) -> Iterator[str]:
    """Yield the versions of one statement and what became of each."""
    limit = terminal.width() or WIDTH
    for version in history:
        archived = version.state is State.ARCHIVED
        until = terminal.day(version.valid_to) if version.valid_to else "-         " if archived else "now       "
        lead = f"  {terminal.day(version.valid_from)} to {until}  "
        tail = "taken back" if archived else "replaced" if version.superseded_by else "current"
        body = terminal.pad(terminal.cut(terminal.flat(version.content), limit - len(lead) - 12), limit - len(lead) - 12)
        yield f"{lead}{body}  {terminal.paint(tail, 'dim')}"


def _answer(asked: Asked) -> Iterator[str]:
    """Yield a question and its dated answer; of a wrong one all hits and what was expected."""
    limit = terminal.width() or WIDTH
    mark = terminal.paint("✓", "green") if asked.right else terminal.paint("✗", "red")
    yield f"  {mark} {terminal.cut(asked.question['question'], limit - 4)}"
    for hit in asked.hits[: 1 if asked.right else None]:
        answer = terminal.cut(_clause(hit.text, asked.question["expect"]), limit - 18)
        yield f"      {answer}  {terminal.paint(terminal.day(hit.said_at), 'dim')}"
    if not asked.right:
        yield f"      {terminal.paint('expected: ' + ', '.join(asked.question['expect']), 'red')}"


def _clause(text: str, expected: Sequence[str]) -> str:
    """Return the sentence of a long text that contains the answer."""
    whole = terminal.flat(text)
    return next((part for part in re.split(r"(?<=[.!?。！？])\s*", whole) if any(one in part for one in expected)), whole)


def _next(home: Path) -> list[str]:
    """Yield commands to try on this home."""
    yiku, at = _program(), f"--home {shlex.quote(_near(home))}"
    return [
        f'{yiku} recall "what is my sister allergic to?" {at}',
        f"{yiku} recall 妈妈坐哪趟航班来？ {at}",
        f'{yiku} history "Lantern deadline" {at}',
        f"{yiku} list {at}",
    ]


def _program() -> str:
    """Return the command line by which this program was started."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py" or not called.exists():
        return f"{shlex.quote(sys.executable)} -m yiku"
    found = shutil.which("yiku")
    return "yiku" if found and Path(found).samefile(called) else shlex.quote(_near(called))


def _near(path: Path) -> str:
    """Return a path relative to the current folder, if below it."""
    absolute, here = path.absolute(), Path.cwd()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) and absolute != here else str(absolute)


def _data(shown: Shown) -> dict[str, Any]:
    questions = [
        {
            "question": asked.question["question"],
            "right": asked.right,
            "expected": asked.question["expect"],
            "milliseconds": round(asked.milliseconds, 2),
            "hits": [json_output.hit(hit) for hit in asked.hits],
        }
        for asked in shown.asked
    ]
    return {
        "home": str(shown.home),
        "turns": len(shown.turns),
        "turn_ms": round(statistics.median(shown.turn_ms), 2),
        "statements": [{"session": one.session, "word": one.word, "memory": json_output.item(one.memory)} for one in shown.kept],
        "compressed": json_output.plain(shown.compressed),
        "episode": json_output.plain(shown.story),
        "scratchpad": shown.markdown["scratchpad"],
        "model": json_output.plain(shown.learned),
        "right": sum(asked.right for asked in shown.asked),
        "questions": questions,
        "page": shown.page,
        "edited": [{"command": command, "answer": answer} for command, answer in shown.edited],
        "history": [json_output.item(version) for version in shown.history],
        "night": shown.night
        and {"run": shown.night.run.id, "items": json_output.plain(shown.night.items), "page": shown.night.page},
        "undone": shown.undone and {"command": shown.undone[0], "memory": json_output.item(shown.undone[1])},
        "next": _next(shown.home),
    }
