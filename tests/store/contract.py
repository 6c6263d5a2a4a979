"""
Contract tests that every store must pass: the protocol of yiku/store/protocol.py.

A backend passes when a class that inherits StoreContract and gives `reopen` passes. What grows out of
sessions, and what waits to be learned, is in contract_work.py. Nothing here knows of SQLite, of files or of processes; those
have their own tests beside this one.
"""

from dataclasses import fields, replace
from datetime import timedelta

import pytest
from store.contract_work import WorkContract
from store.looking import (
    Reopen,
    another_source,
    chained,
    everything,
    met_hash,
    new_scope,
    positions,
    refused,
    reopened,
    scope_of,
    store_turns,
    totals,
    unnumbered,
)
from store.samples import NOW, a_full_memory, a_full_turn, a_memory, a_turn, added, cause, kept

from yiku.errors import Closed, NotFound, Stale, StoreError
from yiku.flows.common.turn_texts import tokens
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.text import analyze
from yiku.store.api import Store
from yiku.types import (
    AddScope,
    AddSource,
    Cardinality,
    CountAccess,
    Expect,
    Kind,
    Learned,
    Memories,
    Receipt,
    RemoveSources,
    SemanticMemory,
    SetTurnHidden,
    State,
    Turn,
    Turns,
    UpdateMemory,
)

# Fields of a memory and the rows of the documents that ask for them, under our names (docs/glossary.md maps them).
MEMORY_ROWS = {
    "id": ("S2-30", "S3-53"),
    "kind": ("S2-31", "S3-54"),
    "content": ("S2-33", "S3-58"),
    "subject": ("S2-34", "S3-56"),
    "predicate": ("S2-35", "S3-57"),
    "importance": ("S2-36", "S3-62"),
    "confidence": ("S2-37",),
    "expires_at": ("S2-38",),
    "created_at": ("S2-39", "S3-66"),
    "updated_at": ("S2-39", "S3-66"),
    "tags": ("S3-61",),
}
GIVEN_BY_THE_STORE = {"n", "changed", "scope"}
COUNTERS = {"retrieved", "used", "mentioned", "last_retrieved", "last_used", "last_mentioned"}


def rows_of(names: dict[str, tuple[str, ...]], name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.spec(*names[name])] if name in names else []


