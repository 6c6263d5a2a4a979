"""Public value types are frozen, comparable, hashable, printable, copied and pickled."""

import pickle
from copy import copy
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace

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
