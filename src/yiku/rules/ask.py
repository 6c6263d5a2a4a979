"""
What a question asks for: its search terms, the slots it may mean, the times and things it names, and its wants.

The slots are candidates only: every subject the question names (the owner by «I» or 我, a name, what
belongs to somebody) with every predicate it hints at. The store knows which of these exist.

A want changes how hits are ranked, never which exist: the past, the newest, several sessions at once (a
count, a sum, an order of events), what somebody likes, a file, or what the other side of a talk said.
A message that tells something and asks for none of these carries on with a matter: «I'm back, the setup is done».
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from yiku.rules import keys, slots, when
from yiku.rules.analyze import QUESTION_CHARS, UNSPACED_RUN, fold, normal, question
from yiku.rules.lexicon import built_in
from yiku.rules.predicates import RELATIVES
from yiku.rules.shared_words import ATTRIBUTES, CALLED
from yiku.rules.text.sentences import MARKS, split
from yiku.types import Tokens

LONGEST_ASKED = 300  # characters; a longer message hardly asks for one slot
LONGEST_NAME_WORDS = 4
LONGEST_NAME_CHARACTERS = 8
LONG_ENOUGH = 60  # characters, a Chinese one counting as three, for a message that carries on; below are key words, and questions without a mark
MOST_NAMED = 16  # phrases, and identifiers; a question with more of them is a listing


class _Want(NamedTuple):
    """What tells that a question wants something: in English by a pattern, tried where one of the words stands; in Chinese."""

    words: frozenset[str]
    english: str  # compiled by `re` at the first question that may match
    chinese: str

    def wanted(self, folded: str, words: frozenset[str]) -> bool:
        if not words.isdisjoint(self.words) and re.search(self.english, folded):
            return True
        return not folded.isascii() and re.search(self.chinese, folded) is not None


_WORD = re.compile(r"[a-z]+")
_PAST = _Want(
    frozenset(
        "used use have previous previously former formerly earlier original originally first past back history once before old last".split()
    ),
    r"(?<!be )(?<!get )(?<!got )(?<!getting )(?<!is )(?<!am )(?<!are )(?<!'m )\bused to\b|\buse to\b|\bhave i (?:ever )?(?:lived|worked)\b(?! on)|\bprevious(?:ly)?\b(?! (?:chat|conversation|discussion|session|message|talk|question|answer|response|exchange|chess|game))|\bformer(?:ly)?\b|(?<!me )(?<!days )(?<!weeks )(?<!much )\bearlier\b(?! (?:this|today|conversation|chat|discussion))|\boriginal(?:ly)?\b|\bat first\b|\bin the past\b(?! (?:few|couple|several|\d+|two|three|four|five|six|seven|eight|nine|ten|day|week|month|quarter|year)\b)|\bback then\b|(?<!brief )(?<!oral )\bhistory\b(?! (?:museum|book|class|course|degree|teacher|of humankind))|\bonce (?:lived|worked)\b"
    r"|\b(?:did|was|were|had)\b.*(?<!days )(?<!weeks )(?<!months )\bbefore\b(?! \w+ing\b)|(?<!days )(?<!weeks )(?<!months )\bbefore\b.*\b(?:did|was|were)\b|\bold (?:address|home|employer|job|version|deadline|phone|email|name)\b|\bfirst (?:version|deadline|employer|job|address|home)\b|\blast (?:employer|job|address|home)\b",
    r"以前|(?<!你)之前(?!的?(?:聊天|对话|讨论|谈话)|还是|,|，)|原来|原先|原本|最初|曾经|(?<!超)(?<!经)(?<!通)过去(?![一两三四五六七八九十几半\d这的]|了|吧)|一开始|从前|当初|(?<!口述)历史(?!志愿|课|书|老师|博物|文化|专业|学|街|建筑|故事)|上一(?:个|家|份|版)|旧的?(?:地址|公司|版本|住址)",
)
_WHO = re.compile(r"\bwho(?:'s| is| are| was)\b|(?:是|叫)谁|谁是")
_FIRST = re.compile(r"\b(?:i|me|my|mine|i'm|i've|we|our|us)\b|我|咱|俺")
_ASKING = re.compile(
    r"\s*(?:(?:and|so|but|also|ok|okay|hi|hey|hello|please)[\s,]+)*(?:what|who|whom|whose|which|when|where|why|how|is|are|am|was|were|do|does|did|can|could|should|would|will|has|have|had|tell me|remind me)\b"
    r"|.*(?:什么|哪|谁|怎么|怎样|几|多少|吗|呢|为何|是否|是不是|有没有|来着|请问|告诉我|提醒我)",
)
_DIGIT = re.compile(r"[0-9]")
_OF_SOMEBODY = frozenset(RELATIVES.values()) | {
    "partner",
    "uncle",
    "aunt",
    "cousin",
    "neighbour",
    "neighbor",
    "girlfriend",
    "boyfriend",
}
_GAPS = re.compile(r"[\s\"“”‘’「」『』《》（）()\[\],!！。,;；:：?？、]+")
# A phrase that begins with one of these may mean the owner, or somebody's something; so may one with 's or 的 in it.
_HEADS = ("my ", "our ", "the ", "a ", "an ", "this ", "that ", "我", "俺", "咱", "这", "那", "该", "本", "自", "用", "主")
_OWNERS = frozenset("i me my mine myself we us our user owner me/i".split())

_COUNTS = _Want(
    frozenset(
        "many often much total altogether combined average sum number percentage compare compared earliest latest difference more less fewer each all list order first second earlier later long days weeks months years hours".split()
    ),
    r"\bhow (?:many|often|much (?:more|less|older|younger|longer|earlier|later|faster|in total|total|(?:money |time )?(?:have|did|do) (?:i|we) (?:\w+ )?(?:spen[dt]|ma[dk]e|earn|sav|rais|pa[iy])))\b"
    r"|\b(?:in total|total|altogether|combined|average|sum of|number of|percentage|compared? (?:to|with)|difference between|more than|less than|fewer than|each of|all (?:of )?(?:the|my|our) (?:\w+ ){1,2}(?:i|we|that)\b|list (?:all|every|the|my|our))\b"
    r"|\b(?:(?:what|which) (?:is|was|were|are) the order|order of|in (?:what|which) order|from (?:first to last|earliest to latest))\b|\b(?:which|what|who)\b.{1,80}\b(?:first|earlier|later|more|most often)\b.{0,80}\bor\b"
    r"|\bwho\b.{1,60}\bfirst, second\b|\bwhich (?:came|happened|was|did i \w+) first\b|\bhow long\b.{1,80}\b(?:in total|combined|when i)\b|\bhow (?:many )?(?:days|weeks|months|years|hours)\b",
    r"一共|总共|总计|合计|共计|多少[次个天条种本家年月周回趟篇张位场项只件笔]|几[次个种本家条位趟场项件款部篇间类]|第几|哪[些几]|(?:分别|各自?)(?:是|在|有|为)|先后|依次|顺序|之前还是之后|平均|最频繁|次数|相差|间隔|隔了|加起来|(?:比|相比).{0,20}(?:多|少|更)|列出|所有的?|全部",
)
_PREFERS = _Want(
    frozenset(
        "recommend recommendation recommendations suggest suggestion suggestions tips ideas advice thoughts should could can help think".split()
    ),
    r"\brecommend(?!ed\b|ations? you)|\bsuggest(?!ed\b)|\bsuggestions?(?=\?|$| (?:for|on|to|about)\b)|\bany suggestions?\b|\bany (?:tips|ideas|advice|thoughts)\b|\b(?:tips|ideas|advice) (?:for|on|about)\b|\bwhat should (?:i|we)\b(?! (?:do|focus|tackle|work|know|expect|be)\b"
    rf"[^{MARKS}]"
    r"{0,60}(?:next|first|today|now)?)|\bwhat should (?:i|we) do (?:in|with|for|on|about)\b|\bwhich (?:\w+ )?should (?:i|we)\b|\bshould i (?:get|buy|try|read|watch|cook|wear|choose|pick)\b"
    r"|\bwhat (?:could|can) (?:i|we) (?:cook|make|do|read|watch|try|give|get|buy|wear)\b|\bhelp me (?:choose|pick|decide|plan|find)\b|\bideas\?|\bdo you think (?:i|it)\b.{0,40}\b(?:like|enjoy|suit)\b",
    r"(?:^|[,。!?;、]|请|能不能|能否|可以|可否|帮我|帮忙|给我|求|再|麻烦|想让)你?(?:帮我|给我|向我)?(?:推荐|建议)(?!了|过|的|给)|推荐(?:一下|一[个本部家款些种条首]|几[个本部家款种条首]|个|些|点|下)|(?:求|有(?:没有|什么|啥)?.{0,8})推荐(?!了|过|的)|(?<!你)(?:有什么|给(?:点|些|我(?:点|些|个|一些|几个)?)?)(?:好的)?(?:建议|推荐|主意|点子)|给我(?:想|挑|选|找|出|安排|规划|推荐|建议)|帮我(?:想|挑|选|安排|规划|推荐|拿个?主意)|(?:吃|看|买|送|做|去|玩|穿|选|读|听)(?:点|些)?(?:什么|哪里|哪家|哪个)(?:比较)?(?:好|合适|呢)|应该(?:吃|看|买|送|做|去|玩|穿|选|读|听)|怎么(?:安排|选)(?:比较)?好",
)
_FILES = _Want(
    frozenset(
        "file files picture pictures pic pics photo photos photograph photographs image images screenshot screenshots document documents attachment attachments pdf pdfs doc docx spreadsheet spreadsheets slides scan scans recording recordings voice audio video videos clip clips report reports drawing drawings presentation presentations".split()
    ),
    r"\b(?:files?|pictures?|photos?(?! (?:album|print|frame|edit))|photographs?|images?|screenshots?|documents?|attachments?|pdfs?|docx?|spreadsheets?|slides|scans?|recordings?|voice (?:memo|message|note)s?|videos? (?:i|we|you|that i) (?:sent|shared|uploaded|took))\b(?! (?:system|format|name|size|editing|shoot|session|gallery))"
    r"|\b(?:voice|audio|video|clip|recording|report|pics?|drawing|presentation)s?\b.{0,40}\b(?:sen[dt]|shared?|uploaded|recorded|made|gave|generated|wrote|saved)\b"
    r"|\b(?:send|show|give|find|play|open)\b.{0,30}\b(?:the|that|my|those)\b.{0,40}\b(?:voice|audio|video|clip|recording|pics?|report|drawing)s?\b",
    r"图片|照片(?!打印|墙|框)|文件(?!夹|系统)|附件|截图|截屏|相片|录音|扫描件|文档|表格|幻灯片|(?:那|这|哪)(?:张|幅|个)图|(?:的|张|幅)图(?![书案标形腾画灵])|发(?:给)?我(?:那|一下|过)?.{0,8}图"
    r"|(?:发|传|录|拍|存|生成|做|写)(?:给)?(?:你|我)?(?:过|的|了).{0,12}(?:语音|录音|音频|视频|录像|报告|图)"
    r"|(?:发|给|找|放|播|打开|看).{0,12}(?:那|上次|上周|昨天|之前).{0,14}(?:语音|录音|音频|视频|录像|报告|图)"
    r"|(?:那|上次|上周|昨天|之前).{0,14}(?:语音|录音|音频|视频|录像|报告|图).{0,6}(?:发|给|找|放|播|打开|在哪)",
)
_OTHER_SIDE = _Want(
    frozenset(
        "you your you'd remind chat chats conversation conversations discussion discussions talk talks session sessions exchange exchanges game games discussed talked chatted spoke went came".split()
    ),
    r"\byou (?:\w+ )?(?:suggested|recommended|told|said|mentioned|gave|advised|proposed|explained|wrote|described|provided|listed|made|came up with|shared|showed|sent me|compiled|drafted|created|prepared|put together)\b"
    r"|\byou(?:r|'d| had)? (?:previous |last |earlier |first )?(?:suggestion|recommendation|advice|answer|reply|explanation|list|response|told|suggested|mentioned|recommended)s?\b|\bdid you (?:say|suggest|recommend|tell|mention|give|write|advise|propose)\b"
    r"|\bremind me (?:\w+ ){0,4}(?:you|we)\b|\bremind me (?:of |again |about )?(?:the|what|which|who|how|that|where)\b|\b(?:our|the|that|we had a) (?:\w+ )?(?:last|previous|earlier|past|recent) (?:\w+ )?(?:chat|conversation|discussion|talk|session|exchange|game)s?\b|\bwe (?:discussed|talked about|chatted|spoke about|went over|came up with)\b|\bin (?:our|the) (?:chat|conversation|discussion)s?\b",
    r"你(?:们)?(?:上次|之前|以前|刚才|刚刚|那天|昨天|当时|曾经?|曾经|先前|早些时候|前几天|上周|上个月)?(?:还)?(?:给我|跟我|向我|对我|帮我|为我)?(?:推荐|建议|说(?:的|过|要|了)|说过|提到|提过|提的|讲(?:的|过|了)|告诉|给(?:我的|出|过|了)|介绍|列(?:的|出|过|了)|写(?:的|过|了)|解释|总结(?:的|过|了)|整理(?:的|过|了)|发给我)|你的(?:建议|推荐|回答|说法|方案|解释)|你之前|我们(?:上次|之前|以前|刚才|昨天)(?:聊|谈|说|讨论)|(?:上次|之前|刚才)的?(?:聊天|对话|讨论|谈话)|你上次",
)
_NEWEST = _Want(
    frozenset("latest newest recent recently current currently now nowadays these moment present up so last still".split()),
    r"\b(?:latest|newest|(?:most |mostly )recent(?:ly)?|current(?:ly)?|nowadays|these days|at the moment|at present|right now|up[- ]to[- ]date|last time)\b|\b(?:where|what|who|which|whose|how|do|does|is|are|am)\b[^.!?,]{0,60}\bnow\b(?! that)|\b(?:do|does|is|are|am) (?:\w+ ){1,2}still\b",
    r"最近(?:的)?(?:那|这)?一[次个条份张回封]|最新|现在|目前(?!为止)|眼下|如今|当前|现任|上一?次|还(?:在|住|用)(?=.{0,12}吗)",
)

_PHRASES = r"\"([^\"\n]{1,80})\"|“([^”\n]{1,80})”|「([^」\n]{1,80})」|『([^』\n]{1,80})』|《([^》\n]{1,80})》|`([^`\n]{1,80})`|‘([^’\n]{1,80})’(?!\w)|(?<![\w'])'([^'\n](?:[^\n']|'(?=\w)){0,78}[^'\n])'(?!\w)"
_RUN = re.compile(r"[a-z0-9_~./\\#][a-z0-9_\-./\\:@#%+~=&?*,]*", re.IGNORECASE | re.ASCII)
_CHINESE_PATH = r"(?i)(?:~|\.{1,2}|[a-z]:)?(?:[/\\][\w.\-]+)+\.[a-z0-9]{1,8}(?![a-z0-9])"
_IDENTIFIER = (
    r"(?ai)https?://\S{3,}|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:~|\.{1,2}|[a-z]:)?[/\\](?=\S*[a-z])[^\s,]*[/\\.][^\s,]*|[/\\][a-z][\w.-]{2,}|[\w.-]+(?:[/\\][\w.*-]+)+\.[a-z0-9]{1,8}|[\w-]+(?:[/\\][\w.-]+){2,}[/\\]?"  # address, path
    r"|(?:v\d+(?:\.\d+)?|v?\d+(?:\.\d+){2,3})(?:[-.]?(?:rc|alpha|beta|dev|a|b|post)\.?\d*)?"  # version
    r"|(?:[\w-]+\.)+[a-z][a-z0-9]{0,7}|(?:[a-z_]\w*\.)+[a-z_]\w*"  # file name, dotted name
    r"|[a-z0-9]+(?:_[a-z0-9]+)+|__\w+__|_[a-z]\w+"  # snake_case
    r"|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}|[a-z]{2,10}-\d{1,6}|#\d{1,6}"
)
_CAMEL = re.compile(r"[A-Za-z]+[a-z0-9][A-Z]\w*|[A-Z]{2,}[a-z]+[A-Z]\w*")
_DECIMAL = re.compile(r"\d+\.\d+")
_VERSION_OF = re.compile(
    r"(?:[Vv]ersion|[Rr]elease|版本号?[是为]?|[A-Z][A-Za-z]{2,20}) ?$"
)  # a number is a version behind one of these
_SMALL_ONLY = re.compile(r"[a-z]{2,10}-\d{1,6}")
_NO_NAMES = frozenset(("e.g", "i.e", "a.m", "p.m", "vs", "etc", "and/or", "n/a", "ph.d", "u.s", "u.k", "d.c", "w/o"))
_BRANDS = frozenset(("iPhone", "iPad", "iPod", "iMac", "iOS", "macOS", "YouTube", "TikTok", "LinkedIn", "WhatsApp", "PayPal", "eBay", "WeChat", "McDonald", "PhD", "GitHub", "GitLab", "iCloud", "AirPods", "MacBook", "FaceTime", "PlayStation", "LaTeX", "ChatGPT", "OpenAI", "JavaScript", "TypeScript", "PowerPoint"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """
    A question, taken apart.

    subjects × predicates are the slots it may ask for; hinted are the predicates of the known table. An attribute is
    asked for under all its names: «Who is my boss?» finds what was said of 老板.
    windows are the times that it names, anchored a time that hangs on an event. phrases stand in
    quotation marks; identifiers are names that a machine gave or reads: paths, versions, addresses, ids.
    """

    text: str
    terms: Tokens
    subjects: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    hinted: tuple[str, ...] = ()
    wants_history: bool = False
    wants_count: bool = False  # several sessions at once: how many, in total, which came first
    wants_preference: bool = False  # an answer that what somebody likes should shape
    wants_file: bool = False
    asks_assistant: bool = False  # what the other side of the talk said
    asks_who: bool = False  # which may be answered by a name
    newest: bool = False
    carries_on: bool = False  # tells something, in the middle of a matter
    windows: tuple[when.Window, ...] = ()
    anchored: when.Anchored | None = None
    phrases: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()


def analyse(text: str, names: Sequence[str] = (), now: datetime | None = None) -> Question:
    """Take a question apart; `names` are what the owner is called. Without `now` no times are read."""
    folded = fold(text).strip()
    terms = question(text)
    said = text[:QUESTION_CHARS] if text.isascii() else normal(text[:QUESTION_CHARS])[:QUESTION_CHARS]
    phrases, identifiers = _quoted(said), _identifiers(said)
    beginning = folded[:QUESTION_CHARS]
    words = frozenset(_WORD.findall(beginning))
    other_side = _OTHER_SIDE.wanted(beginning, words)
    tells = not other_side and _tells(beginning)
    if len(folded) > LONGEST_ASKED:
        return Question(folded, terms, asks_assistant=other_side, carries_on=tells, phrases=phrases, identifiers=identifiers)
    hinted = slots.asked(_what_asks(folded))
    who = _WHO.search(folded) is not None
    runs = _phrases(folded)
    timed = now is not None and (not words.isdisjoint(when.WORDS) or not folded.isascii() or _DIGIT.search(folded))
    windows = when.windows(text, now) if now and timed else ()
    found = Question(
        text=folded,
        terms=terms,
        subjects=tuple(sorted(_subjects(folded, runs, names))),
        predicates=tuple(sorted(slots.own_names(runs) | _other_names(runs) | set(hinted) | ({"name"} if who else set()))),
        hinted=hinted,
        wants_history=_PAST.wanted(folded, words),
        wants_count=_COUNTS.wanted(folded, words),
        wants_preference=_PREFERS.wanted(folded, words) and not other_side,
        wants_file=_FILES.wanted(folded, words),
        asks_assistant=other_side,
        asks_who=who,
        newest=_NEWEST.wanted(folded, words),
        windows=windows,
        anchored=when.anchored(text) if now and when.HINGED.search(folded) else None,
        phrases=phrases,
        identifiers=identifiers,
    )
    asks = found.wants_history or found.wants_count or found.wants_preference or bool(windows)
    return replace(found, carries_on=True) if tells and not asks else found


def _sentences(folded: str) -> list[str]:
    return [one.rstrip() for one in split(folded, built_in())]


def _what_asks(folded: str) -> str:
    """The sentences that ask, of a message in which some do: «It seems like the best way. What's next?» asks for no liking."""
    return " ".join(filter(_asks, _sentences(folded))) or folded


