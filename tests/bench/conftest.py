"""The benchmarks are scripts that import each other by name, as they do when one of them is run."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
