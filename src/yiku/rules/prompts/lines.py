"""
Fit lines into a prompt section's token budget, and quote texts of memory as inert single lines.

What comes from memory stands in a sealed fence, each statement on one line behind a dash, whatever it says: it can neither close
the fence, nor begin a heading or a list of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from yiku.rules.finding.pack import estimate
from yiku.rules.privacy import fence, quoting

_ID = re.compile(r"[#＃](?=[0-9a-fA-F]{8}(?![0-9a-fA-F]))")
_LEAD = re.compile(r"^[\s#＃>*•·+-]+")


class Fitted(NamedTuple):
    """
    A section's text, its tokens, which lines stand in it by their places, and how many are left out.

    tokens: estimated line by line, with the blank line behind it: within a room of just so many it is the same again
    """

    text: str
    tokens: int = 0
    shown: tuple[int, ...] = ()
    left_out: int = 0


def fit(
    lines: Sequence[str], room: int, *, heading: str = "", omitted: str = "", further: int = 0, seal: fence.Seal | None = None
) -> Fitted:
    """
    Return the lines that fit, in order, below a heading.

    omitted: the last line where some are left out, with {} for how many; further: of these, beside those given
    seal:    of the home, for a section that is fenced
    """
    if not any(map(str.strip, lines)) and not further:
        return Fitted("")
    head = [heading] if heading else []
    spent = frame(heading, seal)
    costs = [estimate(line) + 1 for line in lines]
    if further or spent + sum(costs) > room:
        spent += estimate(omitted.format(len(lines) + further)) + 1
    shown: list[int] = []
    for place, cost in enumerate(costs):
        if spent + cost <= room:
            shown.append(place)
            spent += cost
    left_out = len(lines) + further - len(shown)
    if not shown:
        return Fitted("", left_out=left_out)
    last = [omitted.format(left_out)] if left_out and omitted else []
    return Fitted(_wrap_section([*head, *(lines[place] for place in shown), *last], seal), spent, tuple(shown), left_out)


def together(*parts: Fitted) -> Fitted:
    """Join parts of one section, each on lines of its own."""
    text = "\n".join(part.text for part in parts if part.text)
    return Fitted(text, sum(part.tokens for part in parts), left_out=sum(part.left_out for part in parts))


def frame(heading: str, seal: fence.Seal | None) -> int:
    """The tokens of a section without a line: its heading and its fence."""
    return estimate(_wrap_section([heading], seal)) + 2


def _wrap_section(lines: Sequence[str], seal: fence.Seal | None) -> str:
    text = "\n".join(lines)
    return text if seal is None else fence.wrap(text, seal)


def quote_line(text: str) -> str:
    """Return somebody's words as one inert line of a list, without anything that looks like an id of ours."""
    flat = " ".join(quoting.inert(text).split())
    return f"- {_ID.sub('# ', _LEAD.sub('', flat))}"


def own(text: str) -> list[str]:
    """Return the lines of a text of the host or the owner, without what nobody sees; runs of blank lines are one."""
    found: list[str] = []
    for line in quoting.visible(text).strip().splitlines():
        if line.strip() or (found and found[-1]):
            found.append(line.rstrip())
    return found
