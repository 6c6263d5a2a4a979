"""Publishing MEMORY.md and USER.md, and applying a person's edits of them."""

import os
import re
import shutil
from contextlib import suppress
from datetime import timedelta

import pytest

from yiku import Memory
from yiku.errors import InvalidInput
from yiku.rules.pages import region


@pytest.fixture
def page(home):
    return home / "MEMORY.md"


@pytest.fixture
def filled(memory):
    """A memory with a few statements, published."""
    memory.remember("Always answer in short sentences.", kind="rule")
    memory.remember("I live in Oslo.")
    memory.remember("我喜欢喝茶。")
    memory.remember("The greenhouse has a broken pump.")
    memory.notes.publish()
    return memory


def edit(page, *changes):
    """Save the page with some words replaced."""
    text = page.read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after, 1)
    page.write_text(text)


def report(memory, name="MEMORY.md", **more):
    return next(one for one in memory.notes.publish(**more).pages if one.path == name)


def in_use(memory):
    return {row.content for row in memory.get_all()}


def lines(page):
    """The statements of the region, by section."""
    return [(item.section, item.text) for item in region.items(region.find(page.read_text()).body) if item.id]


# ------------------------------------------------------------------ what is published


@pytest.mark.spec("S4-13", "S4-90")
def test_a_page_says_what_memory_holds(filled, page):
    assert lines(page) == [
        ("Rules", "Always answer in short sentences."),
        ("Preferences", "我喜欢喝茶。"),
        ("Facts", "The greenhouse has a broken pump."),
        ("Facts", "I live in Oslo."),
    ]
    assert page.read_text().startswith("# Memory\n\n<!-- yiku:begin ")
    assert report(filled).action == "unchanged"


def test_the_page_about_the_user_says_what_is_known_of_them(filled, home):
    assert lines(home / "USER.md") == [("Surroundings", "I live in Oslo."), ("Likes and needs", "我喜欢喝茶。")]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.spec("T-30", "S4-14")
def test_what_a_person_wrote_stands_byte_for_byte(memory, page, end):
    """Before the region and behind it, whatever is published; the region is written with their line ends."""
    page.write_bytes(f"\ufeff# 我的笔记  {end}\tindented{end}".encode())
    memory.remember("The pump is broken.")
    memory.notes.publish()
    with page.open("ab") as file:
        file.write(f"{end}Behind it 🙂\x0cx".encode())
    memory.remember("The pump works.")
    memory.notes.publish()
    content = page.read_bytes()

    assert content.startswith(f"\ufeff# 我的笔记  {end}\tindented{end}{end}<!-- yiku:begin".encode())
    assert content.endswith(f"<!-- yiku:end -->{end}{end}Behind it 🙂\x0cx".encode())
    assert content.count(b"\r\n") == (content.count(b"\n") if end == "\r\n" else 0)


@pytest.mark.spec("T-30")
def test_expired_and_superseded_items_are_absent_and_rules_are_never_crowded_out(memory, page, clock):
    for place in range(40):
        memory.remember(f"The lamp {place} needs {'much ' * 20}oil.", importance=1.0)
    memory.remember("I live in Bergen.", importance=1.0)
    memory.remember("I live in Oslo now.")
    memory.remember("The fair is open.", expires_at=clock.now + timedelta(hours=1), importance=1.0)
    for place in range(6):
        memory.remember(f"Rule {place}: be brief.", kind="rule", importance=0.1)
    clock.advance(hours=2)
    done = report(memory)
    shown = lines(page)

    assert [section for section, _ in shown][:5] == ["Rules"] * 5
    assert not {"I live in Bergen.", "The fair is open."} & {text for _, text in shown}
    assert done.shown + done.omitted == 40 + 1 + 6
    assert f"({done.omitted} more in memory" in page.read_text()
    assert len(region.find(page.read_text()).body) <= 1_500


