"""
Detect credentials by context: a random value after `password`, `api key`, 密钥; passwords in URLs and commands.

    DB_PASSWORD=…   "apiKey": "…"   | API key | … |   <token>…</token>   --token …   the api key for prod is …   数据库密码 …

First each announcing word is looked for, as a literal. What stands between it and the value may be signs, markup, a
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

from yiku.rules.lexicon.lists import has, words
from yiku.rules.privacy.forms import Span
from yiku.rules.privacy.randomness import is_placeholder, looks_random, looks_strong
from yiku.rules.text import lazy
from yiku.rules.text.analyze import writings


class _Announcing(NamedTuple):
    """
    A list of announcing words and their conditions.

    kind:       what the mark calls the value
    standalone: no letter or digit stands in front of the word, and the value must show more
    signed:     a sign stands behind it
    opens:      any such thing opens something; a key may be that of a table
    """

    words: str
    kind: str = "api-key"
    standalone: bool = False
    signed: bool = False
    opens: bool = True


# A password may be what somebody can type; a key or a token is longer.
ANNOUNCING = (
    _Announcing("secrets.password", "password"),
    _Announcing("secrets.password_short", "password", standalone=True),
    _Announcing("secrets.token"),
    _Announcing("secrets.bearer", "authorization"),
    _Announcing("secrets.key", opens=False),
    _Announcing("secrets.key_short", standalone=True, signed=True),
)
_OPENING = r"""\s"'`*\[(:=：＝|>→,“（【<_\\%\u4e00-\u9fff-"""  # what stands right behind a name that a value follows
_IS_OPEN = lazy.compile(f"[{_OPENING}]")
_PARTING = frozenset(":=\"'`,")  # a name goes on behind none of these
_PLAIN_WORD = lazy.compile(r"[ :=]([a-z.]{1,40})(?=[\s,;)}\]])")  # no value, and where it ends none goes on
_ASSIGNED = lazy.compile(r"[\s\"'`]{0,4}[:=：＝]")
_NOTE_OR_SIGNS = lazy.compile(
    r"\s?[(（\[【][^()（）\[\]【】\n\"'`0-9]{1,24}[)）\]】]"
    r"""|(?:[\s"'`*\[\]()}:=：＝|>→,、“「”」（）【】-]|_(?=[_*\s:=])|\\[nrt"'\n]|%(?:3[ad]|2[027])){1,24}+"""
)
_TAG_OR_CHINESE = lazy.compile(r"</?[a-z][a-z0-9:-]{0,20}(?:[ \t][^<>\n]{0,60})?>|[\u4e00-\u9fff]{1,8}")
_WORD = lazy.compile(r"[a-z]{2,9}(?![a-z0-9])")
_MOST_PIECES = 8  # between a name and its value
_VALUE = r"""[^\s"'`,;&<>(){}|\[\]\u4e00-\u9fff，。；、：！？“”「」（）【】《》]"""
# behind the glue eight characters with a digit or a sign among them, which nearly all of what people write has not
_TELLING = "0-9!@#$%^*+?~"
_LIKELY = lazy.compile(rf"(?={_VALUE}{{8}})(?={_VALUE.replace('[^', f'[^{_TELLING}')}{{0,48}}+[{_TELLING}])")
_TAKEN = lazy.compile(rf"""(?:{_VALUE}|&(?!\w{{1,40}}=)){{8,4096}}+(?!\()""")
_SOON = rf"(?=[^{_TELLING}]{{0,200}}+[{_TELLING}])"  # behind a name, before the first digit or sign of its value
SHORT = 3  # characters of an announcing word
_PEEK = 72  # characters of a value that are judged
_SIGN = lazy.compile(r"[:=：＝|→>]|%3[ad]")
_ENDS = ".!?:"
_QUOTES = ("'", '"', "`")
_SPACE = lazy.compile(r"[\s\"'`]")
_NEXT = lazy.compile(r"[#\w.$-]+[:=](?!=*\Z)")
_NAME_CHARS = 32
_IN_NAMES = "abcdefghijklmnopqrstuvwxyz0123456789_.-"


