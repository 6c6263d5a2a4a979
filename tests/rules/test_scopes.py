"""Scope names: one spelling each."""

import pytest

from yiku.rules import scopes

HOSTILE = [
    "", " ", "a ", " a", "A", "Ａ", "а", "a\0", "a\n", "../a", "a/b", "*", "a%", "a'b", 'a"', "a;b", "a b", "é", "e\u0301", "a\u200b",
    "用户", "user：mei", ".a", "-a", ":a", "@a", "a" * 129, "ﬁ", "ａ", "a\u202e", "\ufeffa", "a\\", "a|b", "a,b", "a\t", "\U0001f600",
]  # fmt: skip


@pytest.mark.spec("S1-53", "T-20")
@pytest.mark.parametrize("name", [*HOSTILE, None, 7, b"a", ["a"], True])
def test_what_could_be_taken_for_another_name_is_none(name: object) -> None:
    """Empty, padded, other case, other width, look-alikes, wildcards, paths, controls: refused."""
    assert not scopes.allowed(name)


@pytest.mark.parametrize("name", ["a", "user:mei", "public", "team.a-b_c@x", "0", "a" * 128])
def test_the_grammar_lets_these_through(name: str) -> None:
    """Lower-case ASCII, digits and five signs, up to 128."""
    assert scopes.allowed(name)


@pytest.mark.parametrize(
    ("login", "expected"), [("mei", "mei"), ("Mei Lin", "mei-lin"), ("梅", ""), ("..x", "x"), ("DOMAIN\\mei", "domain-mei")]
)
def test_a_login_becomes_a_name_that_is_allowed(login: str, expected: str) -> None:
    """Or nothing, when nothing of it is ASCII."""
    assert expected == scopes.folded(login)
