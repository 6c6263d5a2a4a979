"""Exports as pages for a person: what is there, what never is, in either language, and whose files stay."""

import random
import re
from pathlib import Path

import canaries
import pytest
import sampling
from markdown_it import MarkdownIt

from yiku import Memory
from yiku.errors import InvalidInput, NotFound
from yiku.flows.home import export_pages
from yiku.rules.pages import readable


def pages(folder: Path) -> dict[str, str]:
    """The text of each page by its name."""
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.md"))}


@pytest.fixture
def filled(home, clock):
    """A memory with some of everything, told over forty days."""
    with Memory(home, owner="user:mei", clock=clock, search="words") as memory:
        memory.record_turn("user", "I live in Bergen. 我喜欢喝茶。", session="spring 春")
        memory.record_turn(
            "assistant", "Noted. 好的。", session="spring 春", tool_calls=[{"name": "bash", "input": {"cmd": "ls"}, "id": "c"}]
        )
        memory.record_turn("tool", "", session="spring 春", tool_results=[{"tool_use_id": "c", "content": "notes.txt"}])
        memory.remember("Always answer in short sentences. 回答要简短。", kind="rule", pinned=True)
        memory.remember("The pump may be broken. 水泵可能坏了。", standing="belief", confidence=0.4, tags=["pump"])
        memory.remember("The gate is old. 大门很旧。", tags=["gate"])
        memory.agent.propose("Mei wants a red kettle. 想要红色水壶。")
        memory.sessions.end("spring 春")
        clock.advance(days=40)
        memory.record_turn("user", "I live in Oslo now. 现在住在奥斯陆。", session="summer")
        memory.remember("The gate hums. 大门嗡嗡响。", tags=["gate"])
        memory.learn()
        yield memory


@pytest.mark.spec("S4-90")
def test_everything_known_is_on_a_page_with_its_date_and_source(filled, tmp_path):
    """By kind and topic; versions with their spans; what is not certain; the story of a session; each message."""
    done = filled.admin.export_markdown(tmp_path / "out")
    found = pages(tmp_path / "out")
    read = lambda name: found[name].replace("\\", "")  # noqa: E731

    assert done.pages == len(found)
    facts = read("memories/fact.md")
    assert re.search(r"- I live in Oslo now\.  \n  .*2026-04-10.*\[summer\]\(\.\./conversations/summer-[0-9a-f]{8}\.md\)", facts)
    assert "Bergen" not in facts
    assert facts.index("\n## gate\n") < facts.index("嗡嗡响") < facts.index("很旧")
    assert "回答要简短" in read("memories/rule.md")
    changed = read("history.md")
    assert changed.index("I live in Bergen") < changed.rindex("I live in Oslo")
    review = read("review.md")
    assert "水泵可能坏了" in review and "红色水壶" in review and "0.40" in review
    assert "红色水壶" not in "".join(text for name, text in found.items() if name.startswith("memories/"))
    talk = next(text for name, text in found.items() if "spring" in name)
    assert [talk.index(words) for words in ("Bergen", "Noted", "bash", "notes.txt")] == sorted(
        talk.index(words) for words in ("Bergen", "Noted", "bash", "notes.txt")
    )
    assert "spring 春" in read("episodes.md")
    for name, text in found.items():
        for link in re.findall(r"\]\(([^)]+\.md)\)", text):
            assert ((tmp_path / "out" / name).parent / link).is_file(), link
    assert done.memories == sum(text.count("\n- ") for name, text in found.items() if name.startswith("memories/"))
    assert (4, 1) == (done.turns, done.episodes)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_pages_speak_the_language_of_the_home(home, clock, tmp_path, language):
    """What is said of the memories follows the setting; the memories stay as they were said."""
    with Memory(home, language=language, clock=clock) as memory:
        memory.remember("I live in Oslo. 我住在奥斯陆。")
        memory.admin.export_markdown(tmp_path / "out")
    text = "".join(pages(tmp_path / "out").values())

    assert "我住在奥斯陆" in text
    assert {"en": (True, False), "zh": (False, True)}[language] == ("What is here" in text, "这里有什么" in text)


@pytest.mark.parametrize(
    ("said", "heading"), [("我住在奥斯陆。我喜欢茶。", "这里有什么"), ("I live in Oslo. I like tea.", "What is here")]
)
def test_without_a_setting_they_speak_the_language_of_the_memories(memory, tmp_path, said, heading):
    memory.remember(said)
    memory.admin.export_markdown(tmp_path / "out")

    assert heading in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("text", "until"), [("The fair is open.", "until 2026-03-0"), ("展会开放。", "到 2026-03-0")])
def test_a_page_says_the_earlier_of_two_ends(memory, clock, tmp_path, text, until):
    """Whether a memory expires first or is deleted first: it is shown no longer from then on."""
    memory.remember(text, expires_at=clock.now.replace(year=2027), ttl_days=3)
    memory.admin.export_markdown(tmp_path / "out")

    assert until in pages(tmp_path / "out")["memories/fact.md"].replace("\\", "")


def test_both_languages_have_the_same_words():
    """No word of a page is missing in one of them, and each has as many places to fill."""
    en, zh = (export_pages._said(language) for language in ("en", "zh"))

    assert {name: len(re.findall(r"\{\d?\}", text)) for name, text in en.items()} == {
        name: len(re.findall(r"\{\d?\}", text)) for name, text in zh.items()
    }


