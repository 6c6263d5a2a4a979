"""
What scopes do with running conversations and with learning: sessions, episodes, the scratchpad, attachments, the queue.

As `scope_calls.py`: sessions bear the same names in all scopes, and whatever is written bears the scope's canary.
"""

from dataclasses import replace

import pytest
from store.scope_calls import SESSIONS, _gone, _probe
from store.scopes import MARKED, View, World, tries

from yiku.errors import InvalidInput, NotFound
from yiku.flows.learn import relearn
from yiku.flows.notes import add, compact, daily, publish, sync, watch
from yiku.flows.prompts.compile import compile_identity
from yiku.types import AddJobs, ClaimJobs, EndJob, Job, KeepReply, ModelCall, Spend


def _has(me: View, session: str) -> bool:
    return any(where == session for _, where, _ in me.model.turns.values())


# ------------------------------------------------------------------ learning


@tries("learn", 2)
def _learn(world: World, me: View) -> None:
    """What waits here, and nothing of another: learned once, it waits no more."""
    world.ask(me, me.memory.learn, writes=True)
    again = world.ask(me, me.memory.learn)
    assert (0, 0, 0) == (again.turns, again.jobs, again.waiting)
    me.model.last = None


@tries("admin.schedule", 1)
def _schedule(world: World, me: View) -> None:
    """When a night of this scope is due; others have their own."""
    world.ask(me, me.memory.admin.schedule)


@tries("admin.consolidate", 1)
def _consolidate(world: World, me: View) -> None:
    """What has ended ends in its own scope only."""
    world.ask(me, lambda: me.memory.admin.consolidate(dry_run=True), writes=True)
    world.ask(me, lambda: me.memory.admin.consolidate(phase=0), writes=True)


@tries("admin.report", 1)
@tries("admin.audit", 1)
@tries("admin.ingest", 1)
def _report(world: World, me: View) -> None:
    """What the last night of this scope did, what stands here, and nothing that was captured for another."""
    if me.memory.admin.consolidate(phase=0).run:
        world.ask(me, me.memory.admin.report, writes=True)
    world.ask(me, me.memory.admin.audit, writes=True)
    world.ask(me, me.memory.admin.ingest)


@tries("admin.sql", 1)
def _sql(world: World, me: View) -> None:
    """Every table whole, as SQL gives it."""
    for table in (
        "scopes",
        "conversation_turns",
        "memories",
        "memory_sources",
        "memory_tags",
        "episodes",
        "attachments",
        "chunks",
        "vectors",
    ):
        world.ask(me, lambda table=table: me.memory.admin.sql(f"select * from {table}", limit=10_000))


@tries("why", 1)
def _why(world: World, me: View) -> None:
    """A statement of ours with its own words."""
    if me.model.slots:
        id = world.chance.choice([*me.model.slots.values()])
        assert id == world.ask(me, lambda: me.memory.why(id)).memory.id


@tries("admin.undo_run", 1)
def _undo_run(world: World, me: View) -> None:
    """A run of another scope is not there."""
    theirs = world.views[world.chance.choice(me.others)].memory.admin.consolidate(phase=0).run
    with pytest.raises(NotFound):
        me.memory.admin.undo_run(theirs)


@tries("admin.relearn", 1)
def _relearn(world: World, me: View) -> None:
    """What reading this scope again would change; only said, since the model does not follow what is learned."""
    handle = me.memory._handle
    world.ask(me, me.memory.admin.relearn)  # learning is off here: nothing
    learns = replace(handle, settings=replace(handle.settings, learn="later"))
    world.ask(me, lambda: relearn.relearn(learns, dry_run=True), writes=True)  # ids that nothing has


@tries("admin.queue", 2)
@tries("admin.spent", 2)
def _queue(world: World, me: View) -> None:
    """Questions to a model: asked, answered, failed, and what they took; of this scope alone, by the same names as another's."""
    store, scope, now, mark = me.memory._handle.store, me.memory._handle.writes(), world.now, f"zq{me.mark}zq"
    jobs = [Job(kind="extract", session="s1", turn_n=0, content_hash=hash_, due_at=now, created_at=now) for hash_ in (b"1", b"2")]
    call = ModelCall(
        at=now,
        purpose="extract",
        session="s1",
        model=mark,
        prompt_tokens=1,
        completion_tokens=1,
        seconds=0.1,
        outcome="ok",
    )
    cause = me.memory._handle.cause("learn")
    taken = store.apply(scope, [AddJobs(jobs), ClaimJobs(now, 9), Spend(call)], cause).rows[1]
    first, *rest = store.learning.jobs(scope, ns=taken)
    store.apply(scope, [KeepReply(first, mark), EndJob(first, mark, now), *map(EndJob, rest)], cause)
    assert {mark} == {job.reply for job in world.ask(me, me.memory.admin.queue)}
    assert {mark} == {call.model for call in world.ask(me, lambda: me.memory.admin.spent(since=now))}
    me.model.last = None


