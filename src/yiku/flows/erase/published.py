"""
Erase from generated Markdown: cut lines from generated regions of pages, delete identity summaries and reports.

Text that people wrote outside the regions is not touched. A region as it is left counts as written by Yiku: the next publishing
reads only what a person changed in it. The compiled summaries of what memory says of the user are deleted: a
model may have said it in other words, and they are made again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path

from yiku.errors import InvalidInput
from yiku.files import pages, reports
from yiku.files.notes import COMPILED, PAGES
from yiku.files.vault import delete
from yiku.flows.common.handle import Handle
from yiku.rules.pages import hand_edits, region
from yiku.rules.privacy import redaction
from yiku.rules.prompts.condense import TARGETS
from yiku.types import KeepPageVersion, PageVersion, Place

AGAIN = 5  # times, when somebody saves a page meanwhile


def cut(handle: Handle, scope: int, ids: Sequence[str], texts: Sequence[str] | None) -> Iterator[Place]:
    """
    Each page that showed something of it, and which lines went.

    scope: the number of the handle's; ids: of the memories that are gone; texts: what must stand nowhere, None where nobody knows
    it any more
    """
    home, root = Path(handle.home), _vault(handle, scope)

    def gone(item: region.Item) -> bool:
        if item.id is not None and any(id.endswith(item.id) for id in ids):
            return True
        folded = redaction.Folded(item.text)
        return any(folded.places(text) for text in texts or () if redaction.weight(text) >= redaction.WEIGHT)

    for name in (*PAGES, pages.PERSONA):
        path = root / name
        place = str(path.relative_to(home))
        try:
            for _ in range(AGAIN):
                seen = pages.read(path, below=home)
                text, lines = region.without(seen.text, gone) if seen else ("", [])
                if seen and lines:
                    _keep_version(handle, scope, name, seen.text, gone)
                if not lines or pages.replace(path, text, seen, below=home):
                    break
            else:
                yield Place(place, "not cut: it is being written to all the time", found=("it still says this",), unfinished=True)
                continue
        except InvalidInput as error:  # a link, say: whoever looks through all files tells what is in it
            yield Place(place, f"not read: {error.detail}")
            continue
        if lines:
            line_list = ", ".join(map(str, lines))
            yield Place(place, f"line {line_list} of the managed region removed", len(seen.content) if seen else 0)
    yield from _drop_compiled(handle, root, every=texts is None)


def _keep_version(handle: Handle, scope: int, page: str, text: str, gone: Callable[[region.Item], bool]) -> None:
    """Keep what a region will be without these lines as a version, so that nobody is taken to have removed them."""
    found = region.find(text)
    if not isinstance(found, region.Page) or not (known := handle.store.page_versions(scope, page)):
        return
    entries = hand_edits.without(found.body, found.version, known, handle.line_seal, gone)
    if entries is not None:
        version = PageVersion(page, found.version, handle.line_seal(region.without(text, gone)[0])[:12], entries)
        older = handle.now() - timedelta(days=hand_edits.KNOWN_DAYS)
        handle.store.apply(scope, [KeepPageVersion(version, older)], handle.cause("erase"))


def _drop_compiled(handle: Handle, root: Path, *, every: bool) -> Iterator[Place]:
    """
    The summaries of USER.md and of the user's wishes are gone; who compiles one meanwhile does it before or after.

    every: those of what a person wrote, too, since nobody knows what must not be in them
    """
    gone = []
    with handle.store.exclusive():
        for target in TARGETS.values():
            path = root / COMPILED / target.file
            if (target.personal or every) and os.path.lexists(path):
                delete(path, below=Path(handle.home))
                gone.append(target.file)
    if gone:
        yield Place(str((root / COMPILED).relative_to(handle.home)), f"{', '.join(gone)} removed: yiku compile makes it again")


def clear_reports(handle: Handle, scope: int) -> Iterator[Place]:
    """Remove what the night wrote about a scope for people to read."""
    root = _vault(handle, scope)
    if removed := reports.clear(root):
        name = str((root / reports.FOLDER).relative_to(handle.home))
        yield Place(name, f"{removed} removed; the next night writes the snapshot and the last days again")


def _vault(handle: Handle, scope: int) -> Path:
    return Path(handle.home) if handle.scope == handle.settings.owner else handle.paths.vault_of(scope)
