"""
Print the lowest version of each dependency that pyproject.toml allows, as pins: `python scripts/lowest_versions.py`

`make test-lowest` installs them and runs the tests, so a floor that is written down is one that passes.
"""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def pins(dependencies: list[str]) -> list[str]:
    """Each `name>=version` as `name==version`. Raises ValueError for one without a floor."""
    found = []
    for line in dependencies:
        floor = re.fullmatch(r"([\w-]+)>=([\w.]+)(,.*)?", line)
        if floor is None:
            raise ValueError(f"{line} has no lowest version")
        found.append(f"{floor[1]}=={floor[2]}")
    return found


if __name__ == "__main__":
    print(*pins(tomllib.loads(PROJECT.read_text("utf-8"))["project"]["dependencies"]), sep="\n")
