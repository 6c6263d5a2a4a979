"""`erase`: the content leaves every byte of the home, everything else stays, and the receipt is true."""

import hashlib
import json
import os
import random
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path

import apsw
import canaries
import cpu
import grown
import integrity
import pytest
from powers import permissions_hold
from sampling import drawn_for
from schemas import to_schema_1
from workers import READY

from yiku import Memory
from yiku.errors import CannotUndo, InvalidInput, NotFound
from yiku.flows.erase import erase
from yiku.rules.deciding import conflict
from yiku.rules.privacy import erasure
from yiku.types import Turn, TurnRecord

LONG = "The lantern burns. 灯笼亮着。\n" * 1_050  # twice it is a text that becomes a blob


@pytest.fixture
def words() -> dict[str, str]:
    return some_words()


def some_words() -> dict[str, str]:
    """Canaries by where they will be said."""
    chance = random.Random(20260301)
    places = (
        "content object tag metadata key basis source entity relation session speaker external tool result long reason before receipt"
        " other agent blobbed project parent"
    ).split() + grown.PLACES
    return {place: canaries.latin(chance) for place in places} | {f"{place} 中": canaries.chinese(chance) for place in places}


def phrase(words: dict[str, str], place: str) -> str:
    return f"{words[place]} {words[f'{place} 中']}"


def neighbours(memory: Memory, words: dict[str, str]) -> None:
    """What others say, in this scope and beside it: common words, and nothing of the canaries."""
    for i in range(8):
        memory.record_turn("user", f"I water plant {i} of the garden. 我浇了第{i}棵花。", session=f"garden-{i % 3}")
        memory.remember(f"Plant {i} likes water. 第{i}棵花喜欢水。", metadata={"plant": i}, tags=["garden"])
    for scope in ("user:tom", "public"):
        with Memory(memory.settings.home, scope=scope) as other:
            other.record_turn("user", "The secret word of my garden is tulip. 我的花园里有郁金香。")
            other.remember("My name is Tom.")


def everything_said(memory: Memory, words: dict[str, str]) -> str:
    """One statement, and canaries wherever a statement and its turn can hold any; its id."""
    turn = memory.record_turn(
        "user",
        f"It rained. The word is {phrase(words, 'content')}. It was cold.",
        session="s-rain",
        speaker="Ann",
        external_id="rain-1",
        tool_calls=[{"name": "look", "input": {"path": "a.md"}}],
        tool_results=[{"content": f"heard: the word is {phrase(words, 'content')}"}],
    )
    grown.out_of(memory, turn, words, says=f"The word is {phrase(words, 'content')}.", folder=Path(memory.settings.home))
    kept = memory.remember(
        f"The word is {phrase(words, 'content')}.",
        subject="Ann",
        predicate="watchword",
        object=phrase(words, "object"),
        tags=[words["tag"], words["tag 中"]],
        metadata={words["key"]: {"of": phrase(words, "metadata")}},
        basis=phrase(words, "basis"),
        entities=[words["entity"], words["entity 中"]],
        relations=[("Ann", "knows", phrase(words, "relation"))],
        external_id=words["external"],
        agent=words["agent"],
        project=words["project 中"],
        session=words["session"],
        speaker="Ann",
        idempotency_key=words["receipt"],
    ).memory
    memory.remember(
        f"THE WORD IS {phrase(words, 'content').upper()}",
        source=turn.id,
        subject="Ann",
        predicate="watchword",
        object=phrase(words, "object"),
    )
    memory.update(kept.id, metadata={"now": "nothing"}, basis=phrase(words, "before"))
    memory.update(kept.id, basis="none")
    memory.feedback(kept.id, "used")
    memory.forget(kept.id, reason=phrase(words, "reason"))
    memory.restore(kept.id)
    memory.record_turn("user", LONG + f"The word is {phrase(words, 'content')}. " + LONG, session="s-long", external_id="long-1")
    return kept.id


