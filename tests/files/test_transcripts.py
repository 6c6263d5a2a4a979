"""Transcript files: format of lines, foreign lines, and the rest that a killed process leaves."""

import json
import zlib
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from yiku.errors import StoreError
from yiku.files import transcripts
from yiku.files.transcripts import Broken, Folder, Line, Mark
from yiku.files.vault import Home
from yiku.types import Turn

STORE = "0123456789abcdef" * 2
TEXTS = [
    "I moved to Oslo.",
    "我住在奥斯陆，喜欢喝茶。",
    "mixed 混合 \u2028 \x85 line",
    '"quotes" \\ back\nnew line\ttab',
    "😀👩‍👩‍👧 ＡＢＣ，１２３",
    "\x00\x01",
    "",
]


def turn(position: int, content: str = "你好", session: str = "s1", **details) -> Turn:
    at = datetime(2026, 3, 1, 9, position % 60, tzinfo=UTC)
    return Turn(
        id=f"id-{position}", session=session, position=position, role="user", content=content, said_at=at, recorded_at=at,
        scope="user:mei", **details,
    )  # fmt: skip


def due(*positions: int) -> list[Line]:
    return [transcripts.line(turn(position, TEXTS[position % len(TEXTS)])) for position in positions]


@pytest.fixture
def folder(tmp_path) -> Folder:
    return Folder(Home(tmp_path), 1)


def path(folder):
    return folder.path / transcripts.file_name("s1")


def positions(folder) -> list[int]:
    return [one.position for one in transcripts.lines(path(folder)) if isinstance(one, Line)]


@pytest.mark.spec("S3-121", "S2-89")
@pytest.mark.parametrize("content", TEXTS)
def test_a_turn_comes_back_from_its_line(content):
    """Every field; the line is plain JSON on one line for any tool, also for those that know other ends of lines."""
    whole = turn(
        3, content, "会话 one/😀", speaker="Zoë", tool_calls=({"name": "read", "input": {"path": "甲"}},),
        tool_results=({"tool_use_id": "c", "content": "乙\n"},), external_id="x", parent="p", agent="a", project="阿", metadata={"k": [1]},
        actor="cli", hidden_at=datetime(2026, 3, 2, tzinfo=UTC),
    )  # fmt: skip

    line = transcripts.line(whole)

    assert line == transcripts.parse(line.raw)
    assert whole == transcripts.turn(line)
    assert 1 == len(line.raw.decode().splitlines())
    assert content == json.loads(line.raw)["content"]


@pytest.mark.parametrize("place", range(0, 200, 7))
def test_a_changed_byte_makes_it_none_of_ours(place):
    """Wherever it is changed, the line does not count any more."""
    raw = bytearray(transcripts.line(turn(1, "tea 茶" * 20)).raw)
    raw[place] ^= 1
    assert transcripts.parse(bytes(raw)) is None


@pytest.mark.parametrize(
    "replaced",
    [{"role": "king"}, {"position": "1"}, {"position": True}, {"said_at": "2026-03-01T09:00:00"}, {"origin": "god"},
     {"tool_calls": [1]}, {"metadata": []}, {"more": "x"}, {"content": 5}, {"content": "\ud800"}, {"n": 7}],
)  # fmt: skip
def test_a_line_with_a_sound_crc_may_still_be_no_turn(replaced):
    """Whoever can write a file can compute a crc: what fits no turn is a ValueError, and nothing else."""
    body = json.dumps(json.loads(transcripts.line(turn(1)).raw) | {"crc": ""} | replaced, separators=(",", ":"))
    values = {key: value for key, value in json.loads(body).items() if key != "crc"}
    plain = json.dumps(values, separators=(",", ":"))[:-1].encode()
    with pytest.raises(ValueError):  # noqa: PT011 - that it is one is what is promised
        transcripts.turn(Line(1, "id-1", "user:mei", "s1", plain + f',"crc":"{zlib.crc32(plain):08x}"}}'.encode()))


@pytest.mark.parametrize(
    ("session", "begins"),
    [("s1", "s1-"), ("../../etc/passwd", "etc_passwd-"), ("会话 一", "会话_一-"), ("..", "session-"), ("a" * 300, "a" * 40 + "-"),
     ("字" * 200, "字" * 40 + "-"), ("\u202e.x", "x-")],
)  # fmt: skip
def test_a_file_is_named_after_its_session_and_stays_in_its_folder(session, begins):
    """Readable in any language, never a path, never too long, and no two sessions share one."""
    name = transcripts.file_name(session)
    assert name.startswith(begins)
    assert "/" not in name
    assert len(name.encode()) <= 200
    assert transcripts.file_name(session + "x") != name


# ------------------------------------------------------------------ appended once


