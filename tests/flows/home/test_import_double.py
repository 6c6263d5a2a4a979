"""Two live statements with the same words in one operation of an import: one place, so one of them is archived."""

import uuid

import pytest

from yiku.types import OperationRecord, State

AT = "2026-02-14T10:00:00+00:00"


def line(content: str, **more: object) -> dict[str, object]:
    id = str(uuid.uuid5(uuid.NAMESPACE_URL, content + str(more)))
    times = dict.fromkeys(("said_at", "confirmed_at", "valid_from", "created_at", "updated_at"), AT)
    source = {"origin": "import", "said_at": AT, "recorded_at": AT}
    return {"type": "memory", "id": id, "line": id, "content": content, "sources": [source], **times, **more}


@pytest.mark.parametrize(("first", "second"), [("Ann prefers tea.", "ann prefers Tea"), ("安喜欢茶", "安喜欢茶。")])
def test_of_two_live_statements_with_the_same_words_the_first_is_live(memory, first, second):
    """The rest of the operation comes in with them, in one transaction, and again nothing changes."""
    lines = [line(first), line(second, importance=0.9), line("Tea is green. 茶"), line(second, state="archived")]
    header = {"at": AT, "operation": "import", "changes": len(lines)}
    record = OperationRecord(0, memory.scope, None, header, tuple(enumerate(lines)))

    done = memory.admin.import_([record], source="test", trust=True)
    states = [memory.get(str(each["id"])).state for each in lines]

    assert (4, ()) == (done.memories, done.problems)
    assert [State.ACTIVE, State.ARCHIVED, State.ACTIVE, State.ARCHIVED] == states
    assert 1 == len({row.transaction for row in memory.admin.journal(limit=100) if row.operation == "import"})
    assert 4 == memory.admin.import_([record], source="test", trust=True).known


def test_a_statement_that_the_operation_itself_retires_is_no_double(memory):
    """What is superseded by the last line of an operation leaves its place to another with its words."""
    old, new = line("Ann prefers tea. 茶", importance=0.1), line("Ann prefers tea. 茶", importance=0.2)
    gone = {"type": "update", "memory": old["id"], "before": {"state": "active"}, "after": {"state": "archived"}}
    lines = [old, gone, new]
    header = {"at": AT, "operation": "update", "changes": 3}

    done = memory.admin.import_(
        [OperationRecord(0, memory.scope, None, header, tuple(enumerate(lines)))], source="test", trust=True
    )

    assert () == done.problems
    assert [State.ARCHIVED, State.ACTIVE] == [memory.get(str(each["id"])).state for each in (old, new)]
