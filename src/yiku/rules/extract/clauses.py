"""
A turn cut into what the speaker says himself, sentence by sentence.

What is quoted, fenced, pasted, logged or fetched is set aside first: it is blanked, letter for letter, so that every
place in what is left is the place in the turn. A turn longer than people talk is material; only how it opens and
how it ends is theirs. Sentences are then cut at their ends, and each knows whether it asks.

Every step is one pass over a bounded text, and no pattern holds a repeat inside a repeat.
"""

# ruff: noqa: E501 (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from yiku.rules.analyze import simple

TALK = 3_000  # characters; what is longer was not typed as talk
ENDS = 600  # characters of such a turn that are looked at, at either end
LONGEST_LINE = 2_000  # characters
LONGEST_SENTENCE = 800  # characters of a sentence that are read; what goes on without an end is no single statement
SHORT_QUOTE = 16  # characters; a name or a title in quotes is the speaker's own, a saying is not
BLANK = "\0"

HAN = re.compile(r"[\u3400-\u9fff]")
_WIDTH = {0xFF01 + n: 0x21 + n for n in range(94)} | {0x3000: 0x20, 0x2019: 0x27, 0x2018: 0x27, 0xA0: 0x20}
_WIDTH |= {ord(a): ord(b) for a, b in zip("，。！？；：", ",。!?;:", strict=True)}

_BLOCKS = (
    r"```.*?(?:```|\Z)",
    r"~~~.*?(?:~~~|\Z)",
    r"<(?P<tag>[a-z][\w-]{0,40})\b[^<>\n]{0,200}>.*?</(?P=tag)>",
    r"&lt;yiku-memory&gt;.*?&lt;/yiku-memory&gt;",
    r"\[(?:private|私密)\]",
)
_LINES = (
    r"[ \t]*(?:>|\||\$ |#!|@@|[+-]{3} |at .{1,200}:\d+|Traceback|File \"|\d{1,2}:\d\d|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d).*"
    r"|[ \t]*(?:import|from|def|class|function|const|let|var|public|private|return|SELECT|INSERT|#include)\b.{0,300}[;{}:()]\s*"
    r"|.*[{};]\s*|.*-->.*|[ \t]*\w*(?:Error|Exception):.*"
    r"|.{1,12}[(（](?:接收|received)[)）].*"
)
_QUOTES = r"“[^”]{1,1500}”|「[^」]{1,1500}」|『[^』]{1,1500}』|\"[^\"]{1,1500}\"|(?<![A-Za-z0-9])‘[^’\n]{1,600}’(?![A-Za-z0-9])"
_OTHERS = r"\b[A-Z][\w' ]{0,30}\b(?:said|says|told me|wrote|replied|texted)\s*[:：][^\n]*|(?<![我们咱俺])[\u3400-\u9fff]{1,6}?(?<![我们咱俺])(?:说|讲|问|回复|写道|发来)\s*[:：][^\n]*"
_SPOKEN = r"(?m)^[ \t]*(?:\*\*)?[A-Z\u3400-\u9fff][\w .\u3400-\u9fff]{0,24}(?:\*\*)?[:：][^\n]+$"
_END = r"[。！？!?…；\n]+[”」』)）]*|(?<![\s.][A-Za-z])(?<!\b[DM]r)(?<!Mrs)(?<!\bvs)(?<!\bSt)(?<!e\.g)(?<!i\.e)(?<!etc)\.+(?=\s|$)|;(?=\s)"