class StoreContract(WorkContract):
    """Inherit, give the fixture `reopen`, and every test below runs on your store."""

    @pytest.fixture
    def reopen(self) -> Reopen:
        """Opens the one store of this test, again and again; what it opened before is closed first."""
        raise NotImplementedError

    @pytest.fixture
    def store(self, reopen: Reopen) -> Store:
        return reopen()

    @pytest.fixture
    def scope(self, store: Store) -> int:
        return new_scope(store, "user:mei")

    # ---------------------------------------------------------- scopes

    def test_a_scope_has_no_number_until_something_is_written_to_it(self, store):
        """Asking for a scope makes none; adding it gives it a number, once."""
        assert store.scope("user:mei") is None
        first = store.apply(0, [AddScope("user:mei", "小梅")], cause())
        again = store.apply(0, [AddScope("user:mei", "another label")], cause())

        assert (store.scope("user:mei"),) == first.rows[0]
        assert (0, ((),)) == (again.transaction, again.rows)

    def test_a_scope_keeps_its_number(self, reopen, scope):
        """A number means the same scope for ever."""
        other = new_scope(reopen(), "user:ann")

        assert other != scope
        assert scope == reopen().scope("user:mei")

    @pytest.mark.spec("S1-51", "S1-52")
    def test_no_read_crosses_scopes(self, store):
        """Eleven scopes hold the same words; each read of one sees its own row alone, also 1 beside 11."""
        numbers = [new_scope(store, f"scope-{i}") for i in range(11)]
        for i, scope in enumerate(numbers):
            memory = a_memory("同样的话 same words", tags=(f"tag-{i}",), entities=("shared",))
            changes = [added(a_turn("同样的话 same words")), kept(memory), Receipt("key", b"%d" % i, {"i": i})]
            store.apply(scope, changes, cause())

        for i, scope in enumerate(numbers):
            (memory,) = store.with_details(store.memories([scope], Memories(entities=["shared"])))
            (turn,) = store.turns([scope], Turns())
            assert ((f"scope-{i}", (f"tag-{i}",)), f"scope-{i}") == ((memory.scope, memory.tags), turn.scope)
            for term in ("word", "同样", "话"):
                for index in ("turn", "memory"):
                    assert [1] == [len(p.ns) for p in store.postings(index, [scope], [term], past=True, cap=100).found]
            assert (1, 1) == (totals(store, "turn", [scope])[0], totals(store, "memory", [scope])[0])
            assert (b"%d" % i, i) == (store.receipt(scope, "key")[0], store.receipt(scope, "key")[1]["i"])
            assert {scope_of(store, change.table, change.row) for change in store.journal([scope])} == {f"scope-{i}"}
            assert (1, 1, 1) == tuple(store.upkeep.counts([scope])[name] for name in ("turns", "sessions", "tags"))

    @pytest.mark.spec("S1-52")
    def test_a_read_of_several_scopes_sees_just_those(self, store):
        """Reading one's own scope and the public one finds both, and nothing of a third."""
        mine, public, third = (new_scope(store, name) for name in ("mine", "public", "third"))
        for number in (mine, public, third):
            store.apply(number, [kept(a_memory("tea 茶")), added(a_turn("tea 茶"))], cause())

        assert {"mine", "public"} == {memory.scope for memory in store.memories([mine, public], Memories())}
        assert {"mine", "public"} == {turn.scope for turn in store.turns([mine, public], Turns())}
        assert 2 == store.postings("memory", [mine, public], ["茶"], past=False, cap=10).found[0].documents
        assert 2 == totals(store, "turn", [mine, public])[0]

    def test_no_scope_reads_nothing(self, store, scope):
        """A handle whose scopes were never written sees nothing, not everything."""
        store.apply(scope, [kept(a_memory()), added(a_turn())], cause())

        assert ([], []) == (store.memories([], Memories()), store.turns([], Turns()))

    def test_a_change_in_a_foreign_scope_touches_nothing(self, store, scope):
        """The number of another scope's row is no way in: nothing is changed, counted or hidden there."""
        foreign = new_scope(store, "user:eve")
        (_, (n,), (turn,)) = store.apply(scope, [AddScope("user:mei"), kept(a_memory()), added(a_turn())], cause()).rows
        before = store.memories([scope], Memories())

        for change in (
            UpdateMemory(n, {"importance": 0.1}, index_tokens(before[0])),
            CountAccess([n], "used"),
            AddSource(n, another_source()),
            RemoveSources(n, [1]),
            SetTurnHidden(turn, NOW, tokens(store.turns([scope], Turns())[0])),
        ):
            refused(store, foreign, change)

        assert before == store.memories([scope], Memories())
        assert 1 == len(store.with_details(before)[0].sources)
        assert 1 == len(store.turns([scope], Turns()))

    # ---------------------------------------------------------- turns

    @pytest.mark.spec("S2-15", "S3-112", "S0-04")
    @pytest.mark.parametrize("name", [f.name for f in fields(Turn) if f.name not in ("n", "scope", "position", "hidden_at")])
    def test_a_turn_survives_in_every_field(self, reopen, store, scope, name):
        """What was said, by whom, when and in what offset comes back as it went in, after a reopen."""
        turn = a_full_turn()
        assert getattr(turn, name) not in (None, (), {}, b"", "")
        store.apply(scope, [added(turn)], cause())

        (found,) = reopen().turns([scope], Turns())

        assert getattr(turn, name) == getattr(found, name)
        assert str(getattr(turn, name)) == str(getattr(found, name)) or name == "recorded_at"

    @pytest.mark.spec("S3-113", "S3-114")
    def test_tool_calls_and_results_come_back_as_they_were(self, reopen, store, scope):
        """Names, inputs of any JSON, ids, results and their error mark are kept with the turn."""
        turn = a_full_turn()
        store.apply(scope, [added(turn)], cause())

        (found,) = reopen().turns([scope], Turns(tool="read_file"))

        assert turn.tool_calls == found.tool_calls
        assert [("t1", "语言 = zh", False)] == [(r["tool_use_id"], r["content"], r["is_error"]) for r in found.tool_results]
        assert [] == store_turns(reopen(), scope, tool="write_file")

    @pytest.mark.spec("S3-112", "S3-119")
    def test_positions_are_given_without_a_gap(self, store, scope):
        """Each session counts its turns from 0, in the order of the call, whatever else is recorded between."""
        store.apply(scope, [added(*(a_turn(f"{i}", session="ab"[i % 2]) for i in range(5)))], cause())
        store.apply(scope, [added(a_turn("5", session="b"), a_turn("6", session="a"))], cause())

        assert [("0", 0), ("2", 1), ("4", 2), ("6", 3)] == positions(store, scope, "a")
        assert [("1", 0), ("3", 1), ("5", 2)] == positions(store, scope, "b")

    def test_a_session_name_is_unique_within_its_scope_only(self, store, scope):
        """Two scopes may each have a session `s1`; their turns do not mix."""
        other = new_scope(store, "user:ann")
        for number in (scope, other, scope):
            store.apply(number, [added(a_turn(session="s1"))], cause())

        assert ([0, 1], [0]) == ([t.position for t in store_turns(store, scope)], [t.position for t in store_turns(store, other)])

    def test_a_turn_met_again_is_left_out(self, store, scope):
        """An external id that is known, or comes twice in one call, is stored once; its row is reported as 0."""
        store.apply(scope, [added(a_turn("one", external_id="x1"))], cause())

        done = store.apply(
            scope,
            [
                added(
                    a_turn("one", external_id="x1"), a_turn("二", external_id="x2"), a_turn("二", external_id="x2"), a_turn("three")
                )
            ],
            cause(),
        )

        assert [False, True, False, True] == [n > 0 for n in done.rows[0]]
        assert ["one", "二", "three"] == [turn.content for turn in store_turns(store, scope)]
        assert [0, 1, 2] == [turn.position for turn in store_turns(store, scope)]

    @pytest.mark.spec("S0-04")
    def test_a_hidden_turn_keeps_its_text_and_comes_back(self, reopen, store, scope):
        """Out of recall it is out of every plain read, but its row is as it was said; shown again it is the same."""
        store.apply(scope, [added(a_turn("秘密 secret"), a_turn("other"))], cause())
        turn = store_turns(store, scope)[0]

        store.apply(scope, [SetTurnHidden(turn.n, NOW, tokens(turn))], cause())
        assert ["other"] == [t.content for t in store_turns(reopen(), scope)]
        store = reopen()
        assert replace(turn, hidden_at=NOW) == store_turns(store, scope, hidden=True)[0]
        assert [0, 1] == [len(store.postings("turn", [scope], ["secret"], past=p, cap=9).found[0].ns) for p in (False, True)]
        store.apply(scope, [SetTurnHidden(turn.n, None, tokens(turn))], cause())

        assert turn == store_turns(store, scope)[0]
        assert 1 == len(store.postings("turn", [scope], ["secret"], past=False, cap=9).found[0].ns)

    def test_whether_a_turn_is_hidden_is_told_by_one_of_them(self, store, scope):
        """However many there are; none of another scope counts."""
        store.apply(scope, [added(*(a_turn(f"秘密 {k}") for k in range(5)))], cause())
        assert [] == store.hidden([scope], limit=1)
        turns = store_turns(store, scope)
        store.apply(scope, [SetTurnHidden(turn.n, NOW, tokens(turn)) for turn in turns], cause())

        assert ([turn.n for turn in turns], 1) == (sorted(store.hidden([scope])), len(store.hidden([scope], limit=1)))
        assert [] == store.hidden([new_scope(store, "user:ann")], limit=1)

    # ---------------------------------------------------------- memories

    @pytest.mark.parametrize(
        "name",
        [
            pytest.param(field.name, marks=rows_of(MEMORY_ROWS, field.name))
            for field in fields(SemanticMemory)
            if field.name not in GIVEN_BY_THE_STORE | COUNTERS | {"superseded_by", "state", "said_later"}
        ],
    )
    def test_a_memory_survives_in_every_field(self, reopen, store, scope, name):
        """Each field of a memory comes back as it went in, after a reopen."""
        memory = a_full_memory()
        assert getattr(memory, name) not in (None, (), {}, b"")
        store.apply(scope, [kept(memory)], cause())

        (found,) = reopened(reopen, scope)

        assert getattr(memory, name) == (unnumbered(found) if name == "sources" else getattr(found, name))

    @pytest.mark.spec("S0-03", "S3-10", "S3-34")
    def test_entities_relations_and_tags_are_read_with_the_memory(self, reopen, store, scope):
        """Knowledge is rows, not a file to be parsed: found by entity, by slot, by pair, with all that hangs on it."""
        memory = a_full_memory()
        store.apply(scope, [kept(memory), kept(a_memory("another 另一个"))], cause())
        store = reopen()

        for select in (
            Memories(entities=["灯笼", "月亮"]),
            Memories(slot="灯笼|version"),
            Memories(pairs=(["灯笼"], ["version", "name"])),
            Memories(external_id="mem-1"),
            Memories(sourced_in=["t9"]),
            Memories(hash=memory.content_hash),
            Memories(ids=[memory.id]),
            Memories(line=memory.line, suffix=memory.id[-9:]),
        ):
            assert [memory.id] == [found.id for found in store.memories([scope], select)]
        (found,) = store.with_details(store.memories([scope], Memories(ids=[memory.id])))
        assert (memory.entities, memory.relations, memory.tags) == (found.entities, found.relations, found.tags)
        assert memory.sources == unnumbered(found)

    @pytest.mark.spec("S3-67", "S3-34")
    def test_a_replaced_version_points_to_the_next(self, reopen, store, scope):
        """A chain of three: each names its successor, only the last is current, and all are found by their line."""
        first = a_memory("住在卑尔根", slot="user|lives in")
        second = a_memory("lives in Oslo", slot="user|lives in", line=first.line)
        third = a_memory("住在深圳", slot="user|lives in", line=first.line)
        chained(store, scope, first, second, third)
        store = reopen()

        chain = store.memories([scope], Memories(line=first.line))
        assert [second.id, third.id, None] == [version.superseded_by for version in chain]
        assert [third.id] == [v.id for v in store.memories([scope], Memories(slot="user|lives in", current=True))]

    def test_an_update_keeps_what_it_overwrote(self, store, scope):
        """The journal has the old values of the changed columns, and of the tags, and nothing else."""
        (n,) = store.apply(scope, [kept(a_full_memory())], cause()).rows[0]
        memory = store.memories([scope], Memories())[0]

        columns = {"importance": 0.1, "tags": ("beta",), "valid_to": None, "metadata": {}, "flagged_with": ()}
        later = NOW + timedelta(hours=1)
        done = store.apply(
            scope, [UpdateMemory(n, columns, index_tokens(memory))], cause("edit", at=later, actor="梅", reason="why")
        )

        (change,) = store.journal([scope], transaction=done.transaction)
        old = {name: getattr(memory, name) for name in ("importance", "valid_to", "metadata", "flagged_with")}
        assert old | {"tags": ("alpha", "项目")} == change.before
        assert ("edit", "梅", "why", later, "memories", n) == (
            change.operation, change.actor, change.reason, change.at, change.table, change.row
        )  # fmt: skip
        (now,) = store.with_details(store.memories([scope], Memories()))
        assert (0.1, ("beta",), None, {}, ()) == (now.importance, now.tags, now.valid_to, now.metadata, now.flagged_with)
        assert (later, change.number) == (now.updated_at, now.changed)

    def test_leaving_and_entering_recall_moves_the_postings(self, store, scope):
        """Archived or superseded, a memory answers only questions about the past; back again, all."""
        (n,) = store.apply(scope, [kept(a_memory("Lantern 灯笼"))], cause()).rows[0]
        memory = store.memories([scope], Memories())[0]

        def found(past: bool) -> int:
            return store.postings("memory", [scope], ["灯笼"], past=past, cap=9).found[0].documents

        for columns in ({"state": State.ARCHIVED}, {"superseded_by": memory.id, "state": State.ACTIVE}):
            store.apply(scope, [UpdateMemory(n, columns, index_tokens(memory))], cause())
            assert (0, 1, 0) == (found(past=False), found(past=True), totals(store, "memory", [scope])[0])
        store.apply(scope, [UpdateMemory(n, {"superseded_by": None}, index_tokens(memory))], cause())

        assert (1, 1, 1) == (found(past=False), found(past=True), totals(store, "memory", [scope])[0])

    def test_sources_add_up_in_order(self, store, scope):
        """Each time it was said is kept; the memory carries the number of that change."""
        (n,) = store.apply(scope, [kept(a_memory())], cause()).rows[0]
        for i in range(3):
            store.apply(scope, [AddSource(n, another_source(actor=f"第{i}个"))], cause())

        (memory,) = store.with_details(store.memories([scope], Memories()))
        assert [None, "第0个", "第1个", "第2个"] == [source.actor for source in memory.sources]
        assert store.journal([scope])[0].number == memory.changed

    def test_sources_can_move_away(self, store, scope):
        """Those named leave the row, the journal keeps them, and the row carries the number of that change."""
        (n,) = store.apply(scope, [kept(a_memory()), AddSource(1, another_source(actor="第二个"))], cause()).rows[0]
        (memory,) = store.with_details(store.memories([scope], Memories()))
        done = store.apply(scope, [RemoveSources(n, [memory.sources[1].seq])], cause())

        (memory,) = store.with_details(store.memories([scope], Memories()))
        assert [None] == [source.actor for source in memory.sources]
        assert (done.transaction, "delete") == (memory.changed, store.journal([scope])[0].action)

    @pytest.mark.parametrize("order", ["n", "said", "confirmed", "updated"])
    def test_selections_order_and_page(self, store, scope, order):
        """The same rows in each order, forwards and backwards, whole or in pages."""
        for i in (3, 1, 2):
            store.apply(
                scope,
                [
                    kept(
                        a_memory(
                            f"number {i} 号",
                            said_at=NOW + timedelta(hours=i),
                            confirmed_at=NOW + timedelta(hours=i),
                            updated_at=NOW + timedelta(days=i),
                        )
                    )
                ],
                cause(),
            )
        wanted = ["number 3 号", "number 1 号", "number 2 号"] if order == "n" else [f"number {i} 号" for i in (1, 2, 3)]

        def texts(**select: object) -> list[str]:
            return [memory.content for memory in store.memories([scope], Memories(order=order, **select))]

        assert wanted == texts()
        assert wanted[::-1] == texts(newest_first=True)
        assert wanted[1:2] == texts(limit=1, offset=1)

    def test_the_live_rows_of_a_kind_are_selected_and_counted(self, store, scope):
        """Active and current rows of one kind and scope; counted, a page does not matter, and no scope has none."""
        other = new_scope(store, "user:ann")
        first = a_memory("answer in English", kind=Kind.RULE, slot="agent|language")
        chained(store, scope, first, a_memory("用中文回答", kind=Kind.RULE, slot="agent|language", line=first.line))
        rules = [a_memory(f"rule {i} 规则", kind=Kind.RULE) for i in range(3)]
        waiting = a_memory("from a tool 来自工具", kind=Kind.RULE, state=State.CANDIDATE)
        store.apply(scope, [kept(memory) for memory in (*rules, waiting, a_memory("a fact 事实"))], cause())
        store.apply(other, [kept(a_memory("rule of Ann", kind=Kind.RULE))], cause())

        select = Memories(live_kind=Kind.RULE)
        wanted = ["用中文回答", *(rule.content for rule in rules)]
        assert wanted == [memory.content for memory in store.memories([scope], select)]
        assert wanted[:2] == [memory.content for memory in store.memories([scope], replace(select, limit=2))]
        assert (4, 4, 5, 0) == tuple(
            store.count(scopes, replace(select, limit=limit))
            for scopes, limit in (([scope], None), ([scope], 1), ([scope, other], 1), ([], None))
        )

    def test_a_version_is_had_whole_by_its_id(self, reopen, store, scope):
        """One version with all that hangs on it; in another scope it is not found."""
        memory = a_full_memory()
        store.apply(scope, [kept(memory)], cause())
        other = new_scope(store, "user:ann")

        found = reopen().version(scope, memory.id)
        assert (memory.content, memory.tags, memory.sources) == (found.content, found.tags, unnumbered(found))
        for number, id in ((other, memory.id), (scope, "nobody")):
            with pytest.raises(NotFound):
                reopen().version(number, id)

    def test_a_statement_meets_its_neighbours_in_the_order_of_saying(self, store, scope):
        """Before it or with it, after it, and live: by time, then by place in the session, then by arrival."""
        times = [(0, 0), (0, 2), (5, 1), (9, 0)]
        chain = [
            a_memory(f"v{i}", slot="k", line="line", place=place, said_at=NOW + timedelta(minutes=m))
            for i, (m, place) in enumerate(times)
        ]
        chained(store, scope, *chain)
        texts = [memory.content for memory in chain]

        for minutes in range(-1, 11):
            for place in range(4):
                met = store.conflict_set(scope, a_memory("new", slot="k", place=place, said_at=NOW + timedelta(minutes=minutes)))
                before = sum(time <= (minutes, place) for time in times)
                assert texts[before - 1 : before] == [m.content for m in (met.previous,) if m]
                assert texts[before : before + 1] == [m.content for m in (met.following,) if m]
                assert "v3" == met.live.content
                assert store.marks(scope, ["k"], [met_hash("new")]) == met.expect

    def test_a_statement_without_a_slot_meets_its_words(self, store, scope):
        """Live rows of its kind with the same words, and no others: not another kind, not the archived, not another scope."""
        other = new_scope(store, "user:ann")
        store.apply(other, [kept(a_memory("同样 same"))], cause())
        for memory in (a_memory("同样 same"), a_memory("同样 same", kind=Kind.RULE), a_memory("同样 same", state=State.ARCHIVED)):
            store.apply(scope, [kept(memory)], cause())
        (wanted, *_) = store.memories([scope], Memories())

        met = store.conflict_set(scope, a_memory("同样 same"))
        assert ([wanted.id], None, None) == ([row.id for row in met.same], met.previous, met.following)
        assert wanted.changed <= met.expect.hashes[wanted.content_hash]

    def test_a_first_value_meets_its_rivals(self, store, scope):
        """Where nobody knows how many values there can be, the live ones of subject and predicate are met, and expected."""
        slot = {"subject": "gateway", "predicate": "mode", "cardinality": Cardinality.UNKNOWN}
        store.apply(scope, [kept(a_memory("strict 严格", slot="gateway|mode|strict", **slot))], cause())
        (rival,) = store.memories([scope], Memories())

        met = store.conflict_set(scope, a_memory("lax", slot="gateway|mode|lax", **slot))
        assert [rival.id] == [row.id for row in met.rivals]
        assert {("gateway", "mode"): rival.changed} == met.expect.pairs

    def test_windows_take_their_start_and_leave_their_end(self, store, scope):
        """`since` is in the window, `until` is not; so windows that touch share nothing."""
        for i in range(3):
            at = NOW + timedelta(hours=i)
            store.apply(scope, [kept(a_memory(f"m{i}", said_at=at)), added(a_turn(f"t{i}", said_at=at))], cause())
        window = {"since": NOW, "until": NOW + timedelta(hours=2)}

        assert ["m0", "m1"] == [memory.content for memory in store.memories([scope], Memories(**window))]
        assert ["t0", "t1"] == [turn.content for turn in store.turns([scope], Turns(**window))]

    # ---------------------------------------------------------- all or nothing

    def test_a_call_is_done_whole_or_not_at_all(self, store, scope):
        """The last of many changes fails: not one of them is there, no journal row, no posting, no counter."""
        store.apply(scope, [kept(a_memory("first", id="same"))], cause())
        before = everything(store, scope)

        with pytest.raises(StoreError):
            store.apply(
                scope,
                [
                    added(a_turn("新的 new")),
                    kept(a_memory("second 新")),
                    CountAccess([1], "used"),
                    kept(a_memory("third", id="same")),
                ],
                cause(),
            )

        assert before == everything(store, scope)
        assert 0 == store.postings("turn", [scope], ["new"], past=True, cap=9).found[0].documents

    @pytest.mark.parametrize("kind", ["row", "row gone", "slot", "slot taken", "text"])
    def test_a_decision_on_what_has_changed_is_refused(self, store, scope, kind):
        """If a row, a slot or a text is not as it was seen, Stale is raised and nothing is written."""
        (n,) = store.apply(scope, [kept(a_memory("Ann", slot="k"))], cause()).rows[0]
        memory = store.memories([scope], Memories())[0]
        seen = store.marks(scope, ["k", "free"], [memory.content_hash])
        expect = {
            "row": Expect(rows={n: memory.changed}),
            "row gone": Expect(rows={n + 1: 5}),
            "slot": Expect(slots={"k": seen.slots["k"]}),
            "slot taken": Expect(slots={"k": 0}),
            "text": Expect(hashes=seen.hashes),
        }[kind]
        store.apply(scope, [UpdateMemory(n, {"importance": 0.9}, index_tokens(memory))], cause())
        before = everything(store, scope)

        with pytest.raises(Stale):
            store.apply(scope, [kept(a_memory("Bob")), AddScope("new")], cause(), expect)

        assert before == everything(store, scope)
        assert store.scope("new") is None

    def test_a_decision_on_what_still_holds_is_applied(self, store, scope):
        """Changes elsewhere disturb nobody: other rows, slots and texts may move."""
        (n,) = store.apply(scope, [kept(a_memory("Ann", slot="k"))], cause()).rows[0]
        memory = store.memories([scope], Memories())[0]
        seen = replace(store.marks(scope, ["k", "free"], [memory.content_hash, b"none"]), rows={n: memory.changed})
        store.apply(scope, [kept(a_memory("另一个", slot="other")), CountAccess([n], "used")], cause())

        assert store.apply(scope, [kept(a_memory("Bob", slot="free"))], cause(), seen).transaction

    def test_one_live_value_a_slot_and_one_live_row_a_text(self, store, scope):
        """The backstop of every decision: the store itself refuses a second live value or a second live copy."""
        store.apply(scope, [kept(a_memory("住在 Oslo", slot="home"))], cause())

        for second in (a_memory("lives in Bergen", slot="home"), a_memory("住在 Oslo")):
            with pytest.raises(StoreError):
                store.apply(scope, [kept(second)], cause())
        for allowed in (
            a_memory("flagged", slot="home", flag="conflict"),
            a_memory("past", slot="home", id="p", superseded_by="p"),
            a_memory("gone", slot="home", state=State.ARCHIVED),
        ):
            store.apply(scope, [kept(allowed)], cause())

        assert 4 == len(store.memories([scope], Memories()))

    def test_a_receipt_is_kept_once(self, reopen, store, scope):
        """The first result under a key is what a later reader gets; a second write under it is Stale and writes nothing."""
        done = store.apply(scope, [kept(a_memory("one")), Receipt("键", b"d1", {"ids": ["一"]})], cause())
        with pytest.raises(Stale):
            store.apply(scope, [kept(a_memory("two")), Receipt("键", b"d2", {})], cause())

        assert (b"d1", {"ids": ["一"], "operation": done.transaction}) == reopen().receipt(scope, "键")
        assert 1 == len(reopen().memories([scope], Memories()))
        assert reopen().receipt(scope, "none") is None

    # ---------------------------------------------------------- access

    @pytest.mark.spec("S0-07", "S0-69", "S0-70", "S0-71")
    def test_an_access_moves_its_own_counter_and_time(self, reopen, store, scope):
        """Each kind of access counts for itself; together they are the access count, the latest is the last access."""
        (n,) = store.apply(scope, [kept(a_memory())], cause()).rows[0]
        for i, access in enumerate(("retrieved", "used", "retrieved", "mentioned")):
            store.apply(scope, [CountAccess([n], access)], cause(at=NOW + timedelta(minutes=i)))

        (memory,) = reopened(reopen, scope)
        assert (2, 1, 1, 4) == (memory.retrieved, memory.used, memory.mentioned, memory.access_count)
        assert NOW + timedelta(minutes=3) == memory.last_accessed_at
        assert NOW + timedelta(minutes=2) == memory.last_retrieved

    @pytest.mark.spec("S0-70")
    def test_within_a_day_an_access_can_count_once(self, store, scope):
        """With `since`, a row already accessed so since then is passed over, and only the counted are named."""
        one, two = (store.apply(scope, [kept(a_memory(text))], cause()).rows[0][0] for text in ("one", "二"))
        store.apply(scope, [CountAccess([one], "retrieved", since=NOW)], cause(at=NOW + timedelta(hours=1)))

        done = store.apply(scope, [CountAccess([one, two], "retrieved", since=NOW)], cause(at=NOW + timedelta(hours=2)))

        assert ((two,),) == done.rows
        assert [1, 1] == [memory.retrieved for memory in store.memories([scope], Memories())]

    def test_an_access_is_no_change(self, store, scope):
        """Counters move without a journal row, and without making anybody's decision stale."""
        (n,) = store.apply(scope, [kept(a_memory())], cause()).rows[0]
        before, memory = store.journal([scope]), store.memories([scope], Memories())[0]

        done = store.apply(scope, [CountAccess([n], "used")], cause(), Expect(rows={n: memory.changed}))

        assert 0 == done.transaction
        assert before == store.journal([scope])
        assert (memory.changed, memory.updated_at) == (store.memories([scope], Memories())[0].changed, memory.updated_at)

    # ---------------------------------------------------------- the journal and the counts

    def test_the_journal_tells_newest_first_and_can_be_asked(self, store, scope):
        """By transaction, by row, by time, at most so many; a batch of turns is one row, an insert has no image."""
        store.apply(scope, [added(a_turn("一"), a_turn("two")), kept(a_memory())], cause("both"))
        memory = store.memories([scope], Memories())[0]
        later = cause("edit", at=NOW + timedelta(days=1))
        done = store.apply(scope, [UpdateMemory(memory.n, {"importance": 0.9}, index_tokens(memory))], later)

        entries = store.journal([scope])
        assert [("edit", "update"), ("both", "insert"), ("both", "insert")] == [(c.operation, c.action) for c in entries[:3]]
        assert [c.number for c in entries] == sorted((c.number for c in entries), reverse=True)
        assert [done.transaction] == [c.number for c in store.journal([scope], since=NOW)]
        assert ["edit", "both"] == [c.operation for c in store.journal([scope], table="memories", row_ns=[memory.n])]
        assert [2] == [c.count for c in store.journal([scope], table="conversation_turns")]
        assert [None, None] == [c.before for c in entries[1:3]]
        assert 1 == len(store.journal([scope], limit=1))

    def test_counts_are_what_is_there(self, store, scope):
        """Turns, sessions, memories by state and kind, entities, relations, tags, journal rows, first and last time."""
        other = NOW + timedelta(days=2)
        store.apply(scope, [added(a_turn(session="a"), a_turn(session="b", said_at=other))], cause())
        first = a_memory("一", slot="k")
        second = a_memory("two", slot="k", line=first.line)
        chained(store, scope, first, second)
        store.apply(scope, [kept(a_full_memory())], cause())

        counts = store.upkeep.counts([scope])
        assert {"active": 2, "superseded": 1} == counts["memories"]
        assert {"fact": 1, "skill": 1} == counts["kinds"]
        assert (2, 2, NOW, other) == tuple(counts[n] for n in ("turns", "sessions", "first_said_at", "last_said_at"))
        assert (2, 2, 2) == tuple(counts[n] for n in ("entities", "relations", "tags"))
        assert len(store.journal([scope])) == counts["changes"]

    def test_what_waits_for_a_person_is_counted(self, store, scope):
        """Candidates, and the live memories that contradict others; not those that are superseded or archived."""
        flagged = {"flag": "conflict", "flagged_with": ("a",)}
        rows = [
            a_memory("one", **flagged),
            a_memory("two", **flagged, state=State.ARCHIVED),
            a_memory("三", state=State.CANDIDATE),
            a_memory("four", state=State.CANDIDATE),
        ]
        store.apply(scope, [kept(row) for row in rows], cause())

        assert (2, 1) == store.upkeep.review_counts([scope])

    def test_turns_that_nobody_learned_from_are_counted(self, store, scope):
        """Behind the mark, and not dealt with ahead of it; of this scope alone."""
        ns = [n for _ in range(4) for n in store.apply(scope, [added(a_turn())], cause()).rows[0]]
        store.apply(scope, [Learned(upto=ns[0], since=0), Learned(turns=[ns[2]])], cause())

        assert 2 == store.learning.waiting(scope)

    def test_a_merge_changes_nothing_that_is_found(self, store, scope):
        """Postings in recall and out of it are the same before and after; a row that leaves afterwards is gone."""
        turns = [a_turn(f"lantern 灯笼 {i}") for i in range(30)]
        ns = [n for one in turns for n in store.apply(scope, [added(one)], cause()).rows[0]]
        store.apply(scope, [SetTurnHidden(ns[3], NOW, tokens(turns[3]))], cause())

        def found(past):
            return [
                sorted(one.ns.tolist()) for one in store.postings("turn", [scope], ["lantern", "灯笼"], past=past, cap=99).found
            ]

        before = found(False), found(True)
        store.upkeep.merge()
        assert before == (found(False), found(True))
        store.apply(scope, [SetTurnHidden(ns[4], NOW, tokens(turns[4]))], cause())
        assert [28, 28] == [len(each) for each in found(False)]

    def test_the_store_says_what_it_is(self, reopen, store):
        """Its id stays the same for ever; its schema, analyzer and engine are named."""
        about = store.upkeep.about()

        assert about["store_id"] == reopen().upkeep.about()["store_id"]
        assert analyze.VERSION == about["analyzer"]
        assert about["schema"] >= 1
        assert about["bytes"] > 0

    # ---------------------------------------------------------- the life of a handle

    def test_a_closed_store_says_so(self, store, scope):
        """Every verb of a closed store raises Closed; closing it again does nothing."""
        store.close()
        store.close()

        for call in (
            lambda: store.apply(scope, [kept(a_memory())], cause()),
            lambda: store.scope("another"),
            lambda: store.marks(scope, ["k"], []),
            lambda: store.memories([scope], Memories()),
            lambda: store.turns([scope], Turns()),
            lambda: store.postings("memory", [scope], ["a"], past=False, cap=1),
            lambda: totals(store, "memory", [scope]),
            lambda: store.journal([scope]),
            lambda: store.receipt(scope, "k"),
            lambda: store.upkeep.counts([scope]),
            store.upkeep.about,
            store.upkeep.ensure_open,
        ):
            with pytest.raises(Closed):
                call()
