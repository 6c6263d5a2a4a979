"""
A text read once: its sentences cut into clauses, and of each who it speaks of, how it is said, of when, and what it states.

Everything is found over the words of a sentence, left to right, by their classes in the lexicon; no language is known
here. A clause begins behind a comma, a colon or a joining word where something follows that can stand alone. A clause
without a subject of its own has that of the clause before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from yiku.rules.lexicon import Lexicon, built_in
from yiku.rules.lexicon.flags import (
    ALSO,
    BUT,
    CAN,
    CORRECT,
    DENY,
    EMPTY,
    EVENT,
    EVERY,
    FOR_THIS,
    FROM_NOW,
    HEDGE,
    IT,
    JOIN,
    JOKE,
    KIN,
    LEAD,
    MANY,
    NUMBER,
    OTHER,
    OUGHT,
    REMEMBER,
    REPORT,
    REQUEST,
    RETRACT,
    SLIP,
    STANDING,
    SUPPOSE,
    TO_DO,
    UNIT,
    VERB,
    YOU,
    YOUR,
)
from yiku.rules.statements import slots
from yiku.rules.statements.clause import AGENT, USER, Clause, Mood
from yiku.rules.statements.content import content
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
    tense_of,
    to_remember_from,
)
from yiku.rules.statements.subjects import Spoken, is_pronoun, subject_of
from yiku.rules.statements.values import is_number, values
from yiku.rules.text.blocks import Kind, blocks
from yiku.rules.text.folding import folded
from yiku.rules.text.sentences import Sentence, is_wide, sentences
from yiku.rules.text.words import Word, flags_of, words

_OF_THE_LEAD = CORRECT | SLIP | RETRACT | JOIN | ALSO  # what a word that leads to a clause says of it
_CLOSES = dict(zip(")）]】」』”", "(（[【「『“", strict=True))
_QUOTATION = re.compile(r'"[^"\n]{1,1500}"|「[^」\n]{1,1500}」|『[^』\n]{1,1500}』')
_LEADS_ON = REMEMBER | STANDING | REQUEST | SUPPOSE  # a heading has none of these
LONG_QUOTE = 16  # characters; a shorter one is a name or a title, and the speaker's own


@lru_cache(maxsize=2_000)
def read(text: str) -> tuple[Clause, ...]:
    """The clauses of a text in the built-in languages. The last readings are kept; an erasure empties them."""
    return clauses(text, built_in())


def clauses(text: str, lexicon: Lexicon) -> tuple[Clause, ...]:
    """The clauses of a text, in order; nothing of what is no prose."""
    small, spoken = folded(text), Spoken()
    found: list[Clause] = []
    for block in blocks(text):
        if block.kind is Kind.PROSE:
            spoken.quoted = [match.span() for match in _QUOTATION.finditer(small, block.start, block.end) if _is_saying(match[0])]
            for sentence in sentences(text[block.start : block.end], lexicon):
                start, stop = sentence.start + block.start, sentence.stop + block.start
                found += _clauses(text, words(small, start, stop, lexicon), sentence, lexicon, spoken)
    return tuple(found)


def _is_saying(quotation: str) -> bool:
    """Whether a quotation is what somebody says, and no name or title: longer, or with a sign in it."""
    weight = sum(2 if is_wide(character) else 1 for character in quotation) - 2
    return weight >= LONG_QUOTE or any(mark in quotation[1:-1].strip(", ") for mark in ",.!?。")


def _clauses(text: str, found: Sequence[Word], sentence: Sentence, lexicon: Lexicon, spoken: Spoken) -> list[Clause]:
    """The clauses of a sentence; the last of them asks where the sentence does."""
    found = without_asides(found)
    parts = parts_of(found, {start for start, _ in spoken.quoted} | {end - 1 for _, end in spoken.quoted})
    jest = max((place for place, part in enumerate(parts) if flags_of(part) & JOKE and not flags_of(part) & DENY), default=-1)
    reported = supposed = False
    result: list[Clause] = []
    for place, words_and_signs in enumerate(parts):
        own = [word for word in words_and_signs if not word.sign]
        first = _begins(own, words_and_signs)
        refused = first + 1 < len(own) and bool(own[first].flags & DENY) and is_apart(own[first], own[first + 1])  # no, …
        lead, own = own[: first + refused], own[first + refused :]
        part = [word for word in words_and_signs if word.start >= own[0].start]
        flags = flags_of(own) | flags_of(lead) & _OF_THE_LEAD
        verb = next((i for i, word in enumerate(own) if word.flags & VERB), len(own))
        order = _order(lead, own, flags, result)
        subject, named = (AGENT, None) if order is not None else subject_of(text, own, verb, spoken, bool(result))
        mood = mood_of(own, flags, subject, sentence.asks and place == len(parts) - 1, spoken.quoted)
        if mood is Mood.ASSERTED and (reported or supposed or place <= jest):
            mood = Mood.JOKED if place <= jest else Mood.QUOTED if reported else Mood.SUPPOSED
        others = (named is not None and subject != USER) or bool(flags & KIN)
        reported = reported or bool(
            flags & REPORT and (others or _is_followed_by_colon(text, own))
        )  # what follows is what they said
        supposed = supposed or mood is Mood.SUPPOSED  # what follows a supposition hangs on it
        told = values(text, part)
        own_self = subject == USER or "'s " in subject
        elided = named is None and own_self and any(before.explicit and before.subject == subject for before in result)
        cue = "corrects" if refused else cue_of(flags)
        spoken.corrects = spoken.corrects or cue == "corrects"
        cue = "corrects" if spoken.corrects and cue in ("", "changes") else cue
        result.append(
            Clause(
                start=own[0].start,
                end=_closed(text, own[0].start, own[-1].end),
                sentence=(found[0].start, found[-1].end),
                subject=subject,
                called=spoken.called(subject) if subject else frozenset(),
                about=_about([*lead, *own[:verb]]) | (result[-1].about if result and not named else frozenset()),
                explicit=named is not None,
                named=named or (0, 0),
                meant=_meant(own, subject, named, spoken, bool(result)),
                mood=mood,
                tense=tense_of(flags, cue, any(value.sort == "time" for value in told)),
                denied=denies(own),
                hedged=bool(flags & HEDGE) and not spoken.corrects,
                cue=cue,
                slip=bool(flags & SLIP),
                jest=bool(flags & JOKE) and not flags & DENY,
                also=bool(flags & ALSO),
                many=bool(flags & MANY),
                values=told,
                slots=tuple(slots.filled(slots.Told(text, part, subject, named, told, elided), lexicon)),
                content=content(own),
                beside=content([word for word in own if _tells(word) and not any(v.start <= word.start < v.end for v in told)]),
                rule=mood in (Mood.ASSERTED, Mood.REQUESTED) and (order is not None or is_told_the_agent(own, subject)),
                task=bool(flags & FOR_THIS),
                possible=bool(flags & CAN),
                alone=not flags & (IT | OTHER | YOU | YOUR),
                habit=bool(flags & EVERY),
                event=bool(flags & EVENT),
                to_do=bool(flags & TO_DO),
                tells=to_remember_from(own) if flags & REMEMBER else 0,
                material=material_of(flags, mood, follows_colon=_is_followed_by_colon(text, own)),
                bare=not any(map(_tells, own)),
            )
        )
    return result


def _order(lead: Sequence[Word], own: Sequence[Word], flags: int, before: Sequence[Clause]) -> int | None:
    """Where a clause has the verb of a standing order; not where its speaker goes on to say what they do, may or must themselves."""
    order = order_in(own) if flags & STANDING and not flags & CAN else None
    goes_on = bool(before) and before[-1].explicit and before[-1].mood is Mood.ASSERTED and not flags_of([*lead, own[0]]) & BUT
    if order is None or not goes_on:
        return order
    if flags & OUGHT and not flags & (YOU | DENY):
        return None
    return order if flags_of([*lead, *own[:order]]) & FROM_NOW else None


def _meant(own: Sequence[Word], subject: str, named: tuple[int, int] | None, spoken: Spoken, follows: bool) -> str:
    """The words for a subject that the clause names by a pronoun, or leaves out behind another clause."""
    if named is None:
        return spoken.words.get(subject, "") if follows else ""
    return spoken.words.get(subject, "") if is_pronoun(own, named) else ""


def _is_followed_by_colon(text: str, own: Sequence[Word]) -> bool:
    return text[own[-1].end : own[-1].end + 1] in COLONS


def _closed(text: str, start: int, end: int) -> int:
    """Where a clause ends with the brackets and quotes that close behind it and were opened in it."""
    while (
        end < len(text) and text[end] in _CLOSES and text.count(_CLOSES[text[end]], start, end) > text.count(text[end], start, end)
    ):
        end += 1
    return end


def _begins(own: Sequence[Word], words_and_signs: Sequence[Word]) -> int:
    """The place of the first word that is the clause's own, behind a heading and what joins, corrects or merely leads to it."""
    verb = next((word.start for word in own if word.flags & (VERB | _LEADS_ON)), own[-1].end)
    heading = max(
        (word.end for word in words_and_signs if word.text == ":" and word.start < verb and word.start > own[0].start), default=0
    )
    behind = next((place for place, word in enumerate(own) if word.start >= heading), 0)
    rest = own[behind:]
    return behind + next((place for place, word in enumerate(rest) if not (word.inside or word.flags & (JOIN | CORRECT | LEAD))), 0)


def _tells(word: Word) -> bool:
    return not (word.sign or word.inside or word.flags & (CORRECT | RETRACT | JOKE | EMPTY | LEAD | REMEMBER | HEDGE))


def _about(before: Sequence[Word]) -> frozenset[str]:
    """The content words before a verb, without amounts."""
    return content([word for word in before if not word.flags & (NUMBER | UNIT) and not is_number(word)])
