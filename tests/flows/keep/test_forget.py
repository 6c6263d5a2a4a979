"""`forget` and `restore`: a memory, a turn, a session, a period."""

from dataclasses import replace

import pytest

from yiku import Memory
from yiku.errors import InvalidInput, NotFound
from yiku.types import State


def texts(items):
    return [item.content for item in items]


def snapshot(memory):
    """What can be seen of everything that was ever said."""
    rows = memory.get_all(where={"id": {"exists": True}, "state": {"exists": True}})
    return {(m.id, m.line, m.state, m.superseded_by, m.valid_to, m.reason) for m in rows}, {t.id for t in memory.search_traces()}


@pytest.mark.parametrize("short", [False, True])
def test_a_forgotten_memory_is_in_no_answer(memory, short):
    """The whole line goes, out of recall, context, listing and timeline; it is archived with its reason, and can come back."""
    memory.remember("I live in Bergen")
    kept = memory.remember("我住在奥斯陆").memory
    before = snapshot(memory)
    gone = memory.forget(kept.id[-8:] if short else kept.id, reason="搬走了")

    assert ["I live in Bergen", "我住在奥斯陆"] == sorted(texts(gone.memories))
    assert (0, [], [], "") == (
        len(memory.recall("where do I live? Bergen 奥斯陆 before")),
        memory.get_all(),
        memory.timeline(),
        memory.context("我住在哪里").text,
    )
    assert (State.ARCHIVED, "forgotten: 搬走了") == (memory.get(kept.id).state, memory.get(kept.id).reason)
    back = memory.restore(kept.id)
    assert 2 == len(back.memories)
    assert ["我住在奥斯陆"] == texts(memory.get_all())
    assert before[1] == snapshot(memory)[1]
    assert {row[:5] for row in before[0]} == {row[:5] for row in snapshot(memory)[0]}


def test_a_forgotten_turn_takes_what_came_from_it_alone(memory):
    """A memory with another source stays; one that has none goes with the turn, and the chain closes up."""
    turns = [memory.record_turn("user", text) for text in ("I live in Bergen.", "I live in Oslo.", "I like tea.", "I like tea!")]
    for turn in turns:
        memory.remember(turn.content, source=turn.id)
    gone = memory.forget(turns[1].id)

    assert (["I live in Oslo."], ["I live in Oslo."]) == (texts(gone.memories), texts(gone.turns))
    assert {"I live in Bergen.", "I like tea."} == {*texts(memory.get_all())}
    assert [("I live in Bergen.", None)] == [(m.content, m.valid_to) for m in memory.history(gone.memories[0].id) if m.live]
    assert () == memory.forget(turns[2].id).memories


def test_a_memory_of_two_turns_goes_with_the_last_of_them(memory):
    """As long as one of its turns is there, a memory stays."""
    turns = [memory.record_turn("user", "我喜欢绿茶。") for _ in range(2)]
    for turn in turns:
        memory.remember("我喜欢绿茶。", source=turn.id)
    memory.forget(turns[0].id)

    assert ["我喜欢绿茶。"] == texts(memory.get_all())
    memory.forget(turns[1].id)
    assert [] == memory.get_all()


def test_a_session_and_a_time_are_forgotten(memory):
    """All turns of a session, or of a span that is closed before and open after, with what came from them."""
    for day, session in ((1, "早会"), (2, "早会"), (3, "晚会"), (4, "晚会")):
        turn = memory.record_turn("user", f"第{day}天", session=session, said_at=f"2026-02-0{day}")
        memory.remember(f"第{day}天", source=turn.id)

    assert ["第1天", "第2天"] == sorted(texts(memory.forget(session="早会").turns))
    assert ["第3天"] == texts(memory.forget(since="2026-02-02", until="2026-02-04").memories)
    assert ["第4天"] == texts(memory.get_all()) == texts(memory.search_traces())
    assert ["第4天"] == texts(memory.forget(session="晚会", since="2026-02-01").turns)


