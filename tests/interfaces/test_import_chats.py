"""Exports of ChatGPT and claude.ai: which branch becomes turns, what is counted, and what a broken conversation cannot do."""

import itertools
import json
import os
import random
import re
import subprocess
import sys
import time
import tracemalloc
import zipfile
from datetime import UTC, datetime

import pytest

from yiku import Memory
from yiku.errors import InvalidInput
from yiku.interfaces.importers import chatgpt, claude, formats, json_items, places, run
from yiku.maintenance import check
from yiku.types import BadRecord, SkippedRecord, TurnRecord

T0 = 1_772_442_840.5  # 2026-03-02 09:14 UTC


def message(id, role, text, at=0.0, **more):
    """A message of ChatGPT as the export has it."""
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    exported = {"id": id, "author": {"role": role, "name": None, "metadata": {}}, "create_time": T0 + at, "update_time": None}
    return exported | {"content": content, "status": "finished_successfully", "metadata": {}, "recipient": "all"} | more


def tree(*nodes, id="c1", title="码头 harbour", current=None, **more):
    """A conversation of ChatGPT from (node, parent, message)."""
    mapping = {
        node: {"id": node, "message": said, "parent": parent, "children": [n for n, p, _ in nodes if p == node]}
        for node, parent, said in nodes
    }
    about = {"title": title, "create_time": T0, "update_time": T0, "mapping": mapping, "conversation_id": id, "id": id}
    return about | {"current_node": nodes[-1][0] if current is None and nodes else current} | more


def talk(id="c1", *, prefix="", **more):
    """A short conversation of ChatGPT."""
    user, reply = message(f"{prefix}m1", "user", "我搬到奥斯陆了。"), message(f"{prefix}m2", "assistant", "Noted, Oslo.", 60)
    return tree(("root", None, None), ("m1", "root", user), ("m2", "m1", reply), id=id, **more)


def said(id, sender, text, **more):
    """A message of claude.ai as the export has it."""
    blocks = [{"type": "text", "text": text, "start_timestamp": "2026-03-02T09:14:00.000000Z", "citations": []}]
    times = {"created_at": "2026-03-02T09:14:00.123456Z", "updated_at": "2026-03-02T09:14:00.123456Z"}
    return {"uuid": id, "text": text, "content": blocks, "sender": sender, **times, "attachments": [], "files": []} | more


def chat(*messages, id="k1", name="茶 tea", **more):
    """A conversation of claude.ai."""
    times = {"created_at": "2026-03-02T09:13:00Z", "updated_at": "2026-03-02T09:20:00Z"}
    return {"uuid": id, "name": name, **times, "account": {"uuid": "a"}, "chat_messages": [*messages]} | more


@pytest.fixture
def write(tmp_path):
    """Writes a file of conversations, or of bytes; its path."""
    numbers = itertools.count()

    def write(content, name="conversations.json"):
        path = tmp_path / f"export-{next(numbers)}" / name
        path.parent.mkdir()
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content, ensure_ascii=False).encode())
        return path

    return write


def turns(records):
    """The turns among records."""
    return [record.turn for record in records if isinstance(record, TurnRecord)]


def left_out(records):
    """What was skipped, and the problems."""
    return [
        record.what if isinstance(record, SkippedRecord) else record.why for record in records if not isinstance(record, TurnRecord)
    ]


# ------------------------------------------------------------------ ChatGPT


def test_a_conversation_of_chatgpt_is_turns_with_ids_times_and_model(write):
    """Each message keeps its id, its own time and the message before it; the conversation is the session."""
    nodes = [
        ("root", None, None),
        ("m1", "root", message("m1", "user", "我搬到奥斯陆了。")),
        ("m2", "m1", message("m2", "assistant", "Noted.", 60, metadata={"model_slug": "m-5"})),
    ]
    asked, answered = turns(chatgpt.read(write([tree(*nodes)])))

    assert {
        "role": "user",
        "content": "我搬到奥斯陆了。",
        "session": "c1",
        "said_at": datetime(2026, 3, 2, 9, 14, 0, 500_000, UTC),
        "agent": "chatgpt",
        "external_id": "m1",
        "metadata": {"title": "码头 harbour", "message": "m1"},
    } == asked
    assert ("m1", "m-5", 15) == (answered["parent"], answered["metadata"]["model"], answered["said_at"].minute)


