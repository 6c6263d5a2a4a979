"""
Write rules/lexicon/zh/compounds.toml from the dictionary of jieba: `python scripts/chinese_compounds.py DICT`.

DICT is jieba/dict.txt of the package jieba (MIT), which nothing else needs: a word, how often it was met, its sort. Taken are
common nouns, verbs and adjectives in which the lexicon would find a word of one character that is none there (订 in 订单).
"""

import sys
from pathlib import Path

from yiku.rules.lexicon import Lexicon, built_in
from yiku.rules.lexicon.flags import BE, DENY, LIGHT, NUMBER, PERSON, PLACE, REQUEST, TASK
from yiku.rules.text.analyze import UNSPACED_RUN
from yiku.rules.text.words import words

HOME = Path(__file__).resolve().parent.parent / "src" / "yiku" / "rules" / "lexicon" / "zh" / "compounds.toml"
OFTEN = {"n": 20, "v": 150, "vn": 50, "an": 50, "a": 150}  # how often a word of each sort must have been met
MORE = ("会话",)  # of today, which the dictionary lacks
CHARS = (2, 4)
IN_A_PHRASE = (
    DENY | NUMBER | PERSON | PLACE | BE | LIGHT | TASK | REQUEST
)  # a word of one character with one of these is likely one: 不敢, 来到
WORDS = 16  # on a line
HEAD = """\
# Words that hold together, in which a word of one character is none: 订 in 订单. Nothing else is known of them.
# Written by scripts/chinese_compounds.py.

words = [
"""


def compounds(lines: list[str], lexicon: Lexicon) -> list[str]:
    """The words to take, in order."""
    found = []
    for line in lines:
        word, often, sort = line.split()
        if CHARS[0] <= len(word) <= CHARS[1] and int(often) >= OFTEN.get(sort, sys.maxsize) and _is_cut(word, lexicon):
            found.append(word)
    return sorted({*found, *MORE})


def _is_cut(word: str, lexicon: Lexicon) -> bool:
    """Whether the lexicon finds a word of one character in a word, which is not itself in the lexicon."""
    if not UNSPACED_RUN.fullmatch(word) or word in lexicon.words:
        return False
    inside = [each for each in words(word, 0, len(word), lexicon) if each.known]
    lone = [each for each in inside if len(each.text) == 1]
    return bool(lone) and len(lone) == len(inside) and not any(each.flags & IN_A_PHRASE for each in lone)


def main() -> None:
    """Write the file; `make lexicon` compiles it."""
    HOME.write_text(f"{HEAD}]\n", "utf-8")
    found = compounds(Path(sys.argv[1]).read_text("utf-8").splitlines(), built_in())
    rows = (", ".join(f'"{word}"' for word in found[start : start + WORDS]) for start in range(0, len(found), WORDS))
    HOME.write_text(HEAD + "".join(f"    {row},\n" for row in rows) + "]\n", "utf-8")


if __name__ == "__main__":
    main()
