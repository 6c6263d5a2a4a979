"""bench/quality.py: data sets are parsed correctly, metrics are right, and nothing later than a question is used for it."""

import copy
import dataclasses
import gzip
import hashlib
import io
import json
import lzma
import os
import re
from datetime import UTC, datetime
from xml.etree import ElementTree

import baselines
import datasets
import embedded
import metrics
import numpy as np
import packed
import pytest
import quality
import reports
from metrics import Found
from rich.console import Console

from yiku.models.e5 import FULL_SPACE, SPACE

LONGMEMEVAL = [
    {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Where did I leave the spare key of the boat?",
        "question_date": "2023/06/23 (Fri) 07:31",
        "haystack_session_ids": ["later", "earlier", "too_late"],
        "haystack_dates": ["2023/06/23 (Fri) 09:00", "2023/05/02 (Tue) 05:35", "2023/06/24 (Sat) 00:01"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I left the spare key of the boat under the blue flower pot.", "has_answer": True},
                {"role": "assistant", "content": " "},
            ],
            [{"role": "user", "content": "The weather is lovely."}, {"role": "assistant", "content": "Enjoy the sun!"}],
            [{"role": "user", "content": "Where did I leave the spare key of the boat? It is on the boat now, the spare key."}],
        ],
        "answer_session_ids": ["later"],
    },
    {
        "question_id": "q2_abs",
        "question_type": "multi-session",
        "question": "How many boats did I sell?",
        "question_date": "2023/06/23 (Fri) 07:31",
        "haystack_session_ids": ["earlier"],
        "haystack_dates": ["2023/05/03 (Wed) 05:35"],
        "haystack_sessions": [[{"role": "user", "content": "The weather is lovely."}]],
        "answer_session_ids": ["earlier"],
    },
]
LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "Hey Bo!"},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Look at this.", "blip_caption": "a red kite over a beach"},
            ],
            "session_2_date_time": "12:05 am on 25 December, 2023",
            "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "I adopted a dog named Rex."}],
        },
        "qa": [
            {"question": "What did Bo fly?", "answer": "a kite", "evidence": ["D1:02; D2:1"], "category": 1},
            {"question": "Which dog has Ann?", "answer": "Rex", "evidence": ["D:2:1"], "category": 4},
            {"question": "Which cat has Ann?", "adversarial_answer": "Rex", "evidence": ["D2:1"], "category": 5},
            {"question": "Who is Cy?", "answer": "?", "evidence": [], "category": 3},
        ],
    }
]


def turn(id, text, at=None, role="user"):
    return {"id": id, "role": role, "speaker": None, "text": text, "datetime": at}


LIFEBENCH = [
    {
        "id": "chen",
        "dataset": "lifebench_zh",
        "lang": "zh",
        "sessions": [
            {
                "id": "2025-01-18",
                "datetime": "2025-01-18",
                "turns": [turn("sms:1", "我妹妹对花生过敏", "2025-01-18 06:00:00", "sms")],
            },
            {
                "id": "2025-02-01",
                "datetime": "2025-02-01",
                "turns": [turn("push:1", "我妹妹对花生过敏，对什么过敏？", role="push")],
            },
        ],
        "questions": [
            {
                "id": "chen_0",
                "type": "Information Extraction",
                "text": "我妹妹对什么过敏？",
                "answer": "花生",
                "datetime": "2025-01",
                "gold_turns": ["sms:1"],
                "gold_sessions": ["2025-01-18"],
                "abstain": False,
                "meta": {},
            },
            {
                "id": "chen_1",
                "type": "Unanswerable",
                "text": "他姐姐呢？",
                "answer": "",
                "datetime": "2025-01",
                "gold_turns": ["sms:1"],
                "gold_sessions": ["2025-01-18"],
                "abstain": True,
                "meta": {},
            },
        ],
    }
]


def step(id, text, gold, before):
    return {
        "id": id,
        "type": "Dynamic Updating",
        "text": text,
        "answer": "",
        "datetime": "2026-01-05 (Monday)",
        "gold_turns": [],
        "gold_sessions": gold,
        "abstain": False,
        "meta": {"at_index": before},
    }