def test_the_branch_that_the_person_sees_comes_in(write):
    """An edited prompt and an answer asked for again begin branches; the one that ends in the current node is imported."""
    nodes = [
        ("root", None, None),
        ("a", "root", message("a", "user", "first try")),
        ("b", "a", message("b", "assistant", "old answer", 1)),
        ("c", "root", message("c", "user", "改过的问题", 2)),
        ("d", "c", message("d", "assistant", "one answer", 3)),
        ("e", "c", message("e", "assistant", "另一个回答", 4)),
    ]
    records = [*chatgpt.read(write([tree(*nodes, current="e")]))]

    assert ["改过的问题", "另一个回答"] == [turn["content"] for turn in turns(records)]
    assert ["other branch"] * 3 == left_out(records)
    assert ["c", "e"] == [turn["external_id"] for turn in turns(chatgpt.read(write([tree(*nodes, current="gone")])))]  # the newest


def test_what_nobody_said_is_counted(write):
    """System messages, hidden ones, instructions and thinking are no turns."""
    hidden = {"is_visually_hidden_from_conversation": True}
    odd = [
        message("s", "system", "You are helpful."),
        message("h", "user", "never seen", metadata=hidden),
        message("i", "user", {"content_type": "user_editable_context", "user_profile": "I am Mei."}),
        message("t", "assistant", {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}),
        message("r", "assistant", {"content_type": "reasoning_recap", "content": "Thought for 3s"}),
        message("e", "assistant", ""),
        message("u", "user", "你好"),
    ]
    nodes = [(one["id"], before["id"] if before else None, one) for before, one in itertools.pairwise([None, *odd])]
    records = [*chatgpt.read(write([tree(*nodes)]))]

    assert ["你好"] == [turn["content"] for turn in turns(records)]
    assert ["system", "hidden", "instructions", "thinking", "thinking", "empty"] == left_out(records)


def test_a_message_to_a_tool_is_a_call_and_its_answer_a_result(write):
    """The tool is named, arguments are read, pictures and files are named; the result knows its call."""
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    spoken = {"content_type": "audio_transcription", "text": "说的话"}
    sent = {"attachments": [{"id": "f", "name": "简历.pdf", "mimeType": "application/pdf"}]}
    nodes = [
        ("u", None, message("u", "user", {"content_type": "multimodal_text", "parts": [picture, spoken]}, metadata=sent)),
        ("c", "u", message("c", "assistant", {"content_type": "code", "text": '{"q": "茶"}'}, 1, recipient="browser")),
        ("r", "c", message("r", "tool", "三种茶", 2, author={"role": "tool", "name": "browser"})),
        ("p", "r", message("p", "assistant", {"content_type": "code", "text": "print(1)"}, 3, recipient="python")),
    ]
    user, call, result, code = turns(chatgpt.read(write([tree(*nodes)])))

    assert "[image]\n说的话\n[file 简历.pdf]" == user["content"]
    assert [{"id": "c", "name": "browser", "input": {"q": "茶"}}] == call["tool_calls"]
    assert ("tool", [{"tool_use_id": "c", "content": "三种茶", "is_error": False, "name": "browser"}]) == (
        result["role"],
        result["tool_results"],
    )
    assert {"input": "print(1)"} == code["tool_calls"][0]["input"]


# ------------------------------------------------------------------ claude.ai


