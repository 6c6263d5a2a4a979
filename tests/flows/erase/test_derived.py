"""Erasing derived records: episodes, scratchpads, attachments and jobs lose what they quote, and no more."""

from pathlib import Path

import canaries
import pytest
from integrity import check

from yiku import Memory
from yiku.errors import NotFound, Stale
from yiku.interfaces.importers import yiku_jsonl
from yiku.types import AddJobs, Attachment, ClaimJobs, Episode, Job, KeepReply, ModelCall, Put, Scratchpad, Spend

WORD, HAN = "zqvblorptinx", "𩺙𨏏𢝫𤍚"
SECRET = f"Please fix the login of {WORD} {HAN}"


@pytest.fixture
def scene(memory: Memory, home: Path) -> dict[str, str]:
    """Two sessions that were ended, each with an attachment, and a scratchpad of both; ids by name."""
    said = memory.record_turn("user", SECRET, session="s1")
    memory.record_turn("assistant", "Done 好了", session="s1", tool_calls=[{"name": "edit", "input": {"path": "auth.py"}}])
    other = memory.record_turn("user", "请帮我写一份关于郁金香的报告 tulips.md", session="s2")
    (home.parent / "a.bin").write_bytes(b"\xff\x00 not text")
    kept = memory.sessions.attach(home.parent / "a.bin", session="s1", keep=True, turn=said.id)
    noted = memory.sessions.attach("/tmp/郁金香 tulip.jpg", session="s2", turn=other.id)
    memory.sessions.patch_scratchpad(add_open_questions=[f"who is {WORD}?", "谁来浇花 who waters the tulips?"])
    first, second = (memory.sessions.end(session).episode for session in ("s1", "s2"))
    assert first is not None and second is not None
    return {"said": said.id, "other": other.id, "kept": kept.id, "noted": noted.id, "first": first.id, "second": second.id}


def left(memory: Memory) -> tuple[list[str], list[str], tuple[str, ...]]:
    """Ids of episodes and attachments, and the open questions."""
    return (
        [one.id for one in memory.sessions.episodes()],
        [one.id for one in memory.sessions.attachments()],
        memory.sessions.scratchpad().open_questions,
    )


def test_what_grew_out_of_a_turn_goes_with_it_and_nothing_else(memory, home, scene):
    """The episode that tells of it, its attachment with the blob, the lines that say it; the other session keeps all of its own."""
    erased = memory.admin.erase(scene["said"])

    assert ([scene["second"]], [scene["noted"]], ("谁来浇花 who waters the tulips?",)) == left(memory)
    assert {Episode, Attachment, Scratchpad} == {type(one) for one in erased.records}
    assert [] == [*home.glob("blobs/*/*.z")]
    assert erased.clean, [place for place in erased.places if place.found]
    assert [] == canaries.sung(home, [WORD, HAN])
    check(home / "yiku.db")


def test_what_a_host_keeps_for_a_session_without_turns_goes_too(memory, home, scene):
    """Where it says what goes; what is kept for another such session stays."""
    memory.sessions.set("later", task=f"ask about {WORD}", 名=HAN)
    memory.sessions.set("also later", task="郁金香 tulips")
    erased = memory.admin.erase(scene["said"])

    assert erased.clean, [place for place in erased.places if place.found]
    assert [] == canaries.sung(home, [WORD, HAN])
    assert ["also later"] == [one.id for one in memory.sessions.get_all() if not one.turns]


def test_an_episode_goes_with_its_turns_whatever_words_it_has(memory, scene):
    """A model told it in words that nobody said; the turn stands in the middle of the session; the other episode stays."""
    handle, scope = memory._handle, memory._handle.writes()
    (known,) = memory.sessions.episodes(session="s1")
    bare = Episode(
        id=known.id,
        session="s1",
        summary="Somebody asked for help. 有人求助",
        started_at=known.started_at,
        ended_at=known.ended_at,
        first_turn=known.first_turn,
        last_turn=known.last_turn,
        created_at=known.created_at,
        updated_at=known.updated_at,
        changed=known.changed,
    )
    handle.store.apply(scope, [Put(bare)], handle.cause("episode"))
    memory.admin.erase(memory.search_traces(session="s1", role="assistant")[0].id)

    assert [scene["second"]] == left(memory)[0]


def test_a_dry_run_names_it_and_changes_nothing(memory, scene):
    """The same records as the real run, all of them still there."""
    before = left(memory)
    listed = memory.admin.erase(scene["said"], dry_run=True)

    assert before == left(memory)
    assert {scene["first"], scene["kept"], memory.sessions.scratchpad().id} == {one.id for one in listed.records}
    assert [one.id for one in listed.records] == [one.id for one in memory.admin.erase(scene["said"]).records]


