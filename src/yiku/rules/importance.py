"""
How much it matters that something was said, by its words alone: noise, and a score from 0 to 1.

The score is that of the weightiest class that a text names: identity, health and safety 1.0; preferences, relations and
states 0.8; projects, tasks and goals 0.7; whatever else is told 0.5; what only holds for the moment 0.2. Words that
weigh it themselves (remember, important, by the way) move it. Noise is what nobody would want to be told again.
"""

# ruff: noqa: E501 (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

import re

from yiku.rules.analyze import fold

LOOKED_AT = 2_000  # characters; what a text is about shows in its beginning

_CLASSES: tuple[tuple[float, str], ...] = (
    (
        1.0,
        r"\b(?:my name|name is|call me|born|birthday|years old|allerg\w+|intoleran\w+|diabet\w+|asthma\w*|pregnan\w+|surgery|diagnos\w+|disease|medication|medicine|blood type|disab\w+|emergency|insulin|epilep\w+|cancer|depress\w+|heart condition)\b"
        r"|我叫|名字|姓名|生日|岁|过敏|不耐受|血型|糖尿病|高血压|哮喘|心脏|手术|确诊|怀孕|吃药|药物|癌|抑郁|急救|紧急|安全|身份证|残疾",
    ),
    (
        0.8,
        r"\b(?:like|likes|love|loves|enjoy|prefers?|hates?|dislikes?|favou?rite|rather|fan of|wife|husband|partner|mother|mom|father|dad|parents|brother|sister|son|daughter|kids|child|children|friend|boss|colleague|married|divorced|live in|lives in|moved to|work at|works at|work as|job|vegan|vegetarian|always|never|from now on|must)\b"
        r"|喜欢|爱吃|爱喝|讨厌|偏好|不吃|不喝|受不了|老婆|老公|妻子|丈夫|爸|妈|父母|儿子|女儿|孩子|哥|姐|弟|妹|朋友|闺蜜|同事|老板|结婚|离婚|住在|搬到|工作|职业|公司|以后|一律|必须|不要|别再",
    ),
    (
        0.7,
        r"\b(?:project|deadline|due|task|todo|goal|plan|planning|launch|release|exam|thesis|interview|meeting|appointment|trip|wedding|budget|course|training|report)\b"
        r"|项目|截止|任务|待办|目标|计划|打算|上线|发布|考试|论文|面试|会议|预约|旅行|婚礼|预算|课程|训练|报告|合同",
    ),
    (0.2, r"\b(?:right now|at the moment|just now|brb|one sec|for a second|this minute)\b|这会儿|此刻|马上就|稍等|等一下|刚刚在"),
)
_SIGNALS: tuple[tuple[float, str], ...] = (
    (0.5, r"\bremember\b(?! when)|\bdon'?t forget\b|\bkeep in mind\b|记住|记得|别忘|牢记"),
    (0.3, r"\bimportant\b|\bcrucial\b|\bcritical\b|重要|关键"),
    (0.2, r"\bnote that\b|\bcareful\b|\bwatch out\b|注意|小心"),
    (-0.2, r"\bby the way\b|\bbtw\b|\bwhatever\b|\bdoesn'?t matter\b|\bnever mind\b|顺便|无所谓|随便|没关系"),
)
_NOISE = (  # longer words before those that they begin with: what was read is not read again in another way
    r"[\W_]*(?>(?:(?:okay|ok|kk?|yes|yeah|yep|yup|nope|nah|no|sure|right|great|good ?bye|good (?:morning|night|evening)|good|nice|cool|perfect|awesome|thank you|thanks?|thx|ty|please|hi|hello|hey|bye|lol|lmao|rofl|wow|oh|ah|uh|um|hmm+|mm+|haha(?:ha)*|hehe|got it|i see|go on|continue|next|done|fine|agreed|exactly|correct|sounds good|makes sense|so much|very much|very|a lot|well|then|that|it|is"
    r"|[嗯哦噢啊哈呵嘿呀了吧呢啦的哇唉哎牛赞]|好吧|好+的?|行吧?|可以|对+的?|是的?|没错|收到|明白了?|知道了|了解了?|懂了|谢谢你?|多谢|感谢|不客气|再见|拜拜|晚安|晚上好|早上好|早安?|你好|您好|在吗|继续|下一个|没事|不用了?|辛苦了?|太好了|太棒了|真棒|厉害)[\W_]*)*)"
)


def noise(text: str) -> bool:
    """Whether nothing is told: an interjection, an acknowledgement, emoji, or at most two characters."""
    if len(text) > LOOKED_AT:
        return False
    folded = fold(text).strip()
    letters = re.sub(r"[\W_]+", "", folded)
    return len(letters) <= 2 or (len(letters) <= 60 and re.fullmatch(_NOISE, folded) is not None)


def score(text: str) -> float:
    """How much it matters, from 0 for noise to 1 for what somebody is, what makes him ill, what must not be forgotten."""
    if noise(text):
        return 0.0
    folded = fold(text[:LOOKED_AT])
    weight = next((weight for weight, says in _CLASSES if re.search(says, folded)), 0.5)
    moved = weight + sum(by for by, says in _SIGNALS if re.search(says, folded))
    return round(min(1.0, max(0.0, moved)), 2)