REALMEM = [
    {
        "id": "lin",
        "dataset": "realmem",
        "lang": "en",
        "sessions": [
            {
                "id": f"s{n}",
                "datetime": "2026-01-05 (Monday)",
                "turns": [turn(f"s{n}_1", f"The budget of plan {n} is {n}00 euros.")],
            }
            for n in range(4)
        ],
        "questions": [
            step("Q2", "What is the budget of plan 3?", ["s3"], 3),
            step("Q1", "What is the budget of plan 0?", ["s0"], 1),
        ],
    }
]


def written(folder, name, entries, opener=open):
    path = folder / name
    with opener(path, "wt", encoding="utf-8") as file:
        json.dump(entries, file, ensure_ascii=False)
    return path


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """One case of each set, read from files."""
    folder, sets = tmp_path_factory.mktemp("files"), {"a": LONGMEMEVAL, "b": LOCOMO, "c": LIFEBENCH, "d": REALMEM}
    return [case for name, entries in sets.items() for case in datasets.read(written(folder, f"{name}.json", entries))]


@pytest.fixture(scope="module")
def rows(cases, tmp_path_factory):
    """A run over all of them by words, with the settings of nobody."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("yiku.files.mounts.MOUNTINFO", tmp_path_factory.mktemp("machine") / "no mounts")
        for name in [name for name in os.environ if name.startswith("YIKU_")]:
            patch.delenv(name)
        return quality.run(cases, quality.Options(folder=str(tmp_path_factory.mktemp("homes"))), Console(file=io.StringIO()))


@pytest.fixture
def options(tmp_path, home):
    """Words only, with the settings of nobody."""
    return quality.Options(folder=str(tmp_path), cache=tmp_path / "vectors.db")


# ------------------------------------------------------------------ files


def test_a_file_of_longmemeval_is_read_as_it_is_published(tmp_path):
    """Sessions come in the order of time, marked turns are gold, and an abstention is left out and counted."""
    first, second = datasets.read(written(tmp_path, "s.json.xz", LONGMEMEVAL, lzma.open))
    (question,) = first.questions

    assert ["earlier", "later", "too_late"] == [session.id for session in first.sessions]
    assert [("earlier#0", "user"), ("earlier#1", "assistant")] == [(turn.id, turn.role) for turn in first.sessions[0].turns]
    assert (frozenset({"later#0"}), frozenset({"later"})) == (question.gold_turns, question.gold_sessions)
    assert datetime(2023, 6, 23, 23, 59, 59, tzinfo=UTC) == question.at
    assert ((), 1) == (second.questions, second.left_out)


def test_a_file_of_locomo_is_read_as_it_is_published(tmp_path):
    """Speakers are kept, a photo is its caption, odd evidence is understood; what has no answer is left out."""
    (case,) = datasets.read(written(tmp_path, "locomo10.json.gz", LOCOMO, gzip.open))

    assert ["D1", "D2"] == [session.id for session in case.sessions]
    assert datetime(2023, 5, 8, 13, 56, tzinfo=UTC) == case.sessions[0].at
    assert datetime(2023, 12, 25, 0, 5, tzinfo=UTC) == case.sessions[1].at
    assert "Bo: Look at this. (photo: a red kite over a beach)" == case.sessions[0].turns[1].said
    assert ["multi-hop", "single-hop"] == [question.type for question in case.questions]
    assert [{"D1:2", "D2:1"}, {"D2:1"}] == [set(question.gold_turns) for question in case.questions]
    assert [{"D1", "D2"}, {"D2"}] == [set(question.gold_sessions) for question in case.questions]
    assert 2 == case.left_out


def test_a_file_of_cases_is_read_in_both_languages(tmp_path):
    """What a phone wrote down is the user's; a month ends with its last second; sessions of one day stay in order."""
    (chen,) = datasets.read(written(tmp_path, "zh.json", LIFEBENCH))
    (lin,) = datasets.read(written(tmp_path, "en.json", REALMEM))

    assert ["user", "user"] == [turn.role for turn in chen.turns]
    assert ("chen/chen_0", 1) == (chen.questions[0].id, chen.left_out)
    assert datetime(2025, 1, 31, 23, 59, 59, tzinfo=UTC) == chen.questions[0].at
    assert sorted({session.at for session in lin.sessions}) == [session.at for session in lin.sessions]
    assert [3, 1] == [question.before for question in lin.questions]
    assert lin.sessions[2].at < lin.questions[0].at < lin.sessions[3].at


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2023/06/23 (Fri) 07:31", "2023-06-23T07:31:00+00:00"),
        ("2023-10-01 06:00:05", "2023-10-01T06:00:05+00:00"),
        ("2025-12-15 (Monday)", "2025-12-15T23:59:59+00:00"),
        ("2025-12", "2025-12-31T23:59:59+00:00"),
        ("2024-02", "2024-02-29T23:59:59+00:00"),
        ("12:09 am on 13 September, 2023", "2023-09-13T00:09:00+00:00"),
    ],
)
def test_times_are_read_as_each_set_writes_them(text, expected):
    """What is said to the day or month is taken to its end, when the end is asked for."""
    assert expected == datasets.moment(text, end=True).isoformat()


