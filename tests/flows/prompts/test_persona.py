"""Personas in prompts and recall: they change style and ranking, nothing stored."""

from pathlib import Path

import pytest

from yiku import Memory
from yiku.rules.prompts import persona
from yiku.types import Kind


@pytest.fixture
def ports(memory: Memory) -> dict[str, str]:
    """The same words as each kind of memory, so that only the kind tells them apart."""
    return {kind: memory.remember(f"Lantern listens on port {n}. 灯塔监听端口 {n}。", kind=kind).memory.id
            for n, kind in enumerate(("fact", "skill", "error", "preference"), 8001)}  # fmt: skip


@pytest.mark.spec("S3-164", "S3-184")
@pytest.mark.parametrize("question", ["Lantern listens on which port?", "灯塔监听哪个端口？"])
@pytest.mark.parametrize("name", ["tech_expert", "jarvis"])
def test_skills_and_mistakes_score_1_2_times_as_high(memory, clock, ports, question, name):
    """With such a persona active; their relevance, and what everything else scores, is as without one."""
    plain = {hit.id: hit for hit in memory.recall(question) if hit.id in ports.values()}
    with Memory(memory.settings.home, clock=clock, names=["Mei"], persona=name) as expert:
        found = {hit.id: hit for hit in expert.recall(question) if hit.id in ports.values()}
    factors = {kind: round(found[id].score / plain[id].score, 6) for kind, id in ports.items() if id in found}

    assert {"fact": 1.0, "skill": 1.2, "error": 1.2, "preference": 1.0} == factors
    assert {id: hit.relevance for id, hit in plain.items()} == {id: hit.relevance for id, hit in found.items()}
    assert {"skill", "error"} == {memory.get(hit).kind.value for hit in [*found][:2]}


@pytest.mark.spec("S3-184")
def test_a_persona_of_a_prompt_ranks_what_it_recalls(memory, ports):
    """It is active for this prompt alone; the scores never rise down the list."""
    assert ports
    hits = memory.prompts.build("Lantern 监听哪个端口 port?", auto_recall="always", persona="tech_expert").hits
    scores = [hit.score for hit in hits]

    assert scores == sorted(scores, reverse=True)
    assert memory.settings.persona is None


@pytest.mark.spec("S3-27")
def test_another_persona_changes_no_rank_and_stores_nothing(memory, home, clock, ports):
    """A fact is the same fact in every mode."""
    before = memory.get_all()
    (home / "identity/personas").mkdir(parents=True)
    Path(home / "identity/personas/poet.md").write_text("Speak in verse. 用诗句说话。\n")
    with Memory(home, clock=clock, names=["Mei"], persona="poet") as poet:
        assert [hit.id for hit in memory.recall("Lantern port 端口")] == [hit.id for hit in poet.recall("Lantern port 端口")]
        assert "Speak in verse" in poet.prompts.build().section("persona")
        poet.remember("The harbour opens at seven. 港口七点开门。")
    assert {row.id: row.content for row in before} == {row.id: row.content for row in memory.get_all() if row.id in ports.values()}


@pytest.mark.parametrize("kind", [*Kind])
def test_without_a_persona_nothing_is_weighed(kind):
    """Nor with one that has no weights."""
    assert (1.0, 1.0) == (persona.weight(None, kind), persona.weight("poet", kind))


@pytest.mark.spec("S3-185")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_persona_stands_before_the_scratchpad(memory, home, language):
    """So what the agent says of its work can carry the persona's style; the scratchpad itself is the same."""
    (home / "identity/personas").mkdir(parents=True)
    (home / "identity/personas/poet.md").write_text("Speak in verse. 用诗句说话。\n", encoding="utf-8")
    memory.sessions.patch_scratchpad(add_next_steps=["Call Ann" if language == "en" else "给安打电话"])
    spoken, plain = memory.prompts.build(persona="poet"), memory.prompts.build()

    assert spoken.text.index("verse") < spoken.text.index(spoken.section("scratchpad"))
    assert spoken.section("scratchpad") == plain.section("scratchpad")
