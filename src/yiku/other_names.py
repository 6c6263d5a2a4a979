"""
Advice for unknown method and command names: Yiku's name for that of another library, or the closest match.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# Their names, our verb, and what is to be said besides. docs/from/other-libraries.md goes through them library by library.
_TABLE = (
    ("search query retrieve find search_memory search_memories search_nodes asearch similarity_search", "recall", ""),
    (
        "add save store put insert add_memory create retain add_texts",
        "remember",
        "`record` keeps what was said, word for word",
    ),
    ("add_messages add_message add_items append aput", "record", ""),
    ("delete remove delete_memory drop adelete", "forget", "`erase` takes it from every copy, for good"),
    ("delete_all clear reset clear_session delete_session pop_item", "forget", "by id, session or time; `erase` is for good"),
    ("list get_memories all list_memories read_graph open_nodes", "get_all", ""),
    ("edit replace upsert put_memory modify", "update", "`remember` with a known external_id updates, too"),
    ("get_items get_messages load_memory_variables chat_history", "sessions.messages", ""),
    ("get_relations relations create_relations", "related", "`remember(…, relations=…)` states them"),
    ("users namespaces list_namespaces scopes", "scope", "a memory is opened for one: Memory(scope=…)"),
    ("prompt build_context get_context", "context", ""),
    ("process extract consolidate infer", "learn", ""),
    ("changes log audit", "admin.journal", ""),
)
OTHER_NAMES = {name: (verb, more) for names, verb, more in _TABLE for name in names.split()}
# On the command line verbs are words of their own.
COMMANDS = {"get_all": "list", "sessions.messages": "messages", "related": "list", "admin.journal": "journal"}


def in_python(name: str, verbs: Iterable[str]) -> str | None:
    """Return advice for an unknown method name, or None; `verbs` are the existing ones."""
    if name in OTHER_NAMES:
        verb, more = OTHER_NAMES[name]
        return f"here it is `{verb}`{f'; {more}' if more else ''}"
    known = {verb.rpartition(".")[2]: verb for verb in verbs}
    if name in known:
        return f"it is `{known[name]}`"
    near = difflib.get_close_matches(name, known, 1)
    return f"did you mean `{known[near[0]]}`?" if near else None


def on_the_command_line(name: str, verbs: Iterable[str]) -> str | None:
    """Return advice for an unknown command name, or None."""
    verb, more = OTHER_NAMES.get(name.replace("-", "_"), ("", ""))
    verb = COMMANDS.get(verb, verb)
    if verb in {*verbs}:
        return f"here it is `yiku {verb}`{f'; {more}' if more else ''}".replace("`erase`", "`yiku erase`").replace(
            "`record`", "`yiku record`"
        )
    return None
