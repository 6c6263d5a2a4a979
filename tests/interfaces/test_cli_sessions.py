"""The commands of sessions: sessions, end, compress, episodes, scratchpad, attachments."""

import json
import re
from pathlib import Path

import commands
import pytest
from commands import Ran

from yiku import Memory

EPISODE = set(
    "id session summary goal outcome outcome_reason started_at ended_at first_turn last_turn action_nodes entities tools_used"
    " decisions linked_memory_ids tags importance_score access_count source method created_at updated_at scope".split()
)
ATTACHMENT = set(
    "id session turn episode_id direction filename original_filename mime_type file_size local_path url blob missing description"
    " transcription extracted_text tags linked_memory_ids said_at created_at updated_at scope".split()
)
MESSAGES = [
    {"role": "user", "content": "帮我修好登录模块的测试 tests/test_login.py"},
    {
        "role": "assistant",
        "content": "先跑一遍。",
        "tool_calls": [{"name": "bash", "input": {"command": "pytest tests/test_login.py -q"}, "id": "c1"}],
        "tool_results": [{"tool_use_id": "c1", "content": "4 passed", "is_error": False}],
    },
    {"role": "user", "content": "I live in Oslo. 测试都过了，完美，谢谢！"},
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def talk(home: Path) -> Path:
    """A home with a session of three turns."""
    with Memory(home, owner="user:mei") as memory:
        memory.record(MESSAGES, session="s1")
    return home


def run(home: Path, *words: str | Path, stdin: str = "", **environment: str) -> Ran:
    return commands.run(*words, stdin=stdin.encode(), YIKU_HOME=home, **environment)


# ------------------------------------------------------------------ sessions and their end


def test_sessions_and_stats_show_local_times(home):
    """As every other verb does: a turn of seven in the morning in Shanghai was said on that day, not on the day before."""
    run(home, "record", "早上好", "--session", "s1", "--said-at", "2026-03-02T07:00", TZ="Asia/Shanghai")
    sessions, stats, timeline = (run(home, verb, TZ="Asia/Shanghai").out for verb in ("sessions", "stats", "timeline"))

    assert "2026-03-02 07:00" in timeline
    assert re.search(r"^s1 +1  2026-03-02 07:00  2026-03-02 07:00  open", sessions, re.MULTILINE)
    assert ["2026-03-02", "2026-03-02"] == re.findall(r"^(?:first|last) said +(\S+)$", stats, re.MULTILINE)


def test_a_session_ends_as_an_episode(talk):
    """`end` tells the story; `sessions` says that it is over; a second call has nothing to add, and fails no more than the first."""
    before, ended = run(talk, "sessions"), run(talk, "end", "s1")
    after, again = run(talk, "sessions", "--json").json["sessions"], run(talk, "end", "s1")
    printed = run(talk, "episodes")

    assert re.search(r"^s1 +3  .* open", before.out, re.MULTILINE)
    assert ended.out.startswith("ended  s1\n  episode · #")
    assert "1. bash(command=pytest tests/test_login.py -q) → ✓ 4 passed\n" in ended.out
    assert [("s1", 3, True)] == [(one["id"], one["turns"], one["closed_at"] is not None) for one in after]
    assert (0, "ended  s1\n  nothing was said since it was last ended\n") == (again.code, again.out)
    assert re.match(r"episode · #\w{8} · success · .* · s1\n### .*登录模块", printed.out)


def test_end_and_episodes_in_json(talk):
    """The episode, the scratchpad and the counts, under names that stay; `episodes` has the same episode."""
    ended = run(talk, "end", "s1", "--json").json
    printed = run(talk, "episodes", "--session", "s1", "--json").json["episodes"]

    assert {"yiku", "verb", "ended", "session"} == {*ended}
    assert {"episode", "scratchpad", "expired", "outcomes", "model"} == {*ended["ended"]}
    assert [EPISODE] == [{*one} for one in printed]
    assert [ended["ended"]["episode"]] == printed
    assert ("success", ["bash"]) == (printed[0]["outcome"], printed[0]["tools_used"])
    assert [] == run(talk, "episodes", "--until", "2020-01-01", "--json").json["episodes"]


# ------------------------------------------------------------------ compression


@pytest.mark.spec("S3-41", "S3-88")
@pytest.mark.parametrize(
    "written",
    [
        json.dumps(MESSAGES, ensure_ascii=False, indent=1),
        json.dumps({"messages": MESSAGES}),
        "\n".join(json.dumps(one, ensure_ascii=False) for one in MESSAGES),
    ],
    ids=["a list", "an object", "lines"],
)
def test_messages_that_are_compressed_are_kept_and_told_of(home, written):
    """However a host writes them: each is recorded and learned from, and an episode tells of them; the home knows a fact at once."""
    ran = run(home, "compress", "-", "--session", "s1", stdin=written)

    assert ran.out.startswith("compressed  3 messages: 3 recorded now, 0 before\n  episode · #")
    assert "learned: " in ran.out.splitlines()[-1]
    with Memory(home) as memory:
        assert "Oslo" in memory.recall("我住在哪里？", types=["memory"]).text


@pytest.mark.spec("S3-168")
def test_compressed_twice_is_compressed_once(talk, tmp_path):
    """Messages that were recorded are known again; the host's own summary is kept as it is."""
    file = tmp_path / "messages.json"
    file.write_text(json.dumps(MESSAGES), encoding="utf-8")
    done = run(talk, "compress", file, "--session", "s1", "--summary", "登录测试修好了 ✓", "--json").json

    assert {"yiku", "verb", "compressed", "session"} == {*done}
    assert (0, 3) == (done["compressed"]["recorded"], done["compressed"]["known"])
    assert ("登录测试修好了 ✓", "host") == tuple(done["compressed"]["episode"][name] for name in ("summary", "method"))
    with Memory(talk) as memory:
        assert 3 == len(memory.search_traces(session="s1"))


# ------------------------------------------------------------------ the scratchpad


def test_the_scratchpad_takes_lines_and_settles_them(home):
    """Lines are added and settled one by one; what is not there to be settled is said; the language is that of the settings."""
    first = run(
        home, "scratchpad", "--add-question", "哪个端口？", "--add-step", "ship it", "--add-step", "写测试", YIKU_LANGUAGE="zh"
    )
    second = run(home, "scratchpad", "--settle-step", "Ship it!", "--settle-question", "which port?")

    assert "## 未解决的问题\n- 哪个端口？\n\n## 下一步\n- ship it\n- 写测试\n" == first.out
    assert "## Open questions\n- 哪个端口？\n\n## Next steps\n- 写测试\n" == second.out
    assert '"which port?" is not in the scratchpad.' in second.err
    again = run(home, "scratchpad", "--add-step", "写测试", "--json")
    assert (["写测试"], True) == (again.json["scratchpad"]["left_out"], '"写测试" was left out: it is there already' in again.err)


@pytest.mark.spec("S3-236")
def test_what_the_user_writes_wins(talk):
    """A section that is set is the user's, whatever he says next; JSON has the fields and the text."""
    run(talk, "scratchpad", "--set", "-", stdin="## 当前任务\n准备面试\n")
    run(talk, "record", "帮我重构 src/auth.py", "--session", "s2")
    shown = run(talk, "scratchpad", "--json").json

    assert {"yiku", "verb", "scratchpad", "markdown"} == {*shown}
    assert shown["markdown"].startswith("## 当前任务\n准备面试")
    assert {"current_focus": "准备面试"} == shown["scratchpad"]["overrides"]


def test_an_empty_scratchpad_says_how_it_fills(home):
    """Nothing on stdout, no failure, and a hint."""
    ran = run(home, "scratchpad")

    assert (0, "") == (ran.code, ran.out)
    assert "The scratchpad is empty" in ran.err


# ------------------------------------------------------------------ attachments


def test_a_file_is_noted_kept_and_described(home, tmp_path):
    """By a path, which is noted whole; with its content, if that is asked for; and by what was seen in it since."""
    (tmp_path / "小猫 cat.jpg").write_bytes(b"\xff\xd8 a cat")
    noted = commands.run("attach", "小猫 cat.jpg", "--session", "s1", "--keep", "--json", cwd=tmp_path, YIKU_HOME=home).json[
        "attachment"
    ]
    described = run(home, "describe", f"#{noted['id'][-8:]}", "--description", "窗台上晒太阳的小猫", "--tag", "cat")
    listed = run(home, "attachments", COLUMNS="60")

    assert ATTACHMENT == {*noted}
    assert (str(tmp_path / "小猫 cat.jpg"), 8, "inbound", False) == tuple(
        noted[name] for name in ("local_path", "file_size", "direction", "missing")
    )
    assert "described  小猫 cat.jpg\n  attachment · #" in described.out
    assert re.fullmatch(r"小猫 cat\.jpg 窗台上晒太阳的小猫\n  #\w{8} · \d{4}-\d\d-\d\d · sent · 8 bytes\n", listed.out)
    with Memory(home) as memory:
        assert b"\xff\xd8 a cat" == memory.sessions.content(noted["id"])


@pytest.mark.spec("S3-100")
def test_a_file_that_is_not_there_is_noted_and_said_to_be(home):
    """A name alone may be all that is known of a file; an address is noted as it is, and may be long."""
    gone = run(home, "attach", "nowhere.png", "--session", "s1", "--made")
    address = "ftp://files.example/lease.pdf?token=" + "a" * 400
    run(home, "attach", address, "--session", "s2")

    assert (0, True) == (gone.code, "There is no file " in gone.err)
    assert re.search(r"#\w{8}  \S+  made  gone  nowhere\.png\n", run(home, "attachments", "--session", "s1").out)
    assert [address] == [one["url"] for one in run(home, "attachments", "--session", "s2", "--json").json["attachments"]]


# ------------------------------------------------------------------ what goes wrong


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "message"),
    [
        (["end", "s9"], "", 1, "there is no turn in session 's9'"),
        (["end", ""], "", 2, "session is empty"),
        (["compress", "-", "--session", "s1"], "not JSON", 2, "messages is not JSON"),
        (["compress", "-", "--session", "s1"], '{"role": "user", "content": "a"}\n{"role": "as', 2, "message 2 is not JSON"),
        (["compress", "-", "--session", "s1"], "5", 2, "messages must be a list of objects with role and content, not int"),
        (["compress", "-", "--session", "s1"], "[]", 2, "messages must hold at least one message"),
        (["compress", "-", "--session", "s1"], '["你好"]', 2, "a message must be an object with role and content"),
        (["compress", "-", "--session", "s1", "--summary", "-"], "[]", 2, "cannot both come from stdin"),
        (["compress", "nowhere.json", "--session", "s1"], "", 2, "nowhere.json: no such file; - reads messages from stdin"),
        (["compress", "nowhere.json"], "", 2, "Missing option '--session'"),
        (["sessions", "--limit", "-1"], "", 2, "--limit must be at least 1"),
        (["episodes", "--since", "gestern"], "", 2, "since 'gestern' is not a time"),
        (["scratchpad", "--set", "nowhere.md"], "", 2, "nowhere.md: no such file"),
        (["scratchpad", "--set", "-", "--add-step", "a"], "", 2, "not both"),
        (["attach", " ", "--session", "s1"], "", 2, "place must be a path or an address"),
        (["attach", ".", "--session", "s1"], "", 2, "is not a file"),
        (["attach", "nowhere.png", "--session", "s1", "--keep"], "", 1, "nowhere.png"),
        (["attach", "nowhere.png", "--session", "s1", "--turn", "00000000"], "", 1, "id 00000000"),
        (["describe", "00000000", "--description", "x"], "", 1, "no attachment with the id 00000000"),
        (["describe", "00000000"], "", 2, "describe needs at least one of"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_is_asked_wrongly(home, arguments, stdin, code, message):
    """Each mistake is told in two sentences, what and what to do; stdout stays empty, and nothing is kept."""
    ran = run(home, *arguments, stdin=stdin)

    assert (code, "") == (ran.code, ran.out)
    assert message in ran.err.replace("\n      ", " ")
    assert re.search(r"\n      \S", ran.err)
    with Memory(home) as memory:
        assert ([], []) == (memory.sessions.get_all(), memory.sessions.attachments())


def test_a_pause_holds_for_all_that_keeps(talk, tmp_path):
    """While memory is paused no message, file or line is kept; what is known can be seen."""
    file = tmp_path / "messages.json"
    file.write_text('[{"role": "user", "content": "later"}]', encoding="utf-8")
    with Memory(talk) as memory:
        memory.admin.pause()
    for words in (["compress", file, "--session", "s2"], ["attach", file, "--session", "s2"], ["scratchpad", "--add-step", "a"]):
        ran = run(talk, *words)
        assert (1, True) == (ran.code, "Memory is paused" in ran.err), words
    assert 0 == run(talk, "sessions").code
