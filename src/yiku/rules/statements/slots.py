"""
Fill slots from a clause, by templates and by the attribute form; find the predicates that a question asks for.

A template is tried only where its anchor stands, left to right; a gap ends at the next word that the template or the
lexicon knows for an end, and is no longer than MOST_WORDS. So nothing is tried twice, and nothing backtracks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from yiku.rules.lexicon import FORMS, Gap, Lexicon, Literal, Template, lists
from yiku.rules.lexicon import flags as F
from yiku.rules.statements.clause import AGENT, USER, Slot, Value
from yiku.rules.text.sentences import is_wide
from yiku.rules.text.words import Word, flags_of

SCHEDULED = "scheduled"  # the predicate of what is arranged for a time
MOST_WORDS = 12  # of a value
MOST_IN_A_VALUE = 5  # words of one that is told of an attribute
MOST_TRAILING = 2  # words behind a name that belong to it
MOST_CHARS = 6  # of one that is written without spaces
MOST_IN_A_LIST = 60  # words and signs of a list of values behind its first
LONGEST_NAME = 8  # characters of a name that is written without spaces
MOST_BEFORE = 3  # words of a compound noun before its last
TO_THE_VERB = 6  # words between a noun and the verb that gives its value
_CLOSE, _PERSON, _ANYTHING = "close", "person", "anything"  # what a predicate may be told of
_NAMED = ("place", "name", "person")
_EXACT = {
    "time": (("time",),),
    "clock": (("time",),),
    "amount": (("amount",), ("time",)),
    "place": (("place", "name"),),
    "name": (("name", "place"),),
    "person": (("name", "place"),),
    "contact": (("contact",),),
}
_ENDS_VALUE = F.JOIN | F.NOW | F.DENY | F.ALSO | F.BE | F.AUX
_NO_ITEM = F.PERSON | F.ASKS | F.BE | F.AUX | F.DENY  # of a list
_NO_NAME = F.OWN | F.VERB
_MEASURES = ("time", "amount", "clock", "contact")  # sorts of which a list is none of values: 5 and 6 March
_NO_NOUN = F.POSSESSIVE | F.PERSON | F.OWN | F.KIN | F.ARTICLE | F.JOIN | F.NOW | F.ALSO | F.CORRECT | F.LIGHT | F.REMEMBER | F.LEAD
_BINDS = F.ARTICLE | F.LIGHT | F.POSSESSIVE | F.NOW | F.ALSO | F.STILL | F.AUX | F.HEDGE | F.PLACE
# What may stand between a subject and what is said of it.
_BETWEEN = F.AUX | F.BE | F.HAVE | F.NOW | F.STILL | F.ALSO | F.EVERY | F.TIME | F.HEDGE | F.JOIN | F.LEAD
_BETWEEN |= F.CORRECT | F.DENY | F.PLACE | F.ONCE | F.PERSON
_BETWEEN |= F.CHANGE | F.LIGHT | F.SUPPOSE | F.PLAN | F.REMEMBER


class PartialClause(NamedTuple):
    """
    A clause before its slots are known: its words, subject and values.

    named:  where the clause names its subject, if it does: between that and what is said of it stands nothing that tells
    elided: it leaves out the subject that a clause before it in the sentence names
    """

    text: str
    own: Sequence[Word]
    subject: str
    named: tuple[int, int] | None
    values: Sequence[Value]
    elided: bool = False


def filled(told: PartialClause, lexicon: Lexicon) -> Iterator[Slot]:
    """Yield the slots that a clause fills."""
    seen: set[tuple[str, int]] = set()
    said = _may_be_said(told)
    listed = {sort for word in told.own for sort in word.entry.sorts}
    for place, word in enumerate(told.own):
        for template in lexicon.templates.get(word.text, ()):
            predicate = lexicon.predicates[template.predicate]
            if predicate.of not in said or not (predicate.takes in FORMS or predicate.takes in listed):
                continue
            matched = _matched(template, told.own, place)
            value = _exactly(told, matched[0]) if matched else None
            if matched is None or value is None:
                continue
            begins = next(n for n, each in enumerate(told.own) if each.start == value.start)
            if _PERSON in said and not _follows(told, min(place, begins)):
                continue
            if len(template.parts) == 1 and _is_of_a_day(told):
                continue
            if template.ends and not _ends_clause(_behind(template, told.own, matched[1], value)):
                continue
            thing = told.own[:place] if template.predicate == SCHEDULED else ()
            if template.predicate == SCHEDULED and not (value.exact and _is_arranged(thing, word)):
                continue
            if (template.predicate, value.start) not in seen:
                seen.add((template.predicate, value.start))
                denial = _denies(template, told.own)
                yield Slot(told.subject, template.predicate, value, predicate.one, _noun(thing), denial)
    yield from _attributes(told, lexicon)


def wanted(found: Sequence[Word], small: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the predicates that a question asks for."""
    there = {word.text for word in found}
    return frozenset(
        predicate.name for predicate in lexicon.predicates.values() if any(_has_all(line, there, small) for line in predicate.asks)
    )


