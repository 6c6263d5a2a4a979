"""
The decorator `value`: frozen dataclasses that share their methods, and compile `__init__` when the first is made.

`dataclass` writes seven methods for each class and compiles them, which is most of what importing the types takes, and a process
uses few of the types. The shared ones do the same over the class's fields when they are called.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, fields
from functools import cache
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["value"]

if TYPE_CHECKING:
    from dataclasses import dataclass as value
else:

    def value(*, frozen: bool, **options: bool) -> Callable[[type], type]:
        """As `dataclass`, with the same options; always frozen."""
        assert frozen

        def made(cls: type) -> type:
            derived = hasattr(cls, "__dataclass_fields__")  # from a frozen one, which `dataclass` allows only to frozen ones
            found = dataclass(init=False, eq=False, repr=False, frozen=derived, **options)(cls)
            found.__dataclass_params__.init = found.__dataclass_params__.frozen = True
            for name, method in _SHARED.items():
                if name not in cls.__dict__:
                    setattr(found, name, method)
            found.__init__ = _Init(found)
            return found

        return made


class _Init:
    """The `__init__` of a value: compiled, and put in this one's place, when it is first looked up."""

    __slots__ = ("_of",)

    def __init__(self, of: type) -> None:
        self._of = of

    def __get__(self, instance: object, owner: type) -> Any:
        of: Any = self._of
        names = {field.name: field for field in fields(of)}
        types = {name: field.type for name, field in names.items()}
        said = {"__module__": of.__module__, "__qualname__": of.__qualname__, "__doc__": of.__doc__}
        twin = type(of.__name__, (), {**names, **said, "__annotations__": types})
        made: Any = dataclass(frozen=True, eq=False, repr=False, slots="__slots__" in vars(of))(twin)
        of.__init__ = made.__init__
        return made.__init__.__get__(instance, owner)


@cache
def _compared(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls) if field.compare)


@cache
def _hashed(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls) if (field.compare if field.hash is None else field.hash))


def _eq(self: Any, other: object) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    kind: Any = self.__class__
    names = _compared(kind)
    return [getattr(self, name) for name in names] == [getattr(other, name) for name in names]


def _hash(self: Any) -> int:
    kind: Any = self.__class__
    return hash(tuple([getattr(self, name) for name in _hashed(kind)]))


@recursive_repr()
def _repr(self: Any) -> str:
    shown = [f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr]
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _setattr(self: Any, name: str, given: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for field, given in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, given)


_SHARED = {
    "__eq__": _eq,
    "__hash__": _hash,
    "__repr__": _repr,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__getstate__": _getstate,
    "__setstate__": _setstate,
}