def test_a_conversation_of_claude_is_turns_without_thinking(write):
    """Blocks become texts, calls and results; files are named; thinking is left out and said to be."""
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "我看看。"},
        {"type": "tool_use", "id": "t1", "name": "web_search", "input": {"query": "茶"}},
        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "三种"}], "is_error": False},
        {"type": "token_budget"},
        {"type": "text", "text": "Three."},
    ]
    asked = said(
        "u", "human", "几种茶？", attachments=[{"file_name": "a.txt", "extracted_content": "x"}], files=[{"file_name": "图.png"}]
    )
    user, reply = turns(claude.read(write([chat(asked, said("v", "assistant", "old", content=blocks))])))

    assert "几种茶？\n[file a.txt]\n[file 图.png]" == user["content"]
    assert ("user", "k1", "u") == (user["role"], user["session"], user["external_id"])
    assert datetime(2026, 3, 2, 9, 14, 0, 123_456, UTC) == user["said_at"]
    assert ("assistant", "我看看。\nThree.", "u") == (reply["role"], reply["content"], reply["parent"])
    assert ("web_search", "三种") == (reply["tool_calls"][0]["name"], reply["tool_results"][0]["content"])
    assert (["thinking"], "茶 tea") == (reply["metadata"]["left_out"], reply["metadata"]["title"])


def test_messages_of_other_branches_of_claude_are_counted(write):
    """Where each message names its parent, the branch of the last one comes in; without parents all do."""
    root = "00000000-0000-4000-8000-000000000000"
    pairs = [("a", "human", root), ("b", "assistant", "a"), ("c", "human", root), ("d", "assistant", "c"), ("e", "assistant", "c")]
    messages = [said(id, sender, f"文 {id}", parent_message_uuid=parent) for id, sender, parent in pairs]
    records = [*claude.read(write([chat(*messages)]))]
    flat = [{key: value for key, value in one.items() if key != "parent_message_uuid"} for one in messages]

    assert ["文 c", "文 e"] == [turn["content"] for turn in turns(records)]
    assert ["other branch"] * 3 == left_out(records)
    assert 5 == len(turns(claude.read(write([chat(*flat)]))))


# ------------------------------------------------------------------ detection, archives, folders


def test_the_format_is_told_by_what_is_in_the_file(write):
    """Whatever the file is called; a single conversation, lists, a BOM and a file cut off after the first keys included."""
    both = {"chatgpt": talk(), "claude": chat(said("u", "human", "hi"))}
    for name, conversation in both.items():
        raw = json.dumps([conversation], ensure_ascii=False, indent=2).encode()
        for content in (
            raw,
            b"\xef\xbb\xbf" + raw,
            raw[: len(raw) // 2],
            json.dumps(conversation).encode(),
            raw.replace(b"\n", b"\r\n"),
        ):
            assert name == formats.detect(write(content, "anything.json")).name
    assert "jsonl" == formats.detect(write(b'{"role": "user", "content": "hi"}\n', "x.json")).name
    for content in (b"", b"{}", b"[]", b"[1, 2]", b"hello", b'{"a": {"mapping": 1, "title": 2}}', b"\0" * 100, b'"mapping"'):
        assert formats.detect(write(content, "odd.json")) is None


def test_an_archive_is_read_without_being_unpacked(write, tmp_path):
    """The conversations in it come in; what else it holds is named as of no known format."""
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([talk()], ensure_ascii=False))
        archive.writestr("user.json", '{"id": "user-1"}')
        archive.writestr("../../etc/chat.html", "<html>")
    found = formats.find(path)

    assert [("chatgpt", "conversations.json")] == [(format.name, place.name) for format, place in found.files]
    assert ["user.json"] == [place.name for place in found.unknown]
    with Memory(tmp_path / "home") as memory:
        (done,) = run.each(memory, found)
        assert (2, 1, f"{path}/conversations.json") == (done.report.turns, done.report.sessions, str(done.place))
        assert "chatgpt: conversations.json" == memory.search_traces(limit=1)[0].metadata["imported"]
        (again,) = run.each(memory, formats.find(tmp_path, "chatgpt"))
        assert (0, 2) == (again.report.turns, again.report.known)


@pytest.mark.parametrize("kind", ["bomb", "many", "cut off", "no zip", "huge"])
def test_an_archive_out_of_bounds_is_refused(tmp_path, monkeypatch, kind):
    """Packed a thousandfold, with too many files, cut off, or larger than what is read of one: named, and nothing is unpacked."""
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b" " * 20_000_000 if kind == "bomb" else json.dumps([talk()]))
        for number in range(10_001 if kind == "many" else 0):
            archive.writestr(f"{number}.png", "")
    if kind in ("cut off", "no zip"):
        path.write_bytes(path.read_bytes()[:60] if kind == "cut off" else b"PK\x03\x04" + b"x" * 100)
    if kind == "huge":
        monkeypatch.setattr(places, "UNPACKED_BYTES", 100)

    with pytest.raises(InvalidInput, match=r"export\.zip"):
        formats.find(path)


