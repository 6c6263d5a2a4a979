"""R23 with fuzzed texts, R24 with each disk operation failing, S14 with many link swaps: long runs of the fast tests."""

import random
from itertools import islice

import integrity
import pytest
import texts
from cpu import taken, within
from faults.hostile import CONTENTS, QUERIES, UNITS, mutated
from faults.test_hostile_input import (
    ASKING,
    LINEAR,
    LONGEST_CALL_S,
    SCANNERS,
    WAYS,
    asked,
    attacked,
    carried,
    grows,
    peopled,  # noqa: F401 - a fixture
    steep_patterns,
)
from faults.test_typed_errors import VERBS, call_on_unreadable_disks, template  # noqa: F401 - a fixture
from files.test_paths import DOORS, PLACES, named, outside, put_in_the_way, swapped_while_writing  # noqa: F401 - a fixture
from flows.keep.test_record import kept_whole
from flows.learn.test_hanging_texts import BUSY, CHAT_S, PASTED_S, bound_s, slowness, warm
from rules.test_patterns import slow
from sampling import drawn_for
from test_bad_input import CALLS, taken_wrongly, target, watch  # noqa: F401 - two of them are fixtures
from texts import CHAT_CHARS

from yiku import Memory

EACH = 3  # ways in and verbs that answer, drawn anew for each text
FRESH = 250  # texts a home


def test_R23_no_fuzzed_text_crashes_hangs_or_is_altered(tmp_path, seed, count):
    """Each is kept exactly or refused with a typed error, answered within a second, and the store stays whole."""
    chance, taken = random.Random(seed), 0
    texts = count(500, 10_000, "fuzzed texts")
    for first in range(0, texts, FRESH):
        home = tmp_path / f"home{first}"
        with Memory(home, owner="user:mei", durability="fast") as memory:
            memory.record_turn("user", "I like tea in Oslo. 我在奥斯陆喝茶。")
            for _ in range(first, min(first + FRESH, texts)):
                text = mutated(chance)
                taken += sum(carried(memory, way, text) for way in chance.sample(WAYS, EACH))
                asked(memory, text, chance.sample([*ASKING], EACH))
        integrity.check(home / "yiku.db")
    print(f"  {taken:,} kept exactly, {texts * EACH - taken:,} refused, none over {LONGEST_CALL_S:g} s")
    assert taken > texts


def test_R23_no_generated_text_takes_long(tmp_path, seed, count, figure):
    """
    Talk, quotations, floods, code, pasted text up to 1 MB, learned from: 0.1 s of CPU for what is typed, 0.3 s for each 100 KB else.
    Over BUSY times that it fails; the figures say how long the slowest took.

    A text that takes longer is recorded again: other work on the machine stretches CPU time, too, and what takes something back
    has long turns before it learned from first, once.
    """
    made, late, slowest = texts.generated(random.Random(f"{seed} texts")), [], {True: 0.0, False: 0.0}
    number = count(1_000, 10_000, "generated texts")
    for first in range(0, number, FRESH):
        with Memory(tmp_path / f"home{first}", owner="user:mei", durability="fast") as memory:
            warm(memory)
            for text in islice(made, min(FRESH, number - first)):
                typed = len(text) <= CHAT_CHARS
                with within(max(10, 20 * bound_s(text)), ascii(text[:200])):
                    share = slowness(memory, text)
                slowest[typed] = max(slowest[typed], share)
                late += [ascii(text[:200])] if share > BUSY else []
            assert 0 == memory.learn().waiting
    figure("the slowest that is typed", 1000 * CHAT_S * slowest[True], "ms", most=1000 * CHAT_S * BUSY)
    figure("that is pasted", 1000 * PASTED_S * slowest[False], "ms for each 100 KB", most=1000 * PASTED_S * BUSY)
    assert [] == late


