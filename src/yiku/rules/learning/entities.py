"""
Whom and what a text is about: names, in four layers.

Quoted names come first; then what looks like a name in either script (capitals, a title beside a surname, a place's
ending, a path, a version); then the names that are known with their aliases; what a model finds is a later layer and
not here. Generic words are no names: two texts about «the project» are not about one thing.
"""

# ruff: noqa: E501 (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

import re
from collections.abc import Mapping

from yiku.rules.analyze import fold
from yiku.rules.text.sentences import MARKS

LOOKED_AT = 4_000  # characters
AT_MOST = 24
LONGEST = 40  # characters of a name

STOP = frozenset(
    fold(word)
    for word in (
        "用户 项目 系统 工具 公司 学校 团队 我们 大家 东西 事情 问题 今天 明天 昨天 时间 地方 文件 代码 数据 客户 老师 同事 朋友 先生 女士 经理 医生 小时 小心 小时候 老是 老家 小区 小说 小组 小孩 小学 小朋友 老人 老板 老公 老婆 老大 老实 老样 老地 老年 老百姓 小伙 小众 小事 小吃 小红书"
        " user project system tool company school team assistant i i'm i've i'd i'll we you he she it they my our the a an this that these those there here what when where why how who which and but so also if then as at in on for to from with by of or not no yes ok okay"
        " thanks thank please hi hello hey well sure great oh actually just maybe sorry remember always never don't do is are was can could would should will let let's note update next today tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday"
        " january february march april may june july august september october november december am pm tv ai api pdf url id faq ceo hr it's by good now wait anyway overall like because since while although though however after before during every each some any all most many my guy okay"
    ).split(" ")
)
_QUOTED = r"[「『《“‘]([^「」『』《》“”‘’\n]{2,30})[」』》”’]|(?<![\w\"])\"([^\"\n]{2,30})\"(?!\w)"
_LATIN = r"(?<![\w/@.])[A-Z][\w'’&+-]*(?:\.(?=\w)[\w'’&+-]+)*(?:[ ](?:of |de |van |von |the |and )?[A-Z0-9][\w'’&+-]*){0,4}"
_SMALL = r"(?<![\w/])(?:[\w.-]+/)+[\w.-]+|\b[\w-]+\.(?:py|js|ts|md|json|sh|toml|ya?ml|csv|txt|sql|pdf|docx?|xlsx?|png|jpe?g)\b|\b[\w.+-]+@[\w-]+\.[\w.]+\b"
_SURNAMES = "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏水窦章云苏潘葛奚范彭郎鲁韦昌马苗凤花方俞任袁柳酆鲍史唐费廉岑薛雷贺倪汤滕殷罗毕郝邬安常乐于时傅皮卞齐康伍余元卜顾孟平黄和穆萧尹姚邵湛汪祁毛禹狄米贝明臧计伏成戴谈宋茅庞熊纪舒屈项祝董梁杜阮蓝闵席季麻强贾路娄危江童颜郭梅盛林刁钟徐邱骆高夏蔡田樊胡凌霍虞万支柯昝管卢莫经房裘缪干解应宗丁宣邓郁单杭洪包诸左石崔吉钮龚程嵇邢裴陆荣翁荀羊甄曲家封储靳段富巫乌焦巴弓牧隗山谷车侯宓蓬全班仰秋仲伊宫宁仇栾暴甘钭厉戎祖武符刘景詹束龙叶幸司韶黎欧"
_TITLED = rf"(?<![\u3400-\u9fff])?[老小阿][{_SURNAMES}](?![\u3400-\u9fff]{{0,1}}(?:时|心|区|组|说|众))|[{_SURNAMES}][\u3400-\u9fff]?(?:老师|医生|大夫|教授|总|经理|律师|教练|师傅|主任|女士|先生|阿姨|叔叔)|[\u3400-\u9fff](?:姐|哥|叔|姨)(?=[,，。说和在的来去]|$)"
_NAMED = (
    r"(?:叫|名叫|叫做|是|找|和|跟|给|问|约|见)(?P<n>["
    + _SURNAMES
    + r"][\u3400-\u9fff]{1,2})(?=[,，。！!？?；;、和跟与在说的是一去来吃]|$)"
)
_PLACE = r"(?:(?![的在和跟与去到从是了们这那家])[\u3400-\u9fff]){2,8}?(?:市|省|区|县|路|街|镇|公园|大学|学院|医院|书店|酒店|机场|车站|图书馆|博物馆|公司|集团|银行)(?![\u3400-\u9fff]?(?:里|长|别))"
_CITIES = r"北京|上海|广州|深圳|杭州|成都|武汉|长沙|昆明|南京|西安|重庆|天津|苏州|厦门|青岛|大连|香港|澳门|台北|东京|纽约|伦敦|巴黎|奥斯陆|卑尔根|新加坡|腾讯|阿里|字节|华为|百度|京东|美团|小米|微信|支付宝|抖音"
_LEAD_IN = r"^(?:我|你|他|她|我们|在|去|到|从|和|跟|住在|搬到|是|的|了|叫|一家|这个|那个|一个|附近|来自)+"


def found(text: str, aliases: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """
    The names in a text, in order, each once, as they are written there.

    aliases: what a folded name is called instead: {"小陈": "陈明", "bob": "Robert"}
    """
    looked = text[:LOOKED_AT]
    places: list[tuple[int, str]] = [(m.start(), (m[1] or m[2]).strip()) for m in re.finditer(_QUOTED, looked)]
    places += [(m.start(), name) for m in re.finditer(_LATIN, looked) if (name := _latin(looked, m))]
    places += [(m.start(), m[0]) for m in re.finditer(_SMALL, looked)]
    if not looked.isascii():
        places += [(m.start(), m[0]) for says in (_TITLED, _CITIES) for m in re.finditer(says, looked)]
        places += [(m.start("n"), m["n"]) for m in re.finditer(_NAMED, looked)]
        places += [(m.start(), re.sub(_LEAD_IN, "", m[0])) for m in re.finditer(_PLACE, looked)]
    known = {fold(name): called for name, called in (aliases or {}).items()}
    folded = fold(looked)
    places += [(folded.find(name), called) for name, called in known.items() if len(name) > 1 and _stands(name, folded)]
    names = dict.fromkeys(known.get(fold(name), name) for _, name in sorted(places) if _is_name(name))
    return tuple(name for name in names if not any(name != other and name in other for other in names))[:AT_MOST]


def _latin(text: str, match: re.Match[str]) -> str:
    """A run of capitalised words without generic ones at its ends; nothing when it only opens a sentence."""
    words = match[0].split()
    opens = match.start() == 0 or text[: match.start()].rstrip(" \t\"'“‘(（*")[-1:] in (*MARKS, *":：\n", "")
    while words and fold(words[0]).rstrip("'s") in STOP:
        words, opens = words[1:], False
    while words and fold(words[-1]) in STOP:
        words = words[:-1]
    if opens and len(words) == 1 and not re.search(r"\d|[a-z][A-Z]|^[A-Z]{2,}$", words[0]):
        return (
            words[0] if re.match(r"(?:'s|’s)? (?:is|was|lives|works|has|likes|and)\b", text[match.end() : match.end() + 12]) else ""
        )
    return re.sub(r"(?:'s|’s)$", "", " ".join(words))


def _stands(name: str, folded: str) -> bool:
    """Whether a known name stands in the text, as a word of its own where words are spaced."""
    if not name.isascii():
        return name in folded
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded) is not None


def _is_name(name: str) -> bool:
    return 2 <= len(name) <= LONGEST and fold(name) not in STOP and not name.isdecimal()
