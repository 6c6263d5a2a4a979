"""Converting messages from the shapes of chat APIs and back."""

import base64
import json

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from yiku import Memory
from yiku.errors import InvalidInput, NotFound, TooLarge
from yiku.store import sqlite, where
from yiku.types import Turns

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n\x00" + bytes(range(256)) * 20).decode()

OPENAI = [
    {"role": "developer", "content": "Be brief. 请简短。"},
    {"role": "user", "content": "几度？ How warm is it in Oslo?", "name": "mei"},
    {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "annotations": [],
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "奥斯陆", "days": [1, 2.5]}'}},
            {"id": "c2", "type": "function", "function": {"name": "clock", "arguments": "{}"}},
            {"id": "c3", "type": "function", "function": {"name": "broken", "arguments": '{"city": '}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "4 degrees"},
    {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "12:30"}, {"type": "text", "text": "中午"}]},
    {"role": "assistant", "content": None, "function_call": {"name": "weather", "arguments": '{"city":"Oslo"}'}},
    {"role": "function", "name": "weather", "content": "5 degrees"},
    {"role": "assistant", "content": None, "refusal": "I can't help with that."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "What is this? 这是什么？"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}},
            {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}},
            {"type": "text", "text": "And this?"},
            {"type": "file", "file": {"filename": "报告.pdf", "file_data": f"data:application/pdf;base64,{PNG}"}},
            {"type": "input_audio", "input_audio": {"data": PNG, "format": "wav"}},
        ],
    },
    {"role": "assistant", "content": [{"type": "refusal", "refusal": "不行。"}]},
    {"role": "user", "content": ["Just texts", "只有文字"]},
]
ANTHROPIC = [
    {"role": "user", "content": [{"type": "text", "text": "看看目录", "cache_control": {"type": "ephemeral"}}]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "I should look. " * 300, "signature": "abc" * 20},
            {"type": "text", "text": "I'll look."},
            {"type": "tool_use", "id": "t1", "name": "ls", "input": {"path": "/项目"}},
            {"type": "tool_use", "id": "t2", "name": "screenshot", "input": {}},
        ],
        "stop_reason": "tool_use",
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "a.txt\nb.txt"},
            {
                "type": "tool_result",
                "tool_use_id": "t2",
                "is_error": False,
                "content": [
                    {"type": "text", "text": "the screen"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                ],
            },
            {"type": "tool_result", "tool_use_id": "t3"},
            {"type": "text", "text": "Go on. 继续。"},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "again"}]},
    {"role": "assistant", "content": "Done. 好了。"},
]
RESPONSES = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "奥斯陆几度？"}]},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x" * 5_000},
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "weather",
        "arguments": '{"city":"Oslo"}',
        "status": "completed",
    },
    {"type": "function_call_output", "call_id": "c1", "output": "4 degrees"},
    {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "4 度。", "annotations": []}],
    },
]
SHAPES = {"openai": OPENAI, "anthropic": ANTHROPIC, "responses": RESPONSES}


@pytest.mark.parametrize("shape", SHAPES)
def test_messages_come_back_as_they_were_given(memory, home, clock, shape):
    """Roles, parts, pictures, calls, results, refusals and thoughts: what a chat API takes, it takes again, in a new process, too."""
    memory.record(SHAPES[shape], session="s")
    memory.close()
    with Memory(home, clock=clock) as again:
        assert SHAPES[shape] == [*again.sessions.messages("s")]
        assert () == again.admin.check("deep").problems


