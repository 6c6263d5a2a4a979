"""
The sign index of a large scope: equal results to its rows, and never used when they have changed.
"""

from pathlib import Path

import numpy as np
import pytest

from yiku.store.vectors import sign_index, similarity
from yiku.store.vectors.file import Vectors
from yiku.types import Vector

SCOPE, SPACE, COUNT, DIMENSIONS = 3, "test tiny", 600, 300  # 300 signs are not whole numbers of 64


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """A matrix is made of a few hundred vectors, and a search measures few of them."""
    monkeypatch.setattr(sign_index, "FROM", 200)
    monkeypatch.setattr(sign_index, "MEASURED", 40)
    monkeypatch.setattr(sign_index, "SAMPLE", 100)


@pytest.fixture
def vectors(tmp_path):
    kept = Vectors(tmp_path / "vectors" / "vectors.db")
    kept.path.parent.mkdir()
    yield kept
    kept.close()


def drawn(count: int, seed: int) -> np.ndarray:
    """Vectors in clusters, in one corner of the space, as a model makes them."""
    chance = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((20, DIMENSIONS))
    values = 2 + centres[chance.integers(0, 20, count)] + chance.standard_normal((count, DIMENSIONS)) / 2
    return (values / np.linalg.norm(values, axis=1, keepdims=True)).astype(np.float32)