@pytest.fixture
def damaged(tmp_path):
    """An archive of files with one byte of `what` changed after they were packed, by `names`."""

    def make(what, **names):
        path = tmp_path / "damaged.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            for name, content in names.items():
                archive.writestr(name.replace("_", "."), content)
        raw = path.read_bytes()
        assert 1 == raw.count(what)
        path.write_bytes(raw.replace(what, what.swapcase()))
        return path

    return make


LATER = '{"role": "user", "content": "I like dates. 我喜欢枣。", "session": "q"}\n'
PLUMS = LATER.replace("dates", "plums")


@pytest.mark.parametrize(("name", "format"), [("a_jsonl", "yiku"), ("a_md", "specstory"), ("a_jsonl", "jsonl")])
def test_a_damaged_archive_costs_only_what_cannot_be_read(damaged, tmp_path, name, format):
    """What stands before the damage comes in, the damage is named, and the next file is read."""
    with Memory(tmp_path / "from") as memory:
        memory.record_turn("user", "I like dates. 我喜欢枣。")
        memory.record_turn("user", f"{'long ' * 3_000} DAMAGE")
        memory.admin.export(tmp_path / "export.jsonl")
    said = "".join(f"_**User (2026-01-16 16:48:3{n}Z)**_\n\nI like dates {n}. 我喜欢枣。\n" for n in range(3))
    content = {
        "yiku": (tmp_path / "export.jsonl").read_text(),
        "specstory": f"<!-- Generated by SpecStory -->\n{said}{'long ' * 3_000}\nDAMAGE\n",
        "jsonl": LATER + LATER.replace("dates", f"{'long ' * 3_000} DAMAGE"),
    }[format]
    with Memory(tmp_path / "home") as memory:
        one, two = run.each(memory, formats.find(damaged(b"DAMAGE", **{name: content}, b_jsonl=PLUMS)), trust=True)
        assert format == one.format
        assert "Bad CRC" in one.report.problems[-1][1]
        assert (1, ()) == (two.report.turns, two.report.problems)
        assert memory.search_traces("dates")
        assert memory.search_traces("plums")


def test_a_file_of_an_archive_that_cannot_be_read_at_all_is_named(damaged, tmp_path):
    """It is not called one of an unknown format; alone it is refused with the reason."""
    found = formats.find(damaged(b"dates", a_jsonl=LATER, b_jsonl=PLUMS, c_jsonl="no format"))
    assert (["b.jsonl"], ["c.jsonl"]) == ([place.name for _, place in found.files], [place.name for place in found.unknown])
    assert [("a.jsonl", True)] == [(place.name, "Bad CRC" in why) for place, why in found.damaged]
    with pytest.raises(InvalidInput, match=r"damaged\.zip/a\.jsonl cannot be read: Bad CRC.*again"):
        formats.find(damaged(b"dates", a_jsonl=LATER))


