"""
Speed benchmark: CPU time of each verb on real or generated conversations, beside the machine's floor and plain FTS5.

    python bench/speed.py            stores of 10,000 and 100,000 items
    python bench/speed.py --talk longmemeval_s.json --talk lifebench_zh.json.xz
                                     of these turns, asked their own questions (bench/datasets.py says which formats)
    python bench/speed.py --only growth
                                     what each verb costs by scope, store, versions of a slot, length of a session, number of scopes
    python bench/speed.py --quick    10,000 only, in under a minute
    python bench/speed.py --full     a million too: some 30 minutes and 4 GB in --folder
    python bench/speed.py --only recall --only ingest

Without `--talk` texts and questions are generated: they are short, and hide a factor of two, in Chinese above all. With it
English and Chinese take turns of twelve (talk.py). A store of a size is made twice: in scopes of 1,000 items each, and as
one scope that holds all. CPU time is that of the whole public call with default settings; a missed aim is printed, and fails
nothing. Each run is one line in bench/results/speed.jsonl.
"""

import argparse
import gc
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import apsw
import growth
import numpy as np
import peers
from corpus import MIXES, Corpus
from peers import Span, timed
from talk import Talk

from yiku import Memory
from yiku.models import prepare
from yiku.models.e5 import LocalE5
from yiku.types import MemoryRecord, TurnRecord

RESULTS = Path(__file__).resolve().parent / "results" / "speed.jsonl"
OWNER = "user:bench"
SCOPE_ITEMS = 1_000  # of a store in scopes
BATCH = 500  # turns a transaction in bulk
QUESTIONS = 40  # of each mix
CALLS = 100  # of the other verbs
STATEMENTS_PER_1000 = 10  # items of the scope that is asked, beside its turns
FACTS = 10_000  # statements in the store on which access updates and entity queries are measured
CENTRES = 256  # sentences around which the vectors of `hybrid` lie
STARTS = 5  # fresh processes a figure
VECTORS_AT_MOST = 100_000
# Milliseconds of a recall of English, in a scope of 1,000 and in one that holds all; Chinese may take 5, and twice as long
AIMS = {True: {10_000: 3.0, 100_000: 3.0, 1_000_000: 3.0}, False: {10_000: 4.0, 100_000: 15.0, 1_000_000: 60.0}}
CHINESE = {True: 5 / 3, False: 2.0}
BULK_MB_S = 2.5
MOST_POWER = 1.1  # of the size with which a verb may grow


@dataclass(frozen=True)
class Figure:
    """One line of the table. `value` is what the aim is about, in `unit`; times are CPU."""

    name: str
    size: int
    value: float
    unit: str = "ms"
    p95: float | None = None
    wall: float | None = None
    aim: float | None = None
    floor: float | None = None  # times the machine's floor for this
    plain: float | None = None  # the same with plain FTS5, which does less

    @property
    def met(self) -> bool | None:
        if self.aim is None:
            return None
        return self.value >= self.aim if self.unit in ("items/s", "MB/s") else self.value <= self.aim


def took(name: str, size: int, span: Span, **more: float | None) -> Figure:
    return Figure(name, size, span.cpu_p50, p95=span.cpu_p95, wall=span.wall_p50, **more)  # type: ignore[arg-type]


# ------------------------------------------------------------------ the stores


@dataclass
class Store:
    """A home that was filled; the scope `bench:0` is the one that is asked."""

    home: Path
    size: int
    scoped: bool
    texts: list[str] = field(default_factory=list)  # of all turns
    names: list[str] = field(default_factory=list)  # that statements speak of
    ingest: list[float] = field(default_factory=list)  # CPU seconds of each 10,000 turns
    talk: Talk | None = None

    def open(self, scope: str = "bench:0", **settings: Any) -> Memory:
        return Memory(self.home, scope=scope, owner=OWNER, **settings)

    @property
    def kind(self) -> str:
        return "scopes of 1,000" if self.scoped else "one scope"

    @property
    def asked(self) -> list[str]:
        """The texts of the scope that is asked."""
        return self.texts[:SCOPE_ITEMS] if self.scoped else self.texts

    @cached_property
    def questions(self) -> dict[str, list[str]]:
        if self.talk is not None:
            return self.talk.questions(QUESTIONS)
        corpus = Corpus(5)
        return {mix: corpus.questions(mix, self.asked[-20_000:], QUESTIONS) for mix in MIXES}


