"""
Contract tests of records (episodes, scratchpads, attachments), the job queue and session state.

A part of the contract: `StoreContract` inherits it, and gives the fixtures.
"""

from collections.abc import Callable
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

import pytest
from store.looking import Reopen, new_scope
from store.samples import (
    NOW,
    SHANGHAI,
    a_job,
    a_memory,
    a_scratchpad,
    a_turn,
    added,
    an_attachment,
    an_episode,
    cause,
    full_records,
    kept,
    put,
)

from yiku.errors import Stale
from yiku.rules.text import analyze
from yiku.store.api import Store
from yiku.types import (
    AddJobs,
    AddScope,
    Attachment,
    ClaimJobs,
    CountAccess,
    Drop,
    EndJob,
    Episode,
    Job,
    KeepReply,
    Learned,
    LearningState,
    MarkCompressed,
    Memories,
    ModelCall,
    Put,
    Record,
    Records,
    Scratchpad,
    SetLearning,
    SetSession,
    Spend,
    Turns,
)

GIVEN_BY_THE_STORE = {"n", "changed", "scope"}
NOT_STORED = {"left_out"}  # it belongs to the answer of one call
KINDS: list[type[Any]] = [Episode, Scratchpad, Attachment]
EMPTY: dict[type[Any], Callable[..., Any]] = {Episode: an_episode, Scratchpad: a_scratchpad, Attachment: an_attachment}
FULL = {type(record): record for record in full_records()}
HOUR = timedelta(hours=1)


def unnumbered(record: Record) -> Record:
    return replace(record, n=0, changed=0, scope="")


def only(store: Store, kind: type[Any], scope: int, **select: Any) -> Any:
    """The one record that is asked for."""
    (found,) = store.records(kind, [scope], Records(**select))
    return found


def ids(store: Store, kind: type[Any], scope: int, **select: Any) -> list[str]:
    return [record.id for record in store.records(kind, [scope], Records(**select))]


def found_by(store: Store, index: Any, scopes: list[int], word: str) -> list[int]:
    (term, *_) = analyze.tokens(word).words
    (posting,) = store.postings(index, scopes, [term], past=False, cap=100).found
    return posting.ns.tolist()


