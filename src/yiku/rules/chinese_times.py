"""
The times of a Chinese question: 三月五日, 上个月底, 去年国庆, 三天前, 最近两周, 上周三.

Each rule is a pattern and the reader that says which days it means; the order is that of precedence.
The text has no spaces beside Chinese, full width made half, and 個 as 个.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from yiku.rules import holidays
from yiku.rules.days import (
    AND,
    TO,
    UNIT_DAYS,
    ZH_UNIT,
    Days,
    Rule,
    Said,
    back,
    day_of,
    in_year,
    last_numbered,
    last_weekend,
    month_of,
    nearest,
    number,
    part_of,
    week_of,
)
from yiku.rules.holidays import Span

_YEARS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2}
_NEAR_BY = {"上上": -2, "上": -1, "这": 0, "本": 0, "当": 0, "下": 1, "下下": 2}
_NEAR = {"大前": -3, "前": -2, "昨": -1, "今": 0, "当": 0, "明": 1, "后": 2}
_SEASONS = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
_PARTS = {
    "上旬": "start",
    "初": "start",
    "中旬": "middle",
    "中": "middle",
    "下旬": "end",
    "底": "end",
    "末": "end",
    "中下旬": "from the middle",
    "上中旬": "to the middle",
    "上半月": "first half",
    "下半月": "second half",
}

_N = r"[\d〇零一二两三四五六七八九十]"
_NOT_COUNTED = r"(?<![\d〇零一二两三四五六七八九十百第每])"
_YEAR = (
    r"(?:(?<!\d)(?P<y>(?:19|20)\d\d)年度?|(?<!\d)(?P<short>\d\d)年(?=\d{1,2}月)|(?P<hanzi>[一二][〇零一二三四五六七八九]{3})年"
    r"|(?P<ry>大前年|(?<![\d一二两三四五六七八九十几多])前年|(?<!过)去年|今年|本年|明年|(?<![\d一二两三四五六七八九十几多])后年))"
)
_PART = (
    r"(?:中下旬|上中旬|上旬|中旬|下旬|上半月|下半月|初(?![级中步次期次恋])|中(?![午学文国间秋心部级年小班外医])|底(?![部层片])|末)"
)
_SHUT = r"(?:兔|天(?!气)|河|怀胎|饼|球|亮|光|子|嫂|一次|薪|租|度计)"


def _year(match: re.Match[str], said: Said) -> int | None:
    if word := match["y"] or match["hanzi"]:
        return int(number(word))
    if match["short"]:
        return 2000 + int(match["short"])
    return said.today.year + _YEARS[match["ry"]] if match["ry"] else None


def _month_day(match: re.Match[str], said: Said) -> Days:
    month, day = int(number(match["m"])), int(number(match["d"].rstrip("日号")))
    return in_year(said, lambda year: day_of(date(year, month, day)), "day", _year(match, said))


def _months(match: re.Match[str], said: Said) -> Days | None:
    """3-5月, 7、8月: from the first to the last."""
    first, last = int(number(match["a"])), int(number(match["b"]))
    if last > 12 or first >= last:
        return None
    return in_year(said, lambda year: (date(year, first, 1), month_of(year, last)[1]), "month", _year(match, said))


def _month(match: re.Match[str], said: Said) -> Days:
    month, part = int(number(match["m"])), match["p"]

    def at(year: int) -> Span:
        date(year, month, 1)  # there is no thirteenth
        whole = month_of(year, month)
        return part_of(whole, _PARTS[part]) if part else whole

    return in_year(said, at, "day" if part else "month", _year(match, said))


def _near_month(match: re.Match[str], said: Said) -> Days:
    """上个月, 这个月18号, 上月底; and 月初 by itself."""
    word, day, part = match["r"].removesuffix("个"), match["d"], match["p"]
    whole = month_of(said.today.year, said.today.month + _NEAR_BY[word])
    if day:
        return Days(day_of(whole[0].replace(day=int(number(day)))))
    return Days(part_of(whole, _PARTS[part]), "day") if part else Days(whole, "month")


def _bare_part(match: re.Match[str], said: Said) -> Days:
    months = (part_of(month_of(said.today.year, said.today.month - ago), _PARTS[match["p"]]) for ago in (0, 1))
    return Days(next(span for span in months if span[0] <= said.today))


def _part_of_year(match: re.Match[str], said: Said) -> Days:
    """去年底, 今年上半年, 2024年第三季度, 前年夏天, 去年暑假."""
    part = match["p"].removeprefix("年")

    def at(year: int) -> Span:
        if part[0] in "初底末":
            return part_of(month_of(year, 1, 12), {"初": "start"}.get(part[0], "end"))
        if part.endswith("半年"):
            return month_of(year, 1 if part[0] == "上" else 7, 6)
        if part.endswith("假"):
            return month_of(year, 7, 2) if part[0] == "暑" else (date(year, 1, 10), date(year, 3, 1))
        if part[0] in _SEASONS:
            return month_of(year, _SEASONS[part[0]], 3)
        n = int(number(part.strip("第季度q")))
        return (date(year, 3 * n - 2, 1), month_of(year, 3 * n - 2, 3)[1])

    return in_year(said, at, "season", _year(match, said))


def _near_part(match: re.Match[str], said: Said) -> Days:
    """上个季度, 这个夏天, 上个冬天."""
    shift, what = _NEAR_BY[match["r"].removesuffix("个")], match["x"]
    if what == "季度":
        return Days(month_of(said.today.year, (said.today.month - 1) // 3 * 3 + 1 + 3 * shift, 3), "season")
    if what in ("暑假", "寒假"):
        return Days(
            nearest(lambda y: month_of(y, 7, 2) if what == "暑假" else (date(y, 1, 10), date(y, 3, 1)), shift, said.today), "season"
        )
    return Days(nearest(lambda year: month_of(year, _SEASONS[what[0]], 3), shift, said.today), "season")


def _whole_year(match: re.Match[str], said: Said) -> Days:
    return Days(month_of(_year(match, said) or 0, 1, 12), "year")


def _holiday(match: re.Match[str], said: Said) -> Days | None:
    name = holidays.named(match["h"])
    if _year(match, said) is None and said.since_last(match.start()) in ("", "的"):
        return None  # its year is outside the table
    return in_year(said, lambda year: holidays.dates(name, year), "holiday", _year(match, said))


def _new_year_day(match: re.Match[str], said: Said) -> Days:
    """大年初三: so many days from the first of the first moon."""
    days = timedelta(days=int(number(match["d"].removeprefix("初"))))  # the holiday begins on the eve
    return in_year(said, lambda year: day_of(holidays.dates("spring", year)[0] + days), "day", _year(match, said))


def _near_day(match: re.Match[str], said: Said) -> Days | None:
    if match["r"] == "今" and not said.past:
        return None  # what is to be done today was said before
    return Days(day_of(said.today + timedelta(days=_NEAR[match["r"]])))


def _near_week(match: re.Match[str], said: Said) -> Days:
    """上周, 上上周三, 这周末, 下星期一."""
    monday, _ = week_of(said.today + timedelta(days=7 * _NEAR_BY[match["r"].removesuffix("个")]))
    day = match["d"]
    if not day:
        return Days((monday, monday + timedelta(days=7)), "week")
    if day == "末":
        return Days((monday + timedelta(days=5), monday + timedelta(days=7)))
    return Days(day_of(monday + timedelta(days=min("一二三四五六日天".index(day), 6))))


def _weekday(match: re.Match[str], said: Said) -> Days:
    n = min("一二三四五六日天".index(match["d"]), 6)
    return Days(day_of(said.today - timedelta(days=(said.today.weekday() - n) % 7)), weak=True)


def _weekend(match: re.Match[str], said: Said) -> Days:
    return Days(last_weekend(said.today), weak=True)


def _ago(match: re.Match[str], said: Said) -> Days:
    word, unit = match["n"], ZH_UNIT.get(match["u"], "hour")
    if word in ("几", "好几", "十几"):
        days = round(UNIT_DAYS.get(unit, 0) * (15 if word == "十几" else 5))
        return Days(back(said, 15 if word == "十几" else 5, unit, slack=round(days * 0.8) if days else None))
    if unit == "hour" and match["u"] == "分钟":
        unit = "minute"
    return Days(back(said, number(word), unit), unit if unit in ("day", "week", "month", "year") else "day")


def _rolling(match: re.Match[str], said: Said) -> Days | None:
    """最近三天, 过去一年, 这几天, 近半年: up to and with today."""
    if match["r"] == "这" and match["n"] in ("一", "1") and match["u"] in ("天", "日"):
        return None  # 这一天: the day that was spoken of
    n = number(match["n"]) * (1.5 if match["n"] == "几" else 1)
    return Days((said.today - timedelta(days=round(n * UNIT_DAYS[ZH_UNIT[match["u"]]])), said.today + timedelta(days=1)))


def _days_before(match: re.Match[str], said: Said) -> Days:
    """前几天, 前两天: the last days, today apart."""
    return Days((said.today - timedelta(days=7), said.today))


def _bare_day(match: re.Match[str], said: Said) -> Days | None:
    """8日 behind 3月5日和; or 18号 where what follows says that it is a day."""
    day, between = int(number(match["d"])), said.since_last(match.start())
    if (
        between is not None
        and (AND.fullmatch(between) or TO.fullmatch(between))
        and said.small[said.times[-1].end - 1] in "日号0123456789"
    ):
        return Days(day_of(said.times[-1].days.span[0].replace(day=day)))
    if match["told"] is None:
        return None
    return Days(day_of(last_numbered(said.today, day, None)))


_WEEK = r"(?:周|星期|礼拜)"
_NUMBER_SIGNS = "0〇零一二两三四五六七八九十"
_YEAR_SIGNS = "0一二大前去今本明后"
RULES = (
    Rule(
        _YEAR_SIGNS + _NUMBER_SIGNS,
        rf"(?:{_YEAR}的?)?{_NOT_COUNTED}(?P<m>{_N}{{1,2}})月份?的?(?P<d>{_N}{{1,3}}[日号]|\d\d?(?![\d个次度岁元块%时点:月年万千百条张篇位人家周天]))",
        _month_day,
    ),
    Rule(
        _YEAR_SIGNS + _NUMBER_SIGNS,
        rf"(?:{_YEAR}的?)?{_NOT_COUNTED}(?P<a>{_N}{{1,2}})[-~至到、和](?P<b>{_N}{{1,2}})月份?(?!{_N}{{1,3}}[日号])",
        _months,
    ),
    Rule(
        _YEAR_SIGNS + _NUMBER_SIGNS,
        rf"(?:{_YEAR}的?)?{_NOT_COUNTED}(?P<m>{_N}{{1,2}})月份?(?!{_SHUT}|{_N}{{1,3}}[日号])(?:的?(?P<p>{_PART}))?",
        _month,
    ),
    Rule(
        "上这本当下",
        rf"(?P<r>上上个?|上个?|这个?|本|当|下下个?|下个?)月(?!球|亮|光|饼|台|经|子|票|份|嫂|薪)份?(?:的?(?:(?P<d>{_N}{{1,3}})[日号]|(?P<p>{_PART})))?",
        _near_month,
    ),
    Rule("月", r"(?<![\d一二三四五六七八九十年个满])月(?P<p>初|底|末|中旬|上旬|下旬)", _bare_part),
    Rule(
        _YEAR_SIGNS,
        rf"{_YEAR}的?(?P<p>年?[初底末](?![级次])|上半年|下半年|第?[一二三四1-4]个?季度|q[1-4]|[春夏秋冬](?:天|季|(?=[^节晚游装]))|暑假|寒假)",
        _part_of_year,
    ),
    Rule(
        _YEAR_SIGNS + "上下第一二三四年暑寒",
        rf"{_YEAR}?(?<![半\d一二两三四五六七八九十])(?P<p>上半年|下半年|第?[一二三四1-4]季度|(?<!过)年[初底末]|暑假|寒假)",
        _part_of_year,
    ),
    Rule("上这本下", r"(?P<r>上个?|这个?|本|下个?)(?P<x>季度|[春夏秋冬][天季]|暑假|寒假)", _near_part),
    Rule(_YEAR_SIGNS + "大正", rf"(?:{_YEAR}的?)?(?:大年|正月)(?P<d>初[一二三四五六七八九十]|十[一二三四六])", _new_year_day),
    Rule(
        _YEAR_SIGNS + "圣平元跨情妇五劳六儿国教十万双冬除大年春新过端七中重清复母父感黑正",
        rf"(?:{_YEAR}的?)?(?P<h>{holidays.CHINESE})",
        _holiday,
    ),
    Rule(_YEAR_SIGNS, rf"{_YEAR}(?![代级生款版])", _whole_year),
    Rule(
        "大前昨今明后",
        r"(?P<r>大前|(?<![\d一二两三四五六七八九十几多目])前|昨|今|明|(?<![之以然最往今])后)[天日](?![性津空气])",
        _near_day,
    ),
    Rule("昨前今", r"(?P<r>昨|前|今)(?:晚|夜|早|晨)(?!餐|饭|年|期|会|安)上?", _near_day),
    Rule(
        "上这本下",
        rf"(?P<r>上上个?|上个?|这个?|本|下下个?|下个?){_WEEK}(?P<d>[一二三四五六日天末](?!围))?(?![期边转年岁刊报长全密杰])",
        _near_week,
    ),
    Rule(
        _NUMBER_SIGNS + "好几半",
        rf"{_NOT_COUNTED}(?P<n>好几|十几|[几半]|{_N}{{1,3}})个?(?P<u>天|日|周|星期|礼拜|年|小时|钟头|分钟|季度|(?<=个)月)(?:之|以)?前(?![往后台面任])",
        _ago,
    ),
    Rule(
        "最近过这",
        rf"(?P<r>最近的?|近|过去的?|最近这|这)(?P<n>{_N}{{1,3}}|[几半])个?(?P<u>天|日|周|星期|礼拜|年|季度|(?<=个)月)(?:以来|以内|内|里|来|间)?",
        _rolling,
    ),
    Rule("前", r"(?<![之以])前(?:几|两|些)天", _days_before),
    Rule(
        _NUMBER_SIGNS,
        rf"{_NOT_COUNTED}(?P<d>{_N}{{1,3}})[日号](?P<told>(?=那天|当天|早上|晚上|上午|下午|中午|凌晨|之前|之后|以前|以后|前后|以来|起))?(?![线楼门店])",
        _bare_day,
    ),
    Rule(
        "周星礼",
        rf"{_NOT_COUNTED}(?<![工作上下个本这]){_WEEK}(?P<d>[一二三四五六日天])(?![次天趟回节顿种封围至到岁年里开])",
        _weekday,
    ),
    Rule("周", r"(?:^|(?<=[我们他她你]))周末(?!班|愉快|都|版)", _weekend),
)
