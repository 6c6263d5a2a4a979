"""
Random calls of every public verb by many scopes of one home, beside a model of it in a few dictionaries.

Whatever a scope writes bears its canary (`zq07zq` for the seventh name): contents, sources, reasons, actors, metadata. Names that a
stranger could guess (sessions, external ids, keys, tags, entities, slots) come from one small pool, so all scopes use the same ones.
Each answer is searched whole, as `repr` shows it, for canaries and ids of scopes that its handle may not read; an error's words are
an answer, too. A foreign id must be told like an absent one: same error, same words, and nothing changed in between.
"""

import random
import re
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any

import apsw
import pytest
from embedders import Hashed
from integrity import check

from yiku import Memory
from yiku.errors import NotFound, YikuError
from yiku.store import scope_names

# 26 names that are taken exactly as they stand: prefixes of one another, in two cases, as they lie in the table,
# patterns of LIKE, numbers of other scopes' rows,
# prefixes of the index's tokens, words of SQL, one as long as may be.
EXACT = (
    "public", "user:ann", "user:ann2", "user:an", "user.ann", "user_ann", "user@ann", "a", "a-", "1", "01", "2",
    "s1q", "s1qoslo", "h2q", "none", "rowid", "x" * 128, "A", "а", "\u00e9", "a/b", "auth0|Ab12", "auth0%7c%41b12", "用户:安", "安",
)  # fmt: skip
# 23 that could be taken for another, for all, for a path or for SQL: none is a scope.
REFUSED = (
    "", "*", "%", "_", "a ", " a", "a,b", "раypal", "ａ", "a\u200b", "e\u0301", "../a", "a*", "a\0", "a\n", "a" * 300,
    "'; --", "PUBLIC", "public\u202e", "用户：安", "👩‍💻", 'a"', "\ufeffuser:ann",
)  # fmt: skip

MARKED = re.compile(r"zq(\d\d)zq|([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})")
WORDS = "tea 茶 Oslo 奥斯陆 Bergen 备注 python-3.12 🍵 ＴＯＫＹＯ".split()
CALLS_A_HOME = 2_500  # then a new one: scopes stay small, so that a call stays cheap


@dataclass
class Model:
    """What one scope holds: live statements and turns by id, and which names are taken."""

    live: dict[str, str] = field(default_factory=dict)
    slots: dict[str, str] = field(default_factory=dict)  # the id of the live statement about a person
    sourced: dict[str, str] = field(default_factory=dict)  # the turn that a statement came from
    forgotten: dict[str, tuple[str, str | None]] = field(default_factory=dict)  # its text, its slot
    turns: dict[str, tuple[str, str, bool]] = field(default_factory=dict)  # content, session, whether it shows
    externals: dict[str, str] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    ids: list[str] = field(default_factory=list)
    operations: list[int] = field(default_factory=list)
    blobs: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes | None] = field(default_factory=dict)  # attachments, with their content where it was kept
    last: tuple[int, "Model"] | None = None  # the last operation, and what was before it

    def before(self) -> "Model":
        """What can be taken back, as it is now."""
        return Model(dict(self.live), dict(self.slots), dict(self.sourced), turns=dict(self.turns))

    def shown(self) -> list[str]:
        return [content for content, _, shows in self.turns.values() if shows]


@dataclass
class View:
    """One handle: its scope, what it may read, and what its scope should hold."""

    name: str
    mark: str  # the canary
    memory: Memory
    reads: frozenset[str]
    may_see: frozenset[str]  # the two digits of each canary
    hidden: tuple[str, ...]  # scopes that it may not read
    others: tuple[str, ...]  # scopes that it may not write
    model: Model


@dataclass(frozen=True)
class Operation:
    """Something to do, the verb it tries, and how often relative to the others."""

    verb: str
    weight: int
    do: "Do"


Do = Callable[["World", View], object]
OPERATIONS: list[Operation] = []


def tries(verb: str, weight: int) -> Callable[[Do], Do]:
    """Put an operation on the list."""

    def listed(do: Do) -> Do:
        OPERATIONS.append(Operation(verb, weight, do))
        return do

    return listed


