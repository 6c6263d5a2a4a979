"""
Read a text into clauses, each with its subject, mood, tense, values and slots, in one pass.

Everything is found over the words of a sentence, left to right, by their classes in the lexicon; no language is known
here. A clause begins behind a comma, a colon or a joining word where something follows that can stand alone. A clause
without a subject of its own has that of the clause before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from yiku.rules.lexicon import Lexicon, built_in
from yiku.rules.lexicon import flags as F
from yiku.rules.statements import slots
from yiku.rules.statements.clause import AGENT, KEPT, NOWHERE, USER, Clause, Mood, Tense
from yiku.rules.statements.cut import parts_of, without_asides
from yiku.rules.statements.moods import (
    COLONS,
    cue_of,
    denies,
    is_apart,
    is_told_the_agent,
    material_of,
    mood_of,
    order_in,
    tells_when,
    tense_of,
    to_remember_from,
)
from yiku.rules.statements.subjects import Discourse, is_pronoun, subject_of, whom_it_follows
from yiku.rules.statements.values import is_number, values
from yiku.rules.statements.voices import led, sayings
from yiku.rules.text.blocks import Kind, blocks
from yiku.rules.text.folding import folded
from yiku.rules.text.sentences import MARKS, Sentence, sentences
from yiku.rules.text.words import Word, content, first_with, flags_of, words

_OF_THE_LEAD = F.CORRECT | F.SLIP | F.RETRACT | F.JOIN | F.ALSO  # what a word that leads to a clause says of it
CLOSES = dict(zip(")）]】」』”", "(（[【「『“", strict=True))
_TELLS_NOT = F.CORRECT | F.RETRACT | F.JOKE | F.EMPTY | F.LEAD | F.REMEMBER | F.HEDGE
_LEADS_ON = F.REMEMBER | F.STANDING | F.REQUEST | F.SUPPOSE  # a heading has none of these


@lru_cache(maxsize=2_000)
def read(text: str) -> tuple[Clause, ...]:
    """Return the clauses of a text in the built-in languages. Cached; an erasure clears the cache."""
    return clauses(text, built_in())


def clauses(text: str, lexicon: Lexicon) -> tuple[Clause, ...]:
    """Return the clauses of the prose of a text, in order."""
    small, discourse = folded(text), Discourse(owner=lexicon.lists.get("records.owner", ()))
    discourse.quoted = sayings(small, 0, len(small))
    found: list[Clause] = []
    for block in blocks(text):
        if block.kind is Kind.PROSE:
            for sentence in sentences(text[block.start : block.end], lexicon):
                start, stop = sentence.start + block.start, sentence.stop + block.start
                found += _clauses(text, words(small, start, stop, lexicon), sentence, lexicon, discourse)
    return tuple(found)


class _Part(NamedTuple):
    """
    The words of one clause.

    lead:    what joins it to what stands before
    own:     its own words
    signed:  those with the punctuation between them
    cue:     behind a correction, what changes something corrects too
    """

    lead: Sequence[Word]
    own: Sequence[Word]
    signed: Sequence[Word]
    flags: int
    cue: str


class _Carried(NamedTuple):
    """What the clauses of a sentence so far say of those behind them: reported words, a supposition, a story of the past."""

    reported: bool = False
    supposed: bool = False
    past: bool = False


def _clauses(text: str, found: Sequence[Word], sentence: Sentence, lexicon: Lexicon, discourse: Discourse) -> list[Clause]:
    """Return the clauses of a sentence; if it asks, the last of them does."""
    found = without_asides(found)
    if found and found[0].start >= discourse.led[1]:
        discourse.led = led(text, found) or discourse.led
    signs = {place for start, end in discourse.quoted for place in (start, end - 1)}
    parts = [part for voice in _voices(found, discourse, text) for part in parts_of(voice, signs)]
    jest, carried = _last_in_jest(found, parts), _Carried()
    result: list[Clause] = []
    for place, words_and_signs in enumerate(parts):
        part = _part(words_and_signs, discourse)
        lead, own, flags, cue = part.lead, part.own, part.flags, part.cue
        verb = first_with(own, F.VERB)
        order = None if sentence.asks and not flags & F.REQUESTED else _order(lead, own, flags, result)
        subject, named = (AGENT, None) if order is not None else subject_of(text, own, verb, discourse, bool(result))
        if named is None and place and subject != AGENT and flags_of(lead) & F.WHO:
            subject = whom_it_follows(text, parts[place - 1], discourse)  # my grandma, who turned 75
        leads_on = text[own[-1].end : own[-1].end + 1] in COLONS
        mood = mood_of(
            own,
            flags,
            subject,
            sentence.asks and place == len(parts) - 1,
            [*discourse.quoted, discourse.led],
            orders=order is not None and not flags_of(own[:order]) & F.REPORT,
        )
        others = bool((named is not None and subject != USER) or flags & F.KIN)
        reports = bool(flags & F.REPORT and (others or leads_on))
        mood, carried = _within(carried, part, mood, in_jest=place <= jest, reports=reports, named=named is not None)
        if mood is Mood.ASSERTED and tells_when(own[-1]):
            mood = Mood.SUPPOSED  # 搬家后, and then what is so
        told = values(text, part.signed)
        own_self = subject == USER or "'s " in subject
        elided = named is None and own_self and any(before.explicit and before.subject == subject for before in result)
        telling = [word for word in own if not (word.inside or word.flags & _TELLS_NOT)]
        about = _about([*lead, *own[:verb]])
        result.append(
            Clause(
                start=own[0].start,
                end=_closed(text, own[0].start, own[-1].end),
                sentence=(found[0].start, found[-1].end),
                flags=flags & KEPT,
                subject=subject,
                called=discourse.called(subject),
                named=named or NOWHERE,
                meant=_meant(own, subject, named, discourse, bool(result)),
                mood=mood,
                tense=Tense.PAST if carried.past else tense_of(flags, cue, any(value.sort == "time" for value in told)),
                denied=bool(flags & F.DENY) and denies(own),
                hedged=bool(flags & F.HEDGE) and not discourse.corrects,
                cue=cue,
                values=told,
                slots=tuple(slots.filled(slots.PartialClause(text, part.signed, subject, named, told, elided), lexicon)),
                content=content(own),
                about=about | result[-1].about if result and not named else about,
                beside=content(word for word in telling if not any(v.start <= word.start < v.end for v in told)),
                bare=not telling,
                rule=mood in (Mood.ASSERTED, Mood.REQUESTED) and (order is not None or is_told_the_agent(own, subject)),
                tells=to_remember_from(own) if flags & F.REMEMBER and not _plans(result) else 0,
                material=material_of(flags, mood, follows_colon=leads_on),
            )
        )
    return result


def _part(signed: Sequence[Word], discourse: Discourse) -> _Part:
    """Divide the words of a clause into what leads to it and its own, and settle what their classes leave open."""
    own = [word for word in signed if not word.sign]
    first = _begins(own, signed)
    refused = first + 1 < len(own) and bool(own[first].flags & F.DENY) and is_apart(own[first], own[first + 1])  # no, …
    lead, own = own[: first + refused], own[first + refused :]
    _settle(own)
    flags = flags_of(own) | flags_of(lead) & _OF_THE_LEAD
    flags = flags if not flags & F.JOKE or _is_jest(own) else flags & ~F.JOKE
    cue = cue_of(flags)
    cue = "corrects" if refused and cue != "retracts" else cue
    discourse.corrects = discourse.corrects or cue == "corrects"
    cue = "corrects" if discourse.corrects and cue in ("", "changes") else cue
    return _Part(lead, own, signed[signed.index(own[0]) :], flags, cue)


def _within(before: _Carried, part: _Part, mood: Mood, *, in_jest: bool, reports: bool, named: bool) -> tuple[Mood, _Carried]:
    """
    Return the mood of a clause in its sentence, where a joke, a report or a supposition reaches over it, and what it carries on.

    reports: what follows it is what others said
    named:   it names its subject; one that does not goes on with a story of the past
    """
    if mood is Mood.ASSERTED:
        if in_jest:
            mood = Mood.JOKED
        elif before.reported:
            mood = Mood.QUOTED
        elif before.supposed or flags_of(part.lead) & F.WHEN:  # when I live in Oslo
            mood = Mood.SUPPOSED
    past = (bool(part.flags & F.ONCE) or (before.past and not named)) and not part.flags & (F.NOW | F.STILL)
    return mood, _Carried(before.reported or reports, before.supposed or mood is Mood.SUPPOSED, past)


def _voices(found: Sequence[Word], discourse: Discourse, text: str) -> Iterator[Sequence[Word]]:
    """Yield the words of a sentence by voice: what leads to others' words, a quotation that ends as a sentence does, what follows it."""
    signs = {place for start, end in discourse.quoted if text[end - 2 : end - 1] in MARKS for place in (start, end - 1)}
    begun = 0
    for place, word in enumerate(found):
        if word.sign and (word.start in signs or (word.start == discourse.led[0] and word.text == ":")):
            if not all(one.sign for one in found[begun:place]):
                yield found[begun:place]
            begun = place + 1
    if begun == 0 or not all(one.sign for one in found[begun:]):
        yield found[begun:]


