"""Terminal layout: widths in cells, wrapping, tables."""

import pytest
from rich.cells import cell_len

from yiku.interfaces.cli import terminal


@pytest.mark.parametrize(
    "text",
    [
        "Here's the signed lease for the flat: ~/Documents/flat/lease-toyen-2026.pdf. How long is the notice period?",
        "哈哈不是。小时候每年过元宵节，外婆都拿我的旧作业本糊一盏灯笼。写满字的纸也能发光，我一直记着，就用了这个名字。",
        "订单号 ＬＮ－２０８６，下周二到 🌙 and Jonas 的新医院在这边，the boxes are upstairs",
        "x" * 100,
        "一" * 100,
        "a " + "字x" * 60,
    ],
)
@pytest.mark.parametrize("width", [20, 41, 80])
def test_wrapped_lines_fit_and_lose_nothing(text, width):
    """However narrow, no line is wider than asked for, and together they say what the text says."""
    lines = [*terminal.wrap(text, width)]

    assert [] == [line for line in lines if cell_len(line) > width]
    assert "".join(text.split()) == "".join("".join(lines).split())


def test_no_line_begins_with_closing_punctuation():
    """A Chinese comma or full stop stays with the character before it."""
    lines = [*terminal.wrap("写满字的纸也能发光，我一直记着。就用了这个名字！" * 5, 22)]

    assert len(lines) > 5
    assert [] == [line for line in lines if line[0] in "，。！"]


def test_a_long_text_is_cut_and_says_so():
    """More lines than allowed end in an ellipsis; what fits stays whole."""
    assert ["one two", "three …"] == [*terminal.wrap("one two three four five", 8, lines=2)]
    assert ["一二三"] == [*terminal.wrap("一二三", 8, lines=1)]


@pytest.mark.parametrize(
    ("text", "at_most", "expected"), [("Lantern 灯笼", 20, "Lantern 灯笼"), ("灯笼灯笼", 6, "灯笼…"), ("abcdef", 4, "abc…")]
)
def test_cut_counts_cells(text, at_most, expected):
    """A text is cut by the cells that it takes, not by its characters."""
    assert expected == terminal.cut(text, at_most)


def test_a_table_is_aligned_in_cells(monkeypatch):
    """Columns begin at the same cell in each row; the last is wrapped in what is left, in as many lines as it may take."""
    monkeypatch.setenv("COLUMNS", "40")
    rows = [("Mei", "7", "short"), ("美", "12", "一个很长的句子，放不进剩下的地方，所以要换行"), ("🌙", "3", "x")]
    lines = [*terminal.table(rows, right=[1])]

    assert {9} == {cell_len(line[: line.rindex("  ") + 2]) for line in lines}
    assert (4, 40) == (len(lines), max(map(cell_len, lines)) // 39 * 40)
    assert "一个很长的句子，放不进剩下的地方，所以要换行" == lines[1].rpartition("  ")[2] + lines[2].strip()
    assert [*terminal.table(rows, right=[1], lines=1)][1].endswith("…")


def test_control_characters_become_visible():
    """Escape sequences, carriage returns and direction marks are shown, not obeyed; line feeds and tabs stay."""
    assert "a\\x1b[31mb\\rc\\u202ed\n\te" == terminal.harmless("a\x1b[31mb\rc\u202ed\n\te")


@pytest.mark.parametrize(
    ("count", "expected"), [(0, "0 bytes"), (999, "999 bytes"), (307_200, "307.2 KB"), (5_000_000_000, "5.0 GB")]
)
def test_sizes_have_a_unit(count, expected):
    """A size is given in the unit that suits it."""
    assert expected == terminal.bytes_(count)


def test_a_command_and_json_stay_on_one_line():
    """What somebody copies is not torn at a space in it."""
    text = """Nothing fits: `yiku list --kind rule` or `yiku 列表` or --where '{"entities": "Ann"}' may, though."""

    assert [
        "Nothing fits:",
        "`yiku list --kind rule` or",
        "`yiku 列表` or --where",
        """'{"entities": "Ann"}' may,""",
        "though.",
    ] == [*terminal.wrap(text, 27)]


@pytest.mark.parametrize("columns", ["40", "60", "80", "120"])
def test_a_listing_gives_its_text_the_room_it_needs(monkeypatch, columns):
    """Beside the other columns where forty cells are left for it, else above them; nothing is lost, and no line is too wide."""
    monkeypatch.setenv("COLUMNS", columns)
    rows = [
        ("#0a1b2c3d", "2026-03-02", "preference", "写满字的纸也能发光，我一直记着，就用了这个名字。"),
        ("#1a1b2c3d", "2026-03-03", "fact", "Tea."),
    ]
    lines = [*terminal.list_table(rows, head=("id", "said", "kind", "text"), dim=[0])]

    assert [] == [line for line in lines if cell_len(line) > int(columns)]
    assert (columns in ("80", "120")) == lines[0].startswith("id ")
    assert "写满字的纸也能发光，我一直记着，就用了这个名字。" in "".join(line.strip().rpartition("  ")[2] for line in lines)
    assert all(any(cell in line for line in lines) for row in rows for cell in row[:3])


def test_a_command_to_paste_is_never_broken(monkeypatch):
    """A line is rather too long; what stands around it is wrapped as ever, in a table as well, and nothing is lost."""
    monkeypatch.setenv("COLUMNS", "40")
    command = terminal.keep_whole("yiku --home 'a 很长的 folder name of 40 cells' undo 2")
    text = f"2 changes of today: {command}; 更多的改动：`{command}`，这样就撤销了。"

    for lines in ([*terminal.wrap(text, 40)], [*terminal.table([("waiting", text)])]):
        assert 2 == sum(command in line for line in lines)
        assert [] == [line for line in lines if cell_len(line) > 40 and line.strip("`，; ") != command]
        assert "".join(text.split()) == "".join("".join(lines).removeprefix("waiting").split())
