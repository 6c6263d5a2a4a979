"""
A home as the system of S2 and S3 leaves one behind, drawn from a seed, with the oddities that were seen in such homes.

    memory.db           statements, episodes, the scratchpad, turns, the queue, attachments
    memories.json       the first version's statements, some of them in the database as well
    conversation_history/SESSION.jsonl   most turns again, some that the table lacks, a half line at the end
"""

import json
import random
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

SCHEMA = """
create table memories (id text primary key, type text, priority text, content text, source text, importance_score real, tags text,
    created_at text, updated_at text, access_count integer default 0, subject text default '', predicate text default '',
    confidence real default 0.5, decay_rate real default 0.1, last_accessed_at text, superseded_by text, source_episode_id text,
    expires_at text);
create table episodes (id text primary key, session_id text not null, summary text not null, goal text default '',
    outcome text default 'completed', started_at text not null, ended_at text not null, action_nodes text default '[]',
    entities text default '[]', tools_used text default '[]', linked_memory_ids text default '[]', tags text default '[]',
    importance_score real default 0.5, access_count integer default 0, source text default 'session_end');
create table scratchpad (user_id text primary key, content text not null, active_projects text default '[]',
    current_focus text default '', open_questions text default '[]', next_steps text default '[]', updated_at text not null);
create table conversation_turns (id integer primary key autoincrement, session_id text not null, turn_index integer not null,
    role text not null, content text, tool_calls text, tool_results text, has_tool_calls boolean default false,
    timestamp text not null, token_estimate integer, episode_id text, extracted boolean default false);
create table extraction_queue (id integer primary key autoincrement, session_id text not null, turn_index integer not null,
    content text not null, tool_calls text, tool_results text, retry_count integer default 0, max_retries integer default 3,
    status text default 'pending', created_at text not null, last_attempted_at text);
create table attachments (id text primary key, session_id text not null default '', episode_id text default '',
    filename text not null default '', original_filename text default '', mime_type text default '', file_size integer default 0,
    local_path text default '', url text default '', direction text default 'inbound', description text default '',
    transcription text default '', extracted_text text default '', tags text default '[]', linked_memory_ids text default '[]',
    created_at text not null);
"""
BEGAN = datetime(2025, 9, 1, 8, tzinfo=UTC)
PLACES = ("billing", "search", "网关", "报表", "importer", "登录")
SAID = (
    "The {0} service listens on port {1}.",
    "模块 {0} 的日志写在 /var/log/{1}.log。",
    "The nightly job of {0} takes {1} minutes.",
    "{0} 的负责人工号是 {1}。",
)
TURNS = (
    "Please look at {0}, ticket {1}.",
    "看一下 {0} 的问题 {1}。",
    "Done: {0} is fixed in build {1}.",
    "{0} 的测试 {1} 通过了。",
)


def build(folder: Path, *, memories: int, turns: int, episodes: int, seed: int = 7) -> dict[str, int]:
    """Write an old home; return how many records of each kind there are, as whoever migrates it has to count them."""
    chance = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(folder / "memory.db")
    connection.executescript(SCHEMA)
    said = _memories(connection, folder, chance, memories)
    spoken = _turns(connection, folder, chance, turns)
    for number in range(episodes):
        at = BEGAN + timedelta(hours=number)
        nodes = [{"tool_name": "bash", "key_params": {"command": f"make {number}"}, "result_summary": "ok", "success": True}]
        connection.execute(
            "insert into episodes (id, session_id, summary, goal, outcome, started_at, ended_at, action_nodes, entities) values"
            " (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                f"ep{number}",
                f"s{number % 40}",
                f"Release {number} of {chance.choice(PLACES)} was built. 第 {number} 版已发布。",
                f"release {number}",
                chance.choice(("completed", "success", "failed", "partial", "abandoned", "")),
                at.isoformat(),
                (at + timedelta(minutes=20)).replace(tzinfo=None).isoformat(),
                json.dumps(nodes),
                json.dumps([f"release-{number}.txt"]),
            ),
        )
    connection.execute(
        "insert into scratchpad values ('default', '## 当前任务', '[\"Atlas\"]', '重构网关', '[\"哪个端口？\"]', '[\"ship it\"]', ?)",
        (BEGAN.isoformat(),),
    )
    for number in range(5):
        connection.execute(
            "insert into attachments (id, filename, local_path, description, created_at, direction) values (?, ?, ?, ?, ?, ?)",
            (f"at{number}", f"cat{number}.jpg", f"/pictures/cat{number}.jpg", "一只橘猫", BEGAN.isoformat(), "inbound"),
        )
    connection.commit()
    connection.close()
    return {"memories": said, "turns": spoken, "episodes": episodes, "attachments": 5, "scratchpads": 1}