def _asks(sentence: str) -> bool:
    return sentence.endswith("?") or _ASKING.match(sentence) is not None


def _tells(folded: str) -> bool:
    """Whether somebody says something of himself, in a sentence that asks nothing."""
    if len(folded) + 2 * sum(len(run) for run in UNSPACED_RUN.findall(folded)) < LONG_ENOUGH:
        return False
    return any(_FIRST.search(sentence) and not _asks(sentence) for sentence in _sentences(folded))


_OWN_KIN = re.compile(  # a term of kinship alone: no article, and nobody else whose it is
    r"(?:^|[,，。;；:：?？!！] ?|\b(?:is|are|was|does|do|did|has|can|should|will|for|to|about|with|and|of|tell|call|give|get|buy) )"
    rf"(?P<kin>{'|'.join(sorted(keys.KIN, key=len, reverse=True))})(?![a-z])"
)


def _subjects(folded: str, phrases: Collection[str], names: Sequence[str]) -> set[str]:
    """Whom each phrase names; most name themselves, and only the others are looked at closely."""
    owner = {fold(name) for name in names}
    others = {
        phrase
        for phrase in phrases
        if phrase.startswith(_HEADS) or "的" in phrase or "'s " in phrase or not (phrase[0].isalnum() and phrase[-1].isalnum())
    }
    others |= {*phrases} & (RELATIVES.keys() | owner | _OWNERS)
    others |= {phrase.removesuffix("'s") for phrase in phrases if phrase.endswith("'s")}
    subjects = {*phrases} - others | {slots.subject_of(phrase, names=names) for phrase in others}
    if not _FIRST.search(folded) and not any(name in folded for name in owner):
        subjects.discard(slots.USER)
    return subjects | {keys.told_of(match["kin"], names=names) for match in _OWN_KIN.finditer(folded)}


