"""Redacting turns: the exact span of a learned statement, or the whole paragraph where its end is uncertain."""

import json
from datetime import timedelta
from pathlib import Path

import canaries
import integrity
import pytest

from yiku import Memory
from yiku.types import SemanticMemory

# Each with a stop that ends nothing, or is not sure to; the words in brackets nobody else says.
FORMS = [
    "My dentist is Dr. [Okonkwo].",
    "My boss is Mr. [Quillfeather].",
    "My teacher is Mrs. [Blenkinsop].",
    "I live at St. [Quillgate] No. [12B].",
    "My landlord is J. R. [Ravenscroft].",
    "I was born on the 3. May [1991].",
    "My rent is approx. [5137] EUR.",
    "I work at [Yahoo]! [Japan].",
    "My doctor is Prof. [Zweibrueck].",
    "My brother works at [Thornbury] Inc. [Tromso].",
    "My favourite band is [Wham]! [Cavaliers].",
    "My flight leaves at 6.45 p.m. from [Gardermoen].",
    "I live in the U.S. [Virginia].",
    "My editor is at version [3.14.15] of [Quillsoft].",
    "My son goes to St. [Alfhild]'s school.",
    "我用的是[3.16]版的[鲲鹏]软件。",
    "我在读第3. 章的[饕餮]内容。",
    "我的医生是[麒麟]医生（Dr. [Wangsun]）。",
    "我在[Baidoo]!邮箱[魍魉]部工作。",
    "我的牙医叫J. R. [貔貅]。",
    "我住在St. [Olavsgate]路 No. [34C]。",
    "我的房租约approx. [6248]元。",
    "我的老板是Mr. [Featherquill]。",
]

HEXADECIMAL = set("0123456789abcdef")


def telling(form: str) -> list[str]:
    return [part.split("]")[0] for part in form.split("[")[1:]]


def learned(memory: Memory, turn: str) -> list[SemanticMemory]:
    """What a turn gave, but for the tea that stays."""
    found = [one for one in memory.get_all() if any(source.turn == turn for source in one.sources)]
    return [one for one in found if "tea" not in one.content and "茶" not in one.content]


@pytest.mark.spec("T-39")
def test_a_stop_that_ends_nothing_leaves_nothing(memory, home):
    """Learned as they are learned, or told with their turn, erased by their ids: no word of them is left, nor found; the rest stays."""
    for form in FORMS:
        said, rest = form.replace("[", "").replace("]", ""), " I like tea." if form.isascii() else "我喜欢茶。"
        turn = memory.record_turn("user", f"{said}{rest}", session=f"s{len(said)}")
        statements = learned(memory, turn.id) or [memory.remember(said, source=turn.id).memory]
        for one in statements:
            erased = memory.admin.erase(one.id)
            assert erased.clean, (said, [place for place in erased.places if place.found])
            assert () == erased.widened
        assert rest.strip() == memory.get(turn.id).content.removeprefix("[erased]").removeprefix("[已抹去]").strip()
        for word in telling(form):
            assert not any(word in hit.text for hit in memory.recall(word)), word
    words = [word for form in FORMS for word in telling(form) if len(word) > 3 and not HEXADECIMAL.issuperset(word)]  # ids are hex
    held = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}

    assert [] == [(path.name, word) for path, raw in held.items() for word in words if word.encode() in raw]


def test_what_stands_behind_moves_and_what_overlaps_has_no_place(memory):
    """Other statements of the turn point at their own words afterwards, in the journal's images too; one that was cut into points nowhere."""
    turn = memory.record_turn(
        "user", "I live in Bergen and work at Equinor. My locker code is 4711. 我的猫叫年糕。My dog is called Rex."
    )
    overlapping = memory.remember("Bergen and work at Equinor. My locker", source=turn.id).memory
    by = {one.content: one for one in memory.get_all()}
    memory.admin.erase(by["My locker code is 4711."].id)
    memory.admin.erase(by["I live in Bergen."].id)
    content = memory.get(turn.id).content
    stands = {
        one.content: content[source.start : source.end]
        for one in memory.get_all()
        for source in one.sources
        if source.turn == turn.id and source.start is not None
    }

    assert "[erased] and work at Equinor. [erased] 我的猫叫年糕。My dog is called Rex." == content
    assert {"I work at Equinor.": "work at Equinor", "我的猫叫年糕。": "我的猫叫年糕"}.items() <= stands.items()
    assert overlapping.content not in stands
    assert () == memory.admin.check().problems
    dog = next(one for one in memory.get_all() if "Rex" in one.content)
    memory.admin.erase(dog.id)
    assert memory.get(turn.id).content.endswith("我的猫叫年糕。[erased]")


def test_in_other_words_the_paragraph_goes_and_the_receipt_says_so(memory):
    """A turn that fills the slot, and one that nobody can point at: the block of lines goes, no more; the receipt names the turns."""
    moved = memory.record_turn("assistant", "Hello!\n\nGuess what:\nI moved to Oslo.\nBoxes everywhere.\n\nBye.", session="s1")
    vague = memory.record_turn("user", "我的旧事。\n\n那座叫Oslo的城,就是家。\n\n再见。", session="s2")
    unknown = memory.record_turn("user", "Home is where the fjord is.", session="s3")
    statements = [memory.remember("I live in Oslo.", source=turn.id).memory for turn in (moved, vague, unknown)]
    erased = memory.admin.erase(statements[0].id)

    assert "Hello!\n\n[erased]\n\nBye." == memory.get(moved.id).content
    assert "我的旧事。\n\n[已抹去]\n\n再见。" == memory.get(vague.id).content
    assert "[erased]" == memory.get(unknown.id).content
    assert {moved.id, vague.id, unknown.id} == {*erased.widened}
    assert erased.clean


