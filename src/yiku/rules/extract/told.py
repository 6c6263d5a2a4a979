"""
A sentence read for what it tells: clause by clause, with the cues of its language.

The two languages are cut differently. An English clause begins with its subject, and a question at the end of a sentence
is cut off it. A Chinese sentence is parts between commas, and those without a subject of their own belong to the one
before. What asks, supposes, thanks or speaks about this very conversation tells nothing.
"""

# ruff: noqa: E501 (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from yiku.rules import retract, slots
from yiku.rules.extract import chinese, dropped, english, shapes, worth
from yiku.rules.extract.clauses import BLANK, Sentence
from yiku.rules.extract.cues import Cue, compiled
from yiku.types import Cardinality, Kind

SHORTEST = 6  # characters of an English clause; a Chinese one may have half as many
LONGEST = 400  # characters of what is kept at once
WHOLE = 48  # characters of a Chinese sentence that is kept whole around what it tells
MIXED = 3  # English words that make a sentence with Chinese in it worth reading as English too
HEDGED_AT = 24  # characters; an English hedge that comes later weakens a detail only
LONGEST_SLOT = 80  # characters

AS_A = Cue("as a", Kind.FACT, "")
SLOT = Cue("slot", Kind.FACT, "")
UPDATE = Cue("update", Kind.FACT, "")
# Worth a closer look; and the predicates of which a stranger's statement is believed to be one.
_SLOTTED = r"\b(?:lives?|moved to|joined|works? (?:at|for|as)|birthday|version|deadline|due|married|allergic|years old|e-?mail|phone|born)\b|住在|搬到|搬去|跳槽|入职|工作|上班|生日|版本|截止|过敏|电话|邮箱|\d岁|\bi(?:'m| am) (?:now )?(?:[a-z-]+ ){1,3}(?:at|for)\b|^我[爸妈爷奶公婆]?.{0,4}[\d一二三四五六七八九十]{1,3}了?$"
_KNOWN = frozenset("lives in|works at|job|age|birthday|phone|mobile|email|address|version|deadline|spouse".split("|"))
# Rules are looked for in a whole sentence; of oneself even a hedged statement is worth keeping.
_RULES = tuple(cue for cue in english.CUES if cue.kind is Kind.RULE or cue.name == "task")
_RULES_ZH = tuple(cue for cue in chinese.CUES if cue.kind is Kind.RULE or cue.name == "task")
_RULE = next(cue for cue in english.CUES if cue.kind is Kind.RULE)
_OF_ONESELF = ("identity", "trait", "health")
_COMMA = r"(?<!\d),|,(?!\d)"
_OWN_SUBJECT = r"^(?:我|俺|本人|但我|而我)"
_SPARED = r"^\W*never ?mind\W*$"  # of a request more often than of a statement
_EDGES = " \t\r\n,;:-–—*•_" + BLANK


class Manner(NamedTuple):
    """
    How something is said.

    updates:  as a correction
    asked:    with the wish to have it remembered
    hedged:   without being sure
    """

    updates: bool = False
    asked: bool = False
    hedged: bool = False


class Told(NamedTuple):
    """
    What a sentence tells, and where in the turn.

    cue:    how it is said
    words:  what stands before it, or in the place of its first characters, which do not stand alone: «I am» a nurse, for «as»
    drops:  how many characters these are
    """

    start: int
    end: int
    cue: Cue
    manner: Manner = Manner()
    words: str = ""
    drops: int = 0


class Taken(NamedTuple):
    """What was said before does not hold. joked: it was never meant."""

    start: int
    end: int
    joked: bool


