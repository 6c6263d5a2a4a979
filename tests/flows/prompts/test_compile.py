"""Compiling identity files to summaries, by a model or by rules, and only after a change."""

import json
import os
from pathlib import Path

import pytest
from models.chat_server import USAGE
from models.server import Answer, Server, error, says, serving

from yiku import Memory
from yiku.errors import InvalidInput, ModelUnavailable
from yiku.rules.prompts.condense import TARGETS, size
from yiku.rules.prompts.stamp import NAME

SOUL = "# Soul\n\n<!-- draft -->\n- Never lie, not even to be kind.\n- 绝不说谎，哪怕出于好意。\n"
AGENT = "# Agent\n\n- Plan, act, verify; repeat until the task is done.\n\n## Tools\n\n- Prefer a tool over a guess.\n"
STYLE = "- Tone: short and dry. 语气：简短。\n"
FILES = ["soul.summary.md", "agent.core.md", "agent.tooling.md", "user.summary.md", "persona.custom.md"]


@pytest.fixture
def sources(memory: Memory, home: Path) -> dict[str, str]:
    """All that is compiled, and the bytes of what people wrote."""
    put(home, "identity/SOUL.md", SOUL)
    put(home, "identity/AGENT.md", AGENT)
    put(home, "identity/personas/user_custom.md", STYLE)
    memory.remember("I live in Oslo.")
    memory.remember("我喜欢喝绿茶。")
    memory.notes.publish()
    for path in (home / "identity/compiled").glob("*"):
        path.unlink()
    for path in (home / "identity/compiled").glob(".*"):
        path.unlink()
    return {
        name: (home / name).read_text()
        for name in ("identity/SOUL.md", "identity/AGENT.md", "identity/personas/user_custom.md", "USER.md")
    }


def put(home: Path, name: str, text: str) -> None:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def compiled(home: Path) -> dict[str, str]:
    folder = home / "identity" / "compiled"
    return {name: (folder / name).read_text() for name in FILES if (folder / name).exists()}


def actions(memory: Memory, **how) -> list[str]:
    return [one.action for one in memory.prompts.compile(**how).summaries]


@pytest.mark.spec("S3-180", "S3-225", "S3-231", "S3-232", "S3-233")
def test_without_a_model_the_rules_compile_every_file(memory, home, sources):
    """Five summaries in identity/compiled/ with .compiled_at, all by rules; the sources stay as they are, byte for byte."""
    done = memory.prompts.compile()
    found = compiled(home)

    assert [f"identity/compiled/{name}" for name in FILES] == [one.path for one in done.summaries]
    assert {("written", "rules")} == {(one.action, one.by) for one in done.summaries}
    assert "- Never lie, not even to be kind.\n- 绝不说谎，哪怕出于好意。\n" == found["soul.summary.md"]
    assert "- I live in Oslo.\n- 我喜欢喝绿茶。\n" == found["user.summary.md"]
    assert "- Tone: short and dry. 语气：简短。\n" == found["persona.custom.md"]
    assert [size(found[name]) for name in FILES] == [one.tokens for one in done.summaries]
    assert sources == {name: (home / name).read_text() for name in sources}
    assert "2026-03-01T09:00:00+01:00" == (home / "identity/compiled" / NAME).read_text().splitlines()[0]
    assert {0o600} == {path.stat().st_mode & 0o777 for path in (home / "identity/compiled").iterdir()}


@pytest.mark.spec("S3-173")
def test_only_what_changed_is_compiled_again(memory, home, sources, clock):
    """By its words: a file that was touched, or copied back with an old time, is as it was."""
    memory.prompts.compile()
    clock.advance(days=1)
    os.utime(home / "identity/SOUL.md")
    assert ["unchanged"] * 5 == actions(memory)
    assert "2026-03-01" in (home / "identity/compiled" / NAME).read_text()

    put(home, "identity/SOUL.md", SOUL + "- Admit what you must not guess.\n")
    os.utime(home / "identity/SOUL.md", (0, 0))
    assert ["written", *["unchanged"] * 4] == actions(memory)
    assert "Admit what you must not guess" in compiled(home)["soul.summary.md"]
    assert "2026-03-02" in (home / "identity/compiled" / NAME).read_text()
    assert ["written"] * 5 == actions(memory, force=True)


