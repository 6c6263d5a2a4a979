"""The reader: clauses with subject, mood, time, cue, values and slots; in both languages."""

import pytest

from yiku.rules.lexicon import built_in
from yiku.rules.statements.clause import AGENT, USER, Mood, Tense
from yiku.rules.statements.question import question
from yiku.rules.statements.read import read


def told(text):
    """Each clause with whom it speaks of."""
    return [(text[clause.start : clause.end], clause.subject) for clause in read(text)]


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        (
            "My husband Tom is a paramedic, he works nights this month",
            [("My husband Tom is a paramedic", "user's husband"), ("he works nights this month", "user's husband")],
        ),
        ("我身高180，体重72公斤，对花生过敏", [("我身高180", USER), ("体重72公斤", USER), ("对花生过敏", USER)]),
        ("My boss is called Tom.", [("My boss is called Tom", "user's boss")]),
        ("我妹妹叫小雨，她对花生过敏。", [("我妹妹叫小雨", "user's sister"), ("她对花生过敏", "user's sister")]),
        ("Ann moved away. She works at Siemens.", [("Ann moved away", "@ann"), ("She works at Siemens", "@ann")]),
        ("You should never push to main.", [("You should never push to main", AGENT)]),
        ("Always answer in Chinese.", [("Always answer in Chinese", AGENT)]),
    ],
)
def test_a_clause_knows_of_whom_it_speaks(text, clauses):
    """A clause without a subject has that of the one before it; a pronoun leads to the only person named."""
    assert clauses == told(text)


@pytest.mark.parametrize(
    ("text", "mood"),
    [
        ("I live in Oslo.", Mood.ASSERTED),
        ("Do I live in Oslo?", Mood.ASKED),
        ("我住在哪里？", Mood.ASKED),
        ("Please translate the letter.", Mood.REQUESTED),
        ("If I lived in Oslo I would ski.", Mood.SUPPOSED),
        ("如果我住在奥斯陆就好了。", Mood.SUPPOSED),
        ("Tom said he lives in Rome.", Mood.QUOTED),
        ("小明说他住在罗马。", Mood.QUOTED),
        ("I live on Mars, just kidding.", Mood.JOKED),
        ("我住在火星，开玩笑的。", Mood.JOKED),
    ],
)
def test_a_clause_knows_how_it_is_said(text, mood):
    assert mood is read(text)[0].mood


@pytest.mark.parametrize(
    ("text", "tense"),
    [
        ("I live in Oslo.", Tense.NOW),
        ("I used to live in Oslo.", Tense.PAST),
        ("我以前住在奥斯陆。", Tense.PAST),
        ("我平时会做瑜伽。", Tense.NOW),
        ("I'm planning to move to Oslo.", Tense.PLANNED),
        ("我打算搬到奥斯陆。", Tense.PLANNED),
        ("I moved to Oslo.", Tense.NOW),
        ("我搬到奥斯陆了。", Tense.NOW),
    ],
)
def test_a_clause_knows_its_time(text, tense):
    """A change tells of what holds since."""
    assert tense is read(text)[0].tense


@pytest.mark.parametrize(
    ("text", "tense"),
    [
        ("In those days we rent a flat, and walk to work.", Tense.PAST),
        ("前几年我家宽带是海讯的，一到晚上就卡顿得厉害。", Tense.PAST),
        ("In those days I rent a flat, now I own a house.", Tense.NOW),
        ("以前我住在奥斯陆，现在我住在上海。", Tense.NOW),
    ],
)
def test_what_goes_on_behind_the_past_tells_of_then(text, tense):
    """Until a clause names its subject, or says that it is of now."""
    assert tense is read(text)[-1].tense


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("Actually, the launch is on Friday.", "corrects"),
        ("其实发布会在周五。", "corrects"),
        ("I no longer work at Siemens.", "ends"),
        ("我不再喝咖啡了。", "ends"),
        ("The launch moved to Friday.", "changes"),
        ("发布会改到周五。", "changes"),
        ("Forget what I said.", "retracts"),
        ("当我没说。", "retracts"),
    ],
)
def test_a_clause_knows_what_it_does_to_what_was_said(text, cue):
    assert cue == read(text)[0].cue


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("I don't live in Oslo.", True),
        ("The demo is on Tuesday, not Monday.", False),
        ("我女儿七岁，不是九岁。", False),
        ("我不住在奥斯陆。", True),
        ("No, it is on Tuesday.", False),
        ("I'm allergic to peanuts but not to cats.", False),
        ("I have asthma and no allergies.", False),
        ("I do not like tea and not coffee.", True),
    ],
)
def test_what_is_set_apart_is_not_denied(text, denied):
    assert denied is read(text)[0].denied


