"""
The frames of a plain Chinese sentence: what is stated of what, whatever the words in it (see rules/phrases.py).

The surest frame comes first. What fits none is left alone. Spaces beside Chinese make no difference.
"""

# ruff: noqa: E501  (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

import re
from collections.abc import Iterator

from yiku.rules import values
from yiku.rules.cues import compiled
from yiku.rules.keys import BY_NAME, attribute, tail
from yiku.rules.phrases import THINGS, Found, aspect_in
from yiku.rules.predicates import MULTI, RELATIVES, SINGLE, UNKNOWN

_ZH_BEING = (
    r"(?:临时|现在|目前|如今|已经|已|刚|正好|一共|总共|大概|就|都|也|还|才|只|又|再|每次|尽量|一律|今天|今年|今晚)*(?:(?:用|设|装|开|穿|定)的)?"
    r"(?:现在是|已经是|应该是|准确地说是|其实是|是|为|:|定在|定为|设为|设在|设成|改成|改为|改到|改在|改用|改发给|变成|变为|换成|换到|换为|升到|升级到|升级为|降到|涨到|加到|减到|提到|提高到|缩短成|缩短到|延长到|推迟到|提前到|延到|调到|调成|调整为|增加到|减少到|谈到|迁到|搬到|停在|叫|叫做)了?(?:每次)?"
)
_ZH_COPULA = re.compile(rf"(?P<s>[^，,。]{{1,24}}?){_ZH_BEING} ?(?P<o>.+)")
_ZH_BEGINS = re.compile(rf"(?<![\da-z.])[\da-z]|[每半周上下凌早中晚今明后]|{values.CHINESE_NUMBER}")  # where a value may begin
_ZH_VALUE = re.compile(
    rf"(?:每.{{0,3}}?)?(?:{values.CHINESE_NUMBER}|\d|半|[a-z]\d|周[一二三四五六日]|[上下]午|凌晨|早上|中午|晚上|今天|明天|后天).*"
)
_ZH_COUNT = re.compile(
    rf"(?P<s>[^，,。]{{1,16}}?)(?:现在|目前|已经|一共|总共|大概|正好|才|就|只)*(?:有)?(?:正好|大概)?(?P<o>(?:\d+|{values.CHINESE_NUMBER})(?P<w>[个名位层页间台条口人辆][\u4e00-\u9fff]{{0,4}}))"
)
_ZH_AT = re.compile(
    r"(?P<s>[^，,。]{1,20}?)(?:现在|目前|已经|就|都|还)?(?:放|存|安排|跑|部署|托管|停|定|订|约|设|改)?(?:在(?!线)|于) ?(?P<o>[^，,。]{1,20}?)(?:上面?|里面?)?"
)
_ZH_PUT = re.compile(
    r"(?P<s>[^，,。我]{1,12}?)(?:现在|目前|已经|就|都|还|一直)?(?:放|存|停|挂|摆|藏)(?:在|到) ?(?P<o>[^，,。的]{2,12}?)(?:上面?|里面?)?"
)
_PAST_OR_NOW = re.compile(r"[过]|今天|今晚|昨|刚才")
_ZH_QUIT = re.compile(r"(?P<s>我|[^，,。\d]{1,4}?)(?:已经|终于|决定|现在)*戒(?:了|掉)?(?P<o>烟|酒|糖|咖啡|奶茶|可乐|肉)了?")
_ZH_ANY_VALUE = re.compile(
    rf"(?!三[亚里明峡脚角阳级联]|四[川带周季处]|五[道台常]|六安|八达|九[江龙寨]|百[度色]|千岛|万[科达宁])(?:\d[\d.,]*|{values.CHINESE_NUMBER}) ?(?:万|千|k)?(?:%|[a-z]{{1,4}}|[\u4e00-\u9fff])?"
)
_ZH_RUNS = re.compile(
    r"(?P<s>[^，,。]{1,20}?)(?:现在|目前|已经|就|都|还|早就)?(?:跑在|部署在|托管在|在(?=.+上跑)|迁到|运行在) ?(?P<o>[^，,。]{1,20}?)(?:上面?|里面?|上跑着)?"
)
_ZH_VERB = "喝|吃|用|弹|拉|吹|养|学(?![校生会期])|看(?![到见来])|听(?!说)|玩|打(?!算|开)|怕|说|讲|开(?![始学会心发])|骑|穿|戴|抽|教|做|写|跳|唱|游|收集|需要|需|坐"
_ZH_MANY = re.compile(
    rf"(?P<s>[^，,。]{{0,12}}?)(?:现在|平时|一般|每天|早上|晚上|周末|从小|一直|特|很|最|也|都|还|只|就|真的|目前|正|在|常)*(?P<n>从不|不再|再也不|不能|不会|不敢|不爱|不|没有|没在?|别)?(?P<m>能|会|爱|可以|敢|常)?(?P<v>{_ZH_VERB})(?:了|着|过)?(?P<o>[^，,。是的]{{1,12}}?)"
)
_ZH_HAVE = re.compile(r"(?P<s>[^，,。]{1,8}?)(?:现在|目前|已经|还)*(?P<n>没有|没|有)(?P<o>[^，,。\d]{1,8}?)")
_ZH_BY = re.compile(r"(?P<s>[^，,。]{1,16}?)是(?P<o>[^，,。]{1,10}?)(?P<v>负责|写|管|维护|带|开发|做)的")
_ZH_EACH = re.compile(
    rf"(?P<s>[^，,。\d]{{1,16}}?)每(?:隔)?(?P<o>(?:\d+|{values.CHINESE_NUMBER}|半)(?:个)?(?:秒|分钟|小时|天|周|月))(?P<v>[^，,。]{{1,4}}?)一次"
)
_ZH_DOES_AT = re.compile(
    rf"(?P<s>[^，,。\d]{{0,16}}?)(?:现在|目前|一般|平时|最近|每天|每周|都|今天|也|就)*(?P<o>(?:每天|每周[一二三四五六日天])?(?:早上|上午|中午|下午|晚上|凌晨)?(?:\d{{1,2}}[:点]\d{{0,2}}|{values.CHINESE_NUMBER}点)(?:半|一刻|三刻|钟|{values.CHINESE_NUMBER}分)?)(?:才|就|去)?(?P<v>起床|起|睡觉|睡|上班|下班|开会|备份|上课|放学|开门|关门|接孩子|出门|吃饭|发布|开始)"
)
_ZH_WHO = re.compile(
    r"(?:我|我们|咱们|我家|我们家|他们?|她们?|(?:我们?)?(?:团队|公司|组里|部门|家里)|(?:我的?)?(?:"
    + "|".join(k for k in RELATIVES if not k.isascii())
    + r"|爱人|外婆|外公|岳父|岳母|表哥|表姐|表弟|表妹|男友|女友|宝宝)|(?:我)?(?:同事|朋友|室友|同学|邻居)?(?![多少又再也还都就才把被没不很太手今昨明天每先给从对在是这那有])[\u4e00-\u9fff]{2,4}|[a-z][a-z ]{1,20}|[\u4e00-\u9fff]{2,8}(?:服务|环境|系统|任务|接口|项目|团队|测试|平台|仓库|脚本))"
)
_ZH_WHEN_DID = re.compile(
    rf"(?P<s>[^，,。\d是]{{1,8}}?)是(?P<o>(?:\d{{4}}年|\d{{1,2}}月|{values.CHINESE_NUMBER}月)[^，,。的]*?)(?P<v>[\u4e00-\u9fff]{{2,4}})的"
)
_ZH_STARTS = re.compile(r"(?P<s>[^，,。]{1,16}?)从(?P<o>[^，,。]{2,12}?)(?P<v>开始|起)")
_ZH_GRADE = re.compile(
    r"(?P<s>[^，,。]{1,8}?)(?:今年|现在|已经)*(?:在[^，,。]{2,12})?(?:读|上|念|是)(?P<o>(?:小学)?[一二三四五六]年级|[初高大研][一二三四]|(?:幼儿园)?[小中大]班|学前班)"
)
_ZH_TO = re.compile(
    r"(?P<s>[^，,。]{1,10}?)(?:照旧|改|还是|以后|都|每次|现在)*(?P<v>发给|交给|抄送给?|汇报给|寄给|转给)(?P<o>[^，,。]{1,10})"
)
_ZH_PRICE = re.compile(
    rf"(?P<s>[^，,。\d]{{1,16}}?)(?:卖)?(?P<o>(?:\d[\d.]*|{values.CHINESE_NUMBER})[块元](?:\d|[一二三四五六七八九])?(?:钱)?)(?:一|每)[个斤张次杯份碗盒包只条瓶]"
)
_ZH_BOND = re.compile(
    r"(?P<s>我|我们|我[和跟][^，,。]{1,6}?)(?:目前|现在|还|已经|昨天|今天|刚|终于|是)*(?P<o>单身|没有?结婚|未婚|结婚|已婚|领证|订婚|离婚|分手|脱单)(?:的|了)*"
)
_ZH_NEVER = re.compile(
    r"(?P<o>[\u4e00-\u9fffa-z]{1,6}?)(?P<s>我|我妈|我爸)(?:是)?(?:一口|一点|从来|平时)?(?:都|也)?不(?P<v>碰|吃|喝|沾)的?"
)
# 我今年五十九, 我爸六十了
_ZH_AGED = compiled(
    rf"(?P<s>我|(?:我)?(?:{'|'.join(k for k in RELATIVES if not k.isascii())}|外婆|外公|姥姥|姥爷|老伴|老爷子|老太太))(?:(?:都|也|刚|已经|现在|快)*(?:今年|满)(?:都|就|刚好|正好)*(?P<o>{values.CHINESE_NUMBER}|\d{{1,3}})了?|(?:都|也|刚|已经|现在)*(?P<a>{values.CHINESE_NUMBER}|\d{{1,3}})了)"
)
_ZH_MASS = re.compile(rf"(?!.*体重)(?P<s>我|[^，,。\d]{{1,6}}?)(?P<o>(?:\d[\d.]*|{values.CHINESE_NUMBER})(?:斤|公斤|kg|千克))")


