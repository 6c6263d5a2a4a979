"""The README in both languages: short, equal in content, and true."""

import importlib.util
import json
import re
from pathlib import Path

import pytest
from pages import ROOT, blocks, comparable, run_python, run_shell

READMES = {"en": ROOT / "README.md", "zh": ROOT / "README.zh.md"}


@pytest.mark.parametrize("readme", READMES.values(), ids=READMES)
def test_the_python_of_the_readme_runs_and_prints_what_it_says(readme, home):
    """Whoever pastes the Python of a README gets the output below it."""
    said = {block.line: block.output for block in blocks(readme)}
    printed = run_python(readme)

    assert printed
    assert [comparable(said[line], home) for line, _ in printed] == [comparable(out, home) for _, out in printed]


def test_the_shell_of_the_readme_runs_and_prints_what_it_says(home):
    """Whoever pastes the commands of the README gets the output below them; the Chinese one has the same."""
    a_transcript(home)
    said = {block.line: block.output for block in blocks(READMES["en"])}
    printed = run_shell(READMES["en"], home)

    assert printed
    assert [comparable(said[line], home) for line, _ in printed] == [comparable(out, home) for _, out in printed]


def a_transcript(home: Path) -> None:
    """What a coding agent leaves on the disk."""
    path = home / ".claude" / "projects" / "app" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    said = [("user", "Run the dev server on port 4321."), ("assistant", "Done: it answers on port 4321.")]
    place = {"sessionId": "s1", "cwd": "app", "gitBranch": "main", "version": "2.1.0", "isSidechain": False}
    with path.open("w", encoding="utf-8") as file:
        for number, (role, content) in enumerate(said):
            at = {"uuid": f"u{number}", "parentUuid": None, "timestamp": f"2026-03-04T09:0{number}:00.000Z"}
            print(json.dumps({"type": role, "message": {"role": role, "content": content}, **at, **place}), file=file)


def test_both_readmes_have_the_same_blocks():
    """A reader of either language types the same and sees the same."""
    english, chinese = ([(block.language, block.text) for block in blocks(readme)] for readme in READMES.values())

    assert english
    assert english == chinese


def test_both_readmes_have_the_same_parts_and_links():
    """A heading, row or link that one of them has, the other has too."""
    english, chinese = map(outline, READMES.values())

    assert english == chinese


def outline(readme: Path) -> list[str]:
    """The marks of headings, rows and items, and where the links lead; not to the other language, which differs."""
    text = re.sub(r"^```.*?^```$", "", readme.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    marks = re.findall(r"^#+ |^\||^- |\]\([^)]+\)", text, re.MULTILINE)
    return [mark for mark in marks if "README" not in mark]


@pytest.mark.parametrize("readme", READMES.values(), ids=READMES)
def test_the_readme_opens_with_what_this_is(readme):
    """One sentence, a picture of a run, the two commands, the line that installs, and five lines of Python."""
    text = readme.read_text(encoding="utf-8")
    sentence = text.split("\n\n")[1]
    order = ["docs/terminal.svg", "`make demo`", "`make test`", "pip install", "```python"]
    places = [text.find(part) for part in order]
    first = next(block for block in blocks(readme) if block.language == "python")

    assert re.fullmatch(r"\*\*[^.。\n]+[.。]\*\*", sentence)
    assert -1 not in places
    assert sorted(places) == places
    assert 5 == len([line for line in first.text.splitlines() if line])


@pytest.mark.parametrize("readme", READMES.values(), ids=READMES)
def test_no_part_of_the_readme_is_longer_than_a_screen_and_a_half(readme):
    """Each part is read at a glance: 60 lines at most, the wrapped ones counted, without the blocks."""
    parts = re.sub(r"^```.*?^```$", "", readme.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE).split("\n## ")
    lengths = {part.partition("\n")[0]: sum(1 + len(line) // 120 for line in part.splitlines() if line) for part in parts}

    assert {} == {name: length for name, length in lengths.items() if length > 60}


def test_the_picture_of_the_terminal_is_what_a_run_prints(home):
    """docs/terminal.svg was drawn from the commands of scripts/terminal_picture.py, and they print the same today."""
    script = loaded("terminal_picture")
    drawn = script.text(script.PICTURE.read_text(encoding="utf-8"))

    assert len(drawn) > 10
    assert comparable("\n".join(script.plain(script.run())), home) == comparable("\n".join(drawn), home)


def test_the_pictures_fetch_nothing():
    """No picture of a page names a font, a script or a picture that lies elsewhere."""
    pictures = sorted((ROOT / "docs").glob("*.svg"))
    outside = {path.name: re.findall(r"https?://[^\s\"')]+", path.read_text(encoding="utf-8")) for path in pictures}

    assert len(pictures) > 2
    assert {"http://www.w3.org/2000/svg"} == {address for found in outside.values() for address in found}


@pytest.mark.parametrize("readme", READMES.values(), ids=READMES)
def test_the_figures_of_the_readme_were_measured(readme):
    """The table of figures is what the last runs of bench/quality.py and bench/beside.py wrote down."""
    rows = re.findall(r"^\| ([^|]+) \| ([\d.,–]+) \| (.+) \|$", readme.read_text(encoding="utf-8"), re.MULTILINE)
    shown = [[cell.replace(",", "") for cell in (first, *rest.split(" | "))] for _, first, rest in rows]
    found, speed = beside(None), beside(10_000)

    assert [
        *([f"{figure:.1f}" for figure in quality(name)] + ["–", "–"] for name in ("LongMemEval-S", "LifeBench-zh")),
        [f"{found[name]['any@5']:.1f}" for name in SYSTEMS],
        *([f"{speed[name]['search_ms_p50'][language]:.1f}" for name in SYSTEMS] for language in ("en", "zh")),
        [f"{speed[name]['ingest_per_s']}" for name in SYSTEMS],
        [f"{speed[name]['write_ms_p50']:.1f}" for name in SYSTEMS],
    ] == shown
    for name in ("chroma", "mem0"):
        assert speed[name]["version"] in readme.read_text(encoding="utf-8")


SYSTEMS = ["yiku", "FTS5", "vectors", "fusion", "chroma", "mem0"]


def results(name: str) -> list[dict]:
    lines = (ROOT / "bench" / "results" / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def beside(speed: int | None) -> dict[str, dict]:
    """The engines of the last run of bench/beside.py with so many turns; without a number, that for what is found."""
    (*_, last) = [line for line in results("beside.jsonl") if line["speed"] == speed]
    return {engine["engine"]: engine for engine in last["engines"]}


def quality(name: str) -> list[float]:
    """Turn any@5 of a set with the local model in docs/quality.md: Yiku, FTS5, vectors, rank fusion."""
    table = (ROOT / "docs" / "quality.md").read_text(encoding="utf-8").partition("## Results")[2].partition("**By words alone**")[0]
    rows = [row.split(" | ") for row in table.splitlines() if row.startswith("| ")]
    head = rows[0]
    start = next(n for n, row in enumerate(rows) if row[0].startswith(f"| **{name}**"))
    column = [n for n, cell in enumerate(head) if cell.strip("| ") == "any@5"][1]
    return [float(row[column].partition(" / ")[0]) for row in rows[start : start + 4]]


def loaded(script: str):
    """A script of the repository, as a module."""
    spec = importlib.util.spec_from_file_location(script, ROOT / "scripts" / f"{script}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
