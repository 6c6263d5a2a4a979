"""The full-text index: exactly the analyzer's tokens, separate by scope and state."""

import math
import unicodedata
from collections import Counter

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from integrity import check
from store.looking import new_scope, totals
from store.samples import HOSTILE_TEXTS, a_memory, a_turn, added, cause, kept

from yiku.flows.common.turn_texts import tokens
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.text import analyze
from yiku.store import index
from yiku.store.sqlite import SqliteStore
from yiku.types import Memories, SetTurnHidden, State, Turns, UpdateMemory

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
SCRIPTS = st.text(st.sampled_from("aé ß'._-@/:+#灯笼々〇ー한ไทยहिन्ع́️👍🏽‍①Ⅳ½_\n　ＡＺ"), max_size=40)


@pytest.fixture
def store(tmp_path, made):
    made(tmp_path)
    store = SqliteStore(tmp_path / "yiku.db", gate=tmp_path / "lock", analyzer=analyze.VERSION)
    yield store
    store.close()
    check(tmp_path / "yiku.db")


def written(store: SqliteStore, name: str) -> Counter[str]:
    """Every token that an index holds, as it is written there, and in how many rows."""
    connection = store._database.connection()
    if name not in store._database.indexed():
        index.prepare(connection, name)
        store._database.indexed().add(name)
    return Counter(dict(connection.execute(f"select term, count(*) from temp.{name}_places group by term").fetchall()))


def analysed(texts: list[str], prefix: str) -> Counter[str]:
    """Every token that the analyzer makes of some texts, under a prefix, and in how many of them."""
    return Counter(
        f"{prefix}{token}" for text in texts for token in {*analyze.tokens(text).words, *analyze.tokens(text).characters}
    )


@pytest.mark.spec("T-21", "T-22")
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_the_index_holds_as_many_tokens_as_the_analyzer_made(store, text):
    """FTS5 cuts no token of ours in two, drops none and joins none, whatever the script."""
    scope = new_scope(store, "user:mei")
    store.apply(scope, [added(a_turn(text))], cause())

    assert analysed([text], f"s{scope}q") == written(store, "turn")


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True, database=None
)
@given(st.lists(ANY_TEXT | SCRIPTS, min_size=5, max_size=30))
@example([chr(i) + "a" + chr(i) for i in range(1, 0x3000, 3) if unicodedata.category(chr(i)) != "Cs"])
@pytest.mark.long
def test_any_text_at_all_is_indexed_token_for_token(store, texts):
    """The same, for texts that nobody thought of."""
    scope = new_scope(store, f"scope{store.scope('x') or 0}-{len(store._database.scopes)}")
    store.apply(scope, [added(*(a_turn(text) for text in texts))], cause())

    prefix = f"s{scope}q"
    found = Counter({token: n for token, n in written(store, "turn").items() if token.startswith(prefix)})
    assert analysed(texts, prefix) == found


@pytest.mark.spec("T-21", "S4-38")
@pytest.mark.parametrize("past", [False, True])
def test_postings_are_what_counting_by_hand_gives(store, past):
    """For every term of every text: the rows that hold it, and how many there are, as a loop would count them."""
    scope, other = new_scope(store, "user:mei"), new_scope(store, "user:ann")
    texts = [f"{text} tea 茶 {'tea ' * (i % 4)}" for i, text in enumerate(HOSTILE_TEXTS * 3)]
    for number in (scope, other):
        store.apply(number, [added(*(a_turn(text) for text in texts))], cause())
    for turn in store.turns([scope], Turns())[::5]:
        store.apply(scope, [SetTurnHidden(turn.n, cause().at, tokens(turn))], cause())
    rows = {turn.n: [*tokens(turn).words, *tokens(turn).characters] for turn in store.turns([scope], Turns(hidden=past))}
    terms = [*sorted({term for found in rows.values() for term in found}), "never-said", "从未"]

    for posting in store.postings("turn", [scope], terms, past=past, cap=10**6).found:
        holding = sorted(n for n, found in rows.items() if posting.term in found)
        assert (holding, len(holding)) == (sorted(posting.ns.tolist()), posting.documents), posting.term