def test_what_was_said_called_and_sent_has_its_place(memory):
    """The text is content, calls and results are searched by their tools, a picture is an attachment with its bytes."""
    memory.record(ANTHROPIC + OPENAI, session="s")
    turns = memory.search_traces(session="s", limit=100)[::-1]

    assert "user assistant user tool assistant" == " ".join(turn.role for turn in turns[:5])
    assert ["I'll look.", "Go on. 继续。"] == [turn.content for turn in turns[1:3]]
    assert {"city": "奥斯陆", "days": [1, 2.5]} == memory.search_traces(tool="weather")[-1].tool_calls[0]["input"]
    assert "I can't help with that." in [turn.content for turn in turns]
    assert "mei" == turns[6].speaker
    assert memory.search_traces("奥斯陆") and memory.search_traces("b.txt")
    (pdf,) = [file for file in memory.sessions.attachments(session="s") if file.filename == "报告.pdf"]
    assert ("application/pdf", "inbound", base64.b64decode(PNG)) == (pdf.mime_type, pdf.direction, memory.sessions.content(pdf.id))
    assert len(json.dumps([dict(turn.metadata) for turn in turns])) < len(PNG)


def test_one_turn_takes_no_text(memory):
    """`record_turn` with None stores what else there is."""
    turn = memory.record_turn("assistant", None, session="s", tool_calls=OPENAI[2]["tool_calls"])

    assert ("", 3) == (turn.content, len(turn.tool_calls))


def test_objects_of_a_chat_library_are_taken(memory):
    """What has `model_dump` is the mapping that it gives: a reply can be handed on as it came."""

    class Part:
        def __init__(self, **fields):
            self.fields = fields

        def model_dump(self):
            return self.fields

    memory.record(
        [Part(role="assistant", content="好"), {"role": "assistant", "content": [Part(type="text", text="yes")]}], session="s"
    )

    assert ["好", [{"type": "text", "text": "yes"}]] == [message["content"] for message in memory.sessions.messages("s")]


def test_a_turn_of_another_shape_comes_back_as_messages(memory):
    """Turns with results beside them, as importers make them, are OpenAI's messages, a result each."""
    memory.record_turn("user", "早", session="s", speaker="梅")
    memory.record_turn(
        "assistant",
        "",
        session="s",
        tool_calls=[{"id": "c1", "name": "ls", "input": {"path": "/"}}],
        tool_results=[{"tool_use_id": "c1", "content": "bin\n" * 40_000}],
    )
    user, called, result = memory.sessions.messages("s")

    assert {"role": "user", "content": "早"} == user
    assert {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "/"}'}} == called["tool_calls"][0]
    assert ("tool", "c1", "bin\n" * 40_000) == (result["role"], result["tool_call_id"], result["content"])


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ({"role": "narrator", "content": "x"}, "developer, function"),
        ({"role": "user", "content": {"text": "x"}}, "list of parts"),
        ({"role": "user", "content": [5]}, "a part of content"),
        ({"role": "user", "content": None}, "needs content"),
        ({"role": "user", "content": "x", "colour": "y"}, "put anything else into metadata"),
        ({"role": "user", "content": [{"type": "image", "n": object()}]}, "is not JSON"),
        ({"role": "assistant", "content": "x", "tool_calls": "none"}, "list of objects"),
    ],
)
def test_what_cannot_be_kept_says_what_to_do(memory, message, says):
    """A typed error, and nothing of the call is stored."""
    with pytest.raises(InvalidInput, match=says):
        memory.record([{"role": "user", "content": "早"}, message], session="s")

    assert 0 == memory.admin.stats().turns


def test_too_much_beside_the_text_is_too_large(memory):
    """Thousands of parts that are neither text nor file have no place."""
    with pytest.raises(TooLarge, match="besides texts"):
        memory.record([{"role": "user", "content": [{"type": "mark", "at": k} for k in range(2_000)]}], session="s")


