"""
A property that is computed once for each object, without a lock.

`functools.cached_property` of Python 3.11 holds a lock for all objects of a class while it computes. A process that forks
meanwhile leaves it held in the child, where nobody lets go of it. Here two threads may compute the same, and that is all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class once(Generic[T]):
    """Decorate a method without arguments; its value lies in the object's __dict__ afterwards, before this is looked up."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, of: None, kind: type) -> once[T]: ...
    @overload
    def __get__(self, of: object, kind: type) -> T: ...
    def __get__(self, of: object | None, kind: type) -> once[T] | T:
        if of is None:
            return self
        found = of.__dict__[self._compute.__name__] = self._compute(of)
        return found