# What a message of a shop, a bank or an app looks like, and what speaks to somebody: no statement of one's own.
NOTICE = re.compile(r"[【】#＃]|您|点击|请查收|温馨提醒")
# No noun: how something is done, by or to whom, or the beginning of another clause.
_NO_NOUN = re.compile(
    r"^(?:以(?![色太])|把(?!手)|将(?!军)|被(?!子)|从(?!业|.{1,8}到)|对(?![门象方面联])|由|因|但|而|就(?![业餐诊])|也|都(?![市江])|还(?!款)|又|再(?!生)|先(?!生)|正(?![门餐式])|已(?!婚)|刚|为|主要|可能|应该|可以|需(?!求)"
    r"|建议|准备|打算|试着|习惯|初步|享受|通过|使用|进行|根据|按照|关于|如果|推荐|感谢|快来|请(?!假)|新增|完成|调整|重点|特别|顺便|一些|其中|包括)"
    r"|(?:把|被|正在|一直|正|已|已经|只是|现|着|了|过|于|将|要|想|能)$|拍摄|提到|如下|[“”‘’]"
)
_PLACE = re.compile(
    r".*[里上中下内外旁边处室店楼馆院园区路街号厅城市县镇村库柜箱架台桌屋间站场所层组司校家房心国省群盘夹录支境集点机线岸山湖河江海岛门口前后头面屉州京津圳莞道桥亭椅墙树车船包袋盒瓶碗仓栋铺摊a-z\d]"
)
_DOING = re.compile(
    r"^(?:追求?|使用|拍摄?|进行|只是|修|开会|开车|跑(?!步机)|念|聊|忙|带|努力|准备|考虑|尝试|寻找|讨论|处理|加班|出差|学(?![校院生])|练|写|看|听|说|想|做|吃|喝|睡|等|找|玩|弄|搞|改|调|谈|取|搬|装|赶|唱|跳|画|打|教|用|求|管|考|读|住|跟|和|与|被)"
)


