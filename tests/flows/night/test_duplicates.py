"""Merging duplicates at night; statements that only look alike stay apart."""

import pytest

from yiku import Memory
from yiku.interfaces.importers import yiku_jsonl
from yiku.types import Kind, SemanticMemory

SAME = [
    (
        "I'm trying to reach the gold level in the tea shop's app",
        "I'm actually trying to reach the gold level in the tea shop's app",
    ),
    ("Our office has 12 meeting rooms", "Our office has twelve meeting rooms."),
    ("The backup job does not delete old logs", "The backup job doesn't delete old logs"),
    ("山里的木屋爸爸特别喜欢打扫", "其实山里的木屋爸爸喜欢打扫"),
    ("我们的办公室有12间会议室", "我们办公室有十二间会议室"),
    ("網關項目的文檔寫得很清楚", "网关项目的文档写得很清楚"),
]
APART = [
    ("The user likes the dark theme of the editor", "The user likes the light theme of the editor"),
    ("用户喜欢编辑器的深色主题", "用户喜欢编辑器的浅色主题"),
    ("Our office has 12 meeting rooms", "Our office has 13 meeting rooms"),
    ("Our office has 12 meeting rooms", "Our office has no meeting rooms"),
    ("我们的办公室有12间会议室", "我们的办公室有13间会议室"),
    ("The train from Oslo to Bergen is slow", "The train from Bergen to Oslo is slow"),
    ("从奥斯陆到卑尔根的火车很慢", "从卑尔根到奥斯陆的火车很慢"),
    ("Ann called Bob about the lease", "Bob called Ann about the lease"),
    ("My brother lent Tom his bike", "My brother lent Tim his bike"),
    ("I eat few sweets", "I eat a few sweets"),
    ("他吃了药", "他吃药"),
    ("I keep the C++ code in one repository", "I keep the C code in one repository"),
    ("我最喜欢喝普洱茶", "我喜欢喝普洱茶"),
]


def merged(memory: Memory) -> int:
    return memory.admin.consolidate().counts.get("merged", 0)


def live(memory: Memory) -> list[SemanticMemory]:
    return [one for one in memory.get_all(limit=100) if isinstance(one, SemanticMemory)]


@pytest.mark.spec("S2-78", "S3-45", "T-27", "S3-197")
@pytest.mark.parametrize(("first", "second"), SAME)
def test_the_same_in_other_words_becomes_one(memory, clock, first, second):
    """One of the two is live after the night; the other is history of its line, and both tellings are its sources."""
    one = memory.remember(first, kind=Kind.FACT).memory
    clock.advance(hours=1)
    two = memory.remember(second, kind=Kind.FACT).memory
    done = memory.admin.consolidate()

    assert {"merged": 1} == done.counts
    kept, dropped = done.items[0].ids
    assert {one.id, two.id} == {kept, dropped}
    assert [kept] == [row.id for row in live(memory)]
    assert {one.content, two.content} == {row.content for row in memory.history(kept)}
    assert len(memory.get(kept).sources) == 2
    assert () == tuple(memory.admin.check().problems)


@pytest.mark.spec("T-27")
@pytest.mark.parametrize(
    "text", ["The old pump stands in the dark hall behind the red mill", "旧水泵在磨坊后面的黑厂房里靠着墙放着"]
)
def test_more_tellings_than_are_compared_at_once_become_one(memory, clock, text):
    """Ten and more spellings of one statement; the night after it has nothing to do."""
    parts = text.split(" ") if text.isascii() else [*text]
    joined = " " if text.isascii() else ""
    for place in range(1, 12):
        memory.remember(joined.join([*parts[:place], "—", *parts[place:]]), kind=Kind.FACT)
        clock.advance(minutes=5)

    assert len(live(memory)) == 11
    assert 10 == merged(memory)
    assert 0 == merged(memory)
    assert 11 == len(memory.get(live(memory)[0].id).sources)


@pytest.mark.parametrize(("first", "second"), APART)
def test_what_differs_in_a_word_that_matters_stays_two(memory, clock, first, second):
    """A colour, a number, a denial, a name, the order of two places."""
    memory.remember(first, kind=Kind.FACT)
    clock.advance(hours=1)
    memory.remember(second, kind=Kind.FACT)
    before = len(live(memory))

    assert 0 == merged(memory)
    assert before == len(live(memory))


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("The new tenant moved in recently", "The new tenant actually moved in recently"),
        ("新租客最近搬了进来", "其实新租客最近搬了进来"),
    ],
)
def test_what_means_another_day_is_told_twice(memory, clock, text, again):
    """Recently is not what was recent a week ago."""
    memory.remember(text)
    clock.advance(days=7)
    memory.remember(again)

    assert 0 == merged(memory)