def a_turn_with(memory: Memory, words: dict[str, str], **details: object) -> str:
    """A turn with canaries in every field, a long result among them; its id."""
    turn = memory.record_turn(
        "user",
        f"My other word is {phrase(words, 'other')}. Please fix the login of {phrase(words, 'other')}.",
        speaker=phrase(words, "speaker"),
        tool_calls=[{"name": "look", "input": {words["key"]: phrase(words, "tool")}}],
        tool_results=[
            {"content": phrase(words, "result")},
            {"content": f"{LONG} {phrase(words, 'long')} {LONG} {phrase(words, 'blobbed')}"},
        ],
        metadata={"note": phrase(words, "metadata")},
        external_id=words["external"],
        parent=words["parent"],
        agent=words["agent"],
        project=words["project"],
        **details,
    )
    grown.out_of(memory, turn, words, says=phrase(words, "other"), folder=Path(memory.settings.home))
    return turn.id


def copies_made(home: Path, words: dict[str, str]) -> None:
    """Every sort of copy that may lie in a home: a backup, one of schema 1, a damaged file, what dead processes left."""
    with Memory(home) as memory:
        memory.admin.backup()
    (backup,) = (home / "backups").glob("yiku-*.db")
    older = home / "backups" / "before-schema-2.db"
    shutil.copy(backup, older)
    with apsw.Connection(str(older)) as connection:
        to_schema_1(connection)
    connection.close()
    (home / "damaged" / "20260301").mkdir(parents=True)
    (home / "damaged" / "20260301" / "yiku.db").write_bytes(backup.read_bytes()[:-3_000])
    (home / "backups" / ".sweepabc").mkdir()
    shutil.copy(backup, home / "backups" / ".sweepabc" / "yiku.db")
    shutil.copy(backup, home / "backups" / ".yiku-1.db.0123456789ab")
    for place in (home / ".yiku.toml.0123456789ab", home / "blobs" / ".abc.z.0123456789ab"):
        place.write_text(" ".join(words.values()))
        os.utime(place, (1, 1))


def recorded(memory: Memory, *texts: str, session: str = "default") -> list[Turn]:
    """What a user said, as no more than turns: nothing is learned from them."""
    ids = memory.record([{"role": "user", "content": text} for text in texts], session=session).ids
    return [memory.get(id) for id in ids]


def reads(memory: Memory) -> object:
    """All that a scope answers."""
    turns = memory.timeline(limit=1_000)
    return (
        [replace(item, retrieved=0) if hasattr(item, "retrieved") else item for item in turns],
        memory.get_all(limit=1_000),
        [hit.id for hit in memory.recall("garden plant water 花园 郁金香 name")],
        memory.admin.stats().turns,
        memory.admin.journal(limit=1_000),
    )


SAID_WHERE = {
    "statement": lambda memory, words: {"id": everything_said(memory, words)},
    "turn": lambda memory, words: {"id": a_turn_with(memory, words, session="s-other")},
    "session": lambda memory, words: (
        a_turn_with(memory, words, session=phrase(words, "session")) and {"session": phrase(words, "session")}
    ),
    "source": lambda memory, words: (
        a_turn_with(memory, words, actor=words["content"], origin="file") and {"source": words["content"]}
    ),
    "time": lambda memory, words: (
        a_turn_with(memory, words, said_at="2020-05-05") and {"since": "2020-05-01", "until": "2020-06-01"}
    ),
    "scope": lambda memory, words: (
        everything_said(memory, words),
        a_turn_with(memory, words, session=phrase(words, "session")),
        {"everything": True, "confirm": memory.scope},
    )[2],
}


@contextmanager
def another_has_it_open(home: Path) -> Iterator[None]:
    """Meanwhile another process has looked into the home, and keeps it open."""
    ours, theirs = READY.Pipe()
    process = READY.Process(target=_keep_open, args=(home, theirs))
    process.start()
    assert ours.recv()
    try:
        yield
    finally:
        ours.send("enough")
        process.join()