def found(clause: str) -> Iterator[Found]:
    """What a plain sentence states; nothing of a notice, and of nothing that is no noun."""
    if not NOTICE.search(clause):
        yield from (one for one in _found(clause) if is_noun(one.subject))


def is_noun(subject: str) -> bool:
    """Whether a subject reads as somebody or something, with or without 我 before it."""
    return _NO_NOUN.search(compiled("^我们?的?").sub("", subject)) is None


def _found(clause: str) -> Iterator[Found]:
    told = compiled(r"(?<=[\u3400-\u9fff]) | (?=[\u3400-\u9fff])").sub("", clause).removesuffix("了").strip("!！~～")
    told = compiled(r"^(.{0,3})(?:用|开|穿|做|戴|吃|喝|看|骑|坐|住|学)的(?=[\u3400-\u9fff]{1,4}是)").sub(r"\1的", told)
    told = re.sub(
        r"^(.{1,6}?)把(.{1,12}?)(换成|改成|升到|迁到|改为|调到|设成|缩短成)",
        lambda m: f"{m[1] if m[1] in ('我', '我们') else ''}{'的' if m[1] in ('我', '我们') else ''}{m[2]}{m[3]}",
        told,
    )
    told = compiled(r"^([^，,。是]{1,12}?)用的(?=[a-z][a-z .]{1,20}是)").sub(r"\1的", told)
    told = compiled(r"^刚把").sub("", compiled(r"^(.{0,3}我?)开的(?:车)?(?=是)").sub(r"\1的车", told))
    told = compiled(r"^(?:今天|明天)(?=我)").sub("", told)
    if (match := _ZH_AGED.fullmatch(clause.strip("!！~～"))) and (
        (0 if match["o"] else 9) < (values.number(age := match["o"] or match["a"]) or 0) < 120
    ):
        yield Found(match["s"], "age", age, SINGLE)
    yield from _zh_told(told)
    if match := _ZH_BY.fullmatch(told):
        yield Found(
            match["s"], "语言" if match["v"] in ("写", "开发") and re.search("[a-z]", match["o"]) else "负责人", match["o"], SINGLE
        )
    if match := _ZH_EACH.fullmatch(told):
        yield Found(match["s"], "间隔", match["o"], SINGLE)
    if match := _ZH_DOES_AT.fullmatch(told):
        verb = {"起": "起床时间", "起床": "起床时间", "睡": "睡觉时间", "睡觉": "睡觉时间"}.get(match["v"], f"{match['v']}时间")
        yield Found(match["s"].removesuffix("是") or "我", verb, match["o"], SINGLE)
    if match := compiled(r"(?P<s>.{1,8}?)是(?P<o>(?:[abo]|ab|熊猫)型?)血型?的?").fullmatch(told):
        yield Found(match["s"], "血型", match["o"], SINGLE)
    if match := _ZH_MASS.fullmatch(told):
        yield Found(match["s"], "体重", match["o"], SINGLE)
    if (match := compiled(r"(?P<s>[^，,。]{1,12}?)(?:姓)(?P<o>[\u4e00-\u9fff]{1,2})").fullmatch(told)) and not match["s"].endswith(
        "的"
    ):
        yield Found(match["s"], "姓", match["o"], SINGLE)
    if match := _ZH_RUNS.fullmatch(told):
        yield Found(match["s"], "hosted on", match["o"], SINGLE)
    if (
        (match := _ZH_COPULA.fullmatch(told))
        and not compiled(r"不是|没有|[不没]$").search(match[0][: match.start("o")])
        and not (match["o"] in ("1", "一") and told[match.start("o") - 1] in ": ")  # the first of a list
    ):
        yield from _zh_being(match["s"], match["o"])
    yield from _zh_direct(told)
    if (match := _ZH_COUNT.fullmatch(told)) and not compiled(r"^[我他她](?!们|家)|[了过着有养买想要说]").search(match["s"]):
        yield Found(match["s"].rstrip("里中"), f"{match['w'].rstrip('了').lstrip('个名位口')}数", match["o"], SINGLE)
    if (match := _ZH_PUT.fullmatch(told)) and not _PAST_OR_NOW.search(told):
        yield Found(match["s"], "位置", match["o"], SINGLE)
    if match := _ZH_AT.fullmatch(told):
        yield from _zh_at(match["s"], match["o"])
    yield from _zh_verbs(told)
    yield from _zh_around(told)


