"""
The hook: append an agent's event to the inbox and print memories for its prompt, in milliseconds, never failing the agent.

    yiku hook prompt --agent claude-code < event.json

Whatever happens, the exit code is 0; what went wrong is one line on stderr. To capture, the database is not opened: it may be
locked, damaged or gone. A later `yiku ingest`, `yiku learn` or a running server records what the inbox holds.

Stdout stays empty, but for a prompt and the start of a session: then a process that stays is asked what memory has for it, over a
socket in the home (serve.py); where none runs, the hook looks by itself.

Nothing is appended while memory is paused, or for a folder that is switched off. Parts between <private>…</private> are cut out
first: only then more than the standard library is loaded.
"""

from __future__ import annotations

import os
import sys
import time

from yiku.files import inbox_append

EVENTS = ("prompt", "delegate", "reply", "tool", "compress", "compressed", "start", "end")
SWITCH = ".yiku-off"  # in a folder, as flows.common.pause has it
PAUSED = "paused"  # in the home, likewise
PRIVATE = ("private", "私密", "ｐｒｉｖａｔｅ", "\\u79c1\\u5bc6", "\\uff50\\uff52\\uff49")  # names of tags, as JSON may have them
OPENS = ("<", "＜", "﹤", "lt", "60", "3c", "ff1c", "fe64")  # how a tag begins, escaped or not
ESCAPED = (b"\\u0063", b"\\u0077", b"\\u0064")  # letters of `cwd`, as a name in JSON may have them
BEFORE_NAME_CHARS = 16  # in which a tag begins
ASKING = ("start", "prompt", "compress")  # the events that a process that stays is told of; the first two may get an answer
SOCKET, LOCK = "locks/hooks.sock", "locks/hooks.lock"  # in the home
ADDRESS_BYTES = 100  # of a socket's path; the system takes some 104
ASK_S = 1.5  # that a process that stays may take; on a busy machine to look by itself would take longer
BUSY_S = 0.2  # that the hook waits for others who write, when it looks by itself
USAGE = f"yiku hook {{{'|'.join(EVENTS)}}} [--agent NAME] [--home FOLDER] [--scope NAME] < event.json"


def main(arguments: list[str]) -> None:
    """Run the hook and end the process."""
    try:
        hook(arguments, sys.stdin.buffer.read() if sys.stdin is not None else b"")
    except BaseException as error:
        report_failure(f"not captured: {type(error).__name__}: {error}")
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)  # an exit code of 2 would stop the agent; and what Python tidies up takes as long as the hook


def hook(arguments: list[str], payload: bytes) -> None:
    """Capture one event. Raises OSError, ValueError."""
    event, options = parse(arguments)
    home = home_of(options)
    if is_switched_off(home, payload):
        return
    scope = options.get("scope") or os.environ.get("YIKU_SCOPE") or None
    if not is_paused(home):
        payload = without_private(payload)
        try:
            inbox_append.append(home, payload, hook=event, agent=options.get("agent") or "agent", scope=scope)
        except OSError as error:
            report_failure(f"not captured: {error}")
    if event in ASKING:
        sys.stdout.write(brought_in(home, event, payload, scope))


def report_failure(text: str) -> None:
    """Say on stderr what went wrong, where there is one."""
    try:  # noqa: SIM105  (contextlib takes longer to load than this takes)
        os.write(2, f"yiku hook: {text}\n".encode(errors="backslashreplace"))
    except OSError:
        pass


def parse(arguments: list[str]) -> tuple[str, dict[str, str]]:
    """Return the event and the options. Raises ValueError."""
    options: dict[str, str] = {}
    words = list(arguments)
    event = words.pop(0) if words else ""
    while words:
        name, equals, value = words.pop(0).partition("=")
        if name not in ("--agent", "--home", "--scope") or not (equals or words):
            raise ValueError(USAGE)
        options[name[2:]] = value if equals else words.pop(0)
    if event not in EVENTS:
        raise ValueError(USAGE)
    return event, options


def home_of(options: dict[str, str]) -> str:
    """Return the home: --home, YIKU_HOME, ~/.yiku."""
    return os.path.abspath(os.path.expanduser(options.get("home") or os.environ.get("YIKU_HOME") or "~/.yiku"))


# ------------------------------------------------------------------ what is brought in


def brought_in(home: str, event: str, payload: bytes, scope: str | None) -> str:
    """Return what is printed for an event; nothing where it cannot be found out."""
    answer = ask(home, event, payload, scope)
    if answer is None and event != "compress":
        try:
            answer = look(home, event, payload, scope)
        except Exception as error:
            report_failure(f"no memories: {type(error).__name__}: {error}")
    return answer or ""


