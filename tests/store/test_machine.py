"""Random histories of a home against a simple model; longer ones in the soak."""

from hypothesis import HealthCheck, settings
from store.machine import MemoryMachine

TestShortHistories = MemoryMachine.TestCase
TestShortHistories.settings = settings(
    max_examples=12, stateful_step_count=20, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