class World:
    """
    One home after another, and random operations on it. `calls` counts the calls of public verbs.

    The first of the operations is done once by each scope of a new home, so that none is empty.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.seed = seed
        self.chance = random.Random(seed)
        self.calls = self.homes = 0
        self.serial = 0
        self.now = datetime(2026, 3, 2, tzinfo=UTC)
        self.trail: deque[str] = deque(maxlen=12)
        self.weights = [*accumulate(operation.weight for operation in OPERATIONS)]
        self.views: dict[str, View] = {}
        self.owner: dict[str, str] = {}  # of each id, the canary's digits

    # ---------------------------------------------------------- homes

    def run(self, calls: int) -> None:
        """So many calls by chance."""
        until, due = self.calls + calls, self.calls
        with self.told_where():
            while self.calls < until:
                if self.calls >= due:
                    self.renew()
                    due = self.calls + CALLS_A_HOME
                (operation,) = self.chance.choices(OPERATIONS, cum_weights=self.weights)
                self.step(operation)

    def each(self, times: int) -> None:
        """Every operation so often, in one home."""
        with self.told_where():
            self.renew()
            for operation in self.chance.sample(OPERATIONS * times, len(OPERATIONS) * times):
                self.step(operation)

    @contextmanager
    def told_where(self) -> Iterator[None]:
        """What goes wrong is told with the seed and the last operations."""
        try:
            yield
            self.close()
        except BaseException as error:
            error.add_note(
                f"seed {self.seed}, call {self.calls}, home {self.homes}; the last operations:\n  " + "\n  ".join(self.trail)
            )
            raise

    def renew(self) -> None:
        """A new home; the one before must be whole."""
        self.close()
        self.homes += 1
        self.home = self.folder / f"home{self.homes}"
        self.owner = {}
        order = self.chance.sample(EXACT, len(EXACT))
        self.views = {name: self.opened(name, Model()) for name in order}
        self.watcher = apsw.Connection(str(self.home / "yiku.db"), flags=apsw.SQLITE_OPEN_READWRITE)
        for name in order:  # numbers in another order than the names
            OPERATIONS[0].do(self, self.views[name])

    def opened(self, name: str, model: Model) -> View:
        """A handle on a scope, with further scopes to read as chance wants it."""
        further = self.chance.sample(EXACT, self.chance.choice((0, 0, 0, 1, 2, 6)))
        digits = {scope: f"{number:02}" for number, scope in enumerate(EXACT)}
        reads = frozenset({name, "public", *further})
        memory = Memory(
            self.home,
            scope=name,
            owner="user:ann",
            reads=further,
            names=["Mei"],
            actor=f"zq{digits[name]}zq",
            durability="fast",
            clock=self.tick,
            embedder=Hashed(),
            learn="off",  # what is learned is not in the model
        )
        hidden = tuple(scope for scope in EXACT if scope not in reads)
        others = tuple(scope for scope in EXACT if scope != name)
        return View(name, digits[name], memory, reads, frozenset(digits[scope] for scope in reads), hidden, others, model)

    def close(self) -> None:
        """Let go of the home, after a look whether it is whole."""
        if not self.views:
            return
        for view in self.views.values():
            view.memory.close()
        self.watcher.close()
        self.views = {}
        if self.homes % 20 == 1:
            check(self.home / "yiku.db")
        shutil.rmtree(self.home)

    def tick(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    # ---------------------------------------------------------- steps

    def step(self, operation: Operation) -> None:
        """One operation by one scope."""
        me = self.views[self.chance.choice(EXACT)]
        self.trail.append(
            f"{operation.verb} ({operation.do.__name__}) by {me.name[:20]}, reading {sorted(name[:20] for name in me.reads)}"
        )
        operation.do(self, me)

    def ask(self, me: View, call: Callable[[], Any], *given: str, writes: bool = False) -> Any:
        """What a call answers, after a look for what it must not say."""
        self.calls += 1
        answer = call()
        self.inspect(me, repr(answer), given, writes)
        return answer

    def inspect(self, me: View, text: str, given: Iterable[str] = (), writes: bool = False) -> None:
        """No canary and no id of a scope that this handle may not read, but those that were given to it."""
        for mark, id in set(MARKED.findall(text)):
            if id and id not in given:
                mark = self.owner.setdefault(id, me.mark) if writes else self.whose(id)  # noqa: PLW2901
            if mark and mark not in me.may_see:
                pytest.fail(f"LEAK: {me.name!r} was shown {id or mark} of {EXACT[int(mark)]!r}:\n{text[:2000]}")

    def whose(self, id: str) -> str:
        """The canary of whose it is; what no answer has named yet is looked up in the database."""
        if id not in self.owner:
            sql = "select name from scopes where id = (select scope_id from memories where id = ?)"
            ((name,),) = self.watcher.execute(sql, (id,))
            self.owner[id] = self.views[scope_names.decode(name)].mark
        return self.owner[id]

    def outcome_of(self, me: View, call: Callable[[Any], Any], item: Any) -> tuple[type, str]:
        """The answer or the error, with what was asked for taken out of its words."""
        try:
            answer = self.ask(me, lambda: call(item), str(item))
        except YikuError as error:
            self.inspect(me, str(error), (str(item),))
            return type(error), str(error).replace(str(item), "…")
        return type(answer), repr(answer).replace(str(item), "…")

    def alike(self, me: View, call: Callable[[Any], Any], foreign: Any, absent: Any, expected: type | None = NotFound) -> None:
        """What is another's is told like what is not there, and nothing changes."""
        before = self.committed()
        first, second = self.outcome_of(me, call, foreign), self.outcome_of(me, call, absent)
        assert second == first, f"foreign: {first}\nabsent:  {second}"
        assert expected is None or first[0] is expected, first
        assert before == self.committed(), "something was changed"

    def committed(self) -> tuple[int, ...]:
        """
        What moves with every change: the journal, the accesses that it leaves out, and the receipts.

        The file's own `data_version` would say too much: with `fast`, a commit of nothing follows a write a second later.
        """
        sql = "select (select max(number) from changes), (select max(id) from access_log), (select count(*) from receipts)"
        return self.watcher.execute(sql).fetchall()[0]

    # ---------------------------------------------------------- material

    def text(self, me: View) -> str:
        """A new text with the canary."""
        self.serial += 1
        return f"{self.chance.choice(WORDS)} {self.chance.choice(WORDS)} zq{me.mark}zq number{self.serial} 第{self.serial}条"

    def question(self) -> str:
        return " ".join(self.chance.sample(WORDS, 3)) + self.chance.choice(("", " Ann's code word", " number"))

    def foreign(self, names: Sequence[str]) -> str:
        """An id of one of these scopes."""
        return self.chance.choice(self.views[self.chance.choice(names)].model.ids)

    def absent(self, id: str) -> str:
        """An id beside another that nothing has."""
        beside = f"{id[:-1]}{(int(id[-1], 16) + 1) % 16:x}"
        return beside if beside not in self.owner else self.absent(beside)

    def changed(self, me: View, operation: int, before: Model) -> None:
        me.model.operations.append(operation)
        me.model.last = (operation, before)