def test_a_sample_is_of_each_set_and_the_same_for_a_seed(cases):
    """So many questions a set; cases of which nothing is asked are not loaded."""
    sample = datasets.sampled(cases, 1, seed=3)

    assert {"LongMemEval-S": 1, "LoCoMo": 1, "LifeBench-zh": 1, "RealMem": 1} == {c.dataset: len(c.questions) for c in sample}
    assert sample == datasets.sampled(cases, 1, seed=3)
    assert "q2_abs" not in {case.id for case in sample}


def test_all_conversations_of_a_language_make_one_memory(cases):
    """Ids of two people do not meet, a session that questions share is there once, and the date keeps them apart."""
    english, chinese = datasets.together(cases)
    ids = [turn.id for turn in english.turns]

    assert ("en", "zh") == (english.language, chinese.language)
    assert len(set(ids)) == len(ids)
    assert {"later#0", "conv-1/D1:1", "lin/s0_1"} <= set(ids)
    assert ["2023-05-02"] == [str(session.at.date()) for session in english.sessions if session.id == "earlier"]
    assert {"chen/sms:1"} == chinese.questions[0].gold_turns
    assert {None} == {question.before for question in english.questions}


# ------------------------------------------------------------------ figures


def test_measures_are_what_a_hand_computes():
    """Gold at ranks 2 and 7 of three that there are."""
    found = metrics.found(["x", "a", "y", "z", "u", "v", "b"], {"a", "b", "c"})

    assert Found((2, 7), 3) == found
    assert [0, 1, 1] == [found.any(k) for k in (1, 5, 10)]
    assert [0, 0, 0] == [found.all(k) for k in (1, 5, 10)]
    assert [0, pytest.approx(1 / 3), pytest.approx(2 / 3)] == [found.share(k) for k in (1, 5, 10)]
    assert 0.5 == found.reciprocal()
    assert 50.0 == metrics.mean("any@5", [found, Found((), 1)])


def test_a_perfect_ranking_gets_100_and_an_empty_one_0():
    """At every measure whose depth holds the evidence."""
    perfect, empty = metrics.found(["a"], {"a"}), metrics.found([], {"a"})

    assert {100.0} == {metrics.mean(name, [perfect]) for name in metrics.MEASURES}
    assert {0.0} == {metrics.mean(name, [empty]) for name in metrics.MEASURES}


def test_the_bootstrap_agrees_with_theory():
    """Equal systems differ by nothing; 60 wins of 100 by 60 points, within two standard errors of 4.9."""
    wins = [1.0] * 60 + [0.0] * 40
    same = metrics.bootstrap(wins, wins, seed=1)
    better = metrics.bootstrap(wins, [0.0] * 100, seed=1)

    assert (0, 0, 0) == same
    assert 60 == pytest.approx(better.points)
    assert (60 - 9.6, 60 + 9.6) == pytest.approx((better.low, better.high), abs=1.1)
    assert better == metrics.bootstrap(wins, [0.0] * 100, seed=1)


