"""Tombstones: erased content is rejected on every input path; new statements and other content are accepted."""

import random
import shutil
from datetime import timedelta
from pathlib import Path

import canaries
import pytest
import sampling

from yiku import Memory
from yiku.errors import CannotUndo, InvalidInput, NotFound, StoreMismatch, WasErased
from yiku.flows.erase.reapply import reapply
from yiku.interfaces.importers import yiku_jsonl
from yiku.rules.privacy import erasure
from yiku.types import Confirmed, MemoryRecord, New, Refused, TurnRecord

LONG = "The lantern burns. 灯笼亮着。\n" * 1_900


def recorded(memory, turn, **details):
    """A turn as an old transcript would bring it."""
    return memory.record([{"role": "user", "content": turn.content, "session": turn.session, "said_at": turn.said_at, **details}])


# ------------------------------------------------------------------ statements


@pytest.mark.parametrize(
    ("erased", "again"),
    [
        ("My locker code is 4711.", "my LOCKER code is ４７１１"),
        ("我的猫叫汤姆。", "我的猫叫汤姆！"),
        ("I live in Oslo.", "I moved to Oslo."),
        ("The parcel came on Monday 📦", "the parcel came on monday 📦!"),
    ],
)
@pytest.mark.spec("T-39")
def test_a_statement_is_refused_until_it_is_meant(memory, erased, again):
    """In its words or by its slot and value: refused, updating to it too; despite_erasure keeps it, and then it is known."""
    memory.admin.erase(memory.remember(erased).memory.id)
    other = memory.remember("My dog is Rex.").memory

    assert isinstance(memory.remember(again), Refused)
    assert isinstance(memory.remember(again, dry_run=True), Refused)
    with pytest.raises(WasErased):
        memory.update(other.id, again, subject="user", predicate="note", object="x") if again == erased else memory.update(
            other.id, erased
        )
    assert [other.id] == [one.id for one in memory.get_all()]
    assert isinstance(memory.remember(again, despite_erasure=True, dry_run=True), New)
    assert isinstance(memory.remember(again), Refused)
    assert isinstance(memory.remember(again, despite_erasure=True), New)
    assert isinstance(memory.remember(again), Confirmed)


@pytest.mark.parametrize(
    ("erased", "again", "other"),
    [
        ("I live in Oslo.", "我住在奥斯陆。", "我住在卑尔根。"),
        ("我住在上海。", "I live in Shanghai.", "I live in Beijing."),
        ("I'm allergic to peanuts.", "我对花生过敏。", "我对牛奶过敏。"),
        ("My birthday is 12 March.", "My birthday is March 12th.", "My birthday is 13 March."),
        ("我的生日是3月12日。", "我的生日是三月十二日。", "我的生日是三月十三日。"),
        ("My weight is 70 kg.", "My weight is 70 kilograms.", "My weight is 71 kilograms."),
        ("I like coffee.", "我喜欢咖啡。", "I dislike coffee."),
        ("Our server version is 1.2.", "The version of our server is 1.2.", "Our server version is 1.20."),
    ],
)
@pytest.mark.spec("T-39")
def test_the_same_value_is_refused_in_the_other_language_and_spelling(memory, erased, again, other):
    """As it would have confirmed the statement before it was erased; another value of the slot is new."""
    assert isinstance(memory.remember(erased, dry_run=True), New)
    memory.admin.erase(memory.remember(erased).memory.id)

    assert isinstance(memory.remember(again), Refused)
    assert isinstance(memory.remember(other, dry_run=True), New)
    assert isinstance(memory.remember(again, despite_erasure=True), New)
    assert isinstance(memory.remember(again), Confirmed)


