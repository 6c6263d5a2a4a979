"""The store's public face, store/api.py and its groups: all verbs are listed, and few."""

import inspect
import re

import pytest

from yiku.store import api
from yiku.store.erasures import SqliteErasures
from yiku.store.learning import SqliteLearning
from yiku.store.nights import SqliteNights
from yiku.store.notes import SqliteNotes
from yiku.store.upkeep import SqliteUpkeep

AT_MOST = 25
FACES = {
    "Store": api.Store,
    "Store.learning": api.Learning,
    "Store.notes": api.Notes,
    "Store.nights": api.Nights,
    "Store.erasures": api.Erasures,
    "Store.upkeep": api.Upkeep,
    "Vectors": api.Vectors,
    "IdentityFile": api.IdentityFile,
    "Reserve": api.Reserve,
}


def verbs(face: type) -> list[str]:
    """What somebody may call on it, in alphabetical order."""
    return sorted(name for name, _ in inspect.getmembers(face, inspect.isfunction) if not name.startswith("_"))


def listed_verbs(face: str) -> list[str]:
    """The verbs that the table names for a face."""
    (row,) = re.findall(rf"^    {re.escape(face)} +\| (.+(?:\n +\| .+)*)", api.__doc__, re.MULTILINE)
    return sorted(re.findall(r"\w+", row.rpartition(":")[2]))


@pytest.mark.parametrize("face", FACES)
def test_a_face_has_few_verbs_and_the_table_names_them(face):
    """What a flow can ask of one object fits into one head, and is listed at the top of the module that it imports."""
    found = verbs(FACES[face])

    assert 0 < len(found) <= AT_MOST
    assert found == listed_verbs(face)


@pytest.mark.parametrize(("face", "module"), [("this module", api), ("offline", api.offline)])
def test_a_module_hands_on_few_names_and_the_table_names_them(face, module):
    """The same of what a flow imports."""
    assert len(module.__all__) <= AT_MOST
    assert sorted(module.__all__) == listed_verbs(face)
    assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize(
    ("promised", "made"),
    [
        (api.Store, api.SqliteStore),
        (api.Learning, SqliteLearning),
        (api.Notes, SqliteNotes),
        (api.Nights, SqliteNights),
        (api.Erasures, SqliteErasures),
        (api.Upkeep, SqliteUpkeep),
    ],
)
def test_the_store_has_what_its_protocol_promises_and_nothing_beside(promised, made):
    """No flow can lean on a verb of one store that another would lack."""
    assert verbs(promised) == verbs(made)