def test_a_summary_that_somebody_changed_is_made_again(memory, home, sources):
    """It is derived: what is yours goes into the sources. So is one that is gone, or whose .compiled_at is."""
    memory.prompts.compile()
    put(home, "identity/compiled/soul.summary.md", "- Obey me.\n")
    assert "Obey" not in memory.prompts.build().text
    assert "written" == actions(memory)[0]
    (home / "identity/compiled/agent.core.md").unlink()
    assert ["unchanged", "written"] == actions(memory)[:2]
    (home / "identity/compiled" / NAME).write_text("damaged\n")
    assert ["written"] * 5 == actions(memory)


def test_a_source_that_is_gone_takes_its_summary_along(memory, home, sources):
    """And one that says nothing has an empty one."""
    memory.prompts.compile()
    (home / "identity/AGENT.md").unlink()
    put(home, "identity/SOUL.md", "<!-- nothing yet -->\n")
    assert ["written", "removed", "removed", "unchanged", "unchanged"] == actions(memory)
    assert ["unchanged", "missing", "missing", "unchanged", "unchanged"] == actions(memory)
    assert ["soul.summary.md", "user.summary.md", "persona.custom.md"] == [*compiled(home)]
    assert "" == compiled(home)["soul.summary.md"]


@pytest.mark.spec("S3-183")
def test_publishing_the_profile_compiles_it(memory, home, sources):
    """A new line of USER.md is in its summary at once, and in the next prompt."""
    memory.remember("我喜欢深色主题。")
    memory.notes.publish()

    assert "深色主题" in compiled(home)["user.summary.md"]
    assert "深色主题" in memory.prompts.build().section("user")
    assert sources["identity/SOUL.md"] == (home / "identity/SOUL.md").read_text()


def test_a_prompt_has_what_the_files_say_now(memory, home, sources):
    """Edited since they were compiled, or never compiled: the rules condense them on the way, and nothing is written."""
    memory.prompts.compile()
    put(home, "identity/SOUL.md", "- Always admit what you do not know. 必须承认不知道的事。\n")
    built = memory.prompts.build().section("identity")

    assert "admit" in built and "Never lie" not in built
    assert "Never lie" in compiled(home)["soul.summary.md"]


# ------------------------------------------------------------------ with a model


def lines(*said: str) -> Answer:
    return says(json.dumps({"lines": said}, ensure_ascii=False), usage=USAGE)


@pytest.fixture
def server():
    with serving() as server:
        yield server


def asking(home: Path, clock, server: Server) -> Memory:
    return Memory(home, clock=clock, names=["Mei"], chat_url=server.url, chat_model="m", chat_timeout_s=2)


@pytest.mark.spec("S3-173", "S3-243", "S3-250")
def test_a_model_condenses_each_file_once(memory, home, clock, sources, server):
    """As an expert in condensing texts, a call a summary; none for what did not change. The reply is stripped, and stands in prompts."""
    server.always = lambda asked: lines("  - Never lie.  ", "Verify until done.", "Prefer a tool.", "I live in Oslo.", "Tone: dry.")
    with asking(home, clock, server) as other:
        done = other.prompts.compile()
        assert ["unchanged"] * 5 == actions(other)
        built = other.prompts.build()

    assert {("written", "model", None)} == {(one.action, one.by, one.why) for one in done.summaries}
    assert 5 == len(server.asked)
    assert "- Never lie.\n" == compiled(home)["soul.summary.md"]
    assert ["- Never lie.", "- Verify until done.", "- Prefer a tool."] == built.section("identity").splitlines()[1:]
    systems = [asked["messages"][0]["content"] for asked in server.asked]
    assert all("expert in condensing texts" in system or "文本精简专家" in system for system in systems)
    assert [f"{target.most} " in system for target, system in zip(TARGETS.values(), systems, strict=True)] == [True] * 5
    assert not any("<!--" in asked["messages"][1]["content"] for asked in server.asked)
    assert ["unchanged"] * 5 == actions(memory)


def test_a_summary_of_what_was_forgotten_is_not_shown(memory, home, clock, sources, server):
    """A model told it in words of its own: the lines of the file that still hold stand in its place."""
    forgotten = next(row for row in memory.get_all() if "Oslo" in row.content)
    server.always = lambda asked: lines("Lives in Oslo. 我喜欢绿茶。")
    with asking(home, clock, server) as other:
        other.prompts.compile()
    assert "Lives in Oslo" in memory.prompts.build().section("user")
    memory.forget(forgotten.id)
    built = memory.prompts.build()

    assert "Oslo" not in built.text and "我喜欢喝绿茶" in built.section("user")


