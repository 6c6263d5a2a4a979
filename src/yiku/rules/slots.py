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
from functools import cache

from yiku.rules.analyze import UNSPACED_RUN, fold, normal
from yiku.rules.predicates import BE, NO_NAMES, PREDICATES, RELATIVES, SINGLE, SMALL_NAME, SORTS, UNKNOWN, ZH_BE, Predicate
from yiku.types import Cardinality, Kind, Slot

USER = "user"  # the canonical subject of the scope's owner
LONGEST_STATEMENT = 300  # characters; a longer text is a story, not a statement
LONGEST_OBJECT = 120


_BY_NAME = {name: predicate for predicate in PREDICATES for name in (predicate.name, *predicate.names.split("|"))}
# The longest reading first: «不喜欢» before «喜欢», «截止日期是» before «…的…是…».
_READING_ORDER = (
    "dislikes",
    "not allergic to",
    "no longer uses",
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
_OF = rf"(?:the )?(?P<p>[a-z][\w -]{{1,40}}?) (?:of|for) (?:the )?(?P<s>.+?) {BE} (?P<o>.+)"
_POSSESSIVE = rf"(?P<s>my|our|his|her|their|your|.+?'s) (?P<p>[\w -]{{2,40}}?) {BE} (?:now )?(?P<o>.+)"
_ZH_FAVOURITE = rf"(?P<s>.*?)最(?:喜欢|爱)的(?P<p>[^是]{{1,8}}?){ZH_BE}了?(?P<o>.+)"
_ZH_POSSESSIVE = rf"(?P<s>[^的]{{1,20}})的(?P<p>[^的是为]{{1,12}}?){ZH_BE}了?(?P<o>.+)"

_LEAD = (
    r"(?:please|also|and|so|well|oh|btw|fyi|actually|in fact|by the way|note that|note|remember that|remember|keep in mind that|correction|sorry|update)\b[,:]? ?"
    r"|(?:请?(?:记住|注意|记一下|记得)|其实|实际上|事实上|对了|另外|更正|顺便说一下|重要|那个|嗯|哦|更新)[,，:： ]*"
)
_NOT_NOW = (
    r"\?|？|吗[。.]?$|\bused to\b|\bformerly\b|\bpreviously\b|\blived\b|\bworked\b|\bif\b|\bmaybe\b|\bperhaps\b|\bprobably\b|\bmight\b|(?<!\d )(?<!\bin )(?<!\bof )(?<!\bby )(?<!\bon )(?<!\bto )(?<!until )(?<!since )\bmay\b(?! \d)|\bcould\b|\bwould\b|\bwill\b"
    r"|\bsuppose\b|\bimagine\b|\balmost\b|\bnearly\b|\bdream|\bpretend|\bstopped\b|\bunless\b|\b(?:said|says|told|joke|joking|kidding)\b|\b(?:am|is|are) moving to\b|\bgoing to\b|\bplan(?:s|ning)? to\b|\bwant(?:s)? to\b|\bhop(?:e|es|ing) to\b|\bthink(?:s|ing)? (?:of|about)\b|\bthought\b|\bi think\b|\bi guess\b|\bnext (?:week|month|year)\b"
    r"|从没|从来没|暂时|临时|\btemporarily\b|\bthis weekend\b|差点|希望|考虑|梦见|梦到|觉得|假装|开玩笑|逗你|骗你|说[我他她，,：:「“]|以前|曾经|之前|过去|原来|当年|小时候|如果|要是|假如|可能|也许|或许|大概|好像|似乎|应该|打算|计划|准备|想要|想搬|将要|将会|将来|会搬|要搬|要去|明年|下个?月|下周|据说|听说"
)
_NEGATED = r"\bnot\b|\bn't\b|n't\b|\bno longer\b|\bnever\b|\bneither\b|不再|不是|没有|没在|不在|不住|不叫|并非|从不"
_TAIL = (
    r"(?:[,;]? (?:last|this) (?:week|month|year|spring|summer|autumn|fall|winter|\w+day)|[,;]? (?:yesterday|today|now|currently|recently|these days|at the moment|any ?more|any longer|instead|again|since .*|from now on|as of .*|in (?:january|february|march|april|may|june|july|august|september|october|november|december)(?: \d{4})?|(?:a|two|three|\d+) (?:days?|weeks?|months?|years?) ago)"
    r"|[,;] .*| because .*| but .*| and (?:i|my|he|his|she|her|they|we|our) .*|[,，;；。].*|了|啦|哦|呢|吧)+$"
)
# «I don't live in Oslo any more, I live in Bergen» and «Bergen, not Oslo»: what is denied goes, what is affirmed is read.
_DENIED_FIRST = r"^[^,;，；]*(?:n't\b|\bno longer\b|\bnot\b|不|没)[^,;，；]*[,;，；] ?(?:and |but |now |而是|现在)?(?=.*\S)"
_DENIED_LAST = r"[,;，；] ?(?:and )?(?:not|no longer|而不是|不是|不再是)\b.*$"
_REMARK = r" (?:when|if|while|where|because|that|who|which|of the time|in my|half|on weekends)\b|[()（）]| - |的时候|那年|那时|是(?:假|真)的|只是"
_NO_SUBJECT = r"[,，;；。:：]|\b(?:that|when|and|but|because|who|which|where|to|he|she|they|it|you|have|has|had|was|were|do|does|in \d{4})\b|[你他她它把]"
_ALSO = r"\balso\b|\btoo$|\bas well\b|也(?!许)|还(?=住|在)|另外"
_ONE_OF_MANY = tuple(f"'s {one}" for one in ("friend", "colleague", "roommate", "cat", "dog", "child", "neighbour", "cousin"))
_CONTRACTED = r"'m\b|'re\b|'ve\b"
_SPACE = "\t\n\v\f\r \x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_EDGES = (
    _SPACE + "\"'“”‘’「」『』《》（）()[].,!！。，;；:：~"
)  # to strip: a pattern that ends in $ would try each run of them again and again
_FAVOURITE = r"favou?rite|最喜欢的|最爱的"
_NUMERIC = r"(?:[~≈<>]|about |around |约|大约)?[v$€¥￥£]?\d[\d.,:/\-年月日号点时分 ]*[%a-z°²³]{0,12}|\d.*(?:万|亿|元|次|个|天|小时|分钟|秒|毫秒|度|公里|米|人|岁)|(?:\w+ )?\d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?"
_ARTICLE = re.compile(r"^(?:the |a |an |this |that |our |这个|那个|该)")

