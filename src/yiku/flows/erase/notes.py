"""
Cut erased sentences out of the Markdown files of the vault and out of their index.

The files go first: if the process dies in between, the statement is still there, and is erased once more. A file is replaced only
if it still holds what was read. Its passages leave the index with the rows, and the next sync indexes what is left of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from yiku.errors import InvalidInput, StoreError
from yiku.files import notes as files
from yiku.files import pages
from yiku.flows.common.handle import Handle
from yiku.flows.erase import quotes
from yiku.flows.erase.plan import ErasurePlan
from yiku.rules.pages import region
from yiku.rules.pages.chunks import tokens_of
from yiku.rules.privacy import redaction
from yiku.rules.text import analyze
from yiku.rules.text.sentences import MARKS
from yiku.types import Note, Place, Tokens

PAGE = 1_000  # passages read at a time
WORDS_LOOKED_FOR = 2_000  # sentences of one erasure that notes are searched for


@dataclass(frozen=True, slots=True)
class NotesPlan:
    """
    What an erasure takes of notes.

    files: by path, what they hold and what is left; lines: by path the first line of each cut
    passages: those that leave the index, by number with their tokens
    """

    files: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    lines: dict[str, list[int]] = field(default_factory=dict)
    passages: dict[int, Tokens] = field(default_factory=dict)

    def places(self, done: str) -> list[Place]:
        """Each line as a place of the receipt."""
        return [Place(f"{path}:{line}", done) for path, lines in sorted(self.lines.items()) for line in lines]


def plan_notes(handle: Handle, plan: ErasurePlan) -> NotesPlan:
    """Find the erased sentences in the files of the vault and in their index; of a whole scope all of the index."""
    own, found = handle.own(), NotesPlan()
    if plan.whole_scope:
        found.passages.update(tokens_of(_passages(handle, own)))
        return found
    if next(iter(_texts(handle.vault)), None) is None and not handle.store.notes.after(own[0], 0, 1):
        return found
    names = handle.settings.names
    sentences = quotes.sentences(plan.statements.gone, plan.turns, names=names)[:WORDS_LOOKED_FOR]
    phrases = redaction.phrases(plan.statements.gone)

    def ranges(text: str) -> list[redaction.Range]:
        known = redaction.Folded(text)
        exact = [known.with_marks(start, _with_mark(text, end)) for one in sentences for start, end in known.places(one)]
        if plan.statements.gone and any(map(known.holds, phrases.values)):
            exact += redaction.cuts(text, phrases, speaker=None, names=names).ranges
        return redaction.merge_ranges(exact)

    if not sentences and not phrases.values:
        return found
    for path, content in _texts(handle.vault):
        with suppress(UnicodeDecodeError):
            text = content.decode()
            if cut := _of_people(path, text, ranges(text)):
                found.files[path] = content, _without(text, cut).encode()
                found.lines[path] = [text.count("\n", 0, start) + 1 for start, _ in cut]
    store = handle.store.notes
    cut_up = [note for file in store.files(own[0], [*found.files]) for note in store.of_file(own[0], file.n)] if found.files else []
    saying = [note for note in _holding(handle, own, sentences) if ranges(f"{note.heading}\n{note.text}")]
    touched = [
        note for note in cut_up if any(note.start_line <= line <= note.end_line for line in found.lines[note.path])
    ]  # its overlap may begin inside a sentence
    found.passages.update(tokens_of([*touched, *saying]))
    return found


def cut_files(handle: Handle, found: NotesPlan) -> list[Place]:
    """Write what is left of each file; what somebody changed meanwhile, or nobody may write, is a place that still holds it."""
    failed, root = list[Place](), handle.vault
    if root is None:
        return failed
    for path, (before, left) in found.files.items():
        try:
            if not pages.replace(root / path, left.decode(), pages.Seen(before, before.decode()), below=root):
                raise StoreError(f"{path} was changed meanwhile")
        except (InvalidInput, StoreError) as error:
            failed.append(Place(path, f"not cut: {error}", found=("it still says this",)))
            del found.lines[path]
    return failed


def _of_people(path: str, text: str, cut: list[redaction.Range]) -> list[redaction.Range]:
    """The ranges that stand in what people wrote: published.py takes care of the managed region."""
    if path not in (*files.PAGES, pages.PERSONA) or not cut:
        return cut
    kept = region.outside(text)
    lines = [text.count("\n", 0, start) + 1 for start, _ in cut]
    return [one for one, line in zip(cut, lines, strict=True) if any(first <= line <= last for first, last in kept)]


def _texts(root: Path | None) -> Iterable[tuple[str, bytes]]:
    """Every file of the vault with what it holds, and those of identity/."""
    for one in chain(files.scan(root), files.scan_identity(root)) if root is not None else ():
        if not isinstance(one, str):
            with suppress(OSError):
                content = files.read(root, one.path)[1]  # type: ignore[arg-type]
                if content is not None:
                    yield one.path, content


def _holding(handle: Handle, own: Sequence[int], sentences: Sequence[str]) -> list[Note]:
    """Passages that hold all words of a sentence, or may, where marks split them."""
    groups = [{*tokens.words, *tokens.characters} for tokens in map(analyze.tokens, sentences)]
    terms = sorted(set[str]().union(*groups))
    if not own or not terms:
        return []
    postings = {one.term: {*one.ns.tolist()} for one in handle.store.postings("note", own, terms, past=False, cap=1 << 62).found}
    ns = {n for words in groups if words for n in set.intersection(*(postings[word] for word in words))}
    ns |= {*quotes.find_marked(handle, sentences, "note")}
    return handle.store.notes.read(own, sorted(ns))


def _passages(handle: Handle, own: Sequence[int]) -> Iterable[Note]:
    """Every passage of the scope."""
    last = 0
    while own and (some := handle.store.notes.after(own[0], last, PAGE)):
        yield from some
        last = some[-1].n


def _with_mark(text: str, end: int) -> int:
    """The end of a sentence, with the marks behind its words."""
    while end < len(text) and text[end] in MARKS:
        end += 1
    return end


def _without(text: str, cut: Sequence[redaction.Range]) -> str:
    """The text without some ranges; a line of which no word is left goes with them."""
    kept, at = list[str](), 0
    for start, end in cut:
        line, stop = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        stop = len(text) if stop < 0 else stop + 1
        if line >= at and not any(map(str.isalnum, text[line:start] + text[end:stop])):
            start, end = line, stop  # noqa: PLW2901
        elif text[end : end + 1] == " ":
            end += 1  # noqa: PLW2901
        kept.append(text[at:start])
        at = end
    return "".join([*kept, text[at:]])