def _memories(connection: sqlite3.Connection, folder: Path, chance: random.Random, count: int) -> int:
    """Statements: types and priorities in either case, tags in three forms, times with and without an offset, chains, twins."""
    old = []
    for number in range(count):
        at = BEGAN + timedelta(minutes=number)
        text = SAID[number % len(SAID)].format(f"{PLACES[number % len(PLACES)]}{number}", 1000 + number)
        row = {
            "id": f"m{number}",
            "type": chance.choice(("FACT", "fact", "skill", "PREFERENCE", "experience", "context")),
            "priority": chance.choice(("LONG_TERM", "short_term", "PERMANENT", "transient", None, "urgent")),
            "content": text,
            "importance_score": chance.choice((0.3, 0.9, 1.7, None)),
            "tags": chance.choice(('["a", "b"]', "a, b", "[broken", "[]", None)),
            "created_at": chance.choice(
                (at.isoformat(), at.replace(tzinfo=None).isoformat(), at.isoformat().replace("+00:00", "Z"))
            ),
            "access_count": number % 7,
            "superseded_by": f"m{number + 1}" if number % 50 == 10 else "gone" if number % 50 == 20 else None,
            "expires_at": (at + timedelta(days=30)).isoformat() if number % 11 == 0 else None,
        }
        if number % 97 == 5:
            row["content"] = old[-1]["content"] if old else ""  # a twin of the one before
        if number % 333 == 7:
            row["content"] = ""
        old.append(row)
        names = [name for name in row if name != "content"]
        connection.execute(
            f"insert into memories (content, source, updated_at, {', '.join(names)}) values (?, 'turn_ai', ?,{','.join('?' * len(names))})",
            (row["content"], row["created_at"], *(row[name] for name in names)),
        )
    only_there = [
        {"id": f"j{n}", "type": "rule", "content": f"Always build target {n} first. 先构建 {n}。"} for n in range(count // 50)
    ]
    (folder / "memories.json").write_text(json.dumps([*old[:20], *only_there, "not an object"], ensure_ascii=False), "utf-8")
    return count + len(only_there)


def _turns(connection: sqlite3.Connection, folder: Path, chance: random.Random, count: int) -> int:
    """Turns in the table and again in JSON Lines; some only there, some with an index twice, one line cut off; the queue."""
    history = folder / "conversation_history"
    history.mkdir()
    lines: dict[str, list[str]] = {}
    more = 0
    for number in range(count):
        session, index = f"s{number % 40}", number // 40
        at = BEGAN + timedelta(seconds=10 * number)
        role = ("user", "assistant")[number // 40 % 2]
        text = TURNS[number % len(TURNS)].format(PLACES[number % len(PLACES)], number)
        calls = (
            json.dumps([{"name": "bash", "input": {"command": f"make {number}"}, "id": f"c{number}"}]) if number % 9 == 0 else None
        )
        entry = {"role": role, "content": text, "timestamp": at.isoformat()}
        if number % 23:  # the others were only written to the file
            connection.execute(
                "insert into conversation_turns (session_id, turn_index, role, content, tool_calls, timestamp, extracted)"
                " values (?, ?, ?, ?, ?, ?, ?)",
                (session, index if number % 31 else 0, role, text, calls, at.isoformat(), number % 3 == 0),
            )
        lines.setdefault(session, []).append(json.dumps(entry, ensure_ascii=False))
        if number % 400 == 3:
            connection.execute(
                "insert into extraction_queue (session_id, turn_index, content, status, created_at) values (?, ?, ?, ?, ?)",
                (
                    session,
                    9_000 + number,
                    f"Queued {number}: {chance.choice(PLACES)}",
                    chance.choice(("failed", "pending")),
                    at.isoformat(),
                ),
            )
            more += 1
    for session, written in lines.items():
        (history / f"{session}.jsonl").write_text("\n".join(written) + "\n", "utf-8")
    with open(history / "s0.jsonl", "a", encoding="utf-8") as file:
        file.write('{"role": "user", "conte')
    return count + more