@pytest.mark.parametrize(
    "texts",
    [
        ("Always use tabs.", "The importer is slow.", "The greenhouse has a pump."),
        ("提交前都要跑测试。", "导入器很慢。", "温室里有一台水泵。"),
    ],
)
def test_what_belongs_to_a_project_is_neither_shown_nor_counted(memory, home, page, texts):
    """On the page; the prompt counts what belongs to the project in which it is built."""
    rule, other, fact = texts
    memory.remember(rule, kind="rule", project="atlas")
    memory.remember(other, project="atlas")
    memory.remember(fact)
    done = report(memory)

    assert ([fact], 1, 0) == ([text for _, text in lines(page)], done.shown, done.omitted)
    assert "more in memory" not in memory.prompts.build().text and "还有" not in memory.prompts.build().text
    with Memory(home, scope=memory.scope, project="atlas") as in_project:
        built = in_project.prompts.build().text
    assert rule in built and re.search(r"\(1 more in memory\)|（记忆中还有 1 条）", built)


def test_a_page_in_chinese_has_chinese_headings(memory, page):
    memory.remember("请一律用中文回答。", kind="rule")
    memory.notes.publish()

    assert lines(page) == [("规则", "请一律用中文回答。")]
    assert page.read_text().startswith("# 记忆\n")


# ------------------------------------------------------------------ what people change


@pytest.mark.spec("T-30", "S4-14", "S4-90")
def test_a_changed_line_is_a_correction(filled, page, home):
    """At once, on both pages, with the old version as history; one undo takes it back."""
    edit(page, ("I live in Oslo", "I live in Bergen"))
    done = filled.notes.publish()

    assert done.pages[0].changed == ("I live in Bergen.",)
    assert "Bergen" in filled.recall("Where do I live?")[0].text
    assert [row.content for row in filled.history(filled.recall("Where do I live?")[0].id)] == [
        "I live in Oslo.",
        "I live in Bergen.",
    ]
    assert ("Surroundings", "I live in Bergen.") in lines(home / "USER.md")
    filled.admin.undo(done.operations[0])
    assert "Oslo" in filled.recall("Where do I live?")[0].text


@pytest.mark.parametrize(
    ("before", "after"), [("I live in Oslo.", "I live in OSLO."), ("我喜欢喝茶。", "我喜欢喝茶！"), ("喝茶。", "喝茶")]
)
def test_a_line_in_another_spelling_is_a_correction(filled, page, before, after):
    """What changed only in case, width or punctuation stands on the page and in memory as it was written."""
    edit(page, (before, after))
    done = report(filled)

    assert any(after in text for text in done.changed)
    assert any(after in text for text in in_use(filled)) and not any(before in text for text in in_use(filled))
    assert after in page.read_text() and before not in page.read_text()
    assert report(filled).action == "unchanged"


def test_words_behind_an_id_and_lines_struck_out(filled, page):
    """The line says what stands there without its id; one that is struck out goes, and its words are no new statement."""
    oslo, tea, pump = (next(row.id[-8:] for row in filled.get_all() if word in row.content) for word in ("Oslo", "茶", "pump"))
    edit(page, (f"#{oslo}", f"#{oslo} near the harbour"), (f"#{tea}", f"#{tea}，还有咖啡"))
    edit(page, (f"The greenhouse has a broken pump. #{pump}", f"~~The greenhouse has a broken pump. #{pump}~~"))
    done = report(filled)

    assert (("I live in Oslo. near the harbour", "我喜欢喝茶，还有咖啡"), (), ("The greenhouse has a broken pump.",)) == (
        tuple(sorted(done.changed)), done.added, done.removed,
    )  # fmt: skip
    assert {"Always answer in short sentences.", *done.changed} == in_use(filled)
    assert report(filled).action == "unchanged"


@pytest.mark.spec("S4-14")
def test_a_new_line_is_remembered_as_its_section_says(filled, page):
    edit(page, ("## Preferences", "* Use metric units.\n\n## Preferences"))
    assert report(filled).added == ("Use metric units.",)
    (row,) = filled.get_all(where={"method": "edited"})

    assert (row.content, row.kind, row.origin, row.trust) == ("Use metric units.", "rule", "user", 1.0)
    assert ("Rules", "Use metric units.") in lines(page)


