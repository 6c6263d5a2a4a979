"""`Memory`: opening, scopes, groups of methods, threads, closing; verbs work whatever the home holds."""

import io
import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import pytest

import yiku
from yiku import Memory
from yiku.errors import Closed, HomeMissing, InvalidInput, InvalidScope, ScopeRequired, SettingsError, YikuError

VERBS = {
    "record": lambda m: m.record([{"role": "user", "content": "早"}]),
    "record_turn": lambda m: m.record_turn("user", "早"),
    "remember": lambda m: m.remember("I live in Oslo"),
    "learn": lambda m: m.learn(),
    "confirm": lambda m: m.confirm("00000000"),
    "reject": lambda m: m.reject("00000000"),
    "update": lambda m: m.update("00000000", "x"),
    "forget": lambda m: m.forget(session="s"),
    "restore": lambda m: m.restore("00000000"),
    "feedback": lambda m: m.feedback("00000000", "used"),
    "get": lambda m: m.get("00000000"),
    "get_all": lambda m: m.get_all(),
    "about": lambda m: m.about("Ann"),
    "related": lambda m: m.related(subject="Ann"),
    "history": lambda m: m.history("00000000"),
    "why": lambda m: m.why("00000000"),
    "recall": lambda m: m.recall("早"),
    "explain": lambda m: m.explain("早"),
    "context": lambda m: m.context("早"),
    "search_traces": lambda m: m.search_traces(),
    "timeline": lambda m: m.timeline(),
    "status": lambda m: m.status(),
    "admin.undo": lambda m: m.admin.undo(1),
    "admin.undo_run": lambda m: m.admin.undo_run("a run"),
    "admin.report": lambda m: m.admin.report(),
    "admin.audit": lambda m: m.admin.audit(),
    "admin.sql": lambda m: m.admin.sql("select * from memories"),
    "admin.journal": lambda m: m.admin.journal(),
    "admin.stats": lambda m: m.admin.stats(),
    "admin.import_": lambda m: m.admin.import_([yiku.types.TurnRecord(1, {"role": "user", "content": "早"})], source="x"),
    "admin.check": lambda m: m.admin.check(),
    "admin.erase": lambda m: m.admin.erase("0" * 8),
    "admin.backup": lambda m: m.admin.backup(),
    "admin.backups": lambda m: m.admin.backups(),
    "admin.restore_backup": lambda m: m.admin.restore_backup("none.db"),
    "admin.export": lambda m: m.admin.export(io.BytesIO()),
    "admin.export_markdown": lambda m: m.admin.export_markdown(Path(m.settings.home) / "copies" / "pages"),
    "admin.ingest": lambda m: m.admin.ingest(),
    "admin.captured": lambda m: m.admin.captured("s1"),
    "admin.embed": lambda m: m.admin.embed(),
    "admin.relearn": lambda m: m.admin.relearn(),
    "admin.consolidate": lambda m: m.admin.consolidate(),
    "admin.schedule": lambda m: m.admin.schedule(),
    "admin.review": lambda m: m.admin.review(),
    "admin.queue": lambda m: m.admin.queue(),
    "admin.spent": lambda m: m.admin.spent(),
    "admin.pause": lambda m: [m.admin.pause(), m.admin.resume()],
    "admin.resume": lambda m: m.admin.resume(),
    "admin.blob": lambda m: m.admin.blob("0" * 64),
}


# ------------------------------------------------------------------ a home


def test_a_home_is_made_with_an_owner(home, clock):
    """The first opening makes it, says so, and writes who owns it; the second finds it."""
    with Memory(home, owner="user:mei", clock=clock) as first, Memory(home, clock=clock) as second:
        assert (True, False) == (first.created, second.created)
        assert "user:mei" == first.scope == second.scope
    assert {"owner": "user:mei"} == tomllib.loads((home / "yiku.toml").read_text())


