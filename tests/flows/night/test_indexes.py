"""Clean-up at night: unreferenced rows and files go, contents stay, transcripts and backups are updated."""

import pytest

from yiku import Memory
from yiku.types import State


def reasons(done) -> list[str]:
    return [item.reason for item in done.items]


@pytest.mark.spec("S2-84")
def test_an_old_record_of_a_file_that_says_nothing_goes_and_can_be_brought_back(memory, clock):
    """After 90 days, undoable, and then left alone; one with a description or a text stays for ever."""
    empty = memory.sessions.attach("https://example.org/图.png", session="s1")
    attached = [
        memory.sessions.attach("https://example.org/a.png", session="s1", description="a lantern"),
        memory.sessions.attach("https://example.org/b.mp3", session="s1", transcription="灯笼亮了"),
        memory.sessions.attach(__file__, session="s1", keep=True),
    ]
    clock.advance(days=89)
    before = memory.admin.consolidate(phase=5)
    clock.advance(days=2)
    done = memory.admin.consolidate(phase=5)

    assert {} == before.counts
    assert [(empty.id,)] == [item.ids for item in done.items]
    assert {one.id for one in attached} == {one.id for one in memory.sessions.attachments()}
    memory.admin.undo(done.items[0].operation)
    assert {} == memory.admin.consolidate(phase=5).counts
    assert empty.id in {one.id for one in memory.sessions.attachments()}


@pytest.mark.spec("S2-84")
def test_a_record_whose_file_is_gone_is_marked(memory, clock, tmp_path):
    """It is not deleted, and the mark goes when the file is there again."""
    path = tmp_path / "灯 lamp.txt"
    path.write_text("light")
    one = memory.sessions.attach(path, session="s1", description="a lamp")
    path.unlink()
    gone = memory.admin.consolidate(phase=5)
    found = memory.sessions.attachments()[0]
    path.write_text("light")
    back = memory.admin.consolidate(phase=5)

    assert (["file-gone"], True) == (reasons(gone), found.missing)
    assert (["file-back"], False) == (reasons(back), memory.sessions.attachments()[0].missing)
    assert one.id == found.id
    assert {} == memory.admin.consolidate(phase=5).counts


def test_a_file_that_nobody_said_the_folder_of_is_not_looked_for(memory, tmp_path, monkeypatch):
    """A turn names it, or it was attached by a path from some folder: the night runs in another one."""
    (tmp_path / "cat 猫.txt").write_text("cat")
    monkeypatch.chdir(tmp_path)
    memory.sessions.attach("cat 猫.txt", session="s1")
    memory.record_turn("user", "Here is [file: report.pdf], please summarize it. 还有 [文件：报告.pdf]", session="s1")
    memory.sessions.end("s1")
    monkeypatch.chdir("/")

    assert {} == memory.admin.consolidate(phase=5).counts
    assert [False] * 3 == [one.missing for one in memory.sessions.attachments()]


def test_a_mark_that_was_taken_back_is_not_made_again(memory, clock, tmp_path):
    """The file is still not there; whoever undid that knows better, until somebody changes the record."""
    path = tmp_path / "灯.txt"
    path.write_text("light")
    one = memory.sessions.attach(path, session="s1")
    path.unlink()
    done = memory.admin.consolidate(phase=5)
    memory.admin.undo_run(done.run)
    for _ in range(2):
        clock.advance(days=1)
        assert {} == memory.admin.consolidate(phase=5).counts
    assert not memory.sessions.attachments()[0].missing
    memory.sessions.describe(one.id, description="a lamp")

    assert ["file-gone"] == reasons(memory.admin.consolidate(phase=5))


def test_tags_that_nothing_carries_and_old_receipts_go(memory, clock):
    """What is carried stays; the report counts what went."""
    one = memory.remember("The oil is low. 灯油不多了。", tags=["oil", "灯"], idempotency_key="k1").memory
    memory.update(one.id, tags=["灯"])
    fresh = memory.admin.consolidate(phase=6)
    clock.advance(days=91)
    old = memory.admin.consolidate(phase=6)

    assert [{"tags": 1, "receipts": 0}] == [{name: item.evidence[name] for name in ("tags", "receipts")} for item in fresh.items]
    assert [{"tags": 0, "receipts": 1}] == [{name: item.evidence[name] for name in ("tags", "receipts")} for item in old.items]
    assert ("灯",) == memory.get(memory.get_all()[0].id).tags


@pytest.mark.parametrize(("said", "joke"), [("I live in Bergen.", "just kidding"), ("我住在北京。", "开玩笑的！")])
@pytest.mark.parametrize("back", ["undo", "restore"])
def test_a_retraction_that_was_undone_is_not_done_again(memory, clock, said, joke, back):
    """Years later neither `relearn` nor the same messages take back what was restored."""
    for text in (said, joke):
        memory.record_turn("user", text, session="a")
    (gone,) = memory.get_all(where={"state": "archived"})
    if back == "undo":
        memory.admin.undo(memory.admin.journal(limit=1)[0].transaction)
    else:
        memory.restore(gone.id)
    clock.advance(days=100)
    memory.admin.consolidate()
    memory.admin.relearn()
    memory.sessions.compressing([{"role": "user", "content": text} for text in (said, joke)], session="a")

    assert [said] == [one.content for one in memory.get_all()]


def test_what_was_decided_is_shown_for_90_days(memory, clock):
    """The run is known after that, its decisions are not."""
    memory.remember("The lift is broken. 电梯坏了。", priority="transient")
    clock.advance(days=2)
    done = memory.admin.consolidate(phase=0)
    store, scope = memory._handle.store, memory._handle.writes()
    clock.advance(days=91)
    memory.admin.consolidate(phase=6)

    assert 1 == len(done.items)
    assert [] == store.nights.items(scope, done.run)
    assert {"expired": 1} == store.nights.runs(scope, id=done.run)[0].counts


@pytest.mark.spec("S3-205")
def test_old_copies_of_turns_go_and_the_turns_stay(memory, clock, home):
    """A transcript keeps 30 days of what was learned from; the database keeps all."""
    memory.record_turn("user", "I live in Oslo. 我住在奥斯陆。", session="s1")
    memory.admin.consolidate()
    before = sum(path.stat().st_size for path in (home / "transcripts").rglob("*.jsonl"))
    clock.advance(days=31)
    memory.admin.consolidate()
    after = sum(path.stat().st_size for path in (home / "transcripts").rglob("*.jsonl"))

    assert before > 0
    assert 0 == after
    assert "I live in Oslo. 我住在奥斯陆。" == memory.search_traces(limit=1)[0].content


def test_a_night_makes_the_backup_that_is_due(memory, clock):
    """One a day, however many nights."""
    memory.remember("The lamp is lit. 灯亮了。")
    made = []
    for _ in range(3):
        memory.admin.consolidate()
        made.append(len(memory.admin.backups()))
        clock.advance(hours=12)

    assert [1, 1, 2] == made


def test_another_scope_is_left_alone(memory, home, clock):
    """A night tidies its own scope: what ends elsewhere waits for the night of that scope."""
    with Memory(home, scope="team:灯", clock=clock) as other:
        one = other.remember("The lift is broken. 电梯坏了。", priority="transient", tags=["a"]).memory
        other.update(one.id, tags=[])
        clock.advance(days=2)
        done = memory.admin.consolidate()

        assert {} == done.counts
        assert State.ACTIVE is other.get(one.id).state