@pytest.mark.spec("T-30")
def test_a_missing_line_leaves_use_and_can_be_said_again(filled, page):
    whole = page.read_text()
    page.write_text("\n".join(line for line in whole.split("\n") if "pump" not in line))

    assert report(filled).removed == ("The greenhouse has a broken pump.",)
    assert "The greenhouse has a broken pump." not in in_use(filled)
    filled.remember("The greenhouse has a broken pump.")
    assert "The greenhouse has a broken pump." in in_use(filled)


@pytest.mark.spec("T-30")
def test_a_file_that_went_back_in_time_changes_nothing(filled, page):
    """As it was published, and as it was edited once: what was said since stands, what was forgotten stays so."""
    first = page.read_text()
    edit(page, ("broken pump", "new pump"))
    edited = page.read_text()
    filled.notes.publish()
    pump = next(row for row in filled.get_all() if "pump" in row.content)
    filled.update(pump.id, "The greenhouse has two pumps.")
    tea = next(row for row in filled.get_all() if "茶" in row.content)
    filled.forget(tea.id)
    filled.notes.publish()
    now = in_use(filled)
    for older in (first, edited):
        page.write_text(older)
        done = report(filled)

        assert (done.action, done.edits) == ("written", 0)
        assert in_use(filled) == now
        assert "two pumps" in page.read_text()


def test_an_older_file_that_was_edited_says_only_what_was_edited(filled, page):
    """A line that came since is not missing in it, and one that was corrected since is not told back."""
    first = page.read_text()
    filled.remember("The shed is red.")
    filled.remember("I live in Rome.")
    filled.notes.publish()
    page.write_text(first.replace("broken pump", "new pump"))
    done = report(filled)

    assert (done.changed, done.added, done.removed) == (("The greenhouse has a new pump.",), (), ())
    assert {"The shed is red.", "I live in Rome."} <= in_use(filled)


def test_a_line_that_is_gone_says_nothing_of_what_was_said_in_its_place_since(filled, page):
    first = page.read_text()
    filled.remember("I live in Rome.")
    page.write_text("\n".join(line for line in first.split("\n") if "Oslo" not in line))

    assert report(filled).removed == ()
    assert "I live in Rome." in in_use(filled)


def test_what_is_no_statement_moves_below_the_region(filled, page):
    edit(page, ("## Facts", "### My plan\n\n```sh\nls\n```\n\n> said by Ann\n\n## Facts"))
    done = report(filled)
    text = page.read_text()

    assert done.own == ("### My plan", "```sh\nls\n```", "> said by Ann")
    assert text.endswith("<!-- yiku:end -->\n\n### My plan\n\n```sh\nls\n```\n\n> said by Ann\n")
    assert report(filled).action == "unchanged"


def test_what_cannot_be_kept_stays_the_persons_own_text(filled, page):
    """What was erased, and what is private; neither is in memory."""
    filled.admin.erase(filled.remember("My watchword is zqvblorptinx.").memory.id)
    edit(page, ("## Facts", "- My watchword is zqvblorptinx.\n- <private>my pin</private>\n\n## Facts"))
    done = report(filled)

    assert len(done.own) == 2 and done.added == ()
    assert page.read_text().endswith("- My watchword is zqvblorptinx.\n\n- <private>my pin</private>\n")
    assert not any("watchword" in text or "pin</" in text for text in in_use(filled))


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("I live in Oslo.", "<private>I live in Oslo.</private>"),
        ("我喜欢喝茶。", "<私密>我喜欢喝茶。</私密>"),
    ],
)
def test_a_line_that_is_marked_private_leaves_memory(filled, home, page, text, marked):
    """Its memory goes out of use as if the line were missing; the line moves below, and names no memory."""
    edit(page, (text, marked))
    done = report(filled)

    assert ((), (text,), (f"- {marked}",)) == (done.changed, done.removed, done.own)
    assert text not in in_use(filled)
    assert page.read_text().endswith(f"\n- {marked}\n")
    assert all(text != line for _, line in lines(page)) and text not in (home / "USER.md").read_text()
    assert "forgotten: removed from MEMORY.md" in [row.reason for row in filled.get_all(where={"state": "archived"})]
    assert report(filled).action == "unchanged"


