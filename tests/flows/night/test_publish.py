"""Publishing at night: pages, snapshot, daily summaries, report; an erasure removes them all."""

import json
from datetime import datetime, timedelta

import pytest

from yiku import Memory
from yiku.errors import Ambiguous, NotFound
from yiku.files import reports
from yiku.rules.finding.pack import estimate
from yiku.rules.night import snapshot
from yiku.rules.pages import region
from yiku.types import State


def files(home):
    return sorted(str(path.relative_to(home / "reports")) for path in (home / "reports").rglob("*") if path.is_file())


@pytest.fixture
def memory(home, clock):
    """A memory of Mei's whose pages are in Chinese."""
    with Memory(home, owner="user:mei", names=["Mei"], clock=clock, language="zh", durability="fast") as memory:
        yield memory


@pytest.fixture
def lived(memory, clock):
    """Two days of talk in both languages, with something that has ended by the second night."""
    memory.record_turn("user", "I live in Oslo now. I prefer short answers with the code first.", session="s1")
    memory.record_turn("user", "我对青霉素过敏。以后回答都用中文。", session="s1")
    memory.sessions.end("s1")
    memory.remember("The lift is out of order 电梯坏了", expires_at=clock.now + timedelta(hours=5))
    clock.advance(days=1)
    return memory


@pytest.mark.spec("S2-07", "S2-17", "S2-85", "S3-46", "S3-201", "S3-238")
def test_the_night_refreshes_memory_md(lived, home, clock):
    """What holds stands in MEMORY.md, by kind, rules first, at most five of a kind and 1,500 characters; what has ended does not."""
    for number in range(30):
        lived.remember(
            f"Pump {number} stands in hall {number % 7}, beside the old compressor. 第{number}号泵", importance=number / 30
        )
    for number in range(24):  # more than a page may hold, also at five of a kind
        kind = ("preference", "task", "skill", "error")[number % 4]
        lived.remember(f"Valve {number} is closed by turning its wheel to the right, slowly and twice. 第{number}号阀门", kind=kind)
    done = lived.admin.consolidate()
    page = (home / "MEMORY.md").read_text()
    facts = page.partition("## 事实")[2].partition("## ")[0]

    assert {"expired": 1} == done.counts
    assert page.index("以后回答都用中文") < page.index("## 事实")
    assert 5 == facts.count("\n- ")
    assert "Pump 29" in facts and "Pump 3 " not in facts
    assert "电梯坏了" not in page
    assert 1_300 < len(region.find(page).body) <= 1_500
    assert 10 < page.count("Valve") < 20


@pytest.mark.spec("S2-08", "S2-18", "S2-86", "S3-47", "S3-202", "S3-11")
def test_the_night_fills_user_md(lived, home):
    """A heading without anything is not there, and nothing is a placeholder."""
    lived.admin.consolidate()
    page = (home / "USER.md").read_text()

    assert "## 环境\n" in page and "## 项目" not in page
    assert "待学习" not in page


@pytest.mark.spec("S3-182", "S3-11", "S3-202", "S2-18")
def test_the_night_fills_user_md_by_category(lived, home):
    """What is known of the user stands under its heading, by its predicate where no model is."""
    lived.remember("我用 Neovim 写代码。", subject="user", predicate="editor", object="Neovim")
    lived.remember("I work on Lantern.", subject="user", predicate="works on", object="Lantern")
    lived.admin.consolidate()
    page = (home / "USER.md").read_text()

    for heading, text in {
        "环境": "I live in Oslo now",
        "喜好与需要": "I prefer short answers",
        "工具与语言": "我用 Neovim 写代码",
        "项目": "I work on Lantern",
    }.items():
        assert text in page.partition(f"## {heading}\n")[2].partition("## ")[0], heading


