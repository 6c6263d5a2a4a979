"""Export and import as JSON Lines: lossless, idempotent, and existing memories stay unchanged."""

import hashlib
import io
import json
import os
import random
import shutil
import stat
import zlib
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from exports import START, opened, taken
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from integrity import open_and_check

from yiku import Memory
from yiku.errors import CannotUndo, InvalidInput, NotFound
from yiku.interfaces.importers import yiku_jsonl
from yiku.types import OperationRecord

LONG = "灯笼 Lantern " * 8_000  # over 64 KiB: goes into a blob
QUESTIONS = ["where do I live? 我住在哪里？", "tea 茶", "what did Ann say?", "Town3"]


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def exported(home: Path, file: Path, scope: str = "user:mei", **details: Any) -> list[bytes]:
    """The lines of an export, without the first, which holds the time."""
    with opened(home, scope) as memory:
        memory.admin.export(file, **details)
    return file.read_bytes().splitlines()[1:]


def lived(memory: Memory, chance: random.Random, steps: int) -> None:
    """A history of everything that may happen, in both languages; what cannot be done at that moment is left out."""
    for i in range(steps):
        with suppress(CannotUndo, NotFound, InvalidInput):
            step(memory, chance, i)
    turns = memory.search_traces(limit=5)
    if turns:
        memory.forget(turns[0].id)


def step(memory: Memory, chance: random.Random, i: int) -> None:
    """One call."""
    at = START - timedelta(days=chance.randrange(60), minutes=chance.randrange(3))
    known = memory.get_all(limit=50)
    some = chance.choice(known).id if known else "nothing"
    match chance.randrange(18):
        case 0:
            memory.record(
                [{"role": "user", "content": f"第 {i} turn 😀 ＡＢＣ"}, {"role": "assistant", "content": "好的"}], session="s"
            )
        case 1:
            call = {"name": "read", "input": {"path": "D:\\码\\a.md"}}
            memory.record_turn("assistant", "看", tool_calls=[call], tool_results=[{"content": LONG[: chance.choice([9, 90_000])]}])
        case 2:
            memory.record_turn("user", LONG + str(i), speaker="Zoë", external_id=f"x{i}", metadata={"嵌": [1, 2.5, None]})
        case 3 | 4 | 5:
            memory.remember(f"I live in Town{chance.randrange(4)}镇", said_at=at, tags=["茶"])
        case 6 | 7:
            text = chance.choice(["Ann likes tea 茶", "小明喜欢绿茶", "The gateway's mode is strict", "The gateway's mode is lax"])
            memory.remember(text, said_at=at, relations=[("Ann", "likes", "茶")], speaker=chance.choice(["Ann", "小明"]))
        case 8:
            memory.update(some, f"told anew 新 {i}")
        case 9:
            memory.update(some, importance=chance.random(), tags=[f"t{i}"], ttl_days=99)
        case 10:
            memory.forget(some)
        case 11:
            gone = memory.get_all(where={"state": "archived"}, limit=50)
            memory.restore(chance.choice(gone).id if gone else "nothing")
        case 12:
            memory.sessions.end(chance.choice(["s", "default"]))
        case 13:
            memory.sessions.patch_scratchpad(add_next_steps=[f"发布 release {i}"])
        case 14:
            file = Path(memory.settings.home) / f"猫 {i % 2}.bin"
            file.write_bytes(b"\xff\x00" + bytes(i))
            memory.sessions.attach(file, session="s", keep=i % 2 == 0, description=f"一只猫 a cat {i}")
        case 15:
            noted = memory.sessions.attachments()
            memory.sessions.describe(chance.choice(noted).id if noted else "nothing", transcription=f"喵 meow {i}")
        case 16:
            memory.feedback(some, chance.choice(["used", "mentioned"]))
        case _:
            done = memory.admin.journal(limit=1)
            memory.admin.undo(done[0].transaction if done else 1)


