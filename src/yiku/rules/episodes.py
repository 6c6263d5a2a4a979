"""
The story of a session, or of a part of it, told from its turns without a model.

    goal        the first thing that the user asked for (compile.py)
    actions     every call of a tool: its telling parameters, what came back, whether it went wrong (calls.py), and
                the sentence behind it that says what was done because of it
    outcome     what the last words say: the user's verdict, else whether the last request was answered, else how
                the last calls ended. What nobody can tell is `partial`, with the reason
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

from yiku.rules import compile
from yiku.rules.analyze import STOP_WORDS, UNSPACED_RUN, normal
from yiku.rules.calls import Call, calls
from yiku.rules.compile import either, sentences, short
from yiku.types import ActionNode, Episode, EpisodeOutcome, EpisodeSource, Origin, Turn

SUMMARY_CHARS = 200
RESULT_CHARS = 100
PARAMS = 5  # of a call
PARAM_CHARS = 80
SENTENCE_CHARS = 160  # of a decision
DECISIONS = 10
ENTITIES = 20
ENTITY_CHARS = 80
QUOTED_WORDS = 3  # more is a sentence, not a name
READ_CHARS = 4_000  # of a turn, from its beginning: what is said there is what it is about


def tell(
    turns: Sequence[Turn],
    *,
    id: str,
    now: datetime,
    source: EpisodeSource = "session_end",
    language: str | None = None,
) -> Episode:
    """
    The episode of some turns of one session, oldest first; at least one.

    language:   of the summary, en or zh; without it that of the user
    source:     an episode at a compression tells of a session that goes on, so only a clear end is one
    """
    language = language or spoken(turns)
    made = calls(turns)
    nodes = tuple(_node(call, decision) for call, decision in zip(made, _decided(made, turns), strict=True))
    goal = _goal(turns)
    outcome, reason = _outcome(turns, made, language)
    if source == "context_compress" and outcome == "partial":
        outcome, reason = "ongoing", _REASONS["goes on"][language]
    decisions = tuple(_decisions(turns))
    return Episode(
        id=id,
        session=turns[0].session,
        summary=_summary(goal, made, (OUTCOMES[language][outcome], reason), decisions, language),
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
    """The language of the user's turns, en or zh; of all turns where he said nothing."""
    said = [turn.content[:READ_CHARS] for turn in turns if _by_user(turn)] or [turn.content[:READ_CHARS] for turn in turns]
    return language_of(said)


def language_of(texts: Sequence[str]) -> str:
    """The language that most of some texts is in, en or zh: a Chinese character counts as a word."""
    chinese = sum(len(run) for text in texts for run in UNSPACED_RUN.findall(text))
    latin = sum(len(re.findall(r"[A-Za-z]+", text)) for text in texts)
    return "zh" if chinese > latin else "en"


def _by_user(turn: Turn) -> bool:
    """Whether a person said it: what a subagent was told has a user's role only."""
    return turn.role == "user" and turn.origin is Origin.USER and bool(turn.content.strip())


def _goal(turns: Sequence[Turn]) -> str:
    """The first message that asks for something, or that tools were called for; else the first that says something."""
    said = [(place, turn.content) for place, turn in enumerate(turns) if _by_user(turn)]
    ends = [place for place, _ in said[1:]] + [len(turns)]
    asked = (
        compile.task(text)
        for (place, text), end in zip(said, ends, strict=False)
        if compile.asks(text) or any(turn.tool_calls for turn in turns[place + 1 : end])
    )
    return next(filter(None, asked), next(filter(None, (compile.task(text) for _, text in said)), ""))


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
    """The parameters that say what was done: places, commands, names first; bodies only where there is nothing else."""
    given = {str(key): value for key, value in params.items() if value not in (None, "", [], {}, False)}
    telling = {key: value for key, value in given.items() if key.lower() not in _TUNING and value is not True}
    brief = {key: value for key, value in telling.items() if key.lower() not in _BODIES}
    chosen = brief or telling or given
    rank = {key: next((i for i, word in enumerate(_TELLING) if word in key.lower()), len(_TELLING)) for key in chosen}
    first = sorted(chosen, key=rank.__getitem__)[:PARAMS]
    return {key: _shortened(chosen[key]) for key in chosen if key in first}


