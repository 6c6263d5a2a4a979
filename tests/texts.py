"""
Generate texts from a seed as people send them: talk in both languages, quotations, floods, repetitions.

Also runs of one sign, code of this repository, logs, JSON, base64, hex, minified scripts, endless prose, and mixtures of all.
"""

import base64
import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from faults.hostile import UNITS

PASTES = "log json base64 hex script english novel talk code".split()
CHAT_CHARS = 4_000  # up to which a turn is learned from before `record_turn` returns
_QUOTES = (
    '"{}"',
    "“{}”",
    "「{}」",
    "『{}』",
    "‘{}’",
    "({})",
    "（{}）",
    "[{}]",
    "<b>{}</b>",
    "`{}`",
    "```\n{}\n```",
    "**{}**",
    "> {}\n",
)
_OPENINGS = """
    so|and|but|well|oh|ok|as|like|since|because|also|now|no|wait|actually|sorry|by the way|for the record|i think i|i remember that i
    所以|然后|不过|其实|对了|因为|虽然|首先|补充一下|说实话|不对|等等|哈哈|嗯嗯
""".replace("\n", "|")
_PARTS = """
    I live in Oslo|my sister Ann moved to Bergen last week|we use Postgres 16|my boss is called Ole|i'm allergic to nuts|from now on be brief
    |remember that the deadline is 4 March|I used to smoke|I'm not going there any more|that's a plan|please restart the server before noon
    |just kidding|forget that|call me Mei|it's 54 an hour, not 45|at half past six|every other Friday|who wants tea|did I say that
    |我住在上海|我妈喜欢喝绿茶|我们用的是 Postgres 16|明天上午十点开会|以后都用中文回答|记得提醒我交报告|我以前抽烟|开玩笑的|我对花生过敏
    |截止日期推迟到20号了|我弟在腾讯上班|每天早上六点半跑步|他叫老王|上一条作废|三百五十块|房租是每月3500元|我想问一下|有什么推荐吗
""".replace("\n", "")
_SIGNS = (
    ", ",
    ". ",
    "! ",
    "? ",
    " - ",
    ": ",
    "; ",
    "\n",
    "\n\n- ",
    " ",
    "…",
    "，",
    "。",
    "！",
    "？",
    "：",
    "；",
    "、",
    "\n1. ",
    " and ",
    " but ",
    "",
)


def _words(text: str) -> list[str]:
    return [word for part in text.split("|") if (word := part.strip())]


@cache
def _code() -> str:
    root = Path(__file__).parent.parent
    return "".join(
        path.read_text() for place in ("src/yiku/rules", "src/yiku/flows") for path in sorted((root / place).rglob("*.py"))
    )


@cache
def _prose(chinese: bool) -> list[str]:
    text = (Path(__file__).parent.parent / ("README.zh.md" if chinese else "docs/durability.md")).read_text()
    return list(filter(None, text.split("\n\n"))) if chinese else text.split()


def talk(chance: random.Random) -> str:
    """Some clauses with openings and signs around them, some of them quoted."""
    openings, parts, sentences = _words(_OPENINGS), _words(_PARTS), []
    for _ in range(chance.choice((1, 2, 3, 8, 20))):
        said = " ".join(chance.choice(openings) for _ in range(chance.choice((0, 0, 1, 3)))) + " " + chance.choice(parts)
        sentences += [chance.choice(_QUOTES).format(said) if chance.random() < 0.3 else said, chance.choice(_SIGNS)]
    return "".join(sentences).strip() or "早"


def quotation(chance: random.Random) -> str:
    """A long quotation, or several, before words that open a clause: what is quoted is blanked."""
    quoted = chance.choice(_QUOTES).format(" ".join(chance.choice(_words(_PARTS)) for _ in range(chance.randint(1, 12))))
    return quoted + " " + talk(chance)


def flood(chance: random.Random) -> str:
    """One sign, word or clause, again and again, with something before and behind it."""
    unit = chance.choice([*map(chr, range(32, 127)), *UNITS, *_words(_OPENINGS), *_words(_PARTS), "哈", "，", "「", "\t", "\n"])
    size = int(CHAT_CHARS ** chance.uniform(0.4, 1)) - 40
    return (
        chance.choice(("", "我", "I ", "my ", "so ", "“"))
        + (unit * size)[:size]
        + chance.choice(("", "x", " now", "了", "?", "\n!"))
    )


def code(chance: random.Random) -> str:
    """A piece of the code of this repository."""
    start = chance.randrange(len(_code()))
    return _code()[start : start + int(CHAT_CHARS ** chance.uniform(0.5, 1))] or "x"


def mixed(chance: random.Random) -> str:
    """Several of these, one inside the other."""
    outer, inner = chance.choice((talk, code, quotation))(chance), chance.choice((talk, flood, quotation))(chance)
    place = chance.randrange(len(outer))
    return f"{outer[:place]}{inner}{outer[place:]}"[:CHAT_CHARS]


def pasted(chance: random.Random, size: int, kind: str | None = None) -> str:
    """So many characters of what people paste: of one kind, or of any, runs of one sign among them."""
    makers: dict[str, Callable[[], str]] = {
        "log": lambda: (
            f"2026-03-01T12:00:{chance.randrange(60):02}Z INFO [w-{chance.randrange(9)}]"
            f" id={chance.randrange(16**8):08x} took {chance.randrange(999)}ms\n"
        ),
        "json": lambda: json.dumps({"id": chance.randrange(9999), "name": talk(chance)[:40]}, ensure_ascii=False) + ",\n",
        "base64": lambda: base64.b64encode(chance.randbytes(3_000)).decode(),
        "hex": lambda: chance.randbytes(2_000).hex(),
        "script": lambda: (
            f"function {chance.choice('abc')}(e,t){{var n=e[{chance.randrange(99)}]||t.key;return n?n.get('x'):null}};"
        ),
        "english": lambda: " ".join(chance.choice(_prose(False)) for _ in range(12)) + chance.choice((". ", "\n", " ")),
        "novel": lambda: chance.choice(_prose(True)) + chance.choice(("。", "\n", "，")),
        "talk": lambda: talk(chance) + "\n",
        "code": lambda: _code()[chance.randrange(len(_code())) :][:2_000],
    }
    if kind is None and chance.random() < 0.3:
        unit = chance.choice([*UNITS, "a", "哈", ".", "x\n", "\t", "=", "- [ ] "])
        return (unit * (size // len(unit) + 1))[:size]
    make, made = makers[kind or chance.choice([*makers])], list[str]()
    while sum(map(len, made)) < size:
        made.append("".join(make() for _ in range(20)))
    return "".join(made)[:size]


def generated(chance: random.Random) -> Iterator[str]:
    """Such texts without an end: nine of ten are as long as what is typed, one of a hundred is as long as a book."""
    while True:
        kind = chance.random()
        if kind < 0.9:
            text = chance.choice((talk, talk, quotation, quotation, flood, flood, code, mixed))(chance)
        else:
            text = pasted(chance, int(chance.uniform(CHAT_CHARS, 64_000)) if kind < 0.99 else int(chance.uniform(64_000, 500_000)))
            text = text.encode()[:1_000_000].decode(errors="ignore")
        yield text if text.strip() else "x"
