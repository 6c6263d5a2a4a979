"""Public value types are frozen, comparable, hashable, printable, copied and pickled."""

import pickle
from copy import copy
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace
from inspect import signature

import pytest

from yiku import types
from yiku.types import Hit, Place
from yiku.types.value import value


@value(frozen=True, slots=True)
class Shared:
    name: str
    place: int = 0
    note: str = field(default="", compare=False)
    secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Generated:
    name: str
    place: int = 0
    note: str = field(default="", compare=False)
    secret: str = field(default="", repr=False)


def test_a_value_is_compared_hashed_and_printed_as_a_dataclass_is():
    """With the same fields left out; another class with the same fields is another value."""
    for made in (Shared, Generated):
        one = made("茶", 1, "a note", "a secret")
        assert one == replace(one, note="another")
        assert hash(one) == hash(replace(one, note="another"))
        assert one != replace(one, secret="")
        assert one == pickle.loads(pickle.dumps(one)) == copy(one)
        with pytest.raises(FrozenInstanceError):
            one.name = "tea"
    assert Shared("茶") != Generated("茶")
    assert repr(Shared("茶", 1, "n", "s")) == repr(Generated("茶", 1, "n", "s")).replace("Generated", "Shared")


def test_every_type_is_a_value():
    """Each class of the types that has fields is frozen, and prints them."""
    every = [each for name in dir(types) if isinstance(each := getattr(types, name), type) and is_dataclass(each)]
    assert {Hit, Place} <= set(every)
    assert [] == [each for each in every if not each.__dataclass_params__.frozen or each.__repr__ is object.__repr__]
    assert [] == [each for each in every if each.__eq__ is object.__eq__ and fields(each)]


@value(frozen=True, slots=True)
class Longer(Shared):
    """One that is derived, with each sort of field."""

    words: list[str] = field(default_factory=list)
    counted: int = field(default=3, init=False)
    last: str = field(default="", kw_only=True)


def test_a_value_is_made_as_a_dataclass_is():
    """With the same arguments, the same defaults, and the same error for others; lists are each one's own."""
    assert str(signature(Shared)) == str(signature(Generated))
    assert list(signature(Longer).parameters) == ["name", "place", "note", "secret", "words", "last"]
    one, other = Longer("茶", words=["a"], last="z"), Longer("茶")
    assert (one.words, one.counted, one.last, other.words, other.last) == (["a"], 3, "z", [], "")
    assert other.words is not Longer("茶").words
    assert pickle.loads(pickle.dumps(one)) == one == replace(one)
    for kind in (Shared, Generated):
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
            kind()
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'place'"):
            kind("茶").place = 2
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'place'"):
            del kind("茶").place


def test_only_what_is_used_is_compiled():
    """A class gets its `__init__` when its first value is made, and keeps it."""

    @value(frozen=True, slots=True)
    class Unused:
        name: str

    assert not callable(vars(Unused)["__init__"])
    assert Unused("茶").name == "茶"
    made = vars(Unused)["__init__"]
    assert callable(made)
    assert Unused("tea").name == "tea"
    assert vars(Unused)["__init__"] is made