@pytest.mark.spec("S3-181")
def test_user_md_has_facts_and_preferences_about_the_user_alone(memory, home):
    """Of forty facts and preferences those about the user are there; of others none."""
    memory.remember("I live in Oslo.")
    memory.remember("我喜欢绿茶。")
    memory.remember("Ann lives in Bergen.")
    memory.remember("The harbour opens at seven.")
    memory.admin.consolidate()
    page = (home / "USER.md").read_text()

    assert "I live in Oslo" in page and "我喜欢绿茶" in page
    assert "Bergen" not in page and "harbour" not in page


@pytest.mark.spec("S0-02", "S0-103")
def test_the_snapshot_has_what_matters_most(lived, home, clock):
    """Critical, high, fading with its score then and now, a table, entities and counts; and it is no note that is searched."""
    lived.remember("The launch code word changes on Monday.", importance=0.95)
    lived.remember("灯笼项目用 Tesseract。", importance=0.8, entities=["灯笼"])
    lived.remember("The archive moved to room 9.", importance=0.6)
    clock.advance(days=200)
    lived.admin.consolidate()
    page = (home / "reports" / "snapshot.md").read_text()

    order = [
        page.index(heading) for heading in ("## 最重要", "## 重要", "## 正在淡去", "## 目前分值最高", "## 人与事物", "## 数量")
    ]
    assert sorted(order) == order
    assert "- The launch code word" in page and "- 灯笼项目用" in page
    fading = page.partition("## 正在淡去")[2].partition("## ")[0].strip().splitlines()
    assert 5 == len(fading) == sum("~~ (分值 " in line and " 降至 0." in line for line in fading)
    assert estimate(page) <= snapshot.TOKENS
    lived.notes.sync()
    assert "snapshot" not in {hit.item.path for hit in lived.recall("archive room", types=["note"])}


@pytest.mark.spec("S0-103")
@pytest.mark.parametrize("tokens", [60, 200, 800])
def test_the_snapshot_keeps_to_its_budget(memory, clock, tokens):
    """However much there is, the page has at most so many tokens and ends with a whole line; what matters most has its place first."""
    for number in range(80):
        memory.remember(f"Room {number} 第{number}间 has a projector and a whiteboard.", importance=number / 80)
    page = snapshot.page(memory.get_all(), {"memories": 80}, clock.now, "en", tokens=tokens)

    assert estimate(page) <= tokens
    assert "Room 79" in page
    assert page.endswith("\n")


def test_each_of_the_last_days_has_a_summary(lived, home, clock):
    """The day's sessions by their episodes and what was learned; of a day on which nothing was said there is none."""
    lived.admin.consolidate()
    (name,) = [name for name in files(home) if name.startswith("days/")]
    page = (home / "reports" / name).read_text()

    assert "days/2026-03-01.md" == name
    assert "# 2026-03-01\n\n2 条消息，1 个会话，学到 " in page
    assert "I live in Oslo now" in page and "(s1)" in page


def test_a_day_is_that_of_the_place_where_it_was_said(memory, home, clock):
    """Half past eleven at night before summer time began, and far to the east and west: the night runs with another offset."""
    for place, (at, said) in enumerate(
        [
            ("2026-03-25T22:00:00-11:00", "Ann's kite is green."),
            ("2026-03-27T09:00:00+14:00", "安的船是蓝色的。"),
            ("2026-03-28T23:30:00+01:00", "Ann's bicycle is red."),
        ]
    ):
        clock.now = datetime.fromisoformat(at)
        memory.record_turn("user", said, session=f"s{place}")
        memory.sessions.end(f"s{place}")
    clock.now = datetime.fromisoformat("2026-03-30T03:00:00+02:00")
    memory.admin.consolidate()
    pages = {name: (home / "reports" / name).read_text() for name in files(home) if name.startswith("days/")}

    assert ["days/2026-03-25.md", "days/2026-03-27.md", "days/2026-03-28.md"] == sorted(pages)
    for name, word in (("25", "kite"), ("27", "船"), ("28", "bicycle")):
        page = pages[f"days/2026-03-{name}.md"]
        assert word in page and ("1 messages, 1 sessions" in page or "1 条消息，1 个会话" in page or "1 message" in page), page


