"""R26: long random histories of two scopes, reopened again and again, against a simple model."""

from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from store.machine import MemoryMachine


def test_R26_a_random_history_is_what_a_simple_model_says(request, count):
    """Record, remember, update, forget, restore, undo, reopen, look back: at each moment each scope shows just what it should."""
    drawn = request.getfixturevalue("seed")
    long = settings(
        max_examples=count(20, 2_000, "histories"),
        stateful_step_count=count(40, 100, "steps each"),
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(seed(drawn)(MemoryMachine), settings=long)