class WorkContract:
    """See StoreContract."""

    # ---------------------------------------------------------- records

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_record_survives_in_every_field(self, reopen: Reopen, store, scope, kind):
        """Written, the store opened anew, read: each field, with Chinese, offsets and nested values; none had its default."""
        record, empty = FULL[kind], EMPTY[kind](id="-")
        store.apply(scope, [put(record)], cause())
        found = only(reopen(), kind, scope)
        names = {field.name for field in fields(kind)} - GIVEN_BY_THE_STORE - NOT_STORED

        assert [] == [name for name in names if getattr(record, name) == getattr(empty, name)]
        assert record == unnumbered(found)
        assert all(getattr(found, name) for name in GIVEN_BY_THE_STORE)
        times = [name for name in names if hasattr(getattr(record, name), "utcoffset")]
        assert [SHANGHAI.utcoffset(None)] * len(times) == [getattr(found, name).utcoffset() for name in times] != []

    @pytest.mark.parametrize("kind", KINDS)
    def test_an_empty_record_comes_back_empty(self, reopen, store, scope, kind):
        """What was not filled is not there: no empty text where there was none, no list of nothing."""
        record = EMPTY[kind]()
        store.apply(scope, [put(record)], cause())

        assert record == unnumbered(only(reopen(), kind, scope))

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_newer_form_takes_the_place_of_the_older(self, reopen, store, scope, kind):
        """One row under the id, with its number; the journal has the form before, and who comes with an older form is refused."""
        store.apply(scope, [put(FULL[kind])], cause())
        first = only(store, kind, scope)
        later = replace(EMPTY[kind](id=first.id), changed=first.changed)
        store.apply(scope, [put(later)], cause())
        second = only(reopen(), kind, scope)

        assert (first.n, unnumbered(later)) == (second.n, unnumbered(second))
        assert second.changed > first.changed
        update, insert = reopen().journal([scope], limit=2)
        assert (("insert", None), "update", first.id) == ((insert.action, insert.before), update.action, update.before["id"])
        for stale in (first, replace(first, changed=0)):
            with pytest.raises(Stale):
                reopen().apply(scope, [put(stale)], cause())
        assert second == only(reopen(), kind, scope)

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_record_can_be_dropped_and_come_back(self, store, scope, kind):
        """It goes with its postings if it is as it was read, and comes back under its number."""
        store.apply(scope, [put(FULL[kind])], cause())
        record = only(store, kind, scope)
        with pytest.raises(Stale):
            store.apply(scope, [Drop(replace(record, changed=record.changed - 1))], cause())
        store.apply(scope, [Drop(record)], cause())

        assert [] == store.records(kind, [scope], Records())
        assert "delete" == store.journal([scope], limit=1)[0].action
        with pytest.raises(Stale):
            store.apply(scope, [Drop(record)], cause())
        store.apply(scope, [put(replace(record, changed=0))], cause())
        assert (record.n, unnumbered(record)) == ((again := only(store, kind, scope)).n, unnumbered(again))

    @pytest.mark.parametrize(("kind", "index"), [(Episode, "episode"), (Attachment, "attachment")])
    def test_a_record_is_found_by_its_words_as_long_as_it_has_them(self, store, scope, kind, index):
        """In both languages; a newer form by its own words, one that was dropped by none."""
        field = "summary" if kind is Episode else "description"
        other = new_scope(store, "user:ann")
        record = EMPTY[kind](**{field: "灯笼 lantern"})
        store.apply(scope, [put(record)], cause())
        n = only(store, kind, scope).n
        assert [[n], [n]] == [found_by(store, index, [scope], word) for word in ("灯笼", "lantern")]
        assert [] == found_by(store, index, [other], "lantern")

        store.apply(scope, [put(replace(only(store, kind, scope), **{field: "郁金香 tulip"}))], cause())
        assert ([], [n]) == (found_by(store, index, [scope], "lantern"), found_by(store, index, [scope], "郁金"))
        store.apply(scope, [Drop(only(store, kind, scope))], cause())
        assert [] == found_by(store, index, [scope], "tulip")

    def test_records_are_selected_and_ordered(self, store, scope):
        """By row, id, end of an id, session, turn, user and time; by number, or the newest first; at most so many."""
        episodes = [an_episode(session=f"s{i % 2}", ended_at=NOW + HOUR * (3 - i)) for i in range(4)]
        attachments = [an_attachment(turn=f"t{i}", said_at=NOW + HOUR * i) for i in range(3)]
        pads = [a_scratchpad(user_id=user) for user in ("user:mei", "小明")]
        store.apply(scope, [put(record) for record in (*episodes, *attachments, *pads)], cause())
        e, a = [one.id for one in episodes], [one.id for one in attachments]
        ns = [record.n for record in store.records(Episode, [scope], Records())]

        assert e == ids(store, Episode, scope)
        assert e[::-1] != e[:] == ids(store, Episode, scope, newest_first=True)
        assert [e[1], e[2]] == ids(store, Episode, scope, ns=ns[1:3])
        assert [e[3]] == ids(store, Episode, scope, ids=[e[3], "nobody's"])
        assert [e[0]] == ids(store, Episode, scope, suffix=e[0][2:])
        assert [] == ids(store, Episode, scope, suffix="%")
        assert [e[1], e[3]] == ids(store, Episode, scope, sessions=["s1", "s9"])
        assert [e[0], e[1]] == ids(store, Episode, scope, newest_first=True, limit=2)
        assert [a[1]] == ids(store, Attachment, scope, turns=["t1"])
        assert [a[1]] == ids(store, Attachment, scope, since=NOW + HOUR, until=NOW + 2 * HOUR)
        assert [pads[1].id] == ids(store, Scratchpad, scope, user="小明")
        assert [] == ids(store, Episode, scope, ids=[]) == store.records(Episode, [], Records())

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_record_of_another_scope_is_not_there(self, store, scope, kind):
        """Neither to be read, nor replaced, nor dropped; the same id in two scopes is two records."""
        other = new_scope(store, "user:eve")
        store.apply(scope, [put(FULL[kind])], cause())
        mine = only(store, kind, scope)

        assert [] == store.records(kind, [other], Records(ids=[mine.id]))
        for change in (Drop(mine), put(mine)):
            with pytest.raises(Stale):
                store.apply(other, [change], cause())
        store.apply(other, [put(FULL[kind])], cause())
        assert ("user:mei", "user:eve") == (only(store, kind, scope).scope, only(store, kind, other).scope)
        assert mine == only(store, kind, scope)

    def test_one_scratchpad_a_user(self, store, scope):
        """A second for the same user is refused whole; another user has his own."""
        store.apply(scope, [put(a_scratchpad())], cause())
        with pytest.raises(Stale):
            store.apply(scope, [put(a_scratchpad())], cause())
        store.apply(scope, [put(a_scratchpad(user_id="小明"))], cause())

        assert 2 == len(store.records(Scratchpad, [scope], Records()))

    # ---------------------------------------------------------- the queue

    def test_a_job_stands_in_the_queue_once(self, reopen, store, scope):
        """Added again it is the same; another turn, kind or text is another, and each survives in every field."""
        jobs = [a_job(), a_job(turn_n=2), a_job(kind="episode", turn_n=0, content_hash="集".encode()), a_job(session="会话")]
        assert 4 == len(store.apply(scope, [AddJobs(jobs)], cause()).rows[0])
        assert () == store.apply(scope, [AddJobs(jobs)], cause()).rows[0]

        assert [replace(job, n=i + 1) for i, job in enumerate(jobs)] == reopen().learning.jobs(scope)

    def test_jobs_are_taken_in_the_order_in_which_they_are_due(self, store, scope):
        """The first due first, only what is due unless all are wanted, of one session if that is said, at most so many."""
        later, now, first, other = (
            a_job(turn_n=i, due_at=NOW + HOUR * due, session=session)
            for i, (due, session) in enumerate(((1, "s1"), (0, "s1"), (-1, "s1"), (-2, "s2")))
        )
        store.apply(scope, [AddJobs([later, now, first, other])], cause())
        assert [3, 2, 1, 0] == [job.turn_n for job in store.learning.jobs(scope)]

        def taken(**how: Any) -> list[int]:
            claimed = store.apply(scope, [ClaimJobs(NOW + HOUR, **{"limit": 9, **how})], cause()).rows[0]
            return sorted(job.turn_n for job in store.learning.jobs(scope, ns=claimed))

        assert [2] == taken(limit=1, session="s1")
        assert [1, 3] == taken()
        assert [0] == taken(due=False)
        assert [] == taken(due=False)

    def test_a_lease_runs_out_and_the_older_fence_is_refused(self, reopen, store, scope):
        """Taken, a job is nobody else's until its time; then who had it can neither keep a reply nor end it."""
        store.apply(scope, [AddJobs([a_job()])], cause())
        first = self._taken(store, scope, at=NOW)
        assert first is not None
        assert None is self._taken(store, scope, at=NOW + HOUR / 2)
        second = self._taken(reopen(), scope, at=NOW + HOUR)
        assert second is not None and second.fence == first.fence + 1

        for late in (KeepReply(first, "{}"), EndJob(first), EndJob(first, "why", NOW)):
            with pytest.raises(Stale):
                reopen().apply(scope, [kept(a_memory("too late 太晚了")), late], cause())
        assert [] == reopen().memories([scope], Memories())
        reopen().apply(scope, [KeepReply(second, '["回答"]')], cause())
        assert ['["回答"]'] == [job.reply for job in reopen().learning.jobs(scope)]
        reopen().apply(scope, [EndJob(second)], cause())
        assert [] == reopen().learning.jobs(scope)

    def test_who_is_alone_takes_what_another_held(self, reopen, store, scope):
        """Of two leases that run, the one named as held counts; the other job is taken at once, and who had it comes too late."""
        store.apply(scope, [AddJobs([a_job(), a_job(turn_n=2)])], cause())
        first, mine = self._taken(store, scope, at=NOW), self._taken(store, scope, at=NOW)
        assert first is not None and mine is not None

        (n,) = reopen().apply(scope, [ClaimJobs(NOW + HOUR, 9, excluded=[mine.n])], cause()).rows[0]

        assert first.n == n
        with pytest.raises(Stale):
            reopen().apply(scope, [EndJob(first)], cause())

    def _taken(self, store: Store, scope: int, *, at: Any) -> Job | None:
        claimed = store.apply(scope, [ClaimJobs(at + HOUR, 1)], cause(at=at)).rows[0]
        return store.learning.jobs(scope, ns=claimed)[0] if claimed else None

    def test_a_job_that_failed_is_put_off_then_dead_then_alive_again(self, store, scope):
        """With why and how often; a dead one is not taken, and comes to life when it is added again, without its reply."""
        store.apply(scope, [AddJobs([a_job()])], cause())
        job = self._taken(store, scope, at=NOW)
        assert job is not None
        store.apply(scope, [KeepReply(job, "x"), EndJob(replace(job, tries=1), "没有回答 no reply", NOW + HOUR)], cause())
        (waiting,) = store.learning.jobs(scope, dead=False)
        assert (False, 1, "没有回答 no reply", NOW + HOUR) == (waiting.dead, waiting.tries, waiting.error, waiting.due_at)
        assert None is self._taken(store, scope, at=NOW)

        job = self._taken(store, scope, at=NOW + HOUR)
        assert job is not None
        store.apply(scope, [EndJob(replace(job, tries=3), "没有回答 no reply")], cause())
        assert ([], [True]) == (store.learning.jobs(scope, dead=False), [job.dead for job in store.learning.jobs(scope, dead=True)])
        assert () == store.apply(scope, [ClaimJobs(NOW + 9 * HOUR, 9, due=False)], cause(at=NOW + 8 * HOUR)).rows[0]
        store.apply(scope, [AddJobs(store.learning.jobs(scope, dead=True))], cause())
        (alive,) = store.learning.jobs(scope)
        assert (False, 0, None, None) == (alive.dead, alive.tries, alive.error, alive.reply)

    def test_the_queue_of_another_scope_is_not_there(self, store, scope):
        """Nothing of it is seen, taken, answered or ended."""
        other = new_scope(store, "user:eve")
        store.apply(scope, [AddJobs([a_job()])], cause())
        job = self._taken(store, scope, at=NOW)
        assert job is not None

        assert [] == store.learning.jobs(other) == store.learning.jobs(other, ns=[job.n])
        assert () == store.apply(other, [ClaimJobs(NOW + HOUR, 9, due=False)], cause(at=NOW + 2 * HOUR)).rows[0]
        for change in (KeepReply(job, "x"), EndJob(job)):
            with pytest.raises(Stale):
                store.apply(other, [change], cause())
        assert [job] == store.learning.jobs(scope)

    # ---------------------------------------------------------- how far learning came

    def test_learning_goes_on_where_it_stopped_and_nothing_is_learned_twice(self, reopen, store, scope):
        """The mark moves from where it was read; who read it before another moved it is refused, whole. So is a turn a second time."""
        ns = list(store.apply(scope, [added(*(a_turn(f"句 {i}") for i in range(4)))], cause()).rows[0])
        assert (0, set()) == (store.learning.upto(scope), store.learning.extracted(scope, ns))
        store.apply(scope, [Learned(upto=ns[1])], cause())

        for stale in (Learned(upto=ns[2]), Learned([ns[1]]), Learned([ns[0], ns[3]])):
            with pytest.raises(Stale):
                store.apply(scope, [kept(a_memory("once 一次")), stale], cause())
        store.apply(scope, [Learned([ns[3]])], cause())
        with pytest.raises(Stale):
            store.apply(scope, [Learned([ns[2], ns[3]])], cause())
        assert (ns[1], {ns[3]}, []) == (
            reopen().learning.upto(scope),
            reopen().learning.extracted(scope, ns),
            reopen().memories([scope], Memories()),
        )

    def test_a_scope_keeps_with_which_rules_it_was_read(self, reopen, store, scope):
        """A new one as it is told, an older one nothing; each scope its own; how far a run came is kept, and none of it is journaled."""
        store.apply(0, [AddScope("user:new", learning=3)], cause())
        store.apply(0, [AddScope("user:new", learning=4)], cause())
        (new,) = [number for number, name, _ in store.scopes() if name == "user:new"]
        last = store.journal([scope, new])[0].number
        under_way = LearningState(1, target=3, run="读 again", upto=7)
        store.apply(scope, [SetLearning(under_way)], cause())

        store = reopen()
        assert (under_way, LearningState(3)) == (store.learning.state(scope), store.learning.state(new))
        assert last == store.journal([scope, new])[0].number
        store.apply(scope, [SetLearning(LearningState(3))], cause())
        assert LearningState(3) == store.learning.state(scope)
        assert LearningState() == store.learning.state(new_scope(store, "user:old"))

    def test_the_operations_of_a_run_are_read_together(self, store, scope):
        """All of one run and nothing else, newest first."""
        run_cause = replace(cause(), run="r1")
        for text, why in (("一", run_cause), ("two", cause()), ("三", run_cause), ("four", replace(run_cause, run="r2"))):
            store.apply(scope, [kept(a_memory(text))], why)
        first, second = store.journal([scope], run="r1")[::-1]

        assert ("r1", "r1", True) == (first.run, second.run, first.transaction < second.transaction)
        assert [] == store.journal([new_scope(store, "user:eve")], run="r1")

    def test_a_turn_that_is_another_s_is_neither_learned_nor_compressed(self, store, scope):
        """By its number alone nothing is marked."""
        other = new_scope(store, "user:eve")
        (n,) = store.apply(scope, [added(a_turn())], cause()).rows[0]
        store.apply(other, [Learned([n]), MarkCompressed([n], "e")], cause())

        assert (set(), {}) == (store.learning.extracted(other, [n]), store.learning.compressions(other, [n]))
        assert (set(), {}) == (store.learning.extracted(scope, [n]), store.learning.compressions(scope, [n]))

    def test_a_turn_that_was_read_at_once_is_still_learned_from(self, reopen, store, scope):
        """It does not wait, and is dealt with later; another scope's is not marked."""
        other = new_scope(store, "user:eve")
        ns = list(store.apply(scope, [added(a_turn("一"), a_turn("two"))], cause()).rows[0])
        store.apply(scope, [Learned(read=ns[:1])], cause())
        store.apply(other, [Learned(read=ns[1:])], cause())
        store = reopen()

        assert (set(), 1) == (store.learning.extracted(scope, ns), store.learning.waiting(scope))
        store.apply(scope, [Learned(ns)], cause())
        assert {*ns} == store.learning.extracted(scope, ns)

    def test_a_compressed_turn_names_its_episode(self, reopen, store, scope):
        """The last one that tells of it; it is as little learned from as before, and all there."""
        ns = list(store.apply(scope, [added(a_turn("一"), a_turn("two"))], cause()).rows[0])
        store.apply(scope, [MarkCompressed(ns[:1], "e1")], cause())
        store.apply(scope, [MarkCompressed(ns[:1], "e2")], cause())

        assert ({ns[0]: "e2"}, set()) == (reopen().learning.compressions(scope, ns), reopen().learning.extracted(scope, ns))
        assert 2 == len(reopen().turns([scope], Turns()))

    # ---------------------------------------------------------- sessions and models

    def test_a_session_keeps_what_a_host_says_of_it(self, reopen, store, scope):
        """Variables, task and end, each set by itself, beside its turns and times; the newest session first; another scope has its own."""
        other = new_scope(store, "user:eve")
        turns = [
            a_turn("早", session="会话"),
            a_turn("晚", session="会话", said_at=NOW + HOUR),
            a_turn("x", session="old", said_at=NOW - HOUR),
        ]
        store.apply(scope, [added(*turns), SetSession("会话", {"variables": {"语": ["zh", 1]}})], cause())
        store.apply(scope, [SetSession("会话", {"task": "写 report", "closed_at": NOW})], cause())
        store.apply(other, [added(a_turn("y", session="会话"))], cause())
        first, second = reopen().sessions(scope)

        assert ("会话", 2, NOW, NOW + HOUR) == (first.id, first.turns, first.started_at, first.ended_at)
        assert ({"语": ["zh", 1]}, "写 report", NOW, "user:mei") == (first.variables, first.task, first.closed_at, first.scope)
        assert ("old", {}, None, None) == (second.id, second.variables, second.task, second.closed_at)
        assert [first] == reopen().sessions(scope, id="会话") == reopen().sessions(scope, limit=1)
        assert [({}, None)] == [(one.variables, one.task) for one in reopen().sessions(other)]

    def test_what_a_host_says_of_a_session_is_there_before_its_first_turn(self, reopen, store, scope):
        """In front of the others, with no times; one of which nothing is left but that it was ended is none."""
        store.apply(scope, [added(a_turn("早", session="old")), SetSession("会话", {"task": "写 report"})], cause())
        store.apply(scope, [SetSession("gone", {"closed_at": NOW}), SetSession("v", {"variables": {"语": 1}})], cause())

        assert ["会话", "v", "old"] == sorted((one.id for one in reopen().sessions(scope)), key=["会话", "v", "old"].index)
        (first,) = reopen().sessions(scope, id="会话")
        assert (0, 0, None, None, "写 report") == (first.number, first.turns, first.started_at, first.ended_at, first.task)
        store = reopen()
        assert "old" == store.sessions(scope)[-1].id
        store.apply(scope, [added(a_turn("x", session="会话"))], cause())
        (first,) = reopen().sessions(scope, id="会话")
        assert (1, "写 report") == (first.turns, first.task)

    def test_what_a_model_took_is_on_the_ledger(self, reopen, store, scope):
        """Each call in every field, oldest first, since a time, of one session; of one's own scope."""
        other = new_scope(store, "user:eve")
        calls = [
            ModelCall(
                at=NOW + HOUR * i,
                purpose="extract",
                session=session,
                model="模型 m",
                prompt_tokens=tokens,
                completion_tokens=7,
                seconds=1.25,
                outcome="ok",
            )
            for i, (session, tokens) in enumerate((("会话", 100), (None, None), ("s2", 0)))
        ]
        store.apply(scope, [Spend(call) for call in calls], cause())

        assert calls == reopen().learning.spent(scope)
        assert calls[1:] == reopen().learning.spent(scope, since=NOW + HOUR)
        assert calls[:1] == reopen().learning.spent(scope, session="会话")
        assert [] == reopen().learning.spent(other)

    def test_what_was_shown_since_is_told(self, store, scope):
        """Live statements that somebody was shown since a time; not those used, nor shown before."""
        texts = ("shown 看过", "used", "before")
        ns = [store.apply(scope, [kept(a_memory(text))], cause()).rows[0][0] for text in texts]
        store.apply(scope, [CountAccess(ns[:1], "retrieved"), CountAccess(ns[1:2], "used")], cause(at=NOW))
        store.apply(scope, [CountAccess(ns[2:], "retrieved")], cause(at=NOW - HOUR))

        assert ["shown 看过"] == [memory.content for memory in store.retrieved_since(scope, NOW)]

    def test_work_in_progress_is_no_change(self, store, scope):
        """None of it is in the journal; records are."""
        (n,) = store.apply(scope, [added(a_turn())], cause()).rows[0]
        before = store.journal([scope])
        store.apply(scope, [Learned([n]), MarkCompressed([n], "e"), SetSession("s1", {"task": "x"}), AddJobs([a_job()])], cause())

        assert before == store.journal([scope])
        store.apply(scope, [Put(a_scratchpad())], cause("patch"))
        assert ("patch", "scratchpad") == ((row := store.journal([scope], limit=1)[0]).operation, row.table)
