"""Canonical values: different spellings that are equal, and look-alikes that are not."""

from datetime import UTC, datetime, timedelta

import pytest

from yiku.rules.values import canonical

MONDAY = datetime(2026, 3, 2, 10, tzinfo=UTC)

SAME = [
    ("three", "3"),
    ("forty-two", "42"),
    ("四十二", "42"),
    ("一万二", "12000"),
    ("四千三", "4300"),
    ("三百零五万", "3050000"),
    ("1,500 pallets", "1500 pallets"),
    ("14k", "14,000"),
    ("２０ＭＢ", "20 MB"),
    ("2.5%", "0.025"),
    ("百分之二十", "20%"),
    ("30 seconds", "30000 ms"),
    ("两小时", "120分钟"),
    ("half an hour", "30 minutes"),
    ("一个半小时", "90分钟"),
    ("六十公斤", "一百二十斤"),
    ("4 kilos", "4000 grams"),
    ("1.2 metres wide", "120 cm"),
    ("一米七五", "175厘米"),
    ("1米75", "175厘米"),
    ("1米05", "105厘米"),
    ("一米零五", "105厘米"),
    ("1 m 75", "175 cm"),
    ("5 ft 10", "5 feet 10 inches"),
    ("5 ft 10 tall", "178 cm"),
    ("11 stone 4", "158 lb"),
    ("1 hour 20", "80 minutes"),
    ("512Mi", "0.5Gi"),
    ("230 °C", "446 °F"),
    ("4,200 euros a month", "50,400 euros a year"),
    ("every 12 hours", "twice a day"),
    ("March 3", "2026-03-03"),
    ("the 12th of June", "12 June"),
    ("August 8", "8/8"),
    ("五月二十号", "5月20日"),
    ("国庆节", "十月一号"),
    ("this Thursday", "March 5"),
    ("后天", "3月4号"),
    ("tomorrow", "3 March"),
    ("eleven at night", "11pm"),
    ("下午三点", "15:00"),
    ("上午十点", "10:00"),
    ("quarter past 4", "4:15"),
    ("早上６：３０", "6:30"),
    ("Shenzhen", "深圳"),
    ("花生", "peanuts"),
    ("two red cars", "2 red cars"),
    ("every Tuesday", "Tuesday"),
    ("twelve and a half thousand dollars", "$12,500"),
    ("two and a half kilos", "2.5 kg"),
    ("2 and a half million", "2,500,000"),
    ("two and a half", "2.5"),
    ("two dozen", "24"),
    ("half a dozen eggs", "6 eggs"),
    ("two dozen eggs", "24 eggs"),
    ("两打", "24"),
    ("500 mg", "0.5 g"),
    ("0.5克", "500毫克"),
    ("250 mcg", "0.25 mg"),
    ("1.5 l", "1500 ml"),
    ("0.75升", "750毫升"),
    ("2.5 km", "2500 m"),
    ("半公斤", "500克"),
    ("素食者", "吃素"),
    ("a vegetarian", "素食者"),
    ("乡下", "农村"),
    ("the countryside", "乡下"),
    ("运维工程师", "ops engineer"),
    ("software engineer", "软件工程师"),
    ("front-end engineer", "前端工程师"),
    ("product manager", "产品经理"),
    ("数据分析师", "data analyst"),
    ("truck driver", "卡车司机"),
    ("dentist", "牙医"),
    ("2 hectares", "20,000 square metres"),
    ("六亩", "4000平方米"),
    ("5 acres", "2.02 hectares"),
    ("1,200 sq ft", "111.5 m²"),
    ("八十平", "80平方米"),
    ("三平方公里", "3 km²"),
    ("104 F", "40 °C"),
    ("华氏104度", "40摄氏度"),
    ("98.6°F", "37℃"),
    ("20 degrees", "20 °C"),
    ("three quarters of an hour", "45 minutes"),
    ("a quarter of an hour", "15 min"),
    ("一刻钟", "15分钟"),
    ("三刻钟", "45 minutes"),
    ("an hour and a quarter", "75 minutes"),
    ("a fortnight", "14 days"),
    ("two weeks", "a fortnight"),
    ("18 months", "a year and a half"),
    ("一年半", "18个月"),
    ("半年", "6个月"),
    ("half a year", "six months"),
    ("两年", "24 months"),
    ("two and a half years", "30 months"),
    ("一斤半", "750克"),
    ("两个半月", "2.5个月"),
    ("3.450,00 euros", "€3450"),
    ("1.200.000,50 kr", "1,200,000.50 kr"),
    ("CHF 3'450", "CHF 3450"),
    ("30/09/2026", "September 30th"),
    ("30/09/2026", "2026年9月30日"),
    ("9/30/2026", "30 Sep 2026"),
    ("03/07/2026", "July 3"),
    ("农历八月十六", "阴历8月16"),
    ("2026年国庆节当天", "2026年10月1日"),
    ("今年国庆", "10月1日"),
    ("明年三月五号", "2027-03-05"),
    ("178 lb", "81 kg"),
    ("6 feet", "183 cm"),
    ("26.2 miles", "42.2 km"),
    ("1987年", "1987"),
    ("coeliac disease", "celiac disease"),
    ("grey", "gray"),
    ("a colour printer", "color printer"),
    ("aluminium", "aluminum"),
    ("八七年", "1987年"),
    ("2 tbsp", "30 ml"),
    ("half a litre", "500 ml"),
    ("半升", "500毫升"),
    ("a kilo", "1000 g"),
    ("一公斤", "2斤"),
    ("a dozen", "12"),
    ("1.5k", "1500"),
    ("three quarters", "75%"),
    ("一半", "50%"),
    ("half", "50%"),
    ("四分之三", "75%"),
    ("1 GHz", "1000 MHz"),
    ("2 kW", "2000 watts"),
    ("3 bar", "300 kPa"),
    ("100 Mbps", "0.1 Gbps"),
    ("5000 mAh", "5 Ah"),
    ("90 km/h", "90公里每小时"),
    ("每小时90公里", "90 km/h"),
    ("2 千瓦", "2000瓦"),
    ("14.09.", "Sept 14th"),
    ("今年最后一天", "2026年12月31日"),
    ("the last day of the month", "31 March"),
    ("七斤二两", "3.6公斤"),
    ("level 4", "the 4th level"),
    ("一千二", "1200元"),
    ("12 miles", "about 19 km"),
    ("the last day of August this year", "2026-08-31"),
    ("下个月5号", "4月5日"),
    ("本月五号", "3月5日"),
    ("every night", "每晚"),
    ("左手", "left"),
    ("大约六公里", "5.9 km"),
    ("无（独生子）", "无"),
    ("3,450.00", "3450"),
    ("$2.5m", "2.5 million dollars"),
    ("five o'clock", "5点"),
    ("中午一点", "1pm"),
    ("晚上12点", "midnight"),
    ("三点一刻", "3:15"),
    ("October", "十月"),
    ("上周二", "2026-02-24"),
    ("tomorrow evening", "明天晚上"),
    ("2小时30分钟", "2.5 hours"),
    ("5'11\"", "180.3 cm"),
    ("每天两次", "every 12 hours"),
    ("每月3000元", "36,000 yuan a year"),
]
OTHER = [
    ("20417", "20471"),
    ("12 km", "12 miles"),
    ("五公里", "五里"),
    ("30 seconds", "30 minutes"),
    ("每15分钟", "每15秒"),
    ("每小时八块", "每半小时八块"),
    ("300 dollars a month", "300 euros a month"),
    ("512 MB", "1 GB"),
    ("两块五", "三块"),
    ("March 3", "March 13"),
    ("九月底", "十二月底"),
    ("2026年8月", "2028年8月"),
    ("2.4.0", "2.4.1"),
    ("at most 50 characters", "at most 72 characters"),
    ("9", "10"),
    ("3pm", "3am"),
    ("debian:11", "debian:12"),
    ("Bergen", "卑尔根市"),
    ("two dozen", "two"),
    ("twelve and a half thousand dollars", "twelve thousand dollars"),
    ("500 mg", "500 g"),
    ("vegan", "素食者"),
    ("product manager", "项目经理"),
    ("三打", "三"),
    ("3 hectares", "20,000 square metres"),
    ("六亩", "6000平方米"),
    ("100 F", "40 °C"),
    ("1.5.2", "1.52"),
    ("2026年", "2027年"),
    ("农历八月十六", "8月16"),
    ("30/09/2026", "October 1"),
    ("明年三月五号", "2026-03-05"),
    ("81 kg", "80 kg"),
    ("1米75", "1米80"),
    ("1米75", "1米"),
    ("1 m 75", "1 m 80"),
    ("5 ft 10", "5 ft 11"),
    ("11 stone 4", "11 stone 5"),
    ("5 ft 10 monitors", "5 ft 10"),
    ("3米5个", "3.5米"),
    ("1000 g", "1.1 kg"),
    ("4 May", "4 March"),
    ("poet", "pet"),
    ("15 minutes", "a quarter"),
    ("grade 3", "3 years"),
    ("2026-10-01", "2025年国庆"),
    ("80 kg", "81 kg"),
    ("1,450 euros", "1.450 euros"),
    ("12 miles", "about 22 km"),
    ("300 dollars", "300 euros"),
    ("level 4", "level 5"),
    ("4", "level 4"),
    ("下个月5号", "5月5日"),
    ("the last day of February 2028", "2028-02-28"),
    ("今年最后一天", "2027年12月31日"),
    ("-5 °C", "5 °C"),
    ("about 2019", "2020"),
    ("C++", "C#"),
    ("3.450,00 euros", "3.45 euros"),
    ("12345678901234567890", "12345678901234567891"),
    ("from 9 to 5", "from 5 to 9"),
    ("10am", "晚上十点"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_means_the_same_is_one_value(one: str, other: str) -> None:
    """Words and digits, units, dates and times in either language are compared by what they mean."""
    assert canonical.same(one, MONDAY, other, MONDAY), (canonical.form(one, MONDAY), canonical.form(other, MONDAY))


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_only_looks_alike_is_another_value(one: str, other: str) -> None:
    """One digit, one unit or one part of the day apart: two values."""
    assert not canonical.same(one, MONDAY, other, MONDAY), (canonical.form(one, MONDAY), canonical.form(other, MONDAY))


def test_a_relative_day_is_seen_from_when_it_was_said() -> None:
    """`Tomorrow`, said on Monday, is the `today` of Tuesday, and not the `tomorrow` of Tuesday."""
    tuesday = MONDAY + timedelta(days=1)

    assert canonical.same("tomorrow", MONDAY, "today", tuesday)
    assert canonical.same("明天", MONDAY, "今天", tuesday)
    assert not canonical.same("tomorrow", MONDAY, "tomorrow", tuesday)


def test_a_birthday_is_the_same_day_in_any_year() -> None:
    """A date told without its year fits the one told with it, whenever either was said."""
    assert canonical.same("4 September", MONDAY, "4 September", MONDAY.replace(year=2027))
    assert canonical.same("9月4日", MONDAY, "1990-09-04", MONDAY.replace(year=2027))


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("5", "number"),
        ("一万二", "number"),
        ("12 people", "count"),
        ("30 ms", "s"),
        ("六十公斤", "g"),
        ("$20", "usd"),
        ("Thursday at 3pm", "when"),
        ("十月一号", "when"),
        ("Oslo", ""),
        ("小米", ""),
    ],
)
def test_the_sort_of_a_value_is_what_it_counts(text: str, sort: str) -> None:
    """A number is no date, a weight no length, and a name is none of them."""
    assert sort == canonical.sort_of(text)


@pytest.mark.parametrize(
    "text", ["0 times a day", "every 0 hours", "0/0", "99:99", "99点", "2026-13-45", "31 February 2026", "1亿" * 60, "九" * 150]
)
def test_what_is_no_time_and_no_amount_is_words(text: str) -> None:
    """No hour, day or number is too large or too small to be compared."""
    assert canonical.same(text, MONDAY, text, MONDAY)
    assert not canonical.same(text, MONDAY, "7 kg", MONDAY)


def test_things_among_many_have_one_name() -> None:
    """Articles, plurals and the other language make no second thing."""
    assert canonical.thing("a peanut") == canonical.thing("peanuts") == canonical.thing("花生")
    assert canonical.thing("my motorbike") == canonical.thing("a motorbike")
    assert canonical.thing("tea") != canonical.thing("coffee")
