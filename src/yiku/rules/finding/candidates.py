"""
Candidate slots of a question: each subject that it names with each predicate that it hints at.

A subject is the owner by `I` or 我, a run of words that may be a name, or what belongs to somebody. An attribute is
asked for under all its names: `Who is my boss?` finds what was said of 老板. The store knows which of these slots exist.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache

from yiku.rules.lexicon import built_in
from yiku.rules.lexicon import flags as F
from yiku.rules.statements import keys, slots
from yiku.rules.statements.clause import USER
from yiku.rules.statements.question import names_of
from yiku.rules.text.analyze import fold
from yiku.rules.text.sentences import is_wide
from yiku.rules.text.words import Word, flags_of

LONGEST_NAME_WORDS = 4
LONGEST_NAME_UNSPACED = 8  # words where no spaces are written, characters of what is no known word
ARRANGED = ("date", "time")  # the predicates of what is arranged for a time
Run = tuple[str, bool]  # some words as they are written, and whether they may name a subject that is called otherwise
_SIGN = -1
_OWNS = F.OWN | F.SPEAKER | F.POSSESSIVE


def runs(folded: str, found: Sequence[Word]) -> Iterator[Run]:
    """
    Yield every run of words without punctuation; unknown Chinese runs are split into characters.

    A run that says whose something is may name a subject that is called otherwise; so may one word without spaces.
    """
    units: list[tuple[int, int, int]] = []
    for word in found:
        if word.cjk and not word.known:
            units += [(place, place + 1, word.flags) for place in range(word.start, word.end)]
        else:
            units.append((word.start, word.end, _SIGN if word.sign else word.flags))
    for first, (start, _, bits) in enumerate(units):
        owns = bits & _OWNS
        for begins, end, more in units[first : first + LONGEST_NAME_UNSPACED]:
            run = folded[start:end]
            if more == _SIGN or run.count(" ") >= LONGEST_NAME_WORDS:
                break
            owns |= more & F.POSSESSIVE
            yield run, bool(owns) or (begins == start and is_wide(run[0]))


def subjects(folded: str, found: Sequence[Word], runs: Iterable[Run], names: Sequence[str]) -> set[str]:
    """Return the canonical subject of each run. names: what the owner is called."""
    owner = {fold(name) for name in names}
    named = {keys.subject_of(run, names=names) if close or run in owner else run for run, close in runs}
    named |= {f"{USER}'s {word.entry.kin}" for place, word in enumerate(found) if word.entry.kin and _is_own(found[:place])}
    is_meant = bool(flags_of(found) & (F.SPEAKER | F.MY)) or any(name in folded for name in owner)
    return named | {USER} if is_meant else named - {USER}


def _is_own(before: Sequence[Word]) -> bool:
    """Whether a kinship term after these words is the owner's: my mum, or mum alone, not Tom's mum."""
    if not before or before[-1].sign:
        return True
    bits = before[-1].flags
    of_another = F.ARTICLE | F.POSSESSIVE | F.KIN | F.OWN & ~F.MY
    return bool(bits & (F.LIGHT | F.VERB | F.PLACE | F.JOIN | F.MY)) and not bits & of_another


def predicates(folded: str, asking: Sequence[Word]) -> set[str]:
    """
    Return the predicates that are asked for unambiguously, with their denials: do I like, what am I allergic to.

    One with many values is asked for by its verb, too, and the attributes that are named where the only verb is to be.
    asking: the words of the sentences that ask
    """
    lexicon = built_in()
    verbs = (word.text for word in asking if word.flags & F.MANY and not word.flags & F.HAVE)
    said = {template.predicate for verb in verbs for template in lexicon.templates.get(verb, ())}
    wanted = slots.wanted(asking, folded, lexicon) | {name for name in said if not lexicon.predicates[name].one}
    found = {name for name, affirmed in _families() if name in wanted or affirmed in wanted}
    helping = F.BE | F.AUX | F.WAS | F.HAVE
    acts = any(word.flags & F.VERB and not word.flags & helping for word in asking)
    return found if acts else found | other_names(asking, ())


@cache
def _families() -> tuple[tuple[str, str], ...]:
    """Each predicate of the lexicon with its family: the predicate it denies, or itself."""
    return tuple((name, keys.family(name)) for name in built_in().predicates)


def other_names(found: Sequence[Word], hinted: Collection[str]) -> set[str]:
    """Return the named attributes under all their names, and other names of the hinted predicates."""
    nouns = {word.entry.has for word in found if word.entry.has} | {*hinted}
    names = {name for noun in nouns for name in names_of(noun)}
    arranged = ARRANGED if slots.SCHEDULED in hinted else ()
    return {*hinted, *arranged, *names, *(keys.predicate_name(name) for name in names)}


def relatives(subjects: Iterable[str]) -> set[str]:
    """Return the subjects that are relatives: `my sister`, even if nothing is known of her."""
    return {subject for subject in subjects if "'s " in subject and subject.rpartition("'s ")[2] in _of_somebody()}


@cache
def _of_somebody() -> frozenset[str]:
    """Names of relations between people."""
    return frozenset(entry.kin or word for word, entry in built_in().words.items() if entry.flags & (F.KIN | F.HOLDER))