def test_an_episode_can_be_told_again_from_what_is_left(memory, scene):
    """Of the session whose turn was blanked: without a word of it."""
    memory.admin.erase(scene["said"])
    again = memory.sessions.end("s1").episode

    assert again is not None and scene["first"] != again.id
    assert ("edit",) == again.tools_used
    assert WORD not in repr(again)


def test_the_scratchpad_of_somebody_who_said_nothing_else_goes_with_his_name(memory, home):
    """Another's, of whom something is left, stays."""
    said = [memory.record_turn("user", f"请帮我写一份报告 number {i}", speaker=who) for i, who in enumerate((WORD, "Ann", "Ann"))]
    memory.admin.erase(said[0].id)
    memory.admin.erase(said[1].id)

    assert (0, "Ann") == (memory.sessions.scratchpad(WORD).changed, memory.sessions.scratchpad("Ann").user_id)
    assert memory.sessions.scratchpad("Ann").changed
    assert [] == canaries.sung(home, [WORD])


def test_an_attachment_can_be_erased_by_its_id(memory, home, scene):
    """It alone, with its blob; also by the end of its id. What is not there is not found."""
    memory.sessions.describe(scene["kept"], description=f"{HAN} 的照片")
    memory.admin.erase(scene["kept"][-12:])

    assert [scene["noted"]] == left(memory)[1]
    assert (2, []) == (len(left(memory)[0]), [*home.glob("blobs/*/*.z")])
    with pytest.raises(NotFound):
        memory.admin.erase(scene["kept"])


def test_a_blob_that_a_turn_or_an_attachment_still_names_stays(memory, home, clock):
    """The same content was kept twice, by an attachment and by a long turn: it goes with the last of them."""
    content = "灯笼 Lantern " * 8_000
    (home.parent / "long.txt").write_text(content)
    turn = memory.record_turn("user", content, session="long")
    one, two = (memory.sessions.attach(home.parent / "long.txt", session=f"s{i}", keep=True) for i in range(2))
    assert one.blob == two.blob == turn.blob

    memory.admin.erase(one.id)
    memory.admin.erase(session="long")
    assert content == memory.sessions.content(two.id).decode()
    memory.admin.erase(two.id)
    assert [] == [*home.glob("blobs/*/*.z")]


def test_with_keep_turns_what_grew_out_of_them_stays(memory, scene):
    """Only the statement goes, and its name where an episode links it."""
    statement = memory.remember("The gateway's mode is strict", source=scene["said"]).memory
    memory.sessions.end("s1")
    memory.sessions.describe(scene["kept"], linked_memory_ids=[statement.id])
    before = left(memory)
    erased = memory.admin.erase(statement.id, keep_turns=True)

    assert (before, ()) == (left(memory), erased.records)
    assert all(statement.id not in one.linked_memory_ids for one in (*memory.sessions.episodes(), *memory.sessions.attachments()))


def test_a_backup_is_swept_of_older_forms_and_keeps_the_rest(memory, home, scene):
    """Put back, it has the other session's records, and the scratchpad without the lines; what came since has its own id."""
    made = Path(memory.admin.backup().path).name
    memory.sessions.patch_scratchpad(settle_open_questions=[f"who is {WORD}?"], add_next_steps=["浇花"])
    memory.sessions.describe(scene["kept"], description="something else 别的")
    memory.admin.erase(scene["said"])
    assert [] == canaries.sung(home, [WORD, HAN])
    since = memory.sessions.patch_scratchpad(add_next_steps=["再浇一次"])
    memory.admin.erase(memory.record_turn("user", "And another thing entirely.").id)

    assert since.next_steps == memory.sessions.scratchpad().next_steps
    memory.admin.restore_backup(made)
    assert ([scene["second"]], [scene["noted"]], ("谁来浇花 who waters the tulips?",)) == left(memory)
    assert [] == canaries.sung(home, [WORD, HAN])


def test_a_record_that_was_erased_by_its_id_leaves_the_backups_too(memory, scene):
    """A backup is told nothing but the id; what the episode tells of stays there and here."""
    made = Path(memory.admin.backup().path).name
    memory.admin.erase(scene["first"])
    memory.admin.restore_backup(made)

    assert [scene["second"]] == [one.id for one in memory.sessions.episodes()]
    assert SECRET == memory.get(scene["said"]).content