_FIRST_PERSON = frozenset("i me my mine myself we us our 我 我们 俺 本人 咱 咱们 自己 user 用户 主人 owner me/i".split()) | {
    "the user",
    "",
}
_MINE = re.compile(r"(?:(?:my|our) |(?:我|我们|咱|俺)(?:家)?的?)(?P<x>.+)")
_OWNED = re.compile(r"(?P<s>.+?)(?:'s |的)(?P<x>.+)")


def read(text: str, *, speaker: str | None = None, names: Sequence[str] = ()) -> Slot | None:
    """
    The slot that a statement fills, or None when it is not plainly one statement about now.

    speaker: who says it, when that is not the owner; the first person is then the speaker
    names:   what the owner is called; these resolve to USER
    """
    if len(text) > LONGEST_STATEMENT or not (cleaned := _cleaned(text)) or re.search(_NOT_NOW, cleaned):
        return None
    for predicate, pattern in _patterns(UNSPACED_RUN.search(cleaned) is not None):
        if (match := pattern.fullmatch(cleaned)) and (slot := _slot(text, match, predicate, speaker, names)):
            return slot
    for possessive in (_ZH_FAVOURITE, _POSSESSIVE, _OF, _ZH_POSSESSIVE):
        if match := re.fullmatch(possessive, cleaned):
            name = f"最喜欢的{match['p']}" if possessive is _ZH_FAVOURITE else _predicate_name(match["p"])
            if slot := _slot(text, match, _BY_NAME.get(name) or Predicate(name, UNKNOWN, ""), speaker, names):
                return slot
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
    folded = fold(text).strip(_EDGES)
    if folded in _FIRST_PERSON:
        owner = {fold(name) for name in names}
        return fold(speaker) if speaker and owner and fold(speaker) not in owner else USER
    if any(fold(name) == folded for name in names):
        return USER
    if folded.startswith(("my ", "our ", "我", "咱", "俺")) and (match := _MINE.fullmatch(folded)):
        return f"{subject_of('i', speaker, names)}'s {RELATIVES.get(match['x'], match['x'])}"
    if ("的" in folded or "'s " in folded) and (match := _OWNED.fullmatch(folded)):
        return f"{subject_of(match['s'], speaker, names)}'s {RELATIVES.get(match['x'], match['x'])}"
    folded = _ARTICLE.sub("", folded)
    return RELATIVES.get(folded, folded)


def asked(question: str) -> tuple[str, ...]:
    """The known predicates that a folded question asks for, with their opposites."""
    found = [name for name, pattern in _asks() if pattern.search(question)]
    return (*found, *(predicate.name for predicate in PREDICATES if predicate.opposite_of in found))


def own_names(phrases: Iterable[str]) -> set[str]:
    """The phrases that may name a predicate outside the table, such as a retry limit; known ones have their own hints."""
    return {phrase for phrase in phrases if len(phrase) > 1 and phrase not in _BY_NAME}


