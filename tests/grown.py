"""
Fill a home with canaries in all records derived from a session, for tests of erasure.

An episode and its steps, the scratchpad, an attachment with its file, session variables, a model's replies and errors, and the older
versions of all these in the journal.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from yiku import Memory
from yiku.flows.learn import episodes
from yiku.types import AddJobs, ClaimJobs, EndJob, Job, KeepReply, ModelCall, Put, Spend, Turn

PLACES = "variable task file named described older extracted summary step reply error".split()


def out_of(memory: Memory, turn: Turn, words: Mapping[str, str], *, says: str, folder: Path) -> None:
    """
    All that a session leaves behind, its canaries by PLACES, in Latin and (name + " 中") in Chinese.

    says: words that the turn says too, for what is not tied to it
    """

    def phrase(place: str) -> str:
        return f"{words[place]} {words[f'{place} 中']}"

    session, sessions = turn.session, memory.sessions
    sessions.set(session, task=phrase("task"), **{"变量": [phrase("variable")]})
    file = folder / f"{words['named']}.txt"
    file.write_bytes(b"\xff\xfe not text \x00" + phrase("file").encode())
    kept = sessions.attach(file, session=session, keep=True, turn=turn.id, description=f"{says} {phrase('older')}")
    sessions.describe(kept.id, description=f"{says} {phrase('described')}", extracted_text=phrase("extracted"))
    file.unlink()
    sessions.patch_scratchpad(add_open_questions=[f"谁知道? who knows {says}"], add_next_steps=[says])
    sessions.patch_scratchpad(settle_next_steps=[says])
    episode = sessions.end(session).episode
    assert episode is not None
    handle, scope = memory._handle, memory._handle.writes()
    node = replace(episode.action_nodes[0], key_params={"path": phrase("step")}) if episode.action_nodes else None
    better = replace(episode, summary=phrase("summary"), action_nodes=(node,) if node else (), method="model")
    now = handle.now()
    job = Job(kind="extract", session=session, turn_n=turn.n, content_hash=b"h", due_at=now, created_at=now)
    handle.store.apply(scope, [Put(better, episodes.tokens(better)), AddJobs([job])], handle.cause("episode"))
    (n,) = handle.store.apply(scope, [ClaimJobs(now, 1, session)], handle.cause("learn")).rows[0]
    (job,) = handle.store.learning.jobs(scope, ns=[n])
    call = ModelCall(
        at=now,
        purpose="extract",
        session=session,
        model="m",
        prompt_tokens=1,
        completion_tokens=1,
        seconds=0.1,
        outcome="ok",
    )
    changes = [KeepReply(job, phrase("reply")), Spend(call), EndJob(job, phrase("error"), now)]
    handle.store.apply(scope, changes, handle.cause("learn"))