SHORT_PLACE = 4  # characters, up to which any noun may be one
AROUND = 14  # characters of what stands around a quantity, and few enough to say which one it is
_MEASURES = ("length", "weight", "volume", "temperature", "size")
_NO_THING = re.compile(rf"[喝吃跑走睡等花买用了过重有着]|{values.CHINESE_NUMBER}$")


def _zh_around(told: str) -> Iterator[Found]:
    """A quantity with its sentence around it: the same words with another one may contradict it, and nobody knows."""
    if _PAST_OR_NOW.search(told) or compiled(
        r"[,，]|第|了(?!$)|[他她它你这那]|买|说|个(?:人|朋友|同事)|\b(?a:of|the|and|to|in|is|for)\b"
    ).search(told):
        return
    *_, last = [None, *_ZH_ANY_VALUE.finditer(told)]
    if (
        last is None
        or last[0][0] == "一"
        or not values.sort_of(last[0])
        or values.sort_of(last[0]) == "when"
        or len(told) - len(last[0]) < 3
        or told[: last.start()].endswith(("周", "星期", "礼拜"))  # a day, not a number of something
    ):
        return
    around = f"{told[: last.start()]}{told[last.end() :]}".strip()
    if (
        len(around) > AROUND
        or compiled(r"[点:：]$").search(told[: last.start()])
        or (compiled(r"\d{5}").match(last[0]) and compiled("[a-z]$").search(told[: last.start()]))
        or compiled(r"[:：点]").match(told, last.end())
    ):
        return
    # 前端是react 18: a name with its number
    named = compiled(r"(?P<p>.+?)是(?P<o>[a-z][a-z .+-]*)").fullmatch(told[: last.start()])
    what, value = (named["p"], told[named.start("o") :]) if named else (around, last[0])
    yield Found("我", what.removeprefix("我们").removeprefix("我"), value, UNKNOWN)