def _shortened(value: Any) -> Any:
    if isinstance(value, (bool, int, float)):
        return value
    return short(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str), PARAM_CHARS)


def _gist(call: Call) -> str:
    """What came back, in some RESULT_CHARS: what went wrong, else the first lines that have words."""
    if call.error is not None:
        return short(call.error, RESULT_CHARS)
    lines = [_LINE_NUMBER.sub("", line).strip() for line in (call.result or "").splitlines()]
    return short(" ".join(line for line in lines[:40] if any(map(str.isalnum, line))), RESULT_CHARS)


_DECIDES = re.compile(
    either(
        r"\b(?:i'll|i will|we'll|we will|let me|let's|i need to|we need to|need to|i should|we should|so i|so we|so let|instead"
        r"|therefore|going to|because)\b",
        r"\b(?:i'm switching|switch(?:ing)? to|now i|next,? i)\b|^(?:use|try|keep|take|drop)\b",
        r"我(?:们)?(?:来|会|将|先|再|需要|改|换|打算|决定)|所以|因此|于是|那就|改用|改成|换成|接下来|决定|就用|先.{1,20}再",
    ),
    re.IGNORECASE,
)


def _decided(made: Sequence[Call], turns: Sequence[Turn]) -> list[str | None]:
    """
    For each call, what was decided because of its result: a sentence of the first words behind it.

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
        found[number] = next((short(_plain(one), SENTENCE_CHARS) for one in said if _DECIDES.search(one)), None)
    return found


def _plain(sentence: str) -> str:
    """A sentence without the marks of Markdown."""
    return re.sub(r"^(?:[#>*\-•\s]|\d{1,2}[.)]\s)*|\*\*|__|[:：]\s*$", "", sentence)


# ------------------------------------------------------------------ outcome

_HAPPY = re.compile(
    either(
        r"\b(?:thanks?|thank you|thx|works|worked|working now|perfect|great|awesome|excellent|brilliant|solved|fixed|that did it|exactly"
        r"|well done|lgtm|looks good|all good|nice)\b",
        r"谢谢|多谢|感谢|谢了|好了|成功了|可以了|搞定|解决了|没问题|完美|太好了|太棒了|不错|很好|对了|就是这样|辛苦了|正常了",
    ),
    re.IGNORECASE,
)
_NOT_HAPPY = re.compile(  # in front of such a word
    r"(?i)\b(?:no|not|never|isn't|wasn't|don't|doesn't|didn't|if it|until it|whether it|be)\b[^.!?,;]{0,16}$|(?:不太|不是|不怎么|没有?"
    r"|别|如果|等)$"
)
_UNHAPPY = re.compile(
    either(
        r"\bstill (?:fails?|failing|broken|not|(?:does)n'?t|the same|wrong|getting|see(?:ing)?|an? error|crash\w*)\b",
        r"\b(?:not|(?:does|did|is|wo)n'?t) (?:work\w*|fix\w*|right|correct|help\w*|what i)\b",
        r"\b(?:wrong|incorrect|failed again|same error|worse|broken|useless|that'?s not)\b",
        r"还是(?:不行|不对|报错|失败|一样|没|有问题|出错|不能)|不行|不对|没用|没有用|错了|失败了|又报错|不工作|没成功|没解决|不管用|更糟",
    ),
    re.IGNORECASE,
)
_GIVES_UP = re.compile(
    r"^[\s,.!，。！]*"
    + either(
        r"(?:never ?mind|forget (?:it|about it)|cancel(?: it| that)?|stop|leave it|don't bother|i give up)\b",
        r"算了|不用了|放弃|取消吧?|别弄了|停",
    ),
    re.IGNORECASE,
)
_CLAIMS = re.compile(
    either(
        r"\b(?:done|completed?|finished|fixed|implemented|successfully|all (?:tests )?pass(?:ed|es|ing)?|is (?:now )?ready|has been"
        r"|have been)\b",
        r"\bi(?:'ve| have) (?:\w+ )?(?:added|created|updated|written|made|moved|booked|sent|removed|changed|fixed|set)\b",
        r"已经?(?:完成|修复|创建|更新|添加|写好|发送|预订|保存|部署|实现|处理|改)|完成了|修好了|搞定|成功(?!率)|做好了|写好了|全部通过",
    ),
    re.IGNORECASE,
)
_REFUSES = re.compile(
    either(
        r"\bi (?:can'?t|cannot|could not|couldn'?t|am unable|was unable|wasn'?t able)\b|\bi'm (?:sorry|unable|not able)\b",
        r"\b(?:unable to|not possible|failed to|transfer(?:red)? (?:you )?to a human)\b|无法|不能(?!够?再)|做不到|没能|抱歉|失败",
    ),
    re.IGNORECASE,
)
_MORE = re.compile(  # a request in the breath of the thanks: «great, now add tests»
    r"(?i)[,，!！]\s*(?:now|can you|could you|please|but|next|also)\b|[,，!！]\s*(?:再|现在|接着|但|请|帮|能)|[?？]\s*$|^\W*(?:please"
    r"|can|could)\b|^请|^帮"
)
_ENDS_ASKING = re.compile(r"[?？]\s*[\"'”’)）*_]*\s*$")

_REASONS = {
    "said so": {"en": "the user said so: {}", "zh": "用户确认：{}"},
    "not so": {"en": "the user said it is not solved: {}", "zh": "用户说没有解决：{}"},
    "gave up": {"en": "the user gave it up: {}", "zh": "用户放弃了：{}"},
    "unanswered": {"en": "the last request has no answer yet", "zh": "最后的请求还没有答复"},
    "asked back": {"en": "a question to the user is open", "zh": "在等用户回答"},
    "claimed": {"en": "reported as done, and the last call went well", "zh": "助手报告完成，最后一步成功"},
    "refused": {"en": "it could not be done", "zh": "没能做到"},
    "failed call": {"en": "the last call went wrong: {}", "zh": "最后一步出错：{}"},
    "unconfirmed": {"en": "answered, and nobody said whether it helped", "zh": "已答复，没有人确认结果"},
    "nothing asked": {"en": "nothing was asked for", "zh": "没有提出请求"},
    "goes on": {"en": "the session goes on", "zh": "会话仍在继续"},
}


def _outcome(turns: Sequence[Turn], made: Sequence[Call], language: str) -> tuple[EpisodeOutcome, str]:
    """How it ended, and what says so."""

    def because(outcome: EpisodeOutcome, why: str, words: str = "") -> tuple[EpisodeOutcome, str]:
        return outcome, _REASONS[why][language].format(short(words, 60))

    last = max((place for place, turn in enumerate(turns) if _by_user(turn)), default=-1)
    said = turns[last].content if last >= 0 else ""
    answers = [turn.content for turn in turns[last + 1 :] if turn.role == "assistant" and turn.content.strip()]
    later = [call for call in made if call.place > last]
    verdict = _verdict(said) if last > 0 else None
    if verdict == "gave up":
        return because("failed", "gave up", said)
    if verdict == "happy":
        return because("success", "said so", said)
    if verdict == "unhappy" and not answers and not later:
        return because("failed", "not so", said)
    if not said and not made:
        return because("partial", "nothing asked")
    if (answers or later) and later and later[-1].error is not None:
        return because("failed" if not answers or _REFUSES.search(answers[-1]) else "partial", "failed call", later[-1].error)
    if not answers:
        return because("ongoing", "unanswered")
    if _ENDS_ASKING.search(answers[-1]):
        return because("ongoing", "asked back")
    if _REFUSES.search(answers[-1][:400]) and not _CLAIMS.search(answers[-1]):
        return because("failed", "refused")
    if verdict != "unhappy" and made and made[-1].error is None and _CLAIMS.search(answers[-1]):
        return because("success", "claimed")
    return because("partial", "unconfirmed")


def _verdict(said: str) -> str | None:
    """What the user's words say of what was done: happy, unhappy, gave up; None when they ask for something else."""
    text = normal(said)[:600]
    if _GIVES_UP.search(text):
        return "gave up"
    if _UNHAPPY.search(text):
        return "unhappy"
    if (match := _HAPPY.search(text)) and not _NOT_HAPPY.search(text[: match.start()]):
        rest = " ".join(one for one in sentences(text) if not _HAPPY.search(one))
        return None if compile.asks(rest) or _MORE.search(text) else "happy"
    return None


