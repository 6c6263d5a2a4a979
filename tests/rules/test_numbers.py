"""Set operations on row numbers, compared with numpy's own."""

import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from yiku.rules.finding import numbers

lists = st.lists(st.integers(-50, 50), max_size=40).map(lambda given: np.array(given, np.int64))


@given(lists, lists)
def test_numbers_are_what_numpy_says(some, others):
    """Each number once with its first place, the way back, and which stand among others."""
    every, first, places = numbers.distinct(some)
    expected = np.unique(some, return_index=True, return_inverse=True)

    assert [each.tolist() for each in expected] == [each.tolist() for each in (every, first, places)]
    assert np.isin(some, others).tolist() == numbers.among(some, others).tolist()


def test_a_question_imports_no_masked_arrays(tmp_path):
    """They take as long to import as a question to answer."""
    code = """
import sys
from yiku import Memory
with Memory(sys.argv[1], search="words") as memory:
    memory.record_turn("user", "I parked the bike at 地铁站.")
    print(len(memory.recall("bike 地铁站")) > 0, "numpy.ma" in sys.modules)
"""
    found = subprocess.run([sys.executable, "-c", code, str(tmp_path / "home")], check=True, capture_output=True, text=True)
    assert "True False" == found.stdout.strip()
