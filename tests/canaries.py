"""
Canary words for erasure tests, and a search for them in every byte under a folder.

The look knows nothing of how Yiku proves an erasure: it reads every file as it lies there, unpacks what is packed,
and looks for pieces of the words, as a search index might keep them: any five letters of a Latin word, in small and
capital letters, any character of a Chinese one (of those that take four bytes), and any five bytes of it.
"""

import contextlib
import random
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

PIECE = 5  # letters
EMPTY = re.compile(rb"\0{8,}")  # half of a database; no piece of a word lies there
LETTERS = re.compile(rb"[A-Za-z\x80-\xff]{4,}")  # every piece lies in one of these


def latin(chance: random.Random, letters: int = 13) -> str:
    """A word without vowels, so that no stemmer and no language knows it, nor the letters of an id: five of them come by chance."""
    return "".join(chance.choices("ghjklmnpqrstvwxz", k=letters))


def chinese(chance: random.Random, characters: int = 4, *, besides: Iterable[str] = ()) -> str:
    """Characters of an extension that hardly a font has, none of which stands in the others; each takes four bytes."""
    taken = set().union(*besides)
    found = [chr(one) for one in chance.sample(range(0x20100, 0x2A600), characters + len(taken))]
    return "".join([one for one in found if one not in taken][:characters])


def pieces(word: str) -> Iterator[bytes]:
    """What a file must not hold, if it must not hold a word."""
    if not word.isascii():
        encoded = word.encode()
        yield from (encoded[start : start + PIECE] for start in range(len(encoded) - PIECE + 1))
        yield from (character.encode() for character in word if ord(character) > 0xFFFF)
        return
    for form in (word, word.upper(), word.lower()):
        yield from (form[start : start + PIECE].encode() for start in range(len(form) - PIECE + 1))


def contents(path: Path) -> Iterator[bytes]:
    """A file's bytes, its name, and what any zlib stream from its beginning unpacks to."""
    raw = path.read_bytes()
    yield EMPTY.sub(b"\0", raw)
    yield str(path.name).encode()
    with contextlib.suppress(zlib.error):
        yield zlib.decompressobj().decompress(raw)


def has_number(content: bytes, number: str) -> bool:
    """Whether a number stands in bytes; not inside of an id or a checksum, whose digits come by chance."""
    return re.search(rb"(?<![0-9a-f])" + number.encode() + rb"(?![0-9a-f])", content) is not None


def sung(folder: Path, words: Iterable[str]) -> list[str]:
    """Where canaries are heard: each file with the words of which it holds a piece."""
    wanted = {word: set(pieces(word)) for word in words}
    assert all(LETTERS.fullmatch(part) for parts in wanted.values() for part in parts)
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
        for letters in (b"\0".join(LETTERS.findall(content)) for content in contents(path)):
            found += [
                f"{path.relative_to(folder)}: {word} {heard[:3]}"
                for word, parts in wanted.items()
                if (heard := [part for part in parts if part in letters])
            ]
    return found
