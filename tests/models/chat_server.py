"""
A scripted chat model behind the HTTP server of models/server.py, and a memory that uses it.

What is asked for shows in the schema that goes along: things worth keeping of a piece of a conversation ("extract"), or
the story of an episode ("episode"). When nothing is left to say, nothing is worth keeping, and a story is a plain one.
"""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from models.server import Answer, Server, says

from yiku import Memory

USAGE = {"prompt_tokens": 400, "completion_tokens": 50}


def item(content: str, evidence: str | None = None, **more: Any) -> dict[str, Any]:
    """One thing that the model finds worth keeping; by default its words are those of the turn."""
    return {"type": "fact", "content": content, "evidence": content if evidence is None else evidence, **more}


def finds(*items: Mapping[str, Any]) -> Answer:
    """A reply with these things."""
    return says(json.dumps({"items": items}, ensure_ascii=False), usage=USAGE)


def story(summary: str = "A short talk.", outcome: str = "success", **more: Any) -> Answer:
    """A reply that tells an episode."""
    return says(json.dumps({"summary": summary, "outcome": outcome, **more}, ensure_ascii=False), usage=USAGE)


def purpose(asked: Mapping[str, Any]) -> str:
    """What the model was asked for: extract or episode."""
    schema = json.dumps(asked["response_format"])
    return "extract" if '"evidence"' in schema else "episode"


def shown(asked: Mapping[str, Any]) -> str:
    """What the model was shown of the conversation."""
    return asked["messages"][1]["content"]


def says_in_turn(server: Server, *, extract: Iterable[Answer] = (), episode: Iterable[Answer] = ()) -> None:
    """What the server answers from now on, each in its order."""
    left = {"extract": [*extract], "episode": [*episode]}
    otherwise = {"extract": says("NONE"), "episode": story()}

    def answer(asked: Mapping[str, Any]) -> Answer:
        wanted = purpose(asked)
        return left[wanted].pop(0) if left[wanted] else otherwise[wanted]

    server.always = answer


@contextmanager
def reading(blank: Path, home: Path, server: Server, **settings: Any) -> Iterator[Memory]:
    """A memory of Mei's that asks the model of this server."""
    if not home.exists():
        shutil.copytree(blank, home)
    settings = {"owner": "user:mei", "names": ["Mei"], "chat_url": server.url, "chat_model": "scripted", **settings}
    with Memory(home, **settings) as memory:
        yield memory
