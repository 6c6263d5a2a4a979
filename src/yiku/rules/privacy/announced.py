"""
Credentials that are known by what announces them: a word such as `password`, `api key`, 密钥, and then a value that looks random.

    DB_PASSWORD=…   "apiKey": "…"   | API key | … |   <token>…</token>   --token …   the api key for prod is …   数据库密码 …

First each announcing word is looked for, as a literal. What stands between it and the value (GLUE) may be signs, markup, a
line break and a few words, and says how much the value itself must show: little behind an equals sign, much behind a space.
The value is looked at without being taken, so that an announcement never hides another one inside its value:
of `API_KEY=https://x/d?access_token=…` the token is found, because an address is no credential.

Everything is bounded: 32 characters before the word, some 200 behind it, then the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from yiku.rules.privacy.forms import Span
from yiku.rules.privacy.randomness import is_placeholder, looks_random, looks_strong


class _Word(NamedTuple):
    """An announcing word: what it begins with, literally, what may follow in it, and what the mark calls the value."""

    literal: str
    rest: str = ""
    kind: str = "api-key"


# A password may be what somebody can type; a key or a token is longer.
WORDS = (
    _Word("pass", r"(?:word|wd|phrase|code|key)?+s?", "password"),
    _Word("pwd", "", "password"),
    _Word("pw", "(?<![a-z0-9]pw)", "password"),
    _Word("identified by", "", "password"),
    _Word("secret", "s?"),
    _Word("cred", r"(?:ential)?+s?"),
    _Word("token", "s?"),
    _Word("auth", r"(?!0)(?:ori[sz]ation|entication)?+"),
    _Word("bearer", "", "authorization"),
    _Word("key", "s?"),
    *(_Word(word, rf"(?<![a-z0-9]{word})(?=[\s\"'`]{{0,4}}[:=：＝])") for word in ("sk", "ak", "pat")),
)
CHINESE = (
    *(_Word(word, "", "password") for word in ("密码", "密碼", "口令")),
    *(_Word(word) for word in ("密钥", "密鑰", "密匙", "秘钥", "金鑰", "私钥", "私鑰", "令牌", "凭证", "憑證", "凭据", "授权码")),
)


# What the word's name may go on with.
_TAIL = (
    r"(?:[_. -]?(?:access[_-]?)?(?:key|secret|token|value|string|base)s?)?+"
    r"(?:[_.-]?(?:prod(?:uction)?|live|test|dev(?:elopment)?|stag(?:e|ing)|stg|main|default|old|new|local|v?[0-9]{1,2}))?+"
    r"(?![a-z0-9])"
)
_SIGNS = r"""(?:[\s"'`*\[\]()}:=：＝|>→,、“「”」（）【】-]|_(?=[_*\s:=])|\\[nrt"'\n]|%(?:3[ad]|2[027]))"""
_OPENING = r"""(?=[\s"'`*\[(:=：＝|>→,“（【<_\\%\u4e00-\u9fff-])"""  # what stands right behind a name that a value follows
_LINKS = (
    r"is|was|are|be|will|now|set|to|changed|value|val|default|content|string|data|like|equals|use|still|here|following|new|rotated"
    r"|basic|bearer|token|apikey|body|prod|text|code"
)
_GLUE = (
    r"(?:\s?[(（\[【][^()（）\[\]【】\n\"'`0-9]{1,24}[)）\]】]"
    rf"|{_SIGNS}{{1,24}}+"
    rf"|(?:{_LINKS})(?![a-z0-9])"
    r"|</?[a-z][a-z0-9:-]{0,20}(?:[ \t][^<>\n]{0,60})?>"
    r"|(?:for|of|in|on|from|at)(?: [\w.'/-]{1,20}){1,4}?(?= ?(?:is|was|=|:|：)[\s:=\"'])"
    r"|[\u4e00-\u9fff]{1,8}"
    r")"
)
_VALUE = r"""[^\s"'`,;&<>(){}|\[\]\u4e00-\u9fff，。；、：！？“”「」（）【】《》]"""
# behind the glue eight characters with a digit or a sign among them, which nearly all of what people write has not
_TELLING = "0-9!@#$%^*+?~"
_LIKELY = rf"(?={_VALUE}{{8}})(?={_VALUE.replace('[^', f'[^{_TELLING}')}{{0,48}}+[{_TELLING}])"
_TAKEN = re.compile(rf"""(?:{_VALUE}|&(?!\w{{1,40}}=)){{8,4096}}+(?!\()""")
_REACH = 200  # characters behind a name, before the first digit or sign of its value
_PEEK = 72  # characters of a value that are judged
_CLEAR = re.compile(r"[:=：＝|→>]|->|%3[ad]|\b(?:is|was|are|be|to|value|default)\b|是|为|為|成|下")
_SIGN = re.compile(r"[:=：＝|→>]|%3[ad]")
_ENDS = ".!?:"
_QUOTES = ("'", '"', "`")
_SPACE = re.compile(r"[\s\"'`]")
_NEXT = re.compile(r"[#\w.$-]+[:=](?!=*\Z)")
_NAME_CHARS = 32
_IN_NAMES = "abcdefghijklmnopqrstuvwxyz0123456789_.-"
_OTHER = tuple(  # what stands before a key or token that opens nothing
    "page sync cursor next continue continuation resume resumption delta public pub primary foreign partition cache sort row object map"
    " dict idempotency idempotent dedup deduplication unique group routing index fingerprint registry short hot recv sequence s3"
    " bucket event ssh host".split()
)
_OPENS = tuple(  # what makes a key one that opens something
    "api access secret private account auth sign signing encrypt encryption master service app client license shared webhook admin root"
    " deploy user subscription consumer function storage write server security"
    " openai anthropic gemini google azure aws github gitlab slack stripe twilio sendgrid huggingface mistral groq cohere deepseek"
    " dashscope qwen moonshot zhipu pinecone tavily datadog cloudflare vercel sentry notion airtable supabase firebase mapbox algolia"
    " aliyun alipay tencent wechat baidu volcengine".split()
)


@cache
def _pattern(word: _Word) -> re.Pattern[str]:
    """A word with what may belong to its name, if a digit or sign follows soon; most are never needed."""
    end = _TAIL + _OPENING if word.literal.isascii() else ""
    return re.compile(rf"{word.literal}{word.rest}{end}(?=[^{_TELLING}]{{0,{_REACH}}}+[{_TELLING}])")


@cache
def _glue(least: int) -> re.Pattern[str]:
    """What stands between a name and its value, of at least so many pieces; a value is to come."""
    return re.compile(rf"({_GLUE}{{{least},8}}+){_LIKELY}")


def found(text: str) -> Iterator[Span]:
    """The values that are announced as credentials. Some may overlap."""
    low = text.lower()
    if len(low) != len(text):  # İ alone becomes two
        low = text.replace("İ", "i").lower()
    for word in WORDS if text.isascii() else WORDS + CHINESE:
        if word.literal not in low:
            continue
        glue = _glue(1 if word.literal.isascii() else 0)
        position = 0
        while match := _pattern(word).search(low, position):
            position = match.start() + len(word.literal)
            between = glue.match(low, match.end())
            if between and (span := _judged(text, low, word, match.start(), between)):
                yield span
                position = span.end


def _judged(text: str, low: str, word: _Word, at: int, between: re.Match[str]) -> Span | None:
    """The value behind an announcement, if it looks like what was announced."""
    start, glue = between.end(), between[1]
    before = low[max(0, at - _NAME_CHARS) : at]
    rest = before.rstrip(_IN_NAMES)
    name = before[len(rest) :].rstrip("_.-") or rest.rstrip()
    if word.kind != "password" and name.removesuffix("key").endswith(_OTHER):
        return None
    peek = _TAKEN.match(text, start, start + _PEEK)
    if not peek or _is_code(peek[0], glue):
        return None
    value = peek[0].rstrip(_ENDS)
    is_flag = before.startswith("-", len(rest)) and (not rest or rest[-1].isspace())
    opens = word.literal != "key" or name.endswith(_OPENS)
    if not looks_random(value, at_least=8) or not _suffices(word, value, glue, is_flag=is_flag, opens=opens):
        return None
    end = start + len(value)
    if peek.end() == start + _PEEK and (whole := _TAKEN.match(text, start)):
        end = start + len(whole[0].rstrip(_ENDS))
    if glue[-1:] in _QUOTES and (closing := text.find(glue[-1], end, end + _PEEK)) >= 0 and not _SPACE.search(text, end, closing):
        end = closing
    return Span(start, end, word.kind)


def _suffices(word: _Word, value: str, glue: str, *, is_flag: bool, opens: bool) -> bool:
    """Whether a value that looks random shows as much as its announcement asks of it."""
    is_clear = is_flag or _CLEAR.search(glue) is not None
    if not opens:  # a key of something
        return is_clear and "\n" not in glue and looks_strong(value, at_least=20, every=True)
    if word.kind == "authorization":
        return len(value) >= 12
    if not is_clear and ")" in glue:  # the end of a call
        return False
    if not is_clear or len(word.literal) < 3 or word.literal == "pat":
        return looks_strong(value, at_least=12 if word.kind == "password" else 16)
    return is_flag or _SIGN.search(glue) is not None or looks_strong(value, at_least=10)


def _is_code(value: str, glue: str) -> bool:
    """Whether what follows an announcement goes on with something else: the next line's own name, what is joined to a string, `...`."""
    if ("\n" in glue or "\\n" in glue) and _NEXT.match(value):
        return True
    return value.endswith("...") or (glue[-1:] in _QUOTES and value[0] in "+.%")


# ------------------------------------------------------------------ addresses and commands

_USER_AND_PASSWORD = re.compile(r"://[^\s/:@\"'<>]{0,64}:([^\s/\"'<>]{3,128})@")
_USER_ALONE = re.compile(r"://([^\s/:@\"'<>]{16,256})@")
_LOGIN = re.compile(r"login(?<!\wlogin)\s{1,4}\S{1,128}\s{1,8}password\s{1,4}(\S{4,256})")


class _Command(NamedTuple):
    """A command that takes a credential behind a flag or a name; group 1 is the credential."""

    literal: str
    rest: str
    programs: str  # one of these stands before it on its line; anything if empty


COMMANDS = (
    _Command(" -u", r"[ =]?[\"']?[^\s:\"']{1,64}:(?!:)([^\s\"']{4,128})", ""),
    _Command(" --user", r"[ =][\"']?[^\s:\"']{1,64}:([^\s\"']{4,128})", ""),
    _Command(" -p", r"[\"']?([^\s\"'|&;=-][^\s\"'|&;]{3,127})", "mysql mariadb mysqldump mysqladmin sshpass 7z 7za"),
    _Command(" -p", r" [\"']?([^\s\"'|&;-][^\s\"'|&;]{3,127})", "sshpass docker podman nerdctl helm"),
    _Command(" -P", r"[ ]?[\"']?([^\s\"'|&;-][^\s\"'|&;]{3,127})", "zip unzip"),
    _Command(" -a", r" [\"']?([^\s\"'|&;-][^\s\"'|&;]{3,127})", "redis-cli"),
    _Command(" -w", r" [\"']?([^\s\"'|&;-][^\s\"'|&;]{3,127})", "ldapsearch ldapmodify ldapadd"),
    _Command(" -U", r" [\"']?[^\s%\"']{1,64}%([^\s\"'|&;]{4,128})", "smbclient rpcclient"),
)
_FLAGS = re.compile(" -([-upPawU])")
_LINE = 200  # characters before a flag in which its program is looked for


def in_commands(text: str) -> Iterator[Span]:
    """Passwords in addresses, on command lines and in netrc files: what stands there is one, whatever it looks like."""
    if "://" in text and "@" in text:
        yield from _each(_USER_AND_PASSWORD, text, "url-password")
        for match in _USER_ALONE.finditer(text):
            if looks_random(match[1], at_least=16):
                yield Span(*match.span(1), "url-password")
    if "login" in text:
        yield from _each(_LOGIN, text, "netrc-password")
    flags = {*_FLAGS.findall(text)} if " -" in text else set()
    for literal, rest, programs in COMMANDS if flags else ():
        known = programs.split()
        if literal[2] not in flags or (known and not any(program in text for program in known)):
            continue
        for match in _compiled(re.escape(literal) + rest).finditer(text):
            line = text[max(0, match.start() - _LINE) : match.start()].rpartition("\n")[2]
            if known and not any(program in line for program in known):
                continue
            if not is_placeholder(match[1]):
                yield Span(*match.span(1), "password" if known else "basic-auth")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _each(pattern: re.Pattern[str], text: str, kind: str) -> Iterator[Span]:
    return (Span(*match.span(1), kind) for match in pattern.finditer(text) if not is_placeholder(match[1]))
