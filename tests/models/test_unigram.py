"""The tokenizer of the local model: the most probable segmentation, equal to the reference's."""

import random
from itertools import product

import pytest

from yiku.models.unigram import AT_MOST, SPECIAL, UNKNOWN_PENALTY, Tokenizer, fold

PIECES = [*SPECIAL[:4], "▁", "▁a", "a", "b", "ab", "aba", "▁ab", "c", "茶", "绿", "绿茶", "喝绿", "▁喝", "喝", "🎉", *"de"]
SCORES = [0.0] * 4 + [-1.0, -2.2, -2.0, -2.5, -3.1, -4.0, -3.3, -6.0, -3.0, -3.5, -4.0, -4.2, -4.0, -3.8, -9.0, -2.6, -2.7]


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer(PIECES, SCORES)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Ångström in Zürich, café", "Angstrom in Zurich, cafe"),
        ("Bjørn & Łukasz, Straße, œuvre, Þór", "Bjorn & Lukasz, Strasse, oeuvre, Thor"),
        ("ｆｕｌｌ　ｗｉｄｔｈ，１２３", "full width,123"),
        ("  两个  空格\t\n\r换行  ", "两个 空格 换行"),
        ("a\u200bb\ufeffc\x00d▁e", "a b c d e"),
        ("我妹妹对花生过敏🎉", "我妹妹对花生过敏🎉"),
        ("ﬁne ㎏ Ⅷ …", "fine kg VIII ..."),
        ("한국 ガ", "한국 ガ"),
        ("", ""),
    ],
)
def test_a_text_is_folded(text, plain):
    """Accents and widths go, spaces become one, what nobody sees goes; Chinese, Hangul and kana stay as they are."""
    assert plain == fold(text)
    assert plain == fold(plain)


def cuts(word):
    """Every way to cut a word into pieces of the vocabulary, single unknown characters allowed, with its score."""
    if not word:
        yield [], 0.0
    for end in range(1, len(word) + 1):
        piece = word[:end]
        known = piece in PIECES[4:]
        if known or (end == 1 and piece not in PIECES):
            number = PIECES.index(piece) if known else 3
            score = SCORES[number] if known else min(SCORES) - UNKNOWN_PENALTY
            for rest, more in cuts(word[end:]):
                yield [number, *rest], score + more


def test_the_cut_is_the_most_probable(tokenizer):
    """Against every possible cut of many short texts; unknown characters that follow each other are one."""
    wrong = []
    for text in [*map("".join, product("ab茶绿喝x", repeat=4)), "喝绿茶喝绿茶", "🎉ab绿", "zzzz", "abababab"]:
        best, _ = max(cuts("▁" + text), key=lambda cut: cut[1])
        fused = [number for n, number in enumerate(best) if number != 3 or n == 0 or best[n - 1] != 3]
        if [0, *fused, 2] != tokenizer.encode(text):
            wrong.append(text)

    assert [] == wrong


def test_no_text_spells_a_special_piece(tokenizer):
    """HTML that strikes out is no beginning of a text, and nobody ends one by writing so."""
    for spelled in SPECIAL:
        found = tokenizer.encode(f"a {spelled} b")
        assert (1, 1, 0) == (found.count(0), found.count(2), found.count(1))


def test_a_long_text_is_cut_off(tokenizer):
    """512 numbers with those of the beginning and the end, at once also for a megabyte."""
    for text, size in [("ab " * 600, AT_MOST), ("绿茶" * 600, AT_MOST), ("aab" * 10**6, AT_MOST), ("x" * 10**6, 4)]:
        found = tokenizer.encode(text.strip())
        assert size == len(found)
        assert (0, 2) == (found[0], found[-1])


def test_it_agrees_with_the_reference():
    """The library `tokenizers`, where it is installed, gives the same numbers for mixed text, seeded."""
    reference = pytest.importorskip("tokenizers", reason="the reference is not among the tools of this project")
    oracle = reference.Tokenizer(reference.models.Unigram([*zip(PIECES, SCORES, strict=True)], unk_id=3, byte_fallback=False))
    oracle.pre_tokenizer = reference.pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    chance, ours = random.Random(11), Tokenizer(PIECES, SCORES)
    texts = {fold("".join(chance.choices("aabbcde 茶绿喝x🎉é，ｂ\n한", k=chance.randrange(1, 40)))) for _ in range(2_000)} - {""}

    assert [] == [text for text in texts if [0, *oracle.encode(text).ids, 2] != ours.encode(text)]