def _zh_direct(told: str) -> Iterator[Found]:
    """A value right behind its noun: 房租每月4200, 附件上限10MB."""
    for match in (_ZH_VALUE.fullmatch(told, at.start()) for at in _ZH_BEGINS.finditer(told, 1, 20)):
        if match is None:
            continue
        subject = compiled(r"(?:也|就|都|才|只|已经|现在|正好|总共|一共)+$").sub("", told[: match.start()])
        subject = compiled(r"^.*的(?=[那这])|(?:一|每)[罐次个份天瓶盒包]$").sub("", subject)
        known = next((subject[-n:] for n in (4, 3, 2) if subject[-n:] in BY_NAME), "")
        if attr := tail(subject):
            yield _zh_of(subject, attr, match[0])
        elif known and BY_NAME[known].takes in ("date", "phone", "email", "version"):
            yield Found(
                subject.removesuffix(known).removesuffix("的") or "我", BY_NAME[known].name, match[0], SINGLE, BY_NAME[known].takes
            )
        elif len(subject) > 1 and aspect_in(match[0]) in _MEASURES and not _NO_THING.search(subject):
            yield Found(subject, aspect_in(match[0]), match[0], SINGLE)


# 我在卑尔根当护士, 我是一名在深圳工作的程序员
_ZH_JOB = compiled(
    r"(?![^在当做是]*[想要会能算说愿让给])(?P<s>我|他|她|我?[\u4e00-\u9fff]{1,4}?)(?:现在|目前|就|也)*"
    r"(?:(?:在[^，,。]{2,12}?)?(?:当|做|担任|从事)(?:一?[名个位])?|是(?:一[名个位])?在[^，,。]{2,12}?(?:工作|上班|任职)的)"
    r"(?P<o>[\u4e00-\u9fff]{0,6}(?:师|员|士|生|工|者|家|长|警|医|理|匠|手|编辑|司机|教授|教练|翻译|会计|助理|顾问|保安|主播|农民|老板|导演|演员))"
)


