"""Erasure finds words with Markdown, HTML or invisible characters inside, wherever they are."""

import json

import pytest

from yiku.files import transcripts
from yiku.flows.keep import transcripts as flow
from yiku.types import Turns

SECRETS = {
    "zh": ("我家的吉布拉水泵坏了。", "吉布拉"),
    "en": ("The quorvex pump of unbelievable Zanthe is broken.", "believ"),
}
MARKS = {
    "strong": "**{}**",
    "emphasis": "*{}*",
    "underlined": "_{}_",
    "struck": "~~{}~~",
    "marked": "=={}==",
    "code": "`{}`",
    "link": "[{}](https://example.com/a_(b) 'a title')",
    "reference": "[{}][1]",
    "wiki": "[[page|{}]]",
    "footnote": "{}[^1]",
    "html": '<b class="x">{}</b>',
    "comment": "<!-- note -->{}",
    "zero width": "\u200b{}\u2060",
    "soft hyphen": "\u00ad{}",
    "entity": "&#8203;{}",
    "escaped": "\\_{}",
    "both": "**_{}_**",
}
CASES = [(language, kind) for language in SECRETS for kind in MARKS if (language, kind) != ("en", "underlined")]


def marked(language: str, kind: str) -> tuple[str, str]:
    """The secret as it is said, and with marks inside of it."""
    secret, part = SECRETS[language]
    inside = MARKS[kind].format(part)
    if kind == "escaped":
        secret = secret.replace(part, f"_{part}")
    return secret, secret.replace(part, inside) if kind != "escaped" else secret.replace(f"_{part}", inside)


@pytest.mark.parametrize(("language", "kind"), CASES)
def test_a_note_with_marks_inside_of_the_words_is_cut(memory, home, language, kind):
    """The sentence goes from notes, from MEMORY.md and from their index, whether or not a sync has seen them."""
    secret, said = marked(language, kind)
    (home / "documents").mkdir()
    seen, unseen, page = home / "documents" / "seen.md", home / "documents" / "unseen.md", home / "MEMORY.md"
    seen.write_text(f"# Title 标题\n\nBefore. {said} After 之后.\n")
    page.write_text(f"Mine. {said} Yes.\n")
    memory.notes.sync()
    unseen.write_text(f"- {said}\n- Another item 另一项\n")
    done = memory.admin.erase(memory.remember(secret).memory.id)

    assert "# Title 标题\n\nBefore. After 之后.\n" == seen.read_text()
    assert "- Another item 另一项\n" == unseen.read_text()
    assert "Mine. Yes.\n" == page.read_text()
    assert done.clean, [place for place in done.places if place.found]
    names = {place.name for place in done.places}
    assert {"documents/seen.md:3", "documents/unseen.md:1", "MEMORY.md:1"} <= names
    left = [note.text for note in memory._handle.store.notes.after(memory._handle.own()[0], 0, 100)]
    assert not [text for text in left if said in text]


@pytest.mark.parametrize(("language", "kind"), CASES)
def test_a_turn_with_marks_inside_of_the_words_is_redacted(memory, home, language, kind):
    """In what was said, in what tools were given and gave, in metadata, and in the transcript."""
    secret, said = marked(language, kind)
    memory.record_turn("assistant", f"Noted 记下了. {said} Anything else 还有吗?")
    memory.record_turn(
        "assistant",
        "Called.",
        tool_calls=[{"id": "1", "name": "save", "input": {"text": said}}],
        tool_results=[{"id": "1", "content": f"ok: {said}"}],
        metadata={"last": f"{said}"},
    )
    flow.catch_up(memory._handle)
    done = memory.admin.erase(memory.remember(secret).memory.id)

    assert done.clean, [place for place in done.places if place.found]
    assert 2 == len(done.redacted)
    turns = memory._handle.store.turns(memory._handle.own(), Turns(hidden=True))
    texts = json.dumps([[turn.content, turn.tool_calls, turn.tool_results, turn.metadata] for turn in turns], default=dict)
    lines = "".join(path.read_text() for path in transcripts.files(memory._handle.paths))
    for part in (said, json.dumps(said)[1:-1], json.dumps(said, ensure_ascii=False)[1:-1]):
        assert part not in texts and part not in lines


@pytest.mark.parametrize(("language", "kind"), [("zh", "strong"), ("en", "strong"), ("zh", "html"), ("en", "link")])
def test_a_marked_sentence_of_a_turn_takes_the_plain_one_along(memory, home, language, kind):
    """What was said with marks and erased stands in no note without them."""
    secret, said = marked(language, kind)
    (home / "documents").mkdir()
    (home / "documents" / "a.md").write_text(f"Before. {secret} After.\n")
    turn = memory.record_turn("user", said)
    done = memory.admin.erase(turn.id)

    assert "Before. After.\n" == (home / "documents" / "a.md").read_text()
    assert done.clean


@pytest.mark.parametrize(("language", "kind"), [("zh", "strong"), ("en", "strong")])
def test_kept_notes_are_told_of(memory, home, language, kind):
    """A note that stays as it is, is named, and the receipt is not clean."""
    secret, said = marked(language, kind)
    (home / "MEMORY.md").write_text(f"Mine. {said} Yes.\n")
    done = memory.admin.erase(memory.remember(secret).memory.id, keep_notes=True)

    assert not done.clean
    assert "MEMORY.md" in [place.name for place in done.places if place.found]


@pytest.mark.parametrize("language", SECRETS)
def test_a_wrapped_line_is_found(memory, home, language):
    """A line break in a quotation is no end of a sentence; inside of a Chinese word it is nothing."""
    secret, part = SECRETS[language]
    at = secret.index(part)
    at = secret.index(" ", at) if language == "en" else at + 1
    (home / "USER.md").write_text(f"> Before. {secret[:at]}\n> {secret[at:].strip()} After.\n")
    done = memory.admin.erase(memory.remember(secret).memory.id)

    assert "> Before. After.\n" == (home / "USER.md").read_text()
    assert done.clean


@pytest.mark.parametrize("language", SECRETS)
def test_it_does_not_come_back_with_marks(memory, home, language):
    """A statement that was erased is refused with marks inside of it, too, and an older export does not bring its turn."""
    secret, said = marked(language, "strong")
    memory.admin.erase(memory.remember(secret).memory.id)

    assert memory.remember(said).kind == "erased" or memory.get_all() == []


@pytest.mark.parametrize("text", ["2 * 3 ** 4", "snake_case_name and __init__", "a < b and c > d", "[x] done", "R&amp;D", "\\"])
def test_other_marks_stay(memory, home, text):
    """Whatever looks like marks and holds nothing of it, stays to the character."""
    (home / "documents").mkdir()
    (home / "documents" / "a.md").write_text(f"{text}\n\n{SECRETS['en'][0]}\n")
    memory.admin.erase(memory.remember(SECRETS["en"][0]).memory.id)

    assert f"{text}\n\n" == (home / "documents" / "a.md").read_text()


@pytest.mark.parametrize("around", ["**{}**", "_{}_", "[{}](https://example.com)", "<b>{}</b>"])
def test_marks_around_a_whole_sentence_go_with_it(memory, home, around):
    """Nothing is left of them in the middle of a line."""
    secret = SECRETS["zh"][0]
    (home / "MEMORY.md").write_text(f"之前。{around.format(secret)}之后。\n")
    memory.admin.erase(memory.remember(secret).memory.id)

    assert "之前。之后。\n" == (home / "MEMORY.md").read_text()