def test_counters_tags_and_the_earlier_beginning_are_kept(memory, clock):
    """Nothing that was known of either is lost."""
    first = memory.remember("Our office has 12 meeting rooms", tags=["office"], importance=0.4).memory
    clock.advance(days=2)
    second = memory.remember("Our office has twelve meeting rooms.", tags=["rooms"], importance=0.9).memory
    memory.feedback(first.id, "used")
    memory.feedback(second.id, "used")
    kept = memory.admin.consolidate().items[0].ids[0]
    row = memory.get(kept)

    assert ("office", "rooms") == tuple(sorted(row.tags))
    assert 0.9 == row.importance
    assert 2 == row.used
    assert first.said_at == row.said_at
    assert second.said_at == row.confirmed_at


@pytest.mark.parametrize(
    "own", [{"project": "north"}, {"agent": "planner"}, {"ttl_days": 9}, {"metadata": {"page": 3}}, {"basis": "the plan"}]
)
def test_what_a_merge_would_lose_keeps_both(memory, clock, own):
    """Of another project or agent, with an end of its own, or with data that the other lacks."""
    memory.remember("Our office has 12 meeting rooms")
    clock.advance(hours=1)
    memory.remember("Our office has twelve meeting rooms.", **own, importance=0.1)

    assert 0 == merged(memory)


def test_a_second_night_finds_nothing(memory, clock):
    """What was merged is merged."""
    memory.remember(SAME[0][0])
    clock.advance(hours=1)
    memory.remember(SAME[0][1])

    assert [1, 0] == [merged(memory), merged(memory)]


def test_what_was_undone_is_not_done_again(memory, clock):
    """A person took it back: the next night leaves both."""
    first = memory.remember(SAME[0][0]).memory
    clock.advance(hours=1)
    second = memory.remember(SAME[0][1]).memory
    before = [memory.get(one.id) for one in (first, second)]
    done = memory.admin.consolidate()
    memory.admin.undo(done.items[0].operation)
    after = [memory.get(one.id) for one in (first, second)]

    assert [(one.content, one.line, one.superseded_by, one.sources) for one in before] == [
        (one.content, one.line, one.superseded_by, one.sources) for one in after
    ]
    clock.advance(days=1)
    assert 0 == merged(memory)


def test_erasing_the_kept_one_takes_the_merged_one(memory, clock):
    """Both are one line by then, and nothing of either stays."""
    memory.remember("Grandma hid 17 coins behind the harbour lockers")
    clock.advance(hours=1)
    memory.remember("Grandma hid seventeen coins behind the harbour lockers")
    kept = memory.admin.consolidate().items[0].ids[0]
    memory.admin.erase(kept)

    assert [] == live(memory)
    assert [] == list(memory.recall("coins harbour"))


def test_a_merge_goes_along_with_an_export(memory, clock, tmp_path):
    """In another home the same one is live, with the sources of both."""
    memory.remember(SAME[0][0])
    clock.advance(hours=1)
    memory.remember(SAME[0][1])
    kept = memory.admin.consolidate().items[0].ids[0]
    memory.admin.export(tmp_path / "out.jsonl")
    with Memory(tmp_path / "other", owner="user:mei", clock=clock) as other:
        other.admin.import_(yiku_jsonl.read(tmp_path / "out.jsonl"), source="yiku")

        assert [memory.get(kept).content] == [row.content for row in live(other)]
        assert 2 == len(other.get(live(other)[0].id).sources)
        assert () == tuple(other.admin.check().problems)


@pytest.mark.spec("S0-89")
@pytest.mark.parametrize(
    ("text", "triple"),
    [("My sister Freya lives in Bergen.", "Bergen"), ("我姐姐住在成都。", "成都")],
)
def test_what_a_night_learns_states_relations(memory, text, triple):
    """A turn that waited is learned from, and the relation of its statement is found by its entity."""
    memory.record([{"role": "user", "content": text, "session": "s"}])
    memory.admin.consolidate()

    assert triple in {relation.object for row in live(memory) for relation in memory.get(row.id).relations}


@pytest.mark.parametrize(
    ("text", "again", "between"),
    [
        ("Gate code is E.", "Also gate code is E.", "Gate code is F."),
        ("大门密码是 E。", "大门密码其实是 E。", "大门密码是 F。"),
    ],
)
def test_a_merge_moves_no_version_before_those_that_it_replaced(memory, clock, text, again, between):
    """What was said before a correction is merged into what was said after it: told once more, that is found and confirmed."""
    slot = {"subject": "gate", "predicate": "code", "cardinality": "unknown"}
    first = memory.remember(text, external_id="gate", **slot).memory
    clock.advance(days=1)
    memory.remember(again)
    clock.advance(days=1)
    memory.remember(between, external_id="gate", **slot)
    clock.advance(days=1)
    last = memory.remember(text, external_id="gate", **slot).memory

    assert 1 == merged(memory)
    clock.advance(days=1)
    outcome = memory.remember(text, **slot)

    assert ("confirmed", last.id) == (outcome.kind, outcome.memory.id)
    assert [text, again, between, text] == [row.content for row in memory.history(first.id)]