def _has_all(line: Sequence[str], there: Collection[str], small: str) -> bool:
    """Whether all words of a line occur; phrases and Chinese words anywhere in the text."""
    for each in line:  # noqa: SIM110  (a generator takes twice as long, and each question tries every line)
        if each not in there and not (each in small and (" " in each or is_wide(each[0]))):
            return False
    return True


# ------------------------------------------------------------------ of whom


def _may_be_said(told: PartialClause) -> Collection[str]:
    """Return which predicates may apply: all to a person, few to their things (my flat is in Oslo)."""
    if told.subject == USER or "'s " in told.subject or told.subject == AGENT:
        return (_CLOSE, _PERSON, _ANYTHING)
    return (_PERSON, _ANYTHING) if told.subject in ("", "?") or told.subject.startswith("@") else (_ANYTHING,)


def _follows(told: PartialClause, place: int) -> bool:
    """Whether no content word stands before the subject, or between it and this place."""
    start, end = told.named or (told.own[0].start, told.own[0].start)
    heading = max((word.end for word in told.own if word.sign and word.start < start), default=0)  # Big news: I live in …
    away = {word.start for before, word in pairwise(told.own) if before.flags & F.FROM}  # from Oslo, 从奥斯陆
    around = [word for word in told.own[:place] if heading <= word.start < start or word.start >= end]
    around = [word for word in around if word.start not in away and not word.flags & F.FROM]
    return all(word.inside or word.sign or word.flags & _BETWEEN for word in around)


def _behind(template: Template, own: Sequence[Word], end: int, value: Value) -> Sequence[Word]:
    """Return the words behind a template: of one that ends in its value, behind what of the gap is the value."""
    if not isinstance(template.parts[-1], Gap):
        return own[end:]
    return [word for word in own if word.start >= value.end]


def _ends_clause(behind: Sequence[Word]) -> bool:
    """Whether no content word follows a template: I am 40, not 40 to 50 year olds."""
    return all(word.inside or word.sign or word.flags & (F.LIGHT | F.NOW | F.UNIT | F.TIME | F.PLACE) for word in behind)


def _is_of_a_day(told: PartialClause) -> bool:
    """Whether a clause tells of certain days, and not of since when: 今天吃素, 每周一吃素, 从今天起吃素."""
    flags = flags_of(told.own)
    return (bool(flags & F.EVERY) or any(value.sort == "time" for value in told.values)) and not flags & (F.CHANGE | F.FROM)


def _denies(template: Template, own: Sequence[Word]) -> bool:
    """Whether the negation is part of the predicate: does not like."""
    denials = [word for word in own if word.flags & F.DENY]
    if not denials:
        return False
    said = {word for part in template.parts if isinstance(part, Literal) for choice in part.words for word in choice}
    owned = [any(word.text in each for each in said) for word in denials]
    return any(owned) and all(own or word.flags & F.NO_LONGER for own, word in zip(owned, denials, strict=True))


# ------------------------------------------------------------------ templates