def _is_jest(own: Sequence[Word]) -> bool:
    """Whether words say that something was a joke: kidding, not `not kidding`."""
    return any(word.flags & F.JOKE and not flags_of(own[max(0, place - 1) : place]) & F.DENY for place, word in enumerate(own))


def _settle(own: Sequence[Word]) -> None:
    """
    Settle the classes of words that have several: 's is a possessive where the clause has another verb for its noun.

    Behind a verb in Chinese the word for once means before: 开会之前 is before a meeting.
    """
    for place, word in enumerate(own):
        if place and word.cjk and word.flags & F.ONCE and own[place - 1].flags & F.VERB:
            word.flags &= ~F.ONCE
        if word.flags & F.POSSESSIVE and word.flags & F.BE and place + 1 < len(own):
            behind = own[place + 1 :]
            verb = next((n for n, each in enumerate(behind) if each.flags & (F.VERB | F.AUX)), 0)
            if verb and not flags_of(behind[:verb]) & (F.ARTICLE | F.PLACE | F.DENY | F.PERSON | F.OWN):
                word.flags = F.POSSESSIVE


def _last_in_jest(found: Sequence[Word], parts: Sequence[Sequence[Word]]) -> int:
    """Return the last part of a sentence that says it was a joke, -1 if none does."""
    if not flags_of(found) & F.JOKE:
        return -1
    return max((place for place, part in enumerate(parts) if _is_jest(part)), default=-1)


