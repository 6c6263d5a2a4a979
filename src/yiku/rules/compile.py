"""
From a user's message to the task in it: one line, without greetings, politeness and what was pasted.

    Hi! I'm on Windows. Could you please help me fix the login page? Thanks!     fix the login page
    你好，麻烦帮我把上周的会议记录整理成表格，谢谢啦～                                   把上周的会议记录整理成表格

The first sentence that asks for something is the task. One that says too little alone («find out why») stands
behind the sentence before it. A message that asks for nothing new («thanks», 好的, «go on») has no task.

`switched` says whether a message leaves the running task for another. Without a model this can only be seen where
it is said (換话题, «on another note»), or where a whole new request shares no word with what was talked about. A
message that leans on the last one, by a pronoun or a word like «also», never switches; in doubt nothing does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from yiku.rules import analyze, fence
from yiku.rules.analyze import UNSPACED_RUN
from yiku.rules.lexicon import built_in
from yiku.rules.text.sentences import MARKS, split
from yiku.types import Origin, Turn

TASK_CHARS = 80  # of a task; a Chinese character counts as 4/3, so 60 of them
READ_CHARS = 8_000  # of a message, from its beginning
READ_FIRST, READ_LAST = 60, 20  # sentences of it that are read; a list of a thousand short lines asks for nothing in its middle
TURNS_SEEN = 6  # before a message, in which its words may have been used
ENOUGH_WORDS = 2  # that carry meaning, for a request to stand alone
NEW_WORDS = 2.5  # for one to begin another task where nothing says so; with 2, a third of the switches were follow-ups
GOING_ON_WORDS = 4  # for one that seems to go on with the last
AGAIN_SHARE = 0.4  # of a message's words; so many in what the assistant said make it a follow-up

# ------------------------------------------------------------------ lines


def short(text: str, at_most: int = TASK_CHARS) -> str:
    """The text on one line of at most so many characters, cut between words; a Chinese character counts as 4/3."""
    flat = " ".join(text.split())
    if _width(flat) <= at_most:
        return flat
    end, width = (at_most - 1, at_most) if flat.isascii() else (0, 1.0)  # one is for the sign of omission
    while (width := width + (4 / 3 if UNSPACED_RUN.match(flat[end]) else 1)) <= at_most:
        end += 1
    kept = flat[:end]
    if " " in kept[-20:] and not UNSPACED_RUN.match(flat[end - 1 : end + 1]):
        kept = kept[: kept.rindex(" ")]
    return kept.rstrip(" ,;:，；：、.-") + "…"


def _width(text: str) -> float:
    return len(text) + sum(map(len, UNSPACED_RUN.findall(text))) / 3


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order, without the space around them; a line ends one."""
    return [sentence for one in split(text, built_in()) if (sentence := one.strip())]


# ------------------------------------------------------------------ the task in a message

