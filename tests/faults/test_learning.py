"""
Learning, relearning, compressing and ending a session, interrupted at each step by a failing disk, a kill or a model.

Whatever was cut, the home opens, and the same call made again comes to what it would have come to at once: nothing is lost,
nothing is learned twice, no episode is told twice. The model is a server on this machine that says the same of the same turns.
"""

import itertools
import json
import re
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import apsw
import pytest
from faults.disk import BROKEN, FULL, failing
from integrity import check
from models.server import Answer, Server, error, raw, says, serving
from workers import READY

from yiku import Memory
from yiku.errors import StoreError

NOW = datetime(2026, 5, 5, 12, tzinfo=UTC)
SAID = [
    ("user", "I live in Bergen. Please fix the login 修复登录 in src/auth.py"),
    ("assistant", "Looking 看看"),
    ("user", "我喜欢绿茶。My sister Zoë told me at length about the trip to 青岛 that she is planning for the autumn."),
    ("assistant", "Noted 好的"),
    ("user", "I moved to Oslo."),
    ("user", "just kidding"),
    ("user", "From now on always write the tests first. 以后都先写测试，这一点对我们团队来说非常重要，请记住。"),
]
CALL = {"name": "edit_file", "input": {"path": "src/auth.py"}, "id": "c1"}
RESULT = {"tool_use_id": "c1", "content": "Error: 没有文件 no such file", "is_error": True}
TURNS = [
    {
        "role": role,
        "content": content,
        "said_at": (NOW - timedelta(hours=9) + timedelta(minutes=i)).isoformat(),
        "external_id": f"t{i}",
        **({"tool_calls": [CALL], "tool_results": [RESULT]} if i == 1 else {}),
    }
    for i, (role, content) in enumerate(SAID)
]
FLOWS: dict[str, Callable[[Memory], object]] = {
    "learn": lambda memory: memory.learn(everything=True),
    "relearn": lambda memory: memory.admin.relearn(),
    "compressing": lambda memory: memory.sessions.compressing([*TURNS[:4], {"role": "user", "content": "新的 new"}], session="s"),
    "end": lambda memory: memory.sessions.end("s", budget_s=60),
}
KINDS = {"full": FULL, "broken": BROKEN}
TRIED = 2  # operations of a flow, here; in the soak all of them


def opened(home: Path, url: str | None, *, hours: float = 0.0) -> Memory:
    """The home at a time, by a clock that goes on; with a model, where there is one at this address."""
    ticks = itertools.count()
    model = {"chat_url": url, "chat_model": "scripted", "chat_key": "k"} if url else {}
    clock: Callable[[], datetime] = lambda: NOW + timedelta(hours=hours, milliseconds=next(ticks))  # noqa: E731
    return Memory(home, owner="user:mei", clock=clock, search="words", **model)


def model_reply(asked: dict[str, Any]) -> Answer:
    """What the model says: of a session its story, of a piece of it what each long turn of the user's says of whom."""
    text = asked["messages"][-1]["content"]
    if '"summary"' in json.dumps(asked["messages"]) or "summary" in json.dumps(asked.get("response_format", {})):
        story = {"summary": "Mei 修复登录 and talked of tea.", "outcome": "partial", "open_questions": ["谁来测试？"]}
        return says(json.dumps(story, ensure_ascii=False))
    found = re.search(r"My sister Zoë told me at length about the trip to 青岛", text)
    items = (
        [{"type": "event", "content": "Zoë is planning a trip to 青岛.", "evidence": found[0], "importance": 0.6}] if found else []
    )
    return says(json.dumps(items, ensure_ascii=False))


