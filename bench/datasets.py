"""
Read LongMemEval, LoCoMo and our `case` format as benchmark cases.

A case is one memory: its sessions in the order in which they took place, and the questions that are asked of it,
each with the ids of what must be found. A file is plain, .xz or .gz JSON, and stays where it is.

    LongMemEval  [{question_id, question_type, question, question_date, haystack_session_ids, haystack_dates,
                 haystack_sessions: [[{role, content, has_answer?}]], answer_session_ids}]
    LoCoMo       [{sample_id, conversation: {session_1: [{speaker, dia_id, text, blip_caption?}],
                 session_1_date_time, …}, qa: [{question, evidence: ["D1:3"], category}]}]
    case         [{id, dataset, lang, sessions: [{id, datetime, turns: [{id, role, speaker, text, datetime}]}],
                 questions: [{id, type, text, datetime, gold_turns, gold_sessions, abstain, meta}]}]

Questions that name no evidence are left out and counted; of our own cases those that nothing answers are kept apart.
Times without an offset are UTC.
"""

import gzip
import json
import lzma
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from yiku.rules.text import analyze

LOCOMO_TYPES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}  # 5 is adversarial: nothing answers it
OPENERS = {".xz": lzma.open, ".gz": gzip.open}
SAME_DAY = timedelta(minutes=1)  # between sessions of one day of which only the day is known