def _matched(template: Template, own: Sequence[Word], place: int) -> tuple[Value, int] | None:
    """Match a template at its anchor and return its value and end, or None. Parts before the anchor match backwards."""
    value: Value | None = None
    at = place
    for part in reversed(template.parts[: template.anchor]):
        if isinstance(part, Literal):
            at = _literal_before(part, own, at)
        else:
            start = max(0, at - MOST_WORDS)
            stops = [i for i in range(start, at) if own[i].flags & (F.PERSON | F.OWN | F.KIN | F.NOW | F.PLACE) or own[i].sign]
            start = stops[-1] + 1 if stops else start
            if start >= at:
                return None
            value, at = _value(part.sort, own, start, at), start
    at = place
    for index in range(template.anchor, len(template.parts)):
        part = template.parts[index]
        if isinstance(part, Literal):
            after = _literal(part, own, at)
            if after is None:
                return None
            if len(template.parts) == 1:
                value = _value("thing", own, at, after)
            at = after
        else:
            end = _gap_end(template, index, own, at)
            if end == at:
                return None
            if part.told:
                value = _value(part.sort, own, at, end)
            at = end
    return None if value is None else (value, at)


def _stands(choice: Sequence[str], own: Sequence[Word], at: int) -> bool:
    if at < 0 or at + len(choice) > len(own):
        return False
    return all(own[at + i].text == word for i, word in enumerate(choice))


def _literal(part: Literal, own: Sequence[Word], at: int) -> int | None:
    """Return the end of a literal here, None if a required one is missing."""
    here = own[at].text if at < len(own) else ""
    for choice in part.words:
        if choice[0] == here and (len(choice) == 1 or _stands(choice, own, at)):
            return at + len(choice)
    return at if part.optional else None


def _literal_before(part: Literal, own: Sequence[Word], at: int) -> int:
    return next((at - len(choice) for choice in part.words if _stands(choice, own, at - len(choice))), at)


def _gap_end(template: Template, index: int, own: Sequence[Word], at: int) -> int:
    """Return the end of a gap: at the next literal, or where the value cannot continue."""
    following = template.parts[index + 1] if index + 1 < len(template.parts) else None
    part = template.parts[index]
    sort = part.sort if isinstance(part, Gap) else ""
    end, last, listed = at, min(len(own), at + MOST_WORDS), at
    while end < last:
        if isinstance(following, Literal) and _literal(following, own, end) not in (None, end):
            return end
        if sort == "noun" and end > at and own[end].flags & F.PLACE:
            return end  # a nurse in Bergen
        inside = own[end].text == "." and at < end < len(own) - 1  # St. Quillgate: the sentence goes on
        inside |= at < end and _possesses(own, end)  # I like Ann's brother: no 's of `is`
        if end >= listed and (own[end].sign or (end > at and own[end].flags & _ENDS_VALUE)) and not inside:
            listed = _list_end(sort, own, end) if end > at and _joins(own[end]) else end
            if listed == end:
                return end
            last = max(last, listed)
        end += 1
    return last


def _list_end(sort: str, own: Sequence[Word], at: int) -> int:
    """
    Return the end of a list of values whose second one is joined here, the place itself if none is: tea, coffee and cake.

    A comma joins where a joining word follows in the list, since alone it may set anything apart: a dog, mostly.
    """
    end, place, stop = at, at, min(len(own), at + MOST_IN_A_LIST)
    while sort not in _MEASURES and place < stop and _joins(own[place]):
        first = next((n for n in range(place, stop) if not (_joins(own[n]) or own[n].flags & F.ALSO)), stop)
        after = next((n for n in range(first, stop) if own[n].sign or own[n].flags & (_ENDS_VALUE | F.SERIES)), stop)
        item = own[first:after]
        if not item or flags_of(item) & (_NO_ITEM | (_NO_NAME if sort in _NAMED else 0)):
            break
        end = after if flags_of(own[place:first]) & F.SERIES else end
        place = after
    return end


def _joins(word: Word) -> bool:
    """Whether a word or sign may stand between the values of a list."""
    return word.text == "," or bool(word.flags & F.SERIES)


