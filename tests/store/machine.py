"""
State machine of random histories of one home with two scopes, beside a model of it in a few lists.

Time only goes forward here (telling in another order has its own test), so a slot's chain is the list of its
values, and a look back at a moment is a copy of the model made then. Hypothesis shrinks what goes wrong to a few steps.
"""

import shutil
import tempfile
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from integrity import check

from yiku import Memory
from yiku.types import Confirmed, New, Replaced, SemanticMemory, State

NAMES = st.sampled_from(["Ann", "小明", "Zoë"])
TOWNS = st.sampled_from(["Oslo", "北京", "São Paulo", "ＴＯＫＹＯ"])
NOTES = st.sampled_from([f"Note{i} 备注{i} of the day" for i in range(4)])
SCOPES = st.sampled_from(["user:mei", "user:mei2"])


@dataclass
class Model:
    """What one scope should hold: chains of contents by what they are about, newest last; turns with whether they show."""

    live: dict[str, list[str]] = field(default_factory=dict)
    forgotten: dict[str, list[str]] = field(default_factory=dict)
    turns: dict[str, tuple[str, bool]] = field(default_factory=dict)

    def texts(self) -> list[str]:
        return sorted(chain[-1] for chain in self.live.values())


class MemoryMachine(RuleBasedStateMachine):
    """Steps that a user takes; after each, what is seen is what the model says."""

    @initialize()
    def start(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="yiku-machine"))
        self.now = datetime(2026, 3, 2, tzinfo=UTC)
        self.models = {"user:mei": Model(), "user:mei2": Model()}
        self.moments: list[tuple[datetime, dict[str, Model]]] = []
        self.last: tuple[str, int, Model] | None = None  # scope, operation, the model before it
        self.open()

    def open(self) -> None:
        self.memories = {scope: Memory(self.home, scope=scope, owner="user:mei", clock=self.tick) for scope in self.models}

    def tick(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    def teardown(self) -> None:
        if hasattr(self, "home"):
            for memory in self.memories.values():
                memory.close()
            check(self.home / "yiku.db")
            shutil.rmtree(self.home)

    # ---------------------------------------------------------- steps

    @rule(scope=SCOPES, name=NAMES, town=TOWNS)
    def remember_a_value(self, scope: str, name: str, town: str) -> None:
        """A value of a single-valued slot: new, the same again, or another that retires it."""
        model, text = self.models[scope], f"{name} lives in {town}."
        about = f"{name}'s home"
        chain, before = model.live.get(about, []), deepcopy(model)
        outcome = self.memories[scope].remember(text)
        assert type(outcome) is (New if not chain else Confirmed if chain[-1] == text else Replaced)
        if not chain or chain[-1] != text:
            model.live[about] = [*chain, text]
        self.done(scope, outcome.operation, before)

    @rule(scope=SCOPES, text=NOTES)
    def remember_a_note(self, scope: str, text: str) -> None:
        """A statement without a slot: new or known, never replacing."""
        model = self.models[scope]
        known, before = any(chain[-1] == text for chain in model.live.values()), deepcopy(model)
        outcome = self.memories[scope].remember(text)
        assert type(outcome) is (Confirmed if known else New)
        if not known:
            model.live[outcome.memory.line] = [text]
        self.done(scope, outcome.operation, before)

    @rule(scope=SCOPES, text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20))
    def record(self, scope: str, text: str) -> None:
        """Any text at all is kept as it was said."""
        before = deepcopy(self.models[scope])
        recorded = self.memories[scope].record([{"role": "user", "content": f"said: {text}"}])
        self.models[scope].turns[recorded.ids[0]] = (f"said: {text}", True)
        self.done(scope, recorded.operation, before)

    @precondition(lambda self: any(model.live for model in self.models.values()))
    @rule(data=st.data())
    def update(self, data: st.DataObject) -> None:
        """A new text for what is live: the next version of its chain."""
        scope = data.draw(st.sampled_from([s for s, m in self.models.items() if m.live]))
        model = self.models[scope]
        about = data.draw(st.sampled_from(sorted(model.live)))
        row = self.row(scope, model.live[about][-1])
        text = f"Told anew 新的说法 {int(self.now.timestamp() * 1000)}"
        model.live[about] = [*model.live[about], text]
        assert text == self.memories[scope].update(row.id, text).content
        self.last = None

    @precondition(lambda self: any(model.live for model in self.models.values()))
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        """A whole chain leaves memory."""
        scope = data.draw(st.sampled_from([s for s, m in self.models.items() if m.live]))
        model = self.models[scope]
        about = data.draw(st.sampled_from(sorted(model.live)))
        before, row = deepcopy(model), self.row(scope, model.live[about][-1])
        done = self.memories[scope].forget(row.id)
        model.forgotten = {row.id: [about, *model.live.pop(about)]}
        self.done(scope, done.operation, before)

    @precondition(lambda self: any(model.forgotten for model in self.models.values()))
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        """What was forgotten last comes back, unless its place was taken meanwhile."""
        scope = data.draw(st.sampled_from([s for s, m in self.models.items() if m.forgotten]))
        model = self.models[scope]
        (id, (about, *chain)), before = model.forgotten.popitem(), deepcopy(model)
        if about in model.live or any(kept[-1] == chain[-1] for kept in model.live.values()):
            return
        done = self.memories[scope].restore(id)
        model.live[about] = chain
        self.done(scope, done.operation, before)

    @precondition(lambda self: self.last is not None)
    @rule()
    def undo(self) -> None:
        """The last operation is taken back: everything is as it was before it."""
        scope, operation, before = self.last
        turns = self.models[scope].turns
        self.memories[scope].admin.undo(operation)
        before.turns = {id: (text, before.turns.get(id, (text, False))[1]) for id, (text, _) in turns.items()}
        before.forgotten = {}
        self.models[scope], self.last = before, None

    @rule()
    def reopen(self) -> None:
        """Everything is on the disk."""
        for memory in self.memories.values():
            memory.close()
        self.open()

    # ---------------------------------------------------------- what is seen

    def done(self, scope: str, operation: int, before: Model) -> None:
        self.last = (scope, operation, before)
        self.moments.append((self.tick(), deepcopy(self.models)))

    def row(self, scope: str, text: str) -> SemanticMemory:
        return next(row for row in self.memories[scope].get_all() if row.content == text)

    @rule(scope=SCOPES)
    def look(self, scope: str) -> None:
        """Live statements, their histories, the turns, and what a question finds, all of this scope alone."""
        memory, model = self.memories[scope], self.models[scope]
        rows = memory.get_all(limit=1000)
        assert model.texts() == sorted(row.content for row in rows)
        for chain in model.live.values():
            row = next(row for row in rows if row.content == chain[-1])
            assert chain == [v.content for v in memory.history(row.id) if v.state is State.ACTIVE]
            assert chain[-1] in [hit.text for hit in memory.recall(chain[-1], types=("memory",), limit=50)]
        shown = [text for text, visible in model.turns.values() if visible]
        assert sorted(shown) == sorted(turn.content for turn in memory.search_traces(limit=10_000))
        assert model.turns.keys() == {id for id, (text, _) in model.turns.items() if memory.get(id).content == text}
        for hit in memory.recall("lives in Oslo 备注 Note1 北京", limit=50):
            assert hit.item.scope == scope
            assert hit.text in [*model.texts(), *shown]

    @precondition(lambda self: self.moments)
    @rule(data=st.data())
    def look_back(self, data: st.DataObject) -> None:
        """At a moment in the past, what was live then is what is shown."""
        at, models = data.draw(st.sampled_from(self.moments[-8:]))
        for scope, model in models.items():
            assert model.texts() == sorted(row.content for row in self.memories[scope].get_all(as_of=at, limit=1000))
