"""
What a text states beside what it asks.

«Which size fits? I drive a Yaris» and 我住徐汇，附近有什么好吃的？ state something; «I live in Oslo, right?» and «when I
move to Oslo, what do I need?» do not.
"""

# ruff: noqa: E501  (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

import re

from yiku.rules.analyze import UNSPACED_RUN
from yiku.rules.cues import compiled

ASKS = re.compile(r"[?？]|吗[。.]?$")
_SENTENCES = re.compile(r"(?:[^.!?。！？\n]|\.(?!\s|$))+[.!?。！？\n]*")
_ASIDE = re.compile(r"[,，](?!\d{3}\b) ?| [-–—] ")
# Behind a statement, it asks whether that is so; before a question, it says what the question supposes.
_TAG = r"(?:right|ok(?:ay)?|no|yes|yeah|remember|or|isn't|aren't|don't|doesn't|didn't|haven't|hasn't|won't|wasn't|do you remember|you know|are you|do i|did i|have i|am i)\b|(?:is|was) (?:it|that)(?: so| right| correct| true| still)*\W*$|(?:你?还?记得|对|是|没错|好|行|可以|不是|不会|真)[的啊呀]?[吧吗么嘛]|还是"
_PREMISE = (
    r"^\W*(?:when|once|after|before|as soon as|if|suppose|say|assuming|in case|while|until|would|could|can|should|shall|do|does|did|is|are|am|was|were|will|has|have|which|what|who|whose|where|why|how)\b"
    r"|如果|要是|假如|假设|万一|等我|的话|时候|之后|以后|后$|为什么|为啥|怎么|哪|什么|啥|多少|几|是不是|还是|不会|能不能|可不可以|要不要|有没有|请问"
)


def unasked(folded: str) -> str:
    """What a text states beside what it asks: «which size fits? I drive a Yaris», 我住徐汇，附近有什么好吃的？"""
    kept = []
    for sentence in _SENTENCES.findall(folded):
        if ASKS.search(sentence):
            *stated, asks = _ASIDE.split(sentence)
            tag = compiled(_TAG).match(asks) or (len(asks) < 5 if UNSPACED_RUN.search(asks) else asks.count(" ") < 2)
            kept.append("" if tag or any(compiled(_PREMISE).search(part) for part in stated) else ", ".join(stated))
        else:
            kept.append(sentence)
    return " ".join(filter(None, map(str.strip, kept)))
