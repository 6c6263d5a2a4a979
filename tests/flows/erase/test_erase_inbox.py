"""Erasing captured events in the inbox: recorded first if possible, else cut out of the waiting lines."""

import json

import canaries
import pytest
from hooking import capture, captured

from yiku import Memory
from yiku.files import inbox, inbox_append
from yiku.files.vault import Home


@pytest.fixture
def memory(home):
    """With the clock of the machine, by which hooks tell the time."""
    with Memory(home, owner="user:mei") as memory:
        yield memory


SAID, KEPT = "My watchword is gzhkxqvbtnm. 暗号是郁金香。", "The pump hums at night. 水泵夜里嗡嗡响。"


def test_what_waits_is_recorded_first(memory, home):
    """The evidence in a prompt that no process had recorded yet goes like that of any turn; the rest of it stays."""
    statement = memory.remember("My watchword is gzhkxqvbtnm.").memory
    capture(home, "prompt", prompt=f"{KEPT} My watchword is gzhkxqvbtnm. Bye.")
    erased = memory.admin.erase(statement.id)

    assert erased.clean and [] == canaries.sung(home, ["gzhkxqvbtnm"])
    (turn,) = (item for item in memory.timeline() if hasattr(item, "role"))
    assert KEPT in turn.content and "Bye." in turn.content


@pytest.mark.parametrize("escaped", [False, True])
def test_while_memory_is_paused_it_is_cut_out_of_what_waits(memory, home, escaped):
    """The lines stay where they are, without the sentence, and are recorded later; written with escapes, too."""
    statement = memory.remember("暗号是郁金香。" if escaped else "My watchword is gzhkxqvbtnm.").memory
    capture(home, "prompt", prompt=f"{KEPT} {statement.content} Bye.")
    capture(home, "prompt", prompt="Nothing of that.")
    inbox.set_aside(Home(home), f'{{"torn": "{statement.content}'.encode())
    memory.admin.pause()
    erased = memory.admin.erase(statement.id)
    memory.admin.resume()

    assert erased.clean, [place for place in erased.places if place.found]
    assert [] == canaries.sung(home, ["gzhkxqvbtnm"]) and "郁金香".encode() not in b"".join(
        path.read_bytes() for path in inbox.every_file(Home(home))
    )
    assert 2 == memory.admin.ingest().turns
    first, second = (turn["content"] for turn in memory.sessions.messages("s1").messages)
    assert KEPT in first and "Bye." in first and statement.content not in first
    assert "Nothing of that." == second


@pytest.mark.parametrize("levels", [30, 600, 5_000])
def test_it_is_cut_out_of_a_waiting_call_however_deeply_that_is_nested(memory, home, levels):
    """Written with escapes, too: what is too deep to be read is looked at as a text."""
    statement = memory.remember("暗号是郁金香。").memory
    deep = "[" * levels + json.dumps(statement.content) + "]" * levels
    payload = f'{{"session_id": "s1", "tool_name": "Bash", "tool_input": {deep}, "tool_response": "done"}}'
    memory.admin.pause()
    inbox_append.append(str(home), payload.encode(), hook="tool", agent="claude-code")
    erased = memory.admin.erase(statement.id)
    memory.admin.resume()
    memory.admin.ingest()

    assert erased.clean, [place for place in erased.places if place.found]
    assert not any(word in str(turn) for turn in memory.search_traces() for word in ("郁金香", "u90c1"))


def test_a_whole_scope_takes_its_events_along(home):
    """What waits for it goes; what waits for another scope stays."""
    with Memory(home, owner="user:mei") as memory:
        memory.remember("I live in Oslo.")
        memory.admin.pause()
        capture(home, "prompt", prompt=SAID)
        inbox_file = Home(home).inbox / inbox.name("team:atlas")
        inbox_file.write_bytes(captured(home)[0].raw)
        memory.admin.erase(everything=True, confirm="user:mei")
        memory.admin.resume()

        assert [inbox_file] == inbox.every_file(Home(home))


def test_a_session_takes_its_events_along(memory, home):
    """Events of the session that still wait are gone, those of others are recorded."""
    capture(home, "prompt", prompt="Tea at five.", session="gone")
    memory.admin.ingest()
    memory.admin.pause()
    capture(home, "prompt", prompt="And cake.", session="gone")
    capture(home, "prompt", prompt="And boats.", session="other")
    memory.admin.erase(session="gone")
    memory.admin.resume()
    memory.admin.ingest()

    assert ["And boats."] == [item.content for item in memory.timeline() if hasattr(item, "role")]
