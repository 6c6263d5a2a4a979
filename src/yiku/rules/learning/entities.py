"""
Extract the entities of a text: quoted names, and what looks like a name in either script.

Capitals, a title beside a surname, the ending of a place, a path, a version tell one. Generic words are no names: two
texts about "the project" are not about one thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from yiku.rules.lexicon.lists import at_start, looked_for, words
from yiku.rules.text.analyze import UNSPACED_RUN, fold
from yiku.rules.text.folding import folded
from yiku.rules.text.sentences import MARKS

LOOKED_AT = 4_000  # characters
AT_MOST = 24
LONGEST = 40  # characters of a name
PATH_CHARS = 80
PLACE_CHARS = 8  # in front of the ending of a place

_QUOTED = re.compile(r"[「『《“‘]([^「」『』《》“”‘’\n]{2,30})[」』》”’]|(?<![\w\"])\"([^\"\n]{2,30})\"(?!\w)")
_FILE = re.compile(
    r"(?<![\w./\\:@+-])(?:[A-Za-z]:\\|~?/|\.{1,2}/)?(?:[\w.@+-]+[/\\])*[\w@+-][\w.@+-]*\.(?!\d)[A-Za-z][A-Za-z0-9]{0,7}(?![\w/\\])"
    r"|(?<![\w./\\:])~?/(?:[\w.@+-]+/)+[\w.@+-]+",
    re.ASCII,
)
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}+@[\w-]{1,64}+\.[\w.]+\b")
_SUFFIXES = frozenset(
    "py js ts tsx jsx md txt json jsonl yaml yml toml ini cfg conf csv tsv xls xlsx doc docx ppt pptx pdf html htm css scss xml sql"
    " db sqlite sh bash zsh ps1 bat c h cc cpp hpp cs go rs java kt swift rb php lua r jl scala vue svelte ipynb log lock env png jpg"
    " jpeg gif svg webp mp3 mp4 wav m4a mov zip gz tar whl proto tf ex exs erl dart tex bib rst".split()
)
_CODED = re.compile(r"`([^`\n]{2,60})`")
_CODE_NAME = re.compile(r"(?:@|~?/|\.{0,2}/)?[A-Za-z_][\w./:+#-]+(?: [\w./+#-]+)?")
_OPENING = " \t\"'“‘(（*"
_TELLING = re.compile(r"\d|[a-z][A-Z]|^[A-Z]{2,}$")


def extract(text: str) -> tuple[str, ...]:
    """Return the names in a text, in order, each once, as written."""
    looked = text[:LOOKED_AT]
    places = [(match.start(), (match[1] or match[2]).strip()) for match in _QUOTED.finditer(looked)]
    places += [(match.start(), name) for match in _capitals().finditer(looked) if (name := _latin(looked, match))]
    places += [(looked.find(name), name) for name in (*files(looked), *_ADDRESS.findall(looked))]
    if not looked.isascii():
        places += [(start, looked[start:end]) for start, end in _unspaced(folded(looked))]
    names = dict.fromkeys(name for _, name in sorted(places) if _is_name(name))
    return tuple(name for name in names if not any(name != other and name in other for other in names))[:AT_MOST]


def files(text: str) -> list[str]:
    """Return the files that a text names: a known file suffix, or an absolute path."""
    found = (match[0].rstrip(".,") for match in _FILE.finditer(text))
    named = (path for path in found if len(path) <= PATH_CHARS and not path.startswith("/dev/"))
    return [path for path in named if path.rpartition(".")[2].lower() in _SUFFIXES or path.count("/") > 1]


def in_code(text: str) -> list[str]:
    """Return the names between backticks."""
    return [name for name in _CODED.findall(text) if _CODE_NAME.fullmatch(name)]


@cache
def _capitals() -> re.Pattern[str]:
    """Pattern of a run of capitalised words, with small words inside names."""
    inside = "|".join(sorted(words("records.inside_names")))
    return re.compile(r"(?<![\w/@.])[A-Z][\w'’&+-]*(?:\.(?=\w)[\w'’&+-]+)*" rf"(?:[ ](?:(?:{inside}) )?[A-Z0-9][\w'’&+-]*){{0,4}}")


def _latin(text: str, match: re.Match[str]) -> str:
    """Trim generic words from a capitalised run; empty if it only opens a sentence."""
    told = match[0].split()
    opens = text[: match.start()].rstrip(_OPENING)[-1:] in (*MARKS, *":：\n", "")
    while told and fold(told[0]).rstrip("'s") in words("records.generic_names"):
        told, opens = told[1:], False
    while told and fold(told[-1]) in words("records.generic_names"):
        told = told[:-1]
    if opens and len(told) == 1 and not _TELLING.search(told[0]):
        behind = folded(text[match.end() : match.end() + 12])
        return told[0] if at_start(behind.lstrip(), "records.behind_opening") else ""
    return re.sub(r"['’]s$", "", " ".join(told))


def _unspaced(told: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of Chinese names: known ones, with a title, after a verb of naming, with the ending of a place."""
    surnames = words("records.surnames")
    yield from (match.span() for match in looked_for("records.known_names").finditer(told))
    for match in looked_for("records.nicknames").finditer(told):
        if told[match.end() : match.end() + 1] in surnames:
            yield match.start(), match.end() + 1
    for match in looked_for("records.titles").finditer(told):
        size = next((size for size in (2, 1) if _begins_name(told, match.start() - size)), 0)
        if size and UNSPACED_RUN.fullmatch(told[match.start() - size : match.start()]):
            yield match.start() - size, match.end()
    for match in looked_for("records.kin_titles").finditer(told):
        if match.start() and UNSPACED_RUN.match(told[match.start() - 1]) and _ends_name(told, match.end()):
            yield match.start() - 1, match.end()
    for match in looked_for("records.called").finditer(told):
        size = next((size for size in (3, 2) if _ends_name(told, match.end() + size)), 0)
        if size and told[match.end()] in surnames and UNSPACED_RUN.fullmatch(told[match.end() : match.end() + size]):
            yield match.end(), match.end() + size
    before = 0
    for match in looked_for("records.place_endings").finditer(told):
        start = match.start()
        while match.start() - start < PLACE_CHARS and start > before and _in_place(told[start - 1]):
            start -= 1
        before = match.end()
        if match.start() - start >= 2 and not at_start(told[match.end() : match.end() + 2], "records.no_place_behind"):
            yield start, match.end()


def _begins_name(told: str, at: int) -> bool:
    """Whether a surname stands at a place, and no word that only looks like one."""
    return at >= 0 and told[at] in words("records.surnames") - words("records.behind_name")


def _ends_name(told: str, at: int) -> bool:
    """Whether a name may end at a place: at the end, a sign, or a word that stands behind names."""
    if at > len(told):
        return False
    return not told[at : at + 1].isalnum() or at_start(told, "records.behind_name", at=at) > at


def _in_place(character: str) -> bool:
    return UNSPACED_RUN.match(character) is not None and character not in words("records.before_place")


def _is_name(name: str) -> bool:
    return 2 <= len(name) <= LONGEST and folded(name) not in words("records.generic_names") and not name.isdecimal()
