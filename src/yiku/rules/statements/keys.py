"""
Normalize subjects, predicates and slot keys, equal in English and Chinese; cardinality and denial of predicates.

The key of a slot says what cannot both hold. A known predicate has its name of the lexicon in it; of any other its words
count, in any order, without the owner: "the retry limit of the gateway", "the gateway's retry limit" and 网关的 retry
limit name one thing. A denial has the key of what it denies. With many values the object is part of the key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from yiku.rules.lexicon import Predicate, built_in, lists
from yiku.rules.lexicon.flags import ARTICLE, AUX, DENY, END, HAVE, HOLDER, LIGHT, MY, NO_LONGER, POSSESSIVE, SPEAKER, VERB
from yiku.rules.text.analyze import fold, tokens
from yiku.rules.text.sentences import MARKS
from yiku.rules.text.words import Word, flags_of, words
from yiku.rules.values import canonical
from yiku.types import Cardinality, Slot

USER = "user"  # the canonical subject of the scope's owner
EDGES = f" \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u2028\u2029\u202f\u205f\u3000\"'“”‘’「」『』《》（）()[],，:：~～{MARKS}"
LONGEST_NAME = 300  # characters of a subject or predicate that is looked into
_OF = "'s "


@lru_cache(maxsize=512)
def _words(text: str) -> tuple[Word, ...]:
    return tuple(word for word in words(text, 0, min(len(text), LONGEST_NAME), built_in()) if not word.sign)


def forget() -> None:
    """Clear the cache of slot words."""
    _words.cache_clear()


# ------------------------------------------------------------------ subjects


def subject_of(text: str, speaker: str | None = None, names: Sequence[str] = ()) -> str:
    """Return the canonical subject: USER for the owner, `x's y` for what belongs to somebody, else folded."""
    folded = fold(text).strip(EDGES)
    owner = {fold(name) for name in names}
    if folded in owner or folded in lists.words("slots.owner"):
        return USER
    found = [word for word in _words(folded) if not word.flags & POSSESSIVE]
    if all(word.flags & (SPEAKER | MY) for word in found) and (found or not folded):
        return fold(speaker) if speaker and owner and fold(speaker) not in owner else USER
    if found and found[0].flags & (SPEAKER | MY) and found[0].start == 0:
        rest = folded[found[1].start :]
        of_a_thing = next(_owned(rest), None) is not None and not (found[1].entry.kin or found[1].flags & HOLDER)
        if of_a_thing:  # "our production's database" is that of production
            return subject_of(rest, speaker, names)
        return f"{subject_of('', speaker, names)}{_OF}{_relative(rest)}"
    if (owned := next(_owned(folded), None)) is not None:
        return f"{subject_of(owned[0], speaker, names)}{_OF}{_relative(owned[1])}"
    return _relative(folded)


def statement_subject(text: str, speaker: str | None = None, names: Sequence[str] = ()) -> str:
    """Return the canonical subject of a statement, where a bare kinship term is one's own: "mum lives in Leith"."""
    subject = subject_of(text, speaker, names)
    return f"{subject_of('', speaker, names)}{_OF}{subject}" if subject in kin() else subject


def _owned(folded: str) -> Iterator[tuple[str, str]]:
    """Yield owner and owned around each possessive."""
    for word in _words(folded):
        whose, what = folded[: word.start], folded[word.end :].strip()
        if word.flags & POSSESSIVE and whose and what and (word.cjk or folded[word.end] == " "):
            yield whose, what


def _relative(folded: str) -> str:
    """Return the canonical kinship term, other words without their article."""
    found = _words(folded)
    kept = found[1:] if len(found) > 1 and found[0].flags & ARTICLE else found
    if len(kept) == 1 and kept[0].entry.kin:
        return kept[0].entry.kin
    return folded[kept[0].start :] if kept else folded


@cache
def kin() -> frozenset[str]:
    """Return the canonical kinship terms."""
    return frozenset(entry.kin for entry in built_in().words.values() if entry.kin)


# ------------------------------------------------------------------ predicates


@cache
def _known() -> dict[str, Predicate]:
    """Predicates of the lexicon by all their names."""
    predicates = built_in().predicates.values()
    return {name: predicate for predicate in predicates for name in (*predicate.names, predicate.name)}


def known(predicate: str) -> Predicate | None:
    """Return the lexicon predicate of this name, if any."""
    return _known().get(predicate)


def predicate_name(text: str) -> str:
    """Return the stored name of a predicate: that of the lexicon, else its folded words."""
    folded = " ".join(fold(text).replace("_", " ").split()).strip(EDGES)
    found = _words(folded)
    name = folded[found[1].start :] if len(found) > 1 and found[0].flags & ARTICLE else folded
    meant = known(name)
    return meant.name if meant else attribute(name) or name


