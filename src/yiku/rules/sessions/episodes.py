"""
Summarize a session, or a part of it, as an episode, without a model; format episodes as Markdown.

    goal        the first thing that the user asked for (tasks.py)
    actions     every call of a tool: its telling parameters, what came back, whether it went wrong (calls.py), and
                the sentence behind it that says what was done because of it
    outcome     how it ended, and what says so (outcomes.py)
    decisions   sentences that choose and say why
    entities    files, quoted names, projects, and words that are names by their form

The same turns always give the same story. It covers all of them: first_turn and last_turn are their ends, and a turn
of which nothing is told is still among them. Only a user's own words give the goal and the verdict; what tools and
files say is shortened and quoted, never followed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from yiku.rules.learning import entities
from yiku.rules.lexicon.lists import at_start, has, label, looked_for, words
from yiku.rules.sessions import outcomes, tasks
from yiku.rules.sessions.calls import Call, calls
from yiku.rules.sessions.tasks import sentences, short, width
from yiku.rules.text.analyze import language_of
from yiku.rules.text.folding import folded
from yiku.rules.text.sentences import ASKING, STOPS
from yiku.types import ActionNode, Episode, EpisodeOutcome, EpisodeSource, Turn

SUMMARY_CHARS = 200
RESULT_CHARS = 100
PARAMS = 5  # of a call
PARAM_CHARS = 80
SENTENCE_CHARS = 160  # of a decision
DECISIONS = 10
ENTITIES = 20
WORDS_BEFORE = 2  # the verb of a choice, among which who chooses stands: "we finally chose"
READ_CHARS = 4_000  # of a turn, from its beginning: what is said there is what it is about


def tell(
    turns: Sequence[Turn],
    *,
    id: str,
    now: datetime,
    source: EpisodeSource = "session_end",
) -> Episode:
    """
    Build the episode of turns of one session, oldest first, at least one.

    source:     an episode at a compression tells of a session that goes on, so only a clear end is one
    """
    goal = _goal(turns)
    language = language_of(goal) if goal else spoken(turns)
    made = calls(turns)
    nodes = tuple(_node(call, decision) for call, decision in zip(made, _decisions_of_calls(made, turns), strict=True))
    outcome, reason = outcomes.outcome(turns, made, language)
    if source == "context_compress" and outcome == "partial":
        outcome, reason = "ongoing", label("episode_reason.goes_on", language)
    decisions = tuple(_decisions(turns))
    return Episode(
        id=id,
        session=turns[0].session,
        summary=_summary(goal, made, (label(f"episode_outcome.{outcome}", language), reason), decisions, language),
        goal=goal,
        outcome=outcome,
        outcome_reason=reason,
        started_at=min(turn.said_at for turn in turns),
        ended_at=max(turn.said_at for turn in turns),
        first_turn=turns[0].id,
        last_turn=turns[-1].id,
        action_nodes=nodes,
        entities=_entities(turns, made, goal),
        tools_used=tuple(dict.fromkeys(call.name for call in made)),
        decisions=decisions,
        importance_score=_importance(made, outcome, decisions),
        source=source,
        created_at=now,
        updated_at=now,
    )


def spoken(turns: Sequence[Turn]) -> str:
    """Return the language of the user's turns, of all turns if the user said nothing."""
    said = [turn.content[:READ_CHARS] for turn in turns if outcomes.by_user(turn)] or [turn.content[:READ_CHARS] for turn in turns]
    return language_of(" ".join(said))


def _goal(turns: Sequence[Turn]) -> str:
    """Return the first request, or the first message that led to tool calls, else the first that says something."""
    said = [(place, turn.content) for place, turn in enumerate(turns) if outcomes.by_user(turn)]
    ends = [place for place, _ in said[1:]] + [len(turns)]
    asked = (
        tasks.task(text)
        for (place, text), end in zip(said, ends, strict=False)
        if tasks.asks(text) or any(turn.tool_calls for turn in turns[place + 1 : end])
    )
    return next(filter(None, asked), next(filter(None, (tasks.task(text) for _, text in said)), ""))


# ------------------------------------------------------------------ actions

_BODIES = frozenset(
    "content contents text body data new_string old_string new_str old_str file_text code source todos edits prompt plan".split()
)
_TUNING = frozenset(
    "timeout timeout_ms limit offset page page_size max_results top_k head_limit output_mode verbose background run_in_background"
    " encoding description restart replace_all dry_run headers".split()
)
_TELLING = ("path", "file", "command", "cmd", "query", "pattern", "url", "name", "id", "to", "subject", "title", "date")
_LINE_NUMBER = re.compile(r"^\s*\d+\s*[→|\t:]\s?")


