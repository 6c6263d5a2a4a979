"""
What is counted, measured and paid: the units of both languages, each by how many of one unit of its sort it is.

Data only. `UNITS["km"]` is `("m", 1000.0)`; an English name stands here without its plural s.
"""

# ruff: noqa: E501  (one sort of unit a line)

from __future__ import annotations

import re

_SORTS: dict[str, dict[float, str]] = {
        "s": {0.001: "ms millisecond 毫秒", 1: "s sec second 秒 秒钟", 60: "min minute 分钟", 900: "刻钟", 3600: "h hr hour 小时 钟头 个小时", 86400: "day 天 日", 604800: "week 周 星期 个星期", 1209600: "fortnight"},
        "mo": {1: "month 个月", 3: "个季度", 12: "year yr 年", 120: "decade"},
        "m": {0.001: "mm 毫米", 0.01: "cm centimetre centimeter 厘米 公分", 0.0254: "inch 英寸 寸", 0.3048: "feet foot ft 英尺", 0.9144: "yard", 1: "m metre meter 米", 500: "里 里地", 1000: "km kilometre kilometer 公里 千米", 1609.34: "mile 英里"},
        "m2": {0.092903: "sqft 平方英尺", 1: "m2 sqm 平方米 平方 平米 平", 666.6667: "亩", 4046.86: "acre 英亩", 10_000: "hectare ha 公顷", 1e6: "km2 平方公里 平方千米"},
        "g": {0.000001: "mcg μg microgram 微克", 0.001: "mg milligram 毫克", 1: "g gram 克", 28.3495: "oz ounce 盎司", 50: "两", 453.592: "lb pound 磅", 500: "斤", 1000: "kg kilo kilogram 公斤 千克", 1_000_000: "tonne 吨"},
        "l": {0.001: "ml millilitre milliliter 毫升", 0.005: "tsp teaspoon 茶匙", 0.01: "cl", 0.015: "tbsp tablespoon 汤匙", 0.1: "dl", 1: "l litre liter 升", 1000: "m3 立方米 方"},
        "b": {1024: "kb ki kib", 1024**2: "mb mi mib meg", 1024**3: "gb gi gib gig", 1024**4: "tb ti tib"},
        "bps": {1e3: "kbps", 1e6: "mbps 兆宽带", 1e9: "gbps"},
        "hz": {1: "hz 赫兹", 1e3: "khz", 1e6: "mhz 兆赫", 1e9: "ghz"},
        "w": {1: "watt 瓦", 1e3: "kw kilowatt 千瓦", 735.5: "hp 匹 马力"},
        "kwh": {1: "kwh 度电 千瓦时"}, "kcal": {1: "kcal 千卡 大卡", 0.239: "kj 千焦"}, "kpa": {1: "kpa 千帕", 6.895: "psi", 100: "bar"}, "mah": {1: "mah 毫安时", 1000: "ah 安时"},
        "kmh": {1: "km/h kmh kph 公里每小时", 1.60934: "mph"},
        "eur": {1: "euro eur € 欧元 欧"}, "usd": {1: "dollar usd buck 美元 美金 美刀"}, "cny": {1: "yuan rmb cny 块 块钱 元 元钱 人民币"}, "nok": {1: "nok kroner krone"}, "gbp": {1: "quid gbp 英镑"}, "jpy": {1: "yen jpy 日元"},
}  # fmt: skip
UNITS = {name: (unit, factor) for unit, sizes in _SORTS.items() for factor, names in sizes.items() for name in names.split()}
SIGNS = {"$": "usd", "€": "eur", "£": "gbp", "¥": "cny", "￥": "cny"}
SIGNS_OF_MONEY = ("cny", "usd", "eur", "gbp", "jpy", "nok")
# Ways to write a unit of two words as one.
WRITTEN = (
    (re.compile(r"\bsq(?:uare|\.)? ?(?:met(?:re|er)s?|m\b)"), "sqm"),
    (re.compile(r"\bsq(?:uare|\.)? ?(?:feet|foot|ft\b)"), "sqft"),
    (re.compile(r"\bsq(?:uare|\.)? ?(?:kilomet(?:re|er)s?|km\b)"), "km2"),
    (re.compile(r"\b(?:kilomet(?:re|er)s?|km) (?:an|per) hour\b"), "km/h"),
    (re.compile(r"\bmiles (?:an|per) hour\b"), "mph"),
    (re.compile(r"\b(?:cubic met(?:re|er)s?)\b"), "m3"),
    (re.compile(r"(每小时)([\d.]+) ?(?:公里|千米)"), r"\2公里每小时"),
    (re.compile(r"华氏 ?([\d.]+) ?度"), r"\1华氏度"),
    (re.compile(r"(?:摄氏 ?)([\d.]+) ?度"), r"\1摄氏度"),
)
# What is converted into these is rounded.
ROUNDED = re.compile(
    r"\b(?:lbs?|pounds?|feet|foot|ft|inch(?:es)?|yards?|miles?|acres?|mph|hp|psi|oz|ounces?|sqft)\b|\d ?f\b|°f|['\"′″]|fahrenheit|亩|华氏|英[尺寸里亩]|盎司|[匹磅]|马力"
)
ROUNDING = 0.005  # of the amount
ABOUT = re.compile(
    r"\b(?:about|around|roughly|approximately|approx|nearly|almost|some|just (?:over|under))\b|~|约|大概|左右|差不多|将近|上下"
)
ROUGHLY = 0.03  # of an amount that is told as one of these


def unit_of(name: str) -> tuple[str, float]:
    """The unit of its sort, and how many of it that is."""
    return UNITS.get(name) or UNITS[name.removesuffix("s")]
