"""
Word classes of the lexicon as bit flags, so that a word or a clause is tested in one step.
"""

from __future__ import annotations

from collections.abc import Iterable

_NAMES = """
    person person.speaker person.agent person.other person.it own own.speaker own.agent own.other kin has holder ask.where
    ask.when ask.who ask.amount ask.thing ask.reason ask.manner ask.first request.first request.inside request.task request.text
    request.ought suppose plan.here plan.wish plan.will report joke hedge deny deny.longer past.used past.was past.did past.until now.here
    now.still correct correct.slip change change.moved change.shifted end retract remember remember.task standing
    standing.task verb verb.be verb.have verb.aux verb.other verb.can verb.many place place.from join join.but join.so lead
    clock article article.the also list.count list.before list.once list.change light month weekday day day.ahead every
    number unit sort sort.event material.text material.fiction material.assistant material.noun mark.possessive mark.begun
    mark.and mark.part mark.day mark.between mark.currency ending.hour ending.ordinal names.first
    names.common inverted
    standing.here standing.opens mark.series
""".split()
BIT = {name: 1 << place for place, name in enumerate(_NAMES)}


def mask(classes: Iterable[str]) -> int:
    """Return the bits of classes: each its own, and that of its table."""
    bits = 0
    for each in classes:
        bits |= BIT.get(each, 0) | BIT.get(each.partition(".")[0], 0)
    return bits


PERSON, SPEAKER, YOU, OTHER, IT = (BIT[n] for n in ("person", "person.speaker", "person.agent", "person.other", "person.it"))
OWN, MY, YOUR = BIT["own"], BIT["own.speaker"], BIT["own.agent"]
KIN, HOLDER = BIT["kin"], BIT["holder"]
WHERE, WHEN, WHO, AMOUNT = BIT["ask.where"], BIT["ask.when"], BIT["ask.who"], BIT["ask.amount"]
ASKS = WHERE | WHEN | WHO | AMOUNT | BIT["ask.thing"] | BIT["ask.reason"] | BIT["ask.manner"]
WHAT, ASKS_FIRST = BIT["ask.thing"] | BIT["ask.manner"], BIT["ask.first"]
REQUEST, REQUESTED, TASK, OUGHT = (BIT[n] for n in ("request.first", "request.inside", "request.task", "request.ought"))
SUPPOSE, PLAN, WILL = BIT["suppose"], BIT["plan.here"] | BIT["plan.wish"], BIT["plan.will"]
REPORT, JOKE, HEDGE, DENY, NO_LONGER = (BIT[n] for n in ("report", "joke", "hedge", "deny", "deny.longer"))
DID, UNTIL = BIT["past.did"], BIT["past.until"]
ONCE, WAS, NOW, STILL = BIT["past.used"], BIT["past.was"], BIT["now.here"], BIT["now.still"]
SLIP = BIT["correct.slip"]
SHIFT = BIT["change.moved"] | BIT["change.shifted"]
CORRECT, CHANGE, END, RETRACT = BIT["correct"], BIT["change"], BIT["end"], BIT["retract"]
TO_DO = BIT["remember.task"]
FROM_NOW, OPENS = BIT["standing.here"], BIT["standing.opens"]
REMEMBER, STANDING, FOR_THIS = BIT["remember"], BIT["standing"], BIT["standing.task"]
BE, AUX, HAVE, MANY = BIT["verb.be"], BIT["verb.aux"], BIT["verb.have"], BIT["verb.many"]
BUT = BIT["join.but"] | BIT["join.so"]
CAN = BIT["verb.can"]
VERB = BIT["verb"] | CHANGE | END | WAS
PLACE, FROM, JOIN, LEAD, CLOCK = (BIT[n] for n in ("place", "place.from", "join", "lead", "clock"))
ARTICLE, THE = BIT["article"], BIT["article.the"]
ALSO, SEVERAL, BEFORE, EARLIER, CHANGED = BIT["also"], BIT["list.count"], BIT["list.before"], BIT["list.once"], BIT["list.change"]
EVENT = BIT["sort.event"]
WORKS_ON = BIT["request.text"]
MATERIAL, FICTION, ASSISTANT, TEXT = (BIT[f"material.{n}"] for n in ("text", "fiction", "assistant", "noun"))
POSSESSIVE, BEGUN = BIT["mark.possessive"], BIT["mark.begun"]
AND, SERIES, CURRENCY = BIT["mark.and"], BIT["mark.series"], BIT["mark.currency"]
PART_OF_TIME, NAMES_A_DAY, IN_TIME = (BIT[f"mark.{n}"] for n in ("part", "day", "between"))
HOUR, ORDINAL = BIT["ending.hour"], BIT["ending.ordinal"]
BEGINS_NAME, COMMON = BIT["names.first"], BIT["names.common"]
INVERTED = BIT["inverted"]
LIGHT, NUMBER, UNIT = BIT["light"], BIT["number"], BIT["unit"]
MONTH = BIT["month"]
TIME = BIT["month"] | BIT["weekday"] | BIT["day"]
DATED, DAY, EVERY = BIT["month"] | BIT["weekday"], BIT["day"], BIT["every"]
AHEAD = BIT["day.ahead"]
EMPTY = (
    LIGHT | JOIN | ARTICLE | ASKS | NOW | STILL | PERSON | OWN | CORRECT | BE | AUX | DENY | ONCE | WAS | SEVERAL | BEFORE | CHANGED
)