# ------------------------------------------------------------------ decisions, entities

_CHOOSES = re.compile(
    either(
        r"\b(?:we|i|you|they)(?:'ve| have|'ll| will)?\s+(?:\w+ )?(?:chose|chosen|choose|decided|decide|picked|pick|opted|opt|settled"
        r"|selected|use|used|prefer)\b",
        r"\b(?:we|i|you|they)(?:'ve| have|'ll| will)?\s+(?:\w+ )?(?:went with|go with|going with|switch(?:ed)? to)\b|\binstead of\b",
        r"\blet'?s (?:use|go with|keep|switch|stick|take|drop|avoid)\b|\b(?:the )?decision (?:is|was)\b",
        r"决定|选择?(?:了|用)|选定|采用|改用|改成|换成|就用|用了?.{1,30}(?:而不是|不用)|放弃了?.{1,20}改|还是用|定为|敲定",
    ),
    re.IGNORECASE,
)
_WHY = re.compile(
    either(
        r"\b(?:because|so that|as it|due to|the reason|in order to|to avoid|given that|which (?:lets|gives|avoids|allows|makes|keeps))\b",
        r"\bsince (?!\d|yesterday|last|then|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august"
        r"|september|october|november|december)\b",
        r"因为|由于|为了|避免|考虑到|原因是|这样(?:就|可以|能|才)|以便",
    ),
    re.IGNORECASE,
)
_GIVES_WHY = re.compile(
    r"(?i)^(?:because|it(?:'s| is) because|that(?:'s| is) because|this way|the reason)\b|^(?:因为|这是因为|原因是|这样)"
)
_SUPPOSES = re.compile(r"(?i)[?？]\s*$|^\W*(?:if|when|should|could|would|whether|suppose)\b|^\W*(?:如果|要是|假如|是否|要不要)")


