"""
Condense an identity file (SOUL.md, AGENT.md, …) to a token budget without a model; vet a model's summary of it.

    # Soul                                       - Never lie, not even to be kind.
    <!-- draft -->                               - Admit what you do not know before you guess.
    Once there was a river. It taught me to
    admit what I do not know before I guess.     whole sentences, the most telling first, in the order of the file;
    - Never lie, not even to be kind.            no comments, code, placeholders, examples or stories
    Name: [to be learned]

A sentence counts by what it says: a principle, a step of the work, a use of tools, by the target; a list item more than one of a
story, which is kept only where it states one. A sentence is kept whole or not at all, however long it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from yiku.rules.finding.pack import estimate
from yiku.rules.lexicon import built_in
from yiku.rules.lexicon.lists import has, label, languages, made_of
from yiku.rules.privacy import quoting
from yiku.rules.statements.question import stated
from yiku.rules.text.analyze import UNSPACED_RUN, plain
from yiku.rules.text.folding import folded
from yiku.rules.text.sentences import split

VERSION = 1  # of these rules, and of the prompts of prompts/condense*: summaries of another are made again
ASKED_CHARS = 24_000  # of a file that a model is shown
SAID = 0.5  # of the content words of a model's line, that stand in the file
READ_CHARS = 200_000  # of a file, from its beginning
ITEM_TOKENS = 60  # a list item beyond this counts by its sentences


@dataclass(frozen=True, slots=True)
class Target:
    """
    A compiled summary: its file, the file that it is made of, and how many tokens it may have.

    source: below identity/, but USER.md, which lies beside it
    """

    name: str
    file: str
    source: str
    most: int
    personal: bool = False  # made of what memory holds of the user, so that it is quoted in a prompt


TARGETS: Mapping[str, Target] = {
    one.name: one
    for one in (
        Target("soul", "soul.summary.md", "SOUL.md", 150),
        Target("agent_core", "agent.core.md", "AGENT.md", 250),
        Target("agent_tooling", "agent.tooling.md", "AGENT.md", 200),
        Target("user", "user.summary.md", "USER.md", 120, personal=True),
        Target("persona", "persona.custom.md", "personas/user_custom.md", 120, personal=True),
    )
}
PERSONA = Target("preset", "", "", 200)  # a persona that somebody wrote: condensed whenever it is shown


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence of a file, with the headings that it stands under; item: of a list."""

    text: str
    topic: str
    item: bool


def condense(text: str, target: Target, most: int | None = None) -> str:
    """Return a list of at most so many tokens; empty where the file says nothing that the target keeps."""
    room = target.most if most is None else most
    said = [one for one in _statements(clean(text)) if not _is_placeholder(one.text)]
    weights = [_weight(one, target) for one in said]
    telling = any(weight > 0 for weight in weights)
    ranked = sorted(range(len(said)), key=lambda place: (-weights[place], place))
    kept: list[int] = []
    seen: set[str] = set()
    for place in ranked:
        line = f"- {said[place].text}"
        key, cost = plain(line), estimate(line) + 1
        if (weights[place] > 0 if telling else weights[place] == 0) and cost <= room and key not in seen:
            kept.append(place)
            seen.add(key)
            room -= cost
    return "\n".join(f"- {said[place].text}" for place in sorted(kept))


def size(summary: str) -> int:
    """Return the tokens of a summary, line by line."""
    return sum(estimate(line) + 1 for line in summary.splitlines())


def first(summary: str, room: int) -> str:
    """Return the lines of a summary that fit, the most important standing first."""
    kept: list[str] = []
    for line in summary.splitlines():
        if (cost := estimate(line) + 1) <= room:
            kept.append(line)
            room -= cost
    return "\n".join(kept)


# ------------------------------------------------------------------ what a model says

_NUMBER = re.compile(r"\d+")


def sound(lines: Sequence[str], source: str, target: Target) -> list[str]:
    """
    Return the lines of a model's summary that the file says, within the target's tokens.

    A line is data from a stranger: it is made inert, each number in it stands in the file, and so do most of its content words.
    """
    known, numbers = stated(source[:ASKED_CHARS]), {*_NUMBER.findall(source)}
    kept: list[str] = []
    for line in lines:
        flat = _LEAD.sub("", " ".join(clean(quoting.inert(line)).split()))
        words = stated(flat)
        if (
            not line.lstrip().startswith("#")  # a heading
            and any(map(str.isalnum, flat))
            and not _is_placeholder(flat)
            and numbers.issuperset(_NUMBER.findall(flat))
            and len(words & known) >= SAID * len(words)
        ):
            kept.append(f"- {flat}")
    return first("\n".join(dict.fromkeys(kept)), target.most).splitlines()


# ------------------------------------------------------------------ the file

_LEAD = re.compile(r"^(?:[-*+•·#>]|\d{1,3}[.)、])[-*+•·#>\s]*")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,300}>")
_IMAGE = re.compile(r"!\[[^\[\]\n]{0,300}\]\([^()\n]{0,500}\)")
_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\([^()\n]{0,500}\)")
_STRONG = re.compile(r"(\*\*|__|~~|`)(?=\S)([^\n*_~`]{1,500}?)(?<=\S)\1")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=\S)([^\n*]{1,500}?)(?<=\S)\*(?![\w*])")
_CODE = re.compile(r"\s{0,12}(`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_ITEM = re.compile(r"\s*(?:[-*+•·]|\d{1,3}[.)、])\s+(?:\[[ xX]\]\s+)?")
_RULE = re.compile(r"\s*(?:[-*_=|:]\s*){3,200}$")
_SHORT_ID = re.compile(r"\s[#＃][0-9a-f]{8}(?:[0-9a-f-]{0,28})$")
_LISTED_TOOL = re.compile(r"`[^`\n]{1,80}`\s*(?:\([^()\n]{0,80}\)\s*)?(?:[:：—–-]|$)")
_BRACKETED = re.compile(r"[\[【<＜{(（][^\[\]【】<>＜＞{}()（）\n]{0,80}[\]】>＞})）]")


