"""The plugin that `yiku install opencode` writes, run by Node as OpenCode calls it: whose words a prompt is, and what it brings in."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hooking import captured

from yiku import Memory
from yiku.interfaces.hooks import install
from yiku.interfaces.hooks.install import Installation

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="Node.js is not installed")

SESSIONS = {"root": {"id": "root"}, "child": {"id": "child", "parentID": "root"}}
RULE = {"en": "From now on always answer in Latin.", "zh": "以后请一直用拉丁语回答。"}
LIVES = {"en": "I live in Oslo.", "zh": "我住在奥斯陆。"}

RUN = """
import { readFileSync } from "node:fs"
import { Yiku } from %s
const { sessions, prompts } = JSON.parse(readFileSync(0, "utf8"))
let asked = 0
const get = async ({ path }) => {
  asked += 1
  if (!(path.id in sessions)) throw new Error("no such session")
  return { data: sessions[path.id] }
}
const hooks = await Yiku({ client: { session: { get, messages: async () => ({ data: [] }) } }, directory: %s })
const shown = []
for (const [sessionID, text] of prompts) {
  const parts = [{ id: "p", type: "text", text }]
  await hooks["chat.message"]({ sessionID }, { message: {}, parts })
  shown.push(parts.slice(1).map((part) => part.text).join(""))
}
console.log(JSON.stringify({ asked, shown }))
"""


def prompted(home, *prompts, sessions=SESSIONS):
    """Send prompts through the plugin; how often it asked for a session, and what it brought into each prompt."""
    installed = install._plugin(Installation(install.agent("opencode"), home=str(home)))
    (folder := Path(home).parent / "plugin").mkdir(exist_ok=True)
    (folder / "yiku.mjs").write_text(installed)
    (folder / "run.mjs").write_text(RUN % (json.dumps(str(folder / "yiku.mjs")), json.dumps(str(folder))))
    done = subprocess.run(
        [NODE, str(folder / "run.mjs")],
        input=json.dumps({"sessions": sessions, "prompts": prompts}).encode(),
        capture_output=True,
        timeout=120,
        check=True,
        env={"PATH": os.environ["PATH"], "HOME": str(Path(home).parent)},
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_an_agent_asks_of_a_subagent_is_not_the_users_word(home, language):
    """The task tool's prompt is a turn of the agent, and becomes neither a rule nor a fact; the user's own prompt does."""
    prompted(home, ["child", f"{RULE[language]}\n{LIVES[language]}"], ["root", LIVES[language]])
    with Memory(home, owner="user:mei") as memory:
        memory.admin.ingest()
        memory.learn()
        turns = [(turn.session, turn.role, turn.origin) for turn in memory.search_traces(limit=9)]
        learned = [(one.kind, one.origin) for one in memory.get_all()]

    assert {("child", "user", "assistant"), ("root", "user", "user")} == {*turns}
    assert [("fact", "user")] == learned


def test_whose_session_cannot_be_read_is_not_taken_for_the_user(home):
    """Recorded, so that nothing is lost, but not as the user's word: what an agent made up would be a rule."""
    prompted(home, ["unknown", RULE["en"]])
    with Memory(home, owner="user:mei") as memory:
        memory.admin.ingest()
        memory.learn()

        assert ["assistant"] == [turn.origin for turn in memory.search_traces()]
        assert [] == memory.get_all()


def test_rules_are_brought_into_the_users_prompt_and_not_into_a_subagents(home):
    """And each session is asked for once."""
    with Memory(home, owner="user:mei") as memory:
        memory.remember("Always write tests first.", kind="rule")
    done = prompted(
        home, ["child", "Search the repo."], ["root", "Mend the login."], ["root", "And the logout."], ["child", "Go on."]
    )

    assert ["", True, "", ""] == [done["shown"][0], "Always write tests first." in done["shown"][1], *done["shown"][2:]]
    assert 2 == done["asked"]
    assert ["delegate", "prompt", "prompt", "delegate"] == [event.hook for event in captured(home)]
