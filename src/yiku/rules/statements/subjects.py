"""
Resolve the subject of a clause: the speaker, a relative, a name, a thing; pronouns and omitted subjects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from yiku.rules.lexicon import flags as F
from yiku.rules.statements.clause import AGENT, USER
from yiku.rules.text import analyze
from yiku.rules.text.words import Word, content, flags_of


@dataclass(slots=True)
class Discourse:
    """Discourse state of a text: its last subject, the persons named, their words and names, and words for the speaker."""

    owner: Sequence[str] = ()
    subject: str = ""
    persons: list[str] = field(default_factory=list)
    words: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    quoted: Sequence[tuple[int, int]] = ()  # where what others say stands
    led: tuple[int, int] = (0, 0)  # the same, behind a lead that announces it
    corrects: bool = False  # whether something was corrected: what should be is then no doubt

    def called(self, subject: str) -> frozenset[str]:
        """Return the names given to a subject."""
        return frozenset([name for name, whose in self.names.items() if whose == subject] if subject else ())

    def they(self) -> str:
        """Return the only person named so far, `?` if there is none or several."""
        return self.persons[0] if len(self.persons) == 1 else "?"


def subject_of(
    text: str, own: Sequence[Word], verb: int, discourse: Discourse, follows: bool
) -> tuple[str, tuple[int, int] | None]:
    """Return the subject, empty if unknown, and the span that names it; update the discourse state."""
    subject, first, last = who_is_named(text, own, verb, discourse)
    if subject is None:
        unspaced = own[0].cjk
        return (discourse.subject if follows and discourse.subject else USER if unspaced or verb == 0 else ""), None
    named = own[first].start, own[last].end
    if subject:
        discourse.subject = subject
        if is_person(subject) and subject not in discourse.persons:
            discourse.persons.append(subject)
        if not is_pronoun(own, named):
            discourse.words[subject] = text[slice(*named)]
    return subject, named


def whom_it_follows(text: str, before: Sequence[Word], discourse: Discourse) -> str:
    """Resolve a relative `who`: the relative or name before it, else `?`."""
    own = [word for word in before if not word.sign]
    if len(own) > 1 and own[-1].flags & F.KIN and own[-2].flags & F.MY:
        subject, first = f"{USER}'s {own[-1].entry.kin or own[-1].text}", own[-2]
    elif own and _is_name(text, own, len(own) - 1):
        subject, first = name_of(own[-1]), own[-1]
    else:
        return "?"
    discourse.words.setdefault(subject, text[first.start : own[-1].end])
    return subject


def is_person(subject: str) -> bool:
    """Whether a subject is a person other than the speaker and the agent."""
    return "'s " in subject or subject.startswith("@")


def of_speaker(subject: str) -> bool:
    """Whether a subject is the speaker, or somebody of theirs: `I`, `my sister`."""
    return subject == USER or subject.startswith(f"{USER}'s ")


def is_pronoun(own: Sequence[Word], named: tuple[int, int]) -> bool:
    """Whether the subject is named by a pronoun: `he`, 她的."""
    return any(
        word.start == named[0] and word.flags & (F.OTHER | F.IT | F.OWN) and not word.flags & (F.MY | F.YOUR) for word in own
    )


def who_is_named(text: str, own: Sequence[Word], verb: int, discourse: Discourse) -> tuple[str | None, int, int]:
    """
    Return the subject that the words before the verb name (or after an inverted verb), and its words.

    None where nobody, empty where a pronoun leads nowhere.
    """
    if flags_of(own[verb + 1 : verb + 2]) & F.INVERTED and not flags_of(own[:verb]) & (F.PERSON | F.OWN | F.KIN):
        behind = own[verb + 1 :]
        ends = next((place for place, word in enumerate(behind) if word.flags & (F.VERB | F.PLACE)), len(behind))
        subject, first, last = who_is_named(text, behind, ends, discourse)
        return subject, first + verb + 1, last + verb + 1
    owner, first = "", -1
    for place, word in enumerate(own[: max(verb, 1)]):
        after = own[place + 1] if place + 1 < len(own) else None
        holder = after is not None and after.flags & F.HOLDER and place + 2 >= verb  # my boss is, and not my boss's flat is
        leads_on = after is not None and (after.flags & F.KIN or holder)
        begins = place if first < 0 else first
        if word.flags & F.KIN or (owner and word.flags & F.HOLDER and place + 1 >= verb):
            subject = f"{owner or USER}'s {word.entry.kin or word.text}"
            if _owns_kin(own, place):
                owner, first = subject, begins
                continue
            if after is not None and _is_name(text, own, place + 1):
                discourse.names[name_of(after)] = subject
                return subject, begins, place + 1
            return subject, begins, place
        if word.flags & F.OWN or (word.flags & F.SPEAKER and leads_on):
            owner = USER if word.flags & (F.MY | F.SPEAKER) else AGENT if word.flags & F.YOUR else discourse.they()
            if leads_on:
                first = begins
                continue
            return owner, begins, place
        if word.flags & F.PERSON:
            if word.flags & (F.SPEAKER | F.YOU | F.OTHER):
                return USER if word.flags & F.SPEAKER else AGENT if word.flags & F.YOU else discourse.they(), begins, place
            it = discourse.subject if word.flags & F.IT else ""
            return "" if it in (USER, AGENT) or is_person(it) else it, begins, place
        if place < verb and _is_name(text, own, place):
            subject = USER if word.text in discourse.owner else discourse.names.get(name_of(word), name_of(word))
            if _owns_kin(own, place):
                owner, first = subject, begins
                continue
            return subject, begins, place
    thing = content([word for word in own[:verb] if not word.flags & (F.NOW | F.NUMBER) and not word.text[0].isdigit()])
    return (" ".join(sorted(thing)), 0, max(verb - 1, 0)) if thing and verb < len(own) else (None, 0, 0)


def _owns_kin(own: Sequence[Word], place: int) -> bool:
    """Whether somebody's somebody follows: my sister's husband."""
    return bool(flags_of(own[place + 1 : place + 2]) & F.POSSESSIVE and flags_of(own[place + 2 : place + 3]) & F.KIN)


def name_of(word: Word) -> str:
    """Return the canonical subject of a name: `@khan` for Khan and the Khans."""
    return f"@{next(iter(analyze.tokens(word.text).words), word.text) if not word.cjk else word.text}"


def _is_name(text: str, own: Sequence[Word], place: int) -> bool:
    """Whether a word is a name: an unexpected capital, or two or three unknown characters."""
    word = own[place]
    if word.inside or word.flags & (F.CORRECT | F.LEAD | F.STANDING | F.JOKE | F.REMEMBER):
        return False
    if not word.cjk:
        if not text[word.start].isupper() or word.flags & (F.DATED | F.LIGHT | F.REQUEST | F.COMMON) or (word.known and not place):
            return False
        after = own[place + 1 : place + 2]
        return place > 0 or (
            bool(after) and bool(after[0].flags & (F.POSSESSIVE | F.VERB | F.WAS | F.WILL | F.AUX | F.PLAN | F.STILL | F.ALSO))
        )
    after = own[place + 1 : place + 2]
    return bool(word.flags & F.BEGINS_NAME and after and after[0].flags & (F.VERB | F.PLACE | F.NOW | F.ALSO | F.POSSESSIVE))
