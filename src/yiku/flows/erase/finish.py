"""
Finish an erasure: clean the store, backups and other files, search all bytes for leftovers, write the receipt.

The same rows are deleted from a copy of each backup, which then replaces it. Unreferenced blobs are deleted, the WAL is emptied,
transcripts are rewritten. Then all files are searched for the erased texts, their words, and the ends of their words, since a
search index stores only how a word differs from its neighbour. A word that a remaining row still contains is ignored.

If a step cannot be done now (the disk is full, a backup cannot be read, another process is reading), its place says so,
and no receipt is written, so that `resume` does it later.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from yiku.errors import Damaged, ForeignStore, IndexOutdated, NotFound, SchemaTooNew, StoreBusy, StoreError
from yiku.files import blobs, sweep
from yiku.files.inbox import UNREADABLE
from yiku.flows.common import tombstones
from yiku.flows.common.handle import Handle
from yiku.flows.common.turn_texts import tokens, tool_tokens
from yiku.flows.erase import inbox, published, quotes, transcripts
from yiku.flows.erase.reapply import reapply
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.pages import chunks
from yiku.rules.privacy import erasure, redaction
from yiku.rules.text import analyze
from yiku.store.api import ByteNeedles, Index, SqliteStore, Store, one_at_a_time, search_bytes
from yiku.types import Erased, Erasure, Item, Memories, Place, Tokens, Turns

LOOKED_FOR = 5_000  # texts and words of one erasure that the files are looked through for, the most telling first
SENTENCES = 2_000  # of one erasure that are looked for with marks inside of their words
NEEDLE_BYTES = 512  # looked for of a long text
BACKUP_S = 60.0  # that an erasure waits for a backup that is being made
MANY_TURNS = 200  # beyond, all vectors of the scope go
ENOUGH = 20  # rows that are asked whether they have a token
NOT_SEARCHED = "what it holds is not known"  # shown in the place of words
OUT_OF_REACH = (
    "copies outside this home: exports, synced folders, file system snapshots, backups of the machine",
    "what the disk itself keeps of freed blocks; encrypt the disk if that matters",
    "what a model or another program was shown before",
)

Tell = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Needles:
    """What is searched for: bytes, the text they stand for, and the index token, if it is one."""

    texts: Mapping[bytes, tuple[str, str]]
    whole: frozenset[bytes]  # those that are no mere words
    sentences: quotes.MarkedSentences
    known: bool  # whether anybody still knows what was erased


def clean_everywhere(
    handle: Handle,
    answer: Erased,
    texts: Sequence[str] | None,
    *,
    blob_names: Iterable[str],
    sought: quotes.Sought = quotes.NOTHING,
    rows: Sequence[tuple[Item, int]] = (),
    progress: Tell | None = None,
) -> Erased:
    """
    Clean every place; return the receipt, stored once every place is done.

    texts:      what went, whole, or None when nobody knows any more
    blob_names: long contents that it had named
    sought:     sentences that must stand in no other row of a copy either
    rows:       statements and passages of notes that left the database
    """
    tell = progress or (lambda step: None)
    needles = _needles(texts, sought.sentences)
    unsaid = _Unsaid(needles, handle.store)
    places = [*_sweep_copies(handle, needles, sought, tell)]
    tell("pages")
    places += _cut_pages(handle, sought.sentences if needles.known else None)
    tell("blobs")
    places.append(_attempt("blobs", lambda: _delete_blobs(handle, blob_names)))
    tell("yiku.db")
    places.append(_attempt("yiku.db", lambda: _scrub_store(handle, needles)))
    tell("vectors")
    places.append(_attempt("vectors", lambda: _delete_vectors(handle, answer, rows, known=needles.known)))
    tell("transcripts")
    places.append(_attempt("transcripts", lambda: transcripts.sweep(handle, answer, _holding(unsaid))))
    tell("inbox")
    places.append(_attempt("inbox", lambda: inbox.sweep(handle, answer, _holding(unsaid), _holding(unsaid, needles.whole))))
    tell("other files")
    places += _other_files(handle, unsaid)
    links = tuple(f"where {name} leads, which is a link" for name in sweep.links(handle.paths))
    reach = (*links, *answer.out_of_reach)
    done = replace(answer, places=(*places, *answer.places), looked_for=len(needles.texts), out_of_reach=reach)
    if not any(place.unfinished for place in places):
        _write_receipt(handle, done)
    redaction.forget()  # what was looked for
    return done


def resume(handle: Handle, *, progress: Tell | None = None) -> Erased:
    """
    Finish erasures that were interrupted. Raises NotFound if there is none.

    Their words are no longer known, so files cannot be searched for them: copies that cannot be cleaned are named.
    """
    waiting = [entry for entry in handle.store.erasures.all() if not entry["done"]]
    if not waiting:
        raise NotFound("there is no interrupted erasure to finish")
    names = {name for entry in waiting for name in entry["rows"]["blobs"]}
    answer = Erased(memories=(), turns=(), redacted=(), out_of_reach=OUT_OF_REACH, operation=waiting[-1]["number"])
    done = clean_everywhere(handle, answer, None, blob_names=names, progress=progress)
    if not any(place.unfinished for place in done.places):
        for entry in waiting[:-1]:
            _write_receipt(handle, replace(done, operation=entry["number"]))
    return done


def _write_receipt(handle: Handle, done: Erased) -> None:
    """Write the receipt, without any erased text, and the mirror file."""
    entry = next(entry for entry in handle.store.erasures.all() if entry["number"] == done.operation)
    receipt = {
        "memories": len(done.memories),
        "turns": len(done.turns),
        "redacted": len(done.redacted),
        "records": len(done.records),
        "looked_for": done.looked_for,
        "kept": sum(isinstance(place, Place) for place in done.kept),
        "places": [[place.name, place.done, place.bytes, len(place.found)] for place in done.places],
        "clean": done.clean,
    }
    handle.store.apply(entry["scope"], [Erasure(done.operation, receipt)], handle.cause("erase"))
    tombstones.mirror(handle)


def _attempt(name: str, step: Callable[[], Place]) -> Place:
    """Run a step; return its place, or the reason it failed."""
    try:
        return step()
    except (StoreError, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        return _unfinished(name, f"not done: {why or error}")


def _unfinished(name: str, done: str, size: int = 0, found: tuple[str, ...] = ()) -> Place:
    """Return a place that has to be cleaned or searched once more, since something prevented it."""
    return Place(name, done, size, (*found, NOT_SEARCHED), unfinished=True)


# ------------------------------------------------------------------ copies


def _sweep_copies(handle: Handle, needles: Needles, sought: quotes.Sought, tell: Tell) -> Iterator[Place]:
    """Write the mirror, then erase from each backup under the backup lock."""

    def mirrored() -> Place:
        tombstones.mirror(handle)
        return Place("erasures", "knows what must not come back")

    yield _attempt("erasures", mirrored)
    try:
        with one_at_a_time(handle.paths.locks / "backup.lock", "a backup is being made", BACKUP_S):
            sweep.delete_leftovers(handle.paths)
            for path in sweep.copies(handle.paths):
                tell(f"backups/{path.name}")
                yield _attempt(f"backups/{path.name}", lambda path=path: _sweep_copy(handle, path, needles, sought))  # type: ignore[misc]
    except (StoreBusy, OSError) as error:
        yield _unfinished("backups", f"not done: {error}")


def _sweep_copy(handle: Handle, path: Path, needles: Needles, sought: quotes.Sought) -> Place:
    """Erase from a copy: sweep a copy of it and rename it into place."""
    name = f"backups/{path.name}"
    with tempfile.TemporaryDirectory(prefix=".sweep", dir=path.parent) as folder:
        inner = Path(folder) / "yiku.db"
        sweep.copy_database(path, inner)
        try:
            size, left = _sweep(handle, inner, needles, sought)
        except (Damaged, ForeignStore, IndexOutdated, SchemaTooNew) as error:  # after any other it may be sound: another time
            return _not_a_store(handle, path, needles, type(error).__name__)
        sweep.put_in_place(inner, path)
    return Place(name, "swept", size, left)


def _sweep(handle: Handle, path: Path, needles: Needles, sought: quotes.Sought) -> tuple[int, tuple[str, ...]]:
    """Sweep one copy; return bytes searched and what remains."""
    store = SqliteStore(path, gate=path.with_name("write.lock"), analyzer=analyze.VERSION, key=handle.key)
    try:
        copy = replace(handle, store=store)
        reapply(copy, handle.store.erasures.all())
        kept = {one.text for one in quotes.erase_quotes(copy, sought)}
        _, size, left = _scrub(store, needles)
        return size, (*left, *sorted(kept))
    finally:
        store.close()


def _not_a_store(handle: Handle, path: Path, needles: Needles, why: str) -> Place:
    """Handle a copy that does not open: it stays if nothing erased is in it."""
    name = f"backups/{path.name}"
    if not needles.known:
        return _unfinished(name, f"not swept, it does not open ({why}): remove it")
    size, found = search_bytes(sweep.content(path), needles.texts)
    if not _Unsaid(needles, handle.store).of(found):
        return Place(name, f"looked through; it does not open ({why})", size)
    sweep.delete_file(path)
    return Place(name, f"removed: it held what was erased, and does not open ({why})", size)


# ------------------------------------------------------------------ the store and its files


def _cut_pages(handle: Handle, sentences: Sequence[str] | None) -> list[Place]:
    """Remove from the managed regions of pages, and from reports, what erasures without a receipt took."""
    waiting = [entry for entry in handle.store.erasures.all() if not entry["done"]]
    found: list[Place] = []
    try:
        names = {number: name for number, name, _ in handle.store.scopes()}
        for number in sorted({entry["scope"] for entry in waiting}):
            own = replace(handle, scope=names.get(number, handle.scope))
            ids = [id for entry in waiting if entry["scope"] == number for id in entry["rows"]["memories"]]
            found += [*published.cut(own, number, ids, sentences), *published.clear_reports(own, number)]
        return found
    except (StoreError, OSError) as error:
        return [_unfinished("pages", f"not done: {error}")]


def _delete_blobs(handle: Handle, names: Iterable[str]) -> Place:
    """Delete blobs that nothing refers to."""
    removed = 0
    with handle.store.exclusive():
        for name in sorted(names):
            if not tombstones.is_named(handle, name):
                removed += blobs.remove(handle.blobs, name)
    return Place("blobs", f"{removed} removed")


def _scrub_store(handle: Handle, needles: Needles) -> Place:
    emptied, size, left = _scrub(handle.store, needles)
    if emptied:
        return Place("yiku.db", "rows deleted, WAL emptied", size, left)
    return _unfinished("yiku.db", "rows deleted; another process is reading, so the WAL is not empty yet", size, left)


def _scrub(store: Store, needles: Needles) -> tuple[bool, int, tuple[str, ...]]:
    """Empty the WAL and rewrite the file if words remain; return whether it was emptied, bytes, and what remains."""
    emptied = store.erasures.scrub()
    size, found = store.erasures.found([*needles.texts])
    left = _Unsaid(needles, store).of(found)
    if left and emptied:
        emptied = store.erasures.scrub(rewrite=True)
        size, found = store.erasures.found([*needles.texts])
        left = _Unsaid(needles, store).of(store.erasures.needles_in_rows(found) if emptied else found)
    return emptied, size, left


def _delete_vectors(handle: Handle, answer: Erased, rows: Sequence[tuple[Item, int]], *, known: bool) -> Place:
    """Delete vectors of erased rows and of turns embedded with them as context; all of them if it is not known what went."""
    if not handle.vectors.exist():
        return Place("vectors", "there are none")
    own, changed = handle.own(), [*answer.turns, *answer.redacted]
    if not known:
        return _vectors_place(handle.vectors.drop(), "removed, since nobody knows what went; what is left is embedded again")
    if not own:
        return _vectors_place(
            handle.vectors.keep_only([number for number, *_ in handle.store.scopes()]), "those of the scope removed"
        )
    if len(changed) > MANY_TURNS:
        return _vectors_place(handle.vectors.drop(own[0]), "those of the scope removed; what is left is embedded again")
    gone: list[tuple[Item, int]] = [*(("turn", turn.n) for turn in answer.turns), *rows]
    redacted: list[tuple[Item, int]] = [("turn", turn.n) for turn in answer.redacted if ("turn", turn.n) not in gone]
    following: list[tuple[Item, int]] = []
    for turn in changed:
        next_ = handle.store.turns(own, Turns(session=turn.session, after=turn.n, hidden=True, limit=1))
        following += [("turn", each.n) for each in next_]
    again = [row for row in dict.fromkeys(following) if row not in gone and row not in redacted]
    emptied = handle.vectors.forget(own[0], gone, again=again, changed=redacted)
    count = len(gone) + len(again) + len(redacted)
    return _vectors_place(emptied, f"those of {count} turns, statements and notes removed" if count else "there are none of it")


def _vectors_place(whole: bool, done: str) -> Place:
    """Return a place that was cleaned, with its log, or not yet."""
    if whole:
        return Place("vectors", done)
    return _unfinished("vectors", f"{done}; another process is reading, so the log is not empty yet")


def _other_files(handle: Handle, unsaid: _Unsaid) -> Iterator[Place]:
    """Search every other file of the home."""

    def looking_for(wanted: ByteNeedles, *, marked: bool = False) -> sweep.Search:
        def looked(pieces: Iterable[bytes]) -> tuple[int, set[bytes]]:
            content = [*pieces] if marked else pieces
            size, found = search_bytes(content, wanted)
            texts = {*unsaid.of(found), *(unsaid.with_marks(b"".join(content)) if marked else ())}
            return size, {text.encode() for text in texts}

        return looked

    needles = unsaid.needles
    whole, every = unsaid.among(needles.whole), unsaid.among(needles.texts)
    text, word = looking_for(whole), looking_for(every)
    note, line = looking_for(whole, marked=True), looking_for(every, marked=True)
    try:
        for name, done, size, found in sweep.search_files(
            handle.paths, sweep.Searches(text, note, line, word), sweep.copies(handle.paths)
        ):
            left, unfinished = found, False
            if found and name.startswith(sweep.LINES) and (holds := _holding(unsaid)) is not None:
                try:
                    transcripts.rewrite_from_database(handle, name, holds)
                    # what is still found then, such as a digit of a time, is in the rows, too
                    left = word([name.encode()])[1] if (handle.paths.root / name).exists() else set()
                except StoreError:  # the place of all transcripts says why
                    left, unfinished = found, True
                if not left:
                    continue
            remaining = tuple(sorted(needle.decode() for needle in left))
            yield _unfinished(name, done, size, remaining) if unfinished else Place(name, done, size, remaining)
    except OSError as error:
        yield _unfinished("other files", f"not done: {error.strerror} ({error.filename})")
    if not needles.known:
        set_aside = [handle.paths.root / "damaged", handle.paths.root / "copies", handle.paths.inbox / UNREADABLE]
        for path in (path for path in set_aside if path.is_file() or any(path.rglob("*"))):
            name = path.relative_to(handle.paths.root).as_posix()
            yield _unfinished(name, "may hold what was erased: look there yourself, or remove it")


# ------------------------------------------------------------------ what is looked for


def _holding(unsaid: _Unsaid, wanted: Collection[bytes] | None = None) -> transcripts.Holds | None:
    """Whether bytes hold what was erased, or of that what is wanted, and no row has a right to say it; None where nobody knows it."""
    if not unsaid.needles.known:
        return None
    searched = unsaid.among(unsaid.needles.texts if wanted is None else wanted)
    return lambda content: bool(unsaid.of(search_bytes([content], searched)[1]) or unsaid.with_marks(content))


def _needles(texts: Sequence[str] | None, sentences: Sequence[str]) -> Needles:
    """Return the most telling fragments that prove that texts are gone."""
    found: dict[bytes, tuple[str, str]] = {}
    for text, token in erasure.looked_for(texts or ()).items():
        found.setdefault(text.encode(errors="replace")[:NEEDLE_BYTES], (text[:NEEDLE_BYTES], token))
        if len(found) == LOOKED_FOR:
            break
    encoded = {text.encode(errors="replace")[:NEEDLE_BYTES] for text in texts or () if redaction.weight(text) >= redaction.WEIGHT}
    return Needles(found, frozenset(encoded & found.keys()), quotes.MarkedSentences(sentences[:SENTENCES]), texts is not None)


class _Unsaid:
    """
    What no row of a store says any more.

    What a row says is asked once: a home has a file for each session, and most of them have some of the words.
    """

    def __init__(self, needles: Needles, store: Store) -> None:
        self.needles = needles
        self._store = store
        self._said = set[bytes]()

    def among(self, needles: Collection[bytes]) -> ByteNeedles:
        """Return those needles that no row says, prepared for searching any number of files."""
        left = {*needles} - self._said
        self._said |= self._in_rows(left)
        return ByteNeedles(left - self._said)

    def of(self, found: set[bytes]) -> tuple[str, ...]:
        """Return those needles that no remaining row accounts for."""
        if not (new := found - self._said):
            return ()
        said = self._in_rows(new)
        left = {needle.decode(errors="ignore"): self.needles.texts[needle][1] for needle in new - said}
        indexed = _indexed(self._store, {token for token in left.values() if token})
        self._said |= said | {needle for needle in new if self.needles.texts[needle][1] in indexed}
        return tuple(sorted(text for text, token in left.items() if token not in indexed))

    def with_marks(self, content: bytes) -> set[str]:
        """Return those sentences that a note or lines of JSON say with marks inside of their words, and that no row says."""
        lines = content.decode(errors="replace").replace("\0", "\n").split("\n")  # behind the name of a file
        written = "\n".join(line for line in lines if not line.startswith("{"))
        values = (part for line in lines if line.startswith("{") for part in erasure.strings_of(line))
        found = self.needles.sentences.among([written, *values])
        return found - self._store.erasures.texts_in_rows(sorted(found)) if found else found

    def _in_rows(self, needles: Iterable[bytes]) -> set[bytes]:
        texts = {needle: needle.decode(errors="ignore") for needle in needles}
        said = self._store.erasures.texts_in_rows([*texts.values()])
        return {needle for needle, text in texts.items() if text in said}


def _indexed(store: Store, wanted: Collection[str]) -> set[str]:
    """Return those tokens under which a row is legitimately indexed."""
    every = [number for number, *_ in store.scopes()]
    if not every or not wanted:
        return set()

    def turns(ns: Sequence[int]) -> Iterator[Tokens]:
        return map(tokens, store.turns(every, Turns(ns=ns, hidden=True)))

    def tools(ns: Sequence[int]) -> Iterator[Tokens]:
        return filter(None, map(tool_tokens, store.turns(every, Turns(ns=ns, hidden=True))))

    def memories(ns: Sequence[int]) -> Iterator[Tokens]:
        return map(index_tokens, store.with_details(store.memories(every, Memories(ns=ns))))

    def indexed_words(index: Index, read: Callable[[Sequence[int]], Iterator[Tokens]]) -> Iterator[str]:
        for posting in store.postings(index, every, [*wanted], past=True, cap=1 << 62).found:
            if len(posting.ns) and any(posting.term in row.words for row in read(posting.ns[:ENOUGH].tolist())):
                yield posting.term

    def notes(ns: Sequence[int]) -> Iterator[Tokens]:
        return (chunks.index_tokens(note.heading, note.text) for note in store.notes.read(every, ns))

    return {
        *indexed_words("turn", turns),
        *indexed_words("tool", tools),
        *indexed_words("memory", memories),
        *indexed_words("note", notes),
    }
