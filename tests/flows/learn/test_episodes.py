"""Episodes: summaries of whole sessions with tool steps, made by rules, stored and found."""

from dataclasses import replace

import pytest

from yiku import Memory
from yiku.flows.learn.episodes import tokens
from yiku.types import ActionNode, Put

ASKED = "Compare JWT with server sessions for src/auth.py in the Lantern project, please."
CHOSEN = "We chose JWT because it needs no session store."
CALLS = [
    {"id": "1", "name": "read_file", "input": {"path": "src/auth.py", "encoding": "utf-8", "limit": 2_000}},
    {"id": "2", "name": "bash", "input": {"command": "pytest tests/auth", "timeout": 30, "content": "x" * 9_000}},
]
RESULTS = [
    {"tool_use_id": "1", "content": "def login():\n    ...\n" + "# a long file\n" * 900},
    {"tool_use_id": "2", "content": "Error: 2 failed", "is_error": True},
]


@pytest.fixture
def episode_told(memory, clock):
    """A session of four turns that was ended, in which one rule was learned."""
    memory.record_turn("user", ASKED, session="s")
    clock.advance(minutes=5)
    memory.record_turn("assistant", "Reading.", session="s", tool_calls=CALLS, tool_results=RESULTS)
    memory.record_turn("assistant", CHOSEN, session="s")
    memory.record_turn("user", "From now on always write the tests first.", session="s")
    clock.advance(minutes=5)
    memory.record_turn("user", "Great, thanks, that works.", session="s")
    return memory.sessions.end("s").episode


def reopened(memory, home, clock):
    """The one episode, as another process reads it."""
    memory.close()
    with Memory(home, clock=clock) as again:
        (episode,) = again.sessions.episodes()
        return episode


@pytest.mark.spec("S2-40", "S3-73", "S3-74", "S3-75", "S3-76", "S2-13")
def test_what_was_wanted_and_what_came_of_it_is_kept(memory, home, clock, episode_told):
    """Id, session, one paragraph, the aim, how it ended and why."""
    episode = reopened(memory, home, clock)

    assert episode_told == episode
    assert (36, "s", "success") == (len(episode.id), episode.session, episode.outcome)
    assert "JWT" in episode.goal
    assert 40 < len(episode.summary) <= 300
    assert "\n" not in episode.summary
    assert "that works" in episode.outcome_reason


@pytest.mark.spec("S2-41", "S2-42", "S3-77", "S3-79", "S3-80")
def test_when_whom_and_with_what_is_kept(memory, home, clock, episode_told):
    """Its beginning and end, files and names, tools, what was learned in it, and tags."""
    episode = reopened(memory, home, clock)
    with Memory(home, clock=clock) as again:
        rule = again.get_all(where={"kind": "rule"})[0]

    assert (10.0, clock.now) == ((episode.ended_at - episode.started_at).total_seconds() / 60, episode.ended_at)
    assert {"src/auth.py", "JWT", "Lantern"} <= set(episode.entities)
    assert (("read_file", "bash"), (rule.id,), ()) == (episode.tools_used, episode.linked_memory_ids, episode.tags)


@pytest.mark.spec("S3-82")
def test_what_it_was_told_for_is_kept(memory, home, clock, episode_told):
    """The end of a session, a compression, or a night: each is there after a reopening."""
    compressed = memory.sessions.compressing([{"role": "user", "content": ASKED}], session="t").episode
    nightly = replace(episode_told, n=0, changed=0, id="night", session="u", source="daily_consolidation")
    store, scope = memory._handle.store, memory._handle.writes()
    store.apply(scope, [Put(nightly, tokens(nightly))], memory._handle.cause("episode"))
    memory.close()

    with Memory(home, clock=clock) as again:
        sources = {episode.id: episode.source for episode in again.sessions.episodes()}
    assert {episode_told.id: "session_end", compressed.id: "context_compress", "night": "daily_consolidation"} == sources


