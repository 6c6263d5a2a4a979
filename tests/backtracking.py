"""
Detect regular expressions that can take exponential time, by searching the automaton of each of their loops.

A loop is dangerous when the same text can be read by it in two ways: with n such texts in a row there are 2ⁿ ways, and
all are tried before a match fails. `(?:\\s+|\\w+,?\\s*)+` is: `a, ` is one turn of the loop, or two. Such a loop has a state
from which one text leads back to it on two different paths, and that is what is looked for. Around a possessive repeat or an
atomic group nothing is tried again, so such a loop is not searched itself, only what lies inside it.

What is approximated errs on the safe side: a lookaround counts as nothing, a repeat of MANY times or more as endless.
"""

import re
import re._constants as c
import re._parser as parser
from collections.abc import Iterable, Iterator
from typing import Any

MANY = 8
_SIGNS = [*map(chr, range(128)), *"é中国一。，　“”\u2028Ａ🙂"]
_CATEGORIES = {
    c.CATEGORY_DIGIT: str.isdecimal,
    c.CATEGORY_NOT_DIGIT: lambda sign: not sign.isdecimal(),
    c.CATEGORY_SPACE: str.isspace,
    c.CATEGORY_NOT_SPACE: lambda sign: not sign.isspace(),
    c.CATEGORY_WORD: lambda sign: sign.isalnum() or sign == "_",
    c.CATEGORY_NOT_WORD: lambda sign: not (sign.isalnum() or sign == "_"),
}
_REPEATS = (c.MAX_REPEAT, c.MIN_REPEAT)
_ONE_SIGN = (c.LITERAL, c.NOT_LITERAL, c.IN, c.ANY)


