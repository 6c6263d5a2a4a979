"""Sample turns, memories and records: every field filled, in English and Chinese, with strange but legal text."""

import itertools
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from yiku.flows.common.turn_texts import tokens, tool_tokens
from yiku.flows.keep import attach
from yiku.flows.learn import episodes
from yiku.rules.deciding.conflict import text_hash
from yiku.rules.deciding.slots import index_tokens
from yiku.types import (
    ActionNode,
    AddMemory,
    AddTurns,
    Attachment,
    Cardinality,
    Cause,
    Episode,
    Job,
    Kind,
    Origin,
    Put,
    Record,
    Relation,
    Scratchpad,
    SemanticMemory,
    Source,
    Standing,
    Task,
    Turn,
)

NOW = datetime(2026, 3, 2, 8, 30, 15, 123456, tzinfo=UTC)
SHANGHAI = timezone(timedelta(hours=8))
_numbers = itertools.count(1)

HOSTILE_TEXTS = [
    "plain words",
    "我住在青岛，离海很近。",
    "python-3.10 D:\\code\\主题.md C++ foo@bar.com #标签 a/b:c config.yaml",
    "ＦＵＬＬ　Ｗｉｄｔｈ　１２３ ｶﾀｶﾅ",
    "emoji 👩‍👩‍👧‍👦🏳️‍🌈👍🏽 ☕灯",
    "हिन्दी में स्मृति ภาษาไทยไม่มีช่องว่าง ລາວ မြန်မာ ខ្មែរ",
    "العربية עִבְרִית مع تشكيلٍ",
    "naïve Ærøskøbing ŁÓDŹ ﬁne ǆ İstanbul ß Ω",
    "x" * 300 + " " + "字" * 300,
    'quotes " \' NEAR( a AND b ) * ^ -col:x "unterminated',
    "line\nbreak\ttab\u2028sep\u200bzero\u202eright-to-left\ufeff",
    "한국어 띄어쓰기 ひらがなカタカナ漢字",
    "𠮷野家 𝔘𝔫𝔦 ① ㍿ ½",
    "s1qfake h11qfake s7q主题 1q",
    "_under_score__ --- ... @@@ +++ ###",
]


def an_id() -> str:
    return f"{next(_numbers):08x}-0000-7000-8000-000000000000"


def a_turn(content: str = "我搬到了 Oslo.", **fields: Any) -> Turn:
    given: dict[str, Any] = {
        "id": an_id(),
        "session": "s1",
        "role": "user",
        "said_at": NOW,
        "recorded_at": NOW,
        "content_hash": b"h",
    }
    return Turn(**{**given, "content": content, **fields})


def a_full_turn() -> Turn:
    """A turn with every field filled."""
    return a_turn(
        "Read 配置文件.toml, please 😀",
        session="2026-03-02 会话",
        role="assistant",
        said_at=NOW.astimezone(SHANGHAI),
        speaker="Méi 梅",
        tool_calls=({"id": "t1", "name": "read_file", "input": {"path": "D:\\码\\配置.toml", "deep": [1, None, True, 2.5]}},),
        tool_results=({"tool_use_id": "t1", "content": "语言 = zh", "is_error": False},),
        external_id="外部-7",
        parent="外部-6",
        agent="coder",
        project="灯笼",
        metadata={"键": ["值", {"n": 1}]},
        origin=Origin.TOOL,
        actor="importer",
        content_hash=b"\x00\xff",
        blob="ab" * 32,
    )


def a_memory(content: str = "Ann lives in Oslo", **fields: Any) -> SemanticMemory:
    id = fields.pop("id", None) or an_id()
    said_at = fields.get("said_at", NOW)
    given: dict[str, Any] = {
        "id": id,
        "line": id,
        "content_hash": text_hash(content, None),
        "said_at": said_at,
        "confirmed_at": said_at,
        "valid_from": said_at,
        "created_at": NOW,
        "updated_at": NOW,
        "sources": (Source(origin=Origin.USER, said_at=said_at, recorded_at=NOW),),
    }
    return SemanticMemory(**{**given, "content": content, **fields})


def a_full_memory() -> SemanticMemory:
    """A memory with every field filled, none with its default."""
    there = NOW.astimezone(SHANGHAI)
    return a_memory(
        "Mei 的项目「灯笼」用 Python 3.12",
        kind=Kind.SKILL,
        standing=Standing.BELIEF,
        subject="灯笼",
        predicate="version",
        object="3.12",
        cardinality=Cardinality.SINGLE,
        slot="灯笼|version",
        basis="she said so",
        flag="conflict",
        flagged_with=("one", "另一个"),
        importance=0.85,
        base_score=0.7,
        strength=3,
        confidence=0.65,
        priority="long_term",
        half_life_days=87.5,
        said_at=there,
        confirmed_at=there + timedelta(hours=1),
        place=4,
        valid_from=there - timedelta(days=2),
        valid_to=there + timedelta(days=30),
        reason="为什么",
        expires_at=NOW + timedelta(days=90),
        auto_delete_at=NOW + timedelta(days=99),
        ttl_days=99,
        pinned=True,
        origin=Origin.FILE,
        trust=0.7,
        method="imported",
        metadata={"k": [1, "值"]},
        agent="coder",
        project="灯笼",
        external_id="mem-1",
        sources=(
            Source(origin=Origin.USER, said_at=there, recorded_at=NOW, turn="t9", session="会话", place=4, actor="梅", text="原话"),
            Source(origin=Origin.FILE, said_at=NOW, recorded_at=NOW),
        ),
        entities=("python", "灯笼"),
        relations=(Relation("灯笼", "uses", "Python"), Relation("Mei", "owns", "灯笼")),
        tags=("alpha", "项目"),
    )