def _keep_open(home: Path, ask: Connection) -> None:
    with Memory(home) as memory:
        ask.send(memory.status().home)
        ask.recv()


TRIED = drawn_for("what is erased")([*SAID_WHERE], 1)  # in the soak all


@pytest.mark.parametrize("word", ["insertscopes", "deconversation_turns"])
def test_a_word_that_two_fields_make_up_where_they_meet_is_no_trace(home, word):
    """The journal writes `insert` beside `scopes`: who erases `insertscopes` is not told that it is still there."""
    with Memory(home) as memory:
        turn = memory.record_turn("user", f"The word is {word}. 暗号是{word}。")
        erased = memory.admin.erase(turn.id)
        assert erased.clean, [place for place in erased.places if place.found]


def test_a_word_that_a_row_holds_is_found_however_the_row_came_to_it(home):
    with Memory(home) as memory:
        turn = memory.record_turn("user", "The word is lanternquay. 暗号是灯笼。")
        memory.close()
    with apsw.Connection(str(home / "yiku.db")) as connection:
        connection.execute("create table other (words text)")
        connection.execute("insert into other values ('beside the lanternquay')")
    connection.close()
    with Memory(home) as memory:
        (left,) = [place for place in memory.admin.erase(turn.id).places if place.found]
        assert "yiku.db" == left.name
        assert "lanternquay" in left.found


@pytest.mark.parametrize("what", TRIED)
@pytest.mark.spec("T-39")
def test_what_is_erased_is_in_no_byte_of_the_home(home, words, what):
    """No piece of a canary is left in any file: rows, index, journal, receipts, blobs, backups, damaged and forgotten files, WAL."""
    assert [] == heard_after_erasing(home, words, what)


def heard_after_erasing(home: Path, words: dict[str, str], what: str) -> list[str]:
    """Say the canaries everywhere, make every sort of copy, erase; where they are heard then. The rest is checked here."""
    with Memory(home, owner="user:mei", names=["Mei"], durability="fast") as memory:
        neighbours(memory, words)
        meant = SAID_WHERE[what](memory, words)
    copies_made(home, words)
    heard = canaries.sung(home, words.values())
    assert [] == [place for place in grown.PLACES if not any(f": {words[place]} " in one for one in heard)], "a canary is not there"
    with another_has_it_open(home), Memory(home) as memory, Memory(home, scope="user:tom") as tom:
        others = reads(tom)
        erased = memory.admin.erase(**meant)

        assert [] == canaries.sung(home, words.values())
        assert erased.clean, [place for place in erased.places if place.found]
        assert erased.looked_for > 20
        assert others == reads(tom)
        assert () == tuple(trouble for trouble in memory.status().troubles if "erasure" in trouble)
    integrity.check(home / "yiku.db")
    for path in (home / "backups").glob("*.db"):
        copies = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        assert "ok" == copies.pragma("integrity_check")
        copies.close()
    return canaries.sung(home, words.values())


def test_a_stem_that_another_row_has_proves_nothing(memory):
    """What is indexed as `happi` because somebody is happy is no trace of the happiness that was erased."""
    memory.record_turn("user", "The happy gardener sings. 花园")
    happiness = memory.remember("Happiness of the zealous juggler").memory
    erased = memory.admin.erase(happiness.id)

    assert erased.clean, [place for place in erased.places if place.found]
    assert [] == [place for place in erased.places if place.found]


def test_many_rows_leave_the_index_at_once(memory, home):
    """A session of hundreds of turns: the index is written anew without them, and no piece of a word stays in it."""
    chance = random.Random(3)
    words = [canaries.chinese(chance) if i % 3 == 0 else canaries.latin(chance) for i in range(250)]
    memory.record([{"role": "user", "content": f"My word is {word}.", "session": "many"} for word in words])
    kept = memory.record_turn("user", "My word is tulip. 郁金香", session="few")

    assert memory.admin.erase(session="many").clean
    assert [] == canaries.sung(home, words)
    assert [kept.id] == [hit.id for hit in memory.recall("tulip word 郁金香")]