def add(vectors: Vectors, count: int, first: int, *, seed: int = 1, windows: int = 1, item="turn") -> None:
    found = [
        Vector(item, first + k // windows, k % windows, bool(k // windows % 2), values)
        for k, values in enumerate(drawn(count, seed))
    ]
    marks = {"turns": 0, "memories": 0, f"{item.replace('memory', 'memorie')}s": found[-1].n}
    assert vectors.add(SCOPE, SPACE, found, is_current=lambda: True, **marks)


def found(vectors: Vectors, question: np.ndarray, **more) -> dict[tuple[bool, int], float]:
    alike = vectors.similar([SCOPE], SPACE, question, is_cjk=False, **more)
    return dict(zip(zip(alike.memories.tolist(), alike.ns.tolist(), strict=True), alike.alike.tolist(), strict=True))


def by_rows(vectors: Vectors, question: np.ndarray) -> dict[tuple[bool, int], float]:
    """What a process finds that reads the rows, with the same idea of what they have in common."""
    path = file(vectors)
    aside = path.rename(path.with_suffix(".aside"))
    other = Vectors(vectors.path)
    found_there = found(other, question)
    other.close()
    aside.rename(path)
    return found_there


def file(vectors: Vectors) -> Path:
    return vectors.path.with_name(f"{SCOPE}-1.matrix")


def test_it_finds_what_the_rows_say(vectors):
    """Of turns and memories with several windows each, the best by signs are measured and come in the order of the rows' own."""
    add(vectors, 2 * COUNT, 1, windows=2)
    add(vectors, 100, 7, seed=2, item="memory")
    question = drawn(1, 9)[0]
    vectors.build_files(SCOPE, SPACE)
    fast = found(vectors, question)
    slow = by_rows(vectors, question)

    assert slow.keys() == fast.keys()
    best = [set(sorted(each, key=each.get, reverse=True)[:10]) for each in (slow, fast)]
    both = sorted(best[0] & best[1])
    assert len(both) >= 8
    assert [slow[key] for key in both] == pytest.approx([fast[key] for key in both], abs=0.05)  # means of all, of the first 1,024
    assert 0.7 < np.corrcoef([slow[key] for key in fast], [*fast.values()])[0, 1]


@pytest.mark.long
def test_a_scope_that_fits_into_the_sample_is_measured_whole(vectors, monkeypatch):
    """Where there are fewer rows than what signs say is learned on, none is guessed."""
    monkeypatch.setattr(sign_index, "SAMPLE", COUNT + 1)
    monkeypatch.setattr(sign_index, "MEASURED", 1)
    add(vectors, COUNT, 1)
    vectors.build_files(SCOPE, SPACE)
    question = drawn(1, 9)[0]

    assert [*exact(vectors, question)] == pytest.approx([found(vectors, question)[False, n] for n in range(1, COUNT + 1)], abs=1e-4)


def test_rows_that_must_be_sure_are_measured(vectors):
    """Far from the question, too, rows that are named get their own value instead of what their signs say on average."""
    add(vectors, COUNT, 1)
    add(vectors, 100, 7, seed=2, item="memory")
    vectors.build_files(SCOPE, SPACE)
    question = drawn(1, 9)[0]
    last = [n for (memory, n), _ in sorted(found(vectors, question).items(), key=lambda pair: pair[1]) if not memory][:20]
    named = np.array(sorted(last))

    sure = found(vectors, question, always_score=[(False, named), (True, named[:0])])

    measured = exact(vectors, question)
    assert [measured[n - 1] for n in named] == pytest.approx([sure[False, int(n)] for n in named], abs=1e-4)


def exact(vectors: Vectors, question: np.ndarray) -> np.ndarray:
    """How much each row resembles a question, by its own numbers."""
    rest, mapped = _mapped(vectors, question)
    floats = mapped.columns["numbers"] * mapped.columns["factors"][:, None]
    left = floats - mapped.means[mapped.columns["unspaced"].astype(int)]
    return left @ rest / np.linalg.norm(left, axis=1) / np.linalg.norm(rest)


def _mapped(vectors: Vectors, question: np.ndarray) -> tuple[np.ndarray, sign_index.SignIndex]:
    found(vectors, question)
    mapped = vectors._held[SCOPE, 1].matrix
    return question - mapped.means[0], mapped


def test_what_came_since_is_found_too(vectors):
    """Vectors that were added after the matrix are measured by the same means; a quarter more, and it is made anew."""
    add(vectors, COUNT, 1)
    vectors.build_files(SCOPE, SPACE)
    made = file(vectors).stat().st_mtime_ns
    add(vectors, 20, COUNT + 1, seed=5)
    vectors.build_files(SCOPE, SPACE)
    question = drawn(20, 5)[3]

    assert made == file(vectors).stat().st_mtime_ns
    everything = found(vectors, question)
    assert COUNT + 20 == len(everything)
    assert (False, COUNT + 4) == max(everything, key=everything.get)

    add(vectors, COUNT, COUNT + 21, seed=6)
    vectors.build_files(SCOPE, SPACE)

    assert made != file(vectors).stat().st_mtime_ns
    assert 2 * COUNT + 20 == len(found(vectors, question))


def test_what_is_taken_out_is_in_no_file(vectors):
    """The matrix goes with a row that is taken out, and what is left is read from the rows."""
    add(vectors, COUNT, 1)
    vectors.build_files(SCOPE, SPACE)
    question = drawn(1, 9)[0]
    found(vectors, question)

    assert vectors.forget(SCOPE, [("turn", 7)])

    assert not file(vectors).exists()
    left = found(vectors, question)
    assert (False, 7) not in left and COUNT - 1 == len(left)
    vectors.build_files(SCOPE, SPACE)
    assert file(vectors).exists() and left.keys() == found(vectors, question).keys()


def test_rows_embedded_anew_are_not_answered_by_an_old_matrix(vectors):
    """A turn whose vector was replaced is found by its new one."""
    add(vectors, COUNT, 1)
    vectors.build_files(SCOPE, SPACE)
    question = drawn(1, 77)[0]
    before = found(vectors, question)
    vectors.add(SCOPE, SPACE, [Vector("turn", 5, 0, False, question)], turns=0, memories=0, is_current=lambda: True)

    after = found(vectors, question)

    assert before.keys() == after.keys()
    assert (False, 5) == max(after, key=after.get)


@pytest.mark.spec("T-36")
@pytest.mark.parametrize("column", [None, "head", *(name for name in sign_index.COLUMNS if name != "numbers")])
def test_a_damaged_matrix_is_no_answer(vectors, column):
    """A byte that flipped anywhere but in the numbers, or a file cut short: the rows are read, and `settle` makes it anew."""
    add(vectors, COUNT, 1)
    vectors.build_files(SCOPE, SPACE)
    whole = bytearray(file(vectors).read_bytes())
    layout = {name: at for name, at, _ in sign_index._layout(COUNT, DIMENSIONS)} | {"head": 30}
    if column is None:
        whole = whole[: len(whole) // 2]
    else:
        whole[layout[column] + 3] ^= 0x41
    file(vectors).write_bytes(whole)
    question = drawn(1, 9)[0]

    assert by_rows(vectors, question) == found(vectors, question)

    vectors.build_files(SCOPE, SPACE)
    assert _mapped(vectors, question)[1].of.last == COUNT


@pytest.mark.spec("T-36")
def test_damaged_numbers_are_noticed_when_they_are_measured(vectors):
    """A flipped byte in a vector that comes near is not taken for its number: the rows are read, until the matrix is made anew."""
    add(vectors, COUNT, 1)
    vectors.build_files(SCOPE, SPACE)
    question = drawn(COUNT, 1)[41]
    right = found(vectors, question)
    assert (False, 42) == max(right, key=right.get)
    at = {name: at for name, at, _ in sign_index._layout(COUNT, DIMENSIONS)}["numbers"] + 41 * DIMENSIONS
    with file(vectors).open("r+b") as damaged:
        damaged.seek(at)
        damaged.write(bytes([100]) * 20)

    assert by_rows(vectors, question) == found(vectors, question)

    vectors.build_files(SCOPE, SPACE)
    assert right == found(vectors, question)


def test_a_matrix_of_another_file_is_not_taken(vectors):
    """Where the vectors were begun anew and their numbers happen to agree, an old matrix that was put back says nothing."""
    add(vectors, COUNT, 1)
    vectors.build_files(SCOPE, SPACE)
    old = file(vectors).read_bytes()
    vectors.reset()
    assert not file(vectors).exists()
    add(vectors, COUNT, 1, seed=8)
    file(vectors).write_bytes(old)
    again = found(vectors, drawn(COUNT, 8)[4])

    assert (False, 5) == max(again, key=again.get)


def test_a_small_scope_has_none(vectors, monkeypatch):
    """Under FROM vectors all are measured, and no file is made."""
    monkeypatch.setattr(sign_index, "FROM", COUNT + 1)
    add(vectors, COUNT, 1)
    vectors.build_files(SCOPE, SPACE)

    assert not file(vectors).exists()


def test_means_and_lengths_are_those_of_likeness(vectors):
    """The same measure as without a matrix: the mean of each script, and what is left of each vector."""
    add(vectors, 512, 1)
    vectors.build_files(SCOPE, SPACE)
    _, mapped = _mapped(vectors, drawn(1, 9)[0])
    columns = mapped.columns
    codes = similarity.Codes([columns["numbers"]], [columns["factors"]], columns["unspaced"])
    centre = similarity.centre([codes], None)

    assert centre.means == pytest.approx(mapped.means, abs=1e-5)
    assert centre.lengths[0] == pytest.approx(columns["lengths"], abs=1e-4)
