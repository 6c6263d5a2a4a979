"""Write docs/spec.md: each row of the specification beside the tests that prove it, or the reason why it is waived."""

import ast
import csv
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "spec.md"
SHOWN = 3  # tests of a row; the others are counted
INTRO = """# The specification, row by row

Each row of [rows.tsv](spec/rows.tsv) with the tests that name it; [spec/README.md](spec/README.md) says what the ids mean. A row
in brackets is a plan, a drawing or a list that no test can show. `python scripts/spec_page.py` writes this page from the marks
in the tests, and a test holds it in step.
"""


def marked() -> dict[str, list[str]]:
    """By row the tests that name it, as `path::name`, in order."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted((ROOT / "tests").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        name = path.relative_to(ROOT).as_posix()
        for rows, test in _marks(tree):
            for row in rows:
                found[row].add(f"{name}::{test}" if test else name)
    return {row: sorted(tests) for row, tests in found.items()}


def _marks(tree: ast.Module) -> Iterator[tuple[list[str], str]]:
    """The rows of each mark, and the test that has it; of a mark for the whole module no test."""
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for decorator in node.decorator_list:
                inside |= {*ast.walk(decorator)}
                yield _rows(decorator), node.name
    for node in tree.body:  # pytestmark, and cases that lie in a table
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield _rows(node), ""


def _rows(node: ast.AST) -> list[str]:
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)]
    given = [argument for call in calls if call.func.attr == "spec" for argument in call.args]  # type: ignore[attr-defined]
    return [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def table(rows: Sequence[Mapping[str, str]], proofs: Mapping[str, Sequence[str]], waived: Mapping[str, str]) -> str:
    """The rows of one area."""
    lines = ["| row | what it says | proved by |", "|---|---|---|"]
    for row in rows:
        tests = proofs.get(row["id"], ())
        links = [f"[{test.rpartition('::')[2].rpartition('/')[2]}](../{test.partition('::')[0]})" for test in tests[:SHOWN]]
        more = f", {len(tests) - SHOWN} more" if len(tests) > SHOWN else ""
        proof = ", ".join(links) + more or (f"waived: {waived[row['id']]}" if row["id"] in waived else "")
        id = row["id"] if row["must"] == "yes" else f"({row['id']})"
        lines.append(f"| {id} | {_cell(row['statement'])} | {_cell(proof)} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def page() -> str:
    """The whole page: how many rows of each area are proved, and a table for each area."""
    with (ROOT / "docs" / "spec" / "rows.tsv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    lines = (ROOT / "docs" / "spec" / "waived.tsv").read_text(encoding="utf-8").splitlines()
    waived = dict(line.split("\t", 1) for line in lines if line and not line.startswith("#"))
    proofs = marked()
    areas = dict.fromkeys(row["area"] for row in rows)
    must = [row for row in rows if row["must"] == "yes"]
    counts = Counter(
        (row["area"], "proved" if row["id"] in proofs else "waived" if row["id"] in waived else "open") for row in must
    )
    summary = ["| area | rows | proved | waived | open |", "|---|---|---|---|---|"]
    summary += [
        f"| [{area}](#{area}) | {sum(row['area'] == area for row in must)} | "
        + " | ".join(str(counts[area, state]) for state in ("proved", "waived", "open"))
        + " |"
        for area in areas
    ]
    parts = [f"## {area}\n\n{table([row for row in rows if row['area'] == area], proofs, waived)}" for area in areas]
    return "\n\n".join([INTRO.strip(), "\n".join(summary), *parts]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