@pytest.mark.spec("S3-205")
def test_a_report_of_the_run_is_saved_and_shown(lived, home):
    """Markdown for a person, JSON without words for programs; `report` shows the same page, and what was taken back since."""
    done = lived.admin.consolidate()
    page, data = ((home / "reports" / name).read_text() for name in sorted(files(home), reverse=True) if done.run[-8:] in name)
    shown = lived.admin.report()

    assert page == shown.page
    assert [item.reason for item in shown.items] == [item["reason"] for item in json.loads(data)["items"]]
    assert "电梯" not in data and "Oslo" not in data
    assert '1. "The lift is out of order 电梯坏了" #' in page and ": 已到期" in page
    lived.admin.undo_run(done.run[-8:], 1)
    assert "(已撤回)" in lived.admin.report(done.run[-8:]).page


def test_a_night_that_does_nothing_saves_no_report(lived, home):
    """Running twice: no second report, no file written anew."""
    lived.admin.consolidate()
    before = {name: (home / "reports" / name).stat().st_mtime_ns for name in files(home)}
    lived.admin.consolidate()

    assert before == {name: (home / "reports" / name).stat().st_mtime_ns for name in files(home)}
    assert "没有需要处理的" in lived.admin.report().page


@pytest.mark.spec("S3-205")
def test_old_reports_go_and_other_files_stay(memory, home, clock, monkeypatch):
    """Of runs and days only the newest are kept; a file of somebody's own in that folder stays."""
    monkeypatch.setattr(reports, "KEPT", 3)
    for number in range(6):
        memory.record_turn("user", f"Day {number}, 下雨了", session="s1")
        memory.remember(f"It rains on day {number}. 下雨", expires_at=clock.now + timedelta(hours=2))
        clock.advance(days=1)
        memory.admin.consolidate()
    (home / "reports" / "mine.md").write_text("my own words")
    memory.admin.consolidate()

    found = files(home)
    assert (3, 3, 3) == tuple(
        sum(name.startswith(start) and name.endswith(end) for name in found)
        for start, end in (("days/", ".md"), ("2026", ".md"), ("2026", ".json"))
    )
    assert "mine.md" in found and "snapshot.md" in found


@pytest.mark.spec("T-39")
def test_what_was_erased_or_forgotten_is_in_no_report(lived, home, clock):
    """An erasure removes what the night wrote, the next night writes it without; a forgotten one is on no page of the night."""
    boat = lived.remember("My boat is called Zephyrine. 西风号").memory
    tea = lived.remember("我喜欢绿茶").memory
    clock.advance(days=1)
    lived.admin.consolidate()
    assert "Zephyrine" in (home / "MEMORY.md").read_text() + (home / "reports" / "days" / "2026-03-02.md").read_text()
    erased = lived.admin.erase(boat.id)
    assert ("reports", True) in {(place.name, "removed" in place.done) for place in erased.places}
    assert [] == [name for name in files(home) if name.endswith(".md")]
    lived.forget(tea.id)
    lived.admin.consolidate()
    texts = "".join((home / "reports" / name).read_text() for name in files(home)) + (home / "MEMORY.md").read_text()

    assert "snapshot.md" in files(home)
    assert "Zephyrine" not in texts and "西风" not in texts and "绿茶" not in texts


