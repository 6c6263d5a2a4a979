"""
Write `[further]` of rules/lexicon/zh/characters.toml from a table of OpenCC: `python scripts/chinese_characters.py TABLE`.

TABLE is opencc/dictionary/TSCharacters.txt of the package opencc-python-reimplemented (Apache License 2.0), which nothing else
needs. Taken is each character whose simplified form is another one and in GB 2312, so what nobody writes today stays out.
"""

import sys
import tomllib
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent / "src" / "yiku" / "rules" / "lexicon" / "zh" / "characters.toml"
LINE = 60  # characters
TABLES = {
    "hashed": "Those of the first version. Hashes that are kept were made with them, so they never change.",
    "further": "The others.",
}
HEAD = """\
# Characters that are written in two ways: the traditional ones, and the simplified ones in the same order.
# Written by scripts/chinese_characters.py.
"""


def further(table: Path, hashed: str) -> dict[str, str]:
    """Each traditional character of a table with its simplified form; none of those that are hashed."""
    lines = (line.split("\t") for line in table.read_text("utf-8").splitlines())
    found = {one: forms.split()[0] for one, forms in sorted(lines)}
    return {one: form for one, form in found.items() if one not in {form, *hashed} and _is_common(form)}


def _is_common(character: str) -> bool:
    try:
        return len(character.encode("gb2312")) > 1
    except UnicodeEncodeError:
        return False


def _lines(name: str, characters: str) -> str:
    lines = (f'    "{characters[start : start + LINE]}",\n' for start in range(0, len(characters), LINE))
    return f"{name} = [\n{''.join(lines)}]\n"


def main() -> None:
    """Write the file; the characters that are hashed stay as they are."""
    tables = {"hashed": {form: "".join(lines) for form, lines in tomllib.loads(HOME.read_text("utf-8"))["hashed"].items()}}
    found = further(Path(sys.argv[1]), tables["hashed"]["traditional"])
    tables["further"] = {"traditional": "".join(found), "simplified": "".join(found.values())}
    parts = [HEAD]
    for name, about in TABLES.items():
        parts.append(f"\n# {about}\n[{name}]\n" + "".join(_lines(form, tables[name][form]) for form in tables[name]))
    HOME.write_text("".join(parts), "utf-8")


if __name__ == "__main__":
    main()
