"""Recording order does not matter: any order gives the same memory; 200 orders in the soak."""

import pytest
import sampling
from integrity import check
from store.orders import SETS, orders, stored_in_order


@pytest.mark.spec("T-05", "T-11")
@pytest.mark.parametrize("name", sampling.drawn_for("orders")([*SETS], 5))  # in the soak all
def test_R25_any_order_of_telling_leaves_the_same_memory(tmp_path, name):
    """The live statements and the chains, by content and the times they held, do not depend on the order of recording."""
    statements = SETS[name]
    wanted = stored_in_order(tmp_path / "said", statements, range(len(statements)))

    for i, order in enumerate(orders(len(statements), 4, seed=sampling.SEED)):
        assert wanted == stored_in_order(tmp_path / f"{i}", statements, order), f"told in the order {order}"
        check(tmp_path / f"{i}" / "yiku.db")
