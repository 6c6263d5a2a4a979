"""
The command line: `yiku VERB …`, for people and for scripts.

    app          command table, dispatch, errors to exit codes    call      global options, opening a home, answering
    terminal     widths, colour, tables, times                    json_output  the same as JSON
    keep         record, remember, update, forget, undo …         find      recall, context, list, history …
    home         status, config, journal …                        import_   import
    backup       backup, backups, restore-backup, export          repair    check, repair
    streams      stdin, stdout and stderr, including closed and full ones
    demo         a conversation that is recorded and asked about; its material is in demo/

Data goes to stdout, everything else to stderr. With --json a verb prints one object: {"yiku": 1, "verb": …}.
Exit codes: 0 done, 1 could not be done, 2 asked wrongly, 74 done but the answer could not be written,
130 interrupted, 141 nobody read the answer.

A verb starts in a fraction of what it would cost to import all there is: only its own module is loaded,
the database when a home is opened, rich when there is something to align or to watch.
"""

import gc
import os
import sys

from yiku.interfaces.cli import streams


def run() -> None:
    """Run the command line of this process, and exit."""
    streams.ensure()
    if sys.argv[1:] == ["--version"]:  # asked by scripts and editors on every start: nothing else is loaded
        from yiku import __version__

        try:
            with streams.answering():
                print(f"yiku {__version__}")
        except streams.AnswerLost as lost:
            streams.say(f"yiku: the answer could not be written: {lost}")
            sys.exit(1)
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy then starts without a pool of threads: 40 ms less
    gc.set_threshold(100_000)  # loading modules makes no garbage, and looking for it there took 30 ms
    from yiku.interfaces.cli.app import main

    code = main(sys.argv[1:])
    gc.freeze()  # nor is it looked for at exit: another 30 ms
    sys.exit(code)