@cache
def _patterns(announcing: _Announcing, chinese: bool) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return a pattern for each stem of its words; it begins with the literal."""
    said = (word for word in words(announcing.words) if word.isascii() is not chinese)
    known = sorted(form for word in said for form in (word, *writings(word)))
    stems = [word for word in known if not any(word != other and word.startswith(other) for other in known)]
    more = "".join(sorted({word[0] for name in ("before_noun", "noun", "stage") for word in words(f"secrets.{name}")}))
    opens = "" if chinese else rf"(?=[{more}0-9.{_OPENING}])"
    found = []
    for stem in stems:
        rests = "|".join(re.escape(word.removeprefix(stem)) for word in reversed(known) if word.startswith(stem))
        before = rf"(?<![a-z0-9]{stem})" if announcing.standalone else ""
        found.append((stem, lazy.compile(rf"{re.escape(stem)}{before}(?:{rests})?+{opens}{_SOON}")))
    return tuple(found)


def spans(text: str) -> Iterator[Span]:
    """Yield announced credentials; spans may overlap."""
    low = text.lower()
    if len(low) != len(text):  # İ alone becomes two
        low = text.replace("İ", "i").lower()
    for chinese in (False,) if text.isascii() else (False, True):
        for announcing in ANNOUNCING:
            for stem, pattern in _patterns(announcing, chinese):
                if stem in low:
                    yield from _find_announced(text, low, announcing, stem, pattern)


def _find_announced(text: str, low: str, announcing: _Announcing, stem: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    position, known, spaced = 0, _behind_names(), stem.isascii()
    while match := pattern.search(low, position):
        position, name_end = match.start() + len(stem), match.end()
        if spaced:
            if (word := _PLAIN_WORD.match(low, name_end)) and word[1] not in known:  # most of what only sounds so
                continue
            name_end = _name_end(low, name_end, announcing)
        start = _value_start(low, name_end, at_least=1 if spaced else 0) if name_end else 0
        if start and (span := _judge(text, low, announcing, (match.start(), name_end, start))):
            yield span
            position = span.end


def _name_end(low: str, at: int, announcing: _Announcing) -> int:
    """Return the end of the name with an announcing word, 0 if no value may follow."""
    if announcing.signed and not _ASSIGNED.match(low, at):
        return 0
    if low[at] in _PARTING:
        return at
    for goes_on in _goes_on():
        more = goes_on.match(low, at)
        at = more.end() if more else at
    return at if _IS_OPEN.match(low, at) else 0


@cache
def _behind_names() -> frozenset[str]:
    """Words that may stand between a name and its value."""
    nouns = words("secrets.noun")
    joined = frozenset(before + noun for before in words("secrets.before_noun") for noun in nouns)
    return words("secrets.stage", "secrets.between", "secrets.placed", "secrets.before_noun") | nouns | joined


@cache
def _no_words() -> tuple[str, ...]:
    return tuple(words("secrets.not_announcing"))


@cache
def _goes_on() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of what may extend a name: password_value, token-prod."""
    before, nouns, stages = ("|".join(sorted(words(f"secrets.{name}"), reverse=True)) for name in ("before_noun", "noun", "stage"))
    return re.compile(rf"[_. -]?(?:(?:{before})[_-]?)?(?:{nouns})"), re.compile(rf"[_.-]?(?:{stages}|v?[0-9]{{1,2}})")


def _value_start(low: str, at: int, *, at_least: int) -> int:
    """Return where a value begins after a name and at least so many separators, 0 if none does."""
    for pieces in range(_MOST_PIECES + 1):
        piece = _NOTE_OR_SIGNS.match(low, at)
        after = piece.end() if piece else _behind_word(low, at)
        if after == at or pieces == _MOST_PIECES:
            return at if pieces >= at_least and _LIKELY.match(low, at) else 0
        at = after
    return 0


def _behind_word(low: str, at: int) -> int:
    """Skip a word between a name and its value, a tag, some Chinese characters, or `for prod` before `is`."""
    word = _WORD.match(low, at)
    if word is None:
        piece = _TAG_OR_CHINESE.match(low, at)
        return piece.end() if piece else at
    if word[0] in words("secrets.between"):
        return word.end()
    place = _place_pattern().match(low, word.end()) if word[0] in words("secrets.placed") else None
    return place.end() if place else at