def test_a_forgotten_session_is_in_no_summary_of_a_day(lived, home, clock):
    """Nor in one of a day on which something else was said; a day of which all was forgotten has no page."""
    lived.record_turn("user", "Please water the ferns. 请给蕨类浇水。", session="s2")
    lived.record_turn("user", "Please book the ferry. 请订渡轮。", session="s3")
    for session in ("s2", "s3"):
        lived.sessions.end(session)
    clock.advance(days=1)
    lived.admin.consolidate()
    before = [(home / "reports" / "days" / f"2026-03-0{day}.md").read_text() for day in (1, 2)]
    lived.forget(session="s1")
    lived.forget(session="s3")
    lived.admin.consolidate()

    assert "Oslo" in before[0] and "ferns" in before[1] and "ferry" in before[1]
    assert ["days/2026-03-02.md"] == [name for name in files(home) if name.startswith("days/")]
    page = (home / "reports" / "days" / "2026-03-02.md").read_text()
    assert "ferns" in page and "ferry" not in page and "渡轮" not in page


def test_an_edit_that_the_night_reads_is_not_taken_back_with_it(lived, home):
    """A person's edit of MEMORY.md is theirs: undoing the night leaves it."""
    lived.notes.publish()
    page = home / "MEMORY.md"
    page.write_text(page.read_text().replace("I live in Oslo now", "I live in Drammen now"))
    done = lived.admin.consolidate()
    undone = lived.admin.undo_run(done.run)

    assert "Drammen" in lived.recall("Where do I live?", limit=1).text
    assert State.ACTIVE is next(row.state for row in lived.get_all(where={"state": "active"}) if "lift" in row.content)
    assert () == undone.skipped


def test_a_scope_without_files_has_reports_without_files(home, clock):
    """Nothing is written outside the vaults; `report` works all the same, and says where none has run."""
    with Memory(home, owner="user:mei", scope="team:atlas", clock=clock) as memory:
        with pytest.raises(NotFound, match="no night has run"):
            memory.admin.report()
        memory.remember("The lift is out of order", expires_at=clock.now + timedelta(hours=1))
        clock.advance(days=1)
        done = memory.admin.consolidate()

        assert "Expired: 1" in memory.admin.report(done.run).page
        with pytest.raises(NotFound, match="no night 'ffff0000'"):
            memory.admin.report("ffff0000")
    assert not (home / "reports").exists()


def test_an_end_that_fits_two_nights_is_ambiguous(memory, clock, monkeypatch):
    """Both are named."""
    ids = iter(["00000000-0000-7000-8000-00000000aaaa", "00000000-0000-7000-8000-11110000aaaa"])
    monkeypatch.setattr(type(memory._handle), "new_id", lambda self, now=None: next(ids))
    for _ in range(2):
        memory.admin.consolidate(phase=0)
    with pytest.raises(Ambiguous, match="fits night-"):
        memory.admin.report("0000aaaa")


# ------------------------------------------------------------------ the compiled identity


def put(home, name, text):
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.spec("S3-204")
def test_the_night_compiles_what_changed_of_the_identity(lived, home, clock):
    """Summaries of the agent's files and of USER.md, the second night only of what changed; those of a missing file are not made."""
    put(home, "identity/SOUL.md", "# Soul\n\n- Never lie, not even to be kind.\n- 绝不说谎，哪怕出于好意。\n")
    lived.admin.consolidate()
    folder = home / "identity" / "compiled"
    first = {path.name: path.read_text() for path in folder.iterdir()}

    assert "绝不说谎" in first["soul.summary.md"] and "Never lie" in first["soul.summary.md"]
    assert "Oslo" in first["user.summary.md"]
    assert "agent.core.md" not in first

    lived.remember("我住在卑尔根。")
    put(home, "identity/SOUL.md", "# Soul\n\n- Say what you do not know.\n")
    clock.advance(days=1)
    lived.admin.consolidate()
    second = {path.name: path.read_text() for path in folder.iterdir()}

    assert "Say what you do not know." in second["soul.summary.md"]
    assert "卑尔根" in second["user.summary.md"] and "卑尔根" in (home / "USER.md").read_text()
    assert "unchanged" == lived.prompts.compile(strategy="rules").summaries[0].action

    clock.advance(days=1)
    lived.admin.consolidate()
    assert second == {path.name: path.read_text() for path in folder.iterdir()}