def test_an_older_source_without_a_span_goes_by_its_words(memory, home):
    """As rows of an earlier schema have none: the words are looked up, in whatever case and width they stand."""
    turn = memory.record_turn("assistant", "Well: ＭＹ DENTIST is Dr. Okonkwo! 我喜欢茶。")
    kept = memory.remember("My dentist is Dr. Okonkwo.", source=turn.id).memory
    erased = memory.admin.erase(kept.id)

    assert (None, "Well: [erased] 我喜欢茶。") == (kept.sources[0].start, memory.get(turn.id).content)
    assert (True, ()) == (erased.clean, erased.widened)


def test_words_that_a_redacted_turn_still_says_are_found(memory):
    """The rest of the turn names the same thing and nobody else does: the receipt names the turn and the word, and is not clean."""
    turn = memory.record_turn("user", "My dentist is Dr. Okonkwo. Honestly, Okonkwo scares me. 我真的很怕。", session="s1")
    statement = next(one for one in memory.get_all() if one.content == "My dentist is Dr. Okonkwo.")
    (planned,) = memory.admin.erase(statement.id, dry_run=True).places
    erased = memory.admin.erase(statement.id)
    (left,) = [place for place in erased.places if place.found]

    assert not erased.clean
    assert (f"turn {turn.id}", ("okonkwo",)) == (left.name, left.found)
    assert left == planned


def test_what_others_say_too_and_words_of_any_talk_are_no_trace(memory):
    """A word that another turn says, and those that stand in any talk, do not alarm, though the redacted turn has them still."""
    memory.record_turn("user", "The locker room of my gym is cold. 储物柜", session="s0")
    turn = memory.record_turn(
        "user", "I really think my locker code is 4711. I really think the locker room is cold.", session="s1"
    )
    erased = memory.admin.erase(memory.remember("My locker code is 4711.", source=turn.id).memory.id)

    assert erased.clean, [place for place in erased.places if place.found]


def test_an_old_file_brings_no_half_sentence_back(memory, clock):
    """What was erased is known again however its sentence is cut: the turn comes in without it, and without its second half."""
    said = "My landlord is J. R. Okonkwo. I like tea. 我的医生是王医生（Dr. Wang）。"
    turn = memory.record_turn("user", said, session="s1")
    for one in [one for one in memory.get_all() if "tea" not in one.content]:
        memory.admin.erase(one.id)
    clock.advance(hours=1)
    before = turn.said_at - timedelta(days=1)
    memory.record([{"role": "user", "session": "old", "content": f"Note this: {said} Bye.", "said_at": before}])
    (again,) = [one for one in memory.timeline() if getattr(one, "session", "") == "old"]

    assert "Okonkwo" not in again.content and "Wang" not in again.content
    assert again.content.endswith("I like tea. [已抹去] Bye.")


@pytest.mark.long
def test_a_span_is_cut_out_of_a_long_turn_and_of_a_backup(memory, home):
    """Behind the part that is indexed, and in a copy of the store from before: the same characters go, and all else stays."""
    long = "The lantern burns. 灯笼亮着。\n" * 1_500
    word, han = "zqvblorptinx", "𩺙𨏏𢝫𤍚"
    turn = memory.record_turn("user", f"{long}My watchword is Dr. {word} {han}. Bye.\n{long}")
    kept = memory.remember(f"My watchword is Dr. {word} {han}.", source=turn.id).memory
    backup = memory.admin.backup()
    erased = memory.admin.erase(kept.id)

    assert erased.clean
    assert f"{long}[已抹去] Bye.\n{long}" == memory.admin.blob(memory.get(turn.id).blob)
    assert [] == canaries.sung(home, [word, han])
    memory.admin.restore_backup(Path(backup.path).name)
    assert f"{long}[已抹去] Bye.\n{long}" == memory.admin.blob(memory.get(turn.id).blob)
    integrity.check(home / "yiku.db")


@pytest.mark.parametrize("levels", [900, 5_000])
@pytest.mark.parametrize(("said", "gone"), [("My locker code is Xylophon.", "Xylophon"), ("我的柜子密码是木琴。", "木琴")])
def test_a_text_that_is_nested_json_keeps_no_erasure_from_its_end(memory, said, gone, levels):
    """What somebody pasted is a text, however deep it is nested; what it says of the erased sentence goes."""
    pasted = "[" * levels + json.dumps(said, ensure_ascii=False) + "]" * levels
    turn = memory.record_turn("user", said)
    memory.record_turn("tool", "", tool_results=[{"tool_use_id": "c", "content": pasted}])
    memory.record_turn("user", "[" * levels + "]" * levels)
    done = memory.admin.erase(turn.id)

    assert done.clean
    assert gone not in str(memory.search_traces(limit=10))