def test_a_session_is_read_page_by_page(memory):
    """Each page has a cursor for the next; the last one has none; the end of a session can be had at once."""
    memory.record([{"role": "user", "content": f"第 {k} 句"} for k in range(25)], session="s")
    memory.record([{"role": "user", "content": "another"}], session="t")
    pages, after = [], None
    while True:
        page = memory.sessions.messages("s", limit=10, after=after)
        pages.append([message["content"] for message in page])
        if (after := page.cursor) is None:
            break

    assert [10, 10, 5] == [*map(len, pages)]
    assert [f"第 {k} 句" for k in range(25)] == [one for page in pages for one in page]
    assert ["第 23 句", "第 24 句"] == [message["content"] for message in memory.sessions.messages("s", limit=2, last=True)]
    with pytest.raises(NotFound, match=r"there is no session 'u'\. `yiku sessions` lists the sessions"):
        memory.sessions.messages("u")


@pytest.mark.parametrize("last", [False, True])
def test_a_page_costs_what_the_page_costs(memory, home, last):
    """Whatever the session's length, and wherever the page lies in it: an index gives the order, and nothing is sorted."""
    memory.record([{"role": "user", "content": f"句 {k}"} for k in range(300)], session="s")
    sql, values = where.turns([1], Turns(session="s", beyond=5, order="position", newest_first=last, limit=10))
    connection = apsw.Connection(str(home / "yiku.db"))
    plan = [row[3] for row in connection.execute(f"explain query plan select t.n {sqlite._FROM_TURNS} {sql}", values)]

    assert any("turns_by_position" in step for step in plan)
    assert not any("TEMP B-TREE" in step for step in plan)


def test_a_name_in_a_text_opens_no_file(memory):
    """Only a file that came with its own turn is put back: another's name gives nothing."""
    memory.record([OPENAI[8]], session="s")
    blob = memory.sessions.attachments(session="s")[0].blob
    memory.record(
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": {"kept": blob, "lead": "data:,"}}}]}], session="t"
    )
    (message,) = memory.sessions.messages("t")

    assert PNG not in str(message)


def test_erasing_takes_the_picture_too(memory, home):
    """When the turn goes, its files go; what is left of a redacted text stands in its first part."""
    done = memory.record([OPENAI[8]], session="s")
    memory.record(
        [{"role": "user", "content": [{"type": "text", "text": "My locker code is 4711."}, {"type": "text", "text": "早"}]}]
    )
    memory.admin.erase(done.ids[0])
    statement = memory.remember("My locker code is 4711.", source=memory.search_traces("locker")[0].id).memory
    memory.admin.erase(statement.id)

    assert [] == memory.sessions.attachments(session="s")
    assert ["[已抹去]"] == [message["content"] for message in memory.sessions.messages("s")]
    assert not any(path.is_file() for path in (home / "blobs").rglob("*"))
    assert "4711" not in str([*memory.sessions.messages("default")])


def test_a_secret_in_a_part_is_masked(memory):
    """In text, arguments and results, as anywhere."""
    key = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3
    memory.record(
        [
            {"role": "user", "content": [{"type": "text", "text": f"token {key}"}, {"type": "text", "text": "end"}]},
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "x", "arguments": f'{{"k": "{key}"}}'}}]},
            {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": key}]},
        ],
        session="s",
    )  # fmt: skip
    messages = [*memory.sessions.messages("s")]

    assert key not in str(messages)
    assert "end" == messages[0]["content"][1]["text"]


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="<"), min_size=1, max_size=12)
PART = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, TEXT),
    st.builds(lambda id, n: {"type": "tool_use", "id": id, "name": "f", "input": {"n": n}}, TEXT, st.integers()),
    st.builds(lambda text: {"type": "tool_result", "tool_use_id": "x", "content": text}, TEXT),
    st.builds(lambda url: {"type": "image_url", "image_url": {"url": "https://e.org/" + url}}, TEXT),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.builds(lambda parts: {"role": "user", "content": parts}, st.lists(PART, min_size=1, max_size=6)), min_size=1, max_size=3
    )
)
def test_any_parts_come_back(memory, messages):
    """In any order and number."""
    session = f"s{memory.admin.stats().turns}"
    try:
        memory.record(messages, session=session)
    except InvalidInput:  # nothing in it but blanks
        return

    assert messages == [*memory.sessions.messages(session)]