@pytest.mark.parametrize("count", [200, 300])
def test_a_slot_of_many_versions_leaves_no_word_in_the_index(memory, home, count):
    """Hundreds of versions and the turns that said them go at once: FTS5 merges what it flushes, and no word may be left over."""
    chance = random.Random(3)
    words = [canaries.chinese(chance) if i % 3 == 0 else canaries.latin(chance) for i in range(count)]
    for i, word in enumerate(words):
        memory.record_turn("user", f"By the way, my boss is called {word.capitalize()} {i}. We had lunch.", session=f"s{i // 20}")
    erased = memory.admin.erase(memory.get_all()[0].id)

    assert (count, True) == (len(erased.memories), erased.clean)
    assert [] == canaries.sung(home, words)


def test_an_erasure_costs_no_more_a_version_however_many_there_are(memory):
    """Ten times the versions of a slot, learned from as many turns, take ten times the steps, not a hundred times."""

    def steps(who: str, count: int) -> int:
        for i in range(count):
            memory.record_turn("user", f"My {who} is called {who.capitalize()}{i}.", session=f"s{i // 20}")
        (newest,) = [found for found in memory.get_all() if f"my {who}" in found.content.casefold()]
        return cpu.calls(lambda: memory.admin.erase(newest.id))

    few, many = steps("boss", 30), steps("dentist", 300)
    assert many < 13 * few


# ------------------------------------------------------------------ what stays


def test_the_other_sentences_of_a_turn_stay_as_they_are(memory):
    """A sentence that says it gives way to a mark; every other byte is as it was, in both languages, at odd places."""
    said = [
        ("First, tea.  My locker code is 4711.\n\tThen: rain…", "First, tea.  [erased]\n\tThen: rain…"),
        ("先喝茶。我的储物柜密码是 4711！然后下雨😀", "先喝茶。[已抹去]然后下雨😀"),
        ("See v3.10 at http://a.b/c?d=e; my LOCKER code is ４７１１", "See v3.10 at http://a.b/c?d=e; [erased]"),
    ]
    turns = [memory.record_turn("user", text) for text, _ in said]
    kept = [memory.remember(text).memory for text in ("My locker code is 4711.", "我的储物柜密码是 4711！")]
    erased = [memory.admin.erase(one.id) for one in kept]

    assert [left for _, left in said] == [memory.get(turn.id).content for turn in turns]
    assert all(one.clean for one in erased)


def test_what_only_a_tool_said_goes_too(memory):
    """A turn that says nothing of it, but whose tool was told and gave it: those sentences go, the rest stays."""
    calls = [{"name": "note", "input": {"text": "My locker code is 4711. Thanks", "page": 4711}}]
    turn = memory.record_turn(
        "assistant", "Noted. 记下了", tool_calls=calls, tool_results=[{"content": "saved: ok\nMY LOCKER CODE IS 4711"}]
    )
    erased = memory.admin.erase(memory.remember("My locker code is 4711.").memory.id)
    left = memory.get(turn.id)

    assert ("Noted. 记下了", [turn.id]) == (left.content, [one.id for one in erased.redacted])
    assert {"text": "[erased] Thanks", "page": 4711} == left.tool_calls[0]["input"]
    assert "saved: ok\n[erased]" == left.tool_results[0]["content"]


def test_what_followed_it_no_longer_names_it(memory, home, words):
    """A turn that answers an erased one stays as it was, but for the id of that which it answered."""
    first = memory.record_turn("user", "你好 hello", external_id=words["external"])
    answer = memory.record_turn("assistant", "Hello! 你好", parent=words["external"], external_id="a-2")
    memory.admin.erase(first.id)

    assert replace(answer, parent=None) == memory.get(answer.id)
    assert [] == canaries.sung(home, [words["external"]])