def _zh_told(told: str) -> Iterator[Found]:
    """What verbs say of which there is one at a time: a grade, a bond, a price, a beginning, to whom something goes."""
    for pattern, predicate in ((_ZH_GRADE, "年级"), (_ZH_PRICE, "价格"), (_ZH_STARTS, "开始")):
        if (match := pattern.fullmatch(told)) and (predicate != "开始" or values.sort_of(match["o"]) == "when"):
            yield Found(match["s"], predicate, match["o"], SINGLE)
    if match := _ZH_JOB.fullmatch(told):
        yield Found(match["s"], "job", match["o"], SINGLE)
    if match := _ZH_TO.fullmatch(told):
        yield Found(match["s"], match["v"], match["o"], SINGLE)
    if match := _ZH_BOND.fullmatch(told):
        yield Found("我", "relationship status", match["o"], SINGLE)
    if match := _ZH_WHEN_DID.fullmatch(told):
        yield Found(match["s"], f"{match['v']}时间", match["o"], SINGLE)
    if match := _ZH_QUIT.fullmatch(told):
        yield Found(match["s"], {"烟": "不抽", "糖": "不吃", "肉": "不吃"}.get(match["o"], "不喝"), match["o"], MULTI)
    if match := compiled(r"(?P<s>我|[^，,。]{1,4}?)(?P<n>不)?[吸抽]烟").fullmatch(told):
        yield Found(match["s"], "不抽" if match["n"] else "抽", "烟", MULTI)
    if match := compiled(
        r"(?P<s>我|我们|我们?家)(?:现在|一共)*有(?P<o>(?:[2-9]|两|[三四五六七八九])[个只条](?P<w>孩子|儿子|女儿|娃|哥哥|弟弟|姐姐|妹妹|猫|狗))"
    ).fullmatch(told):
        yield Found(match["s"], f"{match['w']}数", match["o"], SINGLE)
    if match := _ZH_NEVER.fullmatch(told):
        yield Found(match["s"], "不喝" if match["v"] == "喝" else "不吃", match["o"], MULTI)


def _zh_of(subject: str, attr: str, object_: str) -> Found:
    owner = subject.removesuffix(attr).removesuffix("的")
    if attr in BY_NAME and BY_NAME[attr].takes:  # a phone that is no number: nobody knows whether it is the only one
        return Found(owner or "我", f"{attr}型号", object_, UNKNOWN)
    return Found(owner or "我", attr, object_, SINGLE)


def _zh_being(subject: str, object_: str) -> Iterator[Found]:
    subject = compiled(r"^.*的(?=[那这])").sub("", subject)
    subject = compiled(r"(?:的时候|那边|这边|那款|那个|那)?$").sub("", subject)
    if compiled(r"[说问想知觉看听]|^(?:这|那|它|就|也|今天|昨天|因为|所以|但|可)$|[不没]").search(subject):
        return
    aspect = aspect_in(object_.removesuffix("的"))
    if aspect == "price" and not tail(subject):
        return
    if attr := tail(subject):
        if aspect and attribute(attr) in THINGS:
            yield Found(subject, aspect, object_, SINGLE)
        else:
            yield _zh_of(subject, attr, object_)
    elif aspect and not re.fullmatch("我们?", subject):
        yield Found(subject, aspect, object_, SINGLE)
    elif values.sort_of(object_) == "number" and not re.fullmatch("我们?", subject):
        yield Found(subject, "数值", object_, SINGLE)


def _zh_at(subject: str, object_: str) -> Iterator[Found]:
    if (
        not subject
        or compiled(r"^[我他她你]们?$|住$|[说想去来不没]$|[我他她](?:也|还|就)").search(subject)
        or compiled(r"[做吃喝看玩学写想说等开工干办聊住读上下睡买学]|的|$^|[里外]$").search(object_)
        or _DOING.match(object_)
        or (len(object_) > SHORT_PLACE and not _PLACE.fullmatch(object_) and not compiled("[@%]").search(values.form(object_)))
    ):
        return
    when = values.sort_of(object_) == "when"
    if when or tail(subject) or compiled(r"[a-z\d]|[区楼号室路街厅院市县]|国贸|中心").search(object_) or len(subject) >= 4:
        yield Found(
            subject,
            ("date" if "@" in values.form(object_) else "time") if when else "位置",
            object_,
            SINGLE,
        )