class Clause(NamedTuple):
    """A stretch of a sentence."""

    sentence: Sentence
    start: int
    end: int

    @property
    def said(self) -> str:
        """Its words, in small letters."""
        return self.sentence.small[self.start : self.end]

    @property
    def words(self) -> str:
        """Its words as they were written."""
        return self.sentence.written[self.start : self.end]

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands in the turn."""
        return self.sentence.start + self.start, self.sentence.start + self.end

    def led(self, lead: str) -> Clause:
        """The same without its openings and the signs at its ends."""
        small, start, end = self.sentence.small, self.start, self.end
        if match := compiled(lead).match(small, start, end):
            start = match.end()
        while start < end and small[end - 1] in _EDGES:
            end -= 1
        while start < end and small[start] in _EDGES:
            start += 1
        return Clause(self.sentence, start, end)

    def told(self, cue: Cue, manner: Manner) -> Told:
        """That it tells what the cue says."""
        return Told(*self.place, cue, manner)


def read(sentence: Sentence, *, noted: bool = False) -> Iterator[Told | Taken]:
    """What a sentence tells, in order. noted: it stands in a note that somebody wrote down for himself."""
    yield from _as_a(sentence)
    whole = Clause(sentence, 0, len(sentence.small))
    found = list(_chinese(whole)) if sentence.chinese else []
    if not sentence.chinese or (not found and len(compiled(r"[a-z']{2,}").findall(sentence.small)) >= MIXED):
        found = list(_english(whole))
    if not found and sentence.chinese and (kept := _worth_knowing(whole)):
        found = [kept]
    if not found and noted and not sentence.asks:
        clause = whole.led(chinese.LEAD)
        if (shape := shapes.noted_cue(clause.said)) and len(clause.said) <= WHOLE * 2:
            found = [clause.told(shape, Manner())]
    if not sentence.asks and not any(isinstance(one, Taken) for one in found) and (taken := _taken(whole)) is not None:
        found = [*taken]
    yield from found


def plain(sentence: Sentence) -> Iterator[Told]:
    """Its clauses, if it states something: each as it stands, whatever it tells."""
    if sentence.asks or retract.marker(sentence.small) is not None:
        return
    whole, language = Clause(sentence, 0, len(sentence.small)), chinese if sentence.chinese else english
    if compiled(language.HEDGE).search(whole.said):
        return
    for part in _parts(whole) if sentence.chinese else _english_clauses(whole):
        clause = part.led(language.LEAD)
        if SHORTEST // 2 <= len(clause.said) <= LONGEST_SLOT and not compiled(language.SILENT).search(clause.said):
            yield clause.told(UPDATE, Manner(updates=True))


def _taken(whole: Clause) -> list[Taken] | None:
    """What a sentence that takes back is: nothing where it takes back itself («I quit, just kidding»), None where it is none."""
    if (sort := retract.marker(whole.said)) not in {"joke", "void"}:
        return None
    more = retract.says_more(whole.said)
    if (sort == "void" and more) or compiled(_SPARED).search(whole.said):
        return None
    clause = whole.led(chinese.LEAD if whole.sentence.chinese else english.LEAD)
    first = compiled(_COMMA).search(clause.said, SHORTEST // (2 if whole.sentence.chinese else 1))
    if sort == "joke" and retract.marker(clause.said[: first.start()] if first else clause.said) is None:
        return []
    return None if more else [Taken(*clause.place, sort == "joke")]


def _as_a(sentence: Sentence) -> Iterator[Told]:
    """«As a nurse, …»: what somebody is, said on the way to something else."""
    language, words = (chinese, "我是") if sentence.chinese else (english, "I am")
    if ("as a" in sentence.small or "as the" in sentence.small or "作为" in sentence.small) and (
        match := compiled(language.AS_A).search(sentence.small)
    ):
        yield Clause(sentence, match.start("as"), match.end("x")).told(AS_A, Manner())._replace(words=words, drops=2)


def _slotted(clause: Clause, manner: Manner) -> Told | None:
    """A plain statement about somebody or something else, when it fills a slot that holds one value: «Mei lives in Oslo»."""
    if len(clause.said) > LONGEST_SLOT or "可以" in clause.said or not compiled(_SLOTTED).search(clause.said):
        return None
    slot = slots.read(clause.said)
    known = slot is not None and slot.cardinality is Cardinality.SINGLE and slot.predicate in _KNOWN
    return clause.told(SLOT, manner) if known else None


# ------------------------------------------------------------------ English


def _english(whole: Clause) -> Iterator[Told | Taken]:
    asks, clause = whole.sentence.asks, whole.led(english.LEAD)
    manner = Manner(updates=compiled(english.CORRECTS).search(whole.said) is not None)
    if not asks:
        if taken := compiled(english.RETRACTS).match(clause.said):
            yield Taken(*clause.place, compiled(english.JOKED).match(taken[0]) is not None)
            return
        if first := compiled(english.JOKED_FIRST).match(clause.said):
            place, start = clause.start + first.end(), clause.place[0]
            yield Taken(start, start + first.end(), joked=True)
            manner, clause = Manner(updates=True), clause._replace(start=place).led(english.LEAD)
        for cue in (english.CORRECTION, *_RULES):
            if cue.found(clause.said, anywhere=False):
                yield clause.told(cue, Manner(updates=manner.updates or cue is english.CORRECTION))
                return
    for opened in (whole, clause):  # «Remember: …» looks like a heading, too
        if explicit := english.EXPLICIT.found(opened.said, anywhere=False):
            manner, clause = manner._replace(asked=True), opened._replace(start=opened.start + explicit.end())
            break
    for part in (raw.led(english.LEAD) for raw in _english_clauses(clause)):
        if told := _english_clause(part, manner) or _without_tail(part, manner) or _without_subject(part, manner):
            yield told


def _english_clauses(whole: Clause) -> Iterator[Clause]:
    """The clauses of a sentence, without the question or the request that it may end in."""
    sentence, start, end = whole
    tail = compiled(english.ASKING if sentence.asks else english.REQUESTS).search(whole.said)
    if tail:
        end = start + tail.start()
    elif sentence.asks:
        return
    for cut in compiled(english.CUT).finditer(sentence.small, start, end):
        before = sentence.small[start : cut.start()]
        if (len(before.split()) > 2 or compiled(english.NAMED).match(before)) and not compiled(english.OPENS).match(before):
            yield Clause(sentence, start, cut.start())
            start = cut.end()
    yield Clause(sentence, start, end)


def _english_clause(clause: Clause, manner: Manner) -> Told | None:
    said = clause.said
    if not SHORTEST <= len(said) <= LONGEST or compiled(english.SILENT).search(said) or compiled(english.THIRD).match(said):
        return None
    if compiled(english.FOR_THE_AGENT).match(said):
        return clause.told(_RULE, manner)
    hedge = compiled(english.HEDGE).search(said)
    if hedge and hedge.start() < HEDGED_AT:
        believed = said[hedge.end() :].lstrip(" ,") if hedge.start() == 0 else said
        unsure = manner._replace(hedged=True)
        return clause.told(english.BELIEF, unsure) if english.BELIEF.found(believed, anywhere=False) else None
    plain = compiled(english.ADVERBS).sub("", said)
    opening = compiled(english.ADVERBIAL).match(plain)
    readings = {said, plain, plain[opening.end() :] if opening else plain}
    for cue in english.CUES:
        says = any(cue.found(reading, anywhere=False) for reading in readings)
        if says and (cue.name != "event" or compiled(english.EVENT_SAYS).search(said)):
            return clause.told(cue, manner)
    if told := _slotted(clause, manner):
        return told
    if manner.asked:
        return clause.told(english.EXPLICIT, manner)
    when = compiled(english.ADVERBIAL).match(said)
    other = compiled(shapes.OTHER).search(said, SHORTEST * 2)
    clause = clause._replace(end=clause.start + other.start()) if other else clause
    shape = shapes.english_cue(clause.said[when.end() if when else 0 :], clause.words) or worth.english_cue(
        clause.said, clause.words
    )
    return clause.told(shape, manner) if shape else None


def _without_tail(clause: Clause, manner: Manner) -> Told | None:
    """What a clause tells before it begins to explain itself; or else by its explaining."""
    tail = compiled(english.TAIL).search(clause.said, SHORTEST * 3)
    if tail is None:
        return None
    head, rest = clause._replace(end=clause.start + tail.start()), clause._replace(start=clause.start + tail.end())
    rest = rest.led(english.LEAD)
    return _english_clause(head, manner) or (_english_clause(rest, manner) if compiled(english.SELF).match(rest.said) else None)


def _without_subject(clause: Clause, manner: Manner) -> Told | None:
    """What a clause at the beginning of its sentence tells of its speaker, whom it leaves out."""
    sentence, before = clause.sentence, clause.sentence.small[: clause.start]
    if before.strip(_EDGES) and not compiled(english.LEAD).fullmatch(before):
        return None
    left_out = dropped.subject(clause.said, line=sentence.written)
    if not left_out:
        return None
    words = f"{left_out}{clause.words[:1].lower()}{clause.words[1:]}"
    spoken = replace(sentence, start=clause.place[0] - len(left_out), small=words.lower(), written=words)
    told = _english_clause(Clause(spoken, 0, len(words)), manner)
    return told and told._replace(start=clause.place[0], words=words[: len(left_out) + 1], drops=1)


# ------------------------------------------------------------------ Chinese


def _chinese(whole: Clause) -> Iterator[Told | Taken]:
    asks, clause = whole.sentence.asks, whole.led(chinese.LEAD)
    if compiled(chinese.SILENT).search(clause.said):
        return
    updates = compiled(chinese.CORRECTS).search(whole.said) is not None
    manner = Manner(updates=updates, hedged=compiled(chinese.HEDGE).match(clause.said) is not None)
    parts = list(_parts(clause))
    if parts and not asks and compiled(chinese.RETRACTS).match(parts[0].said):
        first = parts.pop(0)
        yield Taken(*first.place, compiled(chinese.JOKED).search(first.said) is not None)
        manner = manner._replace(updates=True)
        clause = clause._replace(start=parts[0].start if parts else clause.end)
    asks = asks or compiled(chinese.ASKING).search(clause.said) is not None
    for cue in () if asks else (chinese.CORRECTION, *_RULES_ZH, *chinese.WHOLE):
        if cue.found(clause.said, anywhere=True):
            yield clause.told(cue, Manner(updates=manner.updates or cue is chinese.CORRECTION))
            return
    if explicit := chinese.EXPLICIT.found(clause.said, anywhere=True):
        if asks or explicit.end() >= len(clause.said) - SHORTEST // 2:
            return
        manner = manner._replace(asked=True)
        parts = list(_parts(clause._replace(start=clause.start + explicit.end())))
    yield from _runs(parts, manner)


def _worth_knowing(whole: Clause) -> Told | None:
    """A Chinese sentence that asks for nothing and supposes nothing, if it is worth keeping."""
    clause = whole.led(chinese.LEAD)
    if whole.sentence.asks or len(clause.said) > LONGEST or retract.marker(whole.said) is not None:
        return None
    if compiled(chinese.ASKING).search(clause.said) or compiled(chinese.SILENT).search(clause.said):
        return None
    cue = worth.chinese_cue(clause.said, whole.sentence.end)
    return clause.told(cue, Manner(updates=compiled(chinese.CORRECTS).search(whole.said) is not None)) if cue else None


def _parts(clause: Clause) -> Iterator[Clause]:
    """The parts of a Chinese sentence between its commas; a comma inside a number is none."""
    sentence, start, end = clause
    for comma in [*compiled(_COMMA).finditer(sentence.small, start, end), None]:
        part = Clause(sentence, start, comma.start() if comma else end)
        if part.said.strip(_EDGES):
            yield part
        start = comma.end() if comma else end


def _runs(parts: list[Clause], manner: Manner) -> Iterator[Told]:
    """The parts that tell something, each with those that lean on it, before and behind."""
    run: tuple[Clause, Told] | None = None
    lead: int | None = None
    for place, raw in enumerate(parts):
        part = raw.led(chinese.LEAD)
        if place < len(parts) - 1 and compiled(chinese.TOPIC).fullmatch(part.said):
            yield from _closed(run)
            run, lead = None, part.start
            continue
        last_of_question = part.sentence.asks and place == len(parts) - 1
        for_the_agent = place > 0 and compiled(chinese.FOR_THE_AGENT).match(part.said) is not None
        asks = not for_the_agent and compiled(chinese.ASKING).search(part.said)
        if last_of_question or asks or compiled(chinese.SILENT).search(part.said):
            yield from _closed(run)
            run = lead = None
            continue
        told, talk = _chinese_part(part, manner), compiled(chinese.TALK).search(part.said)
        if told is None and place == 0 and dropped.is_of_speaker(part.said) and _opens_the_turn(part):
            told = _chinese_of_speaker(part, manner)
        if told and place and told.cue in _RULES_ZH and not for_the_agent:
            told = None
        if run and not (told and for_the_agent) and (told is None or not compiled(_OWN_SUBJECT).match(part.said)):
            whole = run[0]._replace(end=part.end)
            if (told is None and part.said.startswith("作为")) or (
                told is None and compiled(chinese.THIRD).match(part.said) and not compiled(chinese.NOUN).search(run[0].said)
            ):
                yield from _closed(run)
                run = None
            elif len(whole.said) <= WHOLE * 2 and (told or (len(whole.said) <= WHOLE and not talk)):
                run = whole, run[1]
        elif told:
            yield from _closed(run)
            if lead is None and place and compiled(chinese.ELLIPTIC).match(part.said):
                lead = parts[place - 1].led(chinese.LEAD).start
            led = part._replace(start=lead) if lead is not None and part.end - lead <= WHOLE else part
            run, lead = (led, told), None
        elif lead is None and not talk and compiled(chinese.LEANS).search(part.said):
            lead = part.start
    yield from _closed(run)


def _opens_the_turn(part: Clause) -> bool:
    """Whether nothing was said before it, that it could go on about."""
    return part.sentence.start == 0 and not part.sentence.small[: part.start].strip(_EDGES)


def _chinese_of_speaker(part: Clause, manner: Manner) -> Told | None:
    """What a part tells when 我 is put before it."""
    spoken = replace(part.sentence, start=part.place[0] - 1, small=f"我{part.said}", written=f"我{part.words}")
    told = _chinese_part(Clause(spoken, 0, len(part.said) + 1), manner)
    return told and part.told(told.cue, told.manner)._replace(words="我")


def _closed(run: tuple[Clause, Told] | None) -> Iterator[Told]:
    """A run as one thing told."""
    if run:
        yield run[0].told(run[1].cue, run[1].manner)._replace(words=run[1].words)


def _chinese_part(part: Clause, manner: Manner) -> Told | None:
    said = part.said
    if not SHORTEST // 2 <= len(said) <= LONGEST:
        return None
    hedged = manner.hedged or compiled(chinese.HEDGE).search(said) is not None
    manner = manner._replace(hedged=hedged)
    if hedged and chinese.BELIEF.found(said, anywhere=True):
        return part.told(chinese.BELIEF, manner)
    if compiled(chinese.THIRD).match(said) or said.startswith("作为"):
        return None
    if (bare := compiled(chinese.BARE).search(said)) and not compiled(chinese.NOUN).search(said[: bare.start()]):
        return None
    said = compiled(chinese.SELF).sub("我", said)
    for cue in chinese.CUES:
        if (not hedged or cue.name in _OF_ONESELF) and cue.found(said, anywhere=True):
            return part.told(cue, manner)
    if told := _slotted(part, manner):
        return told
    if manner.asked:
        return part.told(chinese.EXPLICIT, manner)
    shape = None if hedged else shapes.chinese_cue(said)
    return part.told(shape, manner) if shape else None