_PASTED = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|!?\[[^\[\]\n]{0,200}\]\((?:data:|https?:)[^)\s]*\)|\[(?:image|file|audio|图片|文件"
    r"|语音)\b[^\]\n]*\]",
    re.DOTALL,
)
_PASTED_LINE = re.compile(
    r"^(?:[ \t]{4,}\S|\t|>|\$ |[{}\[\]<|]|[+-]{3} |@@ |\s*at [\w$.]+\(|Traceback |  File \"|\s*\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
    r"|\s*\[?(?:INFO|WARN|WARNING|ERROR|DEBUG)\b)"
)


def either(*words: str) -> str:
    """A pattern for any of these, each line a list of alternatives."""
    return f"(?:{'|'.join(words)})"


_GREETING = re.compile(  # whatever may stand before a request and says nothing
    either(
        r"^(?:hi|hello|hey|yo|greetings|good (?:morning|afternoon|evening|day))(?: there| all| everyone| again| team)?(?=[\s,!.~—-]|$)",
        r"^(?-i:[A-Z][a-z]+)(?=,\s*(?:can|could|please|would|will|i|i'd)\b)",  # a name
        # these only where a sign follows: «No tests run» and «Right-align it» are about something
        r"^(?:thanks?(?: you)?(?: (?:so|very) much| a lot)?|great|nice|perfect|cool|awesome|right|yes|yeah|yep|no|nope|sure|well|fine"
        r"|good|got it|sorry|excuse me)(?=\s*[,!.;—]|$)",
        r"^(?:ok(?:ay)?|alright|all right|so|then|and|but|now|next|first|also|actually|basically|anyways?|oh|um+|uh+|hmm+|by the way|btw"
        r"|one more thing|another thing|on another note|moving on|quick question)(?=[\s,!.:;—]|$)",
        r"^(?:你好|您好|嗨|哈喽|哈啰|大家好|早上好|下午好|晚上好|早安|在吗|打扰一下|打扰了|不好意思|谢谢(?:你|您|啦|了)?|嗯+|呃+|好的"
        r"|好嘞|好吧|明白了?|收到|可以的|对了|话说|另外|还有(?:一件事|个事|一个问题)?|顺便(?:问一下|说一下|问|说)?|换个话题|题外话"
        r"|说点别的)"
        r"(?=[\s，,。.!！、~～:：]|$|请|帮|麻烦|能|你)",
        r"^(?:好|行|那|那么|现在|其实|对|是的|然后|接下来|首先|那个|这样)(?=\s*[，,。!！、~～:：]|$)",
    )
    + r"[\s,，。.!！、~～:：;—-]*",
    re.IGNORECASE,
)
_ASKING = re.compile(  # what makes a sentence a request, and is no part of it
    "^"
    + either(
        r"(?:please|pls|kindly)\s+|(?:would|do) you mind\s+|help(?: me| us)?\s+(?:to\s+|with\s+)?|go ahead and\s+|quickly\s+|just\s+",
        r"(?:could|can|would|will) (?:you|we)(?: (?:please|kindly|maybe|possibly|quickly|also|just|perhaps))*\s+",
        r"i(?:'d| would) (?:really )?(?:like|love) (?:you )?(?:to\s+|for you to\s+)?",
        r"i (?:want|need|would need) (?:you )?(?:to\s+)?(?:(?:some |your )?(?:help|assistance)\s+(?:with\s+|to\s+)?)?",
        r"i(?:'m| am| was)? (?:wonder(?:ing)?|hoping|curious) (?:if|whether|about|that)?\s*(?:you (?:could|can|would)\s+)?",
        r"do you think you (?:could|can)\s+|any chance you (?:could|can)\s+|is it possible (?:for you )?to\s+|are you able to\s+",
        r"let(?:'s| us)\s+|we (?:need|have) to\s+|your task is to\s+|i(?:'m| am) (?:trying|looking) to\s+",
        r"(?:请问一下|请问|想?请教一下|请(?!假|客|柬|求|帖)|麻烦(?:你|您)?(?:一下)?|劳驾|拜托(?:你|您)?|烦请)[\s，,]*",
        r"(?:你|您)?(?:能不能|能否|可不可以|可以|可否|能)(?:麻烦|请)?(?:你|您)?"
        r"(?=帮|替|给我|教|告诉|解释|说明|写|改|查|看|做|把|再|总结|翻译|分析|整理|推荐|生成|画|找|安排|列)",
        r"我?(?:想要?|要|需要|希望)(?:让|请)?(?:你|您)(?=\S)|我想(?=知道|了解|问|请教|买|订|写|做|学|把|找|给)",
        r"(?:帮|替)(?:我们|我|忙)(?!妈|爸|老|儿|女|弟|妹|哥|姐|朋友|公司)(?:一下)?|给我(?!妈|爸|们|老|儿|女|弟|妹|哥|姐|朋友|的)",
    ),
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"(?<![\s,，])[\s,，]*"  # from the beginning of a run of signs only, or a long one is tried from each of them
    + either(
        r"\b(?:please|pls|thanks?(?: you)?(?: (?:so|very) much| a lot| in advance)?|for me|if (?:you can|possible)|(?:would|could"
        r"|will) you)",
        r"谢谢(?:你|您|啦|了)?|多谢|感谢|拜托了?|辛苦(?:你|您|了|啦)*|麻烦了|好吗|行吗|可以吗|好不好|行不行|呗",
    )
    + rf"[\s{MARKS}~～]*$",
    re.IGNORECASE,
)
_AROUND = " \t.。!！,，;；:：~～—-"
_PARTICLE = re.compile(
    rf"(?<![吧吗呢哈啊呀哦嘛])[吧吗呢哈啊呀哦嘛]+[\s{MARKS}~～]*$|(?<![\s.!。！~～，,;；:：])[\s.!。！~～，,;；:：]+$"
)
_ASKED_POLITELY = re.compile(r"(?<=\w)[?？]+$")  # «can you …?» is no question
_WONDERS = re.compile(r"(?i)(?:what|why|how|when|where|which|who|if|whether)\b|.*(?:怎么|如何|什么|哪|多少|几)")
_QUESTION = re.compile(
    either(
        r"[?？]\s*$|^(?:what|why|how|when|where|which|who|whose|is|are|do|does|did|was|were|should|has|have|any)\b",
        r"怎么|如何|怎样|什么|为什么|为啥|哪[里些个儿家天种]|多少|几[个点天号]|[吗呢][?？]?\s*$|是不是|有没有|能不能",
    ),
    re.IGNORECASE,
)
_VERBS = """
    add analyse analyze apply arrange book build buy calculate cancel change check clean commit compare configure continue convert create
    debug delete deploy describe design document draft draw edit email estimate explain explore export extract figure find fix format
    generate get give implement import improve install investigate list look make merge migrate modify move open optimise optimize order
    organise organize plan play prepare print proofread propose publish read recommend refactor remind remove rename replace research
    reserve review rewrite run save schedule search send set show simplify solve sort start suggest summarise summarize teach tell test
    track translate try turn update upgrade upload use verify write
"""
_CHINESE_VERBS = """
    写 改 修 加 做 查 找 看看 解释 翻译 总结 整理 分析 生成 画 把 将 给 列 算 订 买 搜 推荐 安排 设计 优化 部署 安装 删 创建 新建 实现
    提醒 制定 检查 测试 运行 比较 对比 介绍 讲 说说 规划 制作 重构 润色 预订 更新 升级 配置 打开 播放 发 准备 告诉 教
"""
_IMPERATIVE = re.compile(f"(?i)^(?:{either(*_VERBS.split())}\\b|{either(*_CHINESE_VERBS.split())})")
_NOTHING = re.compile(  # whole messages that ask for nothing new
    "^"
    + either(
        r"thanks?|thank you|ok(?:ay)?|yes|yeah|yep|no|nope|sure|great|nice|perfect|cool|go (?:on|ahead)|continue|proceed|do it|next|more"
        r"|good|fine",
        r"done|bye|goodbye|sounds good|got it|never ?mind|stop|help|lgtm|please do|why|really",
        r"好+的?|行|可以|是的?|对的?|嗯+|继续|接着(?:说|来)?|谢+|谢谢.{0,2}|多谢|明白了?|知道了|收到|没事了?|算了|再见|拜拜|辛苦了?"
        r"|不用了?",
        r"棒|太好了|没问题|哦+|停|下一个|然后呢?",
        r"(?:(?:i was|i'?m) )?(?:just |only )*(?:kidding|joking)|(?:刚才|刚刚|是|都)*(?:开玩笑|逗你|骗你)(?:的|啦|呢|玩)*",
    )
    + r"\W*$",
    re.IGNORECASE,
)


# «测试都过了» tells how it went; the same word alone asks for it.
_REPORT = re.compile(r"^(?:测试|检查|部署|编译|构建|安装)(?:都|全部?|已经?|终于|也)*[^,，。!！?？]{0,4}(?:过|好|完|通过|成功)了")


def task(message: str) -> str:
    """What a message asks for, on one line of at most TASK_CHARS; empty when it asks for nothing new."""
    said = _read(_head(message)) or tuple(map(_stripped, sentences(_PASTED.sub(" ", message[:READ_CHARS]))[-1:]))
    stripped = [(text, asks) for text, asks in said if any(map(str.isalnum, text)) and _says_something(text)]
    if not stripped:
        return ""
    place = next((place for place, (text, asks) in enumerate(stripped) if asks and _words(text)), None)
    if place is None:
        place = next((place for place, (text, _) in enumerate(stripped) if _weight(_words(text)) >= ENOUGH_WORDS), 0)
    text = stripped[place][0]
    before = next((said for said, _ in stripped[:place][::-1] if _weight(_words(said) - _GENERIC) >= ENOUGH_WORDS), "")
    own = _words(text) - _GENERIC
    if before and not own:
        text = before
    elif before and _weight(own) < ENOUGH_WORDS:
        text = f"{short(before, TASK_CHARS * 2 // 3)}{'：' if UNSPACED_RUN.search(text) else ': '}{text}"
    return short(text)


def asks(message: str) -> bool:
    """Whether a message asks for something: a request, a question, a command."""
    return any(asked and _says_something(text) for text, asked in _read(_head(message)))


def _says_something(text: str) -> bool:
    return not (_NOTHING.match(text) or _REPORT.match(text))


def typed(message: str) -> str:
    """What a person wrote: without recalled memories, code, quoted lines, logs and pictures."""
    return _typed(_head(message))


def _head(message: str) -> str:
    return fence.without(message)[:READ_CHARS]


@lru_cache(maxsize=2)  # a message is asked what it wants, whether it asks, and whether it leaves the task
def _typed(head: str) -> str:
    text = _PASTED.sub(" ", head)
    return "\n".join(line for line in text.splitlines() if not _PASTED_LINE.match(line))


@lru_cache(maxsize=2)
def _read(head: str) -> tuple[tuple[str, bool], ...]:
    """The sentences at the beginning and at the end of what was typed, each stripped, and whether it asks for something."""
    said = sentences(_typed(head))
    said = said if len(said) <= READ_FIRST + READ_LAST else [*said[:READ_FIRST], *said[-READ_LAST:]]
    return tuple(map(_stripped, said))


def _stripped(sentence: str) -> tuple[str, bool]:
    """The sentence without greetings and politeness, and whether it asks for something."""
    text, before, requested = sentence.strip(" \t-*•·"), "", False
    while text != before:
        before = text
        text = _GREETING.sub("", text, count=1)
        text = text[match.end() :].lstrip(_AROUND) if (match := _CHANGES.match(text)) else text
        if match := _ASKING.match(text):
            requested, text = True, text[match.end() :]
    text, question = _TRAILING.sub("", text), _QUESTION.search(text)
    if requested:
        text = _PARTICLE.sub("", text if _WONDERS.match(text) else _ASKED_POLITELY.sub("", text))
        text = text.removeprefix("to ")
    text = text.rstrip(_AROUND)
    return text, requested or question is not None or _IMPERATIVE.match(text) is not None


# ------------------------------------------------------------------ another task

_BEGINS = r"^\W{0,4}"  # a sentence
_CHANGES = re.compile(  # said outright
    either(
        rf"{_BEGINS}(?:on|in) (?:another|a different|an unrelated|a completely different) (?:note|topic|subject|matter)\b",
        r"\b(?:change|changing|switch|switching) (?:of )?(?:the )?(?:topics?|subjects?|gears)(?=\s*(?:[,.:;!?—]|$))",
        rf"{_BEGINS}(?:(?:ok|okay|so|now)[, ]+)?(?:let'?s (?:move on|turn) to|moving on to)\b",
        rf"{_BEGINS}(?:completely |totally |entirely )?unrelated(?: question| to (?:this|that))?(?=[,:])",
        rf"{_BEGINS}(?:(?:ok|okay|so|now)[, ]+)?(?:an? )?(?:completely |totally )?(?:different|new|unrelated) (?:question|topic|task"
        r"|subject)\s*(?=[:,.—-])",
        r"\b(?:let'?s|now) (?:talk about|discuss|do|move on to) something else\b|\bsomething (?:completely|totally|entirely) different\b",
        r"\bforget (?:about )?(?:that|this|it)(?: for now)?(?=[,.;])|\bleave that (?:aside|for now)\b",
        r"换[个一]?[个下]?话题|说点?别的吧?|聊点?别的吧?|聊聊别的|题外话|先不(?:说|聊|管)(?:这个|那个|它)了?|(?:这个|那个)先放(?:一放"
        r"|一边|着)",
        rf"{_BEGINS}(?:另?一个)?新的?(?:问题|话题|任务)(?=[：:，,])|跟(?:这|刚才|上面).{{0,4}}(?:无关|没关系)",
    ),
    re.IGNORECASE,
)
_ASIDE = re.compile(  # words that lean on what was said, and may leave it
    r"^\W*"
    + either(
        r"(?:(?:oh|ah|ok(?:ay)?|and|so|hey)[,\s]+)*(?:by the way|btw|another thing|one more thing|quick question|separately"
        r"|incidentally)\b",
        r"另外|对了|顺便|话说|还有(?:一件事|个事|一个问题)|对啦|哦对|突然想[到起]|(?:还有)?另一(?:个|件)",
    ),
    re.IGNORECASE,
)
_THIS = r"(?:this|that)\b(?! (?:week|weekend|morning|evening|afternoon|year|month|time|summer|winter))"
_PERSONS = re.compile(r"(?i)\b(?:he|she|him|his|her|hers)\b|他|她")
# What goes on with a thing, or asks of it, is more often about the last thing than about another one.
_GOES_ON = re.compile(
    r"^\W*(?:please )?"
    + either(
        r"(?:add|use|remove|delete|change|replace|rename|make|move|put|include|mark|sort|plot|run|undo|keep|merge|split|try|adjust"
        r"|expand|shorten|set|only)\b",
        r"(?:is|are|was|were|do|does|did|can|could|should|will|would|has|have) (?:the|there|we|i|they|any)\b|which\b",
        r"加|改|删|换|画|用|把|放|去掉|去除|调|只|有|是否|是不是|哪[些个]",
    ),
    re.IGNORECASE,
)
_LEANS = re.compile(  # words that mean something only behind what was said
    either(
        r"^\W*(?:and|then|but|or|or maybe|what about|how about|instead|again|still|same|why not|what if|even|besides|otherwise|can it"
        r"|does it|is it|plus|ok now|now|you're right|i like|i agree|i prefer)\b",
        r"\b(?:it|its|it's|them|these|those|they|their|ones?|above|previous(?:ly)?|again|instead|as well|too|also|else|further|same|both"
        r"|the (?:first|second|third|last|other|former|latter)|more|larger|(?:short|long|bigg|small|simpl|warm|cold|bright|dark|light|fast"
        r"|slow|clear|strong|cheap|easi|lat|earli|bett)er|step \d)\b",
        rf"^\W*{_THIS}|\b(?:this|that)\W*$",
        r"\b(?:fix|do|change|make|use|like|about|of|to|with|for|in|on|from|is|was|than|explain|remove|delete|run|test|why|how|and|see"
        rf"|keep|undo|revert|try|put) {_THIS}",
        r"它|这个|那个|这些|那些|这样|那样|上面|前面|刚才|刚刚|继续|再(?!见)|还是|还有|还要|也(?!许)|改成|换成|接着|同样|一样|其他|其它"
        r"|然后|比如",
        r"第[一二三四五六七八九十]|后者|前者|那么|那就|这(?!周|个?月|学期|几天)|那(?=[边里几])|更(?!新|改|换)|多(?:一?点|说|举|给|加)",
        r"(?:呢|为什么)[?？]?\s*$",
    ),
    re.IGNORECASE,
)
# Words that any task may have: they make no message one of the same task, and none a new one.
_GENERIC_WORDS = """
    help look make give show tell find get want need like know think go do use try work thing stuff way time day today tomorrow yesterday
    week month year good best new old great nice please thank question problem issue example one two three first second next last also now
    right really little lot bit much many kind sort something anything everything someone people file code write add create change fix
    update check test run error line list explain start stop let set put take keep come see say ask answer short long simple quick
    possible sure figur tip idea recommend suggest would could should might name number part plan
"""
_GENERIC_PAIRS = """
    一下 一个 一些 一份 一篇 一段 一条 一张 一点 几个 怎么 什么 如何 为什 么样 怎样 帮我 给我 帮忙 可以 能不 不能 请问 问题 知道 告诉 我想
    想要 需要 希望 现在 今天 明天 昨天 最近 时候 时间 推荐 介绍 解释 写一 写个 做一 做个 有没 没有 哪些 哪个 哪里 多少 应该 比较 这个 那个
    我们 你们 他们 自己 东西 方法 建议 看看 说说 好的 好吗 谢谢 麻烦 出来 起来 下来 进行 关于 以及 还有 另外 对了 顺便 是不 不是 是什 有什
    要注 注意 意什 下周 本周 上周 周末 这周 个人 大概 哪家 哪种 个好 生成 整理 安排 计划 准备 问一 我在 在做 的时 想问 想了 了解 我要 要不
    要一 查一 找一 想一 帮查 订一
"""
_GENERIC = frozenset(analyze.tokens(_GENERIC_WORDS).words) | frozenset(_GENERIC_PAIRS.split())


def switched(previous_task: str, message: str, last_turns: Sequence[Turn] = ()) -> bool:
    """
    Whether a message leaves the running task for another one.

    previous_task:  one line, as `task` gives it; without one there is nothing to leave
    last_turns:     what was said before the message, oldest first; the last TURNS_SEEN are looked at
    """
    if not previous_task:
        return False
    said = typed(message)
    if any(map(_CHANGES.search, sentences(analyze.normal(said[:400])))):
        return True
    wanted, aside = task(message), _ASIDE.match(said)
    rest = said[aside.end() :].strip(_AROUND) if aside else said
    if not wanted or not asks(message) or _LEANS.search(rest) or (not aside and _PERSONS.search(rest)):
        return False
    words = _words(wanted) - _GENERIC
    if _weight(words) < (1 if aside else GOING_ON_WORDS if _GOES_ON.match(rest) else NEW_WORDS):
        return False
    seen = last_turns[-TURNS_SEEN:]
    own = _words(previous_task).union(*(_words(turn.content) for turn in seen if turn.origin is Origin.USER))
    others = set[str]().union(*(_words(turn.content) for turn in seen if turn.origin is not Origin.USER))
    return words.isdisjoint(own) and len(words & others) < AGAIN_SHARE * len(words)


def renewed(previous_task: str, message: str) -> bool:
    """Whether a message asks, in words that need nothing said before, for something more of the running task."""
    words = _words(task(message)) - _GENERIC
    if _weight(words) < ENOUGH_WORDS or words.isdisjoint(_words(previous_task)):
        return False
    return asks(message) and not _LEANS.search(typed(message))


def _words(text: str) -> set[str]:
    """The words of a text that carry meaning, as search tokens; of Chinese the pairs of neighbours."""
    return {word for word in analyze.tokens(text[:READ_CHARS]).words if not analyze.FUNCTION_CHARACTERS.issuperset(word)}


def _weight(words: Collection[str]) -> float:
    """How many words these are. A Chinese word of two characters gives a pair, and another with its neighbour."""
    told = (word for word in words if not word.isdecimal() and analyze.FUNCTION_CHARACTERS.isdisjoint(word))
    return sum(0.5 if UNSPACED_RUN.match(word) else 1 for word in told)