def _decisions(turns: Sequence[Turn]) -> Iterator[str]:
    """Sentences that choose something and say why, in the order in which they were said; each once."""
    seen: set[str] = set()
    for turn in turns:
        if turn.role not in ("user", "assistant"):
            continue
        said = sentences(compile.typed(turn.content[:READ_CHARS]))
        for one, following in pairwise([*said, ""]):
            if not _CHOOSES.search(one) or _SUPPOSES.search(one):
                continue
            why = "" if _WHY.search(one) else following if _GIVES_WHY.search(following) else None
            told = "" if why is None else short(_plain(f"{one} {why}".strip()), SENTENCE_CHARS)
            if told and told not in seen:
                seen.add(told)
                yield told
            if len(seen) == DECISIONS:
                return


_FILE_PATH = re.compile(
    r"(?<![\w./\\:-])(?:[A-Za-z]:\\|~?/|\.{1,2}/)?(?:[\w.@+-]+[/\\])*[\w@+-][\w.@+-]*\.(?!\d)[A-Za-z][A-Za-z0-9]{0,7}(?![\w/\\])"
    r"|(?<![\w./\\:])~?/(?:[\w.@+-]+/)+[\w.@+-]+",
    re.ASCII,
)
_SUFFIXES = frozenset(
    "py js ts tsx jsx md txt json jsonl yaml yml toml ini cfg conf csv tsv xls xlsx doc docx ppt pptx pdf html htm css scss xml sql"
    " db sqlite sh bash zsh ps1 bat c h cc cpp hpp cs go rs java kt swift rb php lua r jl scala vue svelte ipynb log lock env png jpg"
    " jpeg gif svg webp mp3 mp4 wav m4a mov zip gz tar whl proto tf ex exs erl dart tex bib rst".split()
)
_CODED = re.compile(r"`([^`\n]{2,60})`")
_CODE_NAME = re.compile(r"(?:@|~?/|\.{0,2}/)?[A-Za-z_][\w./:+#-]+(?: [\w./+#-]+)?")
_QUOTED = re.compile(
    r"「([^」\n]{1,40})」|《([^》\n]{1,40})》|『([^』\n]{1,40})』|“([^”\n]{2,40})”|(?<![\w\"])\"([^\"\n]{2,40})\"(?!\w)"
)
_NAMED = re.compile(
    r"(?<![\w/.-])(?:[A-Z][a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z]{2,}[a-z0-9]*|[A-Z][a-z]+[0-9][\w.]*|[a-z]+[A-Z]\w+)(?![\w/-])", re.ASCII
)
_IN_CHINESE = re.compile(
    r"(?<=[\u4e00-\u9fff])\s?[A-Za-z][A-Za-z0-9+#.-]{1,30}(?![\w/\\])|(?<![\w./\\-])[A-Za-z][A-Za-z0-9+#.-]{1,30}(?=\s?[\u4e00-\u9fff])"
)
_PROPER = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}(?: [A-Z][a-z]+){0,2}(?![\w/])(?!\s*[:*])")
_COMMON = frozenset(
    "Hello Hi Please Thanks Note Done Yes I I'm OK TODO FIXME README API URL HTTP HTTPS JSON HTML CSS SQL PDF CSV UTC AM PM FAQ ID UI"
    " NO YES NOT AND OR IF THE ASAP BTW FYI IMO LGTM WIP TBD ETA NB PS Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
    " January February March April May June July August September October November December English Chinese".split()
)


