"""
Fork server for commands: a process with all of Yiku imported and nothing open, whose children become `yiku`.

The child takes over what makes a process its own (streams, arguments, environment, folder, umask) and runs the
real entry. Of the server it keeps what was imported, and nothing else: no descriptor, no handler of a signal.
"""

import atexit
import contextlib
import gc
import importlib
import marshal
import os
import pkgutil
import select
import signal
import socket
import sys
import threading
import time
from datetime import UTC, datetime
from typing import NoReturn

from client import NUMBER

CONTROL = 0  # our stdin: whoever started us holds the other end, and when he is gone, we go
LATE = "apsw.ext apsw.sqlite_extra csv logging numpy pydantic rich.console rich.progress rich.table typer._adapters zipfile".split()
SAID = [  # so that most of the patterns are compiled, which wait for the first text that needs them
    "I live in Oslo. Actually, I moved to Rome last week, because I like tea; maybe I'll stay. My sister Ann works at Acme.",
    "Please always write tests first. Just kidding.",
    "我住在奥斯陆。其实我上周搬到了罗马，因为我喜欢喝茶，可能会住下。我的妹妹小安在工厂工作，对花生过敏。",
    "以后请都先写测试。开玩笑的。",
]


def load() -> None:
    """Import everything, what a verb imports late too, and prepare what reads a statement, a command line and a page."""
    import yiku
    from yiku.interfaces.cli import app
    from yiku.rules.deciding import retract, slots
    from yiku.rules.finding import ask
    from yiku.rules.learning.drafts import drafts
    from yiku.rules.sessions import tasks
    from yiku.store import pages

    for name in [*(module.name for module in pkgutil.walk_packages(yiku.__path__, "yiku.")), *LATE]:
        with contextlib.suppress(Exception):  # the command that needs it says so
            importlib.import_module(name)
    for text in SAID:
        slots.read(text)
        retract.marker(text)
        ask.analyse(text)
        drafts(text, said_at=datetime(2026, 3, 2, tzinfo=UTC))
        tasks.task(text)
    pages.enabled()
    with open(os.devnull, "w") as nobody, contextlib.redirect_stdout(nobody), contextlib.redirect_stderr(nobody):
        app.main(["status", "--home", os.devnull])  # which is no home
    gc.collect()
    gc.freeze()


def serve(address: str) -> None:
    """Take commands until whoever started us has gone."""
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # it wakes us, that is all
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run of the tests, which ends us
    children: dict[int, socket.socket] = {}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        os.write(1, b"ready\n")
        while CONTROL not in (ready := select.select([CONTROL, woken, listener], [], [])[0]):
            if woken in ready:
                os.read(woken, 4_096)
                reap(children)
            if listener in ready:
                connection, _ = listener.accept()
                if not (pid := os.fork()):
                    for end in (woken, wake, listener.fileno(), *(other.fileno() for other in children.values())):
                        os.close(end)
                    become(connection)
                children[pid] = connection
                tell(connection, pid)
    for pid in children:
        os.kill(pid, signal.SIGKILL)


def reap(children: dict[int, socket.socket]) -> None:
    """Tell of each command that has ended how it did."""
    for pid in [*children]:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with children.pop(pid) as connection:
                tell(connection, os.waitstatus_to_exitcode(status))


def tell(connection: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # nobody waits for it any more
        connection.sendall(number.to_bytes(NUMBER, "big", signed=True))


# ------------------------------------------------------------------ the child


def become(connection: socket.socket) -> NoReturn:
    """Be the process that was asked for, to its end."""
    code = os.EX_SOFTWARE
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        code = ended(take_over(connection))
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)  # to take an interpreter apart takes longer than a short command


def take_over(connection: socket.socket) -> str | None:
    """Read what was asked for and put it in the place of what is ours; the program to be run instead of Yiku, if any."""
    with connection:
        length, streams, _, _ = socket.recv_fds(connection, NUMBER, 3)
        text = connection.recv(int.from_bytes(length, "big"), socket.MSG_WAITALL)
    arguments, environment, folder, umask, program = marshal.loads(text)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environb.clear()
    os.environb.update(environment)
    os.chdir(folder)
    os.umask(umask)
    time.tzset()
    sys.argv = [*map(os.fsdecode, arguments)]
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
    return program


def ended(program: str | None) -> int:
    """Run it as an interpreter runs a program, and end as an interpreter does; the exit code."""
    from yiku.__main__ import main

    code = 0
    try:
        if program is None:
            main()
        else:
            exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
    except SystemExit as asked:
        code = asked.code if isinstance(asked.code, int) else int(asked.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except OSError:
        code = 120
    return code


if __name__ == "__main__":
    load()
    serve(sys.argv[1])