def test_the_bootstrap_is_paired():
    """Two systems that win and lose on the same questions are told apart by the few on which they differ."""
    theirs = [1.0, 0.0] * 100
    ours = [1.0, *theirs[1:-1], 1.0]
    paired = metrics.bootstrap(ours, theirs, seed=2)

    assert (0.5, True) == (paired.points, paired.high <= 2.0)  # unpaired it would reach from -9 to +10


def test_confidence_is_judged_by_pairs_and_at_a_threshold():
    """A tie counts half; the threshold keeps nine in ten, and no more is asked of it."""
    present = [0.9, 0.8, 0.7, 0.6, 0.5, 0.5, 0.5, 0.4, 0.3, 0.1]

    assert 0.875 == metrics.auroc([3, 2], [1, 2])
    assert (0.3, 0.5) == metrics.caught(present, [0.2, 0.3])


# ------------------------------------------------------------------ asking


def test_what_nothing_answers_is_asked_too(tmp_path):
    """Questions without evidence that are to be abstained from are kept apart, asked last, and judged by their confidence alone."""
    entry = copy.deepcopy(LIFEBENCH[0])
    entry["questions"].append({**entry["questions"][0], "id": "chen_9", "text": "法国的首都是哪里？", "abstain": True})
    entry["questions"][-1] |= {"gold_turns": [], "gold_sessions": []}
    case = datasets.case(entry)
    *answered, last = quality.asked(case, quality.Options(folder=str(tmp_path)))
    report = reports.report([*answered, last], quality.OURS, seed=0)

    assert (1, 1, ["chen/chen_9"]) == (len(case.questions), case.left_out, [one.id for one in case.unanswerable])
    assert (quality.Unanswered, "chen/chen_9") == (type(last), last.question)
    ((_, group),) = report["sets"].items()
    assert (1, 1) == (group["questions"], group["nothing"]["questions"])
    assert float(answered[0].confidence[0] > last.confidence) == group["nothing"]["auroc"]


def test_the_right_turn_is_found_and_nothing_of_later(rows):
    """In each set one turn of after the question's date fits better than the evidence: neither we nor others name it."""
    rows = {row.question: row for row in rows}

    for name in (quality.OURS, "FTS5"):
        for question in ("q1", "chen/chen_0"):
            assert Found((1,), 1) == rows[question].answers[name].turns, (name, question)
            assert Found((1,), 1) == rows[question].answers[name].sessions, (name, question)
    assert Found((1,), 1) == rows["lin/Q1"].answers["FTS5"].sessions  # only its session had taken place
    assert () == rows["lin/Q2"].answers[quality.OURS].sessions.ranks  # its evidence had not
    assert () == rows["lin/Q2"].answers["FTS5"].sessions.ranks
    assert 0 == rows["lin/Q1"].answers[quality.OURS].turns.of


def test_a_question_inside_a_stream_is_asked_before_the_rest_is_there(options):
    """Also when its date would allow more: what had not taken place is in no memory, ours or others'."""
    at = datetime(2026, 1, 5, tzinfo=UTC)
    sessions = tuple(
        datasets.Session(f"s{n}", at, (datasets.Turn(f"t{n}", "user", f"计划{n}的预算是 {n}00 euros", at),)) for n in range(3)
    )
    question = datasets.Question("q", "set", "type", "预算 of 计划2?", at, frozenset({"t2"}), frozenset({"s2"}), before=2)
    (row,) = quality.asked(datasets.Case("c", "set", "zh", sessions, (question,)), options)

    assert {quality.OURS: (), "FTS5": ()} == {
        name: answer.turns.ranks for name, answer in row.answers.items() if "jieba" not in name
    }
    assert None is row.confidence  # there was nothing to forget


