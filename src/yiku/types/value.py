"""
The decorator `value`: dataclasses that share `__eq__`, `__hash__` and `__repr__`.

`dataclass` writes a comparison, a hash and a text for each class and compiles them: a third of what importing the
types takes. These do the same over the class's fields when they are called.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["value"]

if TYPE_CHECKING:
    from dataclasses import dataclass as value
else:

    def value(**options: bool) -> Callable[[type], type]:
        """As `dataclass`, with the same options."""

        def made(cls: type) -> type:
            found = dataclass(eq=False, repr=False, **options)(cls)
            for name, method in _SHARED.items():
                if name not in cls.__dict__:
                    setattr(found, name, method)
            return found

        return made


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


_SHARED = {"__eq__": _eq, "__hash__": _hash, "__repr__": _repr}