def added(*turns: Turn) -> AddTurns:
    return AddTurns(turns, [tokens(turn) for turn in turns], [tool_tokens(turn) for turn in turns])


def kept(memory: SemanticMemory) -> AddMemory:
    return AddMemory(memory, index_tokens(memory))


def cause(operation: str = "test", **fields: Any) -> Cause:
    return Cause(operation, fields.pop("at", NOW), **fields)


# ------------------------------------------------------------------ records and jobs


def an_episode(**fields: Any) -> Episode:
    """An episode with nothing but what it must have."""
    given: dict[str, Any] = {
        "id": an_id(),
        "session": "s1",
        "started_at": NOW,
        "ended_at": NOW,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Episode(**{**given, **fields})


def a_scratchpad(**fields: Any) -> Scratchpad:
    return Scratchpad(**{"id": an_id(), "user_id": "user:mei", "updated_at": NOW, **fields})


def an_attachment(**fields: Any) -> Attachment:
    given: dict[str, Any] = {"id": an_id(), "session": "s1", "direction": "inbound", "filename": "猫 cat.jpg"}
    return Attachment(**{**given, "said_at": NOW, "created_at": NOW, "updated_at": NOW, **fields})


def full_records() -> list[Record]:
    """An episode, a scratchpad and an attachment with every field filled, none with its default."""
    there = NOW.astimezone(SHANGHAI) + timedelta(minutes=7)
    node = ActionNode(
        tool_name="read_file",
        key_params={"path": "D:\\码\\配置.toml", "deep": [1, None, True, 2.5, {"键": "值"}]},
        result_summary="语言 = zh 😀",
        success=False,
        error_message="没有文件 no such file",
        decision="ask 问小梅",
        timestamp=there,
        turn="t9",
    )
    task = Task(text="重构 login", since=there - timedelta(hours=3), until=there, session="会话", done=True)
    episode = an_episode(
        session="2026-03-02 会话",
        summary="Mei 让我重构登录模块。",
        goal="重构 login",
        outcome="partial",
        outcome_reason="测试 failed",
        started_at=there - timedelta(hours=3),
        ended_at=there,
        first_turn="t1",
        last_turn="t9",
        action_nodes=(node, ActionNode(tool_name="空")),
        entities=("登录", "login"),
        tools_used=("read_file",),
        decisions=("用 argon2, because bcrypt 慢",),
        linked_memory_ids=("m1", "m2"),
        tags=("灯笼", "auth"),
        importance_score=0.85,
        access_count=3,
        source="context_compress",
        method="qwen 模型",
        created_at=there + timedelta(minutes=1),
        updated_at=there + timedelta(minutes=2),
    )
    pad = a_scratchpad(
        user_id="小梅 Mei",
        current_focus="写报告 a report",
        active_projects=("灯笼", "lantern"),
        recent=(task,),
        open_questions=("谁来测试？ who tests?",),
        next_steps=("发布 release",),
        overrides={"Projects 项目": "- 我自己的\n- mine"},
        focus_since=there - timedelta(minutes=5),
        updated_at=there,
    )
    attachment = an_attachment(
        session="会话",
        turn="t9",
        episode_id=episode.id,
        direction="outbound",
        filename="报告 final.pdf",
        original_filename="ＲＥＰＯＲＴ.PDF",
        mime_type="application/pdf",
        file_size=123_456_789,
        local_path="/tmp/报告 final.pdf",
        url="https://example.com/报告?x=%20",
        blob="ab" * 32,
        missing=True,
        description="一只猫 a cat",
        transcription="喵 meow",
        extracted_text="第一页\npage one 😀",
        tags=("猫", "cat"),
        linked_memory_ids=("m1",),
        said_at=there,
        created_at=there + timedelta(minutes=1),
        updated_at=there + timedelta(minutes=2),
    )
    return [episode, pad, attachment]


def put(record: Record) -> Put:
    """A record as a flow puts it."""
    match record:
        case Episode():
            return Put(record, episodes.tokens(record))
        case Attachment():
            return Put(record, attach.tokens(record))
        case Scratchpad():
            return Put(record)


def a_job(**fields: Any) -> Job:
    return Job(
        **{"kind": "extract", "session": "s1", "turn_n": 1, "content_hash": b"h", "due_at": NOW, "created_at": NOW, **fields}
    )