def test_what_was_forgotten_or_erased_and_other_scopes_are_on_no_page(home, filled, tmp_path):
    """Neither are what hangs on them; public is a scope of its own, too."""
    chance = random.Random(sampling.SEED)
    gone, erased, foreign, public = (canaries.latin(chance) for _ in range(4))
    filled.forget(filled.remember(f"My hobby is {gone}.").memory.id)
    hidden = filled.record_turn("user", f"Forget {gone}.", session="secret")
    filled.forget(hidden.id)
    filled.admin.erase(filled.remember(f"My locker is {erased}.").memory.id)
    for scope, word in (("user:lan", foreign), ("public", public)):
        with Memory(home, scope=scope) as other:
            other.record_turn("user", f"I like {word}.", session="summer")
            other.remember(f"The word is {word}.")
    done = filled.admin.export_markdown(tmp_path / "out")

    assert [] == [word for word in (gone, erased, foreign, public) for text in pages(tmp_path / "out").values() if word in text]
    assert 1 == done.forgotten
    with Memory(home, scope="user:lan") as other:
        other.admin.export_markdown(tmp_path / "lan")
    assert foreign in "".join(pages(tmp_path / "lan").values())
    with Memory(home, scope="user:nobody") as nobody, pytest.raises(NotFound):
        nobody.admin.export_markdown(tmp_path / "none")


HOSTILE = (
    "# A heading 标题",
    "<script>alert(1)</script> <img src=https://e.example/a.png>",
    "![p](https://e.example/p.png) [l](https://e.example)",
    "1. one",
    "- item",
    "> quoted",
    "```\nfence",
    "a | b\n--- | ---\n1 | 2",
    "Title\n===\ntext",
    "<https://e.example> *bold* _em_ `code` ~~no~~",
    "tail\\",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_of_somebody_is_text_on_the_page(text):
    """Nothing in it becomes a heading, a list, a link, a picture, code, a table or HTML; every character is there."""
    markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    for page, around in ((f"- {readable.escaped(readable.one_line(text))}", "list"), ("\n".join(readable.quoted(text)), "quote")):
        tokens = [token for one in markdown.parse(page) for token in (one, *(one.children or []))]
        own = {"bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"} if around == "list" else {
            "blockquote_open", "blockquote_close",
        }  # fmt: skip
        kinds = (
            {token.type for token in tokens}
            - own
            - {"paragraph_open", "paragraph_close", "inline", "text", "softbreak", "hardbreak"}
        )
        shown = "".join(token.content for token in tokens if token.type in ("text", "text_special"))

        assert set() == kinds - {"text_special"}
        assert "".join(text.split()) == "".join(shown.split())


def test_a_folder_that_holds_something_is_refused_unless_it_may_be_replaced(filled, tmp_path):
    """With `replace`, pages of the earlier export go or are written anew; files of others stay, and none is overwritten."""
    out = tmp_path / "out"
    filled.admin.export_markdown(out)
    (out / "mine.md").write_text("mine 我的")
    with pytest.raises(InvalidInput, match="not empty"):
        filled.admin.export_markdown(out)
    filled.forget(session="summer")
    filled.admin.export_markdown(out, replace=True)

    assert not [name for name in pages(out) if "summer" in name]
    assert "mine 我的" == (out / "mine.md").read_text()
    (tmp_path / "file").write_text("theirs")
    with pytest.raises(InvalidInput, match="is a file"):
        filled.admin.export_markdown(tmp_path / "file", replace=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "README.md").write_text("theirs")
    with pytest.raises(InvalidInput, match=r"README\.md is not a page"):
        filled.admin.export_markdown(tmp_path / "other", replace=True)
    assert "theirs" == (tmp_path / "other" / "README.md").read_text()


def test_an_export_that_was_cut_off_can_be_replaced(filled, tmp_path, monkeypatch):
    """Each page is in the list before it is written."""
    write, written = export_pages.write_atomically, []

    def failing(path, content, **more):
        written.append(path)
        if len(written) == 5:
            raise KeyboardInterrupt
        write(path, content, **more)

    monkeypatch.setattr(export_pages, "write_atomically", failing)
    with pytest.raises(KeyboardInterrupt):
        filled.admin.export_markdown(tmp_path / "out")
    monkeypatch.undo()
    done = filled.admin.export_markdown(tmp_path / "out", replace=True)

    assert done.pages == len(pages(tmp_path / "out"))


def test_a_list_of_pages_that_somebody_wrote_removes_nothing_else(filled, tmp_path):
    """Names that lead out of the folder, or are no pages, are not followed."""
    out = tmp_path / "out"
    filled.admin.export_markdown(out)
    (tmp_path / "precious.md").write_text("x")
    (out / "data.txt").write_text("x")
    with open(out / ".yiku-pages", "a") as file:
        file.write(f"../precious.md\ndata.txt\n{tmp_path / 'precious.md'}\n")
    filled.admin.export_markdown(out, replace=True)

    assert (tmp_path / "precious.md").exists() and (out / "data.txt").exists()


def test_in_a_home_copies_alone_may_hold_pages_and_an_erasure_clears_them(filled, home):
    """Pages elsewhere in the home are refused; in copies/ a page with an erased word goes."""
    chance = random.Random(sampling.SEED)
    word, han = canaries.latin(chance), canaries.chinese(chance)
    kept = filled.remember(f"My watchword is {word} {han}.")
    for place in (home, home / "pages", home / "documents" / "pages", home / "copies"):
        with pytest.raises(InvalidInput, match="copies"):
            filled.admin.export_markdown(place)
    filled.admin.export_markdown(home / "copies" / "pages")
    assert canaries.sung(home / "copies", [word])
    receipt = filled.admin.erase(kept.memory.id)

    assert receipt.clean, [place for place in receipt.places if place.found]
    assert [] == canaries.sung(home, [word, han])


def test_pages_are_private(filled, tmp_path):
    """Files 0600, folders 0700."""
    filled.admin.export_markdown(tmp_path / "out")

    assert [] == [path for path in (tmp_path / "out", *(tmp_path / "out").rglob("*")) if path.stat().st_mode & 0o077]
