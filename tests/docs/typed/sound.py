"""A correct user's program: type checkers have no complaint, and it runs."""

import sys

from yiku import Hit, Memory, Outcome


def described(outcome: Outcome) -> str:
    """Each outcome by its kind, and by its class."""
    if outcome.kind == "replaced":
        return f"instead of {outcome.replaced.content}"
    if outcome.kind == "refused":
        return outcome.why
    return outcome.memory.content


def main(home: str) -> None:
    with Memory(home, scope="auth0|Ab12", durability="fast", limit=5, names=["Mei"]) as memory:
        memory.record(
            [
                {"role": "user", "content": "我搬到奥斯陆了。"},
                {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
                {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "name": "ls", "input": {}}]},
            ],
            session="s1",
        )
        turn = memory.record_turn("user", "I live in Oslo.", session="s1", said_at="2026-01-02", project="atlas")
        outcome = memory.remember("Ann prefers tea.", kind="preference", tags=["茶"], source=turn.id, pinned=True, origin="user")
        print(described(outcome))
        hits = memory.recall("what does Ann drink?", types=["memory", "turn"], where={"kind": "preference"})
        first: Hit = hits[0]
        memory.feedback(outcome.memory.id, "used")
        memory.update(outcome.memory.id, importance=0.9)
        memory.agent.propose("Ann likes tea.", kind="preference", evidence="Ann prefers tea.")
        night = memory.admin.consolidate("light", dry_run=True)
        over = memory.admin.audit(budgets={"stale": 0.5}).over
        built = memory.prompts.build("我住在哪里？", auto_recall="always", runtime={"host": "demo"})
        print(first, str(memory.context("tea?")), *memory.sessions.messages("s1"))
        print(night.counts, over, len(built.sections), memory.why(outcome.memory.id).current)


if __name__ == "__main__":
    main(sys.argv[1])
