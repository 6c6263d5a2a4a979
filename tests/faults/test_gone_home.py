"""R24: the home is deleted, moved or replaced while a memory has it open."""

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from faults.test_failing_disk import opened
from faults.test_typed_errors import VERBS, template  # noqa: F401 - a fixture

from yiku import Memory
from yiku.errors import StoreError, StoreMismatch
from yiku.files.vault import Home

WITHOUT_A_DATABASE: dict[str, Callable[[Memory], Any]] = {
    "admin.check": lambda m: m.admin.check(),
    "admin.pause": lambda m: m.admin.pause(),
    "admin.resume": lambda m: m.admin.resume(),
    "admin.backups": lambda m: m.admin.backups(),
}
BY_ITSELF: dict[str, Callable[[Memory], Any]] = {  # without the hook before it, which may capture where no home is yet
    "admin.ingest": lambda m: m.admin.ingest(),
}


@pytest.mark.long
def test_every_verb_says_that_the_home_is_gone(template, tmp_path, some):  # noqa: F811 - the fixture
    """A deleted home is a typed error for reading and writing alike, and no verb makes a folder of it again."""
    for verb, call in some([*{**VERBS, **WITHOUT_A_DATABASE, **BY_ITSELF}.items()], 18):
        home = shutil.copytree(template, tmp_path / verb)
        with opened(home) as memory:
            memory.recall("Oslo 奥斯陆")  # what was read before is known, and no answer
            shutil.rmtree(home)
            with pytest.raises(StoreError) as raised:
                call(memory)

        assert str(home) in raised.value.detail, verb
        assert not home.exists(), verb


@pytest.mark.parametrize("became", ["deleted", "moved", "replaced"])
def test_no_answer_is_given_from_a_database_that_is_gone(tmp_path, became):
    """SQLite would go on reading the file that it has open; a memory says that it is not the home's any more."""
    home, other = tmp_path / "home", tmp_path / "other"
    for place, city in ((home, "Oslo"), (other, "Rome")):
        with Memory(place, owner="user:mei") as memory:
            memory.remember(f"I live in {city}.")
    with Memory(home) as memory:
        assert "Oslo" in memory.recall("where do I live?")[0].text
        if became == "deleted":
            shutil.rmtree(home)
        else:
            home.rename(tmp_path / "away")
        if became == "replaced":
            other.rename(home)
        for look in (lambda: memory.recall("where do I live?"), memory.get_all, memory.status, memory.admin.stats):
            with pytest.raises(StoreMismatch, match="replaced" if became == "replaced" else "deleted"):
                look()
    if became == "replaced":
        with Memory(home) as memory:
            assert "Rome" in memory.recall("where do I live?")[0].text


@pytest.mark.parametrize("first", [True, False])
def test_a_thread_that_comes_later_opens_no_other_database(tmp_path, first):
    """
    Another home's database was put in the place of ours: nothing is written to it, and `store.id` still tells of ours.

    first: the thread that was there before notices it first
    """
    home, other = tmp_path / "home", tmp_path / "other"
    for place, city in ((home, "Oslo"), (other, "Rome")):
        with Memory(place, owner="user:mei") as memory:
            memory.remember(f"I live in {city}. 我住在{city}。")
    mark = (home / "store.id").read_bytes()
    said: list[str] = []

    def in_a_thread(call: Callable[[], object]) -> None:
        def tried() -> None:
            try:
                call()
            except StoreMismatch as error:
                said.append(error.detail)

        thread = threading.Thread(target=tried)
        thread.start()
        thread.join()

    with Memory(home) as memory:
        assert "Oslo" in memory.recall("where do I live?")[0].text
        (home / "yiku.db").unlink()
        shutil.copy(other / "yiku.db", home / "yiku.db")
        held = (home / "yiku.db").read_bytes()
        if first:
            with pytest.raises(StoreMismatch, match="replaced"):
                memory.recall("where do I live?")
        in_a_thread(lambda: memory.recall("where do I live?"))
        in_a_thread(lambda: memory.remember("The chair is in the south room."))
    assert 2 == len(said) and all("was replaced" in detail for detail in said)
    assert (mark, held) == ((home / "store.id").read_bytes(), (home / "yiku.db").read_bytes())


def test_a_home_that_is_gone_is_closed_in_silence(tmp_path: Path):
    """To close a memory needs nothing of the home, and makes none."""
    memory = Memory(tmp_path / "home", owner="user:mei")
    memory.remember("我喜欢乌龙茶。")
    shutil.rmtree(tmp_path / "home")
    memory.close()

    assert not (tmp_path / "home").exists()


def test_a_home_that_another_makes_while_it_is_looked_at_is_not_taken_for_gone(tmp_path, monkeypatch):
    """Between two looks at its files, all of them come to be there: seen in the other order, the key would seem left over."""
    place, look, made = Home(tmp_path / "home"), os.path.lexists, []

    def looked(path: Any) -> bool:
        found = look(path)
        if not made:
            made.append(path)
            opened(place.root).close()
        return found

    monkeypatch.setattr(os.path, "lexists", looked)
    assert place.lost() is None
    assert made and place.exists()