def test_a_reply_is_asked_within_its_conversation(options, tmp_path):
    """What was said before it in its session is given, never found, and recorded once; the rest comes when the session is over."""
    entry = copy.deepcopy(REALMEM[0])
    said = ["Let us go on with the greenhouse.", "谢谢！", "What is the sum?", "And who pays?"]
    entry["sessions"][3]["turns"] = [turn(f"s3_{n}", text, role=("user", "assistant")[n == 1]) for n, text in enumerate(said)]
    entry["sessions"][1]["turns"] += [turn("s1_2", "The greenhouse may cost 700 euros, says Ann.")]
    entry["questions"] = [
        step("Q1", said[0], ["s1"], 3),
        step("Q2", "What is  the sum?", ["s1"], 3),
        step("Q3", said[3], ["s1"], 3),
    ]
    case = datasets.case(entry)
    asked, recorded = [], []
    with pytest.MonkeyPatch.context() as patch:
        recall, record = quality.Memory.recall, quality.Memory.record
        patch.setattr(quality.Memory, "recall", lambda memory, *given, **how: asked.append(how) or recall(memory, *given, **how))
        patch.setattr(
            quality.Memory,
            "record",
            lambda memory, turns: recorded.append([t["external_id"] for t in turns]) or record(memory, turns),
        )
        rows = quality.asked(case, dataclasses.replace(options, whole=False))

    assert [(None, 0), ("s3", 2), ("s3", 3)] == [(question.session, question.spoken) for question in case.questions]
    assert [None, "s3", "s3"] == [how["session"] for how in asked]
    assert [["s0_1", "s1_1", "s1_2", "s2_1"], ["s3_0", "s3_1"], ["s3_2"]] == recorded
    first, second, _ = (row.answers[quality.OURS].sessions for row in rows)
    assert (1,) == first.ranks
    assert (1,) == second.ranks  # by the greenhouse, which the reply does not name
    alone = dataclasses.replace(case.questions[1], session=None)
    (last,) = quality.asked(dataclasses.replace(case, questions=(alone,)), options)
    assert () == last.answers[quality.OURS].sessions.ranks


def test_a_stream_is_recorded_piece_by_piece():
    """Each turn once and in order, wherever questions stand; the part of a session that goes on is apart."""
    at = datetime(2026, 1, 5, tzinfo=UTC)
    sessions = tuple(
        datasets.Session(f"s{n}", at, tuple(datasets.Turn(f"{n}{k}", "user", "好", at) for k in range(4))) for n in range(4)
    )
    case, held, seen = datasets.Case("c", "set", "zh", sessions, ()), (0, 0), []
    for until in [(0, 2), (0, 2), (0, 3), (2, 1), (3, 0), (4, 0)]:
        finished, running = quality.between(case, held, until)
        seen.append([[turn.id for session in part for turn in session.turns] for part in (finished, running)])
        held = until

    assert [
        [[], ["00", "01"]],
        [[], []],
        [[], ["02"]],
        [["03", "10", "11", "12", "13"], ["20"]],
        [["21", "22", "23"], []],
        [["30", "31", "32", "33"], []],
    ] == seen


def test_twins_of_a_turn_count_as_one(options):
    """Who finds the very words of a gold turn in another has found it, at the rank of the first; another role is no twin."""
    at = datetime(2025, 1, 1, tzinfo=UTC)
    said = [
        ("other", "user", "I had tea."),
        ("one", "user", "The boat key is under the blue pot."),
        ("two", "user", "the boat  key is under the BLUE pot."),
        ("echo", "assistant", "The boat key is under the blue pot."),
    ]
    turns = {id: datasets.Turn(id, role, text, at) for id, role, text in said}
    sessions = tuple(datasets.Session(f"in {id}", at, (turn,)) for id, turn in turns.items())
    spoken = packed.Told.of(sessions)
    question = datasets.Question("q", "set", "type", "Where is the boat key?", at, frozenset({"two"}), frozenset({"in two"}))
    case = datasets.Case("c", "set", "en", sessions, (question,))
    (row,) = quality.asked(case, options)

    assert ["other", "two", "two", "echo"] == [spoken.twin(id, {"two"}) for id in turns]
    assert {"one"} == spoken.merged({"one", "two"})
    for name, answer in row.answers.items():
        assert (Found((1,), 1), Found((1,), 1)) == (answer.turns, answer.sessions), name
        assert {1.0} == {*answer.inside.values()}, name
    assert {"one", "two"} == spoken.twins({"two"})
    assert None is row.confidence  # to forget one session would leave the other with the answer
    (row,) = quality.asked(dataclasses.replace(case, sessions=(sessions[0], *sessions[2:])), options)
    assert row.confidence[1] < row.confidence[0]