@pytest.mark.parametrize(("first", "second"), [("I live in Bergen.", "I moved to Oslo."), ("我住在卑尔根。", "我搬到奥斯陆了。")])
@pytest.mark.parametrize("what", ["session", "time", "turn"])
def test_what_was_learned_from_an_undone_turn_is_forgotten_with_it(memory, first, second, what):
    """The turn is hidden already, what it said is not; then nothing is left to forget."""
    with Memory(memory.settings.home, learn="off", clock=memory._handle.clock) as quiet:
        turns = [quiet.record_turn("user", text, session="s") for text in (first, second)]
        recorded = quiet.admin.journal(limit=1)[0].transaction
    for turn in turns:
        memory.remember(turn.content, source=turn.id)
    memory.admin.undo(recorded)
    call = {"session": {"session": "s"}, "time": {"since": turns[0].said_at}, "turn": {"id": turns[1].id}}[what]
    gone = memory.forget(**call)

    assert second in texts(gone.memories)
    assert ([first] if what == "turn" else []) == texts(memory.get_all())
    assert ([] if what == "turn" else [first]) == texts(gone.turns)
    if what == "turn":
        assert 0 == memory.forget(**call).operation
    else:
        with pytest.raises(NotFound):
            memory.forget(**call)


def test_a_chain_that_loses_its_middle_closes_up(memory):
    """The neighbours join, and the middle finds its place again when it is restored."""
    turns = [memory.record_turn("user", f"My employer is {name}", said_at=f"2026-02-0{i}") for i, name in enumerate("ABC", 1)]
    for turn in turns:
        memory.remember(turn.content, source=turn.id)
    before = [(m.object, m.valid_from, m.valid_to, m.live) for m in memory.history("who is my employer?")]
    middle = memory.forget(turns[1].id).memories[0]
    without = [(m.object, m.valid_to) for m in memory.history("who is my employer?") if m.state is State.ACTIVE]

    assert [("A", turns[2].said_at), ("C", None)] == without
    memory.restore(middle.id)
    assert before == [(m.object, m.valid_from, m.valid_to, m.live) for m in memory.history("who is my employer?")]


def test_restored_beside_what_was_said_since(memory, clock):
    """Where the slot was taken meanwhile, there is one chain, and the statement said later is live."""
    old = memory.remember("I live in Bergen").memory
    memory.forget(old.id)
    clock.advance(days=1)
    memory.remember("我住在奥斯陆")
    memory.restore(old.id)

    assert ["I live in Bergen", "我住在奥斯陆"] == texts(memory.history("where do I live"))
    assert ["我住在奥斯陆"] == texts(memory.get_all())


@pytest.mark.parametrize(
    ("text", "again", "given"),
    [
        ("Deploys to staging happen on Friday.", "Deploys to staging also happen on Friday.", {}),
        ("Bob's desk is number 12.", "Also Bob's desk is number 12.", {"subject": "Bob", "predicate": "desk", "object": "12"}),
        ("小雨住在杭州。", "小雨其实住在杭州。", {"subject": "小雨", "predicate": "home", "object": "杭州"}),
    ],
)
def test_what_a_night_merged_comes_back_merged(memory, clock, text, again, given):
    """Live is the one that stayed, pinned and tagged, with the sources of both; a new version goes on from that."""
    kept = memory.remember(text, external_id="k1", tags=["ops"], pinned=True, **given).memory
    clock.advance(days=1)
    other = memory.remember(again).memory
    memory.admin.consolidate()
    before = [memory.get(one.id) for one in (kept, other)]
    memory.forget(kept.id)
    back = memory.restore(other.id)

    assert {kept.id, other.id} == {one.id for one in back.memories}
    assert kept.id == before[1].superseded_by
    for was, now in zip(before, [memory.get(one.id) for one in (kept, other)], strict=True):
        assert was == replace(now, changed=was.changed, updated_at=was.updated_at)
    clock.advance(days=1)
    memory.remember("The key has another text. 钥匙换了。", external_id="k1")

    assert ["The key has another text. 钥匙换了。"] == texts(memory.get_all())


@pytest.mark.parametrize(
    "said",
    [
        ("The bike is in the cellar.", "Where is the bike?", "Just kidding."),
        ("自行车在地下室。", "自行车在哪里？", "开玩笑的。"),
    ],
)
@pytest.mark.parametrize("given", [{"expires_at": "2026-03-03"}, {"ttl_days": 1}])
@pytest.mark.parametrize("how", ["forgotten", "retracted"])
def test_what_is_restored_after_its_end_is_found(memory, clock, said, given, how):
    """Forgotten or taken back before its end came: brought back, it has none. An end that is still to come stays."""
    text, question, taken = said
    kept = memory.remember(text, **given).memory
    memory.remember(taken) if how == "retracted" else memory.forget(kept.id)
    memory.restore(kept.id)
    before = memory.get(kept.id)
    memory.remember(taken) if how == "retracted" else memory.forget(kept.id)
    clock.advance(days=9)
    memory.restore(kept.id)

    assert kept.ends_at == before.ends_at
    assert memory.get(kept.id).ends_at is None
    assert [kept.id] == [hit.id for hit in memory.recall(question, types=["memory"])]
    assert {} == memory.admin.consolidate().counts


