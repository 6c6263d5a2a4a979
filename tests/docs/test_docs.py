"""The documentation is true: examples run, lists are complete, links work, architecture.md lists every module."""

import builtins
import inspect
import math
import re
import tomllib
from dataclasses import fields

import pytest
from pages import LANGUAGES, ROOT, blocks, comparable, run_python, run_shell

import yiku
from yiku import errors, types
from yiku.admin import Admin
from yiku.agent import Agent
from yiku.interfaces.cli import app
from yiku.notes import Notes
from yiku.prompt import Prompts
from yiku.sessions import Sessions
from yiku.store import index

DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
DECISIONS = sorted(DOCS.glob("decisions/0*.md"))
READMES = {ROOT / "README.md", ROOT / "README.zh.md"}
ABOUT_OTHERS = {  # the only addresses outside: where a README has what it says of other libraries from
    "https://docs.mem0.ai/core-concepts/how-it-works",
    "https://docs.letta.com/guides/agents/architectures/memgpt",
    "https://github.com/getzep/graphiti",
    "https://docs.langchain.com/oss/python/langgraph/stores",
    "https://github.com/basicmachines-co/basic-memory",
    "https://github.com/thedotmack/claude-mem",
}
HEADINGS = ["Context", "Choice", "What we gave up", "What would make us revisit"]


def read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def without_blocks(page) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def first_cells(text: str, heading: str) -> list[str]:
    """The names in backticks in the first column of the table whose first heading this is."""
    rows = re.search(rf"^\| {re.escape(heading)} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)[1]
    return [name for row in rows.splitlines() for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])]


# ------------------------------------------------------------------ examples


def test_the_examples_in_python_run_and_print_what_they_say(home):
    """docs/python.md is run from top to bottom; each output stands below its block."""
    said = {block.line: block.output for block in blocks(DOCS / "python.md")}
    printed = run_python(DOCS / "python.md")

    assert len(printed) > 15
    for line, out in printed:
        assert comparable(said[line] or "", home) == comparable(out, home), f"docs/python.md:{line}"


def test_the_examples_in_the_shell_run_and_print_what_they_say(home):
    """docs/cli.md is run from top to bottom in one shell; each output stands below its block."""
    said = {block.line: block.output for block in blocks(DOCS / "cli.md")}
    printed = run_shell(DOCS / "cli.md", home)

    assert len(printed) > 10
    for line, out in printed:
        assert comparable(said[line] or "", home) == comparable(out, home), f"docs/cli.md:{line}"


def test_one_memory_has_one_id_on_the_page_of_the_command_line():
    """The short ids in docs/cli.md are those of one run: each text that `remember` prints has one, wherever it is shown again."""
    shown = "\n".join(block.text for block in blocks(DOCS / "cli.md") if block.language == "text")
    found: dict[str, set[str]] = {}
    for text, id in re.findall(r"^(?: ?\d  |[a-z ]+  )(.+)\n +(?:memory · )?#([0-9a-f]{8}) ·", shown, re.MULTILINE):
        found.setdefault(text, set()).add(id)

    assert {"I live in Oslo.", "我喜欢喝绿茶。"} <= {*found}
    assert {} == {text: ids for text, ids in found.items() if len(ids) > 1}