def answers(home: Path, scope: str) -> list[Any]:
    """What every verb that looks says, without the numbers that each store gives anew."""
    with opened(home, scope) as memory:
        stats = memory.admin.stats()
        said: list[Any] = [stats.turns, stats.sessions, stats.memories, stats.kinds, stats.entities, stats.relations, stats.tags]
        said += [comparable(item) for item in memory.timeline(limit=1_000)]
        for moment in (START + timedelta(hours=k) for k in (0, 5, 20, 60)):
            said.append([comparable(row) for row in memory.get_all(limit=100, as_of=moment)])
            said.append([comparable(row) for row in memory.get_all(limit=100, valid_at=moment - timedelta(days=30))])
        for row in memory.get_all(limit=100):
            said += [comparable(memory.get(row.id)), [comparable(version) for version in memory.history(row.id)]]
        said += [comparable(record) for record in (*memory.sessions.episodes(), *memory.sessions.attachments())]
        said += [comparable(memory.sessions.scratchpad())] if memory.sessions.scratchpad().changed else []
        said += [memory.sessions.content(one.id) for one in memory.sessions.attachments() if one.blob]
        for question in QUESTIONS:
            said.append([(hit.id, round(hit.score, 9), hit.superseded_by) for hit in memory.recall(question, limit=20)])
        once = (
            "scopes",
            "episodes",
            "scratchpad",
            "attachments",
        )  # a scope is as old as its store; of records the last form travels
        changes = [row for row in memory.admin.journal(limit=500) if row.table not in once]
        said.append([(row.at, row.operation, row.action, row.table, row.reason) for row in changes])
        return said


def comparable(item: Any) -> Any:
    return {name: getattr(item, name) for name in item.__dataclass_fields__ if name not in ("n", "changed", "scope")}


@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**9), steps=st.integers(3, 12))
@example(seed=194, steps=6)  # a scope that was opened, and holds nothing
@pytest.mark.long
def test_what_is_exported_and_imported_is_the_same_in_every_answer(tmp_path_factory, seed, steps):
    """The export of the new home has the same bytes, every look gives the same, and importing once more changes nothing."""
    folder, chance = tmp_path_factory.mktemp("round"), random.Random(seed)
    for scope in ("user:mei", "user:bo", "public"):
        with opened(folder / "one", scope) as memory:
            lived(memory, chance, steps)
    first = exported(folder / "one", folder / "first.jsonl", everything=True)
    report = taken(folder / "two", folder / "first.jsonl")

    assert ((), {}, 0) == (report.problems, report.skipped, report.known)
    assert first == exported(folder / "two", folder / "second.jsonl", everything=True)
    for scope in ("user:mei", "user:bo", "public"):
        assert answers(folder / "one", scope) == answers(folder / "two", scope)
    again = taken(folder / "two", folder / "first.jsonl")
    assert (report.records, 0, 0, {}) == (again.known, again.turns, again.memories, again.skipped)
    assert first == exported(folder / "two", folder / "third.jsonl", everything=True)
    open_and_check(folder / "two")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home that has a chain, a long turn, and something forgotten; and its export."""
    folder = tmp_path_factory.mktemp("whole")
    with opened(folder / "one") as memory:
        memory.record_turn("user", LONG)
        memory.remember("I live in Bergen.", said_at=START - timedelta(days=30))
        memory.remember("我住在 Oslo。", said_at=START - timedelta(days=10))
        memory.forget(memory.remember("Ann likes tea 茶").memory.id)
        memory.admin.export(folder / "mei.jsonl")
    return folder


@pytest.fixture
def file(whole: Path, tmp_path: Path) -> Path:
    """That export, the home beside it."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    return tmp_path / "mei.jsonl"