@tries("admin.review", 2)
def _review(world: World, me: View) -> None:
    assert {me.name} >= {item.memory.scope for item in world.ask(me, lambda: me.memory.admin.review(limit=5))}


@tries("confirm", 1)
def _confirm(world: World, me: View) -> None:
    """A statement of ours is told once more; that of another is not there."""
    if plain := [id for id in me.model.live if id not in me.model.slots.values()]:
        id = world.chance.choice(plain)
        rivals = world.ask(me, lambda: me.memory.get(id)).flagged_with  # they leave memory
        assert id == world.ask(me, lambda: me.memory.confirm(id), writes=True).memory.id
        _gone(me.model, [rival for rival in rivals if rival in me.model.live])
        me.model.sourced.pop(id, None)
        me.model.last = None


@tries("reject", 1)
def _reject(world: World, me: View) -> None:
    """A statement of ours leaves memory."""
    if me.model.live:
        id, before = world.chance.choice([*me.model.live]), me.model.before()
        done = world.ask(me, lambda: me.memory.reject(id))
        assert id in [memory.id for memory in done.memories]
        _gone(me.model, [id])
        world.changed(me, done.operation, before)


_probe("confirm", lambda me, id: me.memory.confirm(id), weight=4)
_probe("reject", lambda me, id: me.memory.reject(id), weight=4)


# ------------------------------------------------------------------ the conversation


@tries("sessions.compressing", 2)
def _compressing(world: World, me: View) -> None:
    """Messages leave a context under a session's name that others use, too."""
    text, session = world.text(me), world.chance.choice(SESSIONS)
    messages = [{"role": "user", "content": text}]
    done = world.ask(me, lambda: me.memory.sessions.compressing(messages, session=session, summary=text), writes=True)
    assert (me.name, 1, 0) == (done.episode.scope, done.recorded, done.known)
    me.model.turns[done.episode.first_turn] = (text, session, True)
    me.model.ids.append(done.episode.first_turn)
    me.model.last = None


@tries("sessions.end", 2)
def _end(world: World, me: View) -> None:
    """Our session of that name ends; where only others have one, it is like nobody's."""
    session = world.chance.choice(SESSIONS)
    if not _has(me, session):
        world.alike(me, me.memory.sessions.end, session, "nobodys")
        return
    done = world.ask(me, lambda: me.memory.sessions.end(session), writes=True)
    assert {me.name} >= {one.scope for one in (done.episode, done.scratchpad) if one is not None}
    me.model.last = None


@tries("sessions.get", 2)
@tries("sessions.get_all", 1)
@tries("sessions.messages", 2)
@tries("sessions.set", 2)
def _state(world: World, me: View) -> None:
    """What is kept for our session; another's of the same name has its own."""
    session, mark = world.chance.choice(SESSIONS), f"zq{me.mark}zq"
    if not _has(me, session):
        world.alike(me, me.memory.sessions.get, session, "nobodys")
        return
    world.ask(me, lambda: me.memory.sessions.set(session, task=mark, shared=mark))
    found = world.ask(me, lambda: me.memory.sessions.get(session))
    assert me.reads >= {one.scope for one in world.ask(me, me.memory.sessions.get_all)}
    world.ask(me, lambda: [*me.memory.sessions.messages(session)])
    turns = [where for _, where, _ in me.model.turns.values() if where == session]
    assert (me.name, mark, {"shared": mark}, len(turns)) == (found.scope, found.task, found.variables, found.turns)


# ------------------------------------------------------------------ what grows out of it


@tries("sessions.episodes", 3)
@tries("sessions.attachments", 3)
def _listed(world: World, me: View) -> None:
    """Those of the scopes that we read, of a session that all have."""
    session = world.chance.choice((None, *SESSIONS))
    for listed in (me.memory.sessions.episodes, me.memory.sessions.attachments):
        found = world.ask(me, lambda listed=listed: listed(session=session, limit=4))
        assert me.reads >= {one.scope for one in found}


@tries("sessions.scratchpad", 2)
@tries("sessions.patch_scratchpad", 2)
@tries("sessions.edit_scratchpad", 1)
@tries("sessions.to_markdown", 1)
def _scratchpad(world: World, me: View) -> None:
    """Ours alone, also under the name of a user that others have, too."""
    text, user, sessions = world.text(me), world.chance.choice((None, "Ann")), me.memory.sessions
    pad = world.ask(me, lambda: sessions.patch_scratchpad(add_next_steps=[text], user=user), writes=True)
    assert (me.name, text) == (pad.scope, pad.next_steps[0])
    pad = world.ask(me, lambda: sessions.edit_scratchpad(f"## Projects\n- {text}", user), writes=True)
    assert pad == world.ask(me, lambda: sessions.scratchpad(user), writes=True)
    assert text in world.ask(me, lambda: sessions.to_markdown(pad, "en"))
    me.model.last = None