def test_a_forgotten_statement_in_the_other_language_is_erased_too(memory):
    """`restore` would bring it back; one of another value stays."""
    first, other = memory.remember("I live in Oslo.").memory, memory.remember("我对花生过敏。").memory
    memory.forget(first.id)
    gone = memory.admin.erase(memory.remember("我住在奥斯陆。").memory.id)

    assert {"I live in Oslo.", "我住在奥斯陆。"} == {one.content for one in gone.memories}
    assert [other.id] == [one.id for one in memory.get_all()]
    with pytest.raises(NotFound):
        memory.restore(first.id)


def test_a_value_that_another_statement_still_says_may_be_confirmed(memory):
    """Only one telling was erased: the value is known from the other one, in whatever language; the erased words are refused."""
    memory.record_turn("user", "I live in Oslo.", session="s1")
    memory.record_turn("user", "我住在奥斯陆。", session="s2")
    memory.admin.erase(session="s1")

    assert isinstance(memory.remember("我住在奥斯陆。"), Confirmed)
    assert isinstance(memory.remember("My home is in Oslo."), Confirmed)
    assert isinstance(memory.remember("I live in Oslo."), Refused)


def test_what_earlier_versions_sealed_is_refused_as_before(memory, monkeypatch):
    """They sealed the value as it was written, and nothing else."""
    now = erasure.of_value
    with monkeypatch.context() as patch:
        patch.setattr(erasure, "of_value", lambda memory: now(memory)[:1])
        memory.admin.erase(memory.remember("I live in Oslo.").memory.id)

    assert isinstance(memory.remember("My home is in Oslo."), Refused)
    assert isinstance(memory.remember("我住在奥斯陆。"), New)


def test_an_older_copy_does_not_bring_the_value_back(memory, tmp_path):
    """A backup from before, restored, and an export from before, imported, refuse the value in the other language, too."""
    kept = [memory.remember("I live in Oslo.").memory, memory.remember("我住在奥斯陆。").memory]
    memory.admin.export(tmp_path / "before.jsonl")
    name = Path(memory.admin.backup().path).name
    memory.admin.erase(kept[0].id)
    memory.admin.restore_backup(name)
    assert isinstance(memory.remember("我住在奥斯陆。"), Refused)
    memory.admin.import_(yiku_jsonl.read(tmp_path / "before.jsonl"), source="yiku")

    assert [] == memory.get_all()
    assert isinstance(memory.remember("My home is in Oslo."), Refused)


def test_another_scope_may_know_it(memory):
    """What Mei erased, Tom may remember; a value erased of one thing may be that of another."""
    memory.admin.erase(memory.remember("I live in Oslo.").memory.id)
    with Memory(memory.settings.home, scope="user:tom") as tom:
        assert isinstance(tom.remember("I live in Oslo."), New)
    assert isinstance(memory.remember("I work in Oslo."), New)
    assert isinstance(memory.remember("我住在北京"), New)


def test_what_stays_may_be_confirmed(memory):
    """A turn is erased whose statement was told elsewhere too: the statement stays, and telling it again confirms it."""
    turn_id = memory.record([{"role": "user", "content": "I like green tea very much. 真的"}]).ids[0]
    kept = memory.remember("I like green tea very much.").memory
    memory.admin.erase(turn_id)

    assert isinstance(memory.remember("I like green tea very much."), Confirmed)
    assert memory.get(kept.id).live


# ------------------------------------------------------------------ turns


@pytest.mark.spec("T-39")
def test_an_old_turn_loses_what_was_erased_and_a_new_one_does_not(memory, clock):
    """From an old file the sentence does not come back, nor in what a tool gave; said after the erasure it is recorded verbatim."""
    said = "It rained. My locker code is 4711. 我住在奥斯陆。"
    statement = memory.remember("My locker code is 4711.").memory
    before = clock.now
    clock.advance(hours=1)
    memory.admin.erase(statement.id)
    clock.advance(hours=1)
    tools = [{"content": "my LOCKER code is 4711\nok"}]
    memory.record([{"role": "user", "content": said, "said_at": before, "tool_results": tools, "session": "old"}])
    memory.record([{"role": "user", "content": said, "session": "new"}])

    assert ["It rained. [erased] 我住在奥斯陆。", said] == [turn.content for turn in memory.timeline()]
    assert "[erased]\nok" == memory.timeline()[0].tool_results[0]["content"]


