"""The fork lock: a forked child never waits for a thread of its parent."""

import os
import signal

import numpy as np
import pytest

from yiku.errors import ModelUnavailable
from yiku.models import prepare
from yiku.models.cached import Cached
from yiku.models.e5 import LocalE5
from yiku.models.embed import ApiEmbedder
from yiku.models.endpoint import Endpoint
from yiku.models.fork_lock import Guarded


class One:
    """An embedder with one vector for everything."""

    space = "one"

    def embed(self, texts, role):
        return np.ones((len(texts), 1), np.float32)

    def close(self) -> None: ...


def asked(model: Guarded) -> None:
    """Take the way through the model's lock."""
    match model:
        case ApiEmbedder():
            model._vectors(b'{"data": [{"embedding": [1, 0]}]}', 1)
        case LocalE5():
            with pytest.raises(ModelUnavailable):
                model.embed(["在哪里?"], "query")
        case _:
            model.embed(["在哪里?"], "query")


@pytest.mark.parametrize("name", ["cached", "local", "endpoint"])
def test_a_child_does_not_wait_for_a_lock_that_its_parent_holds(tmp_path, monkeypatch, name):
    """Forked while a model is loaded or asked: the child asks at once, and so does the parent afterwards."""
    monkeypatch.setattr(prepare, "installed", lambda: None)
    models = {
        "cached": lambda: Cached(One()),
        "local": lambda: LocalE5(folder=tmp_path),
        "endpoint": lambda: ApiEmbedder(Endpoint(url="http://127.0.0.1:9", model="m")),
    }
    model = models[name]()
    with model._lock:
        child = os.fork()
        if not child:
            try:
                signal.alarm(10)
                asked(model)
                os._exit(0)
            finally:
                os._exit(1)
    assert (child, 0) == os.waitpid(child, 0)
    asked(model)