@pytest.mark.parametrize("id", ["", " #99999999"])
def test_a_changed_line_that_lost_its_id_says_what_it_says(filled, page, id):
    """It takes the place of the line that is missing, and does not go with it."""
    line = next(line for line in page.read_text().split("\n") if "Oslo" in line)
    edit(page, (line, f"- I live in Bergen.{id}"))
    report(filled)

    assert in_use(filled) == {
        "Always answer in short sentences.",
        "I live in Bergen.",
        "我喜欢喝茶。",
        "The greenhouse has a broken pump.",
    }


def test_an_edit_that_makes_a_second_memory_of_one_leaves_one(filled, page):
    """Changed into what another memory says already."""
    edit(page, ("The greenhouse has a broken pump", "I live in Oslo"))
    filled.notes.publish()

    assert [row.content for row in filled.get_all()].count("I live in Oslo.") == 1
    assert not any("greenhouse" in text for text in in_use(filled))


def test_a_line_of_a_memory_that_was_forgotten_meanwhile_is_told_anew(filled, page):
    pump = next(row for row in filled.get_all() if "pump" in row.content)
    edit(page, ("broken pump", "new pump"))
    filled.forget(pump.id)
    report(filled)

    assert "The greenhouse has a new pump." in in_use(filled)


# ------------------------------------------------------------------ brakes


GONE = "has lost most of its lines"


def conflicted(text):
    first, rest = text.split("\n", 1)
    return f"{first}\n<<<<<<< HEAD\n{rest}\n=======\n{rest}\n>>>>>>> other\n"


@pytest.mark.spec("T-30")
@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (lambda text: "", "lost its managed region"),
        (lambda text: "# Mine\n", "lost its managed region"),
        (lambda text: text[: text.index("- I live")], "markers"),
        (lambda text: text.replace("<!-- yiku:end -->", ""), "markers"),
        (lambda text: text + text, "markers"),
        (conflicted, "conflict markers"),
        (lambda text: "\n".join(line for line in text.split("\n") if "#" not in line[-12:] or "Oslo" in line), GONE),
        (lambda text: text.replace("我喜欢喝茶", "\ufffd\ufffd\ufffd"), "lost in a conversion"),
        (lambda text: text.encode("utf-16"), "not UTF-8"),
    ],
    ids=["empty", "region gone", "half gone", "no end", "twice", "conflict", "most lines gone", "mojibake", "UTF-16"],
)
def test_a_broken_page_is_held_until_somebody_says_what_is_right(filled, page, broken, why):
    """Nothing is read from it, nothing is written, and the status says what to do."""
    before, content = in_use(filled), broken(page.read_text())
    content = content if isinstance(content, bytes) else content.encode()
    page.write_bytes(content)
    done = report(filled)

    assert (done.action, why in done.why) == ("held", True)
    assert (in_use(filled), page.read_bytes()) == (before, content)
    assert any(why in trouble and trouble.startswith("MEMORY.md ") for trouble in filled.status().troubles)


def test_of_lines_that_are_gone_memory_or_the_file_may_be_right(filled, page):
    whole = page.read_text()
    rest = "\n".join(line for line in whole.split("\n") if "#" not in line[-12:] or "Oslo" in line)
    page.write_text(rest.replace("Oslo", "Bergen"))
    kept = report(filled, keep="memory")
    assert (kept.changed, kept.removed, len(lines(page))) == (("I live in Bergen.",), (), 4)

    edited = page.read_text()
    page.write_text("\n".join(line for line in edited.split("\n") if "#" not in line[-12:] or "Bergen" in line))
    assert len(report(filled, keep="file").removed) == 3
    assert in_use(filled) == {"I live in Bergen."}
    assert filled.status().troubles == ()


@pytest.mark.parametrize("text", ["", "# Mine\n", "- mine\n<!-- yiku:end -->\nBehind.\n"])
def test_a_region_that_is_gone_is_written_again_when_asked(filled, page, text):
    """Behind what the person wrote, of which nothing goes."""
    page.write_text(text)
    report(filled, keep="memory")

    assert len(lines(page)) == 4
    assert all(line in page.read_text() for line in text.split("\n") if "yiku:" not in line)
    assert report(filled).action == "unchanged"


