"""Random histories against a simple model; the soak runs longer ones."""

from hypothesis import HealthCheck, settings
from store.machine import MemoryMachine

TestShortHistories = MemoryMachine.TestCase
TestShortHistories.settings = settings(
    max_examples=12, stateful_step_count=20, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
