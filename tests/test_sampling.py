"""The seed of random tests: the same for one state of the code, another for each other."""

import shutil
from pathlib import Path

import sampling

ROOT = Path(__file__).parents[1]


def test_a_copy_draws_the_same_and_each_change_draws_others(tmp_path):
    here = tmp_path / "elsewhere"
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, here / folder, ignore=shutil.ignore_patterns("__pycache__", "*.npz"))

    assert sampling.seed_of(ROOT) == sampling.seed_of(here)

    (here / "README.md").write_text("说明", encoding="utf-8")
    assert sampling.seed_of(ROOT) == sampling.seed_of(here)

    for folder in ("src", "tests"):
        before = sampling.seed_of(here)
        (here / folder / "added.py").write_text("# 改了\n", encoding="utf-8")
        assert before != sampling.seed_of(here)
