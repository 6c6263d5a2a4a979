"""
Generated bilingual conversations, statements and questions, deterministic per seed.

Three turns in five are English, two are Chinese; a turn has about 250 bytes and every fourth one borrows words
of the other language. Words are drawn by Zipf's law from an invented vocabulary with real endings and real
function words, so that stems, stop words and common terms occur as often as in talk. No text is anybody's.
"""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate, islice
from typing import Any

ENGLISH_SHARE = 0.6  # of the turns
BORROWING_SHARE = 0.25  # of the turns hold a few words of the other language
SESSION_TURNS = 12  # on average
ENGLISH_WORDS, CHINESE_WORDS, NAMES = 30_000, 15_000, 1_000
ZIPF_OFFSET = 20  # of the rank (Mandelbrot): the commonest content word is in about one turn in ten
FUNCTION_SHARE = 0.42  # of the words of English talk are function words
START = datetime(2016, 1, 1, 8, tzinfo=UTC)
PAUSE = timedelta(minutes=20)  # between sessions: a million turns end before today, so none counts as said ahead of its time

_FUNCTION = "the to and of a in is that it for was on are with as at be this have from or had by not but what some".split()
_SPEAKERS = ("Ann", "Ben", "王芳", "李雷")
_CITIES = "Oslo Bergen Lisbon Kyoto Geneva Turin Quito Porto 杭州 青岛 成都 厦门 大理 苏州 西安 桂林".split()
_NO_HIT = "zzyzx qwopl vrrmk jxkcd 龘靐 齉爩 麤龖 灪籱".split()
MIXES = ("english", "chinese", "mixed", "slot", "no hit")


class Corpus:
    """A source of texts. Two of one seed give the same texts in the same order of calls."""

    def __init__(self, seed: int = 7) -> None:
        self.random = random.Random(seed)
        self.english = sorted(_distinct(self._english_word, ENGLISH_WORDS), key=lambda word: len(word) + self.random.gauss(0, 3))
        self.chinese = _distinct(self._chinese_word, CHINESE_WORDS)
        self.names = [word.capitalize() for word in self.random.sample(self.english, NAMES)]
        self._weights = {
            len(words): list(accumulate(1 / (rank + ZIPF_OFFSET) for rank in range(len(words))))
            for words in (self.english, self.chinese)
        }

    def turns(self, count: int) -> list[dict[str, Any]]:
        """Turns as `record` takes them, in sessions of about a dozen."""
        return list(islice(self._talk(), count))

    def statements(self, count: int) -> list[str]:
        """Sentences that fill a slot: where somebody lives and works, when something is due. Some replace others."""
        forms = (
            "{name} lives in {city}.",
            "{name} works at {word} {word2}.",
            "The deadline of {word} is 2026-{month:02}-{day:02}.",
            "{name} likes {word} and {word2}.",
            "{name}住在{city}。",
            "{name}喜欢{zh}{zh2}。",
        )
        return [
            self.random.choice(forms).format(
                name=self.random.choice(self.names),
                city=self.random.choice(_CITIES),
                word=self._word(),
                word2=self._word(),
                zh=self._pick(self.chinese),
                zh2=self._pick(self.chinese),
                month=self.random.randint(1, 12),
                day=self.random.randint(1, 28),
            )
            for _ in range(count)
        ]

    def questions(self, mix: str, texts: list[str], count: int) -> list[str]:
        """Questions of two to eight content words, most of them from one of the texts, so that there is an answer."""
        return [self._question(mix, texts) for _ in range(count)]

    # ------------------------------------------------------------------ turns

    def _talk(self) -> Iterator[dict[str, Any]]:
        at, session, left = START, 0, 0
        while True:
            if not left:
                session, left, at = session + 1, self.random.randint(6, 2 * SESSION_TURNS - 6), at + PAUSE
            left, at = left - 1, at + timedelta(seconds=self.random.randint(5, 300))
            said = self._english_turn if self.random.random() < ENGLISH_SHARE else self._chinese_turn
            yield {
                "role": "user" if left % 2 else "assistant",
                "content": said(),
                "session": f"s{session}",
                "speaker": self.random.choice(_SPEAKERS),
                "said_at": at,
            }

    def _english_turn(self) -> str:
        words: list[str] = []
        for content in self.random.choices(self.english, cum_weights=self._weights[ENGLISH_WORDS], k=self.random.randint(8, 44)):
            while self.random.random() < FUNCTION_SHARE:
                words.append(self.random.choice(_FUNCTION))
            words.append(content)
        if self.random.random() < BORROWING_SHARE:
            words.insert(len(words) // 2, self._pick(self.chinese))
        return " ".join(words).capitalize() + "."

    def _chinese_turn(self) -> str:
        words = self.random.choices(self.chinese, cum_weights=self._weights[CHINESE_WORDS], k=self.random.randint(14, 62))
        if self.random.random() < BORROWING_SHARE:
            words[len(words) // 2] = self._word()
        for comma in range(8, len(words), 9):
            words[comma] += "，"
        return "".join(words) + "。"

    def _question(self, mix: str, texts: list[str]) -> str:
        count = self.random.randint(2, 8)
        if mix == "slot":
            name = self.random.choice(self.names)
            return self.random.choice((f"Where does {name} live?", f"{name}住在哪里？"))
        if mix == "no hit":
            return " ".join(self.random.sample(_NO_HIT, min(count, len(_NO_HIT))))
        english = [word for word in self._of(texts, ascii_=True).split() if word.strip(".").lower() not in _FUNCTION]
        chinese = self._of(texts, ascii_=False).replace("，", "")
        at = self.random.randrange(max(1, len(chinese) - 2 * count))
        match mix:
            case "english":
                return f"What was it with {' '.join(self.random.sample(english, min(count, len(english))))}?"
            case "chinese":
                return f"{chinese[at : at + 2 * count]}是什么？"
        return f"{' '.join(self.random.sample(english, min(count // 2 + 1, len(english))))} {chinese[at : at + count]}？"

    def _of(self, texts: list[str], *, ascii_: bool) -> str:
        """One of the texts, all English or mostly Chinese."""
        while True:
            if (text := self.random.choice(texts)).isascii() == ascii_ and (ascii_ or not text[0].isascii()):
                return text

    # ------------------------------------------------------------------ words

    def _word(self) -> str:
        return self._pick(self.english)

    def _pick(self, words: list[str]) -> str:
        return self.random.choices(words, cum_weights=self._weights[len(words)])[0]

    def _english_word(self) -> str:
        syllables = ("".join(self.random.choice(part) for part in _SYLLABLE) for _ in range(self.random.randint(1, 3)))
        return "".join(syllables) + self.random.choice(_ENDINGS)

    def _chinese_word(self) -> str:
        """One to three characters; a few hundred are common, as in talk."""
        lengths = self.random.choices((1, 2, 3), (0.1, 0.8, 0.1))[0]
        return "".join(chr(0x4E00 + int(self.random.random() ** 2 * 3_500)) for _ in range(lengths))


_SYLLABLE = (
    "b c d f g h j k l m n p r s t v w br cr dr fl gr pl sh st th tr".split(),
    "a e i o u ea ou".split(),
    " n r l s t nd rk".split(" "),
)
_ENDINGS = " s ed ing er ly ness tion al y".split(" ")


def _distinct(make: Any, count: int) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < count:
        words.setdefault(make())
    return list(words)
