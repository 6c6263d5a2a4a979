"""
Write rules/lexicon/compiled.py from the TOML files of the languages: `make lexicon`.
"""

import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from yiku.rules.lexicon import Lexicon, build  # noqa: E402  (after the path)

HOME = ROOT / "src" / "yiku" / "rules" / "lexicon"
LANGUAGES = ("en", "zh")
HEAD = '''"""Written by `make lexicon` from the TOML files beside it; do not edit."""

# fmt: off
# ruff: noqa

from yiku.rules.lexicon import Entry, Gap, Lexicon, Literal, Phrase, Predicate, Template


def lexicon() -> Lexicon:
    """The languages that Yiku comes with, as one lexicon."""
    return Lexicon(
'''


def tables(folder: Path) -> dict[str, dict[str, Any]]:
    """The tables of a language by the name of their file."""
    return {path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.toml"))}


def written() -> str:
    """The module, as it should stand: one entry a line."""
    lexicon = build.lexicon([tables(HOME / language) for language in LANGUAGES])
    fields = "".join(f"        {name}={_value(getattr(lexicon, name))},\n" for name in Lexicon.__slots__)
    return f"{HEAD}{fields}    )\n"


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
    (HOME / "compiled.py").write_text(written(), "utf-8")
