"""Attachments: storing files, describing them, and finding them again."""

import hashlib

import pytest

from yiku import Memory
from yiku.errors import InvalidInput, NotFound

KITTEN = "一只橘色小猫趴在窗台上晒太阳"


def reopened(memory, home, clock):
    """The attachments, as another process reads them."""
    memory.close()
    with Memory(home, clock=clock) as again:
        return again.sessions.attachments()


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "小猫.jpg"
    path.write_bytes(b"\xff\xd8\xff" + b"kitten" * 99)
    return path


@pytest.mark.spec("S3-101", "S3-102", "S3-103", "S3-105", "S3-21")
def test_what_is_known_of_a_file_is_kept(memory, home, clock, picture):
    """Its names, type, size and place, the session and the turn it came with, tags and links, and when."""
    turn = memory.record_turn("user", "看我家的猫", session="s")
    clock.advance(minutes=1)
    given = memory.sessions.attach(picture, session="s", turn=turn.id, original_filename="IMG_4711.jpg", tags=["猫", "pets"])
    fact = memory.remember("我养了一只猫", source=turn.id).memory
    linked = memory.sessions.describe(given.id, linked_memory_ids=[fact.id])
    (kept,) = reopened(memory, home, clock)

    assert linked == kept
    assert (36, "s", turn.id, None) == (len(kept.id), kept.session, kept.turn, kept.episode_id)
    assert ("小猫.jpg", "IMG_4711.jpg", "image/jpeg", picture.stat().st_size) == (
        kept.filename, kept.original_filename, kept.mime_type, kept.file_size,
    )  # fmt: skip
    assert (str(picture), None, None, False) == (kept.local_path, kept.url, kept.blob, kept.missing)
    assert (("猫", "pets"), (fact.id,), clock.now, turn.said_at) == (
        kept.tags,
        kept.linked_memory_ids,
        kept.created_at,
        kept.said_at,
    )


@pytest.mark.spec("S3-100", "S3-103")
def test_sent_or_made_by_path_or_address(memory, home, clock):
    """Two directions, and at least one place: a path, also of what is gone, or an address."""
    memory.sessions.attach("/nowhere/月报.pdf", session="s", direction="outbound")
    memory.sessions.attach("https://example.org/a/cat.png?size=2", session="s")
    by_name = {one.filename: one for one in reopened(memory, home, clock)}

    assert {"月报.pdf": "outbound", "cat.png": "inbound"} == {name: one.direction for name, one in by_name.items()}
    assert (True, None, "/nowhere/月报.pdf") == (
        by_name["月报.pdf"].missing,
        by_name["月报.pdf"].file_size,
        by_name["月报.pdf"].local_path,
    )
    assert (None, "https://example.org/a/cat.png?size=2") == (by_name["cat.png"].local_path, by_name["cat.png"].url)


def test_a_file_that_is_there_has_its_whole_path(memory, picture, monkeypatch):
    """Attached by a path from the folder of the caller, it is found from any other; one that is not there keeps its name."""
    monkeypatch.chdir(picture.parent)
    turn = memory.record_turn("user", f"看 [file: {picture.name}]", session="s")
    there = memory.sessions.attach(picture.name, session="s", turn=turn.id)
    gone = memory.sessions.attach("notes/没有.txt", session="s")
    memory.learn()

    assert (str(picture), False) == (there.local_path, there.missing)
    assert ("notes/没有.txt", True) == (gone.local_path, gone.missing)
    assert {there.id, gone.id} == {one.id for one in memory.sessions.attachments()}  # that the turn names it adds nothing


@pytest.mark.parametrize("place", ["", "  ", 5])
def test_a_file_without_a_place_is_refused(memory, place):
    """And nothing is noted."""
    with pytest.raises((InvalidInput, TypeError)):
        memory.sessions.attach(place, session="s")

    assert [] == memory.sessions.attachments()


@pytest.mark.parametrize(
    "details", [{"direction": "sideways"}, {"colour": "red"}, {"turn": "00000000-0000-7000-8000-000000000000"}]
)
def test_what_an_attachment_has_not_is_refused(memory, picture, details):
    """An unknown direction, detail or turn."""
    with pytest.raises((InvalidInput, NotFound)):
        memory.sessions.attach(picture, session="s", **details)

    assert [] == memory.sessions.attachments()


@pytest.mark.spec("S3-104", "S3-111", "S3-96", "S3-98")
def test_what_was_seen_heard_or_read_comes_later(memory, home, clock, picture):
    """Description, transcription and text are filled in when somebody knows them; the rest stays, and a later one wins."""
    kitten = memory.sessions.attach(picture, session="s")
    voice = memory.sessions.attach("/nowhere/voice.amr", session="s")
    report = memory.sessions.attach("/nowhere/report.pdf", session="s", direction="outbound")
    clock.advance(minutes=1)
    memory.sessions.describe(kitten.id, description="a cat")
    memory.sessions.describe(kitten.id[-8:], description=KITTEN)
    memory.sessions.describe(voice.id, transcription="明天八点开会")
    memory.sessions.describe(report.id, extracted_text="Sales grew by 4 %.", description="the monthly report")
    found = {one.filename: one for one in reopened(memory, home, clock)}

    assert (KITTEN, clock.now, kitten.created_at) == (
        found["小猫.jpg"].description, found["小猫.jpg"].updated_at, found["小猫.jpg"].created_at,
    )  # fmt: skip
    assert "明天八点开会" == found["voice.amr"].transcription
    assert ("Sales grew by 4 %.", "the monthly report") == (found["report.pdf"].extracted_text, found["report.pdf"].description)


