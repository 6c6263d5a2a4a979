"""
Values as values: three and 3, 30 s and 30000 ms, 「国庆节」 and 1 October, 深圳 and Shenzhen are one.

A value is brought into one form, piece by piece: dates, times of day, quantities and plain numbers become tokens
that look alike when they mean alike, and what remains is compared as words. Two values are the same when their
forms are. A date told without its year fits any year; «tomorrow» is seen from the day on which it was said.
A version is not a number: 1.2 and 1.20 are two.
"""

# ruff: noqa: E501  (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache, partial

from yiku.rules.analyze import fold, tokens
from yiku.rules.measures import ABOUT, ROUGHLY, ROUNDED, ROUNDING, SIGNS, SIGNS_OF_MONEY, UNITS, WRITTEN, unit_of
from yiku.rules.shared_words import SPELT, TWINS
from yiku.rules.synonyms import WHOLE

LONGEST = 160  # characters of a value in which numbers and times are read; a longer one is compared by its words

_ONES = {w: n for n, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split())}  # fmt: skip
_TENS = {w: 10 * n for n, w in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_ENGLISH = rf"(?:{'|'.join([*_ONES, *_TENS, *_SCALES])})"
ENGLISH_NUMBER = rf"\b{_ENGLISH}(?:(?:[ -]| and ){_ENGLISH})*\b"
_DIGITS = {**{c: n for n, c in enumerate("零一二三四五六七八九")}, "〇": 0, "两": 2}
_PLACES = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
CHINESE_NUMERAL = "[零〇一二两三四五六七八九十百千万亿]"
CHINESE_NUMBER = f"{CHINESE_NUMERAL}+"
_DIGITAL = r"\d[\d,]*(?:\.\d+)?"

_UNIT = "|".join(sorted((re.escape(name) + ("s?(?![a-z])" if name.isascii() else "") for name in UNITS), key=len, reverse=True))
_SPELLED = "|".join(
    name for name in UNITS if name.isascii() and len(name) > 3 and name != "second"
)  # «a mile», «a second» is another
_A_YEAR = {
    "hour": 8760,
    "小时": 8760,
    "day": 365,
    "天": 365,
    "日": 365,
    "week": 52,
    "周": 52,
    "month": 12,
    "月": 12,
    "year": 1,
    "年": 1,
}
_PER = "|".join(_A_YEAR)

_MONTHS = {m: n for n, m in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_MONTH = r"(?P<m>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?\.?"
_WEEKDAYS = (
    {d: n for n, d in enumerate("mon tue wed thu fri sat sun".split())} | {d: n for n, d in enumerate("一二三四五六日")} | {"天": 6}
)
_WEEKDAY = r"(?P<w>mon|tue|wed|thu|fri|sat|sun)(?:day|sday|nesday|rsday|urday)?s?"
_HOLIDAYS = {"国庆节": (10, 1), "国庆": (10, 1), "元旦": (1, 1), "劳动节": (5, 1), "五一": (5, 1), "情人节": (2, 14), "圣诞节": (12, 25), "圣诞": (12, 25), "儿童节": (6, 1), "六一": (6, 1), "christmas day": (12, 25), "christmas": (12, 25), "new year's day": (1, 1), "new year's eve": (12, 31), "halloween": (10, 31), "valentine's day": (2, 14)}  # fmt: skip
_NEAR = {"the day after tomorrow": 2, "day after tomorrow": 2, "大后天": 3, "后天": 2, "tomorrow": 1, "明天": 1, "明日": 1, "tonight": 0, "today": 0, "今天": 0, "今晚": 0, "今日": 0, "yesterday": -1, "昨天": -1}  # fmt: skip
_NOTHING = re.compile(
    r"\b(?:the|a|an|about|around|roughly|approximately|on|at|in|of|is|every|each|my|our|wide|long|tall|deep|thick|heavy|way)\b|大约|大概|左右|当天|那天|[的了约装]|[^\w\ue000-\uf8ff./:+-]"
)
Rewrite = Callable[[re.Match[str], datetime | None], str]
_ANY_DAY = datetime(2020, 6, 1, tzinfo=UTC)  # what sort a value is does not depend on the day
_PIECE = 0xE000  # private signs stand for the pieces that were read
_ARTICLE = re.compile("^(?:an?|the) ")
_LETTER = re.compile("[a-z]")
_CONTINENTAL = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d{1,2}(?![\d,])")
_BESIDE = re.compile(r"([^()（）]*\S)\s*[(（]([^()（）]+)[)）]")
_APART = re.compile(r"(?<=\d)'(?=\d{3}(?!\d))")
_YEAR_IN_SIGNS = re.compile(
    r"(?<![\d零〇一二三四五六七八九十百千万])(?P<y>[零〇一二三四五六七八九]{4}|[零〇一二三四五六七八九]{2})年(?![级代前后])"
)
_DAY_AND_MONTH = re.compile(r"\d{1,2}\.[01]\d\.")  # 14.09.
_YEAR = re.compile(r"@(?:\d{4}|-)-")
_VERSION = re.compile(r"v?\d+(?:\.\d+){2,}|v\d[\w.]*")


def number(text: str) -> float | None:
    """The number that a text says, in digits, in English or in Chinese; None when it is none."""
    folded = fold(text).strip()
    if re.fullmatch(_DIGITAL, folded):
        return float(folded.replace(",", ""))
    if re.fullmatch(ENGLISH_NUMBER, folded):
        return _english(folded)
    return _chinese(folded) if re.fullmatch(CHINESE_NUMBER, folded) else None


def _english(words: str) -> float:
    total = group = 0
    for word in re.split(r"[ -]| and ", words):
        if (scale := _SCALES.get(word)) is None:
            group += _ONES.get(word, 0) + _TENS.get(word, 0)
        elif scale == 100:
            group = max(group, 1) * scale
        else:
            total, group = total + max(group, 1) * scale, 0
    return float(total + group)


def _chinese(signs: str) -> float:
    """三百零五万; and the short forms 一万二 = 12000, 四千三 = 4300."""
    if not set(signs) & set(_PLACES):
        return float("".join(str(_DIGITS[sign]) for sign in signs))
    total = group = digit = 0
    last = 1
    for sign in signs:
        if sign in _DIGITS:
            digit, last = _DIGITS[sign], 1 if sign in "零〇" else last
            continue
        place = _PLACES[sign]
        if place >= 10_000:
            total, group = (total + group + digit) * place, 0
        else:
            group += (digit or 1) * place
        digit, last = 0, place
    return float(total + group + (digit * last // 10 if last >= 100 else digit))


def same(one: str, said_at: datetime, other: str, other_at: datetime) -> bool:
    """Whether two values mean the same, each as it was said at its time."""
    first, second = form(one, said_at), form(other, other_at)
    if first == second or _count(first) == _count(second) is not None or _paid(first, second):
        return True
    for a, at, b, b_at in ((one, said_at, other, other_at), (other, other_at, one, said_at)):
        if (beside := _BESIDE.fullmatch(a.strip())) and "(" not in fold(b):
            names = beside.groups() if sort_of(beside[2]) == "when" else beside.groups()[:1]
            return any(same(part, at, b, b_at) for part in names)  # 下周二（5月12日）: either names it
    for a, b in ((first, second), (second, first)):
        if (either := re.fullmatch(r"@\?(\d\d)-(\d\d)", a)) and re.fullmatch(
            rf"@\S+-(?:{either[1]}-{either[2]}|{either[2]}-{either[1]})", b
        ):
            return True
    if "@-" in first + second and _YEAR.sub("@-", first) == _YEAR.sub("@-", second):  # one says no year
        return True
    for a, b in ((first, second), (second, first)):
        if (hour := re.fullmatch(r"#(\d{1,2})", a)) and (time := re.fullmatch(r"%\??(\d\d):00", b)):
            return int(hour[1]) % 12 == int(time[1]) % 12  # «at 6» and «6am»
    if "%?" in first + second:
        first, second = (re.sub(r"%\??(\d\d)", lambda hour: f"%{int(hour[1]) % 12:02}", form) for form in (first, second))
        return first == second
    told = f"{fold(one)} {fold(other)}"
    about = ABOUT.search(told) is not None
    if (about or ROUNDED.search(told)) and _nearly(first, second, ROUGHLY if about else ROUNDING):
        return True
    return _share(first) == _share(second) is not None or _beat(first) == _beat(second) is not None or _moved(first, second)


def _nearly(one: str, other: str, by: float) -> bool:
    """178 lb and 81 kg, 12 miles and «about 19 km»: who converts, rounds."""
    amounts = [re.fullmatch(r"#([\d.]+)([a-z]\w*)", each) for each in (one, other)]
    if not (amounts[0] and amounts[1]) or amounts[0][2] != amounts[1][2]:
        return False
    first, second = float(amounts[0][1]), float(amounts[1][1])
    return abs(first - second) <= by * max(first, second)


def _count(form: str) -> str | None:
    """Sixteen, 16台, 七个人 and 7人: how many of what the slot is about."""
    match = re.fullmatch(r"(#[\d.]+)(?: (?:个?人|[个台只条位名口件本张辆家]|peopl|person))?", form)
    return match and match[1]


def _paid(one: str, other: str) -> bool:
    """一千二 and 1200元, 50 and $50: an amount of money, told once without its sign."""
    short, long = sorted((one, other), key=len)
    return re.fullmatch(r"#[\d.]+", short) is not None and long in {short + sign for sign in SIGNS_OF_MONEY}


def _share(form: str) -> float | None:
    """2.5% and 0.025."""
    if match := re.fullmatch(r"#([\d.]+)(pct)?", form):
        return round(float(match[1]) / (100 if match[2] else 1), 9) if match[2] or float(match[1]) < 1 else None
    return None


def _beat(form: str) -> float | None:
    """Every twelve hours and twice a day."""
    if match := re.fullmatch(r"#([\d.]+)s", form):
        return round(float(match[1]), 3)
    if match := re.fullmatch(r"#([\d.]+)times/y", form):
        return round(365 * 86400 / float(match[1]), 3)
    return None


def _moved(one: str, other: str) -> bool:
    """Whether one is a weekday with no more said, and the other a date that falls on it or that weekday with its date."""
    return any(re.fullmatch(r"@w\d", a) and a in b and re.fullmatch(r"@w\d ?@\S+", b) for a, b in ((one, other), (other, one)))


@lru_cache(maxsize=4_096)
def form(text: str, said_at: datetime | None = None) -> str:
    """The one form of a value, seen from the time at which it was said."""
    folded = " ".join(fold(text).replace("'s", "s").split()).strip(" ,!。，！~～")
    folded = folded if _DAY_AND_MONTH.fullmatch(folded) else folded.strip(" .")
    folded = WHOLE.get(_ARTICLE.sub("", folded), folded)
    if _VERSION.fullmatch(folded):
        return folded
    pieces: list[str] = []

    def put(to: Rewrite, match: re.Match[str]) -> str:
        """A sign in the place of a piece that was read, so that no later pattern reads it again."""
        if (piece := to(match, said_at)) == match[0]:
            return piece
        pieces.append(piece)
        return f" {chr(_PIECE + len(pieces) - 1)} "

    if len(folded) <= LONGEST and _PERHAPS.search(folded):
        folded = _written(folded)
        for pattern, to in _rewrites(not folded.isascii(), _LETTER.search(folded) is not None):
            folded = pattern.sub(partial(put, to), folded)
    kept = _NOTHING.sub(" ", folded)
    return " ".join(
        filter(
            None,
            (
                pieces[ord(word) - _PIECE] if len(word) == 1 and 0 <= ord(word) - _PIECE < len(pieces) else _word(word)
                for word in kept.split()
            ),
        )
    )


def _written(folded: str) -> str:
    """One way of writing: 3.450,00 and 3'450 as 3450, 二〇二六年 as 2026年, 阴历 as 农历, square metres as sqm."""
    for pattern, form in WRITTEN:
        folded = pattern.sub(form, folded)
    folded = _CONTINENTAL.sub(lambda match: match[0].replace(".", "").replace(",", "."), folded)
    folded = _APART.sub("", folded)
    return _YEAR_IN_SIGNS.sub(_year_in_signs, folded).replace("阴历", "农历")


def _year_in_signs(match: re.Match[str]) -> str:
    """八七年 is 1987, 一三年 2013."""
    digits = "".join(str(_DIGITS.get(sign, sign)) for sign in match["y"])
    century = "" if len(digits) == 4 else "19" if digits > "39" else "20"
    return f"{century}{digits}年"


def _word(word: str) -> str:
    word = SPELT.get(word, word)
    known = TWINS.get(word)
    if known is None and word.isascii() and (stems := tokens(word).words):
        known = TWINS.get(stems[0], stems[0])
    return known or word


def thing(text: str) -> str:
    """The form of a thing among many, as a key holds it: no article, no plural, one name in both languages."""
    return form(
        re.sub(
            r"^(?:a |an |the |my |our |any |some |one |running |[一两二三几]?[只条个辆台部本些张份名位]|一|开)(?=\S)",
            "",
            fold(text).strip(),
        )
    ).strip() or fold(text)


# ------------------------------------------------------------------ pieces


def _amount(text: str) -> float:
    found = number(text)
    return 0.0 if found is None else found


def _token(amount: float, unit: str = "") -> str:
    return f"#{round(amount, 9):.15g}{unit}"


def _scaled(match: re.Match[str], more: float = 0) -> float:
    scale = {"k": 1e3, "千": 1e3, "m": 1e6, "million": 1e6, "thousand": 1e3, "w": 1e4, "万": 1e4, "亿": 1e8}
    return (_amount(match["n"]) + more) * scale.get((match["k"] or "").strip(), 1)


def _and_a_half(match: re.Match[str], _: datetime | None) -> str:
    """Twelve and a half thousand dollars, two and a half."""
    unit, factor = unit_of(match["u"]) if match["u"] else ("", 1.0)
    return _token(_scaled(match, 0.5) * factor, unit)


def _dozens(match: re.Match[str], _: datetime | None) -> str:
    told = match["n"] or match["z"]
    return _token(12 * {"a": 1, "half a": 0.5}.get(told, _amount(told)))


def _quantity(match: re.Match[str], _: datetime | None) -> str:
    amount = 0.5 if match["n"] == "半" else _scaled(match)
    unit, factor = unit_of(match["u"])
    rest = match.groupdict().get("rest")
    if rest:  # 一米七五, 两块五
        digits = "".join(str(_DIGITS.get(sign, sign)) for sign in rest)
        amount += float(f"0.{digits}")
    return _token(amount * factor, unit)


def _one(match: re.Match[str], _: datetime | None) -> str:
    """A mile, half a litre, an hour and a quarter."""
    unit, factor = unit_of(match["u"])
    more = {"half": 0.5, "quarter": 0.25}.get((match["more"] or "")[7:], 0)
    return _token(factor * (0.5 if match["half"] else 1 + more), unit)


def _part_of(match: re.Match[str], _: datetime | None) -> str:
    """Three quarters of an hour, 两斤半, 两个半月, 半年."""
    parts = match.groupdict()
    unit, factor = unit_of("个月" if parts["u"] == "月" else parts["u"])
    part = {"three quarters": 0.75, "a quarter": 0.25}.get(parts.get("part") or "", 0.5)
    return _token((_amount(parts.get("n") or "") + part) * factor, unit)


def _feet(match: re.Match[str], _: datetime | None) -> str:
    return _token(round(int(match["f"]) * 0.3048 + int(match["i"]) * 0.0254, 4), "m")


def _fraction(match: re.Match[str], _: datetime | None) -> str:
    return _token(_amount(match["n"]) / max(_amount(match["of"]), 1))


def _rate(match: re.Match[str], said_at: datetime | None) -> str:
    """So much a month, 每月…: by the year."""
    inner = form(match["x"], said_at)
    found = re.fullmatch(r"#([\d.]+)(\D*)", inner)
    per = {"annually": "year", "monthly": "month", "daily": "day", "weekly": "week"}.get(match["p"], match["p"])
    return f"{_token(float(found[1]) * _A_YEAR[per], found[2])}/y" if found else f"{inner}/{per}"


def _date(year: str | int | None, month: int, day: int) -> str:
    return f"@{year or '-'}-{month:02}-{day:02}"


def _year(match: re.Match[str], said_at: datetime | None) -> int | str | None:
    """The year that stands before a date, or is told from the day on which it was said: 2026年, 明年."""
    parts = match.groupdict()
    if (told := parts.get("from")) and said_at is not None:
        return said_at.year + {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}[told]
    return parts.get("y")


def _month_day(match: re.Match[str], _: datetime | None) -> str:
    return _date(match.groupdict().get("y"), _MONTHS[match["m"]], int(match["d"]))


def _chinese_date(match: re.Match[str], said_at: datetime | None) -> str:
    return _date(_year(match, said_at), int(_amount(match["m"])), int(_amount(match["d"])))


def _slashed(match: re.Match[str], _: datetime | None) -> str:
    first, second = int(match["a"]), int(match["b"])
    if first != second and max(first, second) <= 12:
        return f"@?{first:02}-{second:02}"  # 03/07 is the third of July or the seventh of March
    return _date(match.groupdict().get("y"), *((second, first) if first > 12 else (first, second)))


def _last_day(match: re.Match[str], said_at: datetime | None) -> str:
    """今年最后一天, «the last day of the month»."""
    if said_at is None:
        return match[0]
    if match["m"]:
        day = (said_at.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
        return _date(day.year, day.month, day.day)
    return _date(said_at.year + {"去": -1, "明": 1, "next": 1}.get(match["from"], 0), 12, 31)


def _last_of_month(match: re.Match[str], said_at: datetime | None) -> str:
    """«The last day of August this year»."""
    year, month = match["y"], _MONTHS[match["m"]]
    if match["from"] and said_at is not None:
        year = str(said_at.year + (match["from"] == "next"))
    return _date(year, month, monthrange(int(year or 2023), month)[1])


def _in_month(match: re.Match[str], said_at: datetime | None) -> str:
    """下个月5号, as it is seen from the day on which it was said."""
    if said_at is None:
        return match[0]
    months = said_at.year * 12 + said_at.month - 1 + {"上": -1, "下": 1}.get(match["when"], 0)
    return _date(months // 12, months % 12 + 1, int(_amount(match["d"])))


def _near(match: re.Match[str], said_at: datetime | None) -> str:
    if said_at is None:
        return match[0]
    day = said_at + timedelta(days=_NEAR[match[0]])
    return _date(day.year, day.month, day.day)


def _weekday(match: re.Match[str], said_at: datetime | None) -> str:
    """A weekday; this and next ones have their date. Beside a day of the month only the day counts."""
    wanted = _WEEKDAYS[match["w"]]
    when = match.groupdict().get("when")
    if when and said_at is not None:
        ahead = (
            (wanted - said_at.weekday()) % 7
            if when == "this"
            else wanted - said_at.weekday() + (7 if "下" in when or when == "next" else 0)
        )
        day = said_at + timedelta(days=ahead)
        return _date(day.year, day.month, day.day)
    return f"@w{wanted}"


def _o_clock(match: re.Match[str], _: datetime | None) -> str:
    """A time of day: 3pm, 15:00, 下午三点半, quarter past 4, eleven at night."""
    parts = match.groupdict()
    hour, minute = int(_amount(parts["h"])), int(_amount(parts.get("min") or "0"))
    if half := parts.get("half"):
        minute = {"半": 30, "一刻": 15, "三刻": 45, "quarter past": 15, "half past": 30, "quarter to": -15}[half]
    part = parts.get("part") or ""
    late = re.search(r"p\.?m|night|evening|afternoon|下午|晚|傍晚", part)
    if (late and hour < 12) or (parts.get("noon") and hour < 6):
        hour += 12
    if re.search(r"a\.?m|midnight|凌晨", part) and hour == 12:
        hour = 0
    vague = "" if part or hour > 12 else "?"  # 3 o'clock, by day or by night
    return f"%{vague}{(hour * 60 + minute) % 1440 // 60:02}:{(hour * 60 + minute) % 60:02}"


def _often(match: re.Match[str], _: datetime | None) -> str:
    count = {"once": 1, "twice": 2}.get(match["n"]) or _amount(match["n"])
    return f"{_token(count * _A_YEAR[match['p']])}times/y"


def _plain(match: re.Match[str], _: datetime | None) -> str:
    return _token(_scaled(match))


def _numbered(kind: str) -> Rewrite:
    def rewrite(match: re.Match[str], _: datetime | None) -> str:
        return f"@{kind}{int(_amount(match['d']))}"

    return rewrite


def _degrees(match: re.Match[str], _: datetime | None) -> str:
    """A temperature, in degrees Celsius."""
    said = match["z"] or match["u"] or match["l"] or "c"
    amount = _amount(match["n"])
    return _token(round((amount - 32) / 1.8 if said[0] in "f华" else amount, 1), "degc")


def _clock(match: re.Match[str], said_at: datetime | None) -> str:
    late = re.search(r"[p]\.?m|at night|evening|afternoon", match[0])
    hour = int(match["h"]) + (
        12 if (late or (match["part"] or "") in ("下午", "晚上", "今晚", "傍晚")) and int(match["h"]) < 12 else 0
    )
    return f"%{hour % 24:02}:{match['min']}"


_N = rf"(?P<n>{_DIGITAL}|{ENGLISH_NUMBER}|{CHINESE_NUMBER})"
_ORDINAL = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_HOURS = rf"(?P<h>\d{{1,2}}|{ENGLISH_NUMBER})"
_PART = r"(?: ?(?P<part>[ap]\.?m\.?|at night|in the (?:evening|afternoon|morning)))"
_REWRITES: tuple[tuple[str, Rewrite], ...] = (
    (rf"(?#e)\b(?P<part>three quarters|a quarter) of an? (?P<u>{_SPELLED})\b", _part_of),
    (rf"(?#e)^(?P<x>.+?),? (?:a|an|per|each|every) (?P<p>{_PER})$", lambda m, at: _rate(m, at) if re.search(rf"\d|{ENGLISH_NUMBER}", m["x"]) else m[0]),
    (rf"(?#z)^每(?:个)?(?P<p>月|年|天|日|周|小时)(?P<x>.*{_DIGITAL}.*|.*{CHINESE_NUMBER}.*[元块次].*)$", lambda m, at: _rate(m, at) if not re.search(r"[点号:]", m["x"]) else m[0]),
    (rf"(?#e)\b(?P<n>once|twice|{ENGLISH_NUMBER}(?= times)|\d+(?= times))(?: times)? (?:a|per|every) (?P<p>day|week|month|year|hour)\b", _often),
    (rf"(?P<n>an?|{ENGLISH_NUMBER}|\d+) (?:and a half hours?|hours? and a half)|(?P<k>{CHINESE_NUMBER}|\d+)个半小时", lambda m, _: _token(3600 * ((_amount(m["n"] or m["k"]) or 1) + 0.5), "s")),
    (rf"(?#z)(?P<n>\d+|{CHINESE_NUMBER})个?(?P<u>{_UNIT})半", _part_of),
    (rf"(?#z)(?P<n>\d+|{CHINESE_NUMBER}?)斤(?P<m>\d|[一二三四五六七八九])两", lambda m, _: _token(500 * _amount(m["n"]) + 50 * _amount(m["m"]), "g")),
    (r"(?#e)\b(?:the )?(?P<n>\d{1,2})(?:st|nd|rd|th) (?P<x>level|floor|row|platform|gate|deck|lane)\b|\b(?P<y>level|floor|row|platform|gate|deck|lane) (?P<m>\d{1,2})\b", lambda m, _: f"#{int(m['n'] or m['m'])} {m['x'] or m['y']}"),
    (r"(?#z)(?P<from>[去今明])年(?:的)?最后一天|(?P<m>这个月|本月|月底)最后一天", _last_day),
    (r"(?#e)(?:the )?last day of (?:(?P<from>this|next|the) year|(?P<m>the month|this month))", _last_day),
    (rf"(?#e)(?:the )?last day (?:of|in) {_MONTH}(?: (?P<from>this|next) year| (?P<y>\d{{4}}))?", _last_of_month),
    (rf"(?#z)(?P<when>上|下|这|本)个?月的?(?P<d>\d{{1,2}}|{CHINESE_NUMBER})[日号]", _in_month),
    (rf"(?#z)(?P<n>\d+|{CHINESE_NUMBER})个半(?P<u>月|星期|钟头|小时)", _part_of),
    (r"(?<![\d.])(?P<f>[3-7]) ?(?:'|ft|feet|foot) ?(?P<i>\d{1,2})(?: ?(?:\"|in(?:ch(?:es)?)?))?(?!\d)", _feet),
    (rf"(?#z)(?P<of>{CHINESE_NUMBER})分之(?P<n>{CHINESE_NUMBER})", _fraction),
    (r"^(?:(?P<half>(?:a |one )?half|一半|半数)|(?P<n>a|one|two|three) (?P<of>third|quarter)s?)$", lambda m, _: _token(0.5 if m["half"] else {"a": 1, "one": 1, "two": 2, "three": 3}[m["n"]] / {"third": 3, "quarter": 4}[m["of"]])),
    (r"(?#z)半个?(?P<u>年|月|天|斤|公斤|升|里|小时|钟头|公里|亩)", _part_of),
    (rf"(?#e)\b(?P<half>half )?an? (?P<u>{_SPELLED})(?P<more> and a (?:half|quarter))?\b", _one),
    (rf"(?#z)百分之(?P<n>{CHINESE_NUMBER}|\d+)", lambda m, _: _token(_amount(m["n"]), "pct")),
    (r"\bnoon\b|正午", lambda m, _: "%12:00"),
    (r"\bmidnight\b|零点|午夜", lambda m, _: "%00:00"),
    (rf"\b(?P<n>half a|a|{ENGLISH_NUMBER}|\d+) dozen\b|(?P<z>{CHINESE_NUMBER}|\d+)打(?![电包印开算折针扫卡工球字分])", _dozens),
    (rf"(?#e)\b(?P<n>{ENGLISH_NUMBER}|\d+) and a half\b(?P<k> thousand| million)?(?: (?P<u>{_UNIT}))?", _and_a_half),
    (rf"(?P<u>[$€£¥￥]) ?(?P<n>{_DIGITAL}) ?(?P<k>k\b|m\b|万|thousand\b|million\b)?", lambda m, _: _token(_scaled(m), SIGNS[m["u"]])),
    (r"(?<!\d)(?P<n>[12])m(?P<rest>\d\d)(?!\d)", lambda m, _: _token(float(f"{m['n']}.{m['rest']}"), "m")),
    (r"(?<![\d/])(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<y>\d{4})(?![\d/])", _slashed),
    (r"(?P<y>\d{4})/(?P<m>\d{1,2})/(?P<d>\d{1,2})", lambda m, _: _date(m["y"], int(m["m"]), int(m["d"]))),
    (r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})", lambda m, _: _date(m["y"], int(m["m"]), int(m["d"]))),
    (r"^(?P<d>0?[1-9]|[12]\d|3[01])\.(?P<m>0[1-9]|1[0-2])\.$", lambda m, _: _date(None, int(m["m"]), int(m["d"]))),
    (r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})", lambda m, _: _date(m["y"], int(m["m"]), int(m["d"]))),
    (rf"(?#e)\b{_WEEKDAY},? (?:the )?(?=\d{{1,2}}(?:st|nd|rd|th)?\b(?! ?:|:|\.| ?[ap]m)(?! o)|{_MONTH.replace('P<m>', ':')}\b)", lambda m, _: ""),
    (rf"(?#e)(?:the )?\b{_ORDINAL}(?: of)? {_MONTH}(?:,? (?P<y>\d{{4}}))?\b", _month_day),
    (rf"(?#e)\b{_MONTH} (?:the )?{_ORDINAL}\b(?:,? (?P<y>\d{{4}}))?", _month_day),
    (rf"(?#z)(?:(?P<y>\d{{4}})年|(?P<from>[前去今明后]年))?的?(?P<m>\d{{1,2}}|{CHINESE_NUMBER})月(?P<d>\d{{1,2}}|{CHINESE_NUMBER})[日号]?", _chinese_date),
    (rf"(?#z)(?:(?P<y>\d{{4}})年)?(?P<m>\d{{1,2}}|{CHINESE_NUMBER})月(?P<p>初|中旬|上旬|下旬|底|份|中)?(?!\w?日)", lambda m, _: f"@{m['y'] or '-'}-{int(_amount(m['m'])):02}{(m['p'] or '').strip('份')}"),
    (r"(?<![\d/])(?P<m>0?[1-9]|1[0-2])/(?P<y>(?:19|20)\d\d)(?![\d/])", lambda m, _: f"@{m['y']}-{int(m['m']):02}"),
    (rf"(?#e)\b{_MONTH},? (?P<y>(?:19|20)\d\d)\b", lambda m, _: f"@{m['y']}-{_MONTHS[m['m']]:02}"),
    (r"^at (?P<h>\d{1,2})$", _o_clock),
    (rf"(?:(?P<y>\d{{4}})年|(?P<from>[前去今明后]年))?的?(?P<day>{'|'.join(_HOLIDAYS)})", lambda m, at: _date(_year(m, at), *_HOLIDAYS[m["day"]])),
    (r"(?#z)(?P<y>(?:19|20)\d\d)年(?!前|后|级|代)", lambda m, _: f"#{m['y']}"),
    ("|".join(_NEAR), _near),
    (r"(?<![\d/])(?P<a>\d{1,2})/(?P<b>\d{1,2})(?![\d/])", _slashed),
    (rf"(?#e)\b(?:(?P<when>this|next) )?{_WEEKDAY}\b", _weekday),
    (r"(?#z)(?P<when>下|这|本)?(?:周|星期|礼拜)(?P<w>[一二三四五六日天])", _weekday),
    (r"(?#e)(?:the )?\b(?P<d>\d{1,2})(?:st|nd|rd|th)\b", _numbered("d")),
    (rf"(?#z)(?P<d>\d{{1,2}}|{CHINESE_NUMBER})(?:号|日)(?!楼|线|门|院|店)", _numbered("d")),
    (rf"(?#z)(?P<part>凌晨|早上|上午|中午|下午|傍晚|晚上|今晚|夜里)?(?P<h>\d{{1,2}}|{CHINESE_NUMBER})(?:点钟?|时)(?:(?P<half>半|一刻|三刻)|(?P<min>\d{{1,2}}|{CHINESE_NUMBER})分?)?", _o_clock),
    (rf"(?P<part>凌晨|早上|上午|中午|下午|傍晚|晚上|今晚)?(?P<h>\d{{1,2}}):(?P<min>\d{{2}}){_PART.replace('P<part>', ':')}?(?!\d)", _clock),
    (rf"(?#e)\b(?P<half>quarter past|half past|quarter to) (?P<h>\d{{1,2}}|{ENGLISH_NUMBER}){_PART}?", _o_clock),
    (rf"(?#e)\b{_HOURS}{_PART}\b", _o_clock),
    (r"(?#e)(?<=[\ue000-\uf8ff] ) ?(?P<x>evening|morning|afternoon|night)s?\b", lambda m, _: f"%{m['x']}"),
    (rf"{_N} ?(?:(?P<z>华氏度|摄氏度|度)(?!电)|(?:°|degrees?\b) ?(?P<u>c|f|celsius|fahrenheit)?\b|(?P<l>c|f|celsius|fahrenheit)\b)", _degrees),
    (rf"(?P<n>{_DIGITAL}) ?(?:%|percent|per cent)", lambda m, _: _token(_amount(m["n"]), "pct")),
    (rf"(?#z)(?P<n>{_DIGITAL}|{CHINESE_NUMBER}) ?(?P<k>k|千|万)?(?P<u>米|块|元)(?P<rest>\d+|[零一二三四五六七八九]+)", _quantity),
    (rf"(?P<n>{_DIGITAL}|{ENGLISH_NUMBER}|{CHINESE_NUMBER}|半)(?P<k>k|千| thousand| million|万|亿)? ?个?(?P<u>{_UNIT})", _quantity),
    (rf"(?P<n>{_DIGITAL})(?P<k> ?k\b| ?m\b| thousand\b| million\b|w\b|万|亿|千)?(?!\.?\d)", _plain),
    (rf"(?P<n>{ENGLISH_NUMBER}|{CHINESE_NUMBER})(?P<k>(?!))?", lambda m, _: _plain(m, _) if len(m[0]) > 1 or m[0] in _DIGITS or m[0] == "十" else m[0]),
)  # fmt: skip


@cache
def _rewrites(chinese: bool, letters: bool) -> list[tuple[re.Pattern[str], Rewrite]]:
    """Those that such a text may need, compiled when the first value is read: (?#z) marks what needs Chinese, (?#e) what needs letters."""
    skipped = ("" if chinese else "(?#z)", "" if letters else "(?#e)")
    return [(re.compile(pattern), to) for pattern, to in _REWRITES if pattern[:5] not in skipped]


# A text without any of these holds no number, date or time, and is words alone.
_PERHAPS = re.compile(
    rf"\d|{ENGLISH_NUMBER}|[零〇一二两三四五六七八九十百千万亿半]|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|once|twice|tonight|to|today|tomorrow|yesterday|day|noon|midnight|half|an?|christmas|halloween|new year|valentine)|周|星期|礼拜|天|日|晚|节|元旦|圣诞|国庆|午|零点"
)


# ------------------------------------------------------------------ sorts


def sort_of(text: str) -> str:
    """What sort of value this is: a time, a date, a quantity by its unit, a count, a plain number; empty for words."""
    found = form(text, _ANY_DAY)
    if re.fullmatch(r"(?>(?:[@%]\S+|#\d{1,2}| )+)", found) and re.search("[@%]", found):
        return "when"
    if match := re.match(r"#[\d.]+([a-z]*)", found):
        return match[1] or ("number" if found == match[0] else "count")
    return ""