@pytest.mark.parametrize("marked", ["- [ ] {}", "## {}", "| 1 | {} |"])
@pytest.mark.spec("T-39")
def test_a_sentence_does_not_come_back_in_another_kind_of_line(memory, clock, marked):
    """Erased as a sentence, an old turn with a list, a heading or a table loses it; erased in a list, one with the sentence."""
    before = clock.now
    clock.advance(hours=1)
    said = {"role": "user", "said_at": before, "session": "old"}
    for number, words in enumerate(("My locker code is 4711.", "我的柜子密码是四七一一。")):
        memory.admin.erase(memory.remember(words).memory.id)
        memory.record([said | {"session": f"a{number}", "content": f"Milk 牛奶\n{marked.format(words)}\n"}])
    listed = memory.record_turn("user", "- My watchword is zebra.\n- 我的口令是斑马和长颈鹿。", session="listed", said_at=before)
    memory.admin.erase(listed.id)
    memory.record([said | {"session": "b", "content": "My watchword is zebra. 我的口令是斑马和长颈鹿。 It rained."}])
    held = "".join(turn.content for turn in memory.timeline())

    assert not [word for word in ("4711", "四七一一", "zebra", "斑马") if word in held]
    assert 2 == held.count("Milk 牛奶\n")
    assert "It rained." in held


@pytest.mark.parametrize(
    ("how", "long"),
    [("turn", True), ("session", False), ("time", False), ("source", False), ("scope", True)],
)
@pytest.mark.spec("T-39")
def test_erased_turns_are_left_out(memory, home, clock, how, long):
    """Recorded again from an old file, under the same or another external id, whole or as a copy elsewhere: nothing is stored."""
    word = canaries.latin(random.Random(7))
    content = f"{LONG if long else ''}My word is {word}. 灯笼{LONG if long else ''}"
    turn = memory.record_turn(
        "user", content, session="s1", external_id="x-1", agent="wolf", tool_results=[{"content": word * 9_000}]
    )
    clock.advance(hours=1)
    meant = {
        "turn": {"id": turn.id},
        "session": {"session": "s1"},
        "time": {"until": clock.now},
        "source": {"source": "wolf"},
        "scope": {"everything": True, "confirm": memory.scope},
    }[how]
    assert memory.admin.erase(**meant).clean
    memory._handle.store._database.scopes.clear()  # a scope that was erased has another number now: see the store
    old = {"role": "user", "content": content, "said_at": turn.said_at, "tool_results": [{"content": word * 9_000}]}
    again = memory.record([old | {"session": "s1", "external_id": "x-1"}, old | {"session": "s1"}])
    imported = memory.admin.import_([TurnRecord(1, old | {"session": "s1", "external_id": "y-9"})], source="jsonl")

    assert ((), 2, 0) == (again.ids, again.erased, imported.turns)
    with pytest.raises(WasErased):
        memory.record_turn("user", content, session="s1", said_at=turn.said_at)
    assert [] == canaries.sung(home, [word])


def test_common_words_still_come_in(memory, clock):
    """A turn that another, which stays, says too is not kept out: it was not what was erased."""
    for session in ("s1", "s2"):
        memory.record_turn("user", "Good morning everyone! 大家早上好！", session=session)
    secret = memory.record_turn("user", "Good morning everyone! 大家早上好！ My word is zqvblorptin.", session="s1")
    clock.advance(hours=1)
    memory.admin.erase(session="s1")
    old = {"role": "user", "said_at": secret.said_at}
    memory.record(
        [
            old | {"session": "s3", "content": "Good morning everyone! 大家早上好！"},
            old | {"session": "s4", "content": f"Hello. {secret.content}"},
        ]
    )

    assert ["Good morning everyone! 大家早上好！"] * 2 + ["Hello. Good morning everyone! 大家早上好！ [erased]"] == [
        turn.content for turn in memory.timeline()
    ]