@dataclass(frozen=True, slots=True)
class Turn:
    """One message or record. `role` is user or assistant; what a phone or a calendar wrote down is the user's."""

    id: str
    role: str
    text: str
    at: datetime
    speaker: str | None = None

    @property
    def said(self) -> str:
        """What is indexed of it, with the speaker's name where there is one."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text

    @property
    def same(self) -> tuple[str, str]:
        """What twins have in common: of one role, and the same when case, width, accents and spaces are folded."""
        return self.role, " ".join(analyze.fold(self.said).split())


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    at: datetime
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """
    A question with its evidence.

    at:      nothing said later may be used
    before:  only so many of the case's sessions had taken place; None: all of them may be in memory
    session: the conversation in which it is a reply, which is the one that comes next
    spoken:  how many turns of that had been said
    """

    id: str
    dataset: str
    type: str
    text: str
    at: datetime
    gold_turns: frozenset[str]
    gold_sessions: frozenset[str]
    before: int | None = None
    session: str | None = None
    spoken: int = 0


@dataclass(frozen=True, slots=True)
class Case:
    id: str
    dataset: str
    language: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]
    left_out: int = 0
    unanswerable: tuple[Question, ...] = ()  # asked too: how sure is an answer that is none?

    @property
    def turns(self) -> Iterator[Turn]:
        return (turn for session in self.sessions for turn in session.turns)


# ------------------------------------------------------------------ files


def read(path: str | Path) -> list[Case]:
    """The cases of a file, whichever of the three formats it is in."""
    path = Path(path)
    with OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8") as file:
        entries = json.load(file)
    if not isinstance(entries, list) or not entries or not isinstance(entries[0], dict):
        raise SystemExit(f"{path.name}: not a list of objects")
    for mark, reader in (("haystack_sessions", longmemeval), ("conversation", locomo), ("sessions", case)):
        if mark in entries[0]:
            return [reader(entry) for entry in entries]
    raise SystemExit(f"{path.name}: neither LongMemEval nor LoCoMo nor cases; an entry has {', '.join(entries[0])}")


def longmemeval(entry: dict[str, Any]) -> Case:
    """
    One question with a memory of its own.

    A gold turn is one marked `has_answer`. The question is asked at the end of its day: it is dated to the minute,
    but one in ten has evidence of later on the same day.
    """
    sessions, gold = [], set()
    for name, date, said in zip(entry["haystack_session_ids"], entry["haystack_dates"], entry["haystack_sessions"], strict=True):
        at, turns = moment(date), []
        for place, turn in enumerate(said):
            if not turn["content"].strip():
                continue
            turns.append(Turn(f"{name}#{place}", _role(turn["role"]), turn["content"], at))
            if turn.get("has_answer"):
                gold.add(turns[-1].id)
        sessions.append(Session(name, at, tuple(turns)))
    question = Question(
        id=entry["question_id"],
        dataset="LongMemEval-S",
        type=entry["question_type"],
        text=entry["question"],
        at=end_of_day(moment(entry["question_date"])),
        gold_turns=frozenset(gold),
        gold_sessions=frozenset(entry["answer_session_ids"]),
    )
    asked = () if question.id.endswith("_abs") else _answerable([question])
    ordered = sorted(sessions, key=lambda session: session.at)
    return Case(question.id, question.dataset, "en", tuple(ordered), asked, left_out=1 - len(asked))


def locomo(entry: dict[str, Any]) -> Case:
    """A conversation of two, both of whom are users here; asked about when it is over. A photo is known by its caption."""
    spoken, sessions = entry["conversation"], []
    numbers = sorted(int(found[1]) for key in spoken if (found := re.fullmatch(r"session_(\d+)", key)))
    for number in numbers:
        at = moment(spoken[f"session_{number}_date_time"])
        turns = []
        for turn in spoken[f"session_{number}"]:
            photo = f" (photo: {turn['blip_caption']})" if turn.get("blip_caption") else ""
            if text := f"{turn.get('text') or ''}{photo}".strip():
                turns.append(Turn(_dialogue_id(turn["dia_id"])[0], "user", text, at, turn["speaker"]))
        sessions.append(Session(f"D{number}", at, tuple(turns)))
    known = {turn.id for session in sessions for turn in session.turns}
    questions = []
    for place, asked in enumerate(entry["qa"]):
        gold = {id for evidence in asked.get("evidence") or () for id in _dialogue_id(evidence)} & known
        if asked["category"] in LOCOMO_TYPES:
            questions.append(
                Question(
                    id=f"{entry['sample_id']}/{place}",
                    dataset="LoCoMo",
                    type=LOCOMO_TYPES[asked["category"]],
                    text=asked["question"],
                    at=end_of_day(max(session.at for session in sessions)),
                    gold_turns=frozenset(gold),
                    gold_sessions=frozenset(id.partition(":")[0] for id in gold),
                )
            )
    kept = _answerable(questions)
    return Case(entry["sample_id"], "LoCoMo", "en", tuple(sessions), kept, left_out=len(entry["qa"]) - len(kept))


def case(entry: dict[str, Any]) -> Case:
    """
    A case of our own format. With `meta.at_index` a question was asked when only so many sessions had taken place; where it
    stands in the next one behind other turns, it is a reply to them.
    """
    names = {"lifebench_zh": "LifeBench-zh", "realmem": "RealMem"}
    dataset = names.get(entry["dataset"], entry["dataset"])
    sessions = []
    for _, same_time in groupby(entry["sessions"], key=lambda session: session["datetime"]):
        for place, session in enumerate(same_time):
            at = moment(session["datetime"]) + place * SAME_DAY
            turns = tuple(
                Turn(
                    turn["id"],
                    _role(turn["role"]),
                    turn["text"],
                    moment(turn["datetime"]) if turn["datetime"] else at,
                    turn["speaker"],
                )
                for turn in session["turns"]
                if turn["text"].strip()
            )
            sessions.append(Session(session["id"], at, turns))
    questions = []
    for asked in entry["questions"]:
        before = (asked.get("meta") or {}).get("at_index")
        running = before is not None and before < len(sessions)  # it is asked while this session goes on
        spoken = _said_before(sessions[before], asked["text"]) if running else 0
        questions.append(
            Question(
                id=f"{entry['id']}/{asked['id']}",
                dataset=dataset,
                type=asked["type"],
                text=asked["text"],
                at=sessions[before].at - timedelta(seconds=1) if running else moment(asked["datetime"], end=True),
                gold_turns=frozenset(asked["gold_turns"]),
                gold_sessions=frozenset(asked["gold_sessions"]),
                before=before,
                session=sessions[before].id if spoken else None,
                spoken=spoken,
            )
        )
    abstained = [answer["abstain"] for answer in entry["questions"]]
    kept = _answerable([asked for asked, abstain in zip(questions, abstained, strict=True) if not abstain])
    nothing = tuple(asked for asked, abstain in zip(questions, abstained, strict=True) if abstain and not asked.gold_sessions)
    left_out = len(questions) - len(kept) - len(nothing)
    return Case(entry["id"], dataset, entry["lang"], tuple(sessions), kept, left_out, nothing)


def _answerable(questions: Sequence[Question]) -> tuple[Question, ...]:
    return tuple(question for question in questions if question.gold_turns or question.gold_sessions)


def _said_before(session: Session, question: str) -> int:
    """How many turns of a session come before the question, if it is one of its turns; else none."""
    wanted = question.split()
    return next((place for place, turn in enumerate(session.turns) if turn.role == "user" and turn.text.split() == wanted), 0)


def _role(role: str) -> str:
    return role if role in ("user", "assistant") else "user"


def _dialogue_id(evidence: str) -> list[str]:
    """The turns that a piece of evidence names, as D1:3; the files also have `D1:3; D2:4`, `D:1:3` and `D01:03`."""
    return [f"D{int(session)}:{int(turn)}" for session, turn in re.findall(r"D:?(\d+):(\d+)", evidence)]


# ------------------------------------------------------------------ times

_WRITTEN = re.compile(r"(\d{4})[-/](\d\d)(?:[-/](\d\d))?(?: \(\w+\))?(?:[ T](\d\d:\d\d(?::\d\d)?))?")  # 2023/06/23 (Fri) 07:31
_SPOKEN = re.compile(r"(\d+):(\d\d) ([ap]m) on (\d+) (\w+), (\d{4})")  # 1:56 pm on 8 May, 2023


def moment(text: str, *, end: bool = False) -> datetime:
    """A time as these files write it; with `end` the last second of the day or month that is all they say."""
    if found := _SPOKEN.match(text):
        hour, minute, half, day, month, year = found.groups()
        return datetime.strptime(f"{day} {month} {year} {hour}:{minute} {half}", "%d %B %Y %I:%M %p").replace(tzinfo=UTC)
    if not (found := _WRITTEN.match(text)):
        raise SystemExit(f"cannot read the time {text!r}")
    year, month, day, clock = found.groups()
    at = datetime.fromisoformat(f"{year}-{month}-{day or '01'}T{clock or '00:00'}").replace(tzinfo=UTC)
    if clock or not end:
        return at
    return end_of_day(at if day else (at + timedelta(days=31)).replace(day=1) - timedelta(days=1))


def end_of_day(at: datetime) -> datetime:
    return at.replace(hour=23, minute=59, second=59)


# ------------------------------------------------------------------ choices


def sampled(cases: Sequence[Case], limit: int | None, seed: int) -> list[Case]:
    """So many questions of each set, drawn by the seed; cases of which none is asked fall away."""
    chosen = {id(question) for case in cases for question in case.questions}
    if limit is not None:
        chosen = set()
        for dataset in dict.fromkeys(case.dataset for case in cases):
            every = [question for case in cases if case.dataset == dataset for question in case.questions]
            chosen |= {id(question) for question in random.Random(seed).sample(every, min(limit, len(every)))}
    kept = [replace(case, questions=tuple(q for q in case.questions if id(q) in chosen)) for case in cases]
    return [case for case in kept if case.questions]


def together(cases: Sequence[Case]) -> list[Case]:
    """
    All cases of one language as one memory, the question's date being all that keeps them apart.

    LongMemEval's sessions are shared by its questions: each is in it once, at the first of its dates.
    """
    merged = []
    for language in dict.fromkeys(case.language for case in cases):
        sessions: dict[str, Session] = {}
        questions = []
        for case in (case for case in cases if case.language == language):
            prefix = "" if case.dataset == "LongMemEval-S" else f"{case.id}/"
            for session in case.sessions:
                turns = tuple(replace(turn, id=prefix + turn.id) for turn in session.turns)
                session_found = sessions.get(prefix + session.id)
                if session_found is None or session.at < session_found.at:
                    sessions[prefix + session.id] = Session(prefix + session.id, session.at, turns)
            questions += [
                replace(
                    question,
                    gold_turns=frozenset(prefix + id for id in question.gold_turns),
                    gold_sessions=frozenset(prefix + id for id in question.gold_sessions),
                    before=None,
                    session=None,
                    spoken=0,
                )
                for question in case.questions
            ]
        ordered = sorted(sessions.values(), key=lambda session: session.at)
        merged.append(Case(f"all-{language}", f"all {language}", language, tuple(ordered), tuple(questions)))
    return merged