@pytest.mark.parametrize(
    ("packing", "why"),
    [
        (zipfile.ZIP_LZMA, "again"),
        (zipfile.ZIP_BZIP2, "again"),
        ("encrypted", "is encrypted.*unpack"),
        ("unknown", "not supported; unpack"),
    ],
)
def test_a_file_of_an_archive_packed_in_any_way_is_named_where_it_cannot_be_read(tmp_path, packing, why):
    """Damaged behind its beginning or there, encrypted, or packed in a way that nobody knows; the other file comes in."""
    path, many = tmp_path / "chat.zip", "".join(LATER.replace("dates", f"dates {number**9}") for number in range(20_000))
    method = packing if isinstance(packing, int) else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.jsonl", many if isinstance(packing, int) else LATER, method)
        archive.writestr("b.jsonl", PLUMS)
        size = archive.getinfo("a.jsonl").compress_size
    whole = path.read_bytes()
    central = whole.index(b"PK\x01\x02")
    for share in (0.01, 0.9) if isinstance(packing, int) else (0,):
        raw = bytearray(whole)
        if isinstance(packing, int):
            at = 60 + int(share * size)
            raw[at : at + 40] = b"\xa5" * 40
        elif packing == "encrypted":
            raw[6] = raw[central + 8] = 1
        else:
            raw[8] = raw[central + 10] = 99
        path.write_bytes(raw)
        found = formats.find(path)
        with Memory(tmp_path / f"home{share}") as memory:
            done = run.each(memory, found, dry_run=True)
            problems = [problem for each in done for _, problem in each.report.problems] + [text for _, text in found.damaged]

        assert not found.unknown
        assert "b.jsonl" in [place.name for _, place in found.files]
        assert 1 == len(problems)
        assert re.search("cannot be read any further|" + why, problems[0])


def test_a_path_without_a_known_format_is_refused(tmp_path, write):
    """A folder or file with nothing to import names the formats."""
    for path in (write(b"hello", "a.json"), write(b"hello", "b.json").parent, tmp_path / "nowhere"):
        with pytest.raises(InvalidInput):
            formats.find(path)
    with pytest.raises(InvalidInput, match="no chatgpt file"):
        formats.find(write(b'{"role": "user", "content": "hi"}\n', "x.json").parent, "chatgpt")
    with pytest.raises(InvalidInput, match="not a known format"):
        formats.find(tmp_path, "chatgtp")


# ------------------------------------------------------------------ broken files

GOOD = json.dumps(talk(), ensure_ascii=False)
LAST = json.dumps(talk("c2", prefix="n"), ensure_ascii=False)
DEEP = "[" * 200_000 + "]" * 200_000
CIRCLE = json.dumps(tree(("a", "b", message("a", "user", "x")), ("b", "a", message("b", "user", "y")), id="c9"))


@pytest.mark.parametrize(
    ("middle", "why"),
    [
        ('{"mapping": {"a": no}, "id": "x"}', "is not JSON"),
        (f'{{"mapping": {DEEP}, "id": "x"}}', "nested too deeply"),
        (CIRCLE, "circle"),
        ('{"mapping": [], "id": "x"}', "no mapping"),
        ('{"mapping": {}, "id": null}', "no conversation_id"),
        ("[1, 2]", "not an object but a list"),
        ('"text", 17', "is not an object"),
        ('{"id": "x", "mapping": {"a": 1}, "current_node": "a"}', "not an object"),
        ('{"id": "x", "mapping": {"a": {"message": 1, "parent": null}}, "current_node": "a"}', "a message is not an object"),
        ('{"id": "x", "mapping": {"a": {"message": {"author": 1}, "parent": 2}}, "current_node": "a"}', "role"),
        ('{"id": "x", "mapping": {"a": {"message": {"author": {"role": "robot"}}}}}', "role"),
        ('{"id": "x", "mapping": {"a": "\\ud800", "b": {"message": {"author": {"role": "user"}, "content": []}}}}', "empty"),
        ('{"id": "x", "mapping": {}}', "empty"),
        ('{"mapping": {"a": "\x01\x02 \0"}, "id": "x"}', "no last one"),
    ],
)
def test_a_broken_conversation_costs_itself_alone(write, middle, why):
    """Those before and behind it come in; it is named by its number in the file."""
    records = [*chatgpt.read(write(f"[{GOOD},\n {middle}, {LAST}]".encode("utf-8", "surrogatepass")))]

    assert ["我搬到奥斯陆了。", "Noted, Oslo."] * 2 == [turn["content"] for turn in turns(records)]
    (record,) = [record for record in records if not isinstance(record, TurnRecord)]
    assert 2 == record.line
    assert why in (record.what if isinstance(record, SkippedRecord) else record.why)


@pytest.mark.parametrize("cut", [3, 40, 200, -1, -5])
def test_a_file_that_is_cut_off_gives_what_is_whole(write, cut):
    """The whole conversations come in, and the place where the file ends is named."""
    whole = f"[{GOOD}, {LAST}]".encode()
    records = [*chatgpt.read(write(whole[: len(GOOD.encode()) + cut] if cut > 0 else whole[:cut]))]

    assert len(turns(records)) in (2, 4)
    assert "cut off" in records[-1].why