_NO_OWNING = re.compile(r"^(?:点|些|时间|空|人|事|办法|问题|可能|意思)")
# 没交, 没拿到: not done, and nothing that is lacking.
_NOT_DONE = re.compile(r"(?:到|完|好|出|过|成|排|交|答应|回|睡|醒|收|付|定|批|办|下来|觉|不着)$")
# How it went, or how often, and no object: 说错了, 看了一眼.
_HOW_IT_WENT = re.compile(r"^(?:完|了|过|到|起|上|着|[得错不没清串]|个没|.*[我你他她您]|一[声下眼口遍会])|[?？吗]$")
_LANGUAGE = re.compile(r"[\u4e00-\u9fff]{1,5}[话语文]|[a-z]+|[\u4e00-\u9fff]{2}方言|普通话.*")
# A verb's character in a word that is another: 小学, 开业, 做饭.
_IN_A_WORD = re.compile(
    r"[小大中同数科文化]学|开[业庭幕张门]|做[饭梦客]|打[电工车包印听]|听[力见]|看[病望]|写字|养[老生病成分育]|教[室练师授]|吃[亏惊]|[费作使利采应信引]用|用[户品]|学[习位费历院者问]|开头|[查观收偷难好]看|骑行|行驶|久坐"
)
# Nobody who does something or has it: a time, half a sentence.
_NOBODY = re.compile(
    r"[夜心]里|^[提帮跟但所因如刚最]|现在|[都没那]$|^(?:前天|之前|睡前|早|远处|中午|下午|上午)$|习惯|试着|初步|顺便|特别|快来|^[让使显]|更$|随便|简单$"
)


def _zh_verbs(told: str) -> Iterator[Found]:
    """Somebody does something, or does it not: as many things as one likes."""
    topped = re.fullmatch(
        r"(?P<o>[\u4e00-\u9fffa-z]{2,6}?)(?P<s>我)(?P<rest>也?(?:会|能)?[弹说打拉讲做写开玩])(?:一点|一些|点)?", told
    )
    if topped:
        told = f"{topped['s']}{topped['rest']}{topped['o']}"
    if compiled(r"不是不").search(told):
        told = told.replace("也不是不", "").replace("不是不", "")
    if match := _ZH_MANY.fullmatch(told):
        subject = match["s"] or "我"
        object_ = compiled(r"^([a-z][\w .+-]*?) ?[\u4e00-\u9fff]+$").sub(r"\1", match["o"])
        if (
            _ZH_WHO.fullmatch(subject)
            and not compiled(r"[的是在把给让叫]|[说想]$").search(subject)
            and not _NOBODY.search(compiled("^我们?").sub("", subject))
            and not _HOW_IT_WENT.search(match["o"])
            and not any(word.start() <= match.start("v") < word.end() for word in _IN_A_WORD.finditer(told))
            and (match["v"] not in "说讲" or _LANGUAGE.fullmatch(match["o"]))
        ):
            able = "会" if (match["m"] == "会" and match["v"] in "开骑游做写跳唱") or match["n"] == "不会" else ""
            affirmed = f"{'喜欢' if match['m'] == '爱' or match['n'] == '不爱' else ''}{able}{match['v']}"
            if match["v"] in "用" and not match["n"] and not match["s"]:
                return
            yield Found(subject, f"{'不' if match['n'] else ''}{affirmed}", object_, MULTI)
    if (
        (match := _ZH_HAVE.fullmatch(told))
        and _ZH_WHO.fullmatch(match["s"])
        and not _NO_OWNING.match(match["o"])
        and not _NOBODY.search(match["s"])
        and not (match["n"] == "没" and _NOT_DONE.search(match["o"]))
    ):
        yield Found(match["s"], "没有" if match["n"] != "有" else "有", match["o"], MULTI)