@pytest.mark.parametrize("large", [False, True])
def test_a_term_beyond_the_cap_is_counted_and_not_fetched(store, monkeypatch, large):
    """A common term of a large scope costs a count, not its rows; that of a small one is told no otherwise."""
    scope = new_scope(store, "user:mei")
    store.apply(scope, [added(*(a_turn(f"common 常见 rare{i // 9}") for i in range(20)))], cause())
    monkeypatch.setattr(index, "FETCH_ALL", 10 if large else 1_000)

    common, rare = store.postings("turn", [scope], ["common", "rare0"], past=False, cap=15).found
    assert (20, 0) == (common.documents, len(common.ns))
    assert (9, 9) == (rare.documents, len(rare.ns))


@pytest.mark.spec("S1-52")
def test_a_scope_prefix_never_reaches_into_another(store):
    """Scope 1 beside scopes 10 to 19 and 111, all with tokens that look like prefixes: each finds its own rows only."""
    numbers = [new_scope(store, f"scope{i}") for i in range(20)]
    for number in numbers:
        store.apply(number, [added(a_turn("tea s1qtea 1qtea qtea h1qtea 茶"))], cause())
    mine = {number: {turn.n for turn in store.turns([number], Turns())} for number in numbers}

    for number in numbers:
        for term in ("tea", "1qtea", "qtea", "s1qtea", "h1qtea", "茶"):
            (posting,) = store.postings("turn", [number], [term], past=True, cap=99).found
            assert mine[number] == {*posting.ns.tolist()}, (number, term)
    assert 2 == store.postings("turn", numbers[:2], ["tea"], past=False, cap=99).found[0].documents


def test_what_leaves_recall_leaves_no_postings_behind(store):
    """Archived, all of them: not one token under `s`; back again: not one under `h`."""
    scope = new_scope(store, "user:mei")
    for text in HOSTILE_TEXTS:
        store.apply(scope, [kept(a_memory(text)), added(a_turn(text))], cause())

    def moved(state: State, hidden: bool) -> None:
        for memory in store.memories([scope], Memories()):
            store.apply(scope, [UpdateMemory(memory.n, {"state": state}, index_tokens(memory))], cause())
        for turn in store.turns([scope], Turns(hidden=True)):
            store.apply(scope, [SetTurnHidden(turn.n, cause().at if hidden else None, tokens(turn))], cause())

    for state, hidden, side in ((State.ARCHIVED, True, "h"), (State.ACTIVE, False, "s"), (State.JUNK, True, "h")):
        moved(state, hidden)
        for name in ("memory", "turn"):
            assert {side} == {token[0] for token in written(store, name)}
            assert totals(store, name, [scope])[0] == (0 if hidden else len(HOSTILE_TEXTS))


def test_a_length_travels_with_its_posting_within_7_percent(store):
    """From one word to six thousand, the length that BM25 sees is that of the row, within 7 %."""
    scope = new_scope(store, "user:mei")
    lengths = [*range(1, 60), 100, 333, 1_000, 2_500, 6_000]
    for length in lengths:
        store.apply(scope, [added(a_turn("tea " * length))], cause())

    (posting,) = store.postings("turn", [scope], ["tea"], past=False, cap=10**6).found
    assert len(lengths) == posting.documents
    assert max(abs(math.log(seen / length)) for seen, length in zip(posting.lengths, lengths, strict=True)) <= math.log(1.075)
    assert (len(lengths), sum(lengths)) == totals(store, "turn", [scope])


def test_an_update_that_changes_no_standing_leaves_the_index_alone(store):
    """New importance, new tags: the postings stay as they are."""
    scope = new_scope(store, "user:mei")
    (n,) = store.apply(scope, [kept(a_memory("Lantern 灯笼"))], cause()).rows[0]
    before, memory = written(store, "memory"), store.memories([scope], Memories())[0]

    store.apply(scope, [UpdateMemory(n, {"importance": 0.1, "tags": ("x",)}, index_tokens(memory))], cause())

    assert before == written(store, "memory")
