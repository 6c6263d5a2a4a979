"""Adding a language by data alone: German beside English and Chinese, without code."""

import json
import tomllib
from pathlib import Path

import pytest
from sampling import Choice

from yiku.rules.lexicon import build, built_in
from yiku.rules.statements.clause import AGENT, USER, Mood, Tense
from yiku.rules.statements.question import question
from yiku.rules.statements.read import clauses
from yiku.rules.text.sentences import sentences

GERMAN = Path(__file__).parent / "german"
BUILT_IN = Path(build.__file__).parent
TALK = Path(__file__).parents[2] / "bench" / "conflicts"
MANY = 250  # texts that a fast run takes


def tables(folder):
    return {path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.toml"))}


ENGLISH, CHINESE, WORDS = tables(BUILT_IN / "en"), tables(BUILT_IN / "zh"), tables(GERMAN)
THREE = build.lexicon([ENGLISH, CHINESE, WORDS])


def examples(language, column):
    """Predicate and example of a column of predicates.toml."""
    return [
        (name, example)
        for name, entry in language["predicates"].items()
        for example in (entry[column].items() if column == "reads" else entry[column])
    ]


def read(text):
    return clauses(text, THREE)


def test_the_folder_has_the_files_and_tables_of_the_others():
    """Nothing else is asked of a language: of files those that are read, of tables and predicates what it has words for."""
    assert set(ENGLISH) - set(build.LEFT_OUT) == set(WORDS)
    assert set(WORDS["predicates"]) <= set(ENGLISH["predicates"])
    assert 20 <= sum(len(entry["says"]) for entry in WORDS["predicates"].values())
    for name in set(WORDS) - {"predicates"}:
        assert set(WORDS[name]) <= set(ENGLISH[name]), name


@pytest.mark.parametrize(("name", "example"), examples(WORDS, "reads"), ids=str)
def test_a_german_template_reads_its_example(name, example):
    """With the value that stands beside it."""
    text, value = example

    assert (name, value) in [(slot.predicate, text[slot.value.start : slot.value.end]) for one in read(text) for slot in one.slots]


@pytest.mark.parametrize(("name", "text"), examples(WORDS, "leaves"), ids=str)
def test_a_german_template_leaves_what_only_looks_like_it(name, text):
    """As many as there are in the folder."""
    assert name not in {slot.predicate for one in read(text) for slot in one.slots}


def test_german_is_read_without_the_others():
    """Nothing of the reader leans on the words of the languages that Yiku comes with."""
    alone = build.lexicon([WORDS])

    for name, (text, value) in examples(WORDS, "reads"):
        slots = [(slot.predicate, text[slot.value.start : slot.value.end]) for one in clauses(text, alone) for slot in one.slots]
        assert (name, value) in slots


def test_german_changes_no_reading_of_the_others():
    """What English and Chinese sentences say stays what it was, as statements and as questions."""
    texts = {
        text
        for language in (ENGLISH, CHINESE)
        for entry in language["predicates"].values()
        for text in (*entry["reads"], *entry["leaves"])
    }

    assert len(texts) > 80
    assert [] == [text for text in texts if clauses(text, built_in()) != read(text)]
    assert [] == [text for text in texts if question(text, built_in()) != question(text, THREE)]


def test_german_changes_no_reading_of_what_people_say(some: Choice):
    """Nor that of what is said in the benchmark of corrections; a sample of it."""
    lines = [line for path in sorted(TALK.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    texts = some([said["text"] for line in lines for said in json.loads(line)["said"]], MANY)

    assert [] == [text for text in texts if clauses(text, built_in()) != read(text)]


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("Ich wohne in Rom.", [USER]),
        ("Meine Schwester wohnt in Rom.", ["user's sister"]),
        ("Mein Bruder Jan wohnt in Rom, er mag Jazz.", ["user's brother", "user's brother"]),
        ("Jetzt wohne ich in Rom.", [USER]),
        ("Inzwischen wohnt meine Schwester in Rom.", ["user's sister"]),
        ("Anna wohnt in Rom. Sie mag Jazz.", ["@anna", "@anna"]),
        ("Du sollst nie raten.", [AGENT]),
    ],
)
def test_of_whom_a_german_clause_speaks(text, subjects):
    """Also where the subject stands behind its verb, and where a pronoun stands for it."""
    assert subjects == [one.subject for one in read(text)]


@pytest.mark.parametrize(
    ("text", "mood"),
    [
        ("Ich wohne in Rom.", Mood.ASSERTED),
        ("Wohne ich in Rom?", Mood.ASKED),
        ("Wo wohne ich", Mood.ASKED),
        ("Bitte übersetze den Brief.", Mood.REQUESTED),
        ("Wenn ich in Rom wohnen würde, wäre das schön.", Mood.SUPPOSED),
        ("Tom sagt, er wohnt in Rom.", Mood.QUOTED),
        ("„Ich wohne seit Jahren in Rom.“", Mood.QUOTED),
        ("Ich wohne auf dem Mars, war nur ein Scherz.", Mood.JOKED),
    ],
)
def test_how_a_german_clause_is_said(text, mood):
    """Asked, asked for, supposed, told as somebody else's words, in jest."""
    assert mood is read(text)[0].mood


@pytest.mark.parametrize(
    ("text", "tense"),
    [
        ("Ich wohne in Rom.", Tense.NOW),
        ("Früher habe ich in Rom gewohnt.", Tense.PAST),
        ("Ich habe vor, nach Rom zu ziehen.", Tense.PLANNED),
        ("Meine Schwester ist nach Rom gezogen.", Tense.NOW),
    ],
)
def test_of_when_a_german_clause_tells(text, tense):
    """A change tells of what holds since."""
    assert tense is read(text)[0].tense


def test_a_plan_fills_no_slot():
    """Who means to move lives where they live."""
    assert [] == [slot for one in read("Ich habe vor, nach Rom zu ziehen.") for slot in one.slots]


@pytest.mark.parametrize(
    ("text", "cue", "denied"),
    [
        ("Eigentlich wohne ich in Rom.", "corrects", False),
        ("Ich arbeite nicht mehr bei Siemens.", "ends", True),
        ("Meine Schwester zieht um.", "changes", False),
        ("Der Termin wurde auf Freitag verschoben.", "changes", False),
        ("Vergiss das.", "retracts", False),
        ("Ich wohne nicht in Rom.", "", True),
        ("Merk dir, mein Türcode ist 4711.", "remembers", False),
    ],
)
def test_what_a_german_clause_does_to_what_was_said(text, cue, denied):
    """Corrects, ends, changes, takes back, denies, asks to remember."""
    assert (cue, denied) == (read(text)[0].cue, read(text)[0].denied)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Der Umzug ist am 4. Mai um 15 Uhr.", [("time", "4. Mai"), ("time", "15 Uhr")]),
        ("Meine Miete beträgt 850 Euro.", [("amount", "850 Euro")]),
        ("Anna zieht nach Köln.", [("name", "Anna"), ("place", "Köln")]),
    ],
)
def test_german_values(text, values):
    """Dates with their stop, hours, amounts, places; a noun with a capital is no name."""
    assert values == [(value.sort, text[value.start : value.end]) for one in read(text) for value in one.values]


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("Mein Parkplatz ist C03.", (USER, "spot", "C03")),
        ("Meine Miete beträgt 850 Euro.", ("user", "rent", "850 Euro")),
        ("Mein Türcode lautet 4711.", (USER, "door_code", "4711")),
    ],
)
def test_the_attribute_form_in_german(text, slot):
    """A possessor, a noun of the folder, a verb, a value."""
    (found,) = [each for one in read(text) for each in one.slots]

    assert slot[1:] == (found.predicate, text[found.value.start : found.value.end])
    assert not slot[0] or slot[0] == found.subject


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Antworte ab jetzt immer auf Deutsch.", True),
        ("Du sollst nie Emojis verwenden.", True),
        ("Bitte nenne mich künftig Bo.", True),
        ("Verwende nie Emojis.", True),
        ("Ich antworte immer auf Deutsch.", False),
        ("Antworte auf die Frage.", False),
    ],
)
def test_a_standing_order_in_german(text, rule):
    """An order to the agent that holds from now on, and none that holds once or of the speaker."""
    assert rule is read(text)[0].rule


def test_a_question_in_german():
    """What it asks for, of whom, and whether how it was."""
    asked = question("Wo hat meine Schwester früher gewohnt?", THREE)

    assert ("place", {"user's sister"}, True) == (asked.sort, asked.subjects, asked.before)
    assert question("Wo wohnt meine Schwester?", THREE).wanted == {"lives in"}
    assert "name" not in question("Wie verheißt man?", THREE).wanted  # heißt is a word of its own, and no part of one
    assert question("Wo wohne ich?", THREE).content == question("Where do I live?", THREE).content


def test_german_sentences_end_where_a_reader_would_end_them():
    """Not behind the number of a day or an abbreviation of the folder."""
    text = "Der Umzug ist am 4. Mai bzw. später. Ich mag z.B. Jazz. Gut."

    assert ["Der Umzug ist am 4. Mai bzw. später.", "Ich mag z.B. Jazz.", "Gut."] == [
        text[one.start : one.stop] for one in sentences(text, THREE)
    ]