@pytest.mark.parametrize("text", ["I live in Bergen", "香蕉很好吃"])
def test_restored_beside_its_like(memory, clock, text):
    """Said again while it was forgotten, and then restored: one of the two is live."""
    old = memory.remember(text).memory
    memory.forget(old.id)
    clock.advance(days=1)
    memory.remember(text)
    memory.restore(old.id)

    assert [text] == texts(memory.get_all())
    assert 2 == len(memory.history(old.id))


def test_a_turn_comes_back(memory):
    """A restored turn is found again; restoring it twice is not found."""
    turn = memory.record_turn("user", "香蕉很好吃", tool_calls=[{"name": "eat"}])
    memory.forget(turn.id)

    assert (0, []) == (len(memory.recall("香蕉")), memory.search_traces(tool="eat"))
    assert turn.id == memory.restore(turn.id).turns[0].id
    assert [turn.id] == [hit.id for hit in memory.recall("香蕉")]
    with pytest.raises(NotFound, match="no forgotten turn"):
        memory.restore(turn.id)


@pytest.mark.parametrize("what", ["id", "turn", "session", "time"])
def test_a_dry_run_lists_and_writes_nothing(memory, what):
    """It names what the real call takes, and the store has not changed."""
    turn = memory.record_turn("user", "香蕉", session="s", said_at="2026-02-01")
    kept = memory.remember("香蕉", source=turn.id).memory
    call = {"id": {"id": kept.id}, "turn": {"id": turn.id}, "session": {"session": "s"}, "time": {"until": "2026-02-02"}}[what]
    before = memory.admin.stats()
    listed = memory.forget(**call, dry_run=True)

    assert (before, 0) == (memory.admin.stats(), listed.operation)
    done = memory.forget(**call)
    assert ([m.id for m in listed.memories], [t.id for t in listed.turns]) == (
        [m.id for m in done.memories],
        [t.id for t in done.turns],
    )


def test_what_is_not_there_cannot_be_forgotten(memory):
    """Unknown ids, sessions and times; nor can what is not forgotten be restored."""
    calls = [
        lambda: memory.forget("00000000"),
        lambda: memory.forget(session="none"),
        lambda: memory.forget(until="2020-01-01"),
        lambda: memory.restore(memory.remember("苹果").memory.id),
        lambda: memory.restore("00000000"),
    ]
    for call in calls:
        with pytest.raises(NotFound):
            call()


def test_forgetting_twice_does_nothing(memory):
    """What is gone already is no error, and no operation."""
    turn = memory.record_turn("user", "香蕉")
    kept = memory.remember("香蕉", source=turn.id).memory
    for id in (kept.id, turn.id):
        memory.forget(id)
        changes = memory.admin.stats().changes
        again = memory.forget(id)

        assert ((), (), 0) == (again.memories, again.turns, again.operation)
        assert changes == memory.admin.stats().changes


@pytest.mark.parametrize("call", [{}, {"id": "x", "session": "s"}, {"id": "x", "since": "2026-01-01"}, {"reason": "x"}])
def test_one_thing_at_a_time(memory, call):
    """Either an id, or a session or time: neither and both are refused."""
    with pytest.raises(InvalidInput, match="needs either an id"):
        memory.forget(**call)


def test_another_scope_keeps_its_session(memory, home, clock):
    """A session of the same name elsewhere is not touched."""
    with Memory(home, scope="user:ann", clock=clock) as ann:
        ann.record_turn("user", "香蕉", session="s")
        memory.record_turn("user", "香蕉", session="s")
        memory.forget(session="s")

        assert ["香蕉"] == texts(ann.search_traces(session="s"))


def shown_of(memory) -> str:
    """All that lists, the scratchpad and prompts show of sessions."""
    return "\n".join(
        [
            *(episode.summary for episode in memory.sessions.episodes()),
            *(f"{one.filename} {one.description}" for one in memory.sessions.attachments()),
            memory.sessions.to_markdown(memory.sessions.scratchpad(), "en"),
            memory.prompts.build("hi").text,
        ]
    )