def _entities(turns: Sequence[Turn], made: Sequence[Call], goal: str) -> tuple[str, ...]:
    """Projects, then what was named most; of names named as often, the first. At most ENTITIES."""
    counts: Counter[str] = Counter()
    for turn in turns:
        if turn.role in ("user", "assistant"):
            weight = 2 if _by_user(turn) else 1
            for name in _names(turn.content[:READ_CHARS]):
                counts[name] += weight
    for call in made:
        for value in call.params.values():
            if isinstance(value, str) and len(value) <= 300:
                counts.update(_paths(value))
    for name in counts:
        counts[name] += 2 if name in goal else 0
    kept = [name for name, count in counts.most_common() if count > 1 or len(counts) <= ENTITIES]
    projects = dict.fromkeys(turn.project for turn in turns if turn.project)
    return tuple(dict.fromkeys([*projects, *kept]))[:ENTITIES]


def _names(text: str) -> list[str]:
    """What a text names, by form: files, what stands in quotation marks, CamelCase, acronyms, proper names; in order."""
    found = set(_paths(text))
    found.update(name for name in _CODED.findall(text) if _CODE_NAME.fullmatch(name) and name not in STOP_WORDS)
    quoted = (next(filter(None, match.groups())).strip(" .!?,。！？，") for match in _QUOTED.finditer(text))
    found.update(name for name in quoted if len(name) > 1 and len(name.split()) <= QUOTED_WORDS and not name.islower())
    prose = re.sub(r"```.*?(?:```|\Z)", " ", text, flags=re.DOTALL)
    patterns = (_NAMED, _PROPER, *([_IN_CHINESE] if UNSPACED_RUN.search(prose) else []))
    found.update(match[0].strip(" .-") for pattern in patterns for match in pattern.finditer(prose))
    parts = {part for name in found for part in re.split(r"[ /\\]", name) if part != name}  # the longer name says it
    kept = found - parts - _COMMON
    return sorted(kept, key=lambda name: (text.find(name), name))


def _paths(text: str) -> list[str]:
    """The files that a text names: something with a suffix that files have, or an absolute path."""
    found = (match[0].rstrip(".,") for match in _FILE_PATH.finditer(text))
    named = (path for path in found if len(path) <= ENTITY_CHARS and not path.startswith("/dev/"))
    return [path for path in named if path.rpartition(".")[2].lower() in _SUFFIXES or path.count("/") > 1]


# ------------------------------------------------------------------ summary