def _value(sort: str, own: Sequence[Word], start: int, end: int) -> Value:
    while end > start + 1 and own[end - 1].flags & (F.PLACE | F.NOW | F.ALSO | F.ARTICLE | F.LIGHT):
        end -= 1
    return Value(sort, own[start].start, own[end - 1].end, " ".join(word.text for word in own[start:end]))


def _exactly(told: PartialClause, value: Value) -> Value | None:
    """Return the exact value in a gap, None if it is not of the required sort. A list is one value."""
    inside = [word for word in told.own if value.start <= word.start < value.end]
    joint = next((n for n, word in enumerate(inside) if n and word.flags & F.SERIES and _parts_values(value.sort, word)), 0)
    if joint:
        joint = next((n for n in range(1, joint) if inside[n].text == ","), joint)
        if (end := _list_end(value.sort, inside, joint)) > joint:
            return _from_first_to_last(told, value.sort, inside[:end], joint)
    if not inside or inside[0].flags & (F.PERSON | F.ASKS | F.OUGHT | F.POSSESSIVE):
        return None  # 住的这个房子
    if value.sort in _NAMED and any("lodging" in word.entry.sorts for word in inside):
        return None
    near = inside[min(2, len(inside) - 1)].start if value.sort != "clock" else value.end
    for sorts in _EXACT.get(value.sort, ()):
        if exact := next((each for each in told.values if each.sort in sorts and value.start <= each.start <= near), None):
            if value.sort == "clock" and exact.dated:
                continue
            if value.sort in _NAMED and inside[0].cjk and exact.start == value.start:
                # where no spaces are written a name goes on to where the gap ends
                return None if flags_of(inside) & (F.POSSESSIVE | F.IT | F.VERB) else value
            if value.sort in _NAMED and _owns(inside, exact):
                return None
            if value.sort == "place" and _is_a_brand(told.text[exact.start : exact.end]):
                return None
            return Value(value.sort, exact.start, min(exact.end, value.end), exact.text, exact.dated, exact.exact)
    if value.sort in ("time", "amount", "clock") or not _fits(told.text, value.sort, inside):
        return None
    return _listed(value, inside)


def _from_first_to_last(told: PartialClause, sort: str, inside: Sequence[Word], joint: int) -> Value | None:
    """Return the values of a list as one, which is of the sort of its first."""
    first = _exactly(told, _value(sort, inside, 0, joint))
    begins = max(n for n, word in enumerate(inside) if _joins(word)) + 1
    last = _exactly(told, _value(sort, inside, begins, len(inside)))
    if first is None or (last is None and sort in _NAMED):
        return first
    return _through(told, first, last.end if last else inside[-1].end)


def _parts_values(sort: str, word: Word) -> bool:
    """Whether a joining word parts values: 和 is inside many a name, and no word of a closed list has it."""
    return word.sign or not word.cjk or bool(word.flags & F.JOIN) or sort not in FORMS


def _through(told: PartialClause, first: Value, end: int) -> Value:
    """Return a value that goes on to a place in the text, without what trails it."""
    inside = [word for word in told.own if first.start <= word.start < end]
    return _value(first.sort, inside, 0, len(inside))


def _owns(inside: Sequence[Word], name: Value) -> bool:
    """Whether something belongs to who or what is named: Ann of Ann's office."""
    place = next((place for place, word in enumerate(inside) if word.start >= name.end), len(inside))
    return 0 < place < len(inside) - 1 and _possesses(inside, place)


def _possesses(own: Sequence[Word], place: int) -> bool:
    """Whether a word says that what follows belongs to who stands before: Ann's brother, James' brother, 安的弟弟."""
    if own[place].flags & F.POSSESSIVE:
        return True
    before, behind = own[place - 1], own[place + 1 :]
    return own[place].text == "'" and before.text.endswith("s") and before.end == own[place].start and len(behind) > 0


