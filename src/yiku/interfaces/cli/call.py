"""
`Call`, one run of a command: global options, opening the memory, input, output, backup; builds the Typer commands.

A verb is a function whose first argument is a Call. `command` makes a typer command of it and adds the
global options, so that they are accepted behind the verb as well as before it.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json as _json
import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer

from yiku.errors import InvalidInput, KeptOut, StoreError, TooLarge, YikuError
from yiku.interfaces.cli import streams
from yiku.interfaces.cli.verbs import VERBS

if TYPE_CHECKING:
    from yiku.memory import Memory
    from yiku.types import SettingsArguments

HELP: dict[str, Any] = {"help_option_names": ["--help", "-h"], "max_content_width": 100}
COMPLETING = "_YIKU_COMPLETE"  # set by a shell that asks what may stand next
CANNOT = 1  # the exit code when it could not be done
SHAPE = 1  # of the JSON; it changes only when a name or a type in it does
NOBODY_READS = 141  # the exit code of a program whose output was closed, as the shell counts it
UNWRITTEN = 74  # done, but the answer could not be written: EX_IOERR of sysexits.h
STDIN_BYTES = 64 * 1024 * 1024  # what one turn may hold
KEEPING = frozenset(  # verbs after which a backup may be due
    "record remember update edit feedback forget restore undo import ingest learn confirm reject end compress scratchpad attach describe"
    " publish note promote".split()
)
CHANGING = KEEPING | frozenset("erase backup restore-backup export consolidate pause resume embed repair demo compact".split())
_QUOTED = (
    r"""(?<![0-9A-Za-z])(?:'[^'\n]*'|"[^"\n]*")(?![0-9A-Za-z])|“[^”\n]*”|「[^」\n]*」"""  # words of others, in a message of ours
)
_MARK = re.compile(r"\[secret ([a-z0-9-]+) [0-9a-f]{8}\]")