def relatives(subjects: Iterable[str]) -> set[str]:
    """Of the subjects of a question those that are somebody of somebody's: «my sister», of whom perhaps no slot is known."""
    return {subject for subject in subjects if subject.rpartition("'s ")[2] in _OF_SOMEBODY and "'s " in subject}


def _other_names(phrases: Collection[str]) -> set[str]:
    """What else the attributes are called that are named, in either language."""
    return {name for phrase in phrases if phrase in ATTRIBUTES for name in CALLED[ATTRIBUTES[phrase]]}


def _phrases(folded: str) -> set[str]:
    """Every run of up to four words, and every run of up to eight Chinese characters."""
    words = [word for piece in _GAPS.split(folded) for word in UNSPACED_RUN.split(piece) if word]
    joined = " ".join if folded.isascii() else _glued
    found = {joined(words[i:j]) for i in range(len(words)) for j in range(i + 1, min(i + LONGEST_NAME_WORDS, len(words)) + 1)}
    for run in UNSPACED_RUN.findall(folded):
        found |= {run[i:j] for i in range(len(run)) for j in range(i + 1, min(i + LONGEST_NAME_CHARACTERS, len(run)) + 1)}
    return found


def _glued(words: Sequence[str]) -> str:
    """Words with a space between, but none beside Chinese."""
    glued = [words[0]]
    for before, word in pairwise(words):
        glued += [word] if UNSPACED_RUN.match(before) or UNSPACED_RUN.match(word) else [" ", word]
    return "".join(glued)