def test_an_export_is_a_file_of_lines_for_its_owner_alone(file, tmp_path):
    """One object a line, a head, an end with the counts, mode 0600; a file that is there is not written over."""
    found = lines(file)

    assert ("yiku-export", 1, ["user:mei"]) == (found[0]["type"], found[0]["version"], found[0]["scopes"])
    assert ("end", 1, 3) == (found[-1]["type"], found[-1]["turns"], found[-1]["memories"])
    assert LONG == next(line["content"] for line in found if line["type"] == "turn")
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)
    with opened(tmp_path / "one") as memory, pytest.raises(InvalidInput):
        memory.admin.export(file)
    assert [] == [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_an_export_can_go_to_an_open_file(file, tmp_path):
    """The same lines, as for a pipe."""
    out = io.BytesIO()
    with opened(tmp_path / "one") as memory:
        memory.admin.export(out)

    assert file.read_bytes().splitlines()[1:] == out.getvalue().splitlines()[1:]


def test_an_export_of_one_scope_has_no_word_of_another(file, tmp_path):
    """Neither its name, nor its key, nor what was said there."""
    with opened(tmp_path / "one", "user:bo") as other:
        other.remember("Bo's code word is 芝麻开门 sesame")
    with opened(tmp_path / "one") as memory:
        memory.admin.export(tmp_path / "again.jsonl")

    text = (tmp_path / "again.jsonl").read_text()
    assert not any(word in text for word in ("芝麻", "user:bo", (tmp_path / "one" / "key").read_text()))


@pytest.mark.long
def test_an_import_that_was_cut_short_is_completed_by_the_next(file, tmp_path):
    """After each part of the file: the cut is told with its line, the store is whole, and the whole file brings the rest."""
    content, wanted = file.read_bytes(), file.read_bytes().splitlines()[1:]
    for k, cut in enumerate(range(300, len(content), len(content) // 5)):
        part, home = tmp_path / f"part{k}.jsonl", tmp_path / f"home{k}"
        part.write_bytes(content[:cut])
        report = taken(home, part)
        assert any("cut off" in why or "ends here" in why for _, why in report.problems)
        taken(home, file)
        assert wanted == exported(home, tmp_path / f"again{k}.jsonl")
        open_and_check(home)


def test_a_file_without_its_last_line_is_told(file, tmp_path):
    """Cut off between two lines, each line is whole, and still something is missing."""
    (tmp_path / "cut.jsonl").write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))

    ((_, why),) = taken(tmp_path / "two", tmp_path / "cut.jsonl").problems
    assert "the file ends here, without its last line; import it again when it is whole" == why


def test_turns_keep_their_places_where_others_were_erased(tmp_path):
    """An erased turn comes in as the mark that is left of it; what it said is not in the export."""
    with opened(tmp_path / "one") as memory:
        turns = [memory.record_turn("user", f"第 {word} lantern", session="s") for word in ("one", "two", "three")]
        memory.admin.erase(turns[1].id)
        memory.admin.export(tmp_path / "a.jsonl")
    taken(tmp_path / "two", tmp_path / "a.jsonl")

    assert "第 two" not in (tmp_path / "a.jsonl").read_text()
    with opened(tmp_path / "two") as memory:
        assert [0, 2] == [memory.get(turn.id).position for turn in (turns[0], turns[2])]


def test_what_was_erased_here_does_not_come_back_with_a_file(file, tmp_path):
    """The import counts it, and keeps it out."""
    with opened(tmp_path / "one") as memory:
        memory.admin.erase(memory.get_all(where={"state": "archived"})[0].id)
    report = taken(tmp_path / "one", file)

    assert 1 == report.skipped["erased"]
    with opened(tmp_path / "one") as memory:
        assert [] == memory.get_all(where={"state": "archived"})


def test_where_a_statement_stands_in_its_turn_comes_along(tmp_path):
    """As long as the turn says the same here; of one that came in with less no place is claimed."""
    there, here, less = (tmp_path / name for name in ("there", "here", "less"))
    with opened(there) as memory:
        memory.record_turn("user", "My code is 4711. 我的猫叫年糕。", said_at="2026-02-01")
        memory.admin.export(tmp_path / "out.jsonl")
        held = {one.content: [(source.start, source.end) for source in one.sources] for one in memory.get_all()}
    taken(here, tmp_path / "out.jsonl")
    with opened(here) as memory:
        assert held == {one.content: [(source.start, source.end) for source in one.sources] for one in memory.get_all()}
    with opened(less) as memory:
        memory.admin.erase(memory.remember("My code is 4711.").memory.id)
    taken(less, tmp_path / "out.jsonl")
    with opened(less) as memory:
        (cat,) = memory.get_all()
        (source,) = cat.sources
        assert ("[erased] 我的猫叫年糕。", None, None) == (memory.get(source.turn).content, source.start, source.end)
        assert () == memory.admin.check().problems


def test_an_altered_line_is_named(file, tmp_path):
    """Its number and what is wrong; the other lines come in, and the end tells that the file is not whole."""
    whole = file.read_text().splitlines(keepends=True)
    k = next(k for k, line in enumerate(whole) if '"memory"' in line and "Ann" in line)
    whole[k] = whole[k].replace("tea 茶", "tee 茶")
    (tmp_path / "altered.jsonl").write_text("".join(whole))
    report = taken(tmp_path / "two", tmp_path / "altered.jsonl")

    assert (k + 1, "is not what was written: its crc differs") in report.problems
    assert (len(whole), "lines are missing, or were altered: the digest of the file differs") in report.problems
    assert (1, 2) == (report.turns, report.memories)


def test_an_export_of_a_later_version_is_refused_by_name(file, tmp_path):
    """The line says which version it is and which is read; nothing is written."""
    head = lines(file)[0]
    del head["crc"]
    body = json.dumps({**head, "version": 2}, separators=(",", ":"))[:-1].encode()
    rest = file.read_bytes().partition(b"\n")[2]
    (tmp_path / "later.jsonl").write_bytes(b'%s,"crc":"%08x"}\n' % (body, zlib.crc32(body)) + rest)
    report = taken(tmp_path / "two", tmp_path / "later.jsonl")

    assert ((1, "is an export of version 2; this Yiku reads version 1"),) == report.problems
    assert 0 == report.turns + report.memories


def test_what_was_forgotten_or_corrected_here_stays_so(file, tmp_path):
    """The store's own state wins over an older file."""
    with opened(tmp_path / "one") as memory:
        memory.remember("I moved to Rome", said_at=START + timedelta(days=1))
        memory.forget(memory.search_traces(limit=1)[0].id)
    before = exported(tmp_path / "one", tmp_path / "before.jsonl")
    taken(tmp_path / "one", file)

    assert before == exported(tmp_path / "one", tmp_path / "after.jsonl")


def test_what_meets_others_here_joins_them_in_the_order_of_saying(file, tmp_path):
    """A slot that has its own versions becomes one chain; the last said is live, whoever it came from."""
    for home, days, live in (("earlier", -20, "我住在 Oslo。"), ("later", 1, "I moved to Rome")):
        with opened(tmp_path / home) as memory:
            memory.remember("I moved to Rome", said_at=START + timedelta(days=days))
        report = taken(tmp_path / home, file)
        assert () == report.problems
        with opened(tmp_path / home) as memory:
            assert [live] == [row.content for row in memory.get_all()]
            wanted = ["I live in Bergen.", "我住在 Oslo。"]
            wanted.insert(1 if days < 0 else 2, "I moved to Rome")
            assert wanted == [row.content for row in memory.history("where I live")]
        open_and_check(tmp_path / home)


def test_a_newer_export_brings_only_what_is_new(file, tmp_path):
    """A home that has taken in an older one of the same store follows it."""
    taken(tmp_path / "two", file)
    with opened(tmp_path / "one") as memory:
        memory.remember("I moved to Rome", said_at=START + timedelta(days=1))
    newer = exported(tmp_path / "one", tmp_path / "newer.jsonl")
    report = taken(tmp_path / "two", tmp_path / "newer.jsonl")

    assert (1, 4) == (report.memories, report.known)
    assert newer == exported(tmp_path / "two", tmp_path / "again.jsonl")


def test_one_person_can_come_in_as_another_scope(file, tmp_path):
    """With a name of their own; a file of several scopes is refused."""
    taken(tmp_path / "two", file, scope="user:li")
    with opened(tmp_path / "two", "user:li") as memory:
        assert ["我住在 Oslo。"] == [row.content for row in memory.get_all()]


def test_a_dry_run_counts_what_the_real_one_does(file, tmp_path):
    """And writes nothing."""
    dry, real = taken(tmp_path / "two", file, dry_run=True), taken(tmp_path / "two", file)

    assert (dry.records, dry.turns, dry.memories, dry.known) == (real.records, real.turns, real.memories, real.known)


def test_an_export_of_another_scope_is_taken_in_only_when_that_is_said(tmp_path, home, clock):
    """A file does not choose the scope that it is written to: without `everything` nothing of it comes in."""
    file = tmp_path / "li.jsonl"
    with Memory(home, scope="user:li", owner="user:mei", clock=clock) as li:
        li.remember("I live in Oslo. 我住在奥斯陆。")
        li.admin.export(file)
    with Memory(tmp_path / "other", owner="user:bo", clock=clock) as bo:
        with pytest.raises(InvalidInput, match="user:li"):
            bo.admin.import_(yiku_jsonl.read(file), source="yiku")

        assert [] == bo.get_all()
    with Memory(tmp_path / "other", scope="user:li", clock=clock) as li:
        assert [] == li.get_all()


# ------------------------------------------------------------------ what grew out of sessions


def session_lived(home: Path, folder: Path) -> None:
    """A session that was learned from, taken back, ended, with a file that was kept."""
    (folder / "小猫 cat.bin").write_bytes(b"\xff\x00\xfe not text")
    with opened(home) as memory:
        memory.record_turn("user", "I live in Bergen. Please fix the login 修复登录", session="s")
        turn = memory.record_turn("user", "I live in Oslo.", session="s")
        memory.record_turn("user", "just kidding", session="s")
        kept = memory.sessions.attach(folder / "小猫 cat.bin", session="s", keep=True, turn=turn.id, description="一只猫 a cat")
        memory.sessions.patch_scratchpad(add_open_questions=["谁来测试？ who tests?"])
        memory.sessions.end("s")
        memory.sessions.describe(kept.id, transcription="喵 meow")


def grown(home: Path, scope: str = "user:mei") -> list[Any]:
    """Episodes, attachments with their content, and the scratchpad, without what each store gives anew."""
    with opened(home, scope) as memory:
        found: list[Any] = [comparable(one) for one in (*memory.sessions.episodes(), *memory.sessions.attachments())]
        pad = comparable(memory.sessions.scratchpad())
        assert pad.pop("user_id") == scope
        return [*found, pad, [memory.sessions.content(one.id) for one in memory.sessions.attachments()]]


def test_what_grew_out_of_sessions_comes_in_once_and_is_found(tmp_path):
    """In the newest form, with its content; under another scope it is that scope's; imported again it is known."""
    session_lived(tmp_path / "one", tmp_path)
    content = exported(tmp_path / "one", tmp_path / "a.jsonl")
    kinds = [line["type"] for line in lines(tmp_path / "a.jsonl")]
    assert [1, 1, 1] == [kinds.count(kind) for kind in ("episode", "scratchpad", "attachment")]

    for home, scope in (("two", None), ("three", "user:li")):
        report = taken(tmp_path / home, tmp_path / "a.jsonl", scope=scope)
        assert ((), {}) == (report.problems, report.skipped)
        assert grown(tmp_path / "one") == grown(tmp_path / home, scope or "user:mei")
        again = taken(tmp_path / home, tmp_path / "a.jsonl", scope=scope)
        assert (report.records, 0, {}) == (again.known, again.turns, again.skipped)
        open_and_check(tmp_path / home)
    assert content == exported(tmp_path / "two", tmp_path / "b.jsonl")


def test_what_is_known_stays_as_it_is(tmp_path):
    """An attachment that was described since keeps that; a scratchpad of the same user that is here stays, and the import says so."""
    session_lived(tmp_path / "one", tmp_path)
    exported(tmp_path / "one", tmp_path / "a.jsonl")
    with opened(tmp_path / "one") as memory:
        memory.sessions.describe(memory.sessions.attachments()[0].id, description="两只猫 two cats")
    with opened(tmp_path / "two") as memory:
        memory.sessions.patch_scratchpad(add_next_steps=["我的 mine"])
    before = grown(tmp_path / "one")
    taken(tmp_path / "one", tmp_path / "a.jsonl")
    report = taken(tmp_path / "two", tmp_path / "a.jsonl")

    assert before == grown(tmp_path / "one")
    assert {"changed here since": 1} == report.skipped
    with opened(tmp_path / "two") as memory:
        assert (("我的 mine",), ()) == ((pad := memory.sessions.scratchpad()).next_steps, pad.open_questions)


def test_what_was_learned_there_is_not_learned_again_here(tmp_path):
    """A retraction that came in is not done once more, and a statement not told twice; the next turn is learned from."""
    session_lived(tmp_path / "one", tmp_path)
    exported(tmp_path / "one", tmp_path / "a.jsonl")
    taken(tmp_path / "two", tmp_path / "a.jsonl")
    with opened(tmp_path / "two") as memory:
        before = [comparable(row) for row in memory.get_all()]
        assert before
        memory.learn()
        assert before == [comparable(row) for row in memory.get_all()]
        memory.record([{"role": "user", "content": "I like tea.", "session": "s"}])
        memory.learn()
        assert len(before) + 1 == len(memory.get_all())


def test_an_export_that_knows_none_of_it_still_comes_in(tmp_path):
    """As schema 3 wrote it: turns and memories, and no word of sessions."""
    session_lived(tmp_path / "one", tmp_path)
    exported(tmp_path / "one", tmp_path / "a.jsonl")
    older = []
    for line in lines(tmp_path / "a.jsonl"):
        if line["type"] not in ("episode", "scratchpad", "attachment"):
            older.append({name: value for name, value in line.items() if name not in ("crc", "learned")})
    digest = hashlib.blake2b(digest_size=16)
    with (tmp_path / "older.jsonl").open("wb") as file:
        for k, line in enumerate(older):
            told_last = {"digest": digest.hexdigest()} if line["type"] == "end" else {}
            body = json.dumps({**line, **told_last}, ensure_ascii=False, separators=(",", ":"))[:-1].encode()
            text = b'%s,"crc":"%08x"}\n' % (body, zlib.crc32(body))
            if k:
                digest.update(text)
            file.write(text)
    report = taken(tmp_path / "two", tmp_path / "older.jsonl")

    assert ((), 3) == (report.problems, report.turns)
    open_and_check(tmp_path / "two")


DAMAGES: list[dict[str, Any]] = [
    {"content_base64": "no base64!"},
    {"outcome": 7},
    {"colour": "red"},
    {"started_at": "yesterday"},
    {"summary": None},
    {"entities": [1]},
    {"action_nodes": [{"tool_name": "x", "success": "yes"}]},
    {"importance_score": "0.5"},
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: next(iter(damage)))
@pytest.mark.long
def test_a_record_that_is_no_record_is_a_problem(tmp_path, damage):
    """Its line is named, and the rest comes in."""
    session_lived(tmp_path / "one", tmp_path)
    exported(tmp_path / "one", tmp_path / "a.jsonl")
    found = lines(tmp_path / "a.jsonl")
    kind = "attachment" if "content_base64" in damage else "episode"
    changed = next(line for line in found if line["type"] == kind)
    operation = OperationRecord(
        1, "user:mei", None, {"operation": "episode", "at": START.isoformat()}, ((2, {**changed, **damage}),)
    )
    with opened(tmp_path / "two") as memory:
        report = memory.admin.import_([operation], source="yiku")
        assert [2] == [line for line, _ in report.problems]
        assert [] == memory.sessions.episodes() + memory.sessions.attachments()