# ------------------------------------------------------------------ every other way in


def ways_in(memory, home, kept):
    """Bring back what was there before an erasure, in every way there is."""
    turns, statements, operations, exported, copy = kept
    for item in statements:
        for text in (item.content, item.content.upper()):
            memory.remember(text, said_at=item.said_at)
        with pytest.raises((NotFound, InvalidInput)):
            memory.restore(item.id)
    for turn in turns:
        recorded(memory, turn)
        recorded(memory, turn, external_id=f"old-{turn.id}")
    memory.admin.import_(
        [TurnRecord(i, {"role": "user", "content": t.content, "said_at": t.said_at.isoformat()}) for i, t in enumerate(turns)],
        source="a",
    )
    memory.admin.import_([MemoryRecord(i, m.content, {"external_id": f"m{i}"}) for i, m in enumerate(statements)], source="b")
    for operation in operations:
        with pytest.raises((CannotUndo, NotFound)):
            memory.admin.undo(operation)
    if exported is not None:
        from yiku.interfaces.importers import yiku_jsonl

        memory.admin.import_(yiku_jsonl.read(exported), source="yiku")
    for backup in memory.admin.backups():
        if not backup.name.startswith("before-restore"):
            memory.admin.restore_backup(backup.name)
    shutil.copy(copy, home / "backups" / "brought-back.db")
    memory.admin.restore_backup("brought-back")
    (home / "backups" / "brought-back.db").unlink()


@pytest.mark.spec("T-39")
def test_nothing_erased_comes_back_by_any_way_in(home, tmp_path, clock):
    """Random things are said in both languages, some are erased, then all are brought back in every way: no answer and no byte has them."""
    erased, back = came_back(home, tmp_path, clock, sampling.SEED)

    assert erased
    assert [] == back


def came_back(home: Path, tmp_path: Path, clock, seed: int) -> tuple[set[str], list[str]]:
    """A random history: the words that were erased, and where one of them is found after everything was brought in again."""
    chance = random.Random(seed)
    with Memory(home, owner="user:mei", names=["Mei"], clock=clock, durability="fast") as memory:
        turns, statements, secrets = [], [], {}
        for i in range(12):
            clock.advance(minutes=1)
            others = secrets.values()  # a character that both an erased and a kept word have would be found
            word = canaries.chinese(chance, besides=others) if chance.random() < 0.4 else canaries.latin(chance)
            text = chance.choice(["My {} is {}.", "我的{}是{}。"]).format(chance.choice(["code", "暗号", "boat"]) + f" {i}", word)
            turn = memory.record_turn("user", f"Hm. {text} 好的", session=f"s{i % 4}", external_id=f"x{i}" if i % 2 else None)
            outcome = memory.remember(text, source=turn.id if chance.random() < 0.7 else None)
            turns.append(turn)
            statements.append(outcome)
            secrets[turn.id] = secrets[outcome.memory.id] = word
        exported = tmp_path / "before.jsonl"
        memory.admin.export(exported)
        memory.admin.backup()
        copy = Path(shutil.copy(memory.admin.backup().path, tmp_path / "copy.db"))
        clock.advance(hours=1)
        gone = [i for i in range(12) if chance.random() < 0.4] or [3]
        for i in gone:
            memory.admin.erase(statements[i].memory.id)
            memory.admin.erase(turns[i].id)
        clock.advance(hours=1)
        ways_in(
            memory,
            home,
            (
                [turns[i] for i in gone],
                [statements[i].memory for i in gone],
                [statements[i].operation for i in gone],
                exported,
                copy,
            ),
        )
        words = {secrets[turns[i].id] for i in gone}
        kept = {secrets[turn.id] for i, turn in enumerate(turns) if i not in gone}

        found = [f"recall: {hit.text}" for word in words for hit in memory.recall(word) if word in hit.text]
        seen = " ".join(turn.content for turn in memory.timeline(limit=1_000))
        found += [f"timeline: {word}" for word in words if word in seen]
        assert kept == {word for word in kept if word in seen}, "what was not erased is still there"
    exported.unlink()
    return words, found + canaries.sung(home, words)