def _node(call: Call, decision: str | None) -> ActionNode:
    return ActionNode(
        tool_name=call.name,
        key_params=_key_params(call.params),
        result_summary=_gist(call),
        success=call.error is None,
        error_message=call.error,
        decision=decision,
        timestamp=call.turn.said_at,
        turn=call.turn.id,
    )


def _key_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Choose the parameters that say what was done: paths, commands and names before bodies."""
    given = {str(key): value for key, value in params.items() if value not in (None, "", [], {}, False)}
    telling = {key: value for key, value in given.items() if key.lower() not in _TUNING and value is not True}
    brief = {key: value for key, value in telling.items() if key.lower() not in _BODIES}
    chosen = brief or telling or given
    rank = {key: next((i for i, word in enumerate(_TELLING) if word in key.lower()), len(_TELLING)) for key in chosen}
    first = sorted(chosen, key=rank.__getitem__)[:PARAMS]
    return {key: _shorten(chosen[key]) for key in chosen if key in first}


def _shorten(value: Any) -> Any:
    if isinstance(value, (bool, int, float)):
        return value
    return short(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str), PARAM_CHARS)


def _gist(call: Call) -> str:
    """Shorten a result to RESULT_CHARS: its error, else its first lines."""
    if call.error is not None:
        return short(call.error, RESULT_CHARS)
    lines = [_LINE_NUMBER.sub("", line).strip() for line in (call.result or "").splitlines()]
    return short(" ".join(line for line in lines[:40] if any(map(str.isalnum, line))), RESULT_CHARS)


def _decisions_of_calls(made: Sequence[Call], turns: Sequence[Turn]) -> list[str | None]:
    """
    Return for each call the decision that followed from its result.

    Of several results before the same words, the last one that went wrong has it, else the last.
    """
    words: list[int | None] = [None] * (len(turns) + 1)  # at each turn, the next one behind it that says something
    for place in range(len(turns) - 1, -1, -1):
        turn = turns[place]
        words[place] = place if turn.role in ("user", "assistant") and turn.content.strip() else words[place + 1]
    owner: dict[int, int] = {}  # from the place of the words to the call that led to them
    for number, call in enumerate(made):
        place_of = None if call.answered is None else words[call.answered + 1]
        if place_of is not None and (place_of not in owner or call.error is not None or made[owner[place_of]].error is None):
            owner[place_of] = number
    found: list[str | None] = [None] * len(made)
    for place, number in owner.items():
        said = sentences(turns[place].content[:READ_CHARS])
        found[number] = next((short(_plain(one), SENTENCE_CHARS) for one in said if _decides(folded(one))), None)
    return found


def _decides(folded_text: str) -> bool:
    """Whether a sentence announces a next action."""
    return has(folded_text, "records.decides") or at_start(folded_text, "records.decides_first") > 0


def _plain(sentence: str) -> str:
    """Strip Markdown from a sentence."""
    return re.sub(r"^(?:[#>*\-•\s]|\d{1,2}[.)]\s)*|\*\*|__|[:：]\s*$", "", sentence)


# ------------------------------------------------------------------ decisions, entities


def _chooses(folded_text: str) -> bool:
    """Whether a sentence states a choice."""
    if has(folded_text, "records.chooses"):
        return True
    for match in looked_for("records.choosing").finditer(folded_text):
        before = re.findall(r"[\w']+", folded_text[max(0, match.start() - 24) : match.start()])
        if not words("records.choosers").isdisjoint(before[-WORDS_BEFORE:]):
            return True
    return False


def _gives_reason(folded_text: str) -> bool:
    """Whether a sentence gives a reason; "since" may also be temporal."""
    if has(folded_text, "records.why"):
        return True
    ends = (match.end() for match in looked_for("records.why_or_when").finditer(folded_text))
    return any(not (rest := folded_text[end:].lstrip())[:1].isdigit() and not at_start(rest, "records.since_when") for end in ends)


def _supposes(folded_text: str) -> bool:
    return folded_text.rstrip().endswith(tuple(ASKING)) or at_start(folded_text, "records.supposes") > 0


def _decisions(turns: Sequence[Turn]) -> Iterator[str]:
    """Yield the sentences that state a choice with its reason, in order, each once."""
    seen: set[str] = set()
    for turn in turns:
        if turn.role not in ("user", "assistant"):
            continue
        said = sentences(tasks.typed(turn.content[:READ_CHARS]))
        for one, following in pairwise([*said, ""]):
            chosen = folded(one)
            if not _chooses(chosen) or _supposes(chosen):
                continue
            why = "" if _gives_reason(chosen) else following if at_start(folded(following), "records.gives_why") else None
            decision = "" if why is None else short(_plain(f"{one} {why}".strip()), SENTENCE_CHARS)
            if decision and decision not in seen:
                seen.add(decision)
                yield decision
            if len(seen) == DECISIONS:
                return


def _entities(turns: Sequence[Turn], made: Sequence[Call], goal: str) -> tuple[str, ...]:
    """Return projects, then the most frequent names, at most ENTITIES."""
    counts: Counter[str] = Counter()
    for turn in turns:
        if turn.role in ("user", "assistant"):
            weight = 2 if outcomes.by_user(turn) else 1
            for name in _names(turn.content[:READ_CHARS]):
                counts[name] += weight
    for call in made:
        for value in call.params.values():
            if isinstance(value, str) and len(value) <= 300:
                counts.update(entities.files(value))
    for name in counts:
        counts[name] += 2 if name in goal else 0
    kept = [name for name, count in counts.most_common() if count > 1 or len(counts) <= ENTITIES]
    projects = dict.fromkeys(turn.project for turn in turns if turn.project)
    return tuple(dict.fromkeys([*projects, *kept]))[:ENTITIES]


def _names(text: str) -> list[str]:
    """Return the files, code names and entities of a text, in order."""
    found = {*entities.files(text), *entities.in_code(text), *entities.extract(tasks.typed(text))}
    parts = {part for name in found for part in re.split(r"[ /\\]", name) if part != name}  # the longer name says it
    return sorted(found - parts, key=lambda name: (text.find(name), name))


# ------------------------------------------------------------------ summary


def _summary(goal: str, made: Sequence[Call], ended: tuple[str, str], decisions: Sequence[str], language: str) -> str:
    """Write a summary of about SUMMARY_CHARS: goal, actions, outcome and decision."""

    def phrase(name: str, text: object) -> str:
        return label(f"episode.{name}", language).format(text)

    end = label("episode.end", language)
    parts = [phrase("goal", goal.rstrip(STOPS))] if goal else []
    if made:
        counted = Counter(call.name for call in made).most_common(4)
        done = ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in counted)
        wrong = sum(1 for call in made if call.error is not None)
        parts.append(phrase("did", f"{done} ({phrase('wrong', wrong)})" if wrong else done))
    outcome, reason = ended
    room = SUMMARY_CHARS - width(end.join(parts)) - 20
    parts.append(phrase("ended", f"{outcome} ({reason})" if width(reason) <= room else outcome))
    room = SUMMARY_CHARS - width(end.join(parts)) - 12
    if decisions and room > 40:
        parts.append(phrase("why", short(decisions[0], int(room))))
    return short(end.join(parts), SUMMARY_CHARS + 40).rstrip(STOPS) + end.strip()


def _importance(made: Sequence[Call], outcome: EpisodeOutcome, decisions: Sequence[str]) -> float:
    """Score an episode from 0.3 for talk to 0.9 for decisions, work and failures."""
    worth = 0.3 + 0.2 * bool(decisions) + 0.1 * bool(made) + 0.1 * (len(made) >= 5)
    worth += 0.1 * any(call.error for call in made) + 0.1 * (outcome in ("success", "failed"))
    return round(min(worth, 0.9), 2)


def to_markdown(episode: Episode, language: str) -> str:
    """Format an episode as Markdown, under S2's label."""

    def title(name: str) -> str:
        return label(f"episode_title.{name}", language)

    first, last = episode.started_at.date().isoformat(), episode.ended_at.date().isoformat()
    reason = f" ({_line(episode.outcome_reason)})" if episode.outcome_reason else ""
    lines = [
        f"### {title('history')}: {_line(episode.goal) or '—'} ({first if first == last else f'{first}–{last}'})",
        f"- {title('ended')}: {label(f'episode_outcome.{episode.outcome}', language)}{reason}",
    ]
    if episode.summary:
        lines.append(f"- {title('summary')}: {_line(episode.summary)}")
    if episode.decisions:
        lines += [f"- {title('why')}:", *(f"  - {_line(one)}" for one in episode.decisions)]
    if episode.action_nodes:
        lines += [f"- {title('steps')}:", *(f"  {n}. {_step(node)}" for n, node in enumerate(episode.action_nodes, 1))]
    if episode.entities:
        lines.append(f"- {title('about')}: {', '.join(map(_line, episode.entities))}")
    return "\n".join(lines)


def _step(node: ActionNode) -> str:
    params = ", ".join(f"{key}={_line(value)}" for key, value in node.key_params.items())
    result = f" → {'✓' if node.success else '✗'} {_line(node.result_summary)}".rstrip()
    return f"{_line(node.tool_name)}({params}){result}{f' — {_line(node.decision)}' if node.decision else ''}"


def _line(text: object) -> str:
    return " ".join(str(text).split())
