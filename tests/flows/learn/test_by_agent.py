"""Learning by the agent: it receives turns, and its statements are checked as a model's are."""

import threading

import pytest

from yiku import Memory
from yiku.errors import InvalidInput, NotFound
from yiku.store.api import one_at_a_time
from yiku.types import State

TALK = "We went over the plans for the lighthouse museum for hours, and the board settled on granite for the stairs."
SETTLED = "the lighthouse museum for hours, and the board settled on granite for the stairs"
GRANITE = "The stairs of the lighthouse museum are of granite."
CHINESE = "今天和董事会讨论了灯塔博物馆的方案，最后决定楼梯用花岗岩，预算是三百万。"


def found(content, evidence, **more):
    return {"type": "fact", "content": content, "evidence": evidence, **more}


def states(memory):
    """What an agent's words made of memory."""
    rows = memory.get_all(where={"state": {"in": ["active", "candidate"]}})
    return {row.content: row.state for row in rows if row.method == "agent"}


def test_a_piece_is_handed_out_and_learned_from(memory):
    """The turns come fenced, with instructions and a schema; what stands in the user's words is theirs, the rest is left out."""
    memory.record_turn("user", TALK, session="s")
    piece = memory.agent.excerpt()
    report = memory.agent.learned(
        piece.id,
        [
            found(GRANITE, SETTLED),
            found("Mei lives in Oslo.", "I live in Oslo"),
        ],
    )

    assert (True, True) == (piece.text.startswith("<yiku-memory seal="), TALK in piece.text)
    assert {GRANITE: State.ACTIVE} == states(memory)
    assert (1, 1) == (report.jobs, len(report.troubles))
    assert None is memory.agent.excerpt()


@pytest.mark.parametrize("said", [TALK, CHINESE])
def test_what_somebody_else_is_reading_is_waited_for(memory, home, said):
    """An agent that asks while another process learns is not told that nothing waits."""
    memory.record_turn("user", said, session="s")
    begun, over = threading.Event(), threading.Event()

    def learns():
        with one_at_a_time(home / "locks" / "learner.lock", "learning"):
            begun.set()
            over.wait(0.3)

    learner = threading.Thread(target=learns)
    learner.start()
    begun.wait()
    piece = memory.agent.excerpt()
    over.set()
    learner.join()

    assert piece is not None and said in piece.text


def test_a_chinese_piece_is_asked_about_in_chinese(memory):
    """The instructions are in the language of the turns."""
    memory.record_turn("user", CHINESE, session="s")
    piece = memory.agent.excerpt()
    memory.agent.learned(
        piece.id, [found("灯塔博物馆的楼梯用花岗岩。", "今天和董事会讨论了灯塔博物馆的方案，最后决定楼梯用花岗岩")]
    )

    assert "值得" in piece.instructions
    assert {"灯塔博物馆的楼梯用花岗岩。": State.ACTIVE} == states(memory)


def test_what_only_the_assistant_said_waits(memory):
    """A statement that rests on a reply is a candidate."""
    memory.record_turn("user", TALK, session="s")
    memory.record_turn("assistant", "The stairs of the museum will need forty tons of granite from Larvik.", session="s")
    piece = memory.agent.excerpt()
    memory.agent.learned(
        piece.id,
        [
            found(
                "The stairs of the museum need forty tons of granite.",
                "The stairs of the museum will need forty tons of granite",
                type="fact",
            )
        ],
    )

    assert {"The stairs of the museum need forty tons of granite.": State.CANDIDATE} == states(memory)


def test_two_agents_do_not_read_the_same_piece(memory, home, clock):
    """A piece that is out is not handed out again until its time is over; then the older answer is refused."""
    memory.record_turn("user", TALK, session="s")
    first = memory.agent.excerpt()
    with Memory(home, clock=clock) as other:
        assert None is other.agent.excerpt()
        clock.advance(minutes=11)
        second = other.agent.excerpt()

    with pytest.raises(NotFound):
        memory.agent.learned(first.id, [])
    assert 1 == memory.agent.learned(second.id, []).jobs
    with pytest.raises(NotFound):
        memory.agent.learned(second.id, [])


@pytest.mark.parametrize(
    "statements", [[{"type": "fact"}], [{"content": 1}], "text", [[]], [{"type": "secret", "content": "x y", "evidence": "x"}]]
)
def test_statements_of_another_shape_are_refused(memory, statements):
    """The schema holds, and the piece still waits."""
    memory.record_turn("user", TALK, session="s")
    piece = memory.agent.excerpt()
    with pytest.raises(InvalidInput, match="statements"):
        memory.agent.learned(piece.id, statements)

    assert {} == states(memory)
    assert 1 == memory.agent.learned(piece.id, []).jobs


@pytest.mark.parametrize("id", ["1-1", "0-0", "x", "1-99", "99-1", "' or 1=1--"])
def test_an_excerpt_that_nobody_has_is_not_found(memory, id):
    """A guessed id is not found, and changes nothing."""
    memory.record_turn("user", TALK, session="s")

    with pytest.raises(NotFound):
        memory.agent.learned(id, [])
    assert memory.agent.excerpt() is not None


def test_an_erased_turn_is_not_handed_out(memory):
    """What was erased while it waited or was out is gone: nothing of it is kept."""
    turn = memory.record_turn("user", TALK, session="s")
    piece = memory.agent.excerpt()
    memory.admin.erase(turn.id)

    with pytest.raises(NotFound):
        memory.agent.learned(piece.id, [found(GRANITE, SETTLED)])
    assert (None, {}) == (memory.agent.excerpt(), states(memory))


def test_an_answer_that_was_stored_is_not_asked_for_again(memory, monkeypatch):
    """A process that dies between the answer and its judgement has lost nothing: the next call judges it."""
    from yiku.flows.learn import by_agent

    memory.record_turn("user", TALK, session="s")
    piece = memory.agent.excerpt()
    with monkeypatch.context() as patch:
        patch.setattr(by_agent, "_finish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            memory.agent.learned(
                piece.id,
                [found(GRANITE, SETTLED)],
            )
    memory._handle.clock.advance(minutes=11)

    assert None is memory.agent.excerpt()
    assert {GRANITE: State.ACTIVE} == states(memory)


def test_turns_are_offered_once(memory):
    """What was said later is offered, and what was read is not, with many turns as with few."""
    for number in range(5):
        memory.record_turn("user", f"{TALK} Item {number} is about the north wing of the house.", session=f"s{number}")
    seen = []
    while (piece := memory.agent.excerpt()) is not None:
        seen.append(piece.text)
        memory.agent.learned(piece.id, [])
    memory.record_turn("user", TALK, session="later")

    assert (5, 5) == (len(seen), len({*seen}))
    assert memory.agent.excerpt() is not None