@pytest.fixture(scope="module")
def model() -> Iterator[Server]:
    with serving() as server:
        server.always = model_reply
        yield server


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which all of it was said, and nothing was learned."""
    home = tmp_path_factory.mktemp("learning") / "home"
    prepared(home)
    return home


def prepared(home: Path) -> None:
    with opened(home, None) as memory:
        memory.record(TURNS, session="s")


def state(home: Path) -> list[object]:
    """All that came of it, without what differs from run to run: ids, times of the clock, how often something was tried."""
    connection = apsw.Connection(str(home / "yiku.db"), flags=apsw.SQLITE_OPEN_READWRITE)
    said = "(select content from conversation_turns t where t.id = {})"
    queries = (
        "select content, role, position, external_id from conversation_turns",
        "select m.content, m.state, m.kind, m.standing, m.method, m.slot, m.origin, s.content,"
        f" (select group_concat({said.format('x.turn')}) from memory_sources x where x.memory_n = m.n)"
        " from memories m left join memories s on s.id = m.superseded_by",
        f"select session, source, summary, goal, outcome, method, tools_used, {said.format('first_turn')}, {said.format('last_turn')}"
        " from episodes",
        "select current_focus, open_questions, next_steps, (select group_concat(json_extract(value, '$.text')) from json_each(recent))"
        " from scratchpad",
        f"select filename, local_path, direction, {said.format('turn')} from attachments",
        "select t.content, w.compressed_at is not null from turn_work w join conversation_turns t on t.n = w.turn_n",
        "select kind, session, turn_n, state from extraction_queue",
        "select upto from learned",
        "select id, closed_at is not null from session_state",
        "select substr(key, 1, 8) from receipts",
    )
    try:
        return [sorted(map(tuple, connection.execute(query)), key=repr) for query in queries]
    finally:
        connection.close()


def completed(home: Path, name: str, url: str | None) -> list[object]:
    """The home in which the call was made once more, at once, and learning came to its end; it is whole."""
    with opened(home, url) as memory:
        FLOWS[name](memory)
        left = memory.learn(everything=True)
        assert (0, 0) == (left.waiting, left.dead)
    check(home / "yiku.db")
    return state(home)


@cache
def wanted(template: Path, name: str, url: str | None) -> list[object]:
    """What it comes to when nothing goes wrong, and again when it is done again."""
    home = Path(shutil.copytree(template, template.with_name(f"wanted {name}")))
    with opened(home, url) as memory:
        FLOWS[name](memory)
    first = completed(home, name, url)
    assert first == completed(home, name, url)
    shutil.rmtree(home)
    return first


# ------------------------------------------------------------------ the disk


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # SQLite may fail again while it cleans up
@pytest.mark.parametrize("name", FLOWS)
@pytest.mark.long
def test_what_a_failing_disk_cut_short_is_done_by_the_next_call(tmp_path, template, model, name, some):
    """A failed operation: a typed error or none where it did not matter, and nothing half-learned."""
    failed_flows(tmp_path, template, model.url, name, lambda every: some(every, TRIED))


def failed_flows(folder: Path, template: Path, url: str, name: str, choose: Callable[[Any], Any]) -> int:
    """Fail operations of a flow, each in a home of its own; how many it has."""
    whole, every, home = wanted(template, name, url), counted(template, name, url), folder / "home"
    for n, kind in choose([(n, kind) for n in range(1, every + 1) for kind in KINDS]):
        shutil.copytree(template, home)
        with failing(folder) as disk:
            disk.arm(n, KINDS[kind])
            try:
                with opened(home, url) as memory:
                    FLOWS[name](memory)
            except StoreError:
                pass
            disk.disarm()
        assert whole == completed(home, name, url), f"after a failed {disk.fired} (operation {n}, {kind})"
        shutil.rmtree(home)
    return every


@cache
def counted(template: Path, name: str, url: str) -> int:
    """How many operations on the disk a flow has."""
    home = Path(shutil.copytree(template, template.with_name(f"counted {name}")))
    with failing(home.parent) as disk:
        disk.arm(0, None)
        with opened(home, url) as memory:
            FLOWS[name](memory)
    shutil.rmtree(home)
    return len(disk.seen)


# ------------------------------------------------------------------ kills


@pytest.mark.parametrize("name", FLOWS)
@pytest.mark.long
def test_what_a_kill_cut_short_is_done_by_the_next_call(tmp_path, template, model, name, some):
    """Killed before an operation on the disk: what was acknowledged is there, the rest comes with the next call."""
    killed_flows(tmp_path, template, model.url, name, lambda every: some(every, TRIED))


def killed_flows(folder: Path, template: Path, url: str, name: str, choose: Callable[[Any], Any]) -> int:
    """Kill a process at operations of a flow, each in a home of its own; how many there are."""
    whole, every, home = wanted(template, name, url), counted(template, name, url), folder / "home"
    for n in choose(range(1, every + 1)):
        shutil.copytree(template, home)
        child = READY.Process(target=_until_killed, args=(home, url, name, n))
        child.start()
        child.join()
        assert whole == completed(home, name, url), f"killed before operation {n}"
        shutil.rmtree(home)
    return every


def _until_killed(home: Path, url: str, name: str, n: int) -> None:
    with failing(home.parent) as disk:
        disk.arm(n, None)
        with opened(home, url) as memory:
            FLOWS[name](memory)


# ------------------------------------------------------------------ the model

FAULTS: dict[str, Callable[[], Answer]] = {
    "it is not there": lambda: error(503),
    "it hangs up in the middle": lambda: Answer(body=lambda _: {"choices": []}, cut_at=5),
    "it says no JSON": lambda: says("I cannot help with that. 我不知道"),
    "it says something else": lambda: says('{"answer": 42}'),
    "it says nothing": lambda: raw(b""),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.long
def test_what_a_model_failed_at_is_learned_when_it_answers(tmp_path, template, model, fault):
    """What the rules see is learned at once; what waits for the model stands in the queue, with why, and is learned later."""
    whole, home = wanted(template, "learn", model.url), Path(shutil.copytree(template, tmp_path / "home"))
    try:
        model.always = lambda asked: FAULTS[fault]()
        with opened(home, model.url) as memory:
            report = memory.learn()
            assert {"我喜欢绿茶。", "I live in Bergen."} <= {row.content for row in memory.get_all()}
            assert report.waiting > 0 and report.troubles
            assert any(job.error for job in memory.admin.queue())
    finally:
        model.always = model_reply
    assert whole == completed(home, "learn", model.url)


def test_a_job_that_failed_for_good_waits_until_it_is_asked_for(tmp_path, template, model):
    """After three tries it is dead, is shown with its error, is not asked again by itself, and is by `everything`."""
    home = Path(shutil.copytree(template, tmp_path / "home"))
    try:
        model.always = lambda asked: says("no")
        for day in range(4):
            with opened(home, model.url, hours=24.0 * day) as memory:
                report = memory.learn()
        asked = len(model.asked)
        with opened(home, model.url, hours=24.0 * 9) as memory:
            assert (0, report.dead) == (memory.learn().jobs, len(memory.admin.queue(dead=True)))
            assert report.dead > 0 and all(job.error for job in memory.admin.queue(dead=True))
        assert asked == len(model.asked)
    finally:
        model.always = model_reply
    with opened(home, model.url, hours=24.0 * 10) as memory:
        assert (0, 0) == ((report := memory.learn(everything=True)).dead, report.waiting)
        assert any("青岛" in row.content for row in memory.get_all(where={"state": {"in": ["active", "candidate"]}}))


def test_what_is_taken_back_was_known_before_that(tmp_path):
    """A process died before it had learned `I moved to Oslo`: the `just kidding` after it hits that, and not what stands before."""
    with opened(tmp_path / "home", None) as memory:
        memory.record_turn("user", "I live in Bergen.", session="s")
        memory.record([{"role": "user", "content": "I moved to Oslo.", "session": "s"}])  # recorded, and no more
        memory.record_turn("user", "我开玩笑的", session="s")
        assert ["I live in Bergen."] == [row.content for row in memory.get_all()]
        memory.learn()
        assert ["I live in Bergen."] == [row.content for row in memory.get_all()]