def _listed(value: Value, inside: Sequence[Word]) -> Value:
    """Trim a value after the word of its closed list: golf of `golf on Sundays`."""
    last = next((place for place, word in enumerate(inside) if value.sort in word.entry.sorts), len(inside) - 1)
    while last + 1 < len(inside) and inside[last + 1].inside:
        last += 1
    return value if last + 1 == len(inside) else _value(value.sort, inside, 0, last + 1)


def _fits(text: str, sort: str, inside: Sequence[Word]) -> bool:
    """Whether words are a value of a sort without a form of its own."""
    flags = flags_of(inside)
    if sort in _NAMED:
        return _is_named(text, inside)
    if sort == "called":
        return len(inside) <= MOST_BEFORE and not flags & (F.VERB | F.PERSON | F.OWN | F.ASKS)
    if sort == "kin":
        return bool(flags & F.KIN)
    if sort == "named":
        return any(text[word.start].isupper() and not word.flags & F.COMMON for word in inside[:4]) and not flags & F.EVENT
    if sort == "noun":
        return len(inside) <= MOST_BEFORE and not inside[0].flags & (F.LIGHT | F.NUMBER | F.TIME | F.VERB | F.HEDGE)
    if sort == "any":
        return not inside[0].flags & (F.DENY | F.BE) and not flags & (F.YOU | F.YOUR | F.IT | F.OTHER)
    if sort != "thing":
        listed = next((place for place, word in enumerate(inside) if sort in word.entry.sorts), None)
        return listed is not None and listed < MOST_BEFORE and not flags_of(inside[:listed]) & (F.PLACE | F.PERSON | F.OWN | F.VERB)
    return not inside[0].flags & (F.DENY | F.BE | F.THE | F.LIGHT) and not flags & (F.YOU | F.YOUR | F.IT | F.OTHER)


def _is_arranged(thing: Sequence[Word], verb: Word) -> bool:
    """Whether a clause arranges something: an event, a time attribute, or something rescheduled."""
    named = any("event" in word.entry.sorts or word.entry.has for word in thing)
    return named or bool(_noun(thing) and verb.flags & F.SHIFT and not flags_of(thing) & (F.PERSON | F.VERB))


def _is_a_brand(name: str) -> bool:
    """Whether a name has inner capitals, as no place has: PostgreSQL."""
    return not name.isupper() and any(word[1:] != word[1:].lower() for word in name.split())


def _is_named(text: str, inside: Sequence[Word]) -> bool:
    first = next((word for word in inside if not word.flags & F.ARTICLE), inside[0])
    if first.flags & (F.TIME | F.NUMBER | F.UNIT) or first.text[0].isdigit() or flags_of(inside) & (F.IT | F.YOU | F.YOUR):
        return False
    if not first.cjk:
        capital = any(text[word.start].isupper() and not word.flags & F.COMMON for word in inside)
        small = text == text.lower() and not first.known  # who types no capitals names places without them, too
        return capital or (small and not inside[0].flags & F.ARTICLE)
    if sum(len(word.text) for word in inside) > LONGEST_NAME or flags_of(inside) & (
        F.VERB | F.PERSON | F.OWN | F.DENY | F.POSSESSIVE
    ):
        return False
    if first.flags & F.KIN or (len(inside) == 1 and (len(first.text) == 1 or first.entry.sorts)):
        return False  # my parents' place, home, a doctor
    return not first.flags & F.LIGHT and not (first.known and not first.entry.means)


# ------------------------------------------------------------------ the attribute form


