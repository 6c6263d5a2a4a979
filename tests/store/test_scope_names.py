"""Encoding scope names: any id as plain ASCII, reversible, no two equal."""

import re
from io import BytesIO

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yiku import Memory
from yiku.errors import InvalidScope
from yiku.interfaces.importers import yiku_jsonl
from yiku.rules.privacy import scopes
from yiku.store import scope_names

IDS = [
    "auth0|Ab12",
    "T02/U7",
    "ann@example.com",
    "张伟",
    "google-oauth2|1038",
    "user_2Nf",
    "CORP\\ann",
    "+4790000000",
    "@ann:matrix.org",
]
ANY = st.one_of(
    st.text(max_size=140), st.text("aA9.%/|_ é张0", max_size=6), st.sampled_from(["%41", "a%41", "A", "a%2541", "%", "aA"])
)


@settings(max_examples=400, deadline=None)
@given(ANY, ANY)
def test_two_names_never_have_one_writing(first, second):
    """Whatever is allowed is written in one way, read back from it, and like nothing else, whatever case a comparison ignores."""
    for name in (first, second):
        if scopes.is_valid(name):
            assert re.fullmatch(r"[a-z0-9._:@%-]+", scope_names.encode(name))
            assert name == scope_names.decode(scope_names.encode(name))
            assert scope_names.encode(name).lower() == scope_names.encode(name)
    if scopes.is_valid(first) and scopes.is_valid(second):
        assert (first == second) is (scope_names.encode(first).casefold() == scope_names.encode(second).casefold())


@settings(max_examples=200, deadline=None)
@given(st.from_regex(r"[a-z0-9][a-z0-9._:@-]{0,127}", fullmatch=True))
def test_a_name_of_an_older_home_is_written_as_it_was(name):
    """What was a scope before these ids were taken is the same scope now."""
    assert scopes.is_valid(name)
    assert name == scope_names.encode(name) == scope_names.decode(name)


def test_each_id_sees_its_own_words_under_its_own_name(home):
    """Ids that differ in one capital are two people; answers, status and exports have them as they were given."""
    for id in [*IDS, "auth0|ab12", "auth0%7c%41b12"]:
        with Memory(home, scope=id) as memory:
            memory.remember(f"Tea 茶 is for {id}")
    for id in [*IDS, "auth0|ab12", "auth0%7c%41b12"]:
        with Memory(home, scope=id) as memory:
            (hit,) = memory.recall("tea 茶")
            assert f"Tea 茶 is for {id}" == hit.text
            assert id == memory.scope == hit.item.scope == memory.status().scope == memory.status().reads[0]
            assert (id,) == memory.admin.export(BytesIO()).scopes
    stored = [name for (name,) in apsw.Connection(str(home / "yiku.db")).execute("select name from scopes")]
    assert {"auth0%7c%41b12", "%e5%bc%a0%e4%bc%9f", "ann@example.com"} < {*stored}
    assert all(map(str.isascii, stored))


@pytest.mark.parametrize("id", ["张伟", "T02/U7"])
def test_an_export_comes_back_under_its_name(home, tmp_path, id):
    """Another home has the same scope then."""
    with Memory(home, scope=id) as memory:
        memory.remember("我住在奥斯陆。")
        memory.admin.export(tmp_path / "x.jsonl")
    with Memory(tmp_path / "other", scope=id) as memory:
        memory.admin.import_(yiku_jsonl.read(tmp_path / "x.jsonl"), source="yiku", trust=True)
        assert [id] == [item.scope for item in memory.get_all()]


@pytest.mark.parametrize("id", ["Public", "ann ", "рaul", "an\u200bn", "e\u0301a", "*", "a,b", 'a"b'])
def test_what_cannot_be_told_from_another_is_refused(home, id):
    """Other writings of `public`, blanks, two alphabets in one word, second writings of a character, wildcards."""
    with pytest.raises(InvalidScope):
        Memory(home, scope=id)