# ------------------------------------------------------------------ what is named outright


def _quoted(said: str) -> tuple[str, ...]:
    """What stands in quotation marks of any sort, in order."""
    found = dict.fromkeys(phrase for match in re.finditer(_PHRASES, said) for phrase in match.groups() if phrase and phrase.strip())
    return tuple(phrase.strip() for phrase in found)[:MOST_NAMED]


def _identifiers(said: str) -> tuple[str, ...]:
    """Paths, file and dotted names, CamelCase, snake_case, ids, versions, addresses and issue numbers, in order."""
    found: dict[str, None] = {}
    if not said.isascii():
        found |= dict.fromkeys(match[0] for match in re.finditer(_CHINESE_PATH, said))
    for match in _RUN.finditer(said):
        run = match[0].rstrip(".,:?*&=~#-")
        version = _DECIMAL.fullmatch(run) and _VERSION_OF.search(said[max(0, match.start() - 24) : match.start()])
        if len(run) > 1 and (version or _names_itself(run)) and not any(run in longer for longer in found):
            found[run] = None
    return tuple(found)[:MOST_NAMED]


def _names_itself(run: str) -> bool:
    """Whether a run of letters, digits and signs is a name by its form."""
    if run.isalpha():
        return _CAMEL.fullmatch(run) is not None and run not in _BRANDS
    if run.isdecimal() or run.casefold() in _NO_NAMES:
        return False
    if _CAMEL.fullmatch(run):
        return True
    return re.fullmatch(_IDENTIFIER, run) is not None and not (run.islower() and _SMALL_ONLY.fullmatch(run))