def test_an_older_export_does_not_bring_it_back(memory, home, scene):
    """Neither its episode, nor its attachment, nor the scratchpad with its lines; what was not erased is known."""
    file = home.parent / "before.jsonl"
    memory.admin.export(file)
    memory.admin.erase(scene["said"])
    after = left(memory)
    report = memory.admin.import_(yiku_jsonl.read(file), source="yiku")

    assert after == left(memory)
    assert 3 <= report.skipped["erased"] + report.skipped["changed here since"]
    with Memory(home, scope=memory.scope) as again:
        again.admin.erase(again.sessions.scratchpad().id)
        again.admin.import_(yiku_jsonl.read(file), source="yiku")
        assert (after[:2], ()) == ((left(again)[0], left(again)[1]), left(again)[2])
    assert [] == canaries.sung(home, [WORD, HAN])


def test_what_a_model_still_has_in_hand_comes_too_late(memory, scene):
    """A job of the session whose turn is erased is asked again; who has it can keep nothing of the older reply."""
    handle, scope = memory._handle, memory._handle.writes()
    now, ns = handle.now(), [memory.get(scene[name]).n for name in ("said", "other")]
    sessions = ("s1", "s2")
    jobs = [
        Job(kind="extract", session=session, turn_n=n, content_hash=b"", due_at=now, created_at=now)
        for session, n in [*zip(sessions, ns, strict=True), ("s1", ns[0] + 1)]
    ]
    handle.store.apply(scope, [AddJobs(jobs), ClaimJobs(now, 9)], handle.cause("learn"))
    _, other, neighbour = taken = handle.store.learning.jobs(scope)
    handle.store.apply(scope, [KeepReply(job, f"[{WORD}]") for job in taken], handle.cause("learn"))
    memory.admin.erase(scene["said"])

    assert [(other.n, f"[{WORD}]"), (neighbour.n, None)] == [(job.n, job.reply) for job in handle.store.learning.jobs(scope)]
    handle.store.apply(scope, [KeepReply(other, "[]")], handle.cause("learn"))
    with pytest.raises(Stale):
        handle.store.apply(scope, [KeepReply(neighbour, f"[{WORD}]")], handle.cause("learn"))


def test_the_name_of_an_erased_session_is_nowhere(memory, home):
    """It was ended, compressed, asked of a model; nothing else was kept for it, and all of its turns go one by one."""
    memory.sessions.compressing([{"role": "user", "content": "Please water the tulips 浇花"}], session=WORD)
    memory.sessions.end(WORD)
    handle, now = memory._handle, memory._handle.now()
    job = Job(kind="episode", session=WORD, content_hash=b"x", due_at=now, created_at=now)
    call = ModelCall(
        at=now,
        purpose="extract",
        session=WORD,
        model="m",
        prompt_tokens=1,
        completion_tokens=1,
        seconds=0.1,
        outcome="ok",
    )
    handle.store.apply(handle.writes(), [AddJobs([job]), Spend(call)], handle.cause("learn"))
    for turn in memory.search_traces(session=WORD):
        memory.admin.erase(turn.id)
    assert WORD == memory.sessions.get(WORD).id  # its turns are blanked, and stand in it
    assert memory.admin.erase(session=WORD).clean

    assert [] == canaries.sung(home, [WORD])


def test_a_session_that_is_known_by_its_files_alone_can_be_erased(memory, home):
    """Nothing was said in it; what was noted there goes."""
    memory.sessions.attach(f"/tmp/{WORD}.jpg", session="files")
    memory.sessions.attach("/tmp/b.jpg", session="others")
    memory.admin.erase(session="files")

    assert ["others"] == [one.session for one in memory.sessions.attachments()]
    assert [] == canaries.sung(home, [WORD])


@pytest.mark.parametrize(("said", "joke"), [("I live in Bergen.", "just kidding"), ("我住在北京。", "开玩笑的！")])
def test_that_a_turn_took_something_back_goes_with_the_turn(memory, said, joke):
    """Of a turn that stays without its words nothing is left that could tell them; another turn's receipt stays."""
    store, scope = memory._handle.store, memory._handle.writes()
    turns = [memory.record_turn("user", text, session=session) for session in "abc" for text in (said, joke)]
    keys = [f"retract {turn.id}" for turn in turns[1::2]]

    assert all(store.receipt(scope, key) for key in keys)
    memory.admin.erase(session="a")
    memory.admin.erase(turns[3].id)
    found = [store.receipt(scope, key) for key in keys]
    assert (None, b"", True) == (found[0], found[1] and found[1][0], bool(found[2] and found[2][0]))