def test_of_a_broken_page_only_what_was_written_there_goes(filled, page):
    """A line that somebody changed stays, with its heading, as the person's own text."""
    whole = page.read_text()
    page.write_text(whole.replace("<!-- yiku:end -->", "").replace("我喜欢喝茶", "我喜欢喝咖啡") + "Mine.\n")
    report(filled, keep="memory")
    own = [line for line in page.read_text().partition("<!-- yiku:begin")[0].split("\n") if line]
    changed = next(line for line in whole.split("\n") if "喝茶" in line).replace("喝茶", "喝咖啡")

    assert own == ["# Memory", "## Preferences", changed, "## Facts", "Mine."]
    assert len(lines(page)) == 4


@pytest.mark.parametrize("opening", ["<!-- later", "```", "~~~python"])
def test_no_memory_goes_in_a_block_that_nothing_closes(filled, page, opening):
    before = in_use(filled)
    edit(page, ("## Facts\n", f"{opening}\n\n## Facts\n"))
    done = report(filled)

    assert (done.removed, in_use(filled)) == ((), before)
    assert opening in page.read_text().partition("<!-- yiku:end -->")[2]


def test_a_page_that_was_removed_is_written_by_publish_and_by_nothing_else(filled, page):
    page.unlink()

    assert any(trouble.startswith("MEMORY.md was removed") for trouble in filled.status().troubles)
    assert report(filled).action == "written"


def test_edits_wait_while_memory_is_paused(filled, page):
    filled.admin.pause()
    edit(page, ("Oslo", "Bergen"))
    done = report(filled)
    assert (done.action, "paused" in done.why) == ("held", True)

    filled.admin.resume()
    assert report(filled).changed == ("I live in Bergen.",)


def test_a_page_that_is_a_link_is_left_alone(filled, page, tmp_path):
    page.rename(tmp_path / "elsewhere.md")
    page.symlink_to(tmp_path / "elsewhere.md")
    before = (tmp_path / "elsewhere.md").read_bytes()

    assert "is a link" in report(filled).why
    assert (tmp_path / "elsewhere.md").read_bytes() == before


# ------------------------------------------------------------------ others who write, and what is cut off


@pytest.mark.parametrize("when", range(1, 12))
def test_who_saves_the_page_meanwhile_keeps_what_they_wrote(blank, home, clock, page, when):
    """At any moment of a publishing: the n-th time that it asks for the time somebody saves."""
    shutil.copytree(blank, home)
    calls = 100

    def saving():
        nonlocal calls
        calls += 1
        if calls == when:
            edit(page, ("Oslo", "Bergen"), ("# Memory", "# Mine"))
        return clock.now

    with Memory(home, owner="user:mei", names=["Mei"], clock=saving) as memory:
        memory.remember("I live in Oslo.")
        memory.remember("The pump is broken.")
        memory.notes.publish()
        edit(page, ("The pump is broken", "The pump works"))
        calls = 0
        memory.notes.publish()
        if calls < when:
            pytest.skip("it does not ask so often")
        calls = 100
        memory.notes.publish()

        assert {"I live in Bergen.", "The pump works."} == in_use(memory)
        assert page.read_text().startswith("# Mine\n")
        assert len(lines(page)) == 2