def test_a_conversation_over_the_bound_is_passed_over(write, monkeypatch):
    """It is not held in memory, and those around it come in."""
    monkeypatch.setattr(json_items, "ITEM_BYTES", 5_000)
    big = json.dumps(tree(("a", None, message("a", "user", "x" * 9_000)), id="big"))
    records = [*chatgpt.read(write(f"[{GOOD},{big},{LAST}]".encode()))]

    assert 4 == len(turns(records))
    assert ["has 9"] == [record.why[:5] for record in records if isinstance(record, BadRecord)]


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 64, 1 << 20])
def test_pieces_of_any_size_give_the_same_objects(write, monkeypatch, piece):
    """Texts, escapes and brackets may end in the middle of a piece."""
    monkeypatch.setattr(json_items, "PIECE_BYTES", piece)
    odd = [{"a": '\\"}]["\\\\', "b": ["\\", "]", '"']}, {"c": {"d": [{"e": 'x\\\\\\"'}]}}, {}, {"f": "码头 😀"}]
    for text in (json.dumps(odd), "\n".join(map(json.dumps, odd)), f"  [ {', '.join(map(json.dumps, odd))} ]\n"):
        found = [*json_items.objects(write(text.encode()))]
        assert odd == [line.record for line in found]
        assert [1, 2, 3, 4] == [line.number for line in found]


def test_no_bytes_break_the_reader(write):
    """Altered exports: every record is a turn, skipped or named, and nothing raises."""
    chance, whole = random.Random(7), bytearray(f"[{GOOD},{LAST},{CIRCLE}]".encode())
    for _ in range(300):
        altered = bytearray(whole)
        for _ in range(chance.randrange(1, 6)):
            place = chance.randrange(len(altered))
            altered[place : place + chance.randrange(3)] = bytes(chance.choices(b'{}[]",:\\\0\x80a1 ', k=chance.randrange(3)))
        path = write(bytes(altered))
        for reader in (chatgpt, claude):
            assert all(isinstance(record, (TurnRecord, SkippedRecord, BadRecord)) for record in reader.read(path))
        formats.detect(path)


def test_what_is_imported_twice_is_there_once_and_is_erased_like_spoken_turns(write, tmp_path):
    """A dry run says what the run does; a second run knows everything; an erasure reaches every imported word."""
    path = write([talk(), chat(said("u", "human", "绿茶不加糖 47115")), talk("c2", prefix="n")])
    claude_path = write([chat(said("u", "human", "我的储物柜密码是 47115。"))])
    with Memory(tmp_path / "home") as memory:
        (tried,) = run.each(memory, formats.find(path), dry_run=True)
        assert [] == memory.search_traces()
        (first,) = run.each(memory, formats.find(path))
        (again,) = run.each(memory, formats.find(path))
        assert (4, 4, 0, 4) == (tried.report.turns, first.report.turns, again.report.turns, again.report.known)
        assert (1, 2) == (len(first.report.problems), first.report.sessions)
        assert datetime(2026, 3, 2, 9, 15, 0, 500_000, UTC) == first.last
        [*run.each(memory, formats.find(claude_path))]
        memory.learn()
        turn = memory.search_traces("47115")[0]
        assert ("k1", "u", "claude.ai") == (turn.session, turn.external_id, turn.agent)
        assert memory.admin.erase(source="claude.ai").clean
        (after,) = run.each(memory, formats.find(claude_path))
        assert (0, {"erased": 1}) == (after.report.turns, dict(after.report.skipped))
        assert [] == memory.search_traces("47115")