def _attributes(told: PartialClause, lexicon: Lexicon) -> Iterator[Slot]:
    """Yield slots of the attribute form: possessor, noun, copula or verb of change, value: my spot is C03."""
    own = told.own
    for place, word in enumerate(own):
        if not (noun := word.entry.has):
            continue
        sort = lexicon.attributes[noun]
        if holder := _holder(own, place) if sort == "person" else None:
            yield Slot(USER, noun, holder, True, word.text)
        rest = own[place + 1 : place + 1 + TO_THE_VERB + 1]
        verb = _copula(word, rest, told.values)
        if verb is None or place + verb + 2 > len(own) - 1:
            continue
        heading = max((n + 1 for n, each in enumerate(own[:place]) if each.sign), default=0)
        ends = next((n for n, each in enumerate(rest) if not each.inside), len(rest))  # of a noun of several words
        before, between = own[heading:place], rest[ends : max(verb, ends)]
        told_by = between[:-1] if between and between[-1].flags & (F.AUX | F.HAVE) else between  # the limit has gone up
        if any(each.entry.has or each.flags & F.EVENT for each in between) or flags_of([*before, *told_by]) & F.VERB:
            continue
        value = _with_list(told, _given(told, noun, sort, own[place + verb + 2 :]))
        if value is not None and _says_which(told, before, between, sort, beside=verb < 0 or rest[verb].sign):
            whose = (
                told.subject.removesuffix(f"'s {word.text}") if word.flags & F.HOLDER else told.subject
            )  # my manager is Ann: of me
            thing, which = _whose(told, before, between)
            yield Slot(whose, noun, value, True, _noun([*which, word, *rest[:ends]]), holder=thing)


def _with_list(told: PartialClause, value: Value | None) -> Value | None:
    """Return the value of an attribute with those that are joined to it: red and blue."""
    at = next((n for n, word in enumerate(told.own) if value and word.start >= value.end), len(told.own))
    end = _list_end(value.sort, told.own, at) if value else at
    return _through(told, value, told.own[end - 1].end) if value and end > at else value


def _whose(told: PartialClause, before: Sequence[Word], between: Sequence[Word]) -> tuple[str, Sequence[Word]]:
    """Return the holder of an attribute and the words that specify it: the gateway's retry limit."""
    named = told.named if told.named and told.subject.startswith("@") else (0, 0)
    which = [each for each in before if not named[0] <= each.start < named[1]]
    cut = next((place + 1 for place in reversed(range(len(which))) if which[place].flags & F.POSSESSIVE), 0)
    behind = [each for each in between if not named[0] <= each.start < named[1]]
    return _noun(which[:cut]) or _noun(behind), which[cut:]


def _holder(own: Sequence[Word], place: int) -> Value | None:
    """Return who fills a role: Greta of `Greta is my landlady`, 老宋 of 老宋是我房东."""
    if place < 3 or not own[place - 1].flags & (F.MY | F.SPEAKER) or not own[place - 2].flags & F.BE:
        return None
    before = own[: place - 2]
    return None if flags_of(before) & (F.PERSON | F.OWN | F.VERB | F.ARTICLE | F.LIGHT) else _value("person", own, 0, len(before))


def _copula(noun: Word, rest: Sequence[Word], told: Sequence[Value]) -> int | None:
    """Return the place of the verb after a noun, -1 if the value follows directly: 身高180."""
    if rest and noun.cjk and any(each.start == rest[0].start and each.sort in ("amount", "time") for each in told):
        return -1
    verb = next((i for i, each in enumerate(rest) if each.flags & (F.BE | F.CHANGE | F.END) or each.sign), None)
    return None if verb is None or (rest[verb].sign and rest[verb].text != ":") else verb


def _says_which(told: PartialClause, before: Sequence[Word], between: Sequence[Word], sort: str, *, beside: bool) -> bool:
    """
    Whether a noun is specified: my spot, the retry limit, 年会预算. A bare noun is anybody's.

    beside: the value stands beside the noun, without a verb, or behind a colon
    """
    flags = flags_of(before)
    if len(before) > MOST_BEFORE + 1:
        return False
    if flags & (F.OWN | F.KIN | F.SPEAKER) or (told.elided and not before):
        return True
    which = any(not word.flags & _BINDS for word in [*before, *between])
    named = any(each.sort == "name" and before[0].start <= each.start < before[-1].end for each in told.values if before)
    of_it = sort != "thing" or named or bool(between or flags_of(before) & F.POSSESSIVE)  # the theme of the editor, Ann's theme
    return which and of_it and not beside