class Cut(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("when", range(1, 12))
def test_a_publishing_that_is_cut_off_is_finished_by_the_next(blank, home, clock, page, when):
    """At any moment: nothing of an edit is lost, and nothing is done twice."""
    shutil.copytree(blank, home)
    calls = 100

    def cutting():
        nonlocal calls
        calls += 1
        if calls == when:
            raise Cut
        return clock.now

    with Memory(home, owner="user:mei", names=["Mei"], clock=cutting) as memory:
        memory.remember("I live in Oslo.")
        memory.remember("The pump is broken.")
        memory.notes.publish()
        edit(page, ("Oslo", "Bergen"), ("## Facts", "> mine\n\n- The shed is red.\n\n## Facts"))
        calls = 0
        with suppress(Cut):
            memory.notes.publish()
        calls = 100
        memory.notes.publish()

        assert {"I live in Bergen.", "The pump is broken.", "The shed is red."} == in_use(memory)
        assert page.read_text().count("> mine") == 1
        assert memory.notes.publish().pages[0].action == "unchanged"
        assert len(memory.get_all(where={"content": "The shed is red."})[0].sources) == 1


def test_after_a_restored_backup_the_page_is_known_and_can_be_edited(filled, page):
    """Its version came after the backup, and says just what memory holds again."""
    backup = filled.admin.backup().path
    edit(page, ("Oslo", "Bergen"))
    filled.notes.publish()
    edit(page, ("Bergen", "Oslo"))
    filled.notes.publish()
    filled.admin.restore_backup(os.path.basename(backup))
    filled.notes.publish()
    edit(page, ("broken pump", "new pump"))

    assert report(filled).changed == ("The greenhouse has a new pump.",)


def test_what_a_page_alone_still_says_stays_in_it(filled, page):
    """A statement that came after the backup is gone from memory; its line stays, as the person's own text, once."""
    backup = filled.admin.backup().path
    filled.remember("我的狗叫小黑。")
    filled.remember("Ann repaired the gate.")
    filled.notes.publish()
    filled.admin.restore_backup(os.path.basename(backup))
    filled.remember("Ann repaired the gate.")
    for _ in range(2):
        filled.notes.publish()

    assert page.read_text().partition("<!-- yiku:end -->")[2].strip() == "- 我的狗叫小黑。"
    assert len(lines(page)) == 5


# ------------------------------------------------------------------ scopes, and erasing


def test_another_scope_has_pages_where_the_settings_say_so(memory, home, clock):
    with Memory(home, scope="team:atlas", clock=clock) as other:
        other.remember("The pump is broken.")
        with pytest.raises(InvalidInput, match="vaults"):
            other.notes.publish()
    with Memory(home, scope="team:atlas", vaults=["team:atlas"], clock=clock) as other:
        number = other._handle.writes()
        other.notes.publish()
    memory.notes.publish()

    assert lines(home / "scopes" / str(number) / "MEMORY.md") == [("Facts", "The pump is broken.")]
    assert lines(home / "MEMORY.md") == []


def test_what_is_erased_leaves_the_pages(filled, home, page):
    """The line alone; and the receipt names it."""
    edit(page, ("<!-- yiku:end -->", "<!-- yiku:end -->\n\nMine."))
    oslo = next(row for row in filled.get_all() if "Oslo" in row.content)
    receipt = filled.admin.erase(oslo.id)

    assert {place.name for place in receipt.places if "managed region" in place.done} == {"MEMORY.md", "USER.md"}
    assert receipt.clean
    assert "Oslo" not in page.read_text() + (home / "USER.md").read_text()
    assert page.read_text().endswith("\n\nMine.\n")
    assert report(filled).removed == ()
    assert [text for _, text in lines(page)] == [
        "Always answer in short sentences.",
        "我喜欢喝茶。",
        "The greenhouse has a broken pump.",
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_erasure_is_no_edit_of_a_page(memory, language):
    """Nothing waits to be read, and publishing reads nothing."""
    said, other = {"en": ("I live in Oslo.", "I like tea."), "zh": ("我住在奥斯陆。", "我喜欢喝茶。")}[language]
    erased = memory.remember(said)
    memory.remember(other)
    memory.notes.publish()
    memory.admin.erase(erased.memory.id)

    assert not [line for line in memory.status().troubles if "edits" in line]
    assert [0, 0] == [one.edits for one in memory.notes.publish().pages]
    assert {other} == in_use(memory)


def test_an_edit_from_before_an_erasure_is_read_after_it(filled, page):
    """A changed, a new and a missing line still say what they said; only the erased one says nothing."""
    text = page.read_text()
    pump = next(line for line in text.split("\n") if "broken pump" in line)
    edit(page, ("喝茶", "喝咖啡"), (pump, "- The boiler is new."))
    filled.admin.erase(next(row for row in filled.get_all() if "Oslo" in row.content).id)

    assert ["MEMORY.md has edits that were not read yet: yiku publish"] == [
        line for line in filled.status().troubles if "edits" in line
    ]
    done = report(filled)
    assert (("我喜欢喝咖啡。",), ("The boiler is new.",), ("The greenhouse has a broken pump.",)) == (
        done.changed,
        done.added,
        done.removed,
    )