def test_an_older_database_that_is_put_back_is_swept_with_the_mirror(home, clock, tmp_path):
    """The mirror beside the database knows what the older copy does not; swept with it, the copy holds nothing of it."""
    with Memory(home, owner="user:mei", clock=clock) as memory:
        turn = memory.record_turn("user", "Hm. My word is zqvblorptin. 好的", session="s1")
        kept = memory.remember("My word is zqvblorptin.", source=turn.id).memory
        memory.record_turn("user", "My word is zqvblorptin, again 又一次", session="s2")
    shutil.copy(home / "yiku.db", tmp_path / "old.db")
    with Memory(home, clock=clock) as memory:
        memory.admin.erase(kept.id)
        memory.admin.erase(session="s2")
    shutil.copy(tmp_path / "old.db", home / "yiku.db")
    (home / "yiku.db-wal").unlink(missing_ok=True)
    with pytest.raises(StoreMismatch):
        Memory(home)
    from yiku.maintenance import repair

    repair(home, accept=True)
    with Memory(home, clock=clock) as memory:
        assert "Hm. [erased] 好的" == memory.get(turn.id).content
        assert isinstance(memory.remember("My word is zqvblorptin."), Refused)
        clock.advance(hours=1)
        memory.record([{"role": "user", "content": "x", "session": "s2", "said_at": clock.now - timedelta(hours=2)}])
    shutil.rmtree(home / "damaged", ignore_errors=True)
    assert [] == canaries.sung(home, ["zqvblorptin"])


def test_an_older_home_that_is_migrated_is_swept_when_it_is_a_backup(memory, home):
    """Of the copy that a migration leaves behind, and of a store of schema 1, the same rows go: see test_erase.py, which lays one there."""
    entry = {
        "number": 1,
        "scope": 99,
        "at": 1,
        "rows": {"whole_scope": True, "memories": [], "turns": []},
        "seals": ["00" * 16],
        "done": True,
    }
    memory.record_turn("user", "hello")
    reapply(memory._handle, [entry])

    assert (1, [bytes(16)]) == (memory.admin.stats().turns, [*memory._handle.store.erasures.tombstoned([bytes(16)])])


def test_a_scope_that_was_erased_elsewhere_goes_as_far_as_it_was_then(memory, clock):
    """What an older copy of a store was told after the erasure stays in it: nobody has asked to erase that."""
    old = memory.record_turn("user", "Old news. 旧闻")
    statement = memory.remember("My cat is Tom.").memory
    entry = {"scope": memory._handle.own()[0], "at": int(clock.now.timestamp() * 1_000_000), "seals": [], "number": 1, "done": True}
    clock.advance(days=1)
    new = memory.record_turn("user", "New things. 新事")
    reapply(memory._handle, [entry | {"rows": {"whole_scope": True, "memories": [statement.id], "turns": [old.id]}}])

    assert [new.id] == [item.id for item in memory.timeline()]


def test_two_processes_agree_on_what_was_erased(home, clock):
    """A process that was open before knows at once that another has erased."""
    with Memory(home, owner="user:mei", clock=clock) as one, Memory(home, clock=clock) as other:
        kept = one.remember("My cat is Tom. 汤姆").memory
        other.admin.erase(kept.id)

        assert isinstance(one.remember("My cat is Tom. 汤姆"), Refused)
        with pytest.raises(NotFound):
            one.get(kept.id)