def _cleaned(text: str) -> str:
    """The statement as the patterns expect it; nothing when folding made it a story: one character may become eighteen."""
    folded = re.sub(r"\s+", " ", fold(text)).strip()
    if len(folded) > LONGEST_STATEMENT:
        return ""
    while (match := re.match(_LEAD, folded)) and match.end() > 0:
        folded = folded[match.end() :]
    folded = re.sub(_DENIED_LAST, "", re.sub(_DENIED_FIRST, "", folded))
    return re.sub(_CONTRACTED, lambda match: {"'m": " am", "'re": " are", "'ve": " have"}[match[0]], folded).strip(_EDGES)


def _as_said(text: str, object_: str) -> str:
    """The object with the letters that the speaker gave it, where it stands in the text as it is."""
    told = normal(text)
    if match := re.search(re.escape(object_), told, re.IGNORECASE):
        return match[0]
    words = told.split()  # an accent that was folded away: Tromsø
    spans = (" ".join(words[i:k]) for i in range(len(words)) for k in range(len(words), i, -1))
    return next((said for span in spans if fold(said := span.strip(_EDGES)) == object_), object_)


def _predicate_name(text: str) -> str:
    name = _ARTICLE.sub("", re.sub(r"[\s_]+", " ", fold(text)).strip()).strip(_EDGES)
    return name.replace("favorite", "favourite").replace("color", "colour")


def _slot(text: str, match: re.Match[str], predicate: Predicate, speaker: str | None, names: Sequence[str]) -> Slot | None:
    subject, object_ = match["s"].strip(), re.sub(_TAIL, "", match["o"].strip()).strip(_EDGES)
    subject = {"my": "i", "our": "i"}.get(subject, subject).removesuffix("'s")
    if not object_ or len(object_) > LONGEST_OBJECT or len(subject) > LONGEST_OBJECT or not _is_subject(subject, predicate):
        return None
    if not predicate.opposite_of and re.search(_NEGATED, match.string):
        return None
    said = _as_said(text, object_)
    if predicate.takes and (re.search(_REMARK, match["o"]) or not _fits(said, predicate.takes, text)):
        return None
    who, many = subject_of(subject, speaker, names), _cardinality(predicate.name, object_)
    if many is SINGLE and (re.search(_ALSO, match.string) or who.endswith(_ONE_OF_MANY)):
        many = UNKNOWN  # «I also work at Beta», «my friend lives in Rome»: nobody knows whether it retires what was said before
    return _finished(who, predicate.name, object_, many)._replace(object=said)


def _fits(said: str, sort: str, text: str) -> bool:
    """Whether an object is of the sort that its predicate takes. In a text without capitals names have none either."""
    if sort == "version" and not re.search(r"\d\.\d|version|版", text, re.IGNORECASE):
        return False
    if re.fullmatch(SORTS[sort], said):
        return True
    small = sort in ("place", "employer", "name") and not re.search("[A-Z]", text)
    return small and re.fullmatch(SMALL_NAME, said) is not None and NO_NAMES.isdisjoint(said.split())


def _is_subject(subject: str, predicate: Predicate) -> bool:
    """Whether this reads as somebody or something, not as half a sentence. A missing one is a Chinese «I»."""
    if predicate.name in ("deadline", "version", "status") and not subject:
        return False
    if len(subject.split()) > 5 or subject.endswith((" i", "的", "不", "把", "没")) or re.search(_NO_SUBJECT, subject):
        return False
    mine = re.fullmatch(r"(?:我|咱|俺)(?!们|的|家)(?P<x>.+)", subject)
    return mine is None or mine["x"] in RELATIVES


def _cardinality(predicate: str, object_: str) -> Cardinality:
    """What the table says; else a favourite, a number, a date or a version has one value at a time, and of the rest nobody knows."""
    if known := _BY_NAME.get(predicate):
        return known.cardinality
    return SINGLE if re.match(_FAVOURITE, predicate) or re.fullmatch(_NUMERIC, fold(object_).strip()) else UNKNOWN


def _finished(subject: str, predicate: str, object_: str, cardinality: Cardinality) -> Slot:
    known = _BY_NAME.get(predicate)
    family = (known.opposite_of if known else "") or predicate
    key = f"{subject}|{family}"
    if cardinality is not SINGLE:
        key = f"{key}|{fold(object_).strip(_EDGES)}"
    elif known is None and (unit := _unit(object_)):
        key = f"{key}|{unit}"
    return Slot(subject, predicate, object_, cardinality, key)


def _unit(object_: str) -> str:
    """What a number counts: three, four kilos and five times are three things, and so are a number and a date."""
    folded = fold(object_).strip()
    if not re.fullmatch(_NUMERIC, folded):
        return ""
    return "date" if re.fullmatch(SORTS["date"], folded) and re.search(r"[a-z月日号]", folded) else re.sub(r"[\d\W_]+", "", folded)