def test_the_page_on_style_quotes_this_repository():
    """Each line of code in docs/style.md and docs/spec/README.md stands so in the package or its tests."""
    sources = [path.read_text(encoding="utf-8") for room in ("src", "tests") for path in (ROOT / room).rglob("*.py")]
    pages = [DOCS / "style.md", DOCS / "spec" / "README.md"]
    quoted = [
        line.strip() for page in pages for block in blocks(page) if block.language == "python" for line in block.text.splitlines()
    ]

    assert quoted
    assert [] == [line for line in quoted if not any(line in source for source in sources)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_has_blocks_of_known_languages_only(page):
    """A block whose language nobody runs or knows (bash, py, console) would go untested."""
    assert set() == {block.language for block in blocks(page)} - LANGUAGES


# ------------------------------------------------------------------ links


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_something_in_this_repository(page):
    """No link is broken, and none leads outside but a README's sources on other libraries: what is needed lies here."""
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", without_blocks(page))]
    if page in READMES:
        assert {link for link in links if link in ABOUT_OTHERS} == ABOUT_OTHERS
        links = [link for link in links if link not in ABOUT_OTHERS]
    broken = [link for link in links if link and not (page.parent / link).exists()]
    outside = [link for link in links if not (page.parent / link).resolve().is_relative_to(ROOT)]

    assert ([], []) == (broken, outside)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_names_a_path_of_somebodys_machine(page):
    """A path that begins at the root, or a host, means nothing to a stranger."""
    text = page.read_text(encoding="utf-8")
    for address in ABOUT_OTHERS if page in READMES else ():
        text = text.replace(f"({address})", "")

    assert [] == re.findall(r"(?<![\w.~/])/(?:home|root|tmp|usr|opt|work|mnt)/[^\s`)]*|https?://\S+", text)


def test_every_make_command_that_a_page_names_exists():
    """`make …` in any page is a target of the Makefile."""
    targets = {*re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)}
    named = {name for page in PAGES for name in re.findall(r"`make ([a-z-]+)", page.read_text(encoding="utf-8"))}

    assert {"demo", "test"} <= named
    assert set() == named - targets