def test_evidence_is_forgotten_for_one_question_and_then_back(cases, options, tmp_path):
    """Confidence falls while the evidence is away; afterwards the same question gets the same answer."""
    chen = next(case for case in cases if case.id == "chen")
    (question,) = chen.questions
    conversation = quality.Conversation(tmp_path / "home", None, options)
    with conversation.memory:
        conversation.add(chen.sessions)
        before = conversation.recall(question)
        with conversation.without(["2025-01-18"]):
            during = conversation.recall(question)
        after = conversation.recall(question)

    assert ["sms:1"] == conversation.turns(before) == conversation.turns(after)
    assert [] == conversation.turns(during)
    assert quality.sure(during) < quality.sure(before) == quality.sure(after)


def test_a_statement_counts_through_its_source_turn(cases, options, tmp_path):
    """A hit that is a memory stands for the turn that it was told in."""
    chen = next(case for case in cases if case.id == "chen")
    conversation = quality.Conversation(tmp_path / "home", None, options)
    with conversation.memory as memory:
        conversation.add(chen.sessions[:1])
        (said,) = memory.search_traces("花生")
        memory.remember("我妹妹对花生过敏", source=said.id, said_at=said.said_at)
        hits = conversation.recall(chen.questions[0])

        assert "memory" == hits[0].type
        assert ["sms:1"] == conversation.turns(hits)


def test_a_night_runs_before_the_questions(cases, options, tmp_path):
    """It tells each session in an episode; the evidence is found first as without, and is away for one question only."""
    chen = next(case for case in cases if case.id == "chen")
    (question,) = chen.questions
    conversation = quality.Conversation(tmp_path / "home", None, dataclasses.replace(options, night=True))
    with conversation.memory as memory:
        conversation.add(chen.sessions[:1])
        before = conversation.recall(question)
        with conversation.without(["2025-01-18"]):
            during = conversation.recall(question)
        after = conversation.recall(question)

        assert ["2025-01-18"] == [one.session for one in memory.sessions.episodes()]
        assert ["sms:1"] == conversation.turns(before) == conversation.turns(after)
        assert quality.sure(during) < quality.sure(before) == quality.sure(after)


def test_the_local_model_has_the_vocabulary_of_the_run(options):
    """`--vocab` is the setting local_vocab; nothing is loaded for it."""
    for vocab, space in (("en+zh", SPACE), ("full", FULL_SPACE)):
        with quality.embedder(dataclasses.replace(options, search="local", vocab=vocab)) as cached:
            assert cached.space.startswith(f"{space} adapter ")


def test_a_weight_is_another_for_one_run_only():
    """An ablation puts one weight to nothing, or to what it is told, and leaves the product as it was."""
    weights = dict(quality.fuse.WEIGHTS)
    name = next(iter(weights))

    assert {f"without {name}": {name: 0.0}, f"{name}=0.2": {name: 0.2}} == quality.variants([name, f"{name}=0.2"])
    assert {f"without {each}" for each in weights} == set(quality.variants([]))
    with quality.weighing({name: 0.0}):
        assert 0.0 == quality.fuse.WEIGHTS[name]
    assert weights == quality.fuse.WEIGHTS
    with pytest.raises(SystemExit, match="there is no weight nonsense"):
        quality.variants(["nonsense"])


# ------------------------------------------------------------------ prompts


def test_what_is_inside_is_counted_in_text():
    """A packed turn whose text was cut off is not inside."""
    at = datetime(2025, 1, 1, tzinfo=UTC)
    texts = {"short": "I fly a red kite.", "zh": "我妹妹对花生过敏。"}
    turns = {id: datasets.Turn(id, "user", text, at) for id, text in texts.items()}

    spoken = packed.Told.of([datasets.Session("s", at, tuple(turns.values()))])

    assert 0.0 == packed.share("- 我妹妹对花生", ["zh", "short"], {"zh", "short"}, spoken)
    assert 0.5 == packed.share("- I fly a  red kite. - 我妹", ["zh", "short"], {"zh", "short"}, spoken)
    assert 0.0 == packed.share("- I fly a red kite.", [], {"short"}, spoken)


