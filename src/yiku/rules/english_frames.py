"""
The frames of a plain English sentence: what is stated of what, whatever the words in it (see rules/phrases.py).

The surest frame comes first. What fits none is left alone.
"""

# ruff: noqa: E501  (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from yiku.rules import values
from yiku.rules.cues import compiled
from yiku.rules.keys import BY_NAME, attribute, holds_one, tail
from yiku.rules.phrases import (
    AFTERWARDS,
    ASKED_FOR,
    NOBODY,
    PERSONS,
    PREPOSITION,
    TAILS,
    THINGS,
    Found,
    aspect_in,
    aspect_of,
    is_subject,
)
from yiku.rules.predicates import MULTI, RELATIVES, SINGLE, UNKNOWN
from yiku.rules.shared_words import MANY_VERBS, SINGLE_VERBS

_DETERMINER = re.compile(r"^(?:my|our|the|this|that|a|an) ")
_BEING = (
    r"(?:(?:is|are)(?: now| currently| still| already)?(?: set to| pinned to| capped at| fixed at| up to| down to| called)?"
    r"|(?:was|were|has been|have been|got|is being)(?: just)? (?:set|changed|bumped|cut|raised|lowered|moved|pushed|increased|reduced|upgraded|switched|renamed|extended|shortened) to"
    r"|(?:changed|moved|went up|went down|rose|dropped|grew|fell|switched|slipped) to|comes to|became)"
)
_COPULA = re.compile(rf"(?P<s>.{{1,60}}?) {_BEING} (?P<o>.+)")
_INVERTED = re.compile(
    r"(?P<o>[^,]{1,40}?) (?:is|are) (?:now )?(?P<d>my|our|the) (?P<p>[a-z][a-z -]{1,40}?)(?: (?:of|for|on) (?:my|our|the )?(?P<s>[^,]{1,40}))?(?: now)?"
)
_COLON = re.compile(r"(?P<s>[^:]{1,50}?): (?P<o>.+)")
_MEASURED = re.compile(r"(?P<s>.{1,40}?) (?:now |currently |only |just )?(?P<v>have got|has got|has|have|holds?|takes?|allows?|needs?|gets?|asks for|contains?|employs?|serves?|seats?|uses) (?:about |around |at most |up to |only )?(?P<o>(?P<n>\d[\d.,]*k?|[a-z-]+) (?P<w>.+))")  # fmt: skip
_HEAD = re.compile(r" (?:of|for|on|in|at|behind|to) (?:the |my |our )?")
_ADVERBS = r"(?:now |currently |just |really |already |also |still |actually |mostly |usually |often |always |only |even )*"
_NOT = r"(?:do not|don't|does not|doesn't|no longer|never|cannot|can't|am not|is not|isn't|are not|aren't|can no longer|stopped|quit|gave up)"
_DIETS = r"vegan|vegetarian|(?:a )?pescatarian|(?:an )?omnivore|(?:a )?(?:full )?carnivore|gluten-free|halal|kosher|keto"
_BONDS = r"single|married|engaged|divorced|widowed|separated|in a relationship"
_JOB = r"(?:accountant|administrator|analyst|architect|artist|assistant|baker|barista|carpenter|ceo|chef|clerk|consultant|cook|coordinator|cto|dentist|designer|developer|director|doctor|driver|editor|electrician|engineer|farmer|firefighter|fisherman|founder|guard|intern|journalist|lawyer|lead|lecturer|librarian|manager|mechanic|musician|nurse|officer|paramedic|pharmacist|photographer|pilot|plumber|producer|professor|programmer|receptionist|recruiter|researcher|scientist|secretary|soldier|student|surgeon|teacher|technician|tester|therapist|translator|vet|waiter|waitress|writer)"
# Of a person, what else ends like a trade is one, but for these.
_TRADE = r"(?!(?:beginner|believer|brother|customer|daughter|drinker|eater|father|foreigner|gamer|learner|loser|lover|member|mother|neighbour|newcomer|number|owner|player|reader|riser|runner|sister|sleeper|smoker|speaker|stranger|swimmer|user|vegetarian|visitor|winner)\b)[a-z]{3,}(?:er|or|ist|cian)"


