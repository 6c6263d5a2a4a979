"""
Dispatch, errors to messages and exit codes.

Only the module of the verb that was asked for is loaded. Whatever goes wrong is told once, here: to a
person on stderr, with --json as an object on stdout.
"""

from __future__ import annotations

import importlib
import os
import sys
import typing
from collections.abc import Iterator, MutableMapping, Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from yiku import __version__
from yiku.errors import InvalidInput, YikuError
from yiku.interfaces.cli import call, streams
from yiku.interfaces.cli.verbs import TABLE, VERBS

USAGE, INTERRUPTED = 2, 130
# What typer raises for arguments it cannot read; before 0.28 it has no public name.
Misread: type[Any] = next(kind for kind in reversed(typer.BadParameter.__mro__) if hasattr(kind, "format_message"))


def _function(verb: str) -> Any:
    module = importlib.import_module(f"yiku.interfaces.cli.{VERBS[verb]}")
    name = verb.replace("-", "_")
    return getattr(module, name, None) or getattr(module, f"{name}_")  # import_, list_


class _Lazy(MutableMapping[str, Any]):
    """Commands by verb, each created on first use."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, verb: str) -> Any:
        if verb not in VERBS:
            raise KeyError(verb)
        if verb not in self._made:
            self._made[verb] = call.command(verb, _function(verb))
        return self._made[verb]

    def __setitem__(self, verb: str, command: Any) -> None:
        self._made[verb] = command

    def __delitem__(self, verb: str) -> None:
        del self._made[verb]

    def __iter__(self) -> Iterator[str]:
        return iter(VERBS)

    def __len__(self) -> int:
        return len(VERBS)


class Verbs(TyperGroup):
    """The command group, listed under headings."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Lazy()

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, without loading the commands."""
        return [*VERBS]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command; another tool's name for it is an error that names ours."""
        if args and args[0] not in VERBS:
            from yiku.other_names import on_the_command_line

            if hint := on_the_command_line(args[0], VERBS):
                ctx.fail(f"No such command '{args[0]}'; {hint}.")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the lists of `yiku --help` from the docstrings' first lines."""
        for heading, verbs in TABLE.items():
            with formatter.section(heading):
                formatter.write_dl([(verb.ljust(14), (_function(verb).__doc__ or "").strip().partition("\n")[0]) for verb in verbs])


def _root(
    *,
    ctx: typer.Context,
    home: call.Home = None,
    scope: call.Scope = None,
    json: call.Json = False,
    quiet: call.Quiet = False,
    version: bool = typer.Option(False, "--version", is_eager=True, help="Print the version."),
) -> None:
    """
    Yiku (忆库), a memory for AI agents: keeps what was said, and finds it again with its source.

    \b
    yiku remember "I live in Oslo."     yiku recall "where do I live?"
    yiku remember 我喜欢喝绿茶。        yiku recall 我喜欢喝什么？

    New here? Run `yiku demo`. `yiku VERB --help` describes one verb. Options may come before or after
    the verb, `-` reads a text from stdin, and the last 8 characters of an id are enough.
    """
    if version:
        _function("version")(call.Call("version", json=json))
        raise typer.Exit
    ctx.obj = {"home": home, "scope": scope, "json": json, "quiet": quiet}


def main(arguments: Sequence[str]) -> int:
    """Run a command line; return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a narrow terminal is no reason to fail
    try:
        with streams.answering():  # what was printed past `Call.answer`: help, an export
            return _run_command(arguments)
    except streams.AnswerLost as lost:
        return _report_lost_answer(lost)


def _run_command(arguments: Sequence[str]) -> int:
    app = typer.Typer(
        cls=Verbs,
        add_completion=False,
        rich_markup_mode=None,
        context_settings=call.HELP,
    )
    app.callback(invoke_without_command=True)(_root)
    if call.COMPLETING in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()
    try:
        command = call.light(typer.main.get_command(app), typing.get_type_hints(_root, include_extras=True))
        code = command(arguments or ["--help"], prog_name="yiku", standalone_mode=False)
        if code == INTERRUPTED:  # typer turns the signal into its code, and says nothing
            raise KeyboardInterrupt
    except streams.AnswerLost:
        raise
    except YikuError as error:
        return _report(arguments, type(error).__name__, error.detail, _advice(arguments, error), _code(error))
    except Misread as error:
        return _report(arguments, "Usage", error.format_message(), _help_for(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _report(arguments, "Interrupted", "interrupted", "What was confirmed is stored.", INTERRUPTED)
    except OSError as error:
        return _report(arguments, "OSError", f"{error.filename or ''}: {error.strerror or error}".strip(": "), "", call.CANNOT)
    except Exception as error:
        import logging  # 15 ms that only a failure needs

        logging.getLogger("yiku").exception("an error inside Yiku %s; please report it with these lines", __version__)
        return _report(arguments, "Internal", f"{type(error).__name__}: {error}", "This is an error in Yiku.", call.CANNOT)
    return code if isinstance(code, int) else 0


def _report_lost_answer(lost: streams.AnswerLost) -> int:
    """Report that the answer could not be written."""
    if isinstance(lost, streams.NobodyReads):
        return call.NOBODY_READS
    streams.say(f"yiku: the answer could not be written to stdout: {lost}.")
    return call.CANNOT


def _code(error: YikuError) -> int:
    return USAGE if isinstance(error, InvalidInput) else call.CANNOT


def _advice(arguments: Sequence[str], error: YikuError) -> str:
    """Return what to do; for a wrong value that has no advice of its own, where the right ones are listed."""
    verb, _ = _verb_and_json(arguments)
    return error.advice if type(error) is not InvalidInput or verb is None else _shows_help(f"yiku {verb}")


def _help_for(error: Any) -> str:
    path = getattr(getattr(error, "ctx", None), "command_path", "yiku")
    return "`yiku --help` lists the commands." if path == "yiku" else _shows_help(path)


def _shows_help(command: str) -> str:
    return f"`{command} --help` shows what it takes."


def _report(arguments: Sequence[str], type_: str, message: str, advice: str, code: int) -> int:
    """Print what went wrong and what to do."""
    verb, as_json = _verb_and_json(arguments)
    if as_json:
        try:
            with streams.answering():
                call.print_json(verb or "", {"error": {"type": type_, "message": message or advice, "advice": advice}})
            return code
        except streams.AnswerLost:  # then it is told on stderr
            pass
    from yiku.interfaces.cli import terminal

    limit = (terminal.told_width() or terminal.WIDEST) - 6
    lines = [line for text in (message, advice) if text for line in terminal.wrap(text, limit)]
    for index, line in enumerate(lines):
        streams.say(terminal.printable(f"yiku: {line}" if index == 0 else f"      {line}"))
    return code


def _verb_and_json(arguments: Sequence[str]) -> tuple[str | None, bool]:
    """Return the verb and whether JSON is wanted, from a possibly invalid command line."""
    ours = [*arguments[: arguments.index("--")]] if "--" in arguments else [*arguments]
    verb = next((word for word in ours if word in VERBS), None)
    return verb, "--json" in ours
