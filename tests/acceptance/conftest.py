"""Put bench/ on the import path: these tests take their cases from benchmark scripts."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
