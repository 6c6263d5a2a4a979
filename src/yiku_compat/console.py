"""
Command line `yiku-compat`: migrate, export or query with SQL for one of the systems; errors become exit codes.

    yiku-compat sql s1 "select …"     run a document's select statement on its tables
    yiku-compat migrate s1 OLD        bring an old home in
    yiku-compat export s1 FOLDER      write a home back in a document's form
    yiku-compat ms …                  the commands of a document that has its own
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from yiku import Memory, YikuError
from yiku_compat.packages import COMMANDS, PACKAGES, documents, part

FAILED = 1
NOBODY_READS = 141  # the exit code of a program whose output was closed, as the shell counts it


def run(arguments: Sequence[str]) -> int:
    """Run a command line; return the exit code."""
    try:
        code = _run(arguments)
        print(end="", flush=True)
    except YikuError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # the reader has had enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # where the interpreter flushes the rest to
        return NOBODY_READS
    return code


def _run(arguments: Sequence[str]) -> int:
    given = arguments[0] if arguments else ""
    if given in COMMANDS:
        own = part(COMMANDS[given], "command")
        return FAILED if own is None else int(own.main(arguments[1:]))
    parsed = _parser().parse_args(arguments)
    return int(parsed.function(parsed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="yiku-compat", description="Other memory systems' own names over one Yiku home.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    migrate = commands.add_parser("migrate", help="bring an old home in; the original is not touched")
    migrate.add_argument("document", choices=documents("migration"), help="whose home it is")
    migrate.add_argument("old", type=Path, help="the old database or folder")
    migrate.set_defaults(function=_migrate)
    export = commands.add_parser("export", help="write a home back in a document's form, to a new folder")
    export.add_argument("document", choices=documents("export"), help="whose form")
    export.add_argument("folder", type=Path, help="the new folder")
    export.set_defaults(function=_export)
    select = commands.add_parser("sql", help="run a document's select statement on its tables")
    select.add_argument("document", choices=documents("views"), help="whose tables")
    select.add_argument("statement", metavar="SQL", help="one select statement")
    select.set_defaults(function=_sql)
    for command in (migrate, export, select):
        command.add_argument("--home", help="the Yiku home [default: YIKU_HOME or ~/.yiku]")
        command.add_argument("--scope", help="the scope [default: the owner's; `migrate s1`: each memory's own]")
    return parser


def _sql(given: argparse.Namespace) -> int:
    package = part(PACKAGES[given.document], "views")
    assert package is not None
    with Memory(given.home, scope=given.scope, create=False) as memory:
        found = memory.admin.sql(given.statement, views=package.VIEWS[given.document])
    print(*found.columns, sep="\t")
    for row in found.rows:
        print(*("" if cell is None else cell for cell in row), sep="\t")
    if found.truncated:
        print(f"there are more than {len(found.rows)} rows", file=sys.stderr)
    return 0


def _migrate(given: argparse.Namespace) -> int:
    package = part(PACKAGES[given.document], "migration")
    assert package is not None
    with Memory(given.home, scope=given.scope) as memory:  # makes the home where there is none
        home = memory.settings.home
    print(json.dumps(asdict(package.migrate(given.old, home, scope=given.scope)), ensure_ascii=False))
    return 0


def _export(given: argparse.Namespace) -> int:
    package = part(PACKAGES[given.document], "export")
    assert package is not None
    with Memory(given.home, scope=given.scope, create=False) as memory:
        print(json.dumps(package.export(memory, given.folder), ensure_ascii=False))
    return 0