@pytest.mark.parametrize("text", ["I live in Oslo. " * 200, "我住在奥斯陆，" * 300, "((((" * 500, '"' * 900, "and " * 900])
def test_any_text_is_read(text):
    """Whatever it is made of, it has clauses with places in order, or none."""
    places = [(clause.start, clause.end) for clause in read(text)]

    assert places == sorted(places) and all(start < end <= len(text) for start, end in places)


@pytest.mark.parametrize(
    ("text", "sort", "subjects", "before"),
    [
        ("Where do I live?", "place", {USER}, False),
        ("我住在哪里？", "place", {USER}, False),
        ("When is the launch?", "time", set(), False),
        ("Where did my sister previously work?", "place", {"user's sister"}, True),
        ("我妹妹以前在哪里上班？", "place", {"user's sister"}, True),
        ("How much is the rent?", "amount", set(), False),
    ],
)
def test_a_question_says_what_it_wants(text, sort, subjects, before):
    asked = question(text, built_in())

    assert (sort, subjects, before) == (asked.sort, asked.subjects, asked.before)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("My sister moved to Tromsø.", {"sister", "move", "tromso"}),
        ("Åse drinks crème fraîche.", {"as", "drink", "creme", "fraich"}),
        ("我妹妹搬到特罗姆瑟了。", {"sister", "搬到", "特罗", "罗姆", "姆瑟"}),
    ],
)
def test_a_word_with_an_accent_is_one_word(text, content):
    """Only a script that is written without spaces is read by its pairs of characters."""
    assert content == read(text)[0].content


def test_a_name_is_known_with_and_without_its_accent():
    """Asking for Øyvind or for Oyvind finds what was said of either."""
    assert {"@oyvind"} == {read(text)[0].subject for text in ("Øyvind lives in Rome.", "Oyvind lives in Rome.")}


@pytest.mark.parametrize(
    ("text", "predicates"),
    [("My maths teacher is Mr Okonjo.", {"teacher"}), ("My parts are in the pairs.", set()), ("我的预算是五万元。", {"budget"})],
)
def test_a_plural_is_that_of_its_own_word(text, predicates):
    """maths is no plural of may, nor parts of pay: an ending gives way to that of its own singular."""
    assert predicates == {slot.predicate for clause in read(text) for slot in clause.slots}
    assert not {"salary", "month_5"} & {each for clause in read(text) for each in clause.content}


@pytest.mark.parametrize("text", ["Correction from yesterday. The launch is on 5 May.", "昨天的更正一下。发布会在5月5日。"])
def test_what_corrects_holds_for_the_whole_turn(text):
    """The values of a correction often stand in another sentence than the words that announce it."""
    assert "corrects" == read(text)[-1].cue


@pytest.mark.parametrize("text", ["The retention of the audit logs has gone up to 400 days.", "审计日志的保留期延长到了400天。"])
def test_what_has_changed_is_told_by_its_verb(text):
    """An auxiliary before a verb of change is no verb of its own."""
    assert ["retention"] == [slot.predicate for clause in read(text) for slot in clause.slots if slot.one]


@pytest.mark.parametrize(
    "text",
    [
        "If I take the job in Bergen, my office is in Kamppi, and my parking spot is C03.",
        "如果我去奥斯陆，我的办公室在坎皮，我的车位是C03。",
    ],
)
def test_what_follows_a_supposition_hangs_on_it(text):
    """To the end of its sentence: none of it is asserted."""
    assert [Mood.SUPPOSED] * 3 == [clause.mood for clause in read(text)]