def ambiguous_loops(pattern: re.Pattern[Any]) -> list[str]:
    """A text for each loop that can read it in two ways; empty when the pattern cannot take exponential time."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    return [text for loop in _loops(tree) if (text := _text_in_two_ways(loop, pattern.flags)) is not None]


_known: dict[str, str | None] = {}


def _text_in_two_ways(loop: Any, flags: int) -> str | None:
    """A text that a loop can read in two ways; many patterns share a loop."""
    if (key := f"{flags} {loop}") not in _known:
        signs = [*_SIGNS, *sorted({chr(code) for code in _literals(loop) if code > 127} - {*_SIGNS})]
        _known[key] = _Loop(loop, signs, flags).ambiguity()
    return _known[key]


def _children(op: Any, argument: Any) -> Iterable[Any]:
    match op:
        case c.MAX_REPEAT | c.MIN_REPEAT | c.POSSESSIVE_REPEAT:
            return [argument[2]]
        case c.SUBPATTERN:
            return [argument[3]]
        case c.BRANCH:
            return list(argument[1])
        case c.ASSERT | c.ASSERT_NOT:
            return [argument[1]]
        case c.ATOMIC_GROUP:
            return [argument]
        case c.GROUPREF_EXISTS:
            return [part for part in argument[1:] if part is not None]
    return []


def _literals(tree: Any) -> Iterator[int]:
    for op, argument in tree:
        if op in (c.LITERAL, c.NOT_LITERAL):
            yield argument
        elif op is c.RANGE:
            yield from argument
        elif op is c.IN:
            yield from _literals(argument)
        for child in _children(op, argument):
            yield from _literals(child)


def _loops(tree: Any) -> Iterator[Any]:
    """The outermost endless repeats in which something may be tried again, also those inside what is possessive."""
    for op, argument in tree:
        if op is c.ATOMIC_GROUP and len(argument) and argument[-1][0] in _REPEATS:  # nothing follows its last loop
            yield from _loops(argument[:-1])
            yield from _loops(argument[-1][1][2])
        elif op in _REPEATS and argument[1] >= MANY:
            if not (len(argument[2]) == 1 and argument[2][0][0] in _ONE_SIGN):
                yield argument[2]
            for child in _children(op, argument):
                yield from _protected(child)
        else:
            for child in _children(op, argument):
                yield from _loops(child)


def _protected(tree: Any) -> Iterator[Any]:
    """The loops inside lookarounds, atomic and possessive parts of a loop, which its own automaton leaves out."""
    for op, argument in tree:
        inside = _loops if op in (c.ASSERT, c.ASSERT_NOT, c.ATOMIC_GROUP, c.POSSESSIVE_REPEAT) else _protected
        for child in _children(op, argument):
            yield from inside(child)


class _Loop:
    """The automaton of a loop: states with edges that read a sign (a bit mask of signs) or nothing."""

    def __init__(self, body: Any, signs: list[str], flags: int) -> None:
        self.signs, self.flags = signs, flags
        self.free: list[list[int]] = []
        self.reads: list[tuple[int, int] | None] = []
        start = self._state()
        self.free[self._add(body, start)].append(start)
        self._paths: dict[int, dict[int, int]] = {}

    def _state(self) -> int:
        self.free.append([])
        self.reads.append(None)
        return len(self.free) - 1

    def _add(self, tree: Any, at: int) -> int:
        denied = 0  # signs that a lookahead before this place forbids
        for op, argument in tree:
            if op is c.ASSERT_NOT and argument[0] > 0 and len(argument[1]) == 1 and argument[1][0][0] in _ONE_SIGN:
                denied |= self._mask(*argument[1][0])
            else:
                at = self._node(op, argument, at, denied)
                denied = 0
        return at

    def _node(self, op: Any, argument: Any, at: int, denied: int = 0) -> int:
        end = self._state()
        match op:
            case c.LITERAL | c.NOT_LITERAL | c.IN | c.ANY:
                state = self._state()
                self.free[at].append(state)
                self.reads[state] = (self._mask(op, argument) & ~denied, end)
            case c.MAX_REPEAT | c.MIN_REPEAT | c.POSSESSIVE_REPEAT:
                least, most, body = argument
                if most >= MANY:
                    loop = self._add(body, at) if least else at
                    back = self._state()
                    self.free[loop].append(back)
                    self.free[self._add(body, back)].append(back)
                    self.free[back].append(end)
                else:
                    for count in range(most):
                        if count >= least:
                            self.free[at].append(end)
                        at = self._add(body, at)
                    self.free[at].append(end)
            case c.BRANCH:
                for branch in argument[1]:
                    state = self._state()
                    self.free[at].append(state)
                    self.free[self._add(branch, state)].append(end)
            case c.SUBPATTERN | c.ATOMIC_GROUP:
                self.free[self._add(argument[3] if op is c.SUBPATTERN else argument, at)].append(end)
            case _:  # a place, a lookaround, what a group said
                self.free[at].append(end)
        return end

    def _mask(self, op: Any, argument: Any) -> int:
        return sum(1 << place for place, sign in enumerate(self.signs) if self._reads(op, argument, sign))

    def _reads(self, op: Any, argument: Any, sign: str) -> bool:
        if op is c.ANY:
            return bool(self.flags & re.DOTALL) or sign != "\n"
        forms = {sign, sign.lower(), sign.upper()} if self.flags & re.IGNORECASE else {sign}
        if op is c.IN:
            denied = argument[0][0] is c.NEGATE
            return denied is not any(self._in(*item, forms) for item in argument[denied:])
        return (op is c.NOT_LITERAL) is not any(ord(form) == argument for form in forms if len(form) == 1)

    def _in(self, op: Any, argument: Any, forms: set[str]) -> bool:
        if op is c.RANGE:
            return any(argument[0] <= ord(form) <= argument[1] for form in forms if len(form) == 1)
        if op is c.CATEGORY:
            return any(_CATEGORIES[argument](form) for form in forms)
        return self._reads(op, argument, next(iter(forms))) or any(ord(form) == argument for form in forms if len(form) == 1)

    def _next(self, state: int) -> dict[int, int]:
        """The reading states that are reached without a sign, and on how many paths; two stands for more."""
        if state not in self._paths:
            found: dict[int, int] = {}
            self._walk(state, found, set())
            self._paths[state] = found
        return self._paths[state]

    def _walk(self, state: int, found: dict[int, int], passed: set[int]) -> None:
        if self.reads[state] is not None:
            found[state] = min(2, found.get(state, 0) + 1)
            return
        passed.add(state)
        for other in self.free[state]:
            if other not in passed and (self.reads[other] is None or found.get(other, 0) < 2):
                self._walk(other, found, passed)
        passed.discard(state)

    def _steps(self, pair: tuple[int, int]) -> Iterator[tuple[tuple[int, int], int, bool]]:
        """The pairs that two readers of one text come to, the signs that lead there, and whether that is on two paths."""
        (one, following), (other, beyond) = self.reads[pair[0]] or (0, 0), self.reads[pair[1]] or (0, 0)
        if not (both := one & other):
            return
        for first, ways in self._next(following).items():
            for second, more in self._next(beyond).items():
                yield (first, second), both, pair[0] == pair[1] and first == second and max(ways, more) > 1

    def ambiguity(self) -> str | None:
        """A text that leads from a state back to it on two paths."""
        state = next(
            state for state in self._next(0) if (self.reads[state] or (0,))[0]
        )  # from any state of a loop one comes to all others
        queue: list[tuple[tuple[int, int], bool, str]] = [((state, state), False, "")]
        seen = {((state, state), False)}
        for pair, parted, text in queue:
            for other, both, twice in self._steps(pair):
                apart = parted or twice or other[0] != other[1]
                read = text + self.signs[(both & -both).bit_length() - 1]
                if apart and other == (state, state):
                    return read
                if (other, apart) not in seen:
                    seen.add((other, apart))
                    queue.append((other, apart, read))
        return None
