"""
Tokenize text for full-text search (English, Chinese), fold it for comparison, detect its language.

Text is folded (NFKC, case, accents of Latin letters) and cut into runs. A run of Latin letters and
digits gives one word; a compound of them (a path, a version, an address: python-3.10, foo@bar.com)
gives itself and its parts. English words are stemmed (Porter), and those that carry no meaning
are left out. A run of Chinese (or of another script written without spaces) gives its pairs of
neighbours as words and its single characters apart, so that one, two and more characters are found.

The version below is stored with the index. A change of anything here that changes a token is a new
version, and an index of an older version must be rebuilt.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from itertools import groupby, islice, product
from operator import add

from Stemmer import Stemmer

from yiku.rules.text import compiled
from yiku.rules.text.compiled import FURTHER, FURTHER_SIMPLIFIED, HASHED, HASHED_SIMPLIFIED
from yiku.types import Tokens

VERSION = "1"
INDEXED_CHARS = 32_768  # of a text; what comes behind is kept, but not searched
TOKEN_CHARS = 64  # longer tokens (hashes, base64) are cut here, on both sides alike
QUESTION_CHARS = 1_000
MOST_WRITINGS = 4  # of a word, besides its own
QUESTION_TERMS = 64
CACHED_WORDS = 100_000
MANY_MARKS = 64  # combining marks in a row; no writing puts more than some ten on one letter

# Scripts that are written without spaces between words: Han, kana, Hangul, Thai, Lao, Khmer, Myanmar.
UNSPACED = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff"
)
EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09d7"

STOP_WORDS = compiled.STOP_WORDS
FUNCTION_CHARACTERS = compiled.FUNCTION_CHARACTERS  # left out of questions, never of what is kept

_ASCII = re.compile(r"[a-z0-9]+(?:['._@/:+#\-]+[a-z0-9]+)*[+#]*")
_LETTER = rf"(?!_)[\w{MARKS}]"  # of a script with spaces: the others are cut out before
_ANY = re.compile(rf"[{EMOJI}]|(?:{_LETTER})+(?:['._@/:+#\-]+(?:{_LETTER})+)*[+#]*")
UNSPACED_RUN = re.compile(rf"([{UNSPACED}]+)")  # shared: to compile so wide a class takes milliseconds
_LATIN_WORD = re.compile(r"[A-Za-z]+")
_PARTS = re.compile(r"[._@/:+#\-]+")
_LATIN_ACCENTS = re.compile(r"[\u0300-\u036f]")
_PUNCTUATION = re.compile(r"[\s.,;:!?。，；：！？、~…\"'“”‘’「」『』]+")
# May be combining marks: none of these is a letter, but for the two of half-width kana that become marks.
_MARK = r"(?:[^\w\s\x00-\u02ff]|[\uff9e\uff9f])"
_PERHAPS_A_MARK, _PERHAPS_MARKS = re.compile(_MARK), re.compile(f"{_MARK}{{{MANY_MARKS},}}")
_PLAIN = str.maketrans(
    {"ø": "o", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "\\": "/", "’": "'", "_": " "}
)
_TO_SIMPLE = str.maketrans(HASHED + FURTHER, HASHED_SIMPLIFIED + FURTHER_SIMPLIFIED)
_TO_HASHED = str.maketrans(HASHED, HASHED_SIMPLIFIED)
_TO_TRADITIONAL: defaultdict[str, str] = defaultdict(str)
for _traditional, _simplified in _TO_SIMPLE.items():
    _TO_TRADITIONAL[chr(_simplified)] += chr(_traditional)
_TWO_WAYS = frozenset(HASHED + FURTHER).union(_TO_TRADITIONAL)
_NOT_PLAIN = re.compile(r"[øæœđðþłı\\’_]")  # to look is ten times faster than to translate


class _Words(dict[str, tuple[str, ...]]):
    """Cache from raw words to their tokens."""

    def __missing__(self, raw: str) -> tuple[str, ...]:
        tokens = tuple(_word(raw))
        if len(raw) <= TOKEN_CHARS:  # longer ones are hardly met again, and would fill the memory
            if len(self) >= CACHED_WORDS:
                self.clear()
            self[raw] = tokens
        return tokens


def _word(raw: str) -> list[str]:
    raw = raw.removesuffix("'s").replace("'", "")
    if not raw or raw in STOP_WORDS:
        return []
    parts = [part for part in _PARTS.split(raw) if part]
    if parts == [raw]:
        return [_stem(raw)]
    return [raw[:TOKEN_CHARS], *(_stem(part) for part in parts if part not in STOP_WORDS)]


def _stem(word: str) -> str:
    if word.isascii() and word.isalpha() and len(word) <= TOKEN_CHARS:
        return str(_PORTER.stemWord(word))
    return word[:TOKEN_CHARS]


_PORTER = Stemmer("porter", 0)  # without its own cache: ours is in front of it
_WORDS = _Words()


def normal(text: str) -> str:
    """
    The text in NFKC, in time proportional to its length.

    Python sorts a run of combining marks by insertion: seconds for 60 KB of them. A long run is put in
    order here before, which changes nothing of the result. (It would show in one of every MANY_MARKS characters.)
    """
    if len(text) >= MANY_MARKS and any(map(_is_mark, _PERHAPS_A_MARK.findall(text[::MANY_MARKS]))):
        text = _PERHAPS_MARKS.sub(_in_order, text)
    return unicodedata.normalize("NFKC", text)


def _is_mark(character: str) -> bool:
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) > 0


def _in_order(run: re.Match[str]) -> str:
    decomposed = (part for character in run[0] for part in unicodedata.normalize("NFKD", character))
    marks = groupby(decomposed, key=lambda part: unicodedata.combining(part) > 0)
    return "".join("".join(sorted(group, key=unicodedata.combining) if among else group) for among, group in marks)


def fold(text: str) -> str:
    """Fold width, case, accents and Chinese variants: for comparing, never for showing."""
    return _fold(text) if text.isascii() else simple(_fold(text))


def _fold(text: str) -> str:
    """Fold width, case and accents: the input of search tokens."""
    if text.isascii():
        return text.lower().translate(_PLAIN)
    text = normal(text).casefold()
    if _NOT_PLAIN.search(text):
        text = text.translate(_PLAIN)
    if _LATIN_ACCENTS.search(decomposed := unicodedata.normalize("NFD", text)):
        text = unicodedata.normalize("NFC", _LATIN_ACCENTS.sub("", decomposed))
    return text


def simple(text: str) -> str:
    """Return the text in simplified characters, one for one."""
    return text.translate(_TO_SIMPLE)


def writings(word: str) -> list[str]:
    """
    Return other writings of a word, at most MOST_WRITINGS: 过敏 also 過敏, 發票 also 发票.

    The index keeps each word as it was written, so a question looks for it in all.
    """
    if _TWO_WAYS.isdisjoint(word):
        return []
    every = map("".join, product(*(character + _TO_TRADITIONAL.get(character, "") for character in simple(word))))
    return [other for other in islice(every, MOST_WRITINGS + 1) if other != word][:MOST_WRITINGS]


def plain(text: str) -> str:
    """Return the folded words of a text without punctuation."""
    return _PUNCTUATION.sub(" ", fold(text)).strip()


def hashed_plain(text: str) -> str:
    """Like `plain`, in the frozen form that stored hashes were made of."""
    return _PUNCTUATION.sub(" ", _fold(text).translate(_TO_HASHED)).strip()


def tokens(text: str) -> Tokens:
    """Return the search tokens of a stored text, of at most INDEXED_CHARS characters."""
    folded = _fold(text[:INDEXED_CHARS])[:INDEXED_CHARS]
    if folded.isascii():
        return Tokens([token for raw in _ASCII.findall(folded) for token in _WORDS[raw]], [])
    words: list[str] = []
    characters: list[str] = []
    for place, run in enumerate(UNSPACED_RUN.split(folded)):
        if place % 2:
            characters += run
            words += map(add, run, run[1:])
        elif run:
            words += [token for raw in (_ASCII if run.isascii() else _ANY).findall(run) for token in _WORDS[raw]]
    return Tokens(words, characters)


def language_of(text: str) -> str:
    """Return the language that most of a text is in, en or zh: a Chinese character counts as a word."""
    return "zh" if sum(map(len, UNSPACED_RUN.findall(text))) > len(_LATIN_WORD.findall(text)) else "en"


def question(text: str) -> Tokens:
    """
    Return the distinct search terms of a question, in order, at most QUESTION_TERMS of each sort.

    Chinese function characters, and pairs made of them alone, ask for nothing and are left out,
    unless the question has nothing else.
    """
    found = tokens(text[:QUESTION_CHARS])
    words = list(dict.fromkeys(word for word in found.words if not FUNCTION_CHARACTERS.issuperset(word)))
    characters = list(dict.fromkeys(c for c in found.characters if c not in FUNCTION_CHARACTERS))
    if not words and not characters:
        words, characters = list(dict.fromkeys(found.words)), list(dict.fromkeys(found.characters))
    return Tokens(words[:QUESTION_TERMS], characters[:QUESTION_TERMS])