def test_every_page_is_reached_from_the_readme():
    """Whoever reads on from the README finds each page, in a few steps."""
    reached, ahead = set(), [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in reached or page.suffix != ".md" or not page.exists():
            continue
        reached.add(page)
        links = re.findall(r"\]\(([^)#\s]+)", without_blocks(page))
        ahead += [(page.parent / link).resolve() for link in links]

    assert set() == set(PAGES) - reached


# ------------------------------------------------------------------ lists that must be whole


def test_every_setting_has_its_row():
    """docs/settings.md lists the settings of types.Settings in their order, with the defaults they have."""
    settings = [field for field in fields(types.Settings) if field.name not in ("origins", "unknown_variables")]
    rows = re.findall(r"^\| `(\w+)` \| .* \| ([^|]+) \| [^|]+ \| [^|]+ \| [^|]+ \|$", read("settings.md"), re.MULTILINE)

    plain = {field.name: field.default for field in settings if isinstance(field.default, str | int | float)}
    said = {name: default.strip("`") for name, default in rows if name in plain}

    assert [field.name for field in settings] == [name for name, _ in rows]
    assert {name: default if isinstance(default, str) else f"{default:g}" for name, default in plain.items()} == said


def test_every_variable_is_named_after_its_setting():
    """The column of YIKU_* says what settings.load reads."""
    rows = re.findall(r"^\| `(\w+)` \| .*`(YIKU_\w+)`", read("settings.md"), re.MULTILINE)

    assert len(rows) > 10
    assert [f"YIKU_{name.upper()}" for name, _ in rows] == [variable for _, variable in rows]


def signatures() -> list[str]:
    """The public verbs as docs/python.md writes them: names, defaults and result, without the arguments' types."""
    found = []
    for owner, prefix in (
        (yiku.Memory, ""),
        (Admin, "admin."),
        (Sessions, "sessions."),
        (Notes, "notes."),
        (Agent, "agent."),
        (Prompts, "prompts."),
    ):
        for name, verb in inspect.getmembers(owner, inspect.isfunction):
            if not name.startswith("_"):
                signature = inspect.signature(verb)
                parameters = [
                    parameter.replace(annotation=inspect.Parameter.empty) for parameter in [*signature.parameters.values()][1:]
                ]
                short = str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
                found.append(f"{prefix}{name}{short} -> {signature.return_annotation}".replace("'", '"'))
    return sorted(found)


def test_every_verb_has_its_signature():
    """docs/python.md gives each public verb of Memory and its sub-objects with its very parameters and defaults, and no other."""
    assert signatures() == sorted(re.findall(r"\*\*`([\w.]+\(.*?\) -> [^`]+)`\*\*", read("python.md")))


def test_every_field_and_operator_of_where_is_in_the_tables(home):
    """The grammar in docs/python.md is the one that refuses what it does not know."""
    grammar = read("python.md").partition("## The grammar of `where`")[2]
    with yiku.Memory() as memory:
        with pytest.raises(errors.InvalidFilter) as no_field:
            memory.get_all(where={"colour": 1})
        with pytest.raises(errors.InvalidFilter) as no_operator:
            memory.get_all(where={"kind": {"like": 1}})
    known = no_field.value.detail.partition("known are ")[2].replace(" and metadata.<key>", ", metadata.<key>")
    table = re.findall(r"^\| (?:memories|turns|memories and turns) \| (.*) \|$", grammar, re.MULTILINE)

    assert set(known.split(", ")) == {name for row in table for name in re.findall(r"`([^`]+)`", row)}
    assert set(no_operator.value.detail.partition("known are ")[2].split(", ")) == {*first_cells(grammar, "operator")}


def test_every_error_that_the_page_names_exists():
    """The table of errors in docs/python.md names classes of yiku.errors."""
    named = [name for name in first_cells(read("python.md"), "error") if not hasattr(builtins, name)]

    assert len(named) > 10
    assert [] == [name for name in named if not hasattr(errors, name)]


def test_every_command_is_described():
    """docs/cli.md has a heading for each verb of the command line, in the order of `yiku --help`, and no other."""
    assert [*app.VERBS] == re.findall(r"^### `yiku ([\w-]+)", read("cli.md"), re.MULTILINE)


def test_every_table_of_the_schema_has_its_row():
    """docs/format.md lists the tables in the order in which the migrations make them."""
    scripts = sorted((ROOT / "src" / "yiku" / "store" / "sql").glob("*.sql"))
    made = [name for script in scripts for name in re.findall(r"^create (?:virtual )?table (\w+)", script.read_text(), re.M)]

    assert made
    assert [*dict.fromkeys(made)] == re.findall(r"^\| `(\w+)` \|", read("format.md"), re.MULTILINE)


def test_the_row_number_of_the_index_is_as_described():
    """The formula in docs/format.md gives the step that the index gives, for rows of any length."""
    formula = re.search(r"step = (min\(.*\))$", read("format.md"), re.MULTILINE)[1]
    lengths = [1, 2, 3, 7, 40, 1000, 6000, 100_000]
    names = {"min": min, "round": round, "log2": math.log2}

    assert [index.step(n) for n in lengths] == [eval(formula, {**names, "words": n}) for n in lengths]
    assert f"n * {index.STEPS} + step" in read("format.md")


@pytest.mark.parametrize("page", ["format.md", "decisions/0007-index-layout.md"])
def test_the_layout_of_the_index_is_as_described(page):
    """Both pages on the index name the options with which the schema makes its tables."""
    option = re.compile(r"\b(detail|columnsize) = (\w+)")
    made = {*option.findall((ROOT / "src" / "yiku" / "store" / "sql" / "0001_house.sql").read_text(encoding="utf-8"))}

    assert {"detail", "columnsize"} == {name for name, _ in made}
    assert set() == made - {*option.findall(read(page))}


def test_every_module_is_on_the_map():
    """docs/architecture.md has a line for each file of the package that holds something, and for no other."""
    package = ROOT / "src" / "yiku"
    there = {
        path.relative_to(package).as_posix()
        for suffix in ("py", "sql")
        for path in package.rglob(f"*.{suffix}")
        if path.read_text(encoding="utf-8").strip()
    }
    listed = re.findall(r"^\| \[`[^`]+`\]\(\.\./src/yiku/([^)]+)\)", read("architecture.md"), re.MULTILINE)

    assert sorted(there) == sorted(listed)


def test_every_kind_and_alias_means_what_the_glossary_says():
    """Each alias in the table is taken for its kind, and each kind has its row."""
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", read("glossary.md"), re.MULTILINE)
    meant = {alias: kind for kind, aliases in rows for alias in re.split(r"[,;] ", aliases.strip())}

    assert [kind.value for kind in types.Kind] == [kind for kind, _ in rows]
    assert meant == {alias: types.Kind(alias).value for alias in meant}


# ------------------------------------------------------------------ decisions, dependencies, the specification


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_has_its_four_parts_on_one_page(page):
    """Context, choice, what we gave up, what would make us revisit; under the page's own number."""
    text = page.read_text(encoding="utf-8")

    assert HEADINGS == re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert text.startswith(f"# {page.stem[:4]} ")
    assert text.count("\n") <= 60


def test_decisions_are_numbered_and_listed():
    """No number is taken twice, and the list in docs/decisions names each page in their order."""
    listed = re.findall(r"^\| \[(\d{4})\]\(([\w.-]+)\) \|", read("decisions/README.md"), re.MULTILINE)

    assert len(DECISIONS) == len({page.stem[:4] for page in DECISIONS})
    assert [(page.stem[:4], page.name) for page in DECISIONS] == listed


def test_every_dependency_has_its_page():
    """What a user must install was decided on a page; the title names it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.match(r"[\w-]+", line)[0] for line in project["dependencies"]}
    titles = [page.read_text(encoding="utf-8").partition("\n")[0] for page in DECISIONS]
    named = {name for title in titles if "Dependenc" in title for name in re.split(r", | and ", title.partition(": ")[2])}

    assert needed == named


def test_the_style_page_has_the_limits_that_are_measured():
    """docs/style.md and bench/structure.py say the same."""
    measured, page = read("../bench/structure.py"), read("style.md")
    limits = [re.search(rf"^{name} = (\d+)", measured, re.MULTILINE)[1] for name in ("FILE_LINES", "FUNCTION_LINES", "PARAMETERS")]
    paths = re.findall(r'^    "(\w+)": \((.+), (.+), (.+)\),$', measured, re.MULTILINE)
    shown = re.findall(r"^\| `(\w+)` \| (\S+) \| (\S+) \| (\S+) \|", page, re.MULTILINE)

    assert limits == re.findall(r"^\| (?:lines|parameters) of .+ \| (\d+) \|$", page, re.MULTILINE)
    assert [[cell.replace("_", "") for cell in path[1:]] for path in paths] == [
        [cell.replace(",", "") for cell in row[1:]] for row in shown
    ]
    assert [path[0] for path in paths] == [row[0] for row in shown]


def test_every_error_is_drawn_under_its_parent():
    """The tree on top of errors.py has each class once, indented below the one that it is derived from."""
    drawn, above = {}, []
    for line in errors.__doc__.splitlines():
        if found := re.match(r"^    (?P<lead>[│├└─ ]*)(?P<name>[A-Z]\w+)(?: {2,}|$)", line):
            depth = len(found["lead"]) // 4
            above[depth:] = [found["name"]]
            drawn[found["name"]] = above[depth - 1] if depth else "Exception"
    known = {name: each for name, each in vars(errors).items() if isinstance(each, type) and issubclass(each, errors.YikuError)}

    assert drawn == {name: each.__base__.__name__ for name, each in known.items()}


def test_a_waived_row_exists_and_has_a_reason():
    """docs/spec/waived.tsv names rows of docs/spec/rows.tsv, each with why it is not built."""
    rows = [line.split("\t") for line in read("spec/rows.tsv").splitlines()]
    ids = [row[0] for row in rows[1:]]
    waived = [line.split("\t") for line in read("spec/waived.tsv").splitlines() if line and not line.startswith("#")]

    assert ["id", "area", "kind", "must", "statement"] == rows[0]
    assert len(ids) == len({*ids}) > 600
    assert [] == [line for line in waived if len(line) != 2 or line[0] not in ids or len(line[1]) < 10]


def test_the_changelog_names_this_version():
    """What is new in the version that is installed stands on top."""
    first = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[1]

    assert yiku.__version__ in first