# A task on somebody's words: what stands beside it is material, not something told.
_ON_TEXT = (
    r"(?:^\W*|[,.:;] |\b(?:please|you|to|and|then|just|me|so|also) )(?:rewrite|rephrase|reword|paraphrase|proofread|translate|summari[sz]e|edit|correct|improve|polish|shorten|score|grade|critique|analy[sz]e|change|fix"
    r"|reply|replay|respond|make (?:this|it)|do the same)\b.{0,40}\b(?:this|these|it|that|following|below|above|text|e?-?mail|letter|paragraph|passage|sentences?|essay|conversation|message|draft|part|transcript)\b"
    r"|(?:^|[.:;,] )(?:please )?(?:write|draft|compose) (?:a |an |me )*(?:\w+ )?(?:reply|replay|response|answer)\b"
    r"|(?:翻译|译成|润色|改写|改成|修改|概括|总结|缩写|扩写|校对|点评|回复|整理|转述).{0,12}(?:这|下面|以下|上面|如下|文字|段|句|篇|邮件|短信|对话)|(?:这|下面|以下)(?:段|句|篇|封|条|些)?.{0,8}(?:翻译|译|润色|改写|换个|概括|总结|校对|翻得)"
)
_FICTION = (
    r"\b(?:pretend|role-?play|imagine (?:you|that|a)|act(?:ing)? as|i want you to (?:act|be|play)|suppose\b|hypothetical|you are (?:an?|the|my) (?!one\b|data\b|only\b|best\b|guy\b|first\b|right\b)\w+|continue the (?:scene|story)|fictional|in the (?:style|voice) of|dummy"
    r"|(?:write|draft|create|compose|generate|come up with|give me|tell me|make up)\b.{0,60}\b(?:story|scene|poem|song|lyrics?|dialogue|monologue|script|screenplay|profile|anecdote|fanfic\w*|rap|joke|novel|chapter|characters?|persona))\b"
    r"|假装|扮演(?!.{0,4}角色)|假设(?!前提|条件|检验)|想象一下|(?:请|来)设想|设想一下|(?<!非)虚构|续写|小说|剧本|台词|第一人称|反派|主角|情节|歌词|(?:写|编|来)一?[个篇首段](?:.{0,12})(?:故事|小说|诗|歌|剧|笑话|段子|对话|示例)|换成别的名字|示例"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """
    A sentence where it stands in the turn.

    small:    it, as long as in the turn, in small letters, narrow and simplified forms; what is set aside is blank
    asks:     it ends as a question does
    chinese:  it has Chinese in it
    written:  it as it was written
    """

    start: int
    end: int
    small: str
    asks: bool
    chinese: bool
    written: str


# A turn that an assistant wrote, handed in as the user's.
_ASSISTANT = r"\b(?:as an ai\b|i'?m (?:so )?glad i could|glad (?:i could|to) help|feel free to (?:ask|reach)|if you have any (?:more |other |further )?questions|don'?t hesitate to|how can i (?:assist|help) you|i'?m here to help|is there anything else i can (?:help|assist|do for)|i'?m excited to hear that you|you're welcome!)|很高兴(?:能)?帮助你|作为一个?人工智能|随时(?:告诉|联系)我|还有什么(?:我)?可以帮"


@lru_cache(maxsize=1)  # one turn is read for what it teaches, and then for what it changes
def sentences(text: str) -> tuple[Sentence, ...]:
    """What the speaker says himself, in order; nothing of a turn that makes something up."""
    spans = _spans(len(text))
    found = [sentence for start, end in spans for sentence in _sentences(text[start:end], start)]
    own = " ".join(sentence.small for sentence in found)
    if _pattern(_FICTION).search(own) or _pattern(_ASSISTANT).search(own):
        return ()
    return tuple(_without_material(found))


def note(text: str) -> bool:
    """Whether a text is a note that somebody wrote down for himself: under a title, to nobody, asking nothing."""
    return len(text) <= TALK and _pattern(_TITLE).match(text) is not None and _pattern(_ADDRESSED).search(text) is None


def small(text: str) -> str:
    """A text in small letters, narrow and simplified forms, letter for letter as long as before."""
    if text.isascii():
        return text.lower()
    told = simple(text.translate(_WIDTH))
    lowered = told.lower()
    return lowered if len(lowered) == len(told) else "".join(one if len(one.lower()) > 1 else one.lower() for one in told)


# A short line of Chinese without a verb's company, and what stands under it; and what is said to somebody.
_TITLE = r"\s*(?=[^\n]{0,30}[\u3400-\u9fff]{3})[^\s,，。！？!?：:我你您他她]{4,28}(?: [^\s,，。！？!?：:我你您他她]{2,20})?[ \n]+\S"
_ADDRESSED = r"[你您?？]|谢谢|请问|发送|[吗呢吧]\W"


@cache
def _pattern(says: str) -> re.Pattern[str]:
    return re.compile(says)


def _spans(length: int) -> list[tuple[int, int]]:
    """The parts of a turn that are looked at."""
    if length <= TALK:
        return [(0, length)]
    return [(0, ENDS), (length - ENDS, length)]


def _sentences(text: str, offset: int) -> Iterator[Sentence]:
    own = _own(text)
    position = 0
    for end in [*_pattern(_END).finditer(own), None]:
        ends = end.start() if end else len(own)
        stop = min(ends, position + LONGEST_SENTENCE)
        if own[position:stop].strip(" \t\r\n" + BLANK):
            told = small(own[position:stop])
            sign = end[0] if end and stop == ends else ""
            yield Sentence(
                offset + position,
                offset + stop,
                told,
                "?" in sign or "？" in sign or _asking(told),
                HAN.search(told) is not None,
                own[position:stop],
            )
        position = end.end() if end else ends


def _asking(told: str) -> bool:
    return told.rstrip(" ~,").endswith(("吗", "么", "呢"))


def _own(text: str) -> str:
    """The text with what is not the speaker's own words blanked."""
    if ":" in text or "：" in text:
        text = _pattern(_OTHERS).sub(_blank, text)
    if "`" in text or "<" in text or "~~~" in text or "&lt;" in text or "[" in text:
        for block in _BLOCKS:
            text = re.sub(block, _blank, text, flags=re.DOTALL)
    lines = text.split("\n")
    if len(spoken := _pattern(_SPOKEN).findall(text)) >= 3 and len(spoken) * 2 >= sum(bool(line.strip()) for line in lines):
        text = _pattern(_SPOKEN).sub(_blank, text)
        lines = text.split("\n")
    pasted = [place for place, line in enumerate(lines) if _pasted(line)]
    if len(pasted) >= 3 and len(pasted) * 6 >= len(lines):  # what stands between pasted lines was pasted with them
        pasted = list(range(pasted[0], pasted[-1] + 1))
    for place in pasted:
        lines[place] = BLANK * len(lines[place])
    text = "\n".join(lines)
    return _pattern(_QUOTES).sub(_quote, text)


def _pasted(line: str) -> bool:
    return len(line) > LONGEST_LINE or (line != "" and _pattern(_LINES).fullmatch(line) is not None)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", BLANK, match[0])


def _quote(match: re.Match[str]) -> str:
    inside = match[0][1:-1]
    words = len(HAN.findall(inside)) / 2 + len(inside.split())
    told = words > 5 or len(inside) > SHORT_QUOTE * 2 or re.search(r"[.!?。！？,，]|\bI\b|我", inside.rstrip(",，"))
    return _blank(match) if told else match[0]


def _without_material(found: list[Sentence]) -> Iterator[Sentence]:
    """The sentences but for what a task on somebody's words is about: all behind its colon, and all of a longer text."""
    place = next((n for n, sentence in enumerate(found) if _pattern(_ON_TEXT).search(sentence.small)), None)
    if place is None:
        yield from found
        return
    before, task, after = found[:place], found[place], found[place + 1 :]
    if sum(sentence.end - sentence.start for sentence in before) <= 200:
        yield from before
    handed = ":" in task.small or sum(sentence.end - sentence.start for sentence in after) > 200
    if not handed:
        yield task
        yield from after