def test_words_that_only_look_like_it_stay(memory):
    """`I like tea` is not said by `I like teapots`, nor 我喜欢茶 by 我喜欢茶叶; a contradiction, a question about another stay too."""
    others = [
        "I like teapots.",
        "Joann says: I like tearooms",
        "I like green tea most.",
        "我喜欢茶叶。",
        "我不喜欢喝茶。",
        "Do you like tea?",
        "I live in Oslo.",
    ]
    turns = [memory.record_turn("user", text) for text in others]
    kept = [memory.remember(text).memory for text in ("I like teapots.", "我喜欢茶叶。")]
    for text in ("I like tea", "我喜欢茶"):
        turn = memory.record_turn("user", f"{text}. Bye")
        memory.admin.erase(memory.remember(text, source=turn.id, despite_erasure=True).memory.id)

        assert "Bye" == memory.get(turn.id).content[-3:]
    assert others == [memory.get(turn.id).content for turn in turns]
    assert all(memory.get(one.id).live for one in kept)


def test_the_versions_around_it_close_up(memory):
    """When the turn goes in which the second of three homes was told, the first is succeeded by the third."""
    turns = recorded(memory, *(f"I live in {place}" for place in ("Bergen", "Oslo", "北京")))
    told_ = [memory.remember(turn.content, source=turn.id).memory for turn in turns]
    memory.admin.erase(turns[1].id)

    assert ["I live in Bergen", "I live in 北京"] == [version.content for version in memory.history(told_[2].id)]
    assert told_[2].id == memory.get(told_[0].id).superseded_by
    memory.admin.erase(turns[2].id)
    assert memory.get(told_[0].id).live


def test_a_statement_that_was_told_anew_closes_up_without_a_slot(memory, clock):
    """Of a statement that fills no slot and was updated, the version goes that was told in the erased time; the one before is live."""
    first = memory.remember("The parcel came on Monday").memory
    clock.advance(days=2)
    second = memory.update(first.id, "The parcel came on Tuesday, 周二")
    memory.admin.erase(since=clock.now - timedelta(days=1))

    assert memory.get(first.id).live
    with pytest.raises(NotFound):
        memory.get(second.id)


@pytest.mark.parametrize("goes", [0, 1])
def test_a_statement_told_twice_keeps_only_what_the_other_telling_said(memory, home, words, goes):
    """The statement stays with the words of the telling that stays; the words and details of the one that goes are nowhere."""
    texts = [f"I live in {words['content'].capitalize()}", f"I live in {words['content'].upper()}!"]
    turns = [recorded(memory, text, session=f"s{i}")[0] for i, text in enumerate(texts)]
    first = memory.remember("I live in Bergen").memory
    memory.remember(texts[0], source=turns[0].id, basis=words["basis 中"], tags=[words["tag"]], metadata={"of": words["metadata"]})
    told_again = memory.remember(texts[1], source=turns[1].id)
    assert "Confirmed" == type(told_again).__name__
    erased = memory.admin.erase(session=f"s{goes}")

    assert ((), 1) == (erased.memories, len(erased.kept))
    (kept,) = memory.get_all()
    assert (texts[1 - goes], [turns[1 - goes].id]) == (kept.content, [source.turn for source in kept.sources])
    assert kept.id == memory.get(first.id).superseded_by
    left = b"".join(content for path in sorted(home.rglob("yiku.db*")) for content in canaries.contents(path))
    assert texts[goes].encode() not in left
    assert [] == canaries.sung(home, [words["basis 中"], words["tag"], words["metadata"]] if goes == 0 else [])
    assert erased.clean, [place for place in erased.places if place.found]
    assert "Confirmed" == type(memory.remember(texts[1 - goes])).__name__


def test_what_was_forgotten_and_said_again_goes_twice(memory, home):
    """The same statement in an older, forgotten line is erased with the live one, so `restore` has nothing to bring back."""
    old = memory.remember("My locker code is 4711").memory
    memory.forget(old.id)
    new = memory.remember("my locker code is ４７１１！").memory
    assert old.line != new.line
    erased = memory.admin.erase(new.id)

    assert {old.id, new.id} == {one.id for one in erased.memories}
    with pytest.raises(NotFound):
        memory.restore(old.id)


