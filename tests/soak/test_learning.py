"""R30: learning, compressing and ending sessions, failing and killed at each operation and at random moments."""

import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from faults.test_learning import FLOWS, completed, failed_flows, killed_flows, model_reply, opened, prepared, wanted
from models.server import Answer, serving
from workers import READY

MOST_S = 0.6  # until a kill; the flows take about as long
SLOW_S = 0.05  # of the model, so that a kill meets it as well


@pytest.fixture
def each(seed: int, count: Callable[..., int]) -> Callable[..., Callable[[Any], list[Any]]]:
    """`each(40, 1, "kills")`: of all operations each fortieth, or in the long run each, beginning anywhere."""

    def chosen(short: int, long: int, what: str) -> Callable[[Any], list[Any]]:
        step = count(short, long, f"operations from one to the next of the {what}")
        return lambda every: [*every][seed % step :: step]

    return chosen


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("learning") / "home"
    prepared(home)
    return home


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # SQLite may fail again while it cleans up
@pytest.mark.parametrize("name", FLOWS)
def test_R30_what_a_failing_disk_cut_short_is_done_by_the_next_call(tmp_path, template, name, each, figure):
    """Each operation fails, full and broken."""
    with serving() as model:
        model.always = model_reply
        figure(f"operations of {name}", failed_flows(tmp_path, template, model.url, name, each(80, 1, "failures")))


@pytest.mark.parametrize("name", FLOWS)
def test_R30_what_a_kill_cut_short_is_done_by_the_next_call(tmp_path, template, name, each, figure):
    """Killed before each operation."""
    with serving() as model:
        model.always = model_reply
        figure(f"operations of {name}", killed_flows(tmp_path, template, model.url, name, each(40, 1, "kills")))


def test_R30_killed_at_any_moment_again_and_again_all_of_it_is_learned_once(tmp_path, template, seed, count, figure):
    """A process that learns, compresses and ends is killed at random moments of one home; then all is as if it never had been."""
    chance, lives = random.Random(seed), 0
    with serving() as model:

        def slowly(asked: dict[str, Any]) -> Answer:
            answer = model_reply(asked)
            answer.delay_s = SLOW_S
            return answer

        model.always = slowly
        for name in FLOWS:
            whole = wanted(template, name, model.url)
            for i in range(count(4, 60, f"homes, {name}")):
                home = Path(shutil.copytree(template, tmp_path / f"{name}{i}"))
                for _ in range(chance.randrange(1, 5)):
                    process = READY.Process(target=_go_on, args=(home, model.url, name))
                    process.start()
                    time.sleep(chance.uniform(0, MOST_S))
                    process.kill()
                    process.join()
                    lives += 1
                assert whole == completed(home, name, model.url)
                shutil.rmtree(home)
    figure("kills", lives, least=12)


def _go_on(home: Path, url: str, name: str) -> None:
    with opened(home, url) as memory:
        FLOWS[name](memory)
