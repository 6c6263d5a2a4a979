"""
Which slot a statement fills: (subject, predicate) in canonical form, and the object as said.

A text is read clause by clause, first by the table of predicates («I live in Oslo» and 我住在奥斯陆 fill one slot), then
by the frames of a plain sentence: something is so and so, has so many, does something. A single-valued predicate (home,
employer, version, deadline) holds one object at a time; a multi-valued one (likes, uses, owns) holds many; of any other
nobody knows yet. The key says what cannot both hold (rules/keys.py).

Precision comes first: what is past, planned, hedged, asked or conditional fills no slot.
A memory is found by its words, and by those of its slot (index_tokens).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from yiku.rules import chinese_frames, cues, english_frames, phrases, values
from yiku.rules.analyze import UNSPACED_RUN, fold, normal, simple, tokens
from yiku.rules.cues import compiled
from yiku.rules.keys import BY_NAME, EDGES, USER, cardinality_of, finished, known_or, predicate_name, subject_of, told_of
from yiku.rules.predicates import BE, NO_NAMES, PREDICATES, RELATIVES, SINGLE, SMALL_NAME, SORTS, UNKNOWN, ZH_BE, Predicate
from yiku.rules.questions import ASKS, unasked
from yiku.types import Cardinality, Kind, SemanticMemory, Slot, Tokens

__all__ = ["PREDICATES", "USER", "asked", "finished", "is_open", "is_past", "kind_of", "own_names", "read", "stated", "subject_of"]

LONGEST_STATEMENT = 300  # characters; a longer text is a story, not a statement
LONGEST_OBJECT = 120

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
_ZH_POSSESSIVE = rf"(?P<s>[^的]{{1,20}}?)用?的(?P<p>[^的是为，,。:：]{{1,12}}?){ZH_BE}了?(?P<o>.+)"

_POSSESSIVES = (_ZH_FAVOURITE, _POSSESSIVE, _OF, _ZH_POSSESSIVE)

_NEGATED = r"\bnot\b|\bn't\b|n't\b|\bno longer\b|\bnever\b|\bneither\b|不再|不是|没有|没在|不在|不住|不叫|并非|从不"
_SHORT_TAIL = (
    r"[,;]? (?:last|this) (?:week|month|year|spring|summer|autumn|fall|winter|\w+day)|[,;]? (?:yesterday|today|now|currently|recently|these days|at the moment|any ?more|any longer|instead|again|at last|too|as well|btw|fyi|lol|haha+|tho|though|thx|thanks|pls|please|by the way|from now on|in (?:january|february|march|april|may|june|july|august|september|october|november|december)(?: \d{4})?|(?:a|two|three|\d+) (?:days?|weeks?|months?|years?) ago)"
    r"|了|啦|哦|呢|吧"
)
_LONG_TAIL = r"[,;]? (?:since|as of) .*|,(?!\d{3}).*|; .*| because .*| as (?:an?|the|its|their|our|my) \w.*| so (?:pls|please|i|we|you|send|plan|don't|dont|book|that|the)\b.*| but .*| and (?:i|my|he|his|she|her|they|we|our) .*|[，；。].*"
_TAIL = rf"(?:{_SHORT_TAIL})*(?:{_SHORT_TAIL}|{_LONG_TAIL})$"  # a long one goes to the end: in a loop it would be read in many ways
_HEAD = r"^(?:actually|now|still|just|only|finally|currently|already|again) "  # of an object
# «I don't live in Oslo any more, I live in Bergen» and «Bergen, not Oslo»: what is denied goes, what is affirmed is read.
_DENIED_FIRST = r"^[^,;，；]*(?:n't\b|\bno longer\b|\bnot\b|不|没)[^,;，；]*[,;，；] ?(?:and |but |now |而是|现在|是(?=.))?(?=.*\S)"
_NOT_BUT = r"^([^,，]{1,30}?(?:\bis |\bare |(?=不是)))(?:not |不)(?:是)?[^,，]{1,20}[,，] ?(?:it is |it's |but |而)?((?<=[,，])是.+|(?<![,，])(?:.+))$"
_DENIED_LAST = r"[,;，；] ?(?:and )?(?:not|no longer|而不是|不是|不再是)\b.*$"
# Where somebody lies or stays is no home, and what is no person moves to another place or time.
_NO_HOME = (
    r"\b(?:hospital|ward|hotel|hostel|airbnb|guest ?house|motel)\b|医院|病房|住院|酒店|宾馆|旅馆|旅店|民宿|客栈|招待所|出差"
    r"|^(?:the )?(?:dinner|lunch|breakfast|meeting|party|lesson|class|appointment|match|game|concert|rehearsal|wedding|exam|call)s?\b"
)
_REMARK = r" (?:when|if|while|where|because|that|who|which|of the time|in my|half|on weekends)\b|[()（）]| - |的时候|那年|那时|是(?:假|真)的|只是"
_NO_SUBJECT = r"[,，;；。:：]|\b(?:that|when|and|but|because|who|which|where|to|he|she|they|it|you|have|has|had|was|were|do|does|in \d{4})\b|[你他她它把]"
_ALSO = r"\balso\b|\btoo$|\bas well\b|也(?!许)|还(?=住|在)|另外"
_ONE_OF_MANY = tuple(f"'s {one}" for one in ("friend", "colleague", "roommate", "cat", "dog", "child", "neighbour", "cousin"))
_NUMBERED = r"(?:no\.? ?)?#?\d+ ?(?:is|are|was)\b|\d+是"  # «my code 7 is»: which of several is meant, and no value
_CONTRACTED = r"'m\b|'re\b|'ve\b"
_NO_WORDS = re.compile(r"[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff\u200d]+")  # emoji and arrows
_SENTENCE = re.compile(
    r"(?<=[。！!；;])|(?<=[.?])(?<!\bdr\.)(?<!\bmr\.)(?<!\bms\.)(?<!\bst\.)(?<!\bmrs\.)(?<!\bno\.)(?=\s|$)|\n| (?:-|–|—) "
)
_CLAUSE = re.compile(r"[,，](?!\d{3}\b)\s*|\s(?:and|but|so) (?=(?:i|my|our|the|he|she) )")
_COLON = re.compile(r"[:：] ?(?!\d|/)")
_I_FIRST = re.compile(r"我(?!们|家|的|[妈爸姐妹哥弟儿女老爱同室朋])")  # what follows a clause about oneself is about oneself


_THIRD = re.compile(r"(?:his|her|their|its|he|she|they) |[他她它](?!们?家)")
_FIRST_PERSON = re.compile(r"\b(?:i|my|we|our|me|us|mine)\b|[我咱俺]")
_HEADLESS = re.compile(
    r"(?:现在|目前|今年|已经|上个?月|刚|也|还|都|才|就)*(?:\d{1,3}岁|[一二两三四五六七八九十]{1,3}岁|住在|搬到|在|跳槽|入职|叫|不|没|对|喜欢|讨厌)"
)


class _Reader(NamedTuple):
    """Whose words they are: the text as it is, who speaks, what the owner is called."""

    text: str
    speaker: str | None
    names: Sequence[str]


def read(text: str, *, speaker: str | None = None, names: Sequence[str] = ()) -> Slot | None:
    """
    The slot that a statement fills, or None when it is not plainly one statement about now.

    speaker: who says it, when that is not the owner; the first person is then the speaker
    names:   what the owner is called; these resolve to USER
    """
    if len(text) > LONGEST_STATEMENT or not (folded := _folded(text)) or is_past(text):
        return None
    folded = unasked(folded) if ASKS.search(folded) else folded
    if not folded or compiled(cues.NOT_STATED).search(folded):
        return None
    reader = _Reader(text, speaker, names)
    among_many = None
    for clause, own in _clauses(folded):
        if _THIRD.match(clause) or is_past(clause):
            continue
        slot = _by_table(reader, clause)
        if slot is None or (slot.cardinality is UNKNOWN and slot.predicate not in BY_NAME):
            framed = _by_frame(reader, clause)
            slot = framed if slot is None or (framed and framed.cardinality is SINGLE) else slot
        if slot is not None and slot.subject == USER and not own and not _FIRST_PERSON.search(clause):
            continue  # whom it is about was said before it, and it was not the speaker
        if slot is not None and (slot.cardinality is SINGLE or slot.predicate in BY_NAME):
            return slot
        among_many = among_many or slot
    return among_many


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
    known = known_or(predicate_name(predicate))
    many = cardinality or cardinality_of(known.name, object_ or "")
    return finished(told_of(subject, speaker, names), known.name, (object_ or "").strip(), many, told=cardinality is not None)


@lru_cache(64)  # a statement is asked twice
def is_past(text: str, of: str | None = None) -> bool:
    """
    Whether a text tells how it was, and not how it is.

    of: the value that is spoken of, where the caller named it: one part may tell how it is, another how something was
    """
    if len(text) > LONGEST_STATEMENT or not compiled(cues.PERHAPS_PAST).search(_folded(text)):
        return False
    if not (found := compiled(cues.PAST).search(folded := _folded(text))):
        return False
    holds = compiled(cues.HOLDS).match(folded)
    if holds and not compiled(cues.PAST).search(holds[0]) and (not of or fold(of) not in folded[holds.end() :]):
        return False
    return compiled(cues.NOW).search(folded[found.end() :]) is None


def is_open(text: str) -> bool:
    """Whether a text says plainly that what it tells is planned, wished, heard or not decided."""
    return len(text) <= LONGEST_STATEMENT and compiled(cues.OPEN).search(_folded(text)) is not None


def kind_of(slot: Slot | None) -> Kind:
    """The kind that a statement has by its slot alone."""
    known = BY_NAME.get(slot.predicate) if slot else None
    return known.kind if known else Kind.FACT


def asked(question: str) -> tuple[str, ...]:
    """The known predicates that a folded question asks for, with their opposites."""
    found = [name for name, pattern in _asks() if pattern.search(question)]
    return (*found, *(predicate.name for predicate in PREDICATES if predicate.opposite_of in found))


@lru_cache(64)
def thing_asked(question: str, predicate: str) -> str:
    """What a folded question names as the object of a known predicate: «a spare key» of «do I have a spare key?»; or nothing."""
    match = next((pattern.search(question) for name, pattern in _asks() if name == predicate), None)
    return (match.groupdict().get("o") or "") if match else ""


def is_known(predicate: str) -> bool:
    """Whether a predicate is one of the table."""
    return predicate in BY_NAME


def own_names(phrases: Iterable[str]) -> set[str]:
    """The phrases that may name a predicate outside the table, such as a retry limit; known ones have their own hints."""
    return {phrase for phrase in phrases if len(phrase) > 1 and phrase not in BY_NAME}


# ------------------------------------------------------------------ clauses


@lru_cache(64)
def _folded(text: str) -> str:
    """The text as the patterns expect it; nothing when folding made it a story: one character may become eighteen."""
    folded = re.sub(r"\s+", " ", _NO_WORDS.sub(" ", fold(text))).strip()
    return folded if len(folded) <= LONGEST_STATEMENT else ""


def _clauses(folded: str) -> Iterator[tuple[str, bool]]:
    """
    The whole sentences first, each without what leads to it, then their clauses; none behind words that make it no statement.

    With each, whether one that names nobody may be about the speaker.
    """
    sentences = [sentence for part in _SENTENCE.split(folded) if (sentence := part.strip(EDGES))]
    for sentence in sentences:
        whole = _cleaned(sentence)
        if whole and not compiled(cues.NOT_PLAIN).search(whole):
            yield whole, True
    for sentence in sentences:
        parts = _CLAUSE.split(sentence)
        if (len(parts) == 1 and not _COLON.search(sentence)) or compiled(cues.REPORTED).search(sentence):
            continue
        first = _cleaned(parts[0])
        for part in parts:
            if compiled(cues.NOT_PLAIN).search(part) and not compiled(cues.CORRECTS).search(part):
                break
            for piece in (part, *_COLON.split(part)[1:]):
                clause = _cleaned(piece)
                if clause and (part is parts[0] or not _HEADLESS.match(clause) or _I_FIRST.match(first or "我")):
                    yield clause, part is parts[0] or _I_FIRST.match(first or "我") is not None


def _cleaned(sentence: str) -> str:
    """A sentence without what leads to it, without what it denies beside what it affirms, and with its verbs written out."""
    sentence = sentence.strip(EDGES)
    while (match := compiled(cues.LEAD).match(sentence)) and match.end() > 0:
        sentence = sentence[match.end() :]
    sentence = compiled(_NOT_BUT).sub(r"\1\2", sentence)
    sentence = compiled(_DENIED_LAST).sub("", compiled(_DENIED_FIRST).sub("", sentence))
    sentence = compiled(_CONTRACTED).sub(lambda match: {"'m": " am", "'re": " are", "'ve": " have"}[match[0]], sentence)
    sentence = re.sub(r": ?(?:these days |now )?(?:it|that)(?: i|')s ", ": ", sentence)
    return _uncontracted(sentence).strip(EDGES)


def _uncontracted(sentence: str) -> str:
    """«the limit's 3» with its verb written out; «my sister's name is» stays as it is."""
    if "'s " not in sentence or re.search(
        r"'s [^,;]{1,60}?\b(?:is|are|was|were|has|have|changed|moved|starts?|ends?|takes?|goes|runs?|lives?|works?|drives?|uses?)\b",
        sentence,
    ):
        return sentence
    return compiled(r"(?<=\w)'s (?=\S)").sub(" is ", sentence, count=1)


# ------------------------------------------------------------------ by the table


def _by_table(reader: _Reader, clause: str) -> Slot | None:
    if chinese_frames.NOTICE.search(clause):
        return None
    for predicate, pattern in _patterns(UNSPACED_RUN.search(clause) is not None):
        if (match := pattern.fullmatch(clause)) and (slot := _slot(reader, match, predicate)):
            return slot
    for possessive in _POSSESSIVES:
        if (match := compiled(possessive).fullmatch(clause)) and not (
            re.search("[在到从]", match["p"]) or compiled(phrases.SENTENCE).match(match["p"])
        ):
            name = f"最喜欢的{match['p']}" if possessive is _ZH_FAVOURITE else predicate_name(match["p"])
            if (known := BY_NAME.get(name)) and (slot := _slot(reader, match, known)):
                return slot
            if known is None and not (chinese_frames.is_noun(match["s"]) and chinese_frames.is_noun(match["p"])):
                continue
            aspect = "" if known or possessive is _ZH_FAVOURITE else phrases.aspect_of(name, _object(match["o"]))
            if known is None and (slot := _slot(reader, match, known_or(f"{name} {aspect}".strip()))):
                return slot
    return None


def _as_said(text: str, object_: str) -> str:
    """The object with the letters that the speaker gave it, where it stands in the text as it is."""
    told = normal(text)
    if len(small := simple(told.lower())) == len(told) and (start := small.find(object_)) >= 0:
        return told[start : start + len(object_)]
    words = told.split()  # an accent that was folded away: Tromsø
    spans = (" ".join(words[i:k]) for i in range(len(words)) for k in range(len(words), i, -1))
    return next((said for span in spans if fold(said := span.strip(EDGES)) == object_), object_)


def _object(told: str) -> str:
    return compiled(_HEAD).sub("", compiled(_TAIL).sub("", told.strip()).strip(EDGES))


def _slot(reader: _Reader, match: re.Match[str], predicate: Predicate) -> Slot | None:
    subject, object_ = compiled(phrases.BEHIND_I).sub(r"\1", match["s"].strip()), _object(match["o"])
    subject = {"my": "i", "our": "i"}.get(subject, subject).removesuffix("'s")
    if (
        not object_
        or object_ in phrases.PRONOUNS
        or len(object_) > LONGEST_OBJECT
        or len(subject) > LONGEST_OBJECT
        or not _is_subject(subject, predicate)
    ):
        return None
    if compiled(_NUMBERED).match(object_):
        return None
    if not predicate.opposite_of and compiled(_NEGATED).search(match.string):
        return None
    said = _as_said(reader.text, object_)
    if predicate.takes and (compiled(_REMARK).search(match["o"]) or not _fits(said, predicate.takes, reader.text)):
        return None
    if predicate.name == "lives in" and compiled(_NO_HOME).search(match.string):
        return None
    known = predicate.name in BY_NAME
    if not known and phrases.is_remark(object_, said):
        return None
    who, many = told_of(subject, reader.speaker, reader.names), cardinality_of(predicate.name, object_)
    if many is SINGLE and (
        compiled(_ALSO).search(match.string[: match.start("o")] + object_) or (who.endswith(_ONE_OF_MANY) and known)
    ):
        many = UNKNOWN  # «I also work at Beta», «my friend lives in Rome»: nobody knows whether it retires what was said before
    return finished(who, predicate.name, object_, many)._replace(object=said)


def _fits(said: str, sort: str, text: str) -> bool:
    """Whether an object is of the sort that its predicate takes. In a text without capitals names have none either."""
    if sort == "version" and not re.search(r"\d\.\d|version|版", text, re.IGNORECASE):
        return False
    if compiled(SORTS[sort]).fullmatch(said):
        return sort != "place" or values.sort_of(said) != "when"
    small = sort in ("place", "employer", "name") and not re.search("[A-Z]", text)
    return small and re.fullmatch(SMALL_NAME, said) is not None and NO_NAMES.isdisjoint(said.split())


def _is_subject(subject: str, predicate: Predicate) -> bool:
    """Whether this reads as somebody or something, not as half a sentence. A missing one is a Chinese «I»."""
    if predicate.name in ("deadline", "version", "status") and not subject:
        return False
    if (
        len(subject.split()) > 5
        or compiled(phrases.SENTENCE).match(subject)
        or subject.endswith((" i", "的", "不", "把", "没"))
        or compiled(_NO_SUBJECT).search(subject)
    ):
        return False
    mine = re.fullmatch(r"(?:我|咱|俺)(?!们|的|家)(?P<x>.+)", subject)
    return mine is None or mine["x"] in RELATIVES


# ------------------------------------------------------------------ by the frame


def _frames(clause: str) -> Iterator[phrases.Found]:
    if UNSPACED_RUN.search(clause):
        yield from chinese_frames.found(clause)
    if compiled("[a-z]").search(clause):
        yield from english_frames.found(clause)


def _by_frame(reader: _Reader, clause: str) -> Slot | None:
    """The slot of a sentence whose frame alone says what is stated of what."""
    for found in _frames(clause):
        object_, about = _object(found.object), compiled(phrases.BEHIND_I).sub(r"\1", found.subject)
        if (
            not object_
            or object_ in phrases.PRONOUNS
            or len(object_) > LONGEST_OBJECT
            or compiled(_NUMBERED).match(object_)
            or not phrases.is_subject(about)
        ):
            continue
        said = _as_said(reader.text, object_)
        if found.takes and not _fits(said, found.takes, reader.text):
            continue
        if found.cardinality is SINGLE and found.predicate not in phrases.CLOSED and phrases.is_remark(object_, said):
            continue
        subject = told_of(about, reader.speaker, reader.names)
        many = (
            UNKNOWN
            if found.cardinality is SINGLE and compiled(_ALSO).search(clause.split(",", maxsplit=1)[0].split("，", maxsplit=1)[0])
            else found.cardinality
        )
        return finished(subject, found.predicate, object_, many)._replace(object=said)
    return None


# ------------------------------------------------------------------ in the index


def index_tokens(memory: SemanticMemory) -> Tokens:
    """What a memory is found by: its words, and its slot where the words do not say it. Never changes for a row."""
    slot = (part for part in (memory.subject, memory.predicate, memory.object) if part and part != USER)
    return tokens(" ".join([memory.content, *(part for part in slot if part.casefold() not in memory.content.casefold())]))