@pytest.mark.parametrize("budget", [120, 700])
def test_the_ranking_of_others_is_packed_as_ours(options, tmp_path, budget):
    """The text of a ranking that is the one of recall is that of context, byte for byte but for the seal and the ids."""
    at = datetime(2025, 1, 1, tzinfo=UTC)
    said = [
        ("b", "My sister rides a red bicycle. " * 3 + "She lives in Oslo. " * 60),
        *((f"c{n}", f"My sister lives on {n} songs, 从早到晚。") for n in range(20)),
        *((f"d{n}", f"Lunch was {n} plums.") for n in range(200)),
    ]
    session = datasets.Session("s", at, tuple(datasets.Turn(id, "user", text, at) for id, text in said))
    question = datasets.Question("q", "set", "type", "Where in Oslo does my sister live?", at, frozenset({"b"}), frozenset({"s"}))
    conversation = quality.Conversation(tmp_path / "home", None, options)
    with conversation.memory:
        conversation.add([session])
        ranking = conversation.turns(conversation.recall(question))
        ours, ids = conversation.packed(question, budget)
    spoken = packed.Told.of([session])
    theirs = packed.packed(ranking, question, budget, spoken)
    assert {120: 5, 700: 21}[budget] == len(ids)
    marks = r'seal="\w+"|#\w{8}'

    assert ids == theirs[1]
    assert re.sub(marks, "", ours) == re.sub(marks, "", theirs[0])
    if budget == 700:
        assert "…" in ours  # a long turn is shortened
        found = packed.share(packed.beginning(ours, budget), ids, {"b"}, spoken)
        assert 1.0 == found == packed.shares(ranking, question, {"b"}, spoken)[budget]


def test_a_beginning_has_as_many_tokens_as_it_is_given():
    """Also without a tokenizer, by estimate, in both languages."""
    text = "I fly a red kite over the beach. 我妹妹对花生过敏。" * 20

    assert text.startswith(packed.estimated_beginning(text, 50))
    assert 49 <= packed.estimate(packed.estimated_beginning(text, 50)) <= 50
    assert text == packed.estimated_beginning(text, 10_000)
    assert packed.count(packed.beginning(text, 50)) <= 51


# ------------------------------------------------------------------ vectors


