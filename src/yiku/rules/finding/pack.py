"""
Pack hits into a prompt within a budget of tokens, best first, each with its source and date.

Turns of one conversation stand together, in the order in which they were said, under its date; the conversations
stand in the order of their best hit. The same hits always give the same bytes, so a host can cache its prompt.

The best have the most room: while a quarter of the budget is not spent the user's own turns stand whole up to
WHOLE_TOKENS, of others the best run of whole sentences; the further down, the shorter the run, so that more of what
may be meant is there. A statement is short, and stands whole.

Standing rules come before everything else, and have a share of the budget to themselves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from yiku.rules.finding import score
from yiku.rules.lexicon import built_in
from yiku.rules.lexicon.lists import label
from yiku.rules.privacy import fence, quoting
from yiku.rules.text import analyze
from yiku.rules.text.analyze import UNSPACED_RUN
from yiku.rules.text.sentences import split
from yiku.types import Attachment, Context, Episode, Hit, Note, Origin, SemanticMemory, State, Turn

Item = SemanticMemory | Turn | Episode | Attachment | Note

WHOLE_TOKENS = 256
CUT_TOKENS = 96  # of what the user did not say
ROOM = ((0.25, WHOLE_TOKENS), (0.5, CUT_TOKENS), (1.0, 40))  # tokens a turn, until such a share of the budget is spent
READ_CHARS = 8_000  # of a long text, in which its best sentences are looked for
READ_IN_ALL = 64_000  # characters of the hits of one context; of a hit behind that only SKIMMED_CHARS
SKIMMED_CHARS = 1_000
TOKENS_PER_UNSPACED = 0.8  # measured with o200k on Chinese chats: 0.79; older tokenizers take 1.2
LATIN_CHARS_PER_TOKEN = 4.5  # measured on o200k and cl100k: 4.8 for English prose, less for code
DATE_TOKENS = 8  # of the line above a conversation
NAME_TOKENS = 16  # of who said it
PLACE_CHARS = 80  # of the path of a note, and of its headings
LINE_TOKENS = 5  # of the shortest line
MISSES = 8  # hits that were cut, and still too long: from then on none is cut that has less than the room it is cut to
RULES_SHARE = 0.2  # of the budget, for standing rules
RULE_TOKENS = 9  # of the shortest line of a rule
RULE_CHARS = 2_000  # of a rule, beyond which it is cut
_ID = re.compile(r"[#＃](?=[0-9a-fA-F]{8}(?![0-9a-fA-F]))")
_PARTING = re.compile(r"[()（）,，:：#＃]")


@dataclass(frozen=True, slots=True)
class PackedRules:
    """Standing rules packed for a prompt: their lines, the rules shown, and how many are left out."""

    lines: tuple[str, ...] = ()
    shown: tuple[Hit, ...] = ()
    left_out: int = 0


def estimate(text: str) -> int:
    """Estimate the tokens of a text for a language model."""
    wide = sum(map(len, UNSPACED_RUN.findall(text)))
    return math.ceil(wide * TOKENS_PER_UNSPACED + (len(text) - wide) / LATIN_CHARS_PER_TOKEN)


def standing_rules(rules: Sequence[Hit], budget_tokens: int, language: str, *, further: int = 0) -> PackedRules:
    """
    Pack standing rules into their share of the budget, in the order given; one that does not fit is skipped.

    further: how many there are behind these; they are left out, too
    """
    if not rules and not further:
        return PackedRules()
    room = int(budget_tokens * RULES_SHARE)
    lines = [_line(rule, language, {}, 0, RULE_CHARS) for rule in rules]
    costs = [estimate(line) + 1 for line in lines]
    spent = estimate(label("context.rules", language)) + 1
    told = 0  # tokens of the line that says how many are left out
    if further or spent + sum(costs) > room:
        told = estimate(label("context.rules_left_out", language).format(len(rules) + further)) + 1
    shown: list[int] = []
    for place, cost in enumerate(costs):
        if spent + cost + told <= room:
            shown.append(place)
            spent += cost
    left_out = len(rules) + further - len(shown)
    text = [label("context.rules", language), *(lines[place] for place in shown)] if shown else []
    text += [label("context.rules_left_out", language).format(left_out)] if left_out and told <= room else []
    return PackedRules(tuple(text), tuple(rules[place] for place in shown), left_out)


def pack(
    hits: Sequence[Hit],
    budget_tokens: int,
    language: str,
    terms: Collection[str] = (),
    *,
    seal: fence.Seal,
    rules: PackedRules = PackedRules(),
) -> Context:
    """
    Pack standing rules, then hits, best first; a hit that does not fit is skipped for a shorter one.

    terms: of the question, as the analyzer gives them: which sentences of a long text are shown
    seal:  the home's, by which the fence around the text is known again
    rules: what `standing_rules` packed within the same budget
    """
    heading = [*rules.lines, label("context.heading", language)]
    spent = estimate(fence.wrap("\n".join(heading), seal))
    groups: dict[str, dict[str, list[tuple[int, str]]]] = {}  # by session or statement, then by day
    packed: list[Hit] = []
    read = missed = 0
    wanted = {term: score.CHARACTER_WEIGHT if len(term) == 1 and UNSPACED_RUN.match(term) else 1.0 for term in terms}
    for hit in hits:
        group, day = _group(hit), hit.said_at.date().isoformat() if isinstance(hit.item, Turn) else ""
        room = _room(spent, budget_tokens)
        besides = 1 + (0 if day in groups.get(group, {}) else DATE_TOKENS)
        if (left := budget_tokens - spent - LINE_TOKENS - besides) <= 0:
            continue
        looked_at = READ_CHARS if read < READ_IN_ALL else SKIMMED_CHARS
        if _is_too_long(hit, left, room // 2 if missed < MISSES else room, looked_at):
            continue
        read += min(len(hit.text), looked_at)
        line = _line(hit, language, wanted, room, looked_at)
        cost = estimate(line) + besides
        if spent + cost <= budget_tokens:
            place = hit.item.position if isinstance(hit.item, Turn) else 0
            groups.setdefault(group, {}).setdefault(day, []).append((place, line))
            packed.append(hit)
            spent += cost
        else:
            missed += 1
    if not packed:
        text = fence.wrap("\n".join(rules.lines), seal) if rules.lines else ""
        return _context(text, estimate(text), (), len(hits), rules)
    lines = heading
    for days in groups.values():
        for day, found in sorted(days.items()):
            lines += [day] if day else []
            lines += [line for _, line in sorted(found)]
    return _context(fence.wrap("\n".join(lines), seal), spent, tuple(packed), len(hits) - len(packed), rules)


def _context(text: str, tokens: int, packed: tuple[Hit, ...], omitted: int, rules: PackedRules) -> Context:
    shown = tuple(hit.item for hit in rules.shown if isinstance(hit.item, SemanticMemory))
    return Context(text, tokens, packed, omitted, rules=shown, rules_left_out=rules.left_out)


def _room(spent: int, budget_tokens: int) -> int:
    """Return the tokens a turn may take when so much of the budget is spent."""
    return next((tokens for until, tokens in ROOM if spent <= until * budget_tokens), ROOM[-1][1])


def _is_too_long(hit: Hit, left: int, room: int, looked_at: int) -> bool:
    """Whether a hit is skipped without cutting it: it does not fit whole, and too little budget is left."""
    if min(len(hit.text), looked_at) <= left or left >= (room if isinstance(hit.item, (Turn, Note)) else WHOLE_TOKENS):
        return False  # no text has more tokens than characters
    return estimate(" ".join(hit.text[:looked_at].split())) > left


def _group(hit: Hit) -> str:
    """Return the group of a hit: the turns of a conversation stay together, a statement is its own group."""
    return f"session {hit.item.session}" if isinstance(hit.item, Turn) else f"memory {hit.id}"


def _line(hit: Hit, language: str, wanted: Mapping[str, float], room: int, looked_at: int) -> str:
    source = hit.sources[-1] if hit.sources else None
    who = _name((source.speaker or source.origin.value) if source else "user")
    marks = [f"#{hit.id[-8:]}"]
    if hit.superseded_by:
        marks.append(label("context.replaced", language))
    elif hit.taken_back:
        marks.append(label("context.taken_back", language))
    elif isinstance(hit.item, SemanticMemory) and hit.item.flagged_with and hit.said_later is None:
        marks.append(f"{label('context.contradicts', language)}{hit.item.flagged_with[-1][-8:]}")
    marks += trust_marks(hit.item, who, language)
    text = annotated(hit, language, 2 * looked_at)  # spaces fall away
    if isinstance(hit.item, Note):
        return f"- {cut(text, room, wanted, looked_at)} ({', '.join([hit.said_at.date().isoformat(), *_place(hit.item), *marks])})"
    if not isinstance(hit.item, Turn):
        return f"- {cut(text, WHOLE_TOKENS, looked_at=looked_at)} ({', '.join([hit.said_at.date().isoformat(), who, *marks])})"
    kept = cut(text, room if hit.item.origin is Origin.USER else min(room, CUT_TOKENS), wanted, looked_at)
    return f"- {who}: {kept} ({', '.join(marks)})"


def trust_marks(item: Item, who: str, language: str) -> list[str]:
    """Say what nobody has confirmed, and whose words they are where `who` is the name of somebody else."""
    marks = []
    if isinstance(item, SemanticMemory) and item.state is State.CANDIDATE:
        marks.append(label("context.unconfirmed", language))
    if isinstance(item, (SemanticMemory, Turn)) and item.origin is not Origin.USER and who != item.origin.value:
        marks.append(item.origin.value)
    return marks


def statement(hit: Hit, language: str) -> str:
    """Return the line of a statement as it stands in a context: its words, date, who said it, short id."""
    return _line(hit, language, {}, 0, RULE_CHARS)


def _one_line(text: str) -> str:
    """Return quoted words as one inert line of a prompt, without anything that looks like one of our ids."""
    return _ID.sub("# ", " ".join(quoting.inert(text).split()))


def _place(note: Note) -> list[str]:
    """The file and lines of a note, and the headings that it stands under, without the signs that part a line."""
    path, heading = (_one_line(_PARTING.sub(" ", text))[:PLACE_CHARS] for text in (note.path, note.heading))
    return [f"{path}:{note.start_line}-{note.end_line}", *([heading] if heading else [])]


def _name(speaker: str) -> str:
    """Return the speaker without punctuation, so that a name cannot be read as a label."""
    return cut(_one_line(_PARTING.sub(" ", speaker)), NAME_TOKENS) or "?"


def annotated(hit: Hit, language: str, looked_at: int) -> str:
    """Return the first characters of a hit as one inert line, with a mark after each outdated clause."""
    text = hit.text[:looked_at]
    if not hit.outdated:
        return _one_line(text)
    later = f"{label('context.said_later', language)}{hit.said_later[-8:]}" if hit.said_later else ""
    mark = f" [{later or label('context.replaced', language)}]"
    ends = sorted(end for _, end in hit.outdated if end <= len(text))
    parts = [text[start:end] for start, end in pairwise([0, *ends, len(text)])]
    return mark.join(f"{' ' * part[:1].isspace()}{_one_line(part)}" for part in parts).strip()


def cut(text: str, budget_tokens: int, wanted: Mapping[str, float] | None = None, looked_at: int = READ_CHARS) -> str:
    """
    Return the run of whole sentences that fits and holds most wanted terms, on one line.

    Where the best sentence is too long by itself, its beginning. What stands behind `looked_at` characters is not shown.
    """
    read = text[:looked_at]
    flat = " ".join(read.split())
    if len(read) == len(text) and estimate(flat) <= budget_tokens:
        return flat
    sentences = split(flat, built_in()) or [flat]
    costs, worths = [estimate(one) for one in sentences], [_worth(one, wanted or {}) for one in sentences]
    first, last, best = 0, 0, -1.0
    start = spent = 0
    worth = 0.0
    for end, cost in enumerate(costs):
        spent, worth = spent + cost, worth + worths[end]
        while spent > budget_tokens and start <= end:
            spent, worth, start = spent - costs[start], worth - worths[start], start + 1
        if end >= start and worth > best + 1e-9:
            first, last, best = start, end + 1, worth
    if first == last or best < max(worths) - 1e-9:  # what is wanted most stands in a sentence that is too long
        place = max(range(len(worths)), key=worths.__getitem__)
        return f"{'… ' if place else ''}{_beginning(sentences[place], budget_tokens)} …"
    while last < len(costs) and sum(costs[first : last + 1]) <= budget_tokens:  # what follows explains it
        last += 1
    kept = "".join(sentences[first:last]).strip()
    return f"{'… ' if first else ''}{kept}{' …' if last < len(sentences) or len(read) < len(text) else ''}"


def _worth(sentence: str, wanted: Mapping[str, float]) -> float:
    """Return the weight of the wanted terms in a sentence."""
    if not wanted:
        return 0.0
    words, characters = analyze.tokens(sentence)
    return sum(wanted.get(term, 0.0) for term in {*words, *characters})


def _beginning(text: str, budget_tokens: int) -> str:
    """Return the longest beginning that fits."""
    low, high = 0, min(len(text), int(budget_tokens * LATIN_CHARS_PER_TOKEN))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate(text[:middle]) <= budget_tokens else (low, middle - 1)
    return text[:low]
