"""R23 with forged exports, R11 with invalid values in every column: long runs of the fast tests."""

import shutil
from random import Random

from flows.home.test_fuzzed_import import comes_in_or_is_named
from flows.home.test_fuzzed_import import lived as exported
from store.test_unreadable import CASES, lived, poisoned, took_verbs


def test_R23_no_export_breaks_a_home(tmp_path, seed, count):
    """Fields of any value under right checksums: each line comes in or is named, every verb works, the check finds nothing."""
    (tmp_path / "export").mkdir()
    chance, export = Random(seed), exported(tmp_path / "export")
    for i in range(count(60, 5_000, "forged exports")):
        folder = tmp_path / f"forged{i}"
        folder.mkdir()
        comes_in_or_is_named(export, folder, chance.randrange(2**32))
        shutil.rmtree(folder)


def test_R11_no_value_in_any_column_takes_a_verb_with_it(tmp_path, seed, count):
    """As an older Yiku may have taken it in: the row is named and left out, `check` and the verbs agree, a repair ends it."""
    home = lived(tmp_path / "sound")
    for i, case in enumerate(Random(seed).sample(CASES, min(len(CASES), count(60, 10_000, "unfit values")))):
        copy = shutil.copytree(home, tmp_path / f"home{i}")
        if poisoned(copy / "yiku.db", *case):
            took_verbs(copy, repr(case))
        shutil.rmtree(copy)