def made(folder: Path, size: int, scoped: bool, talk: Talk | None = None) -> Store:
    """A store of `size` turns, and statements in the scope that is asked."""
    store = Store(folder / f"{size}-{'scopes' if scoped else 'one'}", size, scoped, talk=talk)
    corpus = Corpus()
    turns = corpus.turns(size) if talk is None else talk.turns(size)
    store.texts = [turn["content"] for turn in turns]
    step = SCOPE_ITEMS if scoped else size
    for start in range(0, size, step):
        with store.open(f"bench:{start // step}") as memory:
            for at in range(start, start + step, 10_000):
                batches = [turns[i : min(i + BATCH, start + step)] for i in range(at, min(at + 10_000, start + step), BATCH)]
                store.ingest.append(cpu_s(lambda memory=memory, batches=batches: [memory.record(batch) for batch in batches]))
    store.names = corpus.names
    statements = corpus.statements(min(step, 100_000) * STATEMENTS_PER_1000 // 1_000)
    with store.open(durability="fast") as memory:
        memory.admin.import_(records(statements), source="bench")
    return store


def aim(store: Store, mix: str) -> float:
    """Milliseconds of a recall there, of questions of that sort."""
    of_english = AIMS[store.scoped].get(store.size, max(AIMS[store.scoped].values()))
    return of_english * CHINESE[store.scoped] if mix in ("chinese", "mixed") else of_english


def records(statements: Sequence[str]) -> Iterator[MemoryRecord]:
    return (MemoryRecord(line, text, {}) for line, text in enumerate(statements, 1))


def cpu_s(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def recalled(memory: Memory, questions: Sequence[str]) -> Span:
    """Each question once, when the first have been asked before."""
    for question in questions[:3]:
        memory.recall(question)
    return timed([lambda question=question: memory.recall(question) for question in questions])


class Perturbed:
    """An embedder that costs nothing: vectors of some real sentences, moved a little by the text; random ones without the model."""

    space, dimensions = "bench:perturbed:384", 384

    def __init__(self, corpus: Corpus) -> None:
        chance = np.random.default_rng(17)
        self._noise = chance.normal(size=(4_096, self.dimensions)).astype(np.float32) * 0.02
        if prepare.installed() is not None:
            self._centres = LocalE5().embed([turn["content"] for turn in corpus.turns(CENTRES)], "passage")
        else:
            self._centres = chance.normal(size=(CENTRES, self.dimensions)).astype(np.float32) * 0.05

    def embed(self, texts: Sequence[str], role: str) -> np.ndarray:
        """(n, 384) of unit length."""
        marks = np.array([zlib.crc32(text.encode()) for text in texts], np.int64)
        found: np.ndarray = self._centres[marks % CENTRES] + self._noise[marks // CENTRES % len(self._noise)]
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def close(self) -> None:
        """Nothing is held."""


# ------------------------------------------------------------------ what is measured


class Bench:
    """One run: its stores, made when they are first asked for, and the machine's floor."""

    def __init__(self, folder: Path, sizes: Sequence[int], talk: Talk | None = None) -> None:
        self.folder = folder
        self.talk = talk
        self.sizes = sizes
        self._stores: dict[tuple[int, bool], Store] = {}
        self.flush = peers.flush(folder)
        self.commit = peers.commit(folder)
        self.copied_gb_s = peers.copied_gb_s()

    def durable(self, span: Span) -> float:
        """How many bare commits a durable call takes, measured now: a disk that others use changes by the minute."""
        return span.wall_p50 / peers.commit(self.folder).wall_p50

    def store(self, size: int, scoped: bool) -> Store:
        if (size, scoped) not in self._stores:
            self._stores[size, scoped] = made(self.folder, size, scoped, self.talk)
            gc.collect()
        return self._stores[size, scoped]

    def stores(self) -> Iterator[Store]:
        return (self.store(size, scoped) for size in self.sizes for scoped in (True, False))

    def said(self, count: int, seed: int) -> list[dict[str, Any]]:
        """Turns that no store has."""
        return Corpus(seed).turns(count) if self.talk is None else self.talk.turns(count, first=max(self.sizes) + 1_000 * seed)

    @cached_property
    def facts(self) -> tuple[Store, Figure]:
        """A scope of 10,000 statements, and how fast they came in."""
        store, corpus = Store(self.folder / "facts", FACTS, False), Corpus(11)
        statements = corpus.statements(FACTS)
        store.names = corpus.names
        with store.open(durability="fast") as memory:
            cpu = cpu_s(lambda: memory.admin.import_(records(statements), source="bench"))
        return store, Figure("import_ of statements", FACTS, FACTS / cpu, "items/s")

    # -------------------------------------------------------------- writing

    def ingest(self) -> Iterator[Figure]:
        """Bulk: turns by `record`, turns and statements by `import_`."""
        for store in self.stores():
            rate = store.size / sum(store.ingest)
            yield Figure(f"record in batches, {store.kind}", store.size, rate, "items/s")
            text_mb = sum(len(text.encode()) for text in store.texts) / 1e6
            yield Figure(f"record in batches, {store.kind}", store.size, text_mb / sum(store.ingest), "MB/s", aim=BULK_MB_S)
        lines = [TurnRecord(i, {**turn, "external_id": f"x{i}"}) for i, turn in enumerate(self.said(10_000, 3))]
        with Memory(self.folder / "imported", owner=OWNER) as memory:
            cpu = cpu_s(lambda: memory.admin.import_(lines, source="bench"))
        yield Figure("import_ of turns", len(lines), len(lines) / cpu, "items/s")
        yield self.facts[1]

    def turn(self) -> Iterator[Figure]:
        """One durable turn, flushed when the call returns. Floor: a bare commit."""
        for store in self.stores():
            turns = self.said(CALLS + 1, 13)
            with store.open() as memory:
                memory.record_turn(**turns.pop())
                span = timed([lambda turn=turn: memory.record_turn(**turn) for turn in turns])
            yield took(f"record_turn, {store.kind}", store.size, span, aim=2.0, floor=self.durable(span))

    def remember(self) -> Iterator[Figure]:
        """One statement that is new, that replaces, that confirms, among 10,000. Floor: a bare commit."""
        store = self.facts[0]
        people = [f"Visitor {name}" for name in store.names[:CALLS]]
        with store.open() as memory:
            memory.remember("Visitor Zero lives in Oslo.")
            for name, city in (("new", "Bergen"), ("replaced", "Lisbon"), ("confirmed", "Lisbon")):
                span = timed([lambda who=who, city=city: memory.remember(f"{who} lives in {city}.") for who in people])
                yield took(f"remember, {name}", FACTS, span, floor=self.durable(span))

    def access(self) -> Iterator[Figure]:
        """Access update and entity query at 10,000 statements: S0's figures."""
        store = self.facts[0]
        with store.open() as memory:
            ids = [row.id for row in memory.get_all(limit=CALLS)]
            memory.feedback(ids[0], "used")
            span = timed([lambda id=id: memory.feedback(id, "used") for id in ids])
            yield took("access update (feedback)", FACTS, span, aim=1.0, floor=self.durable(span))
            memory.about("Oslo")
            yield took("entity query (about)", FACTS, timed([lambda n=n: memory.about(n) for n in store.names[:CALLS]]), aim=2.0)

    # -------------------------------------------------------------- finding

    def recall(self) -> Iterator[Figure]:
        """`recall` by each mix of questions, in a scope of 1,000 items and in one that holds all."""
        for store in self.stores():
            plain = (
                peers.plain_fts5(self.folder / f"plain-{store.size}.db", store.texts, store.questions) if not store.scoped else {}
            )
            (self.folder / f"plain-{store.size}.db").unlink(missing_ok=True)
            with store.open() as memory:
                for mix, asked in store.questions.items():
                    span = recalled(memory, asked)
                    baseline = plain[mix].cpu_p50 if mix in plain else None
                    yield took(f"recall, {store.kind}, {mix}", store.size, span, aim=aim(store, mix), plain=baseline)

    def look(self) -> Iterator[Figure]:
        """`context`, `get` by short id and `search_traces`."""
        for store in self.stores():
            english, chinese = store.questions["english"], store.questions["chinese"]
            with store.open() as memory:
                ids = [hit.id[-8:] for question in english[:10] for hit in memory.recall(question, limit=2)]
                for name, verb, given in (
                    ("context", memory.context, [*english[:20], *chinese[:20]]),
                    ("get by short id", memory.get, ids),
                    ("search_traces", memory.search_traces, [*english[:20], *chinese[:20]]),
                ):
                    verb(given[0])
                    span = timed([lambda verb=verb, value=value: verb(value) for value in given])
                    yield took(f"{name}, {store.kind}", store.size, span)

    def hybrid(self) -> Iterator[Figure]:
        """`recall` by words and vectors, the question's vector given; only the scope that is asked is embedded."""
        embedder = Perturbed(Corpus(17))
        for store in self.stores():
            with store.open(embedder=embedder, durability="fast") as memory:
                cpu = cpu_s(memory.admin.embed)
                yield Figure(f"embed without the model, {store.kind}", store.size, len(store.asked) / cpu, "items/s")
            with store.open(embedder=embedder) as memory:
                first = store.questions["english"][0]
                span = timed([lambda memory=memory, first=first: memory.recall(first)])
                yield took(f"first hybrid recall, {store.kind}", store.size, span)
                for mix in [mix for mix in ("english", "chinese", "mixed") if mix in store.questions]:
                    span = recalled(memory, store.questions[mix])
                    yield took(f"hybrid recall, {store.kind}, {mix}", store.size, span, aim=1 + aim(store, mix))

    # -------------------------------------------------------------- processes

    def open(self) -> Iterator[Figure]:
        """Opening a home and the first answer, in a fresh process that has imported yiku."""
        for store in self.stores():
            question = store.questions["english"][0]
            for numpy in (True, False):
                runs = [child(FIRST_ANSWER, store, question, "numpy" if numpy else "json") for _ in range(STARTS)]
                span = peers.span([run["cpu_ms"] for run in runs], [run["wall_ms"] for run in runs])
                more = "" if numpy else ", and numpy"
                yield took(f"open to first answer{more}, {store.kind}", store.size, span, aim=15.0 if numpy else None)

    def memory(self) -> Iterator[Figure]:
        """Anonymous memory of a fresh process after recalls of all mixes."""
        if not Path("/proc/self/status").exists():
            return
        aims = {10_000: 60.0, 100_000: 130.0, 1_000_000: 250.0}
        for store in self.stores():
            asked = "\n".join(question for questions in store.questions.values() for question in questions)
            found = child(ANONYMOUS, store, asked)
            yield Figure(f"anonymous memory, {store.kind}", store.size, found["mb"], "MB", aim=aims.get(store.size))

    def disk(self) -> Iterator[Figure]:
        """The database beside the text in it."""
        for store in self.stores():
            with store.open() as memory:
                stats = memory.admin.stats()
            text = sum(len(text.encode()) for text in store.texts)
            yield Figure(f"database / text, {store.kind}", store.size, stats.database_bytes / text, "times", aim=2.5)
            yield Figure(f"entities in the scope, {store.kind}", store.size, stats.entities, "")
            yield Figure(f"tags in the scope, {store.kind}", store.size, stats.tags, "")

    def start(self) -> Iterator[Figure]:
        """Whole processes: bare Python, `import yiku`, `yiku recall`."""
        store = self.store(self.sizes[0], False)
        bare = started("-c", "pass")
        yield took("python -c pass", 0, bare)
        yield took("import yiku", 0, started("-c", "import yiku"), aim=60.0)
        if find_spec("yiku.interfaces.cli") is not None:
            question = store.questions["english"][0]
            given = ("-m", "yiku", "recall", question, "--home", str(store.home), "--scope", "bench:0")
            yield took("yiku recall", store.size, started(*given), aim=250.0)

    def growth(self) -> Iterator[Figure]:
        """The growth table: milliseconds at three sizes, and the power of the size with which the last step grew."""
        asked = self.stores_questions()
        for row in growth.rows(self.folder / "growth", lambda count: self.said(count, 21), asked):
            for size, ms in zip(row.sizes, row.ms, strict=True):
                yield Figure(f"{row.verb} by {row.grows}", size, ms)
            yield Figure(f"{row.verb} by {row.grows}: grows with the power", 0, row.power, "", aim=MOST_POWER)

    def stores_questions(self) -> list[str]:
        """A few questions of each language."""
        if self.talk is not None:
            return [question for asked in self.talk.questions(5).values() for question in asked]
        corpus, texts = Corpus(5), [turn["content"] for turn in self.said(200, 21)]
        return [question for mix in ("english", "chinese") for question in corpus.questions(mix, texts, 5)]

    def vectors(self) -> Iterator[Figure]:
        """sqlite-vec: the ten nearest of random vectors, beside `hybrid`."""
        for size in self.sizes:
            if size <= VECTORS_AT_MOST:
                path = self.folder / f"vectors-{size}.db"
                if (span := peers.sqlite_vec(path, size)) is not None:
                    yield took("sqlite-vec, 384 dimensions (does less)", size, span)
                path.unlink(missing_ok=True)


PARTS = ("ingest", "turn", "remember", "access", "recall", "look", "open", "memory", "disk", "start", "vectors", "hybrid", "growth")

FIRST_ANSWER = """
import json, sys, time
home, question, first = sys.argv[1:]
__import__(first)
from yiku import Memory
wall, cpu = time.perf_counter(), time.process_time()
memory = Memory(home, scope="bench:0", create=False)
memory.recall(question)
cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
print(json.dumps({"cpu_ms": 1000 * cpu, "wall_ms": 1000 * wall}))
"""
ANONYMOUS = """
import json, re, sys
from pathlib import Path
from yiku import Memory
with Memory(sys.argv[1], scope="bench:0", create=False) as memory:
    for question in sys.argv[2].splitlines():
        memory.recall(question)
    found = re.search(r"RssAnon:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
    print(json.dumps({"mb": int(found[1]) / 1024}))
"""


def child(script: str, store: Store, *given: str) -> dict[str, float]:
    """What a fresh process printed about itself."""
    command = [sys.executable, "-c", script, str(store.home), *given]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def started(*given: str) -> Span:
    """A whole process, from start to end."""
    cpu, wall = [], []
    for _ in range(STARTS + 1):
        before, since = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([sys.executable, *given], check=False, capture_output=True)
        wall.append(1000 * (time.perf_counter() - since))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return peers.span(cpu[1:], wall[1:])  # the first warms the disk cache


# ------------------------------------------------------------------ printed and kept


def machine(bench: Bench) -> dict[str, Any]:
    """On what this ran, and what nothing on it can go below."""
    cpu = next((line.partition(":")[2].strip() for line in lines("/proc/cpuinfo") if line.startswith("model name")), "")
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": cpu or platform.processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "load": round(os.getloadavg()[0], 2),
        "flush_ms": round(bench.flush.wall_p50, 4),
        "commit_ms": round(bench.commit.wall_p50, 4),
        "commit_cpu_ms": round(bench.commit.cpu_p50, 4),
        "copy_gb_s": round(bench.copied_gb_s, 1),
    }


def lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines() if Path(path).exists() else []


HEADER = f"{'':52}{'size':>10}{'p50':>10}{'p95':>9}{'wall':>9}  {'':8}{'aim':>8}  {'':6}{'x floor':>8}{'plain FTS5':>11}"


def line(figure: Figure) -> str:
    def number(value: float | None) -> str:
        if value is None:
            return ""
        return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"

    verdict = {None: "", True: "ok", False: "short"}[figure.met]
    return (f"{figure.name:52}{figure.size or '':>10,}" if figure.size else f"{figure.name:52}{'':>10}") + (
        f"{number(figure.value):>10}{number(figure.p95):>9}{number(figure.wall):>9}  {figure.unit:8}{number(figure.aim):>8}"
        f"  {verdict:6}{number(figure.floor):>8}{number(figure.plain):>11}"
    ).rstrip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="10,000 items only")
    parser.add_argument("--full", action="store_true", help="a million items too")
    parser.add_argument("--only", action="append", choices=PARTS, help="this part; may be given again")
    parser.add_argument("--talk", action="append", metavar="FILE", help="real turns with their questions; may be given again")
    parser.add_argument("--folder", help="where the stores are made and removed again: on the disk that is meant")
    given = parser.parse_args()
    os.environ.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # an installation keeps its bytecode; else each process would compile the sources anew
    if given.folder:
        Path(given.folder).mkdir(parents=True, exist_ok=True)
    sizes = [10_000] if given.quick else [10_000, 100_000, 1_000_000] if given.full else [10_000, 100_000]
    with tempfile.TemporaryDirectory(prefix="yiku-bench-", dir=given.folder) as folder:
        bench = Bench(Path(folder), sizes, Talk(given.talk) if given.talk else None)
        run = machine(bench)
        print("\n".join(f"{name:14} {value}" for name, value in run.items()))
        print(f"\n{HEADER}")
        figures = []
        for part in given.only or PARTS:
            for figure in getattr(bench, part)():
                figures.append(figure)
                print(line(figure), flush=True)
    short = sum(figure.met is False for figure in figures)
    print(f"\n{sum(figure.met is True for figure in figures)} aims met, {short} fallen short of")
    kept = [
        {name: round(value, 3) if isinstance(value, float) else value for name, value in asdict(f).items() if value is not None}
        for f in figures
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a", encoding="utf-8") as results:
        results.write(json.dumps({**run, "talk": bool(given.talk), "sizes": sizes, "figures": kept}, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
