"""
Pin confident persona traits, and write the pinned ones to `identity/personas/user_custom.md`.

A trait is promoted once, by a decision that pins it, so undoing it takes it out of the file again. The file is written from
what is pinned; it is made when there is something to write. What a person wrote into it, outside of the region and inside, is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from yiku.errors import InvalidInput
from yiku.files import pages
from yiku.flows.common.handle import Handle
from yiku.flows.night import near
from yiku.flows.night.run import Night
from yiku.flows.notes.publish import exclusive_writer
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.lexicon.lists import label
from yiku.rules.night import persona as rules
from yiku.rules.pages import region
from yiku.rules.pages.region import Broken, Page, Shown
from yiku.rules.text.analyze import language_of
from yiku.types import Expect, Kind, Memories, NightItem, SemanticMemory, UpdateMemory

CHARS = 4_000  # of the region
SHORT = 8  # characters of an id


def steps(night: Night) -> Iterator[NightItem]:
    """Promote what has become sure, then bring the file in step."""
    traits = _traits(night)
    for row in near.stops(night, iter(traits)):
        if not row.pinned and rules.is_sure(row) and near.untouched(night, [row]):
            reason = "sure" if row.confidence >= rules.CONFIDENCE else "used"
            item = night.decide(
                "promoted",
                [UpdateMemory(row.n, {"pinned": True}, index_tokens(row))],
                ids=[row.id],
                reason=reason,
                evidence={"confidence": row.confidence, "uses": row.used + row.mentioned},
                expect=Expect(rows={row.n: row.changed}),
            )
            if item is not None:
                yield item
    if night.handle.vault is not None and not night.dry_run:
        _write(night, night.handle.vault / pages.PERSONA, rules.shown(_traits(night)))


def _traits(night: Night) -> list[SemanticMemory]:
    select = Memories(live_kind=Kind.PERSONA_TRAIT, unexpired_at=night.now)
    found = night.handle.store.memories([night.scope], select)
    return night.handle.store.with_details([row for row in found if row.pinned or rules.is_sure(row)])


# ------------------------------------------------------------------ the file


def _write(night: Night, path: Path, sections: Sequence[tuple[str, Sequence[Shown]]]) -> None:
    """The file shows these sections; again where somebody saves it meanwhile."""
    home = Path(night.handle.home)
    try:
        with exclusive_writer(night.handle):
            for _ in range(pages.AGAIN):
                seen = pages.read(path, below=home)
                if seen is None and not sections:
                    return
                text = _text(night.handle, seen.text if seen else "", sections)
                if text is None:
                    night.notes.append(f"{path.name} was left alone: its markers are not whole")
                    return
                if (seen is not None and text == seen.text) or pages.replace(path, text, seen, below=home):
                    return
    except InvalidInput as error:
        night.notes.append(f"{path.name} was left alone: {error.detail}")


def _text(handle: Handle, text: str, sections: Sequence[tuple[str, Sequence[Shown]]]) -> str | None:
    """The file with the region as it should be; None where nobody can tell where that is."""
    found = region.find(text)
    if isinstance(found, Broken):
        return None
    language = handle.settings.language
    every = " ".join(row.content for _, rows in sections for row in rows)
    language = language_of(every) if language == "auto" else language
    named = [(label(f"persona.{group}", language), rows) for group, rows in sections]
    body, _ = region.body(named, at_most=CHARS, short=lambda id: id[-SHORT:], omitted=label("page.omitted", language))
    if found is not None and _digest(handle, found.version, found.body) == found.digest and found.body.strip() == body.strip():
        return text
    if found is None:
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        found = Page(text + gap if text.strip() else f"# {label('persona.title', language)}\n\n", "", "", "", "")
    version = handle.new_id()[-SHORT:]
    after = region.below(found.after, _own(handle, found))
    page = Page(found.before, version, _digest(handle, version, body), body, after)
    return region.format_page(page, help=label("persona.help", language))


def _own(handle: Handle, found: Page) -> list[str]:
    """The lines of a region that a person wrote or changed."""
    if not found.digest or _digest(handle, found.version, found.body) == found.digest:
        return []
    return [item.raw for item in region.items(found.body) if item.statement and not _is_ours(handle, item)]


def _is_ours(handle: Handle, item: region.Item) -> bool:
    """Whether a line says what the memory of its id says."""
    rows = handle.store.memories(handle.own(), Memories(suffix=item.id)) if item.id else []
    return any(" ".join(row.content.split()) == item.text for row in rows)


def _digest(handle: Handle, version: str, body: str) -> str:
    return handle.scope_seal(f"persona\0{region.without_blank_lines(version, body)}").hex()[:12]