@pytest.fixture(params=["en", "zh"])
def work(request):
    """A request and a word of it, another one and a word of that."""
    return {
        "en": ("Please fix the payroll export for Zenobia.", "payroll", "New topic: please translate the garden manual.", "manual"),
        "zh": ("请帮我修复秘密的工资导出脚本。", "工资", "换个话题，请帮我翻译花园手册。", "花园手册"),
    }[request.param]


@pytest.mark.parametrize("how", ["undo", "restore"])
def test_a_forgotten_session_is_in_no_list_and_no_prompt(memory, clock, work, how):
    """Its task, its story and its files are gone until it is undone, or each of its turns is restored."""
    asked, word, *_ = work
    turns = [memory.record_turn("user", asked, session="a"), memory.record_turn("assistant", "OK.", session="a")]
    memory.sessions.attach("/srv/a.txt", session="a", description=f"{word} a")
    memory.sessions.attach("/srv/b.txt", session="a", turn=turns[0].id, description=f"{word} b")
    memory.sessions.end("a")
    before = shown_of(memory)
    clock.advance(hours=1)
    forgotten = memory.forget(session="a")

    assert (5, 0) == (before.count(word), shown_of(memory).count(word))
    clock.advance(hours=1)
    if how == "undo":
        memory.admin.undo(forgotten.operation)
    else:
        for turn in turns:
            memory.restore(turn.id)
    assert before == shown_of(memory)


def test_work_goes_on_after_a_session_was_forgotten(memory, clock, work):
    """The next request is the current task, also the same one again; what was forgotten is no recent task until it is back."""
    asked, word, other, other_word = work
    memory.record_turn("user", asked, session="a")
    clock.advance(hours=1)
    forgotten = memory.forget(session="a")
    memory.record_turn("user", "OK, thanks! 好的，谢谢！", session="b")
    assert "" == memory.sessions.scratchpad().current_focus
    clock.advance(hours=1)
    memory.record_turn("user", other, session="b")
    pad = memory.sessions.scratchpad()
    assert other_word in pad.current_focus and () == pad.recent
    memory.admin.undo(forgotten.operation)
    assert [True] == [word in task.text for task in memory.sessions.scratchpad().recent]


def test_a_request_that_was_forgotten_can_be_made_again(memory, clock, work):
    """In another session it is the current task again; forgetting the first one does not reach it."""
    asked, word, *_ = work
    memory.record_turn("user", asked, session="a")
    memory.forget(session="a")
    clock.advance(hours=1)
    memory.record_turn("user", asked, session="b")

    assert (True, ()) == (word in memory.sessions.scratchpad().current_focus, memory.sessions.scratchpad().recent)


def test_of_two_requests_at_one_time_the_forgotten_one_is_gone(memory, work):
    """As in an import of talk that has days only."""
    asked, word, other, other_word = work
    memory.record_turn("user", asked, session="a")
    memory.record_turn("user", other, session="b")
    memory.forget(session="a")

    assert other_word in memory.sessions.scratchpad().current_focus
    assert word not in shown_of(memory)


@pytest.mark.parametrize(
    ("asked", "more", "word"),
    [
        ("Please translate the garden manual.", "Please translate the garden manual with Zenobia's payroll.", "payroll"),
        ("请帮我翻译花园手册。", "请帮我翻译花园手册和工资表。", "工资表"),
    ],
)
def test_words_that_a_forgotten_turn_gave_a_task_are_gone(memory, clock, asked, more, word):
    """The task had begun before, in a session that is remembered."""
    memory.record_turn("user", asked, session="a")
    clock.advance(hours=1)
    memory.record_turn("user", more, session="b")
    assert word in memory.sessions.scratchpad().current_focus
    memory.forget(session="b")

    assert word not in shown_of(memory)


def test_what_was_forgotten_outlives_an_edit_of_the_scratchpad(memory, clock, work):
    """The page was edited as it was shown: only what was changed is the person's, and an undo brings the rest back."""
    asked, word, other, other_word = work
    memory.record_turn("user", asked, session="a")
    clock.advance(hours=1)
    memory.record_turn("user", other, session="b")
    forgotten = memory.forget(session="a")
    shown = memory.sessions.to_markdown(memory.sessions.scratchpad(), "en")
    pad = memory.sessions.edit_scratchpad(f"{shown}\n\n## Notes\n- mine")
    assert ({"Notes": "- mine"}, ()) == (pad.overrides, pad.recent)
    memory.admin.undo(forgotten.operation)

    assert [True] == [word in task.text for task in memory.sessions.scratchpad().recent]
    assert other_word in memory.sessions.scratchpad().current_focus


