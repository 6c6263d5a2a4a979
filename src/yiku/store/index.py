"""
Full-text index on contentless FTS5 tables: add, remove and look up tokens prefixed with their scope.

A token of scope 7 is written `s7qtoken` while its row is in recall and `h7qtoken` once it left it
(superseded, archived, hidden), so a question reads the postings of its own scope only. A row's number
in the index is `n * 64 + step`, where the step is the row's length on a logarithmic scale: the length
norm of BM25 travels with the posting and needs no second look-up. Rows are deleted with the very
tokens that they were written with; hence the one analyzer, and its version in `meta`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from yiku.store.protocol import Index
from yiku.types import Posting, Postings, Tokens

if TYPE_CHECKING:
    import apsw
    import numpy as np

STEPS = 64
STEPS_PER_DOUBLING = 5  # 2 ** (1/5) = 1.149: lengths up to 2 ** 12.6 = 6,200 words, within 7 %
EVERY: tuple[Index, ...] = ("turn", "tool", "memory", "episode", "attachment", "note")
PADDING = [(1, " ".join(f"pad{k}xyz" for k in range(2_000))), (2, "pad")]  # rows that no turn or statement can have; 3 pages, and 1
FETCH_ALL = 20_000  # documents of the scopes: up to here postings are fetched without counting them first


def step(length: int) -> int:
    """Quantize the length of a row to one of STEPS steps."""
    return min(STEPS - 1, round(math.log2(max(1, length)) * STEPS_PER_DOUBLING))


def add(connection: apsw.Connection, index: Index, scope: int, n: int, tokens: Tokens, *, past: bool = False) -> None:
    """Add a row to the index."""
    connection.execute(
        f"insert into {index}_index (rowid, tokens) values (?, ?)",
        (n * STEPS + step(len(tokens.words)), prefixed(tokens, scope, past)),
    )
    if not past:
        add_totals(connection, index, scope, 1, len(tokens.words))


def remove(connection: apsw.Connection, index: Index, scope: int, n: int, tokens: Tokens, *, past: bool = False) -> None:
    """Remove a row from the index; the tokens must be those it was added with."""
    connection.execute(
        f"insert into {index}_index ({index}_index, rowid, tokens) values ('delete', ?, ?)",
        (n * STEPS + step(len(tokens.words)), prefixed(tokens, scope, past)),
    )
    if not past:
        add_totals(connection, index, scope, -1, -len(tokens.words))


def add_totals(connection: apsw.Connection, index: Index, scope: int, documents: int, words: int) -> None:
    """Adjust the totals of a scope."""
    connection.execute(
        "insert into index_stats (scope_id, name, documents, words) values (?1, ?2, ?3, ?4)"
        " on conflict do update set documents = documents + ?3, words = words + ?4",
        (scope, index, documents, words),
    )


def prefixed(tokens: Tokens, scope: int, past: bool) -> str:
    """Return the distinct tokens of a row, prefixed by scope and hidden flag."""
    prefix = f"{'h' if past else 's'}{scope}q"
    distinct = dict.fromkeys(tokens.words + tokens.characters)
    return prefix + f" {prefix}".join(distinct) if distinct else ""


def size(connection: apsw.Connection, index: Index, scopes: Sequence[int]) -> tuple[int, int]:
    """Return the number of documents and words in the scopes."""
    sql = f"select total(documents), total(words) from index_stats where name = ? and scope_id in ({placeholders(scopes)})"
    documents, words = fetch_one(connection, sql, index, *scopes)
    return int(documents), int(words)


def postings(
    connection: apsw.Connection, index: Index, scopes: Sequence[int], terms: Sequence[str], *, past: bool, cap: int
) -> Postings:
    """Return one posting per term over all scopes, see Postings."""
    documents, words = size(connection, index, scopes)
    if not documents and not past:
        return Postings([_nothing(term) for term in terms], documents, words)
    sides = [f"{side}{scope}q" for scope in scopes for side in ("sh" if past else "s")]
    common: dict[str, int] = {}
    if documents > FETCH_ALL:
        prepare(connection, index, "rows")
        counts = _look_up(connection, f"select doc from temp.{index}_rows", sides, terms)
        common = {term: rows for term, found in counts.items() if (rows := sum(found)) > cap}
    wanted = [term for term in terms if term not in common]
    places = _look_up(connection, f"select group_concat(doc) from temp.{index}_places", sides, wanted)
    known = {one.term: one for one in _postings(places)}
    found = [_nothing(term, common[term]) if term in common else known[term] for term in terms]
    return Postings([one if one.documents <= cap else _nothing(one.term, one.documents) for one in found], documents, words)


def _look_up(connection: apsw.Connection, view: str, sides: Sequence[str], terms: Sequence[str]) -> dict[str, list[Any]]:
    """Look up each term in each scope, in one statement: half of the cost of a look-up is starting one."""
    written = json.dumps([side + term for term in terms for side in sides], ensure_ascii=False)
    rows = connection.execute(f"select ({view} where term = each.value) from json_each(?) each", (written,)).fetchall()
    found = iter(rows)
    return {term: [value for _ in sides if (value := next(found)[0])] for term in terms}


def _postings(places: Mapping[str, Sequence[str]]) -> Iterator[Posting]:
    """Return postings from the concatenated row numbers of each term."""
    import numpy as np

    texts = [text for found in places.values() for text in found]
    read = np.fromstring(",".join(texts), dtype=np.int64, sep=",") if texts else np.empty(0, np.int64)
    ns, steps = np.divmod(read, STEPS)
    lengths, at = _lengths()[steps], 0
    for term, found in places.items():
        if count := sum(text.count(",") + 1 for text in found):
            yield Posting(term, count, ns[at : at + count], lengths[at : at + count])
            at += count
        else:
            yield _nothing(term)


@cache
def _nothing_found() -> tuple[np.ndarray, np.ndarray]:
    import numpy as np

    return np.empty(0, np.int64), np.empty(0)


def _nothing(term: str, documents: int = 0) -> Posting:
    ns, values = _nothing_found()
    return Posting(term, documents, ns, values)


@cache
def _lengths() -> np.ndarray:
    """Return the length that each step stands for."""
    import numpy as np

    return np.exp2(np.arange(STEPS) / STEPS_PER_DOUBLING)


def merge(connection: apsw.Connection, index: Index) -> None:
    """Merge an index into one segment, so that each word needs one look-up."""
    connection.execute(f"insert into {index}_index ({index}_index) values ('optimize')")


def rewrite(connection: apsw.Connection, index: Index) -> None:
    """
    Rewrite an index so that no word of a removed row remains (`secure-delete` is on).

    FTS5 drops the marks of deleted rows, and their words, only in a merge into its last level. Segments that lie on one level
    are merged into the next, whichever is the last, and a segment that is no larger than one behind it comes down to that one's
    level. So a row of some pages is put in, which makes the segment large, and then a small one, which lies a level below.
    """
    for n, tokens in PADDING:
        connection.execute(f"insert into {index}_index (rowid, tokens) values (?, ?)", (n, tokens))
        merge(connection, index)
    connection.executemany(f"insert into {index}_index ({index}_index, rowid, tokens) values ('delete', ?, ?)", PADDING)


def prepare(connection: apsw.Connection, index: Index, view: Literal["places", "rows"] = "places") -> None:
    """Create the temporary view of an index that a connection needs; nothing is written to the file."""
    sort = "instance" if view == "places" else "row"
    connection.execute(f"create virtual table if not exists temp.{index}_{view} using fts5vocab('main', '{index}_index', '{sort}')")


def fetch_one(connection: apsw.Connection, sql: str, *values: object) -> tuple[Any, ...]:
    """Return the one row of a query."""
    found: tuple[Any, ...] = connection.execute(sql, values).fetchall()[0]
    return found


def placeholders(values: Sequence[object]) -> str:
    """Return a comma-separated question mark for each value."""
    return ", ".join("?" * len(values))
