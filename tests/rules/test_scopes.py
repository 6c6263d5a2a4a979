"""Scope names: which are valid, and that no two ids become one."""

import string
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yiku.rules.privacy import scopes

HOSTILE = [
    "", " ", "a ", " a", "Ａ", "a\0", "a\n", "../a", "*", "a*", 'a"', "a;b", "a b", "e\u0301", "a\u200b", "a\u034fb", "a\ufe0f",
    "user：mei", ".a", "-a", ":a", "|", "a" * 129, "ﬁ", "ａ", "a\u202e", "\ufeffa", "a,b", "a\t", "\U0001f600", "Public", "рublic", "раypal",
]  # fmt: skip

# What looks like ASCII and is not: each sign, and the ASCII that it is taken for.
LOOK_ALIKES = dict(zip("аеорсухіјѕԁһοαιν‐‑−․։｡", "aeopcyxijsdhoaiv---.:.", strict=True))
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u202e\u2066\ufe0f\U000e0061\0"
EACH = settings(max_examples=100, deadline=None, derandomize=True, database=None)
GOOD = string.ascii_lowercase + string.digits + "._:@-"


@pytest.mark.spec("S1-53", "T-20")
@pytest.mark.parametrize("name", [*HOSTILE, None, 7, b"a", ["a"], True])
def test_what_could_be_taken_for_another_name_is_none(name: object) -> None:
    """Empty, padded, other width, two alphabets, what nobody sees, wildcards, controls, other writings of `public`: refused."""
    assert not scopes.is_valid(name)


@pytest.mark.parametrize("name", [
    "a", "user:mei", "public", "team.a-b_c@x", "0", "a" * 128, "A", "a/b", "a%", "o'brien@x.ie", "é", "用户", "@a", "CORP\\a", "auth0|Ab1",
    "анна", "Ελένη", "हिन्दी", "สมชาย", "+47900", "_a",
])  # fmt: skip
def test_these_are_taken_as_they_are(name: str) -> None:
    """What was a name ever since, and the ids that users have elsewhere."""
    assert scopes.is_valid(name)


@pytest.mark.spec("S1-53")
def test_R26_no_other_sign_is_in_a_name() -> None:
    """Of all that Unicode has, 86 signs of ASCII may stand in a name, and beside them letters, digits and their marks in one writing."""
    signs = [chr(number) for number in (*range(0x20000), *range(0xE0000, 0xE1000))]  # the rest is rare Han, or nothing
    taken = [sign for sign in signs if scopes.is_valid("0" + sign)]
    ascii_ = {sign for sign in taken if sign.isascii()}

    assert {*GOOD, *string.ascii_uppercase, *"|/\\+=~#!$&()[]{}'^%"} == ascii_
    assert all(
        unicodedata.category(sign)[0] in "LN" or unicodedata.category(sign) in ("Mn", "Mc") for sign in taken if sign not in ascii_
    )
    assert [] == [ascii(sign) for sign in taken if unicodedata.normalize("NFKC", sign) != sign or sign in INVISIBLE]
    assert {*GOOD[:36], *string.ascii_uppercase} == {sign for sign in signs if sign.isascii() and scopes.is_valid(sign)}


def seen(name: str) -> str:
    """A name as a careless reader or program takes it: without width, second writings, what is invisible, and space around it."""
    bare = "".join(sign for sign in name if sign not in INVISIBLE and unicodedata.category(sign) not in ("Cf", "Cc"))
    return unicodedata.normalize("NFKC", bare).strip()


@st.composite
def disguised(draw: st.DrawFn) -> str:
    """A good name with a few signs changed, added or dressed up."""
    signs = list(draw(st.text(GOOD, min_size=1, max_size=8)))
    twins = {plain: sign for sign, plain in LOOK_ALIKES.items()}
    for _ in range(draw(st.integers(0, 3))):
        i = draw(st.integers(0, len(signs) - 1))
        wide = chr(ord(signs[i]) + 0xFEE0) if len(signs[i]) == 1 and "!" <= signs[i] <= "~" else signs[i]
        dressed = [
            twins.get(signs[i], signs[i]),
            wide,
            signs[i].upper(),
            signs[i] + draw(st.sampled_from(INVISIBLE + "\u0301 \n\t\u3000")),
        ]
        signs[i] = draw(st.sampled_from(dressed))
    return draw(st.sampled_from(["", "", "", " ", "\n", "\ufeff"])) + "".join(signs)


@pytest.mark.spec("S1-53")
@EACH
@given(st.one_of(disguised(), st.text(max_size=12)), st.one_of(disguised(), st.text(max_size=12)))
def test_R26_two_names_that_are_taken_for_one_are_the_same(one: str, other: str) -> None:
    """Each allowed name is what such a folding makes of it, so two that fold to the same are the same bytes."""
    for name in (one, other, seen(one), seen(other)):
        assert not scopes.is_valid(name) or seen(name) == name
    if scopes.is_valid(one) and scopes.is_valid(other) and seen(one) == seen(other):
        assert one.encode() == other.encode()


@EACH
@given(st.text(string.ascii_lowercase, min_size=2, max_size=8), st.sampled_from([*LOOK_ALIKES]), st.integers(0, 7))
def test_R26_a_look_alike_among_other_letters_is_refused(name: str, twin: str, place: int) -> None:
    """A letter of another alphabet, or a sign that only looks like one of ASCII, in a word of Latin letters."""
    place %= len(name)

    assert not scopes.is_valid(name[:place] + twin + name[place + 1 :])


@EACH
@given(st.text(max_size=200))
def test_what_a_login_is_folded_to_is_allowed(login: str) -> None:
    """Or it is nothing."""
    name = scopes.from_login(login)
    assert not name or (scopes.is_valid(name) and scopes.is_valid(f"user:{name}"))


@pytest.mark.parametrize(
    ("login", "expected"), [("mei", "mei"), ("Mei Lin", "mei-lin"), ("梅", ""), ("..x", "x"), ("DOMAIN\\mei", "domain-mei")]
)
def test_a_login_becomes_a_name_that_is_allowed(login: str, expected: str) -> None:
    """Or nothing, when nothing of it is ASCII."""
    assert expected == scopes.from_login(login)
