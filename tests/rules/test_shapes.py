"""Plain statements that no cue knows: what is told by its shape, in either language, and what only looks like it."""

from datetime import UTC, datetime

import pytest

from yiku.rules import extract
from yiku.types import Kind

NOW = datetime(2026, 4, 15, 12, tzinfo=UTC)


def learned(text: str) -> list[tuple[str, Kind]]:
    return [(draft.text, draft.kind) for draft in extract.drafts(text, said_at=NOW)]


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        # what somebody means to do
        ("I'm thinking of repainting my canoe.", Kind.TASK, "canoe"),
        ("I've been meaning to sort my seed drawers.", Kind.TASK, "seed drawers"),
        ("Our main goal, the one thing for this spring, is to sleep more.", Kind.TASK, "sleep more"),
        ("I think I'll order the Tamsin kettle.", Kind.TASK, "Tamsin kettle"),
        ("Let's postpone the roof inspection to next Thursday.", Kind.EVENT, "roof inspection"),
        ("明天开始只喝温水。", Kind.EVENT, "温水"),
        ("本月日程调整 合唱团里的分声部排练推迟到下周。", Kind.EVENT, "推迟到下周"),
        ("两年内考下船长证。", Kind.EVENT, "船长证"),
        ("因5月3日下午与宋总的球赛，训练取消。", Kind.EVENT, "宋总"),
        # what somebody wishes, of answers too
        ("It is fine but i would rather have fewer adjectives.", Kind.PREFERENCE, "fewer adjectives"),
        ("I need a tent with a tall porch.", Kind.PREFERENCE, "tall porch"),
        ("I'm keen on the tuning of Oskar's piano.", Kind.PREFERENCE, "tuning"),
        ("我要的是能照着做的步骤，而不是空话。", Kind.PREFERENCE, "步骤"),
        ("我想把阳台改成小工坊。", Kind.PREFERENCE, "小工坊"),
        # what is so
        ("I can only train on Tuesdays and Fridays.", Kind.FACT, "Tuesdays"),
        ('I have "The Bone Clocks" by Mitchell.', Kind.FACT, "Bone Clocks"),
        ("Keeping each stage under 40 km feels manageable.", Kind.FACT, "40 km"),
        ("我负责给合唱团订谱子。", Kind.FACT, "订谱子"),
        ("我用的是普通的红土。", Kind.FACT, "红土"),
        ("我平时不太出门。", Kind.FACT, "出门"),
        ("目前茶叶占60%。", Kind.FACT, "60%"),
        ("Kestrel 的截止日期是六月二日。", Kind.FACT, "Kestrel 的截止日期"),  # no title that stands before a sentence
        # whom somebody has
        ("是给我弟弟买的单车，他9岁，在苏州上学。", Kind.FACT, "9岁"),
        ("我和姐姐都在外地。", Kind.FACT, "外地"),
        ("老梁邀请我主持读诗会。", Kind.FACT, "读诗会"),
        # what happened
        ("I've forwarded the Lindqvist papers to the notary.", Kind.EVENT, "Lindqvist"),
        ("刚从长桥花市回来。", Kind.EVENT, "花市"),
        ("2026-03-08晚与方敏通话谈养蜂。", Kind.EVENT, "方敏"),
        ("我译稿第二章改得差不多了。", Kind.EVENT, "第二章"),
        # what was learned from it, and how to answer
        ("以后遇到急单，我得先核对交期。", Kind.EXPERIENCE, "交期"),
        ("Assume I know the safety notes from now on.", Kind.RULE, "safety notes"),
        ("For the future, when I say brief you should stay under three lines.", Kind.RULE, "brief"),
    ],
)
def test_a_plain_statement_is_learned_by_its_shape(text: str, kind: Kind, said: str) -> None:
    """A clause of the first person that names something is kept, whatever its verb."""
    [(told, found)] = learned(text)

    assert said in told
    assert found is kind


@pytest.mark.parametrize(
    "text",
    [
        "I'm thinking about it.",
        "I'm trying to understand how tides work.",
        "I'd like to know more about Lisbon.",
        "I'll check those out, the Tamsin one first.",
        "I'm going to try it right now.",
        "We can talk about the Lindqvist papers.",
        "I realized Anna was right.",
        "I need your help with the Lindqvist papers.",
        "This plan is perfect for Day 3.",
        "My question is about Lisbon.",
        "Write a reply: I need five days off in May.",
        "If I moved to Lisbon, I'd sell my car.",
        "When I say I'm tired, my wife laughs.",
        "我觉得第二点很好。",
        "我想听听对第二章的看法。",
        "我知道该怎么开始了。",
        "我先从第二步开始试试。",
        "这套步骤正是我需要的。",
        "为了给明天的比赛储备体力，晚上吃什么好？",
        "今晚的月亮太美了。",
        "我这种情况，",
        "如果下周推迟到月底呢？",
        "给我一份下周的菜单。",
        "合唱排练推迟到下周了",
    ],
)
def test_what_only_looks_like_a_statement_teaches_nothing(text: str) -> None:
    """What is thought, wondered, asked for, tried at the moment or said of this talk is not kept."""
    assert [] == learned(text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "I switched from rowing to fencing because the river freezes.",
            "I switched from rowing to fencing because the river freezes.",
        ),
        ("I borrowed Pavel's drill, which this new feature of the bench needs.", "I borrowed Pavel's drill."),
        ("我计划周末去采蘑菇，作为领队。", "我计划周末去采蘑菇。"),
    ],
)
def test_what_only_explains_is_left_out_where_it_stands_in_the_way(text: str, kept: str) -> None:
    """A tail that would silence a clause is cut off it; one that does not stays."""
    assert [kept] == [told for told, _ in learned(text)]


def test_a_note_to_oneself_says_what_is_planned_and_what_was_counted() -> None:
    """Under a title, to nobody: its sentences have no subject, and are its writer's."""
    note = "家庭收支复盘记录 房租占家里全部收入的31%。\n后续需缩减外出就餐开支。\n窗外很静。\n负责项目：1。"

    assert ["房租占家里全部收入的31%。", "后续需缩减外出就餐开支。"] == [told for told, _ in learned(note)]


@pytest.mark.parametrize(
    "text",
    [
        "家庭收支复盘记录 房租占家里全部收入的31%，你觉得高吗？",
        "一般城市里房租占家里全部收入的31%。",
        "谢谢你的家庭收支记录 房租占家里全部收入的31%。",
    ],
)
def test_what_is_said_to_somebody_is_no_note(text: str) -> None:
    """A question or thanks make it talk, and in talk a figure without a subject is nobody's."""
    assert [] == learned(text)
