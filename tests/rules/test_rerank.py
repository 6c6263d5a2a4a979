"""The score by which hits that vectors found about equally well change places."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yiku.rules.finding import rerank
from yiku.rules.lexicon import built_in
from yiku.rules.statements.question import question

AT = datetime(2026, 3, 2, tzinfo=UTC)


def candidates(*texts: str, relevance: tuple[float, ...] = (), by_agent: tuple[bool, ...] = ()) -> list[rerank.Candidate]:
    """Hits a day apart, in this order in time and in the list, as relevant as each other where nothing else is said."""
    return [
        rerank.Candidate(
            id=f"t{n}",
            text=text,
            relevance=relevance[n] if relevance else 0.6,
            said=(AT + timedelta(days=n), 0),
            place=n,
            found=n,
            by_agent=bool(by_agent) and by_agent[n],
            by_slot=False,
        )
        for n, text in enumerate(texts)
    ]


def best(asked: str, hits: list[rerank.Candidate]) -> int:
    scores = rerank.scores(question(asked, built_in()), hits)
    return max(range(len(scores)), key=scores.__getitem__)


@pytest.mark.parametrize(
    ("asked", "answer", "other"),
    [
        ("Where do I live?", "I live in Gdansk, five minutes from the shipyard.", "If we moved to Trieste, would school be hard?"),
        ("What is my job?", "I work as a radiographer.", "My husband is a pastry chef at the Meridian."),
        ("我住在哪个城市？", "我住在昆明，离翠湖很近。", "要是我们搬去大理，孩子上学怎么办？"),
        ("我的职业是什么？", "我是一名放射科技师。", "我老公在一家酒店当面点师。"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_what_holds_is_before_suppositions_and_other_people(asked, answer, other, first):
    """Whichever stands first and whichever was said last, at equal relevance."""
    texts = (answer, other) if first else (other, answer)

    assert answer == texts[best(asked, candidates(*texts))]


@pytest.mark.parametrize(
    ("asked", "earlier", "later"),
    [
        ("Which locker is mine?", "My locker at the pool is 214.", "Correction: my locker at the pool is 241."),
        ("我的柜子是几号？", "我在游泳馆的柜子是214号。", "更正：我在游泳馆的柜子是241号。"),
    ],
)
def test_a_plain_correction_is_before_what_it_corrects(asked, earlier, later):
    """It was said later and says that it corrects."""
    assert 1 == best(asked, candidates(earlier, later))


@pytest.mark.parametrize(
    ("asked", "earlier", "later"),
    [
        ("Where did I live before?", "I live in Kaunas.", "I live in Bologna now."),
        ("我以前住在哪里？", "我住在兰州。", "我现在住在厦门。"),
    ],
)
def test_a_question_for_the_past_wants_the_earlier(asked, earlier, later):
    """How it was before, though the newer statement was found as well."""
    assert question(asked, built_in()).before
    assert 0 == best(asked, candidates(earlier, later))


def test_much_greater_relevance_counts():
    """A hit that was found far better stays first, if all else is equal."""
    texts = ("My dentist is on Elm Street.", "My florist is on Oak Street.")

    assert 0 == best("Where is my dentist?", candidates(*texts, relevance=(0.9, 0.45)))
    assert 1 == best("Where is my florist?", candidates(*texts, relevance=(0.45, 0.9)))


@given(st.lists(st.tuples(st.text(max_size=200), st.floats(0, 1)), max_size=8), st.text(max_size=60))
def test_every_hit_gets_a_finite_score_within_bounds(hits, asked):
    """Any text, and a relevance of nothing: each feature lies between -3 and 1, and each hit has a score."""
    given_hits = candidates(*(text for text, _ in hits), relevance=tuple(found for _, found in hits))
    known = rerank.features(question(asked, built_in()), given_hits)

    assert all(-3 <= value <= 1 for each in known for value in each.values())
    assert len(hits) == len(rerank.scores(question(asked, built_in()), given_hits))