def test_an_owner_is_the_login_folded(home, monkeypatch):
    """Without another name it is whoever is logged in, in the letters that a scope may have."""
    monkeypatch.setenv("LOGNAME", "Mei Ling.梅")
    with Memory(home) as memory:
        assert "user:mei-ling." == memory.scope


def test_without_create_a_missing_home_is_an_error(home):
    """It names the path, and nothing is made."""
    with pytest.raises(HomeMissing, match=str(home)):
        Memory(home, create=False)

    assert not home.exists()


def test_without_create_a_home_is_opened(memory, home):
    """What is there is opened."""
    with Memory(home, create=False) as again:
        assert "user:mei" == again.scope


def test_a_home_without_an_owner_needs_a_scope(memory, home):
    """Who removed the owner must name a scope."""
    (home / "yiku.toml").write_text("")
    with pytest.raises(ScopeRequired, match=r"owner in yiku\.toml"):
        Memory(home)
    with Memory(home, scope="team:x") as other:
        assert "team:x" == other.scope


def test_a_lost_settings_file_makes_no_new_owner(memory, home):
    """The database alone is a home, too."""
    (home / "yiku.toml").unlink()
    with pytest.raises(ScopeRequired):
        Memory(home)


def test_a_file_is_no_home(tmp_path):
    """A path that is a file says so."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidInput, match="is a file, not a folder"):
        Memory(tmp_path / "file")


@pytest.mark.parametrize(
    "settings",
    [
        {"owner": 'x"\n[evil]'}, {"owner": "User Mei"}, {"scope": "Team X"}, {"limit": -1}, {"durabilty": "fast"}, {"reads": ["x"] * 7},
        {"language": "fr"},
    ],
    ids=str,
)  # fmt: skip
def test_a_bad_setting_makes_nothing(home, settings):
    """The error comes before the home."""
    with pytest.raises((SettingsError, InvalidScope)):
        Memory(home, **settings)

    assert not home.exists()


def test_opening_writes_nothing(memory, home, clock):
    """To look at a home, as its owner or as somebody new, changes no byte of the database."""
    memory.remember("I live in Oslo")
    before = {path: path.read_bytes() for path in home.rglob("yiku.db*") if not path.name.endswith("-shm")}
    for scope in (None, "team:new"):
        with Memory(home, scope=scope, clock=clock) as again:
            again.recall("where do I live?")
            again.get_all()
            again.admin.stats()

    assert before == {path: path.read_bytes() for path in before}


def test_everything_survives_closing(home, clock):
    """What was said through one object is read through the next."""
    with Memory(home, owner="user:mei", clock=clock) as memory:
        kept = memory.remember("我住在奥斯陆").memory
        turn = memory.record_turn("user", "早")
    with Memory(home, clock=clock) as again:
        assert [kept, turn] == [again.get(kept.id), again.get(turn.id)]


# ------------------------------------------------------------------ scopes


@pytest.mark.spec("S1-53", "T-20")
@pytest.mark.parametrize(
    "scope",
    [
        "", " ", "Public", "PUBLIC", "public ", " public", "public\n", "рublic", "ｐｕｂｌｉｃ", "public\u200b", "a,b", "a*", "*", "%",
        "-x", ".x", "__", "a" * 129, "a b", "a\0b", "a\ud800", 5, b"public", ["public"], True, {"public"},
    ],
    ids=repr,
)  # fmt: skip
def test_an_illegal_or_confusable_scope_is_refused(home, memory, scope, monkeypatch):
    """As argument, as owner, among the reads, in the file and in the environment; the error gives the grammar."""
    for settings in ({"scope": scope}, {"owner": scope}, {"reads": ["team:x", scope]}):
        with pytest.raises((InvalidScope, SettingsError), match=r"scope|a list of names"):
            Memory(home, **settings)
    if isinstance(scope, str) and scope.strip() and "\0" not in scope and "\ud800" not in scope and "\n" not in scope:
        (home / "yiku.toml").write_text(f'owner = "{scope}"', encoding="utf-8")
        with pytest.raises(InvalidScope, match=r"yiku\.toml: owner"):
            Memory(home)
        (home / "yiku.toml").write_text('owner = "user:mei"')
        monkeypatch.setenv("YIKU_SCOPE", scope)
        with pytest.raises(InvalidScope, match="YIKU_SCOPE: scope"):
            Memory(home)


@pytest.mark.spec("T-20", "S1-53")
@pytest.mark.parametrize(
    "scope", ["a", "9", "user:ann", "team.x_y-z@host", "public", "a" * 128, "auth0|Ab12", "T02/U7", "张伟", "+4790000000"]
)
def test_a_legal_scope_is_taken_as_it_is(home, memory, scope):
    """And what is said there stays there."""
    with Memory(home, scope=scope) as other:
        assert scope == other.remember("香蕉").memory.scope == other.scope
    assert ([] if scope != "public" else ["香蕉"]) == [m.content for m in memory.get_all()]


def test_a_handle_without_a_scope_is_not_public(memory, home, clock):
    """What nobody assigned belongs to the owner, and is read by nobody else."""
    memory.record_turn("user", "香蕉")
    with Memory(home, scope="public", clock=clock) as public:
        assert 0 == len(public.recall("香蕉"))


# ------------------------------------------------------------------ closing, threads, wiring


@pytest.mark.parametrize("verb", VERBS)
def test_a_closed_memory_says_so(home, clock, verb):
    """Every verb of a closed memory, one that was used and one that was not, gives the same typed error."""
    for used in (False, True):
        memory = Memory(home, owner="user:mei", clock=clock)
        if used:
            memory.remember("I live in Oslo")
        memory.close()
        memory.close()
        with pytest.raises(Closed, match="Open it again"):
            VERBS[verb](memory)


def test_every_verb_is_tried_here():
    """A verb that is added to Memory or Admin comes into the table above."""
    public = {name for name in vars(Memory) if not name.startswith("_")} - {"close", "scope", "retrieved"}
    admin = {f"admin.{name}" for name in vars(yiku.admin.Admin) if not name.startswith("_")}

    assert public | admin == {*VERBS}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_answers_in_an_empty_home(memory, verb):
    """A result, or an error of ours: nothing is there to be found, and nothing else goes wrong."""
    with suppress(YikuError):
        VERBS[verb](memory)

    assert () == memory.status().troubles


@pytest.mark.long
def test_threads_share_a_memory(memory):
    """Writers and readers at once: every turn is there, every read is whole, each thread has an answer."""
    start = threading.Barrier(8)

    def work(i):
        start.wait()
        for k in range(6):
            if i % 2:
                memory.record_turn("user", f"香蕉 {i}.{k}")
                memory.remember(f"I own a boat named b{i}x{k}")
            else:
                assert all("香蕉" in hit.text or "boat" in hit.text for hit in memory.recall("香蕉 boat"))
                memory.context("香蕉")
        return i

    with ThreadPoolExecutor(8) as pool:
        assert [*range(8)] == [*pool.map(work, range(8))]
    assert (24, 24) == (len(memory.search_traces(limit=100)), len(memory.get_all()))


def test_an_error_leaves_the_block_closed(home):
    """`with` closes also when something goes wrong inside."""
    with pytest.raises(ZeroDivisionError), Memory(home, owner="user:mei") as memory:
        raise ZeroDivisionError
    with pytest.raises(Closed):
        memory.status()


def test_the_clock_is_local_by_default(home):
    """Without a clock the time is now, with the offset of this machine."""
    with Memory(home) as memory:
        before, turn, after = datetime.now().astimezone(), memory.record_turn("user", "早"), datetime.now().astimezone()

    assert before <= turn.said_at <= after
    assert before.utcoffset() == turn.said_at.utcoffset()


def test_a_memory_shows_its_home_and_scope(memory, home):
    """Its repr names both, and nothing that is in it."""
    assert f"Memory({str(home)!r}, scope='user:mei')" == repr(memory)