@pytest.mark.parametrize("answer", [error(500), says("no JSON"), lines("The moon is made of cheese."), lines()])
@pytest.mark.usefixtures("sources")
def test_where_a_model_fails_the_rules_do_it(memory, home, clock, server, answer):
    """It says why, and the model is asked again the next time."""
    memory.prompts.compile()
    by_rules = compiled(home)
    server.always = lambda asked: answer
    with asking(home, clock, server) as other:
        done = other.prompts.compile()
        assert {("written", "rules")} == {(one.action, one.by) for one in done.summaries}
        assert all("model" in (one.why or "") for one in done.summaries)
        assert by_rules == compiled(home)
    server.always = lambda asked: lines("Never lie.")
    with asking(home, clock, server) as other:
        again = other.prompts.compile().summaries[0]
    assert ("model", None) == (again.by, again.why)


def test_what_a_model_says_counts_only_for_the_file_that_it_read(memory, home, clock, sources, server):
    """Edited while it was thinking: the rules compile the file as it is."""

    def answer(asked) -> Answer:
        put(home, "identity/SOUL.md", "- Always admit what you do not know.\n")
        return lines("Never lie.")

    server.always = answer
    with asking(home, clock, server) as other:
        other.prompts.compile()

    assert "- Always admit what you do not know.\n" == compiled(home)["soul.summary.md"]


def test_a_strategy_by_name(memory, home, clock, sources, server):
    """`model` without one is an error, `rules` asks none."""
    with pytest.raises(ModelUnavailable):
        memory.prompts.compile(strategy="model")
    with pytest.raises(InvalidInput, match="strategy"):
        memory.prompts.compile(strategy="best")
    with asking(home, clock, server) as other:
        other.prompts.compile(strategy="rules")
    assert not server.asked


def test_a_scope_without_files_compiles_nothing(home, memory, clock):
    """It has no folder."""
    with Memory(home, scope="team:atlas", clock=clock) as other, pytest.raises(InvalidInput, match="vaults"):
        other.prompts.compile()


def test_links_lead_nowhere(memory, home, sources, tmp_path):
    """A source that is a link is held, and nothing is written through a folder that is one."""
    (tmp_path / "mine.md").write_text("- Never tell.\n")
    (home / "identity/SOUL.md").unlink()
    (home / "identity/SOUL.md").symlink_to(tmp_path / "mine.md")
    done = memory.prompts.compile().summaries[0]
    assert ("held", True) == (done.action, "link" in (done.why or ""))

    (tmp_path / "elsewhere").mkdir()
    for path in (home / "identity/compiled").iterdir():
        path.unlink()
    (home / "identity/compiled").rmdir()
    (home / "identity/compiled").symlink_to(tmp_path / "elsewhere")
    assert {"held"} == {*actions(memory)}
    assert [] == [*(tmp_path / "elsewhere").iterdir()]


@pytest.mark.spec("T-39")
def test_what_is_erased_is_in_no_summary(memory, home, clock, sources, server):
    """Those of USER.md and of the user's wishes go, whatever a model made of them; the sources lose the sentence alone."""
    kept = memory.remember("My locker code is 4711 橘子.").memory
    put(home, "identity/SOUL.md", f"{SOUL}\nMy locker code is 4711 橘子.\n")
    memory.notes.publish()
    server.always = lambda asked: lines(
        "Never lie, code 4711 橘子.", "I live in Oslo, locker 4711.", "Tone: dry.", "Plan until done."
    )
    with asking(home, clock, server) as other:
        other.prompts.compile()
    assert "4711" in compiled(home)["soul.summary.md"] and "4711" in compiled(home)["user.summary.md"]
    erased = memory.admin.erase(kept.id)

    assert erased.clean, [place for place in erased.places if place.found]
    assert ["agent.core.md", "agent.tooling.md"] == [*compiled(home)]
    assert SOUL.strip() == (home / "identity/SOUL.md").read_text().strip()
    assert not any("4711" in path.read_text() for path in (home / "identity").rglob("*") if path.is_file())
    assert "4711" not in memory.prompts.build("what is my locker code?", auto_recall="always").section("user")
    assert ["written", "unchanged", "unchanged", "written", "written"] == actions(memory)
    assert "4711" not in "".join(compiled(home).values())
