"""
Write rules/lexicon/compiled.py and rules/text/compiled.py from the TOML files of the languages: `make lexicon`.

The second has what every text needs, and a search: it is imported where the words of the lexicon are not.
"""

import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from yiku.rules.lexicon import Lexicon, build  # noqa: E402  (after the path)

RULES = ROOT / "src" / "yiku" / "rules"
HOME = RULES / "lexicon"
LANGUAGES = ("en", "zh")
HEAD = '''"""Written by `make lexicon` from the TOML files beside it; do not edit."""

# fmt: off
# ruff: noqa

from yiku.rules.lexicon import Entry, Gap, Lexicon, Literal, Phrase, Predicate, Template


def lexicon() -> Lexicon:
    """The languages that Yiku comes with, as one lexicon."""
    return Lexicon(
'''


PLAIN_HEAD = '''"""What folding and search need of the languages, written by `make lexicon` from the TOML files; do not edit."""

# fmt: off
# ruff: noqa

'''


def tables(folder: Path) -> dict[str, dict[str, Any]]:
    """The tables of a language by the name of their file."""
    return {path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.toml"))}


def written() -> dict[Path, str]:
    """Each module as it should stand: one entry a line."""
    languages = [tables(HOME / language) for language in LANGUAGES]
    lexicon = build.lexicon(languages)
    fields = "".join(f"        {name}={_value(getattr(lexicon, name))},\n" for name in Lexicon.__slots__)
    plain = "".join(f"{name} = {_value(value)}\n" for name, value in build.plain(languages).items())
    return {HOME / "compiled.py": f"{HEAD}{fields}    )\n", RULES / "text" / "compiled.py": PLAIN_HEAD + plain}


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{\n" + "".join(f"            {key!r}: {_short(entry)},\n" for key, entry in sorted(value.items())) + "        }"
    return f"frozenset({sorted(value)!r})" if isinstance(value, frozenset) else _short(value)


def _short(value: object) -> str:
    """A value on one line, the fields of a named tuple without their names, and without those left empty."""
    if isinstance(value, tuple):
        parts = [_short(part) for part in value]
        if not hasattr(value, "_fields"):
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        while parts and parts[-1] in ("''", "()"):
            parts.pop()
        return f"{type(value).__name__}({', '.join(parts)})"
    return repr(value)


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, "utf-8")