@tries("notes.publish", 2)
@tries("notes.edited", 1)
def _publish(world: World, me: View) -> None:
    """The pages of a scope that has some show its own statements, by no id of another's; the others have none."""
    handle = me.memory._handle
    given = replace(handle, settings=replace(handle.settings, vaults=(me.name,)))
    handle.writes()
    world.ask(me, lambda: publish.publish(given, keep="memory"), writes=True)
    text = (given.vault / "MEMORY.md").read_text(encoding="utf-8")
    assert {mark for mark, _ in MARKED.findall(text) if mark} <= {me.mark}
    if me.name != handle.settings.owner:
        with pytest.raises(InvalidInput, match="vaults"):
            me.memory.notes.publish()
    foreign = world.foreign(me.others)
    world.alike(me, lambda id: me.memory.notes.edited(id, before="a", after="b"), foreign, world.absent(foreign))
    me.model.last = None


@tries("prompts.compile", 1)
def _compile(world: World, me: View) -> None:
    """The summary of a scope's own profile; another without files has none."""
    handle = me.memory._handle
    given = replace(handle, settings=replace(handle.settings, vaults=(me.name,)))
    handle.writes()
    world.ask(me, lambda: compile_identity(given))
    summary = given.vault / "identity" / "compiled" / "user.summary.md"
    text = summary.read_text(encoding="utf-8") if summary.exists() else ""
    assert {mark for mark, _ in MARKED.findall(text) if mark} <= {me.mark}
    if me.name != handle.settings.owner:
        with pytest.raises(InvalidInput, match="vaults"):
            me.memory.prompts.compile()


@tries("notes.sync", 1)
@tries("notes.index_document", 1)
@tries("notes.index_skill", 1)
def _sync(world: World, me: View) -> None:
    """Notes of a scope's own folder, in which nobody else finds anything."""
    handle = me.memory._handle
    given = replace(handle, settings=replace(handle.settings, vaults=(me.name,)))
    handle.writes()
    note = given.vault / "documents" / f"{me.mark}.md"
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(world.text(me), encoding="utf-8")
    world.ask(me, lambda: sync.sync(given))
    world.ask(me, lambda: add.document(given, note))
    if me.name != handle.settings.owner:
        for verb in (me.memory.notes.sync, lambda: me.memory.notes.index_document(note), lambda: me.memory.notes.index_skill(note)):
            with pytest.raises(InvalidInput):
                verb()
    world.ask(me, lambda: me.memory.recall(world.question(), types=["note"]))


@tries("notes.append_daily", 1)
@tries("notes.promote", 1)
@tries("notes.compact", 1)
@tries("notes.watch", 1)
def _daily(world: World, me: View) -> None:
    """Entries of a day and notes under a topic lie in the scope's own folder, and moving them to the archive keeps them there."""
    handle = me.memory._handle
    given = replace(handle, settings=replace(handle.settings, vaults=(me.name,)))
    handle.writes()
    text = world.text(me)
    noted = world.ask(me, lambda: daily.append_daily(given, text))
    assert text in (given.vault / noted.path).read_text(encoding="utf-8")
    world.ask(me, lambda: daily.promote(given, text, topic=me.mark))
    world.ask(me, lambda: compact.compact(given, older_than=0, strategy="archive"))
    world.ask(me, lambda: watch.watch(given, stopped=lambda: True))
    if me.name != handle.settings.owner:
        notes = me.memory.notes
        for verb in (
            lambda: notes.append_daily(text),
            lambda: notes.promote(text),
            notes.compact,
            lambda: notes.watch(stopped=lambda: True),
        ):
            with pytest.raises(InvalidInput):
                verb()
    world.ask(me, lambda: me.memory.recall(world.question(), types=["note"]))


@tries("sessions.attach", 2)
@tries("sessions.describe", 2)
@tries("sessions.content", 2)
def _attach(world: World, me: View) -> None:
    """A file of ours, perhaps kept; what is known of it later. Another's is like nobody's, and so is another's turn."""
    mark, sessions, keep = f"zq{me.mark}zq", me.memory.sessions, world.chance.random() < 0.3
    file = world.folder / f"{mark}.bin"
    file.write_bytes(content := f"{mark} {world.serial}".encode())
    kept = world.ask(me, lambda: sessions.attach(file, session="s1", keep=keep, description=mark), writes=True)
    me.model.files[kept.id] = content if keep else None
    later = world.ask(me, lambda: sessions.describe(kept.id, transcription=mark), writes=True)
    assert (me.name, mark) == (later.scope, later.transcription)
    if keep:
        assert content == world.ask(me, lambda: sessions.content(kept.id))
    me.model.last = None
    turn = world.foreign(me.hidden)
    world.alike(me, lambda id: sessions.attach("/tmp/a.jpg", session="s1", turn=id), turn, world.absent(turn))
    for name, call in (
        (world.chance.choice(me.others), lambda id: sessions.describe(id, transcription="mine")),
        (world.chance.choice(me.hidden), sessions.content),
    ):
        if theirs := world.views[name].model.files:
            id = world.chance.choice([*theirs])
            world.alike(me, call, id, world.absent(id))