@pytest.mark.spec("S3-78", "S3-83", "S3-84", "S3-85", "S3-86", "S3-09")
def test_each_call_of_a_tool_is_a_step(memory, home, clock, episode_told):
    """What mattered of its parameters, what came back in some hundred characters, what went wrong, what was decided then."""
    first, second = reopened(memory, home, clock).action_nodes

    assert isinstance(first, ActionNode)
    assert ("read_file", {"path": "src/auth.py"}, True, None) == (
        first.tool_name,
        first.key_params,
        first.success,
        first.error_message,
    )
    assert first.result_summary.startswith("def login()")
    assert len(first.result_summary) <= 101
    assert ("bash", {"command": "pytest tests/auth"}, False) == (second.tool_name, second.key_params, second.success)
    assert ("Error: 2 failed", CHOSEN) == (second.error_message, second.decision)
    assert clock.now > first.timestamp > episode_told.started_at


@pytest.mark.spec("S3-81")
def test_its_weight_and_how_often_it_was_shown_are_kept(memory, home, clock, episode_told):
    """Between 0 and 1, more where something was done and decided; each time that it was shown counts, and nothing else does."""
    memory.record([{"role": "user", "content": "hello there, how are you"}], session="t")
    small = memory.sessions.end("t").episode
    for _ in range(2):
        memory.retrieved(memory.recall("why did we choose JWT?", types=("episode",), limit=1))
    memory.recall("JWT", types=("episode",))  # looked for, and shown to nobody
    assert () == memory.admin.check().problems
    memory.close()

    with Memory(home, clock=clock) as again:
        kept = {episode.id: episode for episode in again.sessions.episodes()}
    assert 0 < small.importance_score < kept[episode_told.id].importance_score <= 1
    assert (2, 0) == (kept[episode_told.id].access_count, kept[small.id].access_count)


def test_to_show_an_episode_does_not_change_its_story(memory, episode_told):
    """It is counted, and another part of the session that is told later neither takes it over nor resets it."""
    memory.retrieved(memory.recall("JWT", types=("episode",)))
    again = memory.sessions.compressing([{"role": "user", "content": "Great, thanks, that works."}], session="s")

    assert [1] == [e.access_count for e in memory.sessions.episodes() if e.id == episode_told.id]
    assert episode_told.summary == next(e.summary for e in memory.sessions.episodes() if e.id == episode_told.id)
    assert again.episode is None or again.episode.id != episode_told.id


@pytest.mark.spec("S3-18", "S3-02", "S3-35", "S2-03", "S3-24")
def test_it_tells_the_whole_story(memory, episode_told):
    """Why JWT was chosen, the discussion and the decision: all of it in one place, in both languages of the labels."""
    text = memory.sessions.to_markdown(episode_told, "en")

    assert all(words in text for words in (CHOSEN, "read_file(path=src/auth.py)", "✗ Error: 2 failed", "Lantern"))
    assert "历史操作记录" in memory.sessions.to_markdown(episode_told, "zh")
    assert (CHOSEN,) == episode_told.decisions
    assert {"src/auth.py", "JWT", "Lantern"} <= {*episode_told.entities}
    rules = memory.get_all(where={"kind": "rule"})
    assert [episode_told.linked_memory_ids] == [tuple(rule.id for rule in rules)], "what was learned in it is linked"
    assert {episode_told.first_turn, episode_told.last_turn} <= {turn.id for turn in memory.search_traces(session="s")}


@pytest.mark.spec("S3-30", "S2-06", "S3-161")
@pytest.mark.parametrize(
    "question",
    [
        "why did we choose JWT?",
        "src/auth.py",
        "Lantern",
        "when did we use read_file?",
        "what happened on March 1?",
        "JWT 是怎么定的",
    ],
)
def test_it_is_found_by_its_words_names_time_and_tools(memory, episode_told, question):
    """Beside memories and turns, in one recall; another session's story is not among the first."""
    memory.record([{"role": "user", "content": "Plan a birthday party for Ann in April."}], session="t")
    other = memory.sessions.end("t").episode
    hits = [hit.id for hit in memory.recall(question, types=("episode",))]

    assert episode_told.id == hits[0]
    assert other.id not in hits[:1]
    assert episode_told.id in [hit.id for hit in memory.recall(question, types=("memory", "turn", "episode"))]


@pytest.mark.parametrize("question", ["read_file", "when did we run pytest?", "tests/auth 什么时候跑的"])
def test_a_tool_and_what_it_was_given_find_it_though_the_summary_is_silent(memory, question):
    """The host's own words name no tool, and nothing that one was told to do."""
    talk = [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": "Reading.", "tool_calls": CALLS, "tool_results": RESULTS},
    ]
    episode = memory.sessions.compressing(talk, session="s", summary="A comparison.").episode

    assert [episode.id] == [hit.id for hit in memory.recall(question, types=("episode",))]


