"""Finding files in turns: sent, made, asked for; in both languages."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from yiku.rules.finding import ask
from yiku.rules.sessions import attachments
from yiku.types import Attachment, Origin, Turn

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
OLD = NOW - timedelta(days=91)


def turn(role, content="", *, id="t", origin=None, **more):
    return Turn(
        id=id,
        session="s",
        role=role,
        content=content,
        said_at=NOW,
        recorded_at=NOW,
        origin=origin or Origin({"user": "user", "assistant": "assistant"}.get(role, "tool")),
        **more,
    )


def made(name, params, result="ok", **flags):
    """The places of what one call made."""
    call = turn("assistant", tool_calls=({"name": name, "input": params, "id": "1"},), tool_results=({"content": result, **flags},))
    return [one.local_path for one in attachments.files_made([call])]


@pytest.mark.spec("S3-109")
@pytest.mark.parametrize(
    ("name", "params", "path"),
    [
        ("write_file", {"path": "/tmp/a.md", "content": "see b.md"}, "/tmp/a.md"),
        ("Write", {"file_path": "C:\\work\\Makefile", "content": "x"}, "C:\\work\\Makefile"),
        ("str_replace_based_edit_tool", {"command": "create", "path": "/tmp/b.py", "file_text": "x"}, "/tmp/b.py"),
        ("browser_take_screenshot", {"filename": "page.png"}, "page.png"),
        ("downloadFile", {"url": "https://example.org/x.zip", "dest": "~/x.zip"}, "~/x.zip"),
        ("render_chart", {"data": [1, 2], "output_path": "charts/sales.svg"}, "charts/sales.svg"),
        ("run_report", {"save_as": "月报.pdf"}, "月报.pdf"),
        ("保存文件", {"路径": "文档/报告.docx"}, "文档/报告.docx"),
    ],
)
def test_what_a_tool_wrote_is_an_attachment(name, params, path):
    """By the verb in its name and the name of the parameter, not by a list of vendors."""
    assert [path] == made(name, params)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("read_file", {"path": "/tmp/a.md"}),
        ("Edit", {"file_path": "/tmp/a.md", "new_string": "x"}),
        ("str_replace_based_edit_tool", {"command": "view", "path": "/tmp/b.py"}),
        ("create_directory", {"path": "/tmp/new"}),
        ("create_issue", {"title": "a.md is wrong", "file": "a.md"}),
        ("write_file", {"path": "/tmp/dir/"}),
        ("create_reservation", {"name": "Ann Li", "to": "OSL"}),
        ("list_saved_files", {"path": "/tmp/a.md"}),
        ("delete_download", {"path": "/tmp/a.md"}),
        ("write_file", {"path": "a.md\nb.md"}),
    ],
)
def test_what_a_tool_only_read_or_changed_is_none(name, params):
    """Reading, editing, deleting, folders and things that are no files make no attachment."""
    assert [] == made(name, params)


def test_a_call_that_failed_made_nothing():
    """Whether it says so by a flag or in words."""
    assert [] == made("write_file", {"path": "/tmp/a.md"}, "Error: disk full")
    assert [] == made("write_file", {"path": "/tmp/a.md"}, "x", is_error=True)


@pytest.mark.parametrize(
    ("result", "path"),
    [
        ("Screenshot saved to /tmp/shots/1.png.", "/tmp/shots/1.png"),
        ("File created successfully at: /tmp/a b.txt", "/tmp/a"),
        ("截图已保存到 /tmp/截图.png。", "/tmp/截图.png"),
        ("done", None),
    ],
)
def test_without_a_parameter_the_result_says_where(result, path):
    """A screenshot that names its place only when it is there."""
    assert ([path] if path else []) == made("take_screenshot", {"full_page": True}, result)


def test_a_file_written_twice_is_one():
    """As the last call made it, with the turn that did."""
    first = turn("assistant", id="a", tool_calls=({"name": "write_file", "input": {"path": "r.pdf", "description": "draft"}},))
    second = turn(
        "assistant", id="b", tool_calls=({"name": "write_file", "input": {"path": "r.pdf", "description": "月度销售报告"}},)
    )
    [one] = attachments.all_files([first, second])

    assert ("b", "outbound", "月度销售报告") == (one.turn, one.direction, one.description)


# ------------------------------------------------------------------ sent


@pytest.mark.spec("S3-96", "S3-97", "S3-98")
def test_what_the_user_sent_and_the_agent_made_are_told_apart():
    """A picture with what it shows, a voice message with its words, a report made for the user: each as it is kept."""
    sent = turn(
        "user",
        "看这只猫",
        id="a",
        metadata={
            "attachments": [
                {"filename": "cat.jpg", "path": "/in/1.jpg", "size": 9, "description": "一只橘猫趴在沙发上"},
                {"name": "memo.m4a", "url": "https://files.example.org/m?id=1", "transcription": "明天三点开会"},
            ]
        },
    )
    report = turn(
        "assistant", id="b", tool_calls=({"name": "write_file", "input": {"path": "out/report.pdf", "title": "Sales in March"}},)
    )
    cat, memo, pdf = attachments.all_files([sent, report])

    assert ("inbound", "cat.jpg", "image/jpeg", 9, "/in/1.jpg", "一只橘猫趴在沙发上", "a") == (
        cat.direction,
        cat.filename,
        cat.mime_type,
        cat.file_size,
        cat.local_path,
        cat.description,
        cat.turn,
    )
    assert ("inbound", "audio/mp4", "https://files.example.org/m?id=1", None, "明天三点开会") == (
        memo.direction,
        memo.mime_type,
        memo.url,
        memo.local_path,
        memo.transcription,
    )
    assert ("outbound", "application/pdf", "Sales in March", "b") == (pdf.direction, pdf.mime_type, pdf.description, pdf.turn)


@pytest.mark.parametrize(
    ("content", "metadata", "places"),
    [
        (
            "",
            {
                "content": [
                    {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}},
                    {"type": "text", "text": "a/b"},
                ]
            },
            ["https://example.org/cat.png"],
        ),
        ("", {"parts": [{"type": "file", "file": {"filename": "cv.pdf", "file_id": "f1"}}]}, ["cv.pdf"]),
        ("", {"files": ["in/a.txt", "just a word"]}, ["in/a.txt"]),
        ("", {"attachments": {"path": "file:///in/a.txt"}}, ["/in/a.txt"]),
        ('look ![a cat](pics/cat.png "Tom") and ![](<https://e.org/d.jpg>)', {}, ["pics/cat.png", "https://e.org/d.jpg"]),
        (
            "[file: report.docx] 【图片：猫.jpg】 [image image/png https://e.org/x.png]",
            {},
            ["report.docx", "猫.jpg", "https://e.org/x.png"],
        ),
        ("[image image/png] ![x](data:image/png;base64,AAAA) a [link](b.pdf)", {}, []),
        (
            "",
            {"content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}], "files": [None, 7, {}, "x/"]},
            [],
        ),
    ],
)
def test_what_a_message_carries_is_found(content, metadata, places):
    """Parts as hosts write them, Markdown pictures, names in brackets; what has no place cannot be kept."""
    found = attachments.files_sent(turn("user", content, metadata=metadata))

    assert sorted(places) == sorted(one.url or one.local_path for one in found)
    assert {"inbound"} >= {one.direction for one in found}


def test_who_sent_it_decides_the_direction():
    """What the assistant shows, and what a subagent was told, did not come from the user; tools send nothing this way."""
    picture = "![a cat](cat.png)"

    assert ["outbound"] == [one.direction for one in attachments.files_sent(turn("assistant", picture))]
    assert ["outbound"] == [one.direction for one in attachments.files_sent(turn("user", picture, origin=Origin.ASSISTANT))]
    assert () == attachments.files_sent(turn("tool", picture))


@pytest.mark.parametrize(
    ("name", "type"),
    [
        ("a.PNG", "image/png"),
        ("b.tar.gz", "application/gzip"),
        ("猫.jpeg", "image/jpeg"),
        ("x.mp3?sig=1.2", "audio/mpeg"),
        ("README", None),
    ],
)
def test_the_type_follows_from_the_name(name, type):
    """By its suffix, on every machine alike."""
    assert type == attachments.mime(name)


# ------------------------------------------------------------------ asked for


@pytest.mark.spec("S3-110")
@pytest.mark.parametrize(
    ("question", "sort"),
    [
        ("the cat picture I sent you", "picture"),
        ("把上周那只小猫的图发我", "picture"),
        ("where is the screenshot of the error?", "picture"),
        ("把你生成的图给我看看", "picture"),
        ("play the voice message from Ann", "voice"),
        ("我昨天发的语音里说了什么", "voice"),
        ("which video did I share last week", "video"),
        ("那个视频发我", "video"),
        ("Send me the report you made yesterday", "document"),
        ("给我那份月度销售报告", "document"),
        ("find that pdf", "document"),
        ("do you have the attachment?", "file"),
        ("上次的附件还在吗", "file"),
        ("What did I say about cats?", None),
        ("How do I record a video?", None),
        ("我喜欢拍视频", None),
        ("推荐一部视频软件", None),
        ("这个问题的意图是什么", None),
        ("what is a vector file format?", None),
    ],
)
def test_a_question_for_a_file_says_which_sort(question, sort):
    """A picture, a voice message, a video, a document, any file; most questions ask for none."""
    assert sort == attachments.wants(ask.analyse(question))


def kept(**columns):
    return Attachment(
        id="a", session="s", direction="inbound", filename="x", said_at=OLD, created_at=NOW, updated_at=NOW, **columns
    )


def test_only_files_of_the_sort_fit():
    """By its type, or its name; what has neither may be anything."""
    named = {name: replace(kept(), filename=name) for name in ("cat.png", "memo.m4a", "a.mp4", "cv.docx", "thing")}

    for sort, names in {"picture": ["cat.png"], "voice": ["memo.m4a"], "video": ["a.mp4"], "document": ["cv.docx"]}.items():
        assert [*names, "thing"] == [name for name, one in named.items() if attachments.fits(sort, one)]
    assert all(attachments.fits("file", one) for one in named.values())


def test_it_is_found_by_what_it_shows_says_and_holds():
    """Description, transcription, text, names and tags; of a long document its beginning."""
    one = kept(
        description="橘猫", transcription="hello", extracted_text="z" * 9_000, original_filename="IMG_1.jpg", tags=("pets", "家")
    )

    assert ["橘猫", "hello", "z" * 8_000, "x", "IMG_1.jpg", "pets 家"] == attachments.text(one).split("\n")
    assert "x" == attachments.text(kept(original_filename="x"))


def test_only_what_nothing_is_known_of_is_dropped():
    """C-35: older than 90 days, and without description, words, text, tags, links and content of its own."""
    assert attachments.stale(kept(local_path="/gone.png", missing=True), NOW)
    assert not attachments.stale(replace(kept(), said_at=NOW - timedelta(days=90)), NOW)
    for known in ("description", "transcription", "extracted_text", "blob"):
        assert not attachments.stale(kept(**{known: "x"}), NOW)
    assert not attachments.stale(kept(linked_memory_ids=("m",)), NOW)
    assert not attachments.stale(kept(tags=("t",)), NOW)