def test_R23_pasted_text_costs_what_its_length_costs(tmp_path, seed, figure):
    """A megabyte of each sort that people paste, and 16 of them: each takes at most twice as long."""
    chance, slowest = random.Random(seed), {}
    with Memory(tmp_path / "home", owner="user:mei", durability="fast") as memory:
        warm(memory)
        for kind in texts.PASTES:
            text = texts.pasted(chance, 300_000, kind) * 4
            one, many = text.encode()[:1_000_000].decode(errors="ignore"), text.encode().decode() * 16
            cost = min(taken(lambda one=one: memory.record_turn("user", one)) for _ in range(3))
            of_many = taken(lambda many=many: memory.record_turn("user", many)) * 1_000_000 / len(many.encode())
            slowest[kind] = max(cost, of_many)
            assert of_many <= max(0.05, 2 * cost), kind
    figure("a megabyte that is pasted", 1000 * max(slowest.values()), f"ms ({max(slowest, key=slowest.get)})", most=450)


def every(items, _):
    """What the fast tests take some of."""
    return [*items]


def test_R23_each_content_on_every_way_and_each_question_to_every_verb(peopled):  # noqa: F811 - the fixture
    """Kept exactly or refused, answered or refused, within a second; and the store stays whole."""
    for name in CONTENTS:
        attacked(peopled, name, every)
    for query in QUERIES:
        asked(peopled, query, ASKING)


def test_R23_64_mib_are_kept(memory):
    """The limit of one turn is taken, whole."""
    assert kept_whole(memory, 64)


def test_R23_no_scanner_and_no_pattern_is_steep(figure):
    """Ten times the text takes at most twelve times as long, with all half-matches."""
    steep, tried = steep_patterns(every)
    figure("patterns tried", tried, least=15)
    steep += [f"{name} with {unit!r}" for name, scan in SCANNERS.items() for unit in UNITS if grows(scan, unit) > LINEAR]

    assert [] == steep


def test_R23_no_pattern_is_slow_on_a_run_of_any_sign():
    """Each of them, also those that are compiled when they are needed, on runs of each sign and of some words."""
    assert [] == slow(every)


@pytest.mark.parametrize("door", DOORS)
def test_R23_no_name_becomes_a_path(memory, outside, door):  # noqa: F811 - the fixture
    """Absolute, with drives, with dots encoded once and twice, at each door that takes a name."""
    named(memory, outside, door, every)


@pytest.mark.parametrize("place", PLACES)
def test_R23_nothing_in_a_place_of_the_home_leads_outside(tmp_path, outside, place):  # noqa: F811 - the fixture
    """Each link, pipe, device and folder under each name of ours: an error of ours or none, and outside nothing changed."""
    put_in_the_way(tmp_path, outside, place, every)


@pytest.mark.parametrize("level", ["blobs", "blobs/ab"])
def test_R23_no_swapped_link_catches_a_byte(tmp_path, count, level):
    """A folder of the home becomes a link and a folder again, while we write: nothing lies outside, nothing is lost."""
    swapped_while_writing(tmp_path, level, count(1_000, 10_000, "swaps"))


@pytest.mark.parametrize("call", CALLS)
def test_R24_every_bad_value_is_refused(target, watch, call):  # noqa: F811 - the fixtures
    """Each of them, as each argument: an error of ours and soon, or allowed; after an error everything is as it was."""
    assert [] == taken_wrongly(target, watch, call, every)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # SQLite may fail again while it cleans up
@pytest.mark.parametrize("verb", VERBS)
def test_R24_every_operation_under_a_verb_may_fail(template, tmp_path, seed, count, verb):  # noqa: F811 - the fixture
    """Each read, write and flush of it in turn: a StoreError from the verb, and nothing half done."""
    at_most, some = count(25, 10_000, f"operations at most under {verb}"), drawn_for(str(seed))
    failed = call_on_unreadable_disks(template, tmp_path / "home", verb, lambda operations, _: some(operations, at_most))
    print(f"  {failed:,} failed")
    assert failed > 1