@cache
def _place_pattern() -> re.Pattern[str]:
    """Pattern of one to four words between `for` and `is` or a sign."""
    ends = "|".join(sorted(words("secrets.placed_end")))
    return re.compile(rf"(?: [\w.'/-]{{1,20}}){{1,4}}?(?= ?(?:{ends}|=|:|：)[\s:=\"'])")


def _judge(text: str, low: str, announcing: _Announcing, places: tuple[int, int, int]) -> Span | None:
    """Return the announced value if it looks like a credential. places: of the name, its end, the value."""
    at, name_end, start = places
    glue, before = low[name_end:start], low[max(0, at - _NAME_CHARS) : at]
    rest = before.rstrip(_IN_NAMES)
    name = before[len(rest) :].rstrip("_.-") or rest.rstrip()
    if announcing.kind != "password" and name.removesuffix("key").endswith(tuple(words("secrets.other_key"))):
        return None
    peek = _TAKEN.match(text, start, start + _PEEK)
    if not peek or low.startswith(_no_words(), at) or _is_code(peek[0], glue):
        return None
    value = peek[0].rstrip(_ENDS)
    is_flag = before.startswith("-", len(rest)) and (not rest or rest[-1].isspace())
    is_short = announcing.standalone or name_end - at < SHORT  # and may stand there by chance
    opens = announcing.opens or name.endswith(tuple(words("secrets.opening_key")))
    if not _suffices(announcing.kind, value, glue, is_flag=is_flag, is_short=is_short, opens=opens):
        return None
    if not looks_random(value, at_least=8):
        return None
    end = start + len(value)
    if peek.end() == start + _PEEK and (whole := _TAKEN.match(text, start)):
        end = start + len(whole[0].rstrip(_ENDS))
    if glue[-1:] in _QUOTES and (closing := text.find(glue[-1], end, end + _PEEK)) >= 0 and not _SPACE.search(text, end, closing):
        end = closing
    return Span(start, end, announcing.kind)


def _suffices(kind: str, value: str, glue: str, *, is_flag: bool, is_short: bool, opens: bool) -> bool:
    """Whether a random-looking value is strong enough for its announcement."""
    is_clear = is_flag or _SIGN.search(glue) is not None or "->" in glue or has(glue, "secrets.clear")
    if not opens:  # a key of something
        return is_clear and "\n" not in glue and looks_strong(value, at_least=20, every=True)
    if kind == "authorization":
        return len(value) >= 12
    if not is_clear and ")" in glue:  # the end of a call
        return False
    if not is_clear or is_short:
        return looks_strong(value, at_least=12 if kind == "password" else 16)
    return is_flag or _SIGN.search(glue) is not None or looks_strong(value, at_least=10)


def _is_code(value: str, glue: str) -> bool:
    """Whether the value is code: the next line's name, a string concatenation, `...`."""
    if ("\n" in glue or "\\n" in glue) and _NEXT.match(value):
        return True
    return value.endswith("...") or (glue[-1:] in _QUOTES and value[0] in "+.%")


# ------------------------------------------------------------------ addresses and commands

_USER_AND_PASSWORD = lazy.compile(r"://[^\s/:@\"'<>]{0,64}:([^\s/\"'<>]{3,128})@")
_USER_ALONE = lazy.compile(r"://([^\s/:@\"'<>]{16,256})@")
_LOGIN = lazy.compile(r"login(?<!\wlogin)\s{1,4}\S{1,128}\s{1,8}password\s{1,4}(\S{4,256})")


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
_FLAGS = lazy.compile(" -([-upPawU])")
_LINE = 200  # characters before a flag in which its program is looked for


def in_commands(text: str) -> Iterator[Span]:
    """Yield passwords in URLs, on command lines and in netrc files, whatever they look like."""
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
        for match in _compile(re.escape(literal) + rest).finditer(text):
            line = text[max(0, match.start() - _LINE) : match.start()].rpartition("\n")[2]
            if known and not any(program in line for program in known):
                continue
            if not is_placeholder(match[1]):
                yield Span(*match.span(1), "password" if known else "basic-auth")


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _each(pattern: re.Pattern[str], text: str, kind: str) -> Iterator[Span]:
    return (Span(*match.span(1), kind) for match in pattern.finditer(text) if not is_placeholder(match[1]))