_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "goal": "Wanted: {}",
        "did": "Did: {}",
        "failed": "{} went wrong",
        "ended": "Ended: {}",
        "why": "Decided: {}",
        "end": ". ",
    },
    "zh": {"goal": "目标：{}", "did": "操作：{}", "failed": "{} 次出错", "ended": "结果：{}", "why": "决定：{}", "end": "。"},
}
OUTCOMES: Mapping[str, Mapping[EpisodeOutcome, str]] = {
    "en": {"success": "success", "partial": "partial", "failed": "failed", "ongoing": "ongoing"},
    "zh": {"success": "成功", "partial": "部分完成", "failed": "失败", "ongoing": "进行中"},
}
_TITLES = {
    "en": {"ended": "Outcome", "summary": "Summary", "why": "Decisions", "steps": "Steps", "about": "About"},
    "zh": {"ended": "结果", "summary": "摘要", "why": "决定", "steps": "步骤", "about": "相关"},
}
LABEL = {"en": "History of operations", "zh": "历史操作记录"}


def _summary(goal: str, made: Sequence[Call], ended: tuple[str, str], decisions: Sequence[str], language: str) -> str:
    """One paragraph of some SUMMARY_CHARS: what was wanted, done, reached and decided."""
    words = _WORDS[language]
    width = 4 / 3 if language == "zh" else 1  # of a character, as `short` counts
    parts = [words["goal"].format(goal.rstrip(".。"))] if goal else []
    if made:
        counted = Counter(call.name for call in made).most_common(4)
        done = ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in counted)
        wrong = sum(1 for call in made if call.error is not None)
        parts.append(words["did"].format(f"{done} ({words['failed'].format(wrong)})" if wrong else done))
    outcome, reason = ended
    room = SUMMARY_CHARS - width * len(words["end"].join(parts)) - 20
    parts.append(words["ended"].format(f"{outcome} ({reason})" if width * len(reason) <= room else outcome))
    room = SUMMARY_CHARS - width * len(words["end"].join(parts)) - 12
    if decisions and room > 40:
        parts.append(words["why"].format(short(decisions[0], int(room))))
    return short(words["end"].join(parts), SUMMARY_CHARS + 40).rstrip(".。") + words["end"].strip()


def _importance(made: Sequence[Call], outcome: EpisodeOutcome, decisions: Sequence[str]) -> float:
    """From 0.3 for talk to 0.9: decisions, work done, and what went wrong are worth coming back to."""
    worth = 0.3 + 0.2 * bool(decisions) + 0.1 * bool(made) + 0.1 * (len(made) >= 5)
    worth += 0.1 * any(call.error for call in made) + 0.1 * (outcome in ("success", "failed"))
    return round(min(worth, 0.9), 2)


def to_markdown(episode: Episode, language: str) -> str:
    """The episode as Markdown, under the label that S2 gives it."""
    titles = _TITLES[language]
    first, last = episode.started_at.date().isoformat(), episode.ended_at.date().isoformat()
    reason = f" ({_line(episode.outcome_reason)})" if episode.outcome_reason else ""
    lines = [
        f"### {LABEL[language]}: {_line(episode.goal) or '—'} ({first if first == last else f'{first}–{last}'})",
        f"- {titles['ended']}: {OUTCOMES[language][episode.outcome]}{reason}",
    ]
    if episode.summary:
        lines.append(f"- {titles['summary']}: {_line(episode.summary)}")
    if episode.decisions:
        lines += [f"- {titles['why']}:", *(f"  - {_line(one)}" for one in episode.decisions)]
    if episode.action_nodes:
        lines += [f"- {titles['steps']}:", *(f"  {n}. {_step(node)}" for n, node in enumerate(episode.action_nodes, 1))]
    if episode.entities:
        lines.append(f"- {titles['about']}: {', '.join(map(_line, episode.entities))}")
    return "\n".join(lines)


def _step(node: ActionNode) -> str:
    params = ", ".join(f"{key}={_line(value)}" for key, value in node.key_params.items())
    result = f" → {'✓' if node.success else '✗'} {_line(node.result_summary)}".rstrip()
    return f"{_line(node.tool_name)}({params}){result}{f' — {_line(node.decision)}' if node.decision else ''}"


def _line(text: object) -> str:
    return " ".join(str(text).split())