def family(predicate: str) -> str:
    """Return the family of a predicate and its denial: the lexicon predicate, else the stem of its verb."""
    if meant := known(predicate):
        return meant.opposite or meant.name
    affirmed = [word for word in _words(predicate) if not (word.flags & (DENY | NO_LONGER | END | AUX) or word.inside)]
    if all(word.flags & HAVE for word in affirmed):  # 没有; has no
        return _known()["have"].name
    if meant := known(_said(affirmed)):
        return meant.opposite or meant.name
    return " ".join(word.entry.means[0] if word.entry.means else name for word in affirmed for name in _names([word]))


def _said(found: Sequence[Word]) -> str:
    return "".join(word.text if word.cjk else f" {word.text}" for word in found).strip()


def denies(predicate: str) -> bool:
    """Whether a predicate denies what its family affirms; "does not hate" denies a denial."""
    if meant := known(predicate):
        return bool(meant.opposite)
    found = _words(predicate)
    times = sum(
        1
        for place, word in enumerate(found)
        if word.flags & (DENY | END) and (place == 0 or found[place - 1].flags & AUX or flags_of(found[place + 1 :][:1]) & VERB)
    )
    said = known(_said([word for word in found if not (word.flags & (DENY | AUX) or word.inside)]))
    return bool(times % 2) is not bool(said and said.opposite)


def attribute(name: str) -> str:
    """Return the canonical name of an attribute, or empty: "line manager" and 直属主管 are `manager`."""
    found, loose = _words(name), lists.words("slots.loose")
    telling = [word for word in found if not (word.text in loose or word.flags & (ARTICLE | LIGHT) or word.inside)]
    return _has(telling[0]) if len(telling) == 1 else ""


def tail(text: str) -> str:
    """Return the attribute that a name ends in: `limit` of "retry limit", `budget` of 年会预算."""
    last = next((word for word in reversed(_words(text)) if not word.inside), None)
    return _has(last) if last else ""


def _has(word: Word) -> str:
    return word.entry.has.replace("_", " ")


def holds_one(predicate: str) -> bool:
    """Whether a predicate outside the lexicon is an attribute of which a thing has one."""
    return bool(attribute(predicate) or tail(predicate)) or predicate.startswith(tuple(lists.words("slots.one")))


def cardinality_of(predicate: str, object_: str) -> Cardinality:
    """Return the cardinality: by the lexicon, else single for attributes, numbers and dates, else unknown."""
    if meant := known(predicate):
        return Cardinality.SINGLE if meant.one else Cardinality.MULTI
    return Cardinality.SINGLE if holds_one(predicate) or canonical.sort_of(object_) else Cardinality.UNKNOWN


# ------------------------------------------------------------------ keys


def topic(subject: str, predicate: str) -> str:
    """Return the topic of a slot outside the lexicon: its canonical words, sorted, without the owner."""
    meant = attribute(predicate)
    found = [*_names(_words(subject)), *([meant] if meant else _names(_words(predicate)))]
    telling = {each for name in found for each in name.split()} - {USER} - lists.words("slots.groups")
    return " ".join([*sorted(telling or set(found)), *_again(subject, predicate)])


def _names(found: Sequence[Word]) -> list[str]:
    """Return the canonical names of content words: lexicon name, stem, or as written."""
    short = _short()
    telling = [word for word in found if not (word.inside or word.flags & (POSSESSIVE | ARTICLE | MY | SPEAKER))]
    names = []
    for word in telling:
        known_as = _has(word) or word.entry.kin
        names += [known_as] if known_as else [word.text] if word.cjk else tokens(short.get(word.text, word.text)).words
    return names


@cache
def _short() -> dict[str, str]:
    return dict(line.split(" ") for line in lists.words("slots.short"))


def _again(subject: str, predicate: str) -> list[str]:
    """Return the relations that occur twice in a subject: "my boss's boss", 我师父的师父."""
    links = [attribute(link) or link for link in (*subject.split(_OF), predicate)]
    return [f"{name}*{times}" for name, times in sorted(Counter(links).items()) if times > 1]


def finished(subject: str, predicate: str, object_: str, cardinality: Cardinality, *, told: bool = False) -> Slot:
    """
    Return a slot with its key.

    told: its cardinality was given by the caller, so that a number is a number whatever it counts
    """
    own = subject.removeprefix(f"{USER}{_OF}")
    whom = subject if own.partition(_OF)[0] in kin() else own  # 年糕 is 我家年糕
    whose, _, thing = subject.rpartition(_OF)
    if cardinality is not Cardinality.SINGLE:
        key = f"{whom}|{family(predicate)}|{canonical.thing(object_)}"
    elif predicate == "name" and built_in().attributes.get(attribute(thing).replace(" ", "_")) == "person":
        return finished(whose, attribute(thing), object_, cardinality)._replace(
            subject=subject, predicate=predicate
        )  # my boss is Ann
    elif known(predicate):
        key = f"{whom}|{family(predicate)}"
    else:
        key = topic(subject, predicate)
        sort = "" if told or holds_one(predicate) else canonical.sort_of(object_)
        key = f"{key}|{sort}" if sort and sort != "number" else key
    return Slot(subject, predicate, object_, cardinality, key)