Home = Annotated[str | None, typer.Option("--home", metavar="FOLDER", help="The home to open [default: YIKU_HOME or ~/.yiku].")]
Scope = Annotated[str | None, typer.Option("--scope", metavar="NAME", help="The scope to read and write [default: the owner's].")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on one line.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only answers and errors; a change that succeeds prints nothing.")]
GLOBAL = {"home": (Home, None), "scope": (Scope, None), "json": (Json, False), "quiet": (Quiet, False)}


@dataclass(frozen=True, slots=True)
class Call:
    """One invocation of a command."""

    verb: str
    home: str | None = None
    scope: str | None = None
    json: bool = False
    quiet: bool = False
    changes: bool = False  # what it did is on the disk when it answers

    def memory(self, busy_s: float | None = None) -> Memory:
        """Open the memory; a newly created home is announced. busy_s: how long it waits for others at most."""
        from yiku import settings
        from yiku.memory import Memory

        given: SettingsArguments = {}
        if busy_s is not None:
            given["busy_timeout_s"] = min(busy_s, settings.load(settings.home(self.home), {}).busy_timeout_s)
        memory = Memory(self.home, scope=self.scope, **given)
        if memory.created:
            self.note(f"Made a new home in {memory.settings.home}, owner {memory.settings.owner}.")
        return memory

    def back_up(self) -> None:
        """Make the nightly backup if it is due and quick."""
        from yiku import settings

        if settings.backup_due(settings.home(self.home)):
            from yiku.memory import Memory

            with contextlib.suppress(YikuError), Memory(self.home, scope=self.scope, create=False) as memory:
                memory.admin.backup(nightly=True)

    def take_captured(self, memory: Memory, within_s: float | None = None) -> str:
        """Record what hooks have captured, before a verb that deals with it; where that cannot be done, it waits: why."""
        try:
            memory.admin.ingest(budget_s=within_s)
        except KeptOut:  # which `status` tells
            return ""
        except (StoreError, OSError) as error:
            return error.detail if isinstance(error, StoreError) and error.detail else str(error)
        return ""

    def admit(self, memory: Memory) -> None:
        """Refuse to record in a folder that is switched off."""
        from yiku import settings

        with contextlib.suppress(FileNotFoundError):  # a folder that was removed has no name
            if switch := settings.switched_off(memory.settings, os.getcwd()):
                raise KeptOut(f"{switch} excludes this folder")

    def tell_masked(self, given: object, kept: object) -> None:
        """Tell which secrets were masked in what was stored."""
        before, after = (Counter(_MARK.findall(str(one))) for one in (given, kept))
        if found := sorted((after - before).elements()):
            self.note(f"{len(found)} secret{'s were' if len(found) > 1 else ' was'} masked: {', '.join(found)}")

    def answer(self, data: Mapping[str, Any], lines: Iterable[str], *, refused: bool = False, wanted: bool = False) -> None:
        """
        Print JSON, or lines for people; flushed on return.

        With --quiet a change that succeeded prints no lines, unless they are `wanted`: they were asked for, or tell of trouble.
        Where it cannot be written, who asked for a change is told on stderr what was done, so that they do not ask again.
        """
        from yiku.interfaces.cli import terminal  # which every verb has loaded

        lines = [*lines] if wanted or refused or not (self.quiet and self.changes) else []
        try:
            with streams.answering():
                if self.json:
                    print_json(self.verb, data)
                else:
                    for line in lines:
                        print(terminal.printable(line))
        except streams.NobodyReads:  # the reader has had enough, as `head` has
            raise typer.Exit(NOBODY_READS) from None
        except streams.AnswerLost as lost:
            done = self.changes and not refused
            for line in lines if self.changes else ():
                streams.say(terminal.printable(line))
            advice = "The change above was made; running this again would make it twice." if done else ""
            streams.say(f"yiku: the answer could not be written to stdout: {lost}. {advice}".rstrip())
            raise typer.Exit(UNWRITTEN if done else CANNOT) from None

    def note(self, text: str) -> None:
        """Print a side message to stderr."""
        if not self.quiet:
            from yiku.interfaces.cli import terminal

            for line in terminal.wrap(self.reaching(text), terminal.told_width()):
                streams.say(terminal.printable(line))

    @contextlib.contextmanager
    def show_progress(self) -> Iterator[Callable[[int, int], None]]:
        """Show a progress bar on stderr if it is a terminal."""
        if self.quiet or self.json or not sys.stderr.isatty():
            yield lambda done, total: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

        columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(self.verb, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)

    def command(self, *words: object) -> str:
        """Return a command to paste: it reaches the home and the scope that were given to this one."""
        return self._reach(shlex.join(map(str, words)))

    def reaching(self, text: str) -> str:
        """Return a message with the commands in it as `command` gives them; what it quotes stays as it is."""
        return _commands().sub(lambda found: self._reach(rest) if (rest := found["whole"] or found["begin"]) else found[0], text)

    def _reach(self, words: str) -> str:
        from yiku.interfaces.cli import terminal

        given = [part for name in ("home", "scope") if (value := getattr(self, name)) for part in (f"--{name}", value)]
        return terminal.keep_whole(f"{shlex.join(['yiku', *given])} {words}")

    def hint(self, text: str) -> None:
        """Print a suggestion for the next step."""
        if not self.json:
            self.note(text)


@functools.cache
def _commands() -> re.Pattern[str]:
    """Match what a message quotes, and its commands: whole in backticks, else behind a sign, as far as their options."""
    verb = rf"(?:{'|'.join(VERBS)})(?![\w-])"
    whole = rf"(?<=`)yiku (?P<whole>{verb}[^`\n]*)(?=`)"
    begin = rf"(?:(?<=[:;,] )|(?<=[:;,] or ))yiku (?P<begin>{verb}(?: --[a-z-]+(?: [a-z]+)?)*)"
    return re.compile(f"{_QUOTED}|{whole}|{begin}")


def print_json(verb: str, data: Mapping[str, Any]) -> None:
    """Print one object on one line in UTF-8, with terminal control characters escaped."""
    from yiku.interfaces.cli import terminal

    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="backslashreplace")
    print(terminal.escape_json(_json.dumps({"yiku": SHAPE, "verb": verb, **data}, ensure_ascii=False)), flush=True)