def test_a_file_that_came_after_a_session_was_forgotten_is_listed(memory, clock):
    """Forgetting reaches what was there; of several files the list shows as many as it was asked for."""
    memory.record_turn("user", "Please file the receipts.", session="a")
    for place in range(3):
        memory.sessions.attach(f"/srv/old {place}.txt", session="a")
    memory.sessions.attach("/srv/other.txt", session="b")
    clock.advance(hours=1)
    memory.forget(session="a")
    clock.advance(hours=1)
    memory.sessions.attach("/srv/new.txt", session="a")

    assert ["new.txt", "other.txt"] == [one.filename for one in memory.sessions.attachments(limit=2)]


def test_whom_a_forgotten_memory_contradicted_is_free_again(memory):
    """Of two rivals one is forgotten: the other is marked no more, and status has no trouble to tell."""
    strict = memory.remember("The gateway's mode is strict").memory
    lax = memory.remember("The gateway's mode is lax").memory
    memory.forget(lax.id)

    assert (None, ()) == (memory.get(strict.id).flag, memory.get(strict.id).flagged_with)
    assert () == memory.status().troubles


def forget_what_was_said(memory, corrected):
    memory.forget(corrected.sources[0].turn)


def forget_and_restore(memory, corrected):
    memory.forget(corrected.id)
    memory.restore(corrected.id)
    memory.forget(corrected.sources[0].turn)


def erase_what_was_said(memory, corrected):
    memory.admin.erase(corrected.sources[0].turn, confirm=True)


def take_it_back_in_english(memory, corrected):
    memory.remember("Just kidding.", session="s")


def take_it_back_in_chinese(memory, corrected):
    memory.remember("开玩笑的。", session="s")


@pytest.mark.parametrize(
    "take_back", [forget_what_was_said, forget_and_restore, erase_what_was_said, take_it_back_in_english, take_it_back_in_chinese]
)
@pytest.mark.parametrize(
    ("texts", "objects"),
    [
        (("Ann's hobby is novels", "Ann's hobby is chess", "Ann's hobby is crime novels"), ("novels", "chess")),
        (("安的爱好是小说", "安的爱好是象棋", "安的爱好是推理小说"), ("小说", "象棋")),
    ],
)
def test_a_contradiction_stands_on_both_sides_again_when_its_correction_goes(memory, clock, take_back, texts, objects):
    """The earlier statement is live again, and so is what it contradicted: each is flagged with the other."""
    slot = {"subject": "ann", "predicate": "hobby"}
    one, other = (memory.remember(text, object=object, **slot).memory for text, object in zip(texts, objects, strict=False))
    clock.advance(minutes=1)
    turn = memory.record_turn("user", f"{texts[2]}, fyi.", session="s")
    corrected = memory.update(one.id, texts[2], source=turn.id)
    between = memory.get(other.id)
    clock.advance(minutes=1)
    take_back(memory, memory.get(corrected.id))

    assert (None, ()) == (between.flag, between.flagged_with)
    assert ("conflict", (other.id,), True) == (memory.get(one.id).flag, memory.get(one.id).flagged_with, memory.get(one.id).live)
    assert ("conflict", (one.id,)) == (memory.get(other.id).flag, memory.get(other.id).flagged_with)


def test_what_was_contradicted_and_is_gone_flags_nothing_that_comes_back(memory, clock):
    """Both the correction and the rival are forgotten: what is live again contradicts nothing."""
    slot = {"subject": "ann", "predicate": "hobby"}
    one = memory.remember("Ann's hobby is novels", object="novels", **slot).memory
    other = memory.remember("Ann's hobby is chess", object="chess", **slot).memory
    clock.advance(minutes=1)
    turn = memory.record_turn("user", "Ann's hobby is crime novels, fyi.", session="s")
    memory.update(one.id, "Ann's hobby is crime novels", source=turn.id)
    memory.forget(other.id)
    memory.forget(turn.id)

    assert (None, (), True) == (memory.get(one.id).flag, memory.get(one.id).flagged_with, memory.get(one.id).live)