def _order(lead: Sequence[Word], own: Sequence[Word], flags: int, before: Sequence[Clause]) -> int | None:
    """Return the place of the verb of a standing order; None where speakers go on about themselves."""
    order = order_in(own) if flags & F.STANDING and not flags & F.CAN else None
    if order is None or flags & (F.PLAN | F.ASKS) or (flags & F.WILL and not flags & F.YOU):
        return None
    goes_on = bool(before) and before[-1].explicit and before[-1].mood is Mood.ASSERTED and not flags_of([*lead, own[0]]) & F.BUT
    if _is_own_story(own, before) and not flags & (F.YOU | F.DENY | F.OUGHT):
        return None
    if not goes_on:
        return order
    if flags & F.OUGHT and not flags & (F.YOU | F.DENY):
        return None
    return order if flags_of([*lead, *own[:order]]) & F.FROM_NOW else None


def _is_own_story(own: Sequence[Word], before: Sequence[Clause]) -> bool:
    """Whether a Chinese clause continues the speaker's own story: 我担心…，以后写散文时…"""
    of_speaker = own[0].cjk and any(clause.subject == USER and clause.explicit for clause in before)
    return of_speaker and (not own[0].flags & F.STANDING or tells_when(own[-1]))


def _meant(own: Sequence[Word], subject: str, named: tuple[int, int] | None, discourse: Discourse, follows: bool) -> str:
    """Return the words for a subject that is a pronoun or omitted."""
    if named is None:
        return discourse.words.get(subject, "") if follows else ""
    return discourse.words.get(subject, "") if is_pronoun(own, named) else ""


def _plans(before: Sequence[Clause]) -> bool:
    """Whether the speaker states a plan earlier in the sentence; then nothing after it is a request."""
    return any(clause.explicit and clause.subject == USER and clause.tense is Tense.PLANNED for clause in before)


def _closed(text: str, start: int, end: int) -> int:
    """Extend a clause over the closing brackets and quotes that were opened in it."""
    while end < len(text) and text[end] in CLOSES and text.count(CLOSES[text[end]], start, end) > text.count(text[end], start, end):
        end += 1
    return end


def _begins(own: Sequence[Word], part: Sequence[Word]) -> int:
    """Return the first word of the clause proper, after headings, conjunctions and lead-ins."""
    behind = 0
    if colons := [word.end for word in part if word.text == ":" and word.start > own[0].start]:
        verb = first_with(own, F.VERB | _LEADS_ON)
        until = own[verb].start if verb < len(own) else own[-1].end
        heading = max((end for end in colons if end <= until), default=0)
        behind = next((place for place, word in enumerate(own) if word.start >= heading), 0)
    for place in range(behind, len(own)):
        if not (own[place].inside or own[place].flags & (F.JOIN | F.CORRECT | F.LEAD)):
            return place
    return behind


def _about(before: Sequence[Word]) -> frozenset[str]:
    """Return the content words before the verb, without amounts."""
    return content(word for word in before if not word.flags & (F.NUMBER | F.UNIT) and not is_number(word))
