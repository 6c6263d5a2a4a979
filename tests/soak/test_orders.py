"""R25: 200 random recording orders of every history give the same memory."""

import os
from pathlib import Path

import pytest
from integrity import check
from store.orders import SETS, demo, orders, stored_in_order

import yiku

HISTORIES = ["the demonstration", *SETS]


def material() -> Path:
    """Where the demonstration's conversation lies: in the package, or where YIKU_DEMO says."""
    given = os.environ.get("YIKU_DEMO")
    return Path(given) if given else next(Path(yiku.__file__).parent.rglob("remember.jsonl")).parent


@pytest.mark.parametrize("name", HISTORIES)
def test_R25_200_orders_of_telling_leave_the_same_memory(tmp_path, name, seed, count):
    """Whatever was recorded first, the same statements are live and the same chains lead to them."""
    statements = demo(material()) if name == HISTORIES[0] else SETS[name]
    short = 200 if name == HISTORIES[0] else 20
    wanted = stored_in_order(tmp_path / "said", statements, range(len(statements)))

    for i, order in enumerate(orders(len(statements), count(short, 2_000, "orders"), seed)):
        assert wanted == stored_in_order(tmp_path / f"{i}", statements, order), f"told in the order {order}"
        if i % 20 == 0:
            check(tmp_path / f"{i}" / "yiku.db")