@cache
def _verbs() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Verbs with one object, with many, and denied; compiled when the first sentence is read."""
    one = "|".join(sorted(map(re.escape, SINGLE_VERBS), key=len, reverse=True))
    plain = "|".join(sorted(MANY_VERBS, key=len, reverse=True))
    third = "|".join(sorted((_third(verb) for verb in MANY_VERBS), key=len, reverse=True))
    doing = "|".join(f"{verb.removesuffix('e')}ing" for verb in sorted(MANY_VERBS))
    return (
        re.compile(rf"(?P<s>.{{1,40}}?) {_ADVERBS}(?P<v>{one}) (?P<o>.+)"),
        re.compile(rf"(?:(?P<i>i|we) {_ADVERBS}(?P<v>{plain})|(?P<s>.{{1,40}}?) {_ADVERBS}(?P<w>{third})|(?P<x>.{{1,40}}?) (?:am|are|is) {_ADVERBS}(?P<y>{doing})) (?P<o>.+)"),
        re.compile(rf"(?P<s>.{{1,40}}?) {_NOT} {_ADVERBS}(?P<v>{plain}|{third}|{doing}) (?P<o>.+)"),
    )  # fmt: skip


def _third(verb: str) -> str:
    return verb + "es" if verb.endswith(("s", "sh", "ch", "o", "x")) else compiled(r"(?<=[^aeiou])y$").sub("ie", verb) + "s"


def _plain_form(verb: str) -> str:
    for base in (verb, verb.removesuffix("s"), verb.removesuffix("es"), verb.removesuffix("ies") + "y", verb.removesuffix("ing"), verb.removesuffix("ing") + "e"):  # fmt: skip
        if base in MANY_VERBS:
            return base
    return verb


def _bare(phrase: str) -> str:
    return _DETERMINER.sub("", phrase)


_TURNED = re.compile(
    r"(?P<o>[^,]{1,40}?) is (?:where|what) (?P<s>.{1,40}?) (?P<v>lives?|works?|listens?|runs?|(?:is|are) \w+ (?:to|on|in|at))"
)
_TURNED_TO = {"live": "in", "work": "at", "listen": "on", "run": "on"}
# my dentist, Dr. Moss, is away
_APPOSED = re.compile(r"(?:my|our) (?P<p>[a-z][a-z -]{1,30}?), (?P<o>[^,]{2,30}), (?!and\b|or\b).+")
_SET = re.compile(
    r"(?:.{0,40} )?(?:(?:set|changed|moved|raised|lowered|cut|increased|reduced|bumped|put|upgraded|renamed|postponed|pushed|delayed|extended|shortened)(?= .+ to )|(?:swapped|switched)(?= .+ (?:to|for) )) (?P<s>my|our|the) (?P<p>[a-z][a-z -]{1,40}?)(?: up| down| over| back)? (?:to|for) (?P<o>.+?)(?: (?:after|because|since|as of|starting|from) .+)?"
)
_USED_AS = re.compile(
    r"(?P<s>i|we|.{2,20}?) (?:now )?(?:use|uses|using) (?P<o>.+?) (?:as|for) (?:my|our|their|his|her|the) (?P<p>[a-z -]+)"
)
_EVERY = re.compile(
    r"(?P<s>.{2,40}?) (?P<v>(?:needs?|gets?|takes?|runs?|happens?|meets?|wants?|is|are)\b(?: [a-z]+){0,3}?) every (?P<o>(?:\d+|[a-z]+) [a-z]+s?|second|other [a-z]+)"
)
_AT_TIME = re.compile(r"(?P<s>.{2,40}?) (?P<v>[a-z]+) (?P<o>(?:at|on) .+)")
_ENDED = re.compile(
    r"(?P<s>i|we|.{2,20}? )? ?(?:have |has |just |finally )*(?:sold|gave away|got rid of|threw out|threw away|returned|cancelled|canceled|lost|scrapped) (?:my|our|the|his|her) (?P<o>[a-z][a-z -]{1,30}?)(?: (?:to|on|in|last|yesterday|today|for|because)\b.*)?"
)
_IRREGULAR = frozenset(
    "came went left began had met ran saw took got made did ate told said fell rose lost won sent spent paid bought found held kept wrote drove flew woke slept sat stood".split()
)
_HABIT = re.compile(
    r"(?P<s>i|we|.{2,20}?) (?:(?P<n>do not|don't|does not|doesn't|no longer|never) smoke|(?:have |has |finally )*(?P<q>quit|stopped|gave up) smoking|smokes?)(?: any ?more| any longer| now)?"
)
_ANY_VALUE = re.compile(
    r"(?:[$€£] ?)?(?<![\w.])\d[\d.,]*(?:k\b|%)?(?: ?(?:ms|mg|g|kg|km|cm|mm|ml|gb|mb|tb|°c|seconds?|minutes?|hours?|days?|weeks?|months?|years?|euros?|dollars?|kilos?|grams?|miles?|metres?|meters?|litres?|degrees|people|times|percent))?\b"
)
_PAID = re.compile(
    r"(?P<s>i|we) (?:now )?(?:pay|spend) (?P<o>.+?) (?:in|on|for) (?:my |our |the )?(?P<p>rent|electricity|heating|internet|insurance|gas|water|childcare|tuition|food)\b.*"
)
_BEST = re.compile(r"of all (?:the )?(?P<p>[a-z]+?)s?,? (?P<s>i|we) (?:like|love|prefer) (?P<o>.+?) (?:the )?(?:best|most)")
_COMING = re.compile(
    r"(?P<s>.{2,40}?) (?:is|are) (?:coming|arriving|scheduled|happening|planned|leaving|landing|starting)(?: for| on| at)? (?P<o>.+)"
)
_OFF = re.compile(r"(?P<o>.{2,30}?) (?:is|are) off (?:limits|the menu|the table) (?:for|to) (?P<s>me|us|my .+|[a-z]+)")
_HEADS = re.compile(
    r"we (?:are|have|have got) (?P<o>[a-z-]+|\d+)(?: people| persons| members| engineers| developers| of us)? (?P<w>on|in) (?:the|our|my) (?P<s>[a-z -]+?)(?: now| since .*)?"
)
_GUESTS = re.compile(
    r"(?:(?P<o>(?P<n>[a-z-]+|\d+) (?P<w>[a-z]+s)) (?:at|for|in|on) (?:the|our|my) (?P<s>[a-z -]{2,30}?)|for (?:the|our|my) (?P<t>[a-z -]{2,30}?): (?P<q>(?P<m>[a-z-]+|\d+) (?P<x>[a-z]+s)))(?:,.*)?"
)


def _turned(clause: str) -> str:
    """«Port 7070 is where the API listens», with its words in the usual order."""
    if (match := _TURNED.fullmatch(clause)) is None:
        return clause
    to = _TURNED_TO.get(match["v"].removesuffix("s"), "")
    return " ".join(filter(None, (match["s"], match["v"], to, match["o"])))


def _reworded(clause: str) -> Iterator[Found]:
    """Other ways to say a plain thing."""
    if (
        match := compiled(r"(?:i|we) (?:have|have got) an? (?P<s>[a-z]+)(?: who is)?,? (?:called|named) (?P<o>.+)").fullmatch(
            clause
        )
    ) and match["s"] in ("wife", "husband", "partner", "mother", "father", "boss"):  # of whom one has one
        yield Found(f"my {match['s']}", "name", match["o"], SINGLE, "name")
    if (match := _APPOSED.fullmatch(clause)) and holds_one(match["p"]) and match["p"] not in BY_NAME:
        yield Found("i", match["p"], match["o"], SINGLE, "name")
    if (match := _SET.fullmatch(clause)) and holds_one(match["p"]):
        thing = (known := BY_NAME.get(match["p"])) is not None and known.takes  # «switched my phone to a Pixel»: no number
        yield Found("i", f"{match['p']} model" if thing else match["p"], match["o"], UNKNOWN if thing else SINGLE)
    if (match := _PAID.fullmatch(clause)) and values.sort_of(match["o"]):
        yield Found(match["s"], match["p"], match["o"], SINGLE)
    if (match := _USED_AS.fullmatch(clause)) and holds_one(match["p"]):
        yield Found(match["s"], match["p"], match["o"], SINGLE)
    if match := _ENDED.fullmatch(clause):
        yield Found((match["s"] or "i").strip(), "does not have", match["o"], MULTI)
    if (match := _EVERY.fullmatch(clause)) and aspect_in(match["o"]) == "duration":
        yield Found(match["s"], f"{match['v']} interval", match["o"], SINGLE)
    if match := _BEST.fullmatch(clause):
        yield Found(match["s"], f"favourite {match['p']}", match["o"], SINGLE)
    if (
        (match := _COMING.fullmatch(clause))
        and _bare(match["s"]) not in NOBODY
        and aspect_in(compiled(TAILS).sub("", match["o"])) in ("date", "time")
    ):
        yield Found(match["s"], "date", match["o"], SINGLE)
    if match := _OFF.fullmatch(clause):
        yield Found({"me": "i", "us": "we"}.get(match["s"], match["s"]), "cannot eat", match["o"], MULTI)
    if (match := _HEADS.fullmatch(clause)) and values.number(match["o"]) is not None:
        yield Found(match["s"], "headcount", match["o"], SINGLE)
    if match := _GUESTS.fullmatch(clause):
        what, counted, number = match["s"] or match["t"], match["w"] or match["x"], match["n"] or match["m"]
        if values.number(number) is not None and values.sort_of(match["o"] or match["q"]) not in ("s", "m", "g", "l"):
            yield Found(what, f"number of {counted}", match["o"] or match["q"], SINGLE)


def found(clause: str) -> Iterator[Found]:
    one, many, denied = _verbs()
    clause = _turned(clause)
    yield from _reworded(clause)
    if (match := _INVERTED.fullmatch(clause)) and (
        holds_one(match["p"])
        and not _DETERMINER.match(match["o"])
        and match["o"] not in ("i", "we", "it", "that", "this")
        and (match["d"] != "the" or match["s"])
    ):
        yield Found(match["s"] or "i", match["p"], match["o"], SINGLE)
    if match := one.fullmatch(clause):
        yield from _by_verb(match)
    yield from _of_persons(clause)
    if match := compiled(r"(?P<s>.{1,40}?) (?:cannot|can't) (?:have|eat|drink|tolerate) (?P<o>.+)").fullmatch(clause):
        yield Found(_owner(match["s"]), "cannot eat", AFTERWARDS.sub("", re.sub(",.*", "", match["o"])), MULTI)
    if match := compiled(
        r"(?P<s>i|we|[a-z]+ and i) (?:have |just |finally )*(?:got|am|are) (?P<o>married|engaged|divorced|separated)(?: (?:on|last|this|in|yesterday|today)\b.*)?"
    ).fullmatch(clause):
        yield Found("i", "relationship status", match["o"], SINGLE)
    if match := denied.fullmatch(clause):
        yield Found(_owner(match["s"]), f"does not {_plain_form(match['v'])}", AFTERWARDS.sub("", match["o"]), MULTI)
    if match := compiled(r"(?P<s>.{1,30}?) (?P<v>can|cannot|can't)(?: not)? (?P<o>[a-z]+(?: [a-z]+)?)(?: now| yet)?").fullmatch(
        clause
    ):
        yield Found(_owner(match["s"]), "can" if match["v"] == "can" and " not " not in clause else "cannot", match["o"], MULTI)
    if match := compiled(r"no (?P<o>[a-z][a-z -]{2,30}?) (?:since|any ?more|for (?:me|us)|now).*").fullmatch(clause):
        yield Found("i", "does not have", f"a {match['o']}", MULTI)
    if match := compiled(r"(?:it is )?not true that (?P<s>i|we) (?:hate|dislike) (?P<o>.+)").fullmatch(clause):
        yield Found(match["s"], "likes", AFTERWARDS.sub("", match["o"].removesuffix(" btw")), MULTI)
    for pattern in (_COPULA, _COLON):
        if match := pattern.fullmatch(clause):
            yield from _being(match["s"], match["o"])
    if match := _MEASURED.fullmatch(clause):
        yield from _measured(match)
    if match := _HABIT.fullmatch(clause):
        denied_ = match["n"] or match["q"]
        yield Found(_owner(match["s"]), "does not smoke" if denied_ else "smokes", "tobacco", MULTI)
    if (match := _AT_TIME.fullmatch(clause)) and _bare(match["s"]) not in NOBODY - {"i", "we"} and _present(match["s"], match["v"]):
        aspect = aspect_in(AFTERWARDS.sub("", compiled(TAILS).sub("", match["o"]))) or aspect_in(
            PREPOSITION.sub("", compiled(TAILS).sub("", match["o"]))
        )
        if aspect in ("time", "date"):
            yield Found(match["s"], f"{match['v'].removesuffix('s')} {aspect}", match["o"], SINGLE if aspect == "time" else UNKNOWN)
    if (match := many.fullmatch(clause)) and not compiled(_NOT).search(clause):
        subject, verb = match["i"] or match["s"] or match["x"], match["v"] or match["w"] or match["y"]
        yield Found(_owner(subject), _plain_form(verb) + "s", AFTERWARDS.sub("", match["o"]), MULTI)
    yield from _around(clause)


def _present(subject: str, verb: str) -> bool:
    """Whether a verb behind a subject tells what is so, as far as its form shows."""
    if verb in ("is", "are", "was", "were", "am", "be", "has", "does", "meet", "met", "as", "this", "his", "its"):
        return False
    plural = subject in ("i", "we") or subject.endswith("s")
    return verb.endswith("s") or (plural and not verb.endswith("ed") and verb not in _IRREGULAR)


def _around(clause: str) -> Iterator[Found]:
    """A quantity with its sentence around it: the same words with another one may contradict it, and nobody knows."""
    if (
        not clause.isascii()
        or _TOLD_ONCE.search(clause)
        or compiled(r"\b(?:i|we|he|she|they|you) (?:have|has|need|want|got) an? ").search(clause)
    ):
        return
    *_, last = [None, *_ANY_VALUE.finditer(clause)]
    if last is None or "," in clause or values.sort_of(last[0]) in ("", "when"):
        return
    around = " ".join(_AFTER_ALL.sub("", f"{clause[: last.start()].strip()} {clause[last.end() :].strip()}").split())
    if 3 <= len(around.split()) <= 10 and not compiled(ASKED_FOR).match(around):
        yield Found("i", compiled(r"^(?:i|we|my|our|the) ").sub("", around), last[0], UNKNOWN)


_TOLD_ONCE = re.compile(
    rf"\b(?:was|were|did|had|today|tonight|yesterday|this morning|last|ago|tomorrow|[a-z]{{3,}}ed|{'|'.join(sorted(_IRREGULAR))})\b"
)
_AFTER_ALL = re.compile(r"\b(?:now|currently|these days|already|just|only|still)\b|,.*")


def _owner(subject: str) -> str:
    return re.sub(
        r"^(?:my|our) (?:sister|brother|friend|colleague|neighbour|daughter|son|wife|husband|cousin) (?=\w+$)", "", subject
    )


def _by_verb(match: re.Match[str]) -> Iterator[Found]:
    predicate, object_ = SINGLE_VERBS[match["v"]], compiled(r"^port ").sub("", match["o"])
    sort = values.sort_of(object_)
    sort = "when" if predicate == "expiry" and sort == "number" else sort
    if predicate in ("start", "end", "close", "open", "wake-up time", "bedtime", "departure", "date", "expiry") and sort not in (
        "when",
        "s",
        "number",
        "count",
    ):
        return
    if predicate == "school":
        yield Found(_owner(match["s"]), predicate, object_, SINGLE, "school")
    elif predicate == "born in" and not sort:
        yield Found(_owner(match["s"]), "birthplace", object_, SINGLE)
    elif predicate == "hosted on" and (re.match("port ", match["o"]) or compiled(r"\d{3,5}").fullmatch(object_)):
        yield Found(_owner(match["s"]), "port", object_, SINGLE)
    elif predicate in ("weight", "port", "size", "price") and not sort:
        return
    else:
        yield Found(_owner(match["s"]), predicate, object_, SINGLE)


def _is_person(subject: str) -> bool:
    return subject == "i" or _bare(subject) in PERSONS or _bare(subject) in RELATIVES


def _of_persons(clause: str) -> Iterator[Found]:
    """Age, height, weight, diet, bond and trade: what one is."""
    if (
        match := re.fullmatch(
            r"(?P<s>i|(?:my |our )?[a-z]+) (?:am|is) (?:now |already |only |just |about )?(?:(?P<o>[12][.,]\d\d? ?(?:m|met(?:re|er)s?)|\d{2,3} ?cm|[4-7] ?(?:ft|foot|feet)(?: \d{1,2}(?: ?in(?:ches)?)?)?)(?: tall)?|(?P<w>\d{2,3}(?:[.,]\d)? ?(?:kg|kilos?|lbs?|pounds)))(?: now)?",
            clause,
        )
    ) and _is_person(match["s"]):
        yield Found(match["s"], "height" if match["o"] else "weight", match["o"] or match["w"], SINGLE)
    if match := re.fullmatch(
        r"(?P<s>i|(?:my |our )?[a-z]+) (?:am|is) (?:now |already |only |just )?(?P<o>\d{1,3}|[a-z]+(?:-[a-z]+)?)(?: years old(?: and .+)?| now)?",
        clause,
    ):
        age = values.number(match["o"])
        if age is not None and age < 120 and _is_person(match["s"]):
            yield Found(match["s"], "age", match["o"], SINGLE)
    if match := re.fullmatch(
        rf"(?P<s>.{{1,30}}?) (?:am|is|has gone|have gone|has turned|have turned|went) (?:now |currently )?(?:(?P<d>{_DIETS})|(?P<b>{_BONDS}))(?! to (?:my|his|her)\b)(?: (?:to|with|from) (?P<o>.+)| and .+| now)?",
        clause,
    ):
        yield Found(match["s"], "diet" if match["d"] else "relationship status", match["d"] or match["b"], SINGLE)
    if (
        match := re.fullmatch(
            rf"(?P<s>.{{1,30}}?) (?:am|is) (?:now )?(?:(?:an?|the) (?P<o>(?:[a-z-]+ ){{0,3}}(?:{_JOB}|(?P<t>{_TRADE})))(?: (?:here|at|in|on|with|for|now)\b.*)?|(?P<a>(?:[a-z-]+ ){{0,2}}{_JOB}) (?:at|for) .+)",
            clause,
        )
    ) and (_is_person(match["s"]) or not match["t"]):
        yield Found(_owner(match["s"]), "job", match["o"] or match["a"], SINGLE)
    if match := compiled(
        r"(?!(?:the|this|that|it|they|we)\b)(?P<s>.{1,30}?) (?:am |is |are )?(?:now |currently |also )?work(?:s|ing)? as (?:an? |the )?(?P<o>[a-z][a-z -]{1,40}?)(?: (?:here|at|in|on|for|with|near|now|since|from|and|of)\b.*)?"
    ).fullmatch(clause):
        yield Found(_owner(match["s"]), "job", match["o"], SINGLE)


def _being(subject: str, object_: str) -> Iterator[Found]:
    """Something is something: by its noun, or by the sort of what it is."""
    named, said = _bare(subject), PREPOSITION.sub("", object_)
    head, *rest = _HEAD.split(named, maxsplit=1)
    if (
        not compiled(r"[a-z]").match(named)
        or named in NOBODY
        or compiled(r"\b(?:i|we|is|are|was|were|have|has|do)\b").search(named)
    ):
        return
    if compiled(r"(?:on |at )?port \d").match(object_):
        yield Found(subject, "port", compiled(r"^(?:on |at )?port ").sub("", object_), SINGLE)
    if not is_subject(named):
        return
    aspect = aspect_of("", object_)
    if (known := BY_NAME.get(head)) and known.takes and known.cardinality is SINGLE:
        yield Found(rest[0] if rest else "i", f"{head} model", object_, UNKNOWN)
    elif (attr := tail(head)) or holds_one(head):
        thing = attribute(attr or head)
        if aspect and thing in THINGS:
            yield Found(subject, aspect, said, SINGLE)
        else:
            yield Found(rest[0] if rest else "i", head, compiled(r"^(?:on|at|in|by) ").sub("", object_), SINGLE)
    elif compiled(r"at \d+$").match(object_) and subject == named:
        return  # «Lantern is at 5» says nothing of when
    elif compiled(r"on \d{3,5}\b").match(object_):
        yield Found(subject, "port", said, SINGLE)
    elif aspect:
        yield Found(subject, aspect, said, SINGLE)
    elif PREPOSITION.match(object_) and compiled(r"(?:on|at|in) (?:the )?(?:[A-Za-z0-9])").match(object_) and subject != named:
        yield Found(subject, "located", object_, UNKNOWN)


def _measured(match: re.Match[str]) -> Iterator[Found]:
    """Something has, holds or takes so many of something."""
    if values.number(match["n"].removesuffix("k")) is None and aspect_in(compiled(TAILS).sub("", match["o"])) != "duration":
        return
    counted = AFTERWARDS.sub("", compiled(r" (?:left|of .*|on .*|in .*|at .*|for .*|per .*|each.*)$").sub("", match["w"]))
    if compiled(r"\b(?:minutes?|hours?|meetings?|things?|questions?|times)\b").search(counted) and match["v"].startswith(
        ("have", "has")
    ):
        return
    predicate = "number of" if match["v"].startswith(("have", "has")) else match["v"].removesuffix("s")
    if aspect := aspect_in(compiled(TAILS).sub("", match["o"])):
        counted = aspect
    yield Found(match["s"], f"{predicate} {counted}", match["o"], SINGLE)