def ask(home: str, event: str, payload: bytes, scope: str | None) -> str | None:
    """Ask a process that stays what belongs into the prompt; None where none answers for this scope."""
    import _socket  # what `socket` adds takes longer to load than the answer takes

    try:
        folder = os.open(f"{home}/locks", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
    asking = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        asking.settimeout(ASK_S)
        asking.connect(socket_address(home, folder, os.path.basename(SOCKET)))
        asking.sendall(f"{event} {len(payload)} {scope or ''}\n".encode() + payload)
        pieces = []
        while piece := asking.recv(1 << 16):
            pieces.append(piece)
    except OSError:  # there is none, or it died, or it is busy
        return None
    finally:
        asking.close()
        os.close(folder)
    text = b"".join(pieces).decode("utf-8", "replace")
    return text[1:] if text.startswith("+") else None


def socket_address(home: str, folder: int, name: str) -> str:
    """The address of a socket in the folder of locks; through its descriptor where the path is too long for one."""
    path = f"{home}/locks/{name}"
    return path if len(os.fsencode(path)) <= ADDRESS_BYTES else f"/proc/self/fd/{folder}/{name}"


def look(home: str, event: str, payload: bytes, scope: str | None) -> str:
    """Look by itself what belongs into the prompt: loads Yiku."""
    if not os.path.exists(f"{home}/yiku.db"):
        return ""
    import gc

    gc.disable()  # the process ends with the answer
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy would start a thread for each core first
    load_packages()
    from yiku.interfaces.hooks import recalled
    from yiku.memory import Memory

    with Memory(home, scope=scope, create=False, busy_timeout_s=BUSY_S) as memory:
        return recalled.text(memory, event, payload)


# ------------------------------------------------------------------ what is kept out


def is_paused(home: str) -> bool:
    """Tell whether memory is paused; a pause file that cannot be read counts as one."""
    try:
        with open(f"{home}/{PAUSED}", encoding="ascii") as file:
            text = file.read(100).strip()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
    if not text:
        return True
    from datetime import UTC, datetime

    try:
        end = datetime.fromisoformat(text)
    except ValueError:
        return True
    return time.time() < (end if end.tzinfo else end.replace(tzinfo=UTC)).timestamp()


def is_switched_off(home: str, payload: bytes) -> bool:
    """Tell whether the agent works in a folder that is kept out: by `.yiku-off`, or by the setting `private_folders`."""
    folders = _private_folders(home)
    for path in map(os.path.realpath, {os.getcwd(), *_folders_in(payload)}):
        above = path
        while True:
            if os.path.lexists(os.path.join(above, SWITCH)) or above in folders:
                return True
            if above == (above := os.path.dirname(above)):
                break
    return False


def _private_folders(home: str) -> set[str]:
    given: list[str] = []
    if named := os.environ.get("YIKU_PRIVATE_FOLDERS"):
        given = [part.strip() for part in named.split(",") if part.strip()]
    else:
        try:
            with open(f"{home}/yiku.toml", "rb") as file:
                text = file.read(1 << 20)
        except OSError:
            return set()
        if b"private_folders" in text:
            import tomllib

            found = tomllib.loads(text.decode("utf-8-sig")).get("private_folders", [])
            given = [found] if isinstance(found, str) else [item for item in found if isinstance(item, str)]
    return {os.path.realpath(os.path.expanduser(folder)) for folder in given}


def _folders_in(payload: bytes) -> list[str]:
    """The folder that an event names; JSON, which takes long to load, is only read where the bytes leave a doubt."""
    before, key, rest = payload.partition(b'"cwd"')
    escaped = any(sign in payload for sign in ESCAPED)
    if not key and not escaped:
        return []
    colon, _, rest = rest.partition(b'"')
    plain, _, rest = rest.partition(b'"')
    folder: object = os.fsdecode(plain)
    own = before.startswith(b"{") and before.count(b"{") == 1 and not before.endswith(b"\\")
    if escaped or not own or colon.strip() != b":" or b"\\" in plain or key in rest:
        import json

        from yiku.files.inbox import shallow

        try:
            event = json.loads(shallow(payload.decode("utf-8-sig", "surrogateescape")))
        except (ValueError, RecursionError):
            return []
        folder = event.get("cwd") if isinstance(event, dict) else None
    if not isinstance(folder, str) or not folder.startswith("/") or "\0" in folder:
        return []
    try:
        os.fsencode(folder)
    except ValueError:  # half an emoji: no folder has such a name
        return []
    return [folder]


def may_hold_private(text: str) -> bool:
    """Tell whether a text may hold a tag of a private part: its name, close behind something that opens a tag."""
    lowered = text.lower()
    for name in PRIVATE:
        at = lowered.find(name)
        while at >= 0:
            before = lowered[max(0, at - BEFORE_NAME_CHARS) : at]
            if any(sign in before for sign in OPENS):
                return True
            at = lowered.find(name, at + 1)
    return False


def without_private(payload: bytes) -> bytes:
    """
    Return the event without its private parts.

    Names of tags with invisible signs in them are not seen here; those are cut out when the event is recorded.
    """
    text = payload.decode("utf-8", "replace")
    if not may_hold_private(text):
        return payload
    import json

    load_packages()
    from yiku.files.inbox import shallow
    from yiku.rules.privacy import private

    def clean(value: object) -> object:
        if isinstance(value, str):
            return private.without(value)
        if isinstance(value, list):
            return [clean(item) for item in value]
        return {clean(key): clean(item) for key, item in value.items()} if isinstance(value, dict) else value

    try:
        return json.dumps(clean(json.loads(shallow(text))), ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):  # no JSON: the text as a whole
        return private.without(text).encode("utf-8", "replace")


def load_packages() -> None:
    """Make installed packages importable where Python was started without `site`."""
    if sys.flags.no_site and "site" not in sys.modules:
        import site

        site.main()