def test_what_is_there_is_not_appended_again(folder):
    """Given again, whole or in part, each position stands in the file once, in order."""
    for batch in (due(0, 1), due(0, 1, 2), due(2), due(1, 2, 3, 4)):
        assert folder.append("s1", batch) is None
    assert [0, 1, 2, 3, 4] == positions(folder)


@pytest.mark.parametrize("cut", [1, 2, 17, 18, 40, 200])
def test_a_torn_last_line_is_finished(folder, cut):
    """Cut anywhere in its last line, its end too, the file is as if nothing had been."""
    folder.append("s1", due(0, 1, 2))
    whole = path(folder).read_bytes()
    last = len(due(2)[0].raw) + 1
    path(folder).write_bytes(whole[: -min(cut, last - 1)])

    folder.append("s1", due(2, 3))

    assert whole + due(3)[0].raw + b"\n" == path(folder).read_bytes()


@pytest.mark.parametrize("strange", [b"a note of mine", '{"mine": "笔记"}'.encode(), b"\0" * 500, b'{"position":9', b""])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_foreign_line_is_passed_over_and_kept(folder, strange, end):
    """With or without its end, of zeros as a power cut leaves them: what comes behind it is whole."""
    folder.append("s1", due(0, 1))
    with path(folder).open("ab") as file:
        file.write(strange + end)

    folder.append("s1", due(1, 2, 3))

    assert [0, 1, 2, 3] == positions(folder)
    assert strange in path(folder).read_bytes()
    if strange:
        assert [strange] == [one.raw for one in transcripts.lines(path(folder)) if isinstance(one, Broken)]


def test_a_line_of_another_session_is_foreign(folder):
    """Copied over by somebody, it neither counts nor says how far the file goes."""
    folder.append("s1", due(0))
    with path(folder).open("ab") as file:
        file.write(transcripts.line(turn(99, session="s2")).raw + b"\n")
    assert folder.append("s1", due(1)) is None
    assert [0, 1] == positions(folder)


def test_a_file_of_another_history_is_not_appended_to(folder):
    """Its last line is further, or is another turn: nothing is written, and who asks gets that line."""
    folder.append("s1", due(0, 1, 2))
    before = path(folder).read_bytes()
    assert 2 == folder.append("s1", due(0, 1)).position
    other = transcripts.line(replace(turn(2), id="other"))
    assert "id-2" == folder.append("s1", [other]).id
    assert before == path(folder).read_bytes()


def test_behind_a_long_foreign_end_the_last_line_is_found(folder):
    """Also where it is megabytes further in front."""
    folder.append("s1", due(0, 1))
    with path(folder).open("ab") as file:
        file.write((b"x" * 99 + b"\n") * 10_000 + b"y" * 1_000_000)
    folder.append("s1", due(1, 2))
    assert [0, 1, 2] == positions(folder)


def test_no_link_is_followed(folder, tmp_path):
    """Where a link lies in the place of a file, the folder or the scope, nothing is written where it leads."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder.append("s1", due(0))
    path(folder).unlink()
    path(folder).symlink_to(elsewhere / "x")
    with pytest.raises(StoreError):
        folder.append("s1", due(0, 1))
    assert [] == [*elsewhere.iterdir()]
    assert [] == folder.files() == transcripts.files(Home(tmp_path))


# ------------------------------------------------------------------ the mark, and writing anew


def test_the_mark_is_believed_only_whole_and_of_its_store(folder):
    """A flipped bit, another store, a cut: nothing says how far the files go, and they are looked through."""
    assert folder.mark(STORE) is None
    folder.set_mark(STORE, Mark(12, 34, 56))
    folder.set_mark(STORE, Mark(13, 34, 56))
    assert Mark(13, 34, 56) == folder.mark(STORE)
    assert folder.mark("f" * 32) is None
    raw = (folder.path / "mark").read_bytes()
    (folder.path / "mark").write_bytes(raw.replace(b"13", b"14"))
    assert folder.mark(STORE) is None


def test_a_file_is_written_anew_with_what_is_not_ours_in_its_place(folder, tmp_path):
    """One line goes, one is another, a note between them stays; when all goes, the file does."""
    folder.append("s1", due(0, 1))
    with path(folder).open("ab") as file:
        file.write(b"my note\n")
    folder.append("s1", due(2))
    new = transcripts.line(turn(1, "[已抹去]")).raw

    def change(line: Line) -> bytes | None:
        return None if line.position == 0 else new if line.position == 1 else line.raw

    assert 2 == transcripts.rewrite(Home(tmp_path), path(folder), change, lambda broken: True)
    assert [new, b"my note", due(2)[0].raw] == path(folder).read_bytes().splitlines()
    assert 0o600 == path(folder).stat().st_mode & 0o777
    transcripts.rewrite(Home(tmp_path), path(folder), lambda line: None, lambda broken: False)
    assert not path(folder).exists()