def _given(told: PartialClause, noun: str, sort: str, after: Sequence[Word]) -> Value | None:
    """Return the value after the verb: of the noun's sort, or for things whatever looks like a value."""
    start, near = after[0].start, after[min(3, len(after) - 1)].start
    for sorts in _EXACT.get(sort, (("amount", "name"),)):
        if exact := next((each for each in told.values if start <= each.start <= near and each.sort in sorts), None):
            return exact if sort in _MEASURES else _uncut(told.text, exact, after, trails=sort not in _EXACT)
    if sort in ("time", "amount", "contact") or (sort in _NAMED and not after[0].cjk):
        return None
    inside: list[Word] = []
    for each in after[after[0].text == "/" :]:  # of a path
        if (each.sign and each.text != "/") or (inside and each.flags & _ENDS_VALUE) or len(inside) >= MOST_WORDS:
            break
        if inside or not each.flags & (F.ARTICLE | F.PLACE | F.NOW | F.CHANGE):
            inside.append(each)
    while inside and inside[-1].flags & F.LIGHT and not inside[-1].flags & F.POSSESSIVE:
        inside.pop()
    return _value("thing", inside, 0, len(inside)) if inside and _looks_like_a_value(told.text, noun, sort, inside) else None


def _uncut(text: str, exact: Value, after: Sequence[Word], *, trails: bool) -> Value:
    """
    Return a name or number with what belongs to it: 沪A12345, O型, iPhone 15.

    trails: a word or two behind a name belong to it, too: O positive
    """
    first = next(place for place, word in enumerate(after) if word.start >= exact.start)
    end = next((place for place, word in enumerate(after) if word.start >= exact.end), len(after))
    while first and not (after[first - 1].known or after[first - 1].sign) and _is_a_part(text, *after[first - 1 : first + 1]):
        first -= 1
    while end < len(after) and _is_plain(after[end]) and after[end].start == after[end - 1].end:
        end += 1
    last = end
    while trails and exact.sort == "name" and last < len(after) and _is_plain(after[last]):
        last += 1
    end = last if last - end <= MOST_TRAILING else end
    return exact if (after[first].start, after[end - 1].end) == (exact.start, exact.end) else _value(exact.sort, after, first, end)


def _is_plain(word: Word) -> bool:
    """Whether a word has no class that says what it does in a sentence; units may stand behind a letter: B座3层."""
    return not (word.sign or word.inside) and (not word.flags or bool(word.flags & F.UNIT))


def _is_a_part(text: str, before: Word, word: Word) -> bool:
    """Whether an unknown word before a name or number begins it: nothing stands between them, or it has a capital inside."""
    return before.end == word.start or text[before.start : before.end] != before.text


def _looks_like_a_value(text: str, noun: str, sort: str, inside: Sequence[Word]) -> bool:
    """Whether words name a value rather than describe: a capital, a digit, a word of a closed list."""
    if len(inside) > MOST_IN_A_VALUE or flags_of(inside) & (F.LIGHT | F.DENY | F.PERSON | F.ASKS | F.VERB):
        return False
    if inside[0].cjk and (sort in _NAMED or (len(inside) == 1 and not inside[0].known)):
        return sum(len(word.text) for word in inside) <= MOST_CHARS
    if len(inside) == 1 and not inside[0].known and not inside[0].text.isalpha():
        return True  # hunter2, correct-horse
    if any("colour" in word.entry.sorts for word in inside) and noun not in lists.words("slots.coloured"):
        return False  # my bike is blue
    return any(text[word.start].isupper() or word.text[0].isdigit() or word.entry.sorts or word.entry.means for word in inside)


def _noun(words: Sequence[Word]) -> str:
    """Return the noun phrase without possessors and function words."""
    told: list[Word] = []
    kept = False
    last = max((place + 1 for place, word in enumerate(words) if word.sign or word.flags & (F.OWN | F.REMEMBER)), default=0)
    for word in words[last:]:
        kept = kept if word.inside else not (word.sign or word.flags & _NO_NOUN)
        told += [word] if kept else []
    return "".join(word.text if word.cjk else f" {word.text} " for word in told).replace("  ", " ").strip()
