"""
R11: a damaged home is read, checked and repaired: no crash, no false answer.

The ways and the questions lie in faults.damage. Here some ways are done, other ones in each run, to a small
home with a backup; the soak does all of them.
"""

from pathlib import Path
from random import Random

import pytest
from faults.damage import (
    BESIDE,
    HARMLESS,
    PAGE,
    UNSEEN,
    WAYS,
    WAYS_OF_A_WAL,
    Sound,
    answers,
    asked,
    copied,
    made,
    opened,
    silent,
    sound,
    write,
)
from integrity import check as whole
from sampling import drawn_for

import yiku
from yiku.types import Attachment, Checked, Episode, Repaired

ALWAYS = ["a bit in a turn", "a bit in a memory"]
DONE = list(dict.fromkeys([*ALWAYS, *drawn_for("damage")([*WAYS, *WAYS_OF_A_WAL], 3)]))
MENDED = drawn_for("mended")(DONE, 2)  # it is the dearest part
SERVED = 0.9  # of all answers, when one page of turns or memories is damaged


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    return sound(tmp_path_factory.mktemp("sound"), rows=20)


@pytest.fixture(scope="module")
def damaged(homes: Sound, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, dict[str, str] | str]]:
    """One home a way, with what it answered."""
    folder = tmp_path_factory.mktemp("damaged")
    made_homes = {way: made(way, homes, folder / way, Random(way)) for way in DONE}
    return dict(zip(made_homes, zip(made_homes.values(), asked([*made_homes.values()], homes.ids), strict=True), strict=True))


@pytest.mark.parametrize("way", DONE)
@pytest.mark.long
def test_R11_damage_is_named_and_the_rest_is_served(homes, damaged, way):
    """No answer is wrong or missing without a word, nothing hangs or dies, `check` finds it, and `repair` (of some) makes it whole."""
    (home, found), right = damaged[way], right_answers(homes, way)

    assert isinstance(found, dict), f"{way}: {found}"
    if way not in UNSEEN:
        assert [] == silent(found, right)
    if way in ALWAYS:
        assert SERVED < sum(found.get(question) == answer for question, answer in right.items()) / len(right)
    found_and_mended(home, way, mend=way in MENDED)


def right_answers(homes: Sound, way: str) -> dict[str, str]:
    return homes.answers_wal if way in WAYS_OF_A_WAL else homes.answers


def found_and_mended(home: Path, way: str, *, mend: bool = True) -> tuple[Checked, Repaired | None]:
    """What `check` says of a damaged home; and after `repair` it says nothing more, and the old file is kept."""
    checked = yiku.check(home, "deep")
    if way in HARMLESS:
        assert not checked.problems
        return checked, None
    assert checked.problems, f"{way} was not found"
    if way in BESIDE or not mend:
        return checked, None
    repaired = yiku.repair(home)
    assert () == yiku.check(home, "deep").problems
    whole(home / "yiku.db")
    assert (repaired.kept is None) == (way in ("a bit in store.id", "store.id lost"))
    assert [] == [path for path in home.rglob(".*") if path.is_file() and path != home / ".gitignore"]
    return checked, repaired


@pytest.mark.parametrize("table", ["episodes", "attachments"])
@pytest.mark.long
def test_R11_what_grew_out_of_damaged_sessions_takes_no_answer_with_it(homes, tmp_path, table):
    """Turns and statements are found as before, a line says what is missing and how to mend it, and that mends it."""
    home = copied(homes.rest, tmp_path / "home")
    for page in homes.holds[table]:
        write(home / "yiku.db", page * PAGE - 100, b"?")
    asked_for = "Where is the file 码/5.md? 文件 5"
    with opened(homes.rest) as memory:
        right = {hit.id for hit in memory.recall(asked_for, limit=50) if not isinstance(hit.item, Episode | Attachment)}

    with opened(home) as memory:
        found = memory.recall(asked_for, limit=50)

    assert right <= {hit.id for hit in found}
    assert [table] == [line.split()[0] for line in found.diagnostics if "yiku repair" in line]
    found_and_mended(home, table)
    with opened(home) as memory:
        assert () == memory.recall(asked_for).diagnostics


def test_R11_a_wrong_answer_would_be_noticed(homes):
    """The questions find nothing wrong in a sound home; and they notice one answer that is another, or missing."""
    (found,) = asked([homes.rest], homes.ids)

    assert homes.answers == found and [] == silent(found, homes.answers)
    assert ["list"] == silent({**found, "list": "[]"}, homes.answers)
    assert [f"get {homes.ids[0]}"] == silent({**found, f"get {homes.ids[0]}": "! NotFound: id x"}, homes.answers)


@pytest.mark.long
def test_R11_what_is_mended_answers_as_before(homes, tmp_path):
    """A bit in one memory: after the repair every answer is there again, from the file and its backup together."""
    home = made("a bit in a memory", homes, tmp_path / "home", Random(5))
    repaired = yiku.repair(home)
    again = answers(home, homes.ids)

    assert set(repaired.rows["memories"]) == {"the file"} or not repaired.lost
    wrong = [question for question, answer in homes.answers.items() if again[question] != answer and question != "journal"]
    lost = [what.split()[-1] for what in repaired.lost]  # whoever speaks of one of them answers otherwise, too
    assert [] == [q for q in wrong if q.startswith("get ") and not any(id in q or id in homes.answers[q] for id in lost)]