def test_a_result_of_our_own_tools_is_not_learned_again(write, tmp_path):
    """The call stays, what memory had answered goes; fences of this home are cut out of what was said."""
    with Memory(tmp_path / "home") as memory:
        memory.remember("I live in Oslo.")
        block = memory.context("where do I live?")
        call = {"type": "tool_use", "id": "t1", "name": "mcp__yiku__memory_search", "input": {"query": "Oslo"}}
        result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "I live in Oslo."}]}
        messages = [said("u", "human", f"{block}\n我住哪儿？"), said("v", "assistant", "", content=[call, result])]
        [*run.each(memory, formats.find(write([chat(*messages)])))]
        reply, asked = memory.search_traces()

    assert "我住哪儿？" == asked.content.strip()
    assert ["mcp__yiku__memory_search"] == [one["name"] for one in reply.tool_calls]
    assert "Oslo" not in str(reply.tool_results)


# ------------------------------------------------------------------ the command, killed and large


def long_talk(count, id="c1"):
    """A conversation of so many messages."""
    nodes = [
        (f"{id}-{n}", f"{id}-{n - 1}" if n else None, message(f"{id}-{n}", "user", f"第 {n} 句 of {id}", n)) for n in range(count)
    ]
    return tree(*nodes, id=id)


def test_an_import_that_is_killed_goes_on(write, tmp_path):
    """A process that dies in the middle leaves whole batches; the second run brings the rest, and nothing twice."""
    path = write([long_talk(300, f"c{n}") for n in range(8)])
    words = [sys.executable, "-m", "yiku", "import", str(path)]
    environment = os.environ | {"YIKU_HOME": str(tmp_path / "home")}
    with Memory(tmp_path / "home"):
        pass
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE) as process:
        while process.poll() is None:
            with Memory(tmp_path / "home") as memory:
                if memory.admin.stats().turns:
                    break
        process.kill()
    with Memory(tmp_path / "home") as memory:
        before = memory.admin.stats().turns
    done = subprocess.run([*words, "--json"], env=environment, capture_output=True, check=True)
    total = json.loads(done.stdout)["total"]

    assert 0 < before < 2_400
    assert (2_400 - before, before, 0) == (total["turns"], total["known"], total["problems"])
    with Memory(tmp_path / "home") as memory:
        assert 2_400 == memory.admin.stats().turns
    assert () == check(tmp_path / "home").problems


@pytest.mark.long
def test_a_large_export_is_not_held_in_memory(tmp_path):
    """Sixty megabytes are read within a few times the largest conversation, and quickly."""
    path = tmp_path / "conversations.json"
    one = json.dumps(
        tree(*((f"n{n}", f"n{n - 1}" if n else None, message(f"n{n}", "user", "长" * 2_000)) for n in range(100)), id="c")
    )
    with open(path, "w", encoding="utf-8") as file:
        file.write("[")
        file.writelines(f"{',' if number else ''}{one}" for number in range(60_000_000 // len(one)))
        file.write("]")
    tracemalloc.start()
    before, count = time.process_time(), sum(isinstance(record, TurnRecord) for record in chatgpt.read(path))
    seconds, (_, peak) = time.process_time() - before, tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert count == 100 * (60_000_000 // len(one))
    assert peak < 12 * len(one) + 4_000_000
    assert seconds < 60


def test_what_hooks_have_captured_is_not_imported_again(write, tmp_path):
    """Of a session of a coding agent only what was said before and after the captured part comes in."""

    def line(id, minute, text):
        place = {"sessionId": "s1", "timestamp": f"2026-03-02T09:{minute}:00Z", "uuid": id, "cwd": "/w"}
        return json.dumps({"type": "user", "message": {"role": "user", "content": text}, **place}) + "\n"

    path = write((line("a", 10, "before") + line("b", 20, "之间") + line("c", 30, "after")).encode(), "s1.jsonl")
    captured = {"role": "user", "content": "之间", "session": "s1", "external_id": "hook:1", "said_at": "2026-03-02T09:20:02+00:00"}
    with Memory(tmp_path / "home") as memory:
        memory.record([captured])
        (first,) = run.each(memory, formats.find(path))
        assert (2, {"captured by hooks": 1}) == (first.report.turns, dict(first.report.skipped))
        (again,) = run.each(memory, formats.find(path))
        assert (0, 2) == (again.report.turns, again.report.known)
        assert ["before", "之间", "after"] == [turn.content for turn in memory.search_traces()][::-1]