def test_a_scope_that_was_erased_whole_is_in_no_backup_by_name(memory, home):
    """Its name goes with its rows, there too: a name may be a person's. Another scope stays."""
    memory.record_turn("user", "I live in Oslo. 我住在奥斯陆。", session="s")
    with Memory(home, scope="user:tom") as tom:
        tom.record_turn("user", "I like tea.", session="tom")
    backup = memory.admin.backup()
    assert memory.admin.erase(everything=True, confirm="user:mei").clean

    with closing(apsw.Connection(backup.path, flags=apsw.SQLITE_OPEN_READONLY)) as copy:
        assert ["user:tom"] == [name for (name,) in copy.execute("select name from scopes where name like 'user:%'")]
        assert ["tom"] == [name for (name,) in copy.execute("select id from sessions")]


def test_the_second_erasure_leaves_alone_what_came_after_the_first(home):
    """A backup made after a whole scope was erased holds what was said since; the next erasure sweeps it of its own rows only."""
    with Memory(home, owner="user:mei") as memory:
        memory.record_turn("user", "Old news. 旧闻", session="old")
        memory.remember("My cat is Tom.")
    with Memory(home) as memory:
        memory.admin.erase(everything=True, confirm="user:mei")
    with Memory(home) as memory:
        turn = memory.record_turn("user", "My locker code is 4711. 我住在奥斯陆。", session="new")
        kept = memory.remember("I live in Oslo.", source=turn.id).memory
        code = memory.remember("My locker code is 4711", source=turn.id).memory
        backup = memory.admin.backup()
        memory.admin.erase(code.id)
        gone = memory.record_turn("user", "And another thing entirely.", session="new")
        memory.admin.erase(gone.id)
        memory.admin.restore_backup(Path(backup.path).name)

        assert "[已抹去]我住在奥斯陆。" == memory.get(turn.id).content.replace("[erased] ", "[已抹去]")
        assert kept.content == memory.get(kept.id).content


def test_a_dry_run_lists_and_changes_nothing(memory, home):
    """It names the statements, the turns, the sentences and what stays; then nothing is different, and nothing is clean."""
    turn = memory.record_turn("user", "I live in Oslo. 你好")
    kept = memory.remember("I live in Oslo.", source=turn.id).memory
    memory.record_turn("user", f"{LONG}I live in Oslo.\n{LONG}", session="long")
    before, files = reads(memory), sorted(home.rglob("*"))
    erased = memory.admin.erase(kept.id, dry_run=True)

    assert files == sorted(home.rglob("*"))
    assert ([kept.id], ["[erased] 你好"]) == ([one.id for one in erased.memories], [one.content for one in erased.redacted[:1]])
    assert (before, False, 0) == (reads(memory), erased.clean, memory._handle.store.erasures.last())


def test_turns_can_be_kept(memory):
    """With keep_turns only the statement goes; the turn says what it said."""
    turn = memory.record_turn("user", "I live in Oslo. 你好")
    kept = memory.remember("I live in Oslo.", source=turn.id).memory
    erased = memory.admin.erase(kept.id, keep_turns=True)

    assert ("I live in Oslo. 你好", ()) == (memory.get(turn.id).content, erased.redacted)
    assert [] == memory.get_all()


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"id": "a", "session": "b"},
        {"id": "a", "since": "2026-01-01"},
        {"everything": True},
        {"everything": True, "confirm": "mei"},
    ],
)
def test_it_must_be_clear_what_is_meant(memory, arguments):
    """Nothing, two things at once, or everything without the scope's name: refused, and nothing is erased."""
    memory.record_turn("user", "hello")
    with pytest.raises(InvalidInput):
        memory.admin.erase(**arguments)
    assert 1 == memory.admin.stats().turns


