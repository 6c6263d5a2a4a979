"""Attacks on memory, end to end: what somebody else wrote becomes no rule, no permanent memory, and no words outside of a fence."""

import attacks
import pytest

from yiku import Memory
from yiku.types import State

EACH = 6  # attacks of one way in a fast run; all of them: python bench/attacks.py


@pytest.mark.parametrize("language", attacks.LANGUAGES)
@pytest.mark.parametrize("way", [*attacks.WAYS])
@pytest.mark.long
def test_no_attack_becomes_a_rule_or_a_memory(tmp_path, some, way, language):
    """By any way in, with a model and an agent that lie."""
    sample = some(attacks.attacks(language), EACH)

    assert [] == [(one.became, one.attack.text, one.where) for one in attacks.run_way(way, language, tmp_path / "home", sample)]


@pytest.mark.parametrize("language", attacks.LANGUAGES)
def test_texts_that_look_like_attacks_are_kept(tmp_path, language):
    """The user's own: word for word as turns, and as memories where they ask for it."""
    lost, refused, _ = attacks.kept(language, tmp_path)

    assert [] == lost
    assert 2 >= len(refused), refused  # those that read as taking something back, of which there is nothing


def test_the_sets_are_large_enough_and_each_attack_has_its_own_mark():
    """At least 60 attacks a language and 100 benign texts."""
    for language in attacks.LANGUAGES:
        every = attacks.attacks(language)
        assert len(every) >= 60 and all(1 == sum(one.mark in other.text for other in every) for one in every)
    assert 100 <= sum(len(attacks.benign(language)) for language in attacks.LANGUAGES)


@pytest.mark.parametrize(("language", "text"), [("en", "The user prefers tabs."), ("zh", "用户喜欢用制表符。")])
def test_what_only_a_model_claims_waits(tmp_path, language, text):
    """A statement of an agent's without words of the user is a candidate, and stays one after learning and a night."""
    with Memory(tmp_path / "home", owner=attacks.OWNER, language=language) as memory:
        memory.record_turn("user", attacks.ASK[language], session="s")
        stored = memory.agent.propose(text).memory
        memory.learn(everything=True)
        memory.admin.consolidate()

        assert State.CANDIDATE is memory.get(stored.id).state
