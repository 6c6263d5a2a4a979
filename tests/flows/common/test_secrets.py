"""Secrets are masked before anything is stored: none reaches a table, index, blob or file."""

import zlib

import pytest
from credentials import Secret, secrets

from yiku import Memory
from yiku.errors import KeptOut
from yiku.types import MemoryRecord, TurnRecord

KEY = "gh" + "p_" + "aB3dE9fG1hJ5kL7mN2pQ4rS6tU8vW0xY1zA3"
SAID = f"部署用 {KEY}，别外传"
PRIVATE = "the surprise <private>kumquat 金橘</private>"


def held(home, words) -> set[str]:
    """Which of these words are found in raw bytes of any file of a home, blobs unpacked."""
    files = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    contents = b"\0".join(zlib.decompress(content) if path.suffix == ".z" else content for path, content in files.items())
    return {word for word in words if word.encode() in contents}


TURN = {
    "content": SAID, "session": KEY, "speaker": KEY, "external_id": KEY, "parent": KEY, "agent": KEY, "project": KEY, "actor": KEY,
    "metadata": {"环境": {KEY: [1, SAID]}}, "tool_calls": [{"name": "bash", "input": {"command": SAID}}],
    "tool_results": [{"content": SAID * 2_000}, {"content": SAID}],
}  # fmt: skip
STATEMENT = {
    "session": KEY, "speaker": KEY, "basis": SAID, "tags": [KEY], "entities": [KEY], "agent": KEY, "project": KEY, "external_id": KEY,
    "metadata": {"a": SAID}, "subject": KEY, "predicate": KEY, "object": KEY, "relations": [(KEY, KEY, KEY)],
}  # fmt: skip


@pytest.mark.parametrize("words", [KEY, "kumquat"], ids=["a secret", "private"])
@pytest.mark.long
def test_no_argument_brings_one_in(memory, home, words):
    """In each text that record, remember, update and import take, nested ones and keys too, it never reaches the disk."""

    def hidden(value):
        match value:
            case str():
                return value.replace(KEY, PRIVATE) if words != KEY else value
            case dict():
                return {hidden(key): hidden(entry) for key, entry in value.items()}
            case list() | tuple():
                return type(value)(hidden(entry) for entry in value)
        return value

    turn, statement = hidden(TURN), hidden(STATEMENT)
    memory.record([{"role": "user", **turn}, {"role": "user", "content": "x " + hidden(SAID) * 4_000}], idempotency_key=hidden(KEY))
    kept = memory.remember(hidden(SAID), idempotency_key=hidden(KEY) + "2", **statement).memory
    memory.update(kept.id, hidden(SAID) + " now")
    memory.update(kept.id, tags=[hidden(KEY)], metadata={"b": hidden(SAID)})
    again = {**turn, "external_id": "e2"}
    memory.admin.import_(
        [TurnRecord(1, {"role": "user", **again}), MemoryRecord(2, hidden(SAID), {**statement, "predicate": "p2"})], source="s"
    )

    assert (3, 3) == (memory.admin.stats().turns, sum(memory.admin.stats().memories.values()))
    assert set() == held(home, [words])
    memory.close()
    assert set() == held(home, [words])


@pytest.mark.parametrize("words", [KEY, "kumquat"], ids=["a secret", "private"])
def test_no_session_scratchpad_or_file_brings_one_in(memory, home, tmp_path, words):
    """The names of a session, a user and a file, a path, and the content of a file that is kept: none of it reaches the disk raw."""
    hidden = KEY if words == KEY else "<private>kumquat</private>"
    folder = tmp_path / "outside"
    folder.mkdir()
    for name, encoding in (
        (".env", "utf-8"),
        ("旧.env", "gb18030"),
        ("old.env", "utf-16"),
        (f"{KEY if words == KEY else 1}.txt", "utf-8"),
    ):
        (folder / name).write_bytes(f"名字=安\nEXPORTED {hidden}\n尾".encode(encoding))
        memory.sessions.attach(folder / name, session=hidden, keep=True, filename=f"{hidden}.txt", original_filename=hidden)
    memory.sessions.set(hidden, task=hidden, a=hidden)
    memory.sessions.compressing([{"role": "user", "content": f"{hidden} 早"}], session=hidden, summary=f"{hidden} 早")
    memory.sessions.edit_scratchpad("# 笔记\n- 早", user=hidden)
    memory.sessions.patch_scratchpad(add_next_steps=["早"], user=hidden)

    assert 4 == len(memory.sessions.attachments(session=hidden))
    assert memory.sessions.get(hidden).task and memory.sessions.end(hidden).episode
    assert set() == held(home, [words])
    memory.close()
    assert set() == held(home, [words])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_of_a_kept_file_all_else_stays(memory, tmp_path, encoding):
    """A text in any encoding has a mark in a secret's place; a text without one and what is no text are kept byte by byte."""
    text, plain, picture = tmp_path / "a.env", tmp_path / "b.txt", tmp_path / "c.png"
    text.write_bytes(f"名字=安\r\nTOKEN={KEY}\r\n尾".encode(encoding))
    plain.write_bytes("没有秘密\r\n".encode(encoding))
    picture.write_bytes(b"\x89PNG\0" + KEY.encode())
    kept = [memory.sessions.attach(one, session="s", keep=True) for one in (text, plain, picture)]
    contents = [memory.sessions.content(one.id) for one in kept]
    before, after = contents[0].decode(encoding).split("[secret github-token ")

    assert ("名字=安\r\nTOKEN=", "]\r\n尾") == (before, after[8:])
    assert [plain.read_bytes(), picture.read_bytes()] == contents[1:]