def clean(text: str) -> str:
    """Return a file without front matter, comments and what is left of them, tags, and invisible characters."""
    visible = quoting.visible(text[:READ_CHARS])
    if visible.startswith(("---\n", "+++\n")) and (end := visible.find(f"\n{visible[:3]}", 3)) > 0:
        visible = visible[end + 4 :]
    kept, at = list[str](), 0
    last = visible.rfind("-->")
    while (start := visible.find("<!--", at)) >= 0:
        kept.append(visible[at:start])
        if start < last:
            at = visible.index("-->", start) + 3
        else:  # nothing closes it: it is a paragraph
            end = visible.find("\n\n", start)
            at = end if end >= 0 else len(visible)
    visible = "".join([*kept, visible[at:]]).replace("-->", "")
    return _TAG.sub("", _IMAGE.sub("", visible))


def _statements(text: str) -> Iterator[_Said]:
    """Yield the sentences of a file in order."""
    headings: dict[int, str] = {}
    code = ""
    open_: list[str] = []
    item = False

    def closed() -> Iterator[_Said]:
        if open_:
            yield from _sentences(_join(open_), " ".join(headings.values()), item=item)
            open_.clear()

    for line in text.splitlines():
        if (mark := _CODE.match(line)) and (not code or (mark[1].startswith(code) and not line.strip().strip(code[0]))):
            yield from closed()
            code = "" if code else mark[1]
            continue
        if code:
            continue
        if heading := _HEADING.match(line):
            yield from closed()
            level = len(heading[1])
            headings = {deep: title for deep, title in headings.items() if deep < level} | {level: heading[2]}
        elif not line.strip() or _RULE.match(line):
            yield from closed()
            item = False
        elif (bullet := _ITEM.match(line)) or line.lstrip().startswith((">", "|")):
            yield from closed()
            item = bullet is not None or line.lstrip().startswith("|")
            entry = line[bullet.end() :] if bullet else line.strip().strip("|> ").replace("|", ":")
            open_.append(entry)
        else:
            item = item and bool(open_)
            open_.append(line.strip())
    yield from closed()


def _join(lines: Sequence[str]) -> str:
    text = lines[0].strip()
    for line in lines[1:]:
        text += line if UNSPACED_RUN.match(text[-1:]) and UNSPACED_RUN.match(line[:1]) else f" {line}"
    return " ".join(text.split())


def _sentences(text: str, topic: str, *, item: bool) -> Iterator[_Said]:
    if item and _LISTED_TOOL.match(text):
        topic = f"{topic} `"  # of a list of tools
    bare = _SHORT_ID.sub("", _plain(text))
    if item and estimate(bare) <= ITEM_TOKENS:
        yield _Said(bare, topic, item)
        return
    before = ""
    for sentence in split(bare, built_in()):
        before += sentence
        if not before.rstrip().endswith((";", "；")) and any(map(str.isalnum, before)):
            yield _Said(before.strip(), topic, item)
            before = ""
    if any(map(str.isalnum, before)):
        yield _Said(before.strip(), topic, item)


def _plain(text: str) -> str:
    """The words of a line of Markdown."""
    return _EMPHASIS.sub(r"\1", _STRONG.sub(r"\2", _STRONG.sub(r"\2", _LINK.sub(r"\1", text)))).strip()


def _is_placeholder(text: str) -> bool:
    """Whether a line has a name and no value, or says that nothing is known; or is the count of a page's further lines."""
    name, colon, after = text.replace("：", ":").partition(":")
    value = (after if colon and len(name) <= ITEM_TOKENS else text).strip()
    if not any(map(str.isalnum, _BRACKETED.sub("", value))) or made_of(folded(value), "identity.placeholder"):
        return True
    ends = (label("page.omitted", language).partition("{}") for language in languages())
    return any(text.startswith(begin) and text.endswith(end) for begin, _, end in ends)


# ------------------------------------------------------------------ what counts


def _weight(said: _Said, target: Target) -> float:
    """How much a sentence says for a target; 0 is something else, below is left out."""
    if target.personal:
        return 1.0
    topic, text = folded(said.topic), folded(said.text)
    name, colon, _ = text.replace("：", ":").partition(":")
    if has(topic, "identity.reference") or "`" in topic or (colon and made_of(name, "identity.reference")):
        return -1.0
    about_tools = has(topic, "identity.tooling")
    principle, tooling = has(text, "identity.principle"), has(text, "identity.tooling")
    score = float(said.item) + 2.0 * principle - (0.0 if principle else 2.0 * has(text, "identity.narrative"))
    match target.name:
        case "agent_tooling":
            return score + 1.0 if about_tools or tooling else -1.0
        case "agent_core":
            return -1.0 if about_tools else score + has(text, "identity.flow") - 0.5 * tooling
        case "preset":
            return score + 1.0
    return score
