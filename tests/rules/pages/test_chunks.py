"""Cutting Markdown files into chunks."""

from itertools import pairwise
from pathlib import Path

import pytest
from documents import document
from markdown_it import MarkdownIt

from yiku.rules.pages.blocks import blocks, title
from yiku.rules.pages.chunks import CHUNK_TOKENS, OVERLAP_TOKENS, chunks
from yiku.rules.text.chunk import cost

ROOT = Path(__file__).parents[3] / "docs"
PAGES = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.md"))
MARKDOWN = MarkdownIt("commonmark")


def lines_of(text: str, start: int, end: int) -> str:
    return "\n".join(text.split("\n")[start - 1 : end])


def check_lines(text: str) -> None:
    """Each chunk stands in the lines that it names, from the first to the last, and no more of them; all words are in one."""
    covered, at = "", 0
    rows = text.split("\n")
    for chunk in chunks(text):
        begins = at + len(text[at:]) - len(text[at:].lstrip())
        place = text.rindex(chunk.text, 0, begins + len(chunk.text))
        assert chunk.text in lines_of(text, chunk.start_line, chunk.end_line)
        assert chunk.text.split("\n")[0] in rows[chunk.start_line - 1]
        assert chunk.text.split("\n")[-1] in rows[chunk.end_line - 1]
        assert len(chunk.text.split("\n")) == chunk.end_line - chunk.start_line + 1
        assert 0 < cost(chunk.text) <= CHUNK_TOKENS
        covered += text[max(at, place) : place + len(chunk.text)]
        at = max(at, place + len(chunk.text))
    assert not text[at:].strip()
    assert "".join(covered.split()) == "".join(text.split())


@pytest.mark.spec("T-33", "S4-31", "S4-33")
@pytest.mark.parametrize("seeds", [range(start, start + 20) for start in range(0, 200, 20)])
def test_the_lines_of_every_chunk_match_the_file(seeds):
    """Of 200 documents in English, Chinese and both, with and without Windows line ends."""
    for seed in seeds:
        check_lines(document(seed)[0])


@pytest.mark.spec("T-33")
@pytest.mark.parametrize("page", PAGES, ids=str)
def test_the_lines_of_every_chunk_of_a_real_page_match(page):
    check_lines((ROOT / page).read_text(encoding="utf-8"))


@pytest.mark.spec("T-33", "S4-31")
@pytest.mark.parametrize(
    "line",
    [
        "word " * 2_000,
        "x" * 10_000,
        "字" * 10_000,
        "今天天气很好。" * 1_430,
        "It rains. " * 1_000,
        "🌧️" * 5_000,
        "ｆｕｌｌ　ｗｉｄｔｈ。" * 900,
    ],
    ids=["words", "one word", "characters", "chinese sentences", "sentences", "emoji", "full width"],
)
def test_a_line_of_10000_characters_is_split(line):
    """Each piece fits, is of that line, and together they are the line."""
    text = f"# 早 Morning\n\n{line}\n\nafter"
    found = chunks(text)

    check_lines(text)
    assert len(found) > 3
    assert {1, 3} >= {one.start_line for one in found[:-1]}
    assert "早 Morning" == found[-1].heading


@pytest.mark.spec("S4-32")
@pytest.mark.parametrize("separator", ["\n", " ", ""], ids=["lines", "one line", "chinese"])
def test_a_chunk_repeats_the_end_of_the_one_before(separator):
    """In whole lines or sentences, at most 80 tokens of it."""
    one = (
        "第{}天去看了花园，浇了水，又写下了明天要做的事情。"
        if not separator
        else "On day {} they went to see the garden, and watered it."
    )
    text = separator.join(one.format(k) for k in range(200))
    found = chunks(text)

    assert len(found) > 3
    for before, after in pairwise(found):
        shared = next(n for n in range(len(after.text), -1, -1) if before.text.endswith(after.text[:n].rstrip()) and n != 1)
        assert OVERLAP_TOKENS / 2 < cost(after.text[:shared]) <= OVERLAP_TOKENS
        assert after.text.startswith(("On day", "第"))


def test_a_chunk_stands_under_its_headings():
    """The highest first; a heading ends those below it, and stays with what stands under it."""
    body = "It is long enough for a chunk of its own. " * 20
    text = f"# Garden\n\n{body}\n\n## Shed ##\n\n{body}\n\n### Key\n{body}\n\n花园\n===\n\n{body}"

    assert ["Garden", "Garden > Shed", "Garden > Shed > Key", "花园"] == [one.heading for one in chunks(text)]
    assert ["# Garden", "## Shed ##", "### Key", "花园"] == [one.text.split("\n")[0] for one in chunks(text)]


def test_no_heading_is_read_in_code_or_front_matter():
    """Marks of headings inside a fence are code, and the keys of front matter are none."""
    text = "---\ntitle: x\n# not one\n---\n# One\n\n```sh\n# not one\n```\n~~~\n# not one\n```\n~~~\n## Two\nx"

    assert ["# One", "## Two"] == [text[block.start : block.end] for block in blocks(text) if block.level]


@pytest.mark.parametrize("seed", range(0, 200, 7))
def test_headings_and_fences_are_those_of_commonmark(seed):
    """As another reader of Markdown finds them; but a paragraph of several lines over a rule is no heading here."""
    text = document(seed)[0].replace("\r\n", "\n")
    if text.startswith("---\n"):
        text = text[text.index("\n---\n") + 5 :]
    tokens = MARKDOWN.parse(text)
    expected = [
        (one.map[0], int(one.tag[1]))
        for one in tokens
        if one.type == "heading_open" and one.level == 0 and one.map[1] - one.map[0] <= 2
    ]
    starts = [(text.count("\n", 0, block.start), block.level) for block in blocks(text) if block.level]

    assert expected == starts


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ("# A b", "A b"),
        ("## 花园 ##", "花园"),
        ("### C#", "C#"),
        ("#", ""),
        ("A\n===", "A"),
        ("###### x  y ######  ", "x y"),
        ("# #", ""),
    ],
)
def test_the_title_of_a_heading(heading, words):
    assert words == title(heading)


def test_an_edit_changes_only_the_chunks_around_it():
    """What is added in front shifts lines, and nothing else: of a long file most chunks are the same again."""
    new = total = 0
    for seed in range(0, 30, 3):
        text = "\n\n".join(document(seed + k)[0].replace("\r\n", "\n") for k in range(8))
        edited = f"A new first line. 新的第一行。\n\n{text}"
        before, after = ({(one.heading, one.text) for one in chunks(each)} for each in (text, edited))
        new, total = new + len(after - before), total + len(after)

    assert 0 < new < total / 20


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n", "\r\n", "\ufeff"])
def test_nothing_has_no_chunks(text):
    assert not [one for one in chunks(text) if one.text.strip("\ufeff")]


@pytest.mark.parametrize(
    "text", ["x", "x\n", "\n\nx", "```\nnever closed\n# x", "---\nno end", "#\n", "- \n- ", "\x00", "a\u2028b\x0cc"]
)
def test_odd_files_have_lines_too(text):
    check_lines(text)


def test_the_same_text_gives_the_same_chunks():
    text = document(4)[0]

    assert chunks(text) == chunks(text)