def test_from_a_memory_the_way_leads_to_its_episode(memory, episode_told):
    """By its source turn and the links of the episode; what was told outside of one leads to none."""
    rule = memory.get_all(where={"kind": "rule"})[0]
    apart = memory.remember("I live in Oslo.").memory

    def episodes(one):
        return [episode.id for episode in memory.sessions.episodes() if one.id in episode.linked_memory_ids]

    assert ([episode_told.id], []) == (episodes(rule), episodes(apart))
    assert ["s"] == [source.session for source in rule.sources]


def test_episodes_are_listed_by_session_and_time(memory, clock, episode_told):
    """The newest first, in a window, at most so many."""
    clock.advance(days=2)
    later = clock.now
    memory.record([{"role": "user", "content": "翻译一下 README"}], session="t")
    second = memory.sessions.end("t").episode

    assert [second.id, episode_told.id] == [e.id for e in memory.sessions.episodes()]
    assert [second.id] == [e.id for e in memory.sessions.episodes(limit=1)] == [e.id for e in memory.sessions.episodes(since=later)]
    assert (
        [episode_told.id]
        == [e.id for e in memory.sessions.episodes(until=later)]
        == [e.id for e in memory.sessions.episodes(session="s")]
    )


def test_told_again_it_is_the_same_episode(memory, episode_told):
    """A second telling of the same turns keeps id, birth and count, and takes in what was linked since."""
    again = memory.sessions.compressing([{"role": "user", "content": ASKED}], session="s").episode
    twice = memory.sessions.compressing([{"role": "user", "content": ASKED}], session="s").episode

    assert (again.id, again.created_at) == (twice.id, twice.created_at)
    assert {episode_told.id, again.id} == {e.id for e in memory.sessions.episodes()}


def test_a_chinese_session_is_told_in_chinese(memory):
    """Its summary, its reason and its labels."""
    memory.record_turn("user", "帮我把登录模块改成用 JWT", session="s")
    memory.record_turn("assistant", "决定用 JWT，因为不需要保存会话。", session="s")
    memory.record_turn("user", "太好了，谢谢！", session="s")
    episode = memory.sessions.end("s").episode

    assert "登录模块" in episode.summary
    assert "JWT" in episode.goal
    assert not episode.summary.isascii()
    assert memory.sessions.to_markdown(episode).startswith("### 历史操作记录")


def test_an_english_session_with_a_word_of_chinese_in_it_is_shown_in_english(memory):
    """The labels are in the language of the story, not of the thanks that it quotes."""
    memory.record_turn("user", "Please fix the login page in src/auth.py", session="s")
    memory.record_turn("assistant", "Fixed: the token was compared as text.", session="s")
    memory.record_turn("user", "谢谢！", session="s")

    assert memory.sessions.to_markdown(memory.sessions.end("s").episode).startswith("### History of operations")


@pytest.mark.parametrize(
    ("goal", "more", "heading"),
    [
        (
            "My sister Ann is allergic to peanuts.",
            "离地铁站很近，走路五分钟，旁边还有一个公园。",
            "### History of operations: My sister Ann",
        ),
        ("我妹妹对花生过敏。", "The flat is five minutes from the station, next to a park.", "### 历史操作记录: 我妹妹"),
    ],
)
def test_an_episode_is_told_in_the_language_of_its_goal(memory, goal, more, heading):
    """Whatever else was said in the session: the story begins with the goal."""
    memory.record_turn("user", goal, session="s")
    memory.record_turn("user", more, session="s")

    assert memory.sessions.to_markdown(memory.sessions.end("s").episode).startswith(heading)


def test_a_credential_in_a_tool_s_output_is_in_no_episode(memory):
    """It was masked in the turn, so it is masked in the story."""
    secret = "ghp_" + "a1B2" * 9
    memory.record_turn("user", "run the deploy", session="s")
    results = [{"tool_use_id": "1", "content": f"token {secret} used"}]
    memory.record_turn(
        "assistant",
        "",
        session="s",
        tool_calls=[{"id": "1", "name": "bash", "input": {"command": f"T={secret} deploy"}}],
        tool_results=results,
    )

    assert secret not in repr(memory.sessions.end("s").episode)