def command(verb: str, function: Callable[..., None]) -> Any:
    """Return the typer command of a verb's function."""
    own = inspect.signature(function, eval_str=True)

    @functools.wraps(function)
    def run_verb(*, ctx: typer.Context, **given: Any) -> None:
        before: Mapping[str, Any] = ctx.obj or {}
        shared: dict[str, Any] = {name: given.pop(name) or before.get(name) or default for name, (_, default) in GLOBAL.items()}
        if (limit := given.get("limit")) is not None and limit < 1:
            raise InvalidInput(f"--limit must be at least 1, not {limit}")
        asked = Call(verb, **shared, changes=verb in CHANGING and not given.get("dry_run"))
        try:
            function(asked, **given)
        except YikuError as error:
            error.detail, error.own_advice = asked.reaching(error.detail), asked.reaching(error.advice)
            raise
        if verb in KEEPING:
            asked.back_up()

    kinds = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("ctx", kinds, annotation=typer.Context),
        *(
            parameter.replace(kind=kinds)
            for parameter in [*own.parameters.values()][1:]
            if parameter.kind is not parameter.VAR_KEYWORD
        ),
        *(inspect.Parameter(name, kinds, default=None, annotation=hint) for name, hint in getattr(function, "more", {}).items()),
        *(inspect.Parameter(name, kinds, default=default, annotation=hint) for name, (hint, default) in GLOBAL.items()),
    ]
    if COMPLETING in os.environ:
        from yiku.interfaces.cli import complete

        parameters = [one.replace(annotation=complete.offering(verb, one.name, one.annotation)) for one in parameters]
    del run_verb.__wrapped__  # else the hints are read from the function behind it
    run_verb.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run_verb.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    app = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=HELP)
    app.command(verb)(run_verb)
    return light(typer.main.get_command(app), run_verb.__annotations__)


def takes(more: Mapping[str, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add these options to a function that takes **details."""

    def add_options(function: Callable[..., None]) -> Callable[..., None]:
        function.more = more  # type: ignore[attr-defined]
        return function

    return add_options


def light(command: Any, hints: Mapping[str, Any]) -> Any:
    """
    Return the command with its plain parameters converted without pydantic.

    Typer converts every value with it, which is 100 ms of each start and does nothing for a text. What is
    missing or cannot be converted still goes typer's way, to fail with its message.
    """
    asks_for_help = command.get_help_option(typer.Context(command, **HELP))
    for parameter in (*command.params, asks_for_help):
        if parameter.metavar is None and not getattr(parameter, "is_flag", False):
            parameter.metavar = _METAVARS.get(_plain(hints.get(parameter.name)))
        convert = bool if parameter is asks_for_help else _CONVERT.get(_plain(hints.get(parameter.name)))
        if convert is not None:
            parameter.process_value = functools.partial(_convert, parameter, convert, parameter.process_value)
    return command


_METAVARS: dict[Any, str] = {str: "TEXT", int: "N", float: "X"}  # what help calls a value
_CONVERT: dict[Any, Callable[[Any], Any]] = {bool: bool, str: str, int: int, float: float, Path: Path, list[str]: list}


def _plain(hint: Any) -> Any:
    """Return a type hint without typer's part and `| None`."""
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    options = [option for option in get_args(hint) if option is not type(None)] if isinstance(hint, UnionType) else [hint]
    return options[0] if len(options) == 1 else None


def _convert(parameter: Any, convert: Callable[[Any], Any], slowly: Callable[..., Any], ctx: Any, value: Any) -> Any:
    if value in (None, ()):  # which of the two is nothing, depends on the version
        return slowly(ctx, value) if parameter.required else None
    if parameter.callback is None:
        with contextlib.suppress(ValueError):
            return convert(value)
    return slowly(ctx, value)


# ------------------------------------------------------------------ what is typed or piped in


def text(given: str, what: str = "text") -> str:
    """Return the text, or stdin for `-`, without a final line feed."""
    if given != "-":
        return given
    try:
        raw = sys.stdin.buffer.read(STDIN_BYTES + 1)
    except OSError as error:
        raise InvalidInput(f"{what} cannot be read from stdin: {streams.reason(error)}") from error
    if len(raw) > STDIN_BYTES:
        raise TooLarge(f"{what} from stdin has over {STDIN_BYTES:,} bytes")
    try:
        return raw.decode("utf-8-sig").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{what} from stdin is not UTF-8 at byte {error.start:,}") from error


def file(given: str, what: str = "text") -> str:
    """Return the text of a file, or stdin for `-`."""
    if given == "-":
        return text(given, what)
    path = Path(given).expanduser()
    if not path.is_file():
        raise InvalidInput(f"{given}: no such file; - reads {what} from stdin")
    if path.stat().st_size > STDIN_BYTES:
        raise TooLarge(f"{given} has over {STDIN_BYTES:,} bytes")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{given} is not UTF-8 at byte {error.start:,}") from error


def parse_json(given: str | None, option: str) -> Any:
    """Parse the JSON of an option; None if it was not given."""
    if given is None:
        return None
    try:
        return _json.loads(given)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{option} is not JSON: {error}") from error