def test_what_is_not_there_cannot_be_erased(memory):
    """An id that nobody has, an empty session, a scope that was never used, another scope's id: NotFound."""
    with pytest.raises(NotFound):
        memory.admin.erase(everything=True, confirm=memory.scope)
    memory.record_turn("user", "hello")
    with Memory(memory.settings.home, scope="user:tom") as tom:
        foreign = tom.record_turn("user", "hello").id
    for meant in ({"id": "01234567"}, {"session": "nobody"}, {"id": foreign}, {"until": "2001-01-01"}):
        with pytest.raises(NotFound):
            memory.admin.erase(**meant)


def test_an_erasure_cannot_be_undone(memory):
    """Neither it nor what was done before to what it took; other operations can."""
    turn = memory.record_turn("user", "I live in Oslo.")
    kept = memory.remember("I live in Oslo.", source=turn.id)
    other = memory.remember("我喜欢茶")
    erased = memory.admin.erase(kept.memory.id)

    for operation in (kept.operation, erased.operation):
        with pytest.raises((CannotUndo, NotFound)):
            memory.admin.undo(operation)
    assert 1 == memory.admin.undo(other.operation).memories


# ------------------------------------------------------------------ the receipt


def test_the_receipt_says_where_it_is_still_found(memory, home):
    """A copy that somebody laid into the home: the words are named with their file, and the erasure is not clean."""
    kept = memory.remember("My watchword is zqvblorptin 鱻靐龘").memory
    (home / "notes.md").write_text("remember: zqvblorptin")
    (home / "笔记.txt").write_text("鱻靐龘")
    erased = memory.admin.erase(kept.id)

    assert not erased.clean
    found = {place.name: place.found for place in erased.places if place.found}
    assert {"notes.md", "笔记.txt"} == {*found}
    assert "zqvblorptin" in found["notes.md"]


def test_a_backup_that_cannot_be_read_leaves_it_unfinished(memory, home):
    """What it holds is not known: the receipt says so, and status until it is dealt with; then `resume` finishes."""
    kept = memory.remember("My watchword is zqvblorptin").memory
    backup = Path(memory.admin.backup().path)
    backup.chmod(0o000)
    with permissions_hold():
        erased = memory.admin.erase(kept.id)
        assert not erased.clean
        assert any("erasure" in trouble for trouble in memory.status().troubles)
    backup.chmod(0o600)
    assert canaries.sung(home, ["zqvblorptin"])
    done = erase.erase(memory._handle, resume=True)

    assert done.clean
    assert [] == canaries.sung(home, ["zqvblorptin"])
    assert not any("erasure" in trouble for trouble in memory.status().troubles)


def test_what_lies_behind_a_link_is_out_of_reach(memory, home, tmp_path):
    """Linked backups are made, listed and swept nowhere: a typed error says so, status too, and a receipt names each link."""
    kept = memory.remember("My watchword is zqvblorptin 鱻靐龘").memory
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.move(memory.admin.backup().path, outside / "yiku-20260301T000000.000000Z.db")
    shutil.rmtree(home / "backups")
    (home / "backups").symlink_to(outside)
    (home / "notes.md").symlink_to(outside / "notes.md")
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    for call in (memory.admin.backup, lambda: memory.admin.restore_backup("yiku-20260301T000000.000000Z")):
        with pytest.raises(InvalidInput, match="backups is a link"):
            call()
    assert any("backups/ is a link" in trouble for trouble in memory.status().troubles)
    assert (None, []) == (memory.admin.backup(nightly=True), memory.admin.backups())
    erased = memory.admin.erase(kept.id)

    assert before == {path.name: path.read_bytes() for path in outside.iterdir()}
    assert erased.clean
    assert ("where backups leads, which is a link", "where notes.md leads, which is a link") == erased.out_of_reach[:2]


@pytest.mark.parametrize("holds", [True, False])
def test_a_backup_that_is_no_store_goes_if_it_holds_what_was_erased(memory, home, holds):
    """A damaged backup cannot be swept: it is removed when the words are in it, and left alone when they are not."""
    kept = memory.remember("My watchword is zqvblorptin").memory
    broken = home / "backups" / "yiku-broken.db"
    broken.parent.mkdir(exist_ok=True)
    broken.write_bytes(os.urandom(5_000) + (b"zqvblorptin" if holds else b"") + os.urandom(500))
    erased = memory.admin.erase(kept.id)

    assert (not holds, True) == (broken.exists(), erased.clean)