def test_the_same_secret_is_the_same_again(memory):
    """A repeated call is known by its masked words: same turn, same statement, same key; and the mark can be asked for."""
    first = memory.record_turn("user", SAID, external_id=KEY, idempotency_key="k")
    memory.remember(SAID)
    mark = first.content.split("[secret github-token ")[1][:8]

    assert (
        first
        == memory.record_turn("user", SAID, external_id=KEY, idempotency_key="k")
        == memory.record_turn("user", "x", external_id=KEY)
    )
    assert "Confirmed" == type(memory.remember(SAID)).__name__
    assert first.id in [hit.id for hit in memory.recall(mark, types=["turn"])]


def test_what_a_person_says_is_remembered(memory):
    """A code, a password in his own words: they are his."""
    for said in ("my locker code is 4711", "我的门锁密码是 4711", "the wifi password is sunshine"):
        assert said == memory.remember(said).memory.content == memory.record_turn("user", said).content


def test_secrets_can_be_kept(home, clock):
    """With `secrets = keep` everything is stored as it was said; a private part still is not."""
    with Memory(home, owner="user:mei", secrets="keep", clock=clock) as memory:
        assert SAID == memory.record_turn("user", SAID).content
        assert "the surprise [private]" == memory.record_turn("user", PRIVATE).content


@pytest.mark.long
def test_300_secrets_are_in_no_file(memory, home):
    """Recorded in turns, tool results and statements, at least 98 of 100 are in no file of the home, in raw bytes."""
    drawn: list[Secret] = secrets(7)
    turns = [{"role": "user", "content": one.text, "tool_results": [{"content": one.text}]} for one in drawn]
    memory.record([*turns, {"role": "user", "content": "\n\n".join(one.text for one in drawn) * 3}])
    for one in drawn[::4]:
        memory.remember(one.text)
    while_open = held(home, [one.value for one in drawn])
    memory.close()

    assert len(drawn) >= 300 and [*(home / "blobs").glob("*/*.z")]
    assert len(while_open | held(home, [one.value for one in drawn])) <= 0.02 * len(drawn)


def test_a_reason_to_forget_is_masked(memory, home):
    """It is kept in the journal and with what was forgotten, without the secret in it."""
    gone = memory.forget(memory.remember("早").memory.id, reason=SAID)

    assert "[secret github-token" in memory.get(gone.memories[0].id).reason
    assert set() == held(home, [KEY])


# ------------------------------------------------------------------ what is wholly private


def test_a_wholly_private_turn_is_not_recorded(memory):
    """Alone it raises; among others they are stored, and the counts show that one is missing."""
    with pytest.raises(KeptOut, match="private"):
        memory.record_turn("user", "<private>生日惊喜")
    with pytest.raises(KeptOut, match="private"):
        memory.remember("<私密>生日惊喜</私密>")
    recorded = memory.record([{"role": "user", "content": c} for c in ("早", "<private>x</private>", "晚")])

    assert (2, 0) == (len(recorded.ids), recorded.known)
    assert 2 == memory.admin.stats().turns


@pytest.mark.parametrize("dry_run", [True, False])
def test_an_import_counts_what_is_private(memory, dry_run):
    """Turns and statements that are wholly private are skipped, and said to be."""
    turns = [TurnRecord(i, {"role": "user", "content": c, "external_id": f"e{i}"}) for i, c in enumerate(["早", "<private>x"])]
    report = memory.admin.import_([*turns, MemoryRecord(3, "<私密>x", {})], source="s", dry_run=dry_run)

    assert (1, 0, {"private": 2}, ()) == (report.turns, report.known, dict(report.skipped), report.problems)
