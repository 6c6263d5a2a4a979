"""
Find files in turns: those the user sent, those tools made, and which of them a question wants.

What was sent is named in a turn: in its metadata, in parts of its content as hosts write them, as a picture in
Markdown, or as `[file: report.pdf]`. What was made is named in a tool's call: the verb is in the tool's name
(write_file, saveChart, take_screenshot), the place in a parameter whose name says so, or else in the result ("saved
to …"). A call that failed made nothing, and one that edits a file did not make it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from yiku.rules.finding.ask import Question, SortOfFile, sort_of_file
from yiku.rules.lexicon.lists import at_start, looked_for, words
from yiku.rules.sessions.calls import Call, calls
from yiku.rules.sessions.messages import FRAME
from yiku.rules.text import lazy
from yiku.rules.text.folding import folded
from yiku.types import Attachment, Direction, Origin, Turn

Sort = SortOfFile | Literal["file"]

EMPTY_DAYS = 90  # an attachment of which nothing is known is dropped after so long; C-35
INDEXED_CHARS = 8_000  # of the text of a document
PATH_CHARS = 1_000
MOST = 200  # attachments of one call

_OFFICE = "vnd.openxmlformats-officedocument"
_SUFFIXES = {  # by the first half of a type; the second half is the suffix where nothing else is said
    "image": "png gif webp bmp heic avif jpeg jpg=jpeg svg=svg+xml tiff tif=tiff",
    "audio": "wav ogg flac aac opus amr mp3=mpeg m4a=mp4",
    "video": "mp4 webm mpeg mov=quicktime mkv=x-matroska avi=x-msvideo",
    "text": "csv html css htm=html txt=plain log=plain md=markdown tsv=tab-separated-values py=x-python js=javascript",
    "application": f"pdf json zip xml rtf yaml yml=yaml epub=epub+zip gz=gzip tar=x-tar doc=msword xls=vnd.ms-excel"
    f" ppt=vnd.ms-powerpoint docx={_OFFICE}.wordprocessingml.document xlsx={_OFFICE}.spreadsheetml.sheet"
    f" pptx={_OFFICE}.presentationml.presentation",
}
MIME = {
    suffix: f"{first}/{second or suffix}"
    for first, suffixes in _SUFFIXES.items()
    for suffix, _, second in (each.partition("=") for each in suffixes.split())
}

# ------------------------------------------------------------------ found in turns


def all_files(turns: Sequence[Turn]) -> tuple[Attachment, ...]:
    """Return every file that the turns sent or made, in order, each path once as named last."""
    every = [*(one for turn in turns for one in files_sent(turn)), *files_made(turns)]
    places = {(one.direction, one.local_path or one.url): one for one in every}
    order = {turn.id: place for place, turn in enumerate(turns)}
    return tuple(sorted(places.values(), key=lambda one: order[one.turn or ""]))[:MOST]


def mime(name: str) -> str | None:
    """Return the MIME type of a file by its suffix."""
    return MIME.get(name.partition("?")[0].rpartition(".")[2].lower())


def _from_name(turn: Turn, place: str, direction: Direction, **known: Any) -> Attachment | None:
    """Build an attachment from a path or URL, None if it is neither."""
    place = place.strip().strip("\"'<>`")
    if not place or len(place) > PATH_CHARS or "\n" in place or place.startswith("data:") or place.endswith(("/", "\\")):
        return None
    is_url = re.match(r"[a-z][a-z0-9+.-]+://", place, re.IGNORECASE) is not None and not place.startswith("file://")
    path = None if is_url else place.removeprefix("file://")
    name = str(known.pop("filename", None) or re.split(r"[/\\]", (place if is_url else path or "").partition("?")[0])[-1] or place)
    return Attachment(
        id="",
        session=turn.session,
        turn=turn.id,
        direction=direction,
        filename=name[:PATH_CHARS],
        original_filename=name[:PATH_CHARS],
        local_path=path,
        url=place if is_url else None,
        mime_type=known.pop("mime_type", None) or mime(name) or mime(place),
        **known,
        said_at=turn.said_at,
        created_at=turn.said_at,
        updated_at=turn.said_at,
    )


# ------------------------------------------------------------------ sent

_PARTS = ("attachments", "files", "images", "media", "audio", "content", "parts")  # entries of a turn's metadata
_INNER = ("image_url", "file", "input_audio", "source", "video_url")  # parts of a message with the file inside
_PLACES = ("local_path", "path", "file_path", "url", "uri", "href", "image_url", "file_url", "filename", "name")
_PICTURE = lazy.compile(r"!\[([^\]\n]{0,300})\]\(<?([^)\s>\n]{1,1000})>?(?:\s+\"[^\"\n]*\")?\)")
_BRACKETED = lazy.compile(r"[\[［【](\w{1,20})(?:[:：]\s*|\s+)([^\]］】\n]{1,1000})[\]］】]")
_A_TYPE = lazy.compile(r"(?:image|audio|video|application|text)/[\w.+-]+\s*")


def files_sent(turn: Turn) -> tuple[Attachment, ...]:
    """Return the files that a message carries: inbound from the user, outbound from the assistant."""
    if turn.role not in ("user", "assistant"):
        return ()
    direction: Direction = "inbound" if turn.role == "user" and turn.origin is Origin.USER else "outbound"
    frame = turn.metadata.get(FRAME)
    frame = frame if isinstance(frame, Mapping) else {}
    places = (turn.metadata, frame, frame.get("fields"))
    parts = (part for place in places if isinstance(place, Mapping) for key in _PARTS for part in _list(place.get(key)))
    listed = [one for part in parts if (one := _part(turn, part, direction))]
    pictures = [
        _from_name(turn, match[2], direction, description=match[1].strip() or None) for match in _PICTURE.finditer(turn.content)
    ]
    bracketed = (match for match in _BRACKETED.finditer(turn.content) if folded(match[1]) in words("records.attached"))
    names = [_from_name(turn, _A_TYPE.sub("", match[2]), direction) for match in bracketed]
    files = {(one.local_path or one.url): one for one in (*names, *pictures, *listed) if one}
    return tuple(files.values())[:MOST]


def _list(given: object) -> Sequence[object]:
    return given if isinstance(given, Sequence) and not isinstance(given, str) else [] if given is None else [given]


def _part(turn: Turn, part: object, direction: Direction) -> Attachment | None:
    """Build an attachment from an entry: a name, a mapping, or a message part."""
    if isinstance(part, str):
        return _from_name(turn, part, direction) if mime(part) or "/" in part else None
    if not isinstance(part, Mapping) or part.get("type") in ("text", "input_text", "output_text", "tool_use", "tool_result"):
        return None
    given = {**part, **next((part[key] for key in _INNER if isinstance(part.get(key), Mapping)), {})}
    place = next((given[key] for key in _PLACES if isinstance(given.get(key), str) and not given[key].startswith("data:")), "")
    return _from_name(
        turn,
        place,
        direction,
        filename=_text(given, "original_filename", "filename", "name", "title"),
        mime_type=_text(given, "mime_type", "media_type", "content_type", "mimetype"),
        file_size=next((given[key] for key in ("file_size", "size") if isinstance(given.get(key), int)), None),
        description=_text(given, "description", "caption", "alt", "alt_text"),
        transcription=_text(given, "transcription", "transcript"),
        extracted_text=_text(given, "extracted_text", "ocr"),
    )


def _text(given: Mapping[str, Any], *keys: str) -> str | None:
    return next((value.strip() for key in keys if isinstance(value := given.get(key), str) and value.strip()), None)


# ------------------------------------------------------------------ made

_NAME_WORDS = lazy.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[\u4e00-\u9fff]+")
_PATHLIKE = lazy.compile(r"[^\s].*[/\\][^/\\\n]+|[^\s/\\\n][^/\\\n]*\.[A-Za-z0-9]{1,8}")
_TOKEN = lazy.compile(r"[^\s\"'`<>|*?，。」”“「]+")
_REACH = 60  # characters behind "saved", in which its place begins


def files_made(turns: Sequence[Turn]) -> tuple[Attachment, ...]:
    """Return the files that tools made, each path once, as the last call made it."""
    places: dict[str, Attachment] = {}
    for call in calls(turns):
        shown = _text(call.params, "description", "caption", "title", "prompt")
        for path in _paths_written(call):
            if one := _from_name(call.turn, path, "outbound", description=shown):
                key = one.local_path or one.url or ""
                places.pop(key, None)
                places[key] = one
    return tuple(places.values())


def _paths_written(call: Call) -> Iterator[str]:
    """Yield the paths that a call wrote to."""
    if call.error is not None:
        return
    given = (call.params.get(key) for key in ("command", "action", "operation", "method"))
    said = {value.lower() for value in given if isinstance(value, str) and value.isalpha()}
    verbs = said or {word.lower() for word in _NAME_WORDS.findall(call.name)}  # one tool may have several verbs
    making = not verbs.isdisjoint(words("records.making_tools")) and verbs.isdisjoint(words("records.other_tools"))
    wanted = words("records.outputs", "records.paths") if making else words("records.outputs")
    named = [
        value
        for key, value in call.params.items()
        if re.sub(r"[_\-\s]", "", key).lower() in wanted and isinstance(value, str) and _is_file(value, sure=making)
    ]
    yield from named or (_paths_saved(call.result[:4_000]) if making and call.result else ())


def _paths_saved(result: str) -> Iterator[str]:
    """Yield the paths that a result reports as saved: "saved to /tmp/a.png", 已保存到 /tmp/a.png."""
    folded_text = folded(result)
    for match in looked_for("records.saved").finditer(folded_text):
        linked = False
        for token in _TOKEN.finditer(result, match.end(), match.end() + PATH_CHARS):
            start = at_start(folded_text, "records.saved_at", at=token.start())
            linked = linked or start > token.start() or token[0].endswith((":", "："))
            path = result[start : token.end()].strip(".,;:：)")
            if linked and _PATHLIKE.fullmatch(path):
                yield path
                break
            if token.end() - match.end() > _REACH:
                break


def _is_file(value: str, *, sure: bool) -> bool:
    """Whether a value is the path of a file: a tool that writes files may give one without a suffix (Makefile)."""
    if re.match(r"[a-z]+://", value) or "\n" in value or value.endswith(("/", "\\")):
        return False
    return _PATHLIKE.fullmatch(value.strip()) is not None or (sure and re.fullmatch(r"[A-Za-z][\w-]{2,40}", value) is not None)


# ------------------------------------------------------------------ asked for

_TYPES: dict[Sort, tuple[str, ...]] = {  # how the type of a file of that sort begins
    "voice": ("audio/",),
    "video": ("video/",),
    "picture": ("image/",),
    "document": ("text/", *(f"application/{name}" for name in ("pdf", "msword", "rtf", "epub", "vnd.", "json", "xml", "yaml"))),
    "file": ("",),
}


def wants(question: Question) -> Sort | None:
    """Return the sort of file that a question asks for, None if it asks for none."""
    if not question.wants_file:
        return None
    return sort_of_file(question.text) or "file"


def fits(sort: Sort, attachment: Attachment) -> bool:
    """Whether an attachment may be of that sort; one whose type is not known may be of any."""
    kind = attachment.mime_type or mime(attachment.filename)
    return kind is None or kind.startswith(_TYPES[sort])


# ------------------------------------------------------------------ kept


def text(attachment: Attachment) -> str:
    """Return the searchable text of an attachment: description, transcription, content, names and tags."""
    names = dict.fromkeys(name for name in (attachment.filename, attachment.original_filename) if name)
    document = (attachment.extracted_text or "")[:INDEXED_CHARS]
    parts = (attachment.description, attachment.transcription, document, *names, " ".join(attachment.tags))
    return "\n".join(part for part in parts if part)


def stale(attachment: Attachment, now: datetime) -> bool:
    """Whether an attachment may be dropped: older than EMPTY_DAYS and without content, tags or links."""
    texts = (attachment.description, attachment.transcription, attachment.extracted_text)
    known = any((*texts, attachment.linked_memory_ids, attachment.blob, attachment.tags))
    return not known and now - attachment.said_at > timedelta(days=EMPTY_DAYS)