class Letters:
    """A model whose vectors are counts of letters; it counts how often it was asked for what."""

    space = "letters"

    def __init__(self):
        self.asked = []

    def embed(self, texts, role):
        self.asked += [(role, text) for text in texts]
        counts = np.array([[text.count(letter) + 0.01 for letter in "abcdefgh猫狗"] for text in texts], np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    def close(self):
        self.asked = None


def test_a_vector_is_computed_once_for_all_runs(tmp_path):
    """It lies in the file under space, role and text, in float32; another role is another vector."""
    model = Letters()
    first = embedded.Cached(model, tmp_path / "below" / "vectors.db")
    vectors = first.embed(["abba", "猫", "abba"], "passage")
    first.embed(["abba"], "query")
    again = embedded.Cached(model, tmp_path / "below" / "vectors.db").embed(["猫", "abba"], "passage")
    key = hashlib.sha256("letters\0passage\0猫".encode()).digest()

    assert [("passage", "abba"), ("passage", "猫"), ("query", "abba")] == model.asked
    assert vectors[[1, 0]].tolist() == again.tolist()
    assert np.float32 == vectors.dtype
    assert vectors[1].tobytes() == first._connection.execute("select vec from v where key = ?", (key,)).get
    assert ["hg"] == first.missing(["猫", "hg"], "passage")


def test_the_first_run_says_what_it_will_take(tmp_path, cases):
    """An estimate, then every text of the cases; the next run has nothing left to say."""
    cached, said = embedded.Cached(Letters(), tmp_path / "vectors.db"), []
    embedded.fill(cached, cases, said.append, iter)

    assert 1 == len(said)
    assert "texts to embed" in said[0]
    assert [] == cached.missing([text for role, text in embedded.texts(cases) if role == "passage"], "passage")
    embedded.fill(cached, cases, said.append, iter)
    assert 1 == len(said)


def test_what_was_filled_is_all_that_a_run_asks_for(tmp_path, cases, options):
    """The product's windows, the texts behind a turn before, the questions, the others' vectors: the estimate is of all of them."""
    model = Letters()
    cached = embedded.Cached(model, tmp_path / "vectors.db")
    embedded.fill(cached, cases, str, iter)
    filled = len(model.asked)
    for case in cases:
        conversation = quality.Conversation(tmp_path / case.id, cached, dataclasses.replace(options, search="local"))
        with conversation.memory:
            conversation.add(case.sessions)
            others = baselines.Baselines(case.language, cached)
            others.add(list(case.turns))
            for question in case.questions:
                assert conversation.recall(question)
                assert others.ranked(question)["vectors"]

    assert filled == len(model.asked)


def test_the_others_rank_by_words_by_vectors_and_by_both():
    """Pairs of Chinese characters, any word of a question, the nearest window, reciprocal ranks; never what was said later."""
    at = datetime(2025, 1, 1, tzinfo=UTC)
    turns = [datasets.Turn(id, "user", text, at) for id, text in (("x", "cabbage"), ("y", "一只猫和狗"), ("z", "猫猫 cab"))]
    question = datasets.Question("q", "set", "type", "猫猫 cab!", at, frozenset({"z"}), frozenset())
    others = baselines.Baselines("zh", Letters())
    others.add(turns[:2])
    others.add([*turns[2:], datasets.Turn("later", "user", "猫猫 cab!", at.replace(day=2))])
    ranked = others.ranked(question)

    assert ["一只", "只猫", "abc", "猫"] == baselines.bigrams("一只猫 ABC，猫")
    assert ["z"] == ranked["FTS5"]
    assert "z" == ranked["vectors"][0] == ranked["RRF"][0]
    assert "later" not in {id for ranking in ranked.values() for id in ranking}
    assert ["b", "a", "c"] == baselines.fused(["a", "b"], ["b", "c"])


# ------------------------------------------------------------------ the report


def test_a_run_becomes_tables_a_line_and_a_picture(cases, rows, tmp_path):
    """Each set, all together, the comparison; the line is found again by data and settings, and a fall is named."""
    report = {
        "at": "2026-01-01T00:00:00+00:00",
        "commit": "abc",
        "settings": {"search": "words"},
        "data": reports.about(cases, ["/somewhere/a.json"]),
        "confidence_is": "confidence",
        **reports.report(rows, quality.OURS, seed=0),
        "recall_cpu_ms_p50": 1.0,
        "seconds": 1.0,
    }
    out, path = io.StringIO(), tmp_path / "results.jsonl"
    console = Console(file=out, width=200)
    reports.show(report, console)
    reports.keep(path, report)
    kept = reports.previous(path, report)
    kept["figures"]["LifeBench-zh turn any@1"] = 101.5
    reports.show_change(kept, report, console)
    svg = ElementTree.fromstring(reports.picture(report))

    assert ["a.json"] == report["data"]["files"]
    assert ["LongMemEval-S", "LoCoMo", "LifeBench-zh", "RealMem", reports.ALL] == list(report["sets"])
    assert 6 == report["sets"][reports.ALL]["questions"]
    assert 100.0 == kept["figures"]["LongMemEval-S turn any@1"]
    assert "-1.5  LifeBench-zh turn any@1" in out.getvalue()
    assert "session any@1" in out.getvalue()
    assert None is reports.previous(path, {**report, "settings": {"search": "local"}})
    systems = report["sets"][reports.ALL]["systems"]  # one more where jieba is installed
    assert 3 * len(systems) == len(svg.findall(".//{http://www.w3.org/2000/svg}polyline"))  # three sets have gold turns