def test_common_words_and_those_of_the_schema_do_not_alarm(memory):
    """Words that others say, stems of words that others say, and words of Yiku's own tables prove nothing."""
    memory.record_turn("user", "Happiness and countries: content, session, preference, metadata, memory. 我喜欢北京的秋天")
    kept = memory.remember("My happiest countries: content of a session, preferences, metadata. 我喜欢北京").memory
    erased = memory.admin.erase(kept.id)

    assert erased.clean, [place for place in erased.places if place.found]


def test_the_seal_of_a_short_code_tells_nothing(memory, home, some):
    """With the database in hand, and codes tried in every way that is written down, none fits; with the key the right one does."""
    kept = memory.remember("My locker code is 4711", subject="user", predicate="locker code", object="4711").memory
    memory.admin.erase(kept.id)
    memory.close()
    mirror = [*(home / "erasures").iterdir()]
    there = b"".join(path.read_bytes() for path in (home / "yiku.db", *mirror))
    seals = [seal for path in mirror for seal in json.loads(path.read_text())["seals"]]
    hashes = {there[at : at + size] for at in range(len(there)) for size in (16, 32)} | {bytes.fromhex(seal) for seal in seals}

    key = bytes.fromhex((home / "key").read_text())
    codes = {4711, *some(range(10_000), 1_000)}

    def guessed(key: bytes) -> list[int]:
        """The codes of which some hash stands there, of any of the texts that are ever hashed."""
        fits = []
        for code in codes:
            one = replace(kept, content=f"My locker code is {code:04}", object=f"{code:04}")
            texts = [f"user:mei\0{text}".encode() for text in erasure.of_statement(one)] + [
                one.content.encode(),
                one.object.encode(),
            ]
            tried = [hashlib.blake2b(text, digest_size=size, key=key).digest() for text in texts for size in (16, 32)]
            if not hashes.isdisjoint(
                [*tried, conflict.text_hash(one.content, None), *(hashlib.sha256(text).digest() for text in texts)]
            ):
                fits.append(code)
        return fits

    assert ([], [4711]) == (guessed(b""), guessed(key))


@pytest.mark.long
def test_two_at_once_and_others_at_work(home):
    """While threads record and read, sessions are erased; each leaves nothing, and nobody else loses a turn."""
    from concurrent.futures import ThreadPoolExecutor

    with Memory(home, owner="user:mei", durability="fast") as memory:
        chance = random.Random(5)
        gone = [canaries.latin(chance) for _ in range(4)]
        for i, word in enumerate(gone):
            memory.admin.import_(
                [TurnRecord(n, {"role": "user", "content": f"{word} {n}", "session": f"gone-{i}"}) for n in range(5)], source="x"
            )

        def at_work(who: int) -> list[str]:
            return [memory.record_turn("user", f"I am {who} and say 你好 {i}", session=f"w{who}").id for i in range(40)]

        with ThreadPoolExecutor(6) as pool:
            working = [pool.submit(at_work, who) for who in range(3)]
            erasing = [pool.submit(memory.admin.erase, session=f"gone-{i}") for i in range(4)]
            ids = [id for work in working for id in work.result()]
            receipts = [one.result() for one in erasing]
        # on a busy machine readers may hold the log for longer than an erasure waits: then it says so, and is finished later
        left = [place for receipt in receipts for place in receipt.places if place.found and not place.unfinished]
        assert [] == left
        assert all(receipt.clean for receipt in receipts) or memory.admin.erase(resume=True).clean
        assert 120 == sum(memory.get(id).content.startswith("I am") for id in ids)
    assert [] == canaries.sung(home, gone)
    integrity.check(home / "yiku.db")