@pytest.mark.parametrize("details", [{}, {"filename": "x"}, {"local_path": "/x"}, {"description": ""}, {"direction": "outbound"}])
def test_only_what_was_found_out_can_be_told_later(memory, picture, details):
    """Its place, name and direction stay what they are."""
    kept = memory.sessions.attach(picture, session="s")
    with pytest.raises(InvalidInput):
        memory.sessions.describe(kept.id, **details)

    assert [kept] == memory.sessions.attachments()


@pytest.mark.spec("S3-95", "S3-108", "S3-109", "S3-97")
def test_files_in_turns_are_noted_by_themselves(memory):
    """What a user's message carries is inbound, what a tool wrote is outbound; each is there once, though the host noted it too."""
    sent = [{"path": "/in/小猫.jpg", "description": KITTEN}, {"path": "/in/voice.amr"}]
    turn = memory.record_turn("user", "看这个", session="s", metadata={"attachments": sent})
    memory.sessions.attach("/in/voice.amr", session="s", turn=turn.id, transcription="喂")
    calls = [{"id": "1", "name": "write_file", "input": {"path": "/out/report.pdf", "content": "x"}}]
    results = [{"tool_use_id": "1", "content": "ok"}]
    made = memory.record_turn("assistant", "done", session="s", tool_calls=calls, tool_results=results)
    failed = [{"tool_use_id": "1", "content": "disk full", "is_error": True}]
    calls = [{"id": "1", "name": "write_file", "input": {"path": "/out/failed.pdf"}}]
    memory.record_turn("assistant", "", session="s", tool_calls=calls, tool_results=failed)
    for _ in range(3):
        memory.learn()
    memory.sessions.end("s")

    noted = memory.sessions.attachments(session="s")
    assert [("report.pdf", "outbound", None), ("voice.amr", "inbound", None), ("小猫.jpg", "inbound", KITTEN)] == sorted(
        (one.filename, one.direction, one.description) for one in noted
    )
    assert {turn.id, made.id} == {one.turn for one in noted}


@pytest.mark.spec("S3-99", "S3-110")
@pytest.mark.parametrize(
    "question", ["把上周那只小猫的图发我", "send me the picture of the 小猫", "那张橘色小猫的照片在哪", "上周发你的小猫图呢"]
)
def test_a_picture_is_found_when_it_is_asked_for(memory, clock, picture, question):
    """By what it shows, in the time that the question names; other files are behind it."""
    report = memory.sessions.attach("/out/report.pdf", session="s", direction="outbound", description="月度销售报告")
    kitten = memory.sessions.attach(picture, session="s")
    memory.sessions.describe(kitten.id, description=KITTEN)
    clock.advance(days=7)
    hits = [hit.id for hit in memory.recall(question, types=("memory", "turn", "episode", "attachment"))]

    assert kitten.id == hits[0]
    assert report.id not in hits[:1]


def test_a_question_for_no_file_finds_none(memory, picture):
    """`what do I like` brings no picture, though its description says so."""
    memory.sessions.attach(picture, session="s", description="Mei likes this cat")
    memory.remember("I like cats.")

    assert ["memory"] == [hit.type for hit in memory.recall("what do I like?", types=("memory", "turn", "episode", "attachment"))]


def test_content_is_kept_by_its_hash_once(memory, home, clock, tmp_path, picture):
    """When it is asked for: the same content twice is one blob, and it is there when the file is gone."""
    copy = tmp_path / "copy.jpg"
    copy.write_bytes(picture.read_bytes())
    content = picture.read_bytes()
    first, second = (memory.sessions.attach(path, session="s", keep=True) for path in (picture, copy))
    noted = memory.sessions.attach(picture, session="s")
    for path in (picture, copy):
        path.unlink()

    assert first.blob == second.blob
    assert hashlib.blake2b(content, digest_size=32).hexdigest() == first.blob
    assert 1 == len([path for path in (home / "blobs").rglob("*") if path.is_file()])
    memory.close()
    with Memory(home, clock=clock) as again:
        assert content == again.sessions.content(second.id)
        with pytest.raises(NotFound, match="noted without `keep`"):
            again.sessions.content(noted.id)


def test_only_a_file_that_is_there_can_be_kept(memory, tmp_path):
    """No address, no folder, nothing that is gone; then nothing is noted either."""
    for place, error in (("https://example.org/x.png", InvalidInput), (tmp_path, InvalidInput), (tmp_path / "gone", NotFound)):
        with pytest.raises(error):
            memory.sessions.attach(place, session="s", keep=True)

    assert [] == memory.sessions.attachments()


def test_a_credential_in_an_address_is_masked(memory):
    """As in every other text; the file is noted all the same, and a long address too."""
    secret = "ghp_" + "a1B2" * 9
    kept = memory.sessions.attach(
        f"https://example.org/{'x' * 900}/cat.png?token={secret}", session="s", description=f"key {secret}"
    )

    assert secret not in repr(kept)
    assert ("cat.png", "image/png") == (kept.filename, kept.mime_type)


def test_another_scope_sees_no_file(memory, home, clock, picture):
    """Not listed, not described, not read."""
    kept = memory.sessions.attach(picture, session="s", keep=True)
    with Memory(home, scope="user:ann", clock=clock) as other:
        assert [] == other.sessions.attachments()
        with pytest.raises(NotFound):
            other.sessions.describe(kept.id, description="mine")
        with pytest.raises(NotFound):
            other.sessions.content(kept.id)
