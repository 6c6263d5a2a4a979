"""
Which slot a statement fills: (subject, predicate) in canonical form, and the object as said.

Statements in English and Chinese are read with one table of predicates, so that «I live in Oslo» and
«我住在奥斯陆» fill one slot. A single-valued predicate (home, employer, version, deadline) holds one
object at a time; a multi-valued one (likes, uses, owns) holds many; of any other nobody knows yet.
The slot's key says what cannot both hold: with one value the subject and predicate, with many the
object too. «I like tea» and «I don't like tea» have one key, so the later one wins.

Precision comes first: what is past, planned, hedged, asked or conditional fills no slot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from yiku.rules.analyze import UNSPACED_RUN, fold
from yiku.types import Cardinality, Kind, Slot

USER = "user"  # the canonical subject of the scope's owner
SINGLE, MULTI, UNKNOWN = Cardinality.SINGLE, Cardinality.MULTI, Cardinality.UNKNOWN
LONGEST_STATEMENT = 300  # characters; a longer text is a story, not a statement
LONGEST_OBJECT = 120


@dataclass(frozen=True, slots=True)
class Predicate:
    """A known predicate: its names in both languages, how it is said, and how it is asked for."""

    name: str
    cardinality: Cardinality
    names: str  # other names, separated by |
    says: tuple[str, ...] = ()  # regular expressions over a cleaned statement, with groups s (subject) and o (object)
    asks: str = r"(?!)"  # a regular expression over a folded question
    kind: Kind = Kind.FACT
    opposite_of: str = ""  # shares the slot of this one


_NOW = r"(?:(?:now|currently|just|recently|already|finally|also|really|have|has|'ve|'s|am|is|are|'m|'re) )*"
_ZH_NOW = r"(?:现在|目前|如今|已经|已|刚刚|刚|最近|上周|上个月|昨天|今天|也|就|都|一直|正)*"
_BE = r"(?:is|are|was changed to|has changed to|changed to|is now|are now|moved to|has moved to|was moved to|has been moved to|is moved to|became)"
_ZH_BE = r"(?:现在是|已经是|是|为|改成了?|改为了?|变成了?|改到了?|推迟到了?|延到了?|延期到了?|提前到了?|定在了?|定为|换成了?|更新到了?|升级到了?|升到了?|[:：])"

PREDICATES: tuple[Predicate, ...] = (
    Predicate(
        "lives in",
        SINGLE,
        "live in|lives at|home|address|home address|residence|city|located in|based in|moved to|住在|住|居住地|住址|地址|家|家庭住址|位于|搬到",
        (
            rf"(?P<s>.+?) {_NOW}(?:live|lives|living|reside|resides|based) (?:in|at) (?P<o>.+)",
            rf"(?P<s>.+?) {_NOW}(?:moved|relocated|moving)(?: back| house| home| over)?(?: from (?:(?!\bto\b).)+)? to (?P<o>.+)",
            rf"(?P<s>.*?){_ZH_NOW}(?:从.+?)?(?:住在|居住在|定居在|定居|搬到|搬去|搬家到|搬回)了?(?P<o>.+)",
        ),
        r"\bwhere\b.*\b(?:live|lives|living|reside|resides|based|home)\b|\b(?:home|postal|my|your|his|her)\b.*\b(?:address|city)\b|住在?(?:哪|什么地方|何处|几楼)|搬到(?:了)?哪|家在哪|(?:住址|地址)|(?:在|住)哪[个座]?城市",
    ),
    Predicate(
        "works at",
        SINGLE,
        "work at|works for|work for|employer|company|employed by|joined|就职于|任职于|工作单位|公司|雇主|单位|工作于|在职",
        (
            rf"(?P<s>.+?) {_NOW}(?:work|works|working|employed|started|started working|started a job|got a job|took a job) (?:at|for|with|by) (?P<o>.+)",
            rf"(?P<s>.+?) {_NOW}(?:joined|switched jobs to|changed jobs to|moved jobs to) (?P<o>.+)",
            rf"(?P<s>.*?){_ZH_NOW}在(?P<o>[^,，]+?)(?:工作|上班|任职|就职)",
            rf"(?P<s>.*?){_ZH_NOW}(?:就职于|任职于|供职于|加入|入职|跳槽到|跳槽去|跳到)了?(?P<o>.+)",
            rf"(?P<s>.*?){_ZH_NOW}换(?:了)?工作(?:了)?[,， ]*(?:现在)?(?:在|去|到)了?(?P<o>.+)",
        ),
        r"\bwhere\b.*\bwork(?:s|ing)?\b|\bwho\b.*\b(?:employ|work(?:s|ing)? for)|\b(?:employer|company|workplace)\b|(?:在|去)(?:哪|什么)(?:里|儿|家|个)?(?:公司|单位|地方)?(?:工作|上班|任职|就职)|(?:公司|单位|雇主|东家)",
    ),
    Predicate(
        "job",
        SINGLE,
        "job title|occupation|profession|role|position|works as|职业|职位|岗位|工作是|职务",
        (
            rf"(?P<s>.+?) {_NOW}(?:work|works|working) as (?:an? |the )?(?P<o>.+)",
            rf"(?P<s>.*?)(?:的)?(?:职业|职位|岗位){_ZH_BE}(?P<o>.+)",
        ),
        r"\b(?:job|job title|occupation|profession)\b|\bdo for a living\b|什么工作|(?:职业|职位|岗位)",
    ),
    Predicate(
        "name",
        SINGLE,
        "called|is called|full name|名字|姓名|叫|名叫",
        (
            r"(?:please )?(?P<s>)call me (?P<o>.+)",
            r"(?P<s>i|.+?'s .+|my .+) (?:am|is) (?:called|named) (?P<o>.+)",
            r"(?P<s>我|我的?[^的是叫]{1,4}|.{1,8}的[^的是叫]{1,4})叫(?:做)?(?P<o>[^,，。]{1,20})",
        ),
        r"\bname\b|\bcalled\b|叫什么|(?:名字|姓名)",
    ),
    Predicate(
        "age",
        SINGLE,
        "years old|年龄|岁数",
        (r"(?P<s>.+?) (?:am|is|'m|'s) (?P<o>\d{1,3}) years old", r"(?P<s>.*?)(?:今年|现在|已经)*(?P<o>\d{1,3})岁了?"),
        r"\bhow old\b|\bage\b|几岁|多大(?:了|年纪)|年龄",
    ),
    Predicate(
        "birthday",
        SINGLE,
        "date of birth|born on|birth date|生日|出生日期",
        (r"(?P<s>.+?) (?:was|were) born on (?P<o>.+)",),
        r"\bbirthday\b|\bborn\b|生日|出生",
    ),
    Predicate(
        "phone",
        SINGLE,
        "phone number|telephone|mobile|电话|电话号码|手机|手机号|手机号码",
        (),
        r"\bphone\b|\btelephone\b|电话|手机号",
    ),
    Predicate(
        "email",
        SINGLE,
        "e-mail|email address|mail address|邮箱|电子邮件|邮件地址|邮箱地址",
        (),
        r"\be-?mail\b|邮箱|电子邮件",
    ),
    Predicate("time zone", SINGLE, "timezone|时区", (), r"\btime ?zone\b|时区"),
    Predicate(
        "spouse",
        SINGLE,
        "husband|wife|partner|married to|配偶|老公|老婆|丈夫|妻子",
        (rf"(?P<s>.+?) {_NOW}married to (?P<o>.+)",),
        r"\bmarried to\b|\bspouse\b",
    ),
    Predicate(
        "version",
        SINGLE,
        "version is|runs version|current version|版本|版本号|当前版本",
        (
            rf"(?P<s>.+?) {_NOW}(?:on|at|runs|uses|using|running|upgraded to|updated to) (?:version )?(?P<o>v?\d[\w.+-]*)",
            rf"(?P<s>.+?) version {_BE} (?P<o>.+)",
            r"(?P<s>.+?)(?:已经|已)?(?:升级到|更新到|升到)了?(?:版本)?(?P<o>v?\d[\w.+-]*)版?",
            rf"(?P<s>.+?)的?版本号?{_ZH_BE}了?(?P<o>.+)",
        ),
        r"\bversions?\b|版本",
    ),
    Predicate(
        "deadline",
        SINGLE,
        "due|due date|is due|due on|截止日期|截止时间|截止|期限|交付日期|最后期限|deadline是",
        (
            rf"(?P<s>.+?) {_NOW}due (?:on |by |in )?(?P<o>.+)",
            rf"(?:the )?deadline (?:of|for) (?P<s>.+?) (?:{_BE}|slipped to|was pushed to|was extended to|has been pushed to) (?P<o>.+)",
            rf"(?P<s>.+?)(?:'s)? deadline (?:{_BE}|slipped to|was pushed to|was extended to|has been pushed to) (?P<o>.+)",
            rf"(?P<s>.*?)的?(?:截止日期|截止时间|截止日|最后期限|期限|交付日期|deadline)(?:又|也|再)?{_ZH_BE}了?(?P<o>.+)",
        ),
        r"\bdeadline\b|\bdue\b|截止|期限|什么时候交|deadline",
    ),
    Predicate("status", SINGLE, "state|状态", (), r"\bstatus\b|状态"),
    Predicate(
        "favourite",
        SINGLE,
        "favorite|最喜欢的|最爱的",
        (),
        r"\bfavou?rite\b|最喜欢的|最爱",
        Kind.PREFERENCE,
    ),
    Predicate(
        "likes",
        MULTI,
        "like|loves|love|enjoys|enjoy|is fond of|喜欢|爱|热爱|喜爱",
        (
            rf"(?P<s>.+?) {_NOW}(?:like|likes|love|loves|enjoy|enjoys|adore|adores|fond of) (?P<o>.+)",
            rf"(?P<s>.*?){_ZH_NOW}(?:很|最|特别|非常|超|挺|真的)*(?:喜欢|喜爱|热爱|爱)(?P<o>.+)",
        ),
        r"\b(?:like|likes|love|loves|enjoy|enjoys)\b(?!\s*(?:this|that)\b)|喜欢|喜爱|爱(?:吃|喝|看|听|玩|好)",
        Kind.PREFERENCE,
    ),
    Predicate(
        "dislikes",
        MULTI,
        "dislike|hates|hate|does not like|不喜欢|讨厌|不爱",
        (
            r"(?P<s>.+?) (?:do not|don't|dont|does not|doesn't|no longer|never) (?:really |even )?(?:like|likes|love|enjoy|enjoys) (?P<o>.+?)(?: any ?more| any longer)?",
            rf"(?P<s>.+?) {_NOW}(?:hate|hates|dislike|dislikes|detest|detests) (?P<o>.+)",
            rf"(?P<s>.*?){_ZH_NOW}(?:再也不|不再|不太|不|没那么)(?:喜欢|爱)(?P<o>.+)",
            rf"(?P<s>.*?){_ZH_NOW}(?:很|最|特别|非常)*(?:讨厌|厌恶)(?P<o>.+)",
        ),
        r"\b(?:dislikes?|hates?|(?:don't|not) like)\b|不喜欢|讨厌",
        Kind.PREFERENCE,
        opposite_of="likes",
    ),
    Predicate(
        "prefers",
        MULTI,
        "prefer|preference|prefers to|偏好|更喜欢|偏爱|倾向于",
        (
            rf"(?P<s>.+?) {_NOW}(?:prefer|prefers) (?P<o>.+)",
            rf"(?P<s>.*?){_ZH_NOW}(?:更喜欢|偏好|偏爱|倾向于)(?P<o>.+)",
        ),
        r"\bprefers?\b|\bpreferences?\b|偏好|更喜欢|偏爱",
        Kind.PREFERENCE,
    ),
    Predicate(
        "allergic to",
        MULTI,
        "allergy|allergies|is allergic to|过敏|对…过敏",
        (
            rf"(?P<s>.+?) {_NOW}(?:(?:very|badly|severely) )?allergic to (?P<o>.+)",
            r"(?P<s>.*?)(?:好像|一直|也)?对(?P<o>.+?)(?:严重|有点)?过敏",
        ),
        r"\ballerg(?:ic|y|ies)\b|过敏",
    ),
    Predicate(
        "uses",
        MULTI,
        "use|using|用|使用|在用",
        (rf"(?P<s>.+?) {_NOW}(?:use|uses|using) (?P<o>.+)", rf"(?P<s>我|我们|他|她){_ZH_NOW}(?:在用|使用|用)(?P<o>.+)"),
        r"\b(?:use|uses|using)\b|(?:在用|使用|用)(?:什么|哪|的是)",
    ),
    Predicate(
        "owns",
        MULTI,
        "own|has|have|拥有|有",
        (
            rf"(?P<s>.+?) {_NOW}(?:own|owns) (?P<o>.+)",
            r"(?P<s>.+?) (?:have|has|got) (?P<o>(?:an?|two|three|four) .+)",
            r"(?P<s>我|我们|他|她)(?:家)?(?:养了|拥有|有)(?P<o>[一两二三四]?[只条个辆台部].+)",
        ),
        r"\b(?:own|owns|have|has) (?:any|a|an|got)\b|养了什么|有(?:几|什么)[只条个辆台部]",
    ),
    Predicate(
        "speaks",
        MULTI,
        "speak|languages|会说|会讲",
        (rf"(?P<s>.+?) {_NOW}(?:speak|speaks) (?P<o>.+)", rf"(?P<s>.*?){_ZH_NOW}(?:会说|会讲)(?P<o>.+)"),
        r"\bspeaks?\b|\bwhich languages\b|会(?:说|讲)(?:什么|哪)",
    ),
)

_BY_NAME = {name: predicate for predicate in PREDICATES for name in (predicate.name, *predicate.names.split("|"))}
# The longest reading first: «不喜欢» before «喜欢», «截止日期是» before «…的…是…».
_READING_ORDER = (
    "dislikes",
    "prefers",
    "deadline",
    "version",
    "allergic to",
    "job",
    "works at",
    "lives in",
    "name",
    "age",
    "birthday",
    "spouse",
)


@cache
def _patterns(chinese: bool) -> list[tuple[Predicate, re.Pattern[str]]]:
    """
    How each predicate is said, the longest reading first; compiled when the first statement is read.

    chinese: also the patterns that hold Chinese words, which no statement without any can match
    """
    order = {name: place for place, name in enumerate(_READING_ORDER)}
    ranked = sorted(PREDICATES, key=lambda predicate: order.get(predicate.name, len(order)))
    return [(p, re.compile(says)) for p in ranked for says in p.says if chinese or not UNSPACED_RUN.search(says)]


@cache
def _asks() -> list[tuple[str, re.Pattern[str]]]:
    """How each predicate is asked for; compiled when the first question is read."""
    return [(predicate.name, re.compile(predicate.asks)) for predicate in PREDICATES]


# Patterns that only statements need are compiled by `re` when the first one is read: a question starts without them.
_OF = rf"(?:the )?(?P<p>[a-z][\w -]{{1,40}}?) (?:of|for) (?:the )?(?P<s>.+?) {_BE} (?P<o>.+)"
_POSSESSIVE = rf"(?P<s>my|our|his|her|their|your|.+?'s) (?P<p>[\w -]{{2,40}}?) {_BE} (?:now )?(?P<o>.+)"
_ZH_POSSESSIVE = rf"(?P<s>[^的]{{1,20}})的(?P<p>[^的是为]{{1,12}}?){_ZH_BE}了?(?P<o>.+)"

_LEAD = (
    r"(?:(?:please |also |and |so |well |oh |btw |fyi |actually |in fact |by the way |note |remember |note that |remember that |keep in mind that |correction |sorry |update )[,:]? ?)+"
    r"|(?:请?(?:记住|注意|记一下|记得)|其实|实际上|事实上|对了|另外|更正|顺便说一下|重要|那个|嗯|哦|更新)[,，:： ]*"
)
_NOT_NOW = (
    r"\?|？|吗[。.]?$|\bused to\b|\bformerly\b|\bpreviously\b|\blived\b|\bworked\b|\bif\b|\bmaybe\b|\bperhaps\b|\bprobably\b|\bmight\b|\bmay\b|\bcould\b|\bwould\b|\bwill\b"
    r"|\bgoing to\b|\bplan(?:s|ning)? to\b|\bwant(?:s)? to\b|\bhop(?:e|es|ing) to\b|\bthink(?:s|ing)? (?:of|about)\b|\bthought\b|\bi think\b|\bi guess\b|\bnext (?:week|month|year)\b"
    r"|以前|曾经|之前|过去|原来|当年|小时候|如果|要是|假如|可能|也许|或许|大概|好像|似乎|应该|打算|计划|准备|想要|想搬|将要|将会|将来|会搬|要搬|要去|明年|下个?月|下周|据说|听说"
)
_NEGATED = r"\bnot\b|\bn't\b|n't\b|\bno longer\b|\bnever\b|\bneither\b|不再|不是|没有|没在|不在|不住|不叫|并非|从不"
_TAIL = (
    r"(?:[,;]? (?:last|this) (?:week|month|year|spring|summer|autumn|fall|winter|\w+day)|[,;]? (?:yesterday|today|now|currently|recently|these days|at the moment|any ?more|any longer|instead|again|since .*|from now on|as of .*|in (?:january|february|march|april|may|june|july|august|september|october|november|december)(?: \d{4})?|(?:a|two|three|\d+) (?:days?|weeks?|months?|years?) ago)"
    r"|[,;] .*| because .*| but .*| and (?:i|my|he|his|she|her|they|we|our) .*|[,，;；。].*|了|啦|哦|呢|吧)+$"
)
_CONTRACTED = r"'m\b|'re\b|'ve\b"
_EDGES = re.compile(r"^[\s\"'“”‘’「」『』《》（）()\[\].,!！。，;；:：~]+|[\s\"'“”‘’「」『』《》（）()\[\].,!！。，;；:：~]+$")
_FAVOURITE = r"favou?rite|最喜欢的|最爱的"
_NUMERIC = r"(?:[~≈<>]|about |around |约|大约)?[v$€¥￥£]?\d[\d.,:/\-年月日号点时分 ]*[%a-z°²³]{0,12}|\d.*(?:万|亿|元|次|个|天|小时|分钟|秒|毫秒|度|公里|米|人|岁)|(?:\w+ )?\d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?"
_ARTICLE = re.compile(r"^(?:the |a |an |this |that |our |这个|那个|该)")

_FIRST_PERSON = frozenset(
    "i me my mine myself we us our 我 我们 俺 本人 咱 咱们 自己 user the user 用户 主人 owner me/i".split()
) | {"the user", ""}
_RELATIVES = {
    "妹妹": "sister", "妹": "sister", "姐姐": "sister", "姐": "sister", "哥哥": "brother", "哥": "brother", "弟弟": "brother", "弟": "brother",
    "妈妈": "mother", "妈": "mother", "母亲": "mother", "mom": "mother", "mum": "mother", "爸爸": "father", "爸": "father", "父亲": "father",
    "dad": "father", "老婆": "wife", "妻子": "wife", "太太": "wife", "老公": "husband", "丈夫": "husband", "先生": "husband", "儿子": "son",
    "女儿": "daughter", "老板": "boss", "领导": "boss", "同事": "colleague", "室友": "roommate", "朋友": "friend", "男朋友": "boyfriend",
    "女朋友": "girlfriend", "猫": "cat", "狗": "dog", "项目": "project", "孩子": "child", "奶奶": "grandmother", "爷爷": "grandfather",
}  # fmt: skip
_MINE = re.compile(r"(?:(?:my|our) |(?:我|我们|咱|俺)(?:家)?的?)(?P<x>.+)")
_OWNED = re.compile(r"(?P<s>.+?)(?:'s |的)(?P<x>.+)")


def read(text: str, *, speaker: str | None = None, names: Sequence[str] = ()) -> Slot | None:
    """
    The slot that a statement fills, or None when it is not plainly one statement about now.

    speaker: who says it, when that is not the owner; the first person is then the speaker
    names:   what the owner is called; these resolve to USER
    """
    if len(text) > LONGEST_STATEMENT or re.search(_NOT_NOW, cleaned := _cleaned(text)):
        return None
    for predicate, pattern in _patterns(UNSPACED_RUN.search(cleaned) is not None):
        if (match := pattern.fullmatch(cleaned)) and (slot := _slot(match, predicate, speaker, names)):
            return slot._replace(object=_as_said(text, slot.object))
    for possessive in (_POSSESSIVE, _OF, _ZH_POSSESSIVE):
        if match := re.fullmatch(possessive, cleaned):
            known = _BY_NAME.get(_predicate_name(match["p"]))
            if slot := _slot(match, known or Predicate(_predicate_name(match["p"]), UNKNOWN, ""), speaker, names):
                return slot._replace(object=_as_said(text, slot.object))
    return None


def stated(
    subject: str,
    predicate: str,
    object_: str | None,
    cardinality: Cardinality | None,
    *,
    speaker: str | None = None,
    names: Sequence[str] = (),
) -> Slot:
    """The slot that a caller named outright, in the same canonical form."""
    known = _BY_NAME.get(_predicate_name(predicate))
    name = known.name if known else _predicate_name(predicate)
    many = cardinality or _cardinality(name, object_ or "")
    return _finished(subject_of(subject, speaker, names), name, (object_ or "").strip(), many)


def kind_of(slot: Slot | None) -> Kind:
    """The kind that a statement has by its slot alone."""
    known = _BY_NAME.get(slot.predicate) if slot else None
    return known.kind if known else Kind.FACT


def subject_of(text: str, speaker: str | None = None, names: Sequence[str] = ()) -> str:
    """The canonical subject: USER for the owner, `x's y` for what belongs to somebody, folded otherwise."""
    folded = _EDGES.sub("", fold(text).strip())
    if folded in _FIRST_PERSON:
        owner = {fold(name) for name in names}
        return fold(speaker) if speaker and owner and fold(speaker) not in owner else USER
    if any(fold(name) == folded for name in names):
        return USER
    if folded.startswith(("my ", "our ", "我", "咱", "俺")) and (match := _MINE.fullmatch(folded)):
        return f"{subject_of('i', speaker, names)}'s {_RELATIVES.get(match['x'], match['x'])}"
    if ("的" in folded or "'s " in folded) and (match := _OWNED.fullmatch(folded)):
        return f"{subject_of(match['s'], speaker, names)}'s {_RELATIVES.get(match['x'], match['x'])}"
    folded = _ARTICLE.sub("", folded)
    return _RELATIVES.get(folded, folded)


def asked(question: str) -> tuple[str, ...]:
    """The known predicates that a folded question asks for."""
    return tuple(name for name, pattern in _asks() if pattern.search(question))


def own_names(phrases: Iterable[str]) -> set[str]:
    """The phrases that may name a predicate outside the table, such as a retry limit; known ones have their own hints."""
    return {phrase for phrase in phrases if len(phrase) > 1 and phrase not in _BY_NAME}


def _cleaned(text: str) -> str:
    folded = re.sub(r"\s+", " ", fold(text)).strip()
    while (match := re.match(_LEAD, folded)) and match.end() > 0:
        folded = folded[match.end() :]
    return _EDGES.sub("", re.sub(_CONTRACTED, lambda match: {"'m": " am", "'re": " are", "'ve": " have"}[match[0]], folded))


def _as_said(text: str, object_: str) -> str:
    """The object with the letters that the speaker gave it, where it stands in the text as it is."""
    match = re.search(re.escape(object_), text, re.IGNORECASE)
    return match[0] if match else object_


def _predicate_name(text: str) -> str:
    return _EDGES.sub("", _ARTICLE.sub("", re.sub(r"[\s_]+", " ", fold(text)).strip()))


def _slot(match: re.Match[str], predicate: Predicate, speaker: str | None, names: Sequence[str]) -> Slot | None:
    subject, object_ = match["s"].strip(), _EDGES.sub("", re.sub(_TAIL, "", match["o"].strip()))
    subject = {"my": "i", "our": "i"}.get(subject, subject).removesuffix("'s")
    if not object_ or len(object_) > LONGEST_OBJECT or len(subject) > LONGEST_OBJECT or not _is_subject(subject, predicate):
        return None
    if predicate.name != "dislikes" and re.search(_NEGATED, match.string):
        return None
    many = _cardinality(predicate.name, object_)
    return _finished(subject_of(subject, speaker, names), predicate.name, object_, many)


def _is_subject(subject: str, predicate: Predicate) -> bool:
    """Whether this reads as somebody or something, not as half a sentence. A missing one is a Chinese «I»."""
    if predicate.name in ("deadline", "version", "status") and not subject:
        return False
    return len(subject.split()) <= 5 and not re.search(
        r"[,，;；。:：]|\b(?:that|when|and|but|because|who|which|where|to|he|she|they|it|you)\b|[你他她它]", subject
    )


def _cardinality(predicate: str, object_: str) -> Cardinality:
    """What the table says; else a favourite, a number, a date or a version has one value at a time, and of the rest nobody knows."""
    if known := _BY_NAME.get(predicate):
        return known.cardinality
    return SINGLE if re.match(_FAVOURITE, predicate) or re.fullmatch(_NUMERIC, fold(object_).strip()) else UNKNOWN


def _finished(subject: str, predicate: str, object_: str, cardinality: Cardinality) -> Slot:
    known = _BY_NAME.get(predicate)
    family = (known.opposite_of if known else "") or predicate
    key = f"{subject}|{family}" if cardinality is SINGLE else f"{subject}|{family}|{_EDGES.sub('', fold(object_))}"
    return Slot(subject, predicate, object_, cardinality, key)
