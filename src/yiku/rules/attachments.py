"""
Files in what was said and done: those that the user sent, those that a tool made, and which of them a question wants.

What was sent is named in a turn: in its metadata, in parts of its content as hosts write them, as a picture in
Markdown, or as `[file: report.pdf]`. What was made is named in a tool's call: the verb is in the tool's name
(write_file, saveChart, take_screenshot), the place in a parameter whose name says so, or else in the result («saved
to …»). A call that failed made nothing, and one that edits a file did not make it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from yiku.rules.ask import Question
from yiku.rules.calls import Call, calls
from yiku.types import Attachment, Direction, Origin, Turn

Sort = Literal["picture", "voice", "video", "document", "file"]

EMPTY_DAYS = 90  # an attachment of which nothing is known is dropped after so long; C-35
INDEXED_CHARS = 8_000  # of the text of a document
PATH_CHARS = 1_000
MOST = 200  # attachments of one call

_TYPES = {
    kind: suffixes.split()
    for kind, suffixes in {
        "image/{}": "png gif webp bmp heic avif",
        "audio/{}": "wav ogg flac aac opus",
        "video/{}": "mp4 webm mpeg",
        "application/{}": "pdf json zip xml rtf",
        "text/{}": "csv html css",
    }.items()
}
MIME = {suffix: kind.format(suffix) for kind, suffixes in _TYPES.items() for suffix in suffixes} | {
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "svg": "image/svg+xml",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "mp3": "audio/mpeg",
    "m4a": "audio/mp4",
    "amr": "audio/amr",
    "mov": "video/quicktime",
    "mkv": "video/x-matroska",
    "avi": "video/x-msvideo",
    "txt": "text/plain",
    "log": "text/plain",
    "md": "text/markdown",
    "htm": "text/html",
    "tsv": "text/tab-separated-values",
    "py": "text/x-python",
    "js": "text/javascript",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "epub": "application/epub+zip",
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
    "ppt": "application/vnd.ms-powerpoint",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "gz": "application/gzip",
    "tar": "application/x-tar",
}

# ------------------------------------------------------------------ found in turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A file that a turn sent or made, before it has an id: its place (a path or an address), and what was said of it."""

    turn: Turn
    direction: Direction
    filename: str
    local_path: str | None = None
    url: str | None = None
    mime_type: str | None = None
    file_size: int | None = None
    description: str | None = None
    transcription: str | None = None
    extracted_text: str | None = None

    def attachment(self, *, id: str, now: datetime) -> Attachment:
        """As it is kept."""
        return Attachment(
            id=id,
            session=self.turn.session,
            turn=self.turn.id,
            direction=self.direction,
            filename=self.filename,
            original_filename=self.filename,
            mime_type=self.mime_type,
            file_size=self.file_size,
            local_path=self.local_path,
            url=self.url,
            description=self.description,
            transcription=self.transcription,
            extracted_text=self.extracted_text,
            said_at=self.turn.said_at,
            created_at=now,
            updated_at=now,
        )


def found(turns: Sequence[Turn]) -> tuple[Found, ...]:
    """Every file that the turns sent or made, in order; one place once, as it was named last."""
    every = [*(one for turn in turns for one in sent(turn)), *made(turns)]
    places = {(one.direction, one.local_path or one.url): one for one in every}
    order = {turn.id: place for place, turn in enumerate(turns)}
    return tuple(sorted(places.values(), key=lambda one: order[one.turn.id]))[:MOST]


def mime(name: str) -> str | None:
    """The type of a file, by how its name ends."""
    return MIME.get(name.partition("?")[0].rpartition(".")[2].lower())


def _named(turn: Turn, place: str, direction: Direction, **known: Any) -> Found | None:
    """A file by its path or address; None where the place is none."""
    place = place.strip().strip("\"'<>`")
    if not place or len(place) > PATH_CHARS or "\n" in place or place.startswith("data:") or place.endswith(("/", "\\")):
        return None
    is_url = re.match(r"[a-z][a-z0-9+.-]+://", place, re.IGNORECASE) is not None and not place.startswith("file://")
    path = None if is_url else place.removeprefix("file://")
    name = str(known.pop("filename", None) or re.split(r"[/\\]", (place if is_url else path or "").partition("?")[0])[-1] or place)
    given = known.pop("mime_type", None)
    return Found(
        turn=turn,
        direction=direction,
        filename=name[:PATH_CHARS],
        local_path=path,
        url=place if is_url else None,
        mime_type=given or mime(name) or mime(place),
        **known,
    )


# ------------------------------------------------------------------ sent

_PARTS = ("attachments", "files", "images", "media", "audio", "content", "parts")  # entries of a turn's metadata
_PLACES = ("local_path", "path", "file_path", "url", "uri", "href", "image_url", "file_url", "filename", "name")
_PICTURE = re.compile(r"!\[([^\]\n]{0,300})\]\(<?([^)\s>\n]{1,1000})>?(?:\s+\"[^\"\n]*\")?\)")
_BRACKETED = re.compile(
    r"[\[［【](?:file|image|picture|photo|audio|voice|video|document|attachment|文件|图片|照片|语音|音频|视频|附件|文档)(?:[:：]\s*|\s+)"
    r"([^\]］】\n]{1,1000})[\]］】]",
    re.IGNORECASE,
)
_A_TYPE = re.compile(r"(?:image|audio|video|application|text)/[\w.+-]+\s*")


def sent(turn: Turn) -> tuple[Found, ...]:
    """The files that a message carries: those of the user are inbound, those of the assistant outbound."""
    if turn.role not in ("user", "assistant"):
        return ()
    direction: Direction = "inbound" if turn.role == "user" and turn.origin is Origin.USER else "outbound"
    listed = [one for key in _PARTS for part in _list(turn.metadata.get(key)) if (one := _part(turn, part, direction))]
    pictures = [
        _named(turn, match[2], direction, description=match[1].strip() or None) for match in _PICTURE.finditer(turn.content)
    ]
    names = [_named(turn, _A_TYPE.sub("", match[1]), direction) for match in _BRACKETED.finditer(turn.content)]
    places = {(one.local_path or one.url): one for one in (*names, *pictures, *listed) if one}
    return tuple(places.values())[:MOST]


def _list(given: object) -> Sequence[object]:
    return given if isinstance(given, Sequence) and not isinstance(given, str) else [] if given is None else [given]


def _part(turn: Turn, part: object, direction: Direction) -> Found | None:
    """A file from an entry: its bare name, a mapping, or a part of a message with the file inside."""
    if isinstance(part, str):
        return _named(turn, part, direction) if mime(part) or "/" in part else None
    if not isinstance(part, Mapping) or part.get("type") in ("text", "input_text", "output_text", "tool_use", "tool_result"):
        return None
    inner: Mapping[str, Any] = next(
        (part[key] for key in ("image_url", "file", "input_audio", "source", "video_url") if isinstance(part.get(key), Mapping)), {}
    )
    given = {**part, **inner}
    place = next((given[key] for key in _PLACES if isinstance(given.get(key), str) and not given[key].startswith("data:")), "")
    known = {
        "filename": next(
            (given[key] for key in ("original_filename", "filename", "name", "title") if isinstance(given.get(key), str)), None
        ),
        "mime_type": next(
            (given[key] for key in ("mime_type", "media_type", "content_type", "mimetype") if isinstance(given.get(key), str)), None
        ),
        "file_size": next((given[key] for key in ("file_size", "size") if isinstance(given.get(key), int)), None),
        "description": _text(given, "description", "caption", "alt", "alt_text"),
        "transcription": _text(given, "transcription", "transcript"),
        "extracted_text": _text(given, "extracted_text", "ocr"),
    }
    return _named(turn, place, direction, **known)


def _text(given: Mapping[str, Any], *keys: str) -> str | None:
    return next((value.strip() for key in keys if isinstance(value := given.get(key), str) and value.strip()), None)


# ------------------------------------------------------------------ made

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[\u4e00-\u9fff]+")
_MAKING = frozenset(
    "write create save download export generate render screenshot capture record draw plot draft compose convert synthesize tts store dump"
    " 写入 保存 下载 导出 生成 截图 截屏 录音 绘制 创建 写文件 保存文件 下载文件 生成图片".split()
)
_NOT_FILES = frozenset(
    "read list search find view delete remove upload check validate edit"
    " directory dir folder mkdir branch issue pull pr task todo todos event table database memory comment session".split()
)
_PATHS = frozenset(
    "path filepath file filename output outputpath outpath outputfile outfile savepath saveto saveas dest destination destpath target"
    " targetpath localpath downloadpath screenshotpath imagepath"
    " 路径 文件 文件名 保存路径 输出路径".split()
)
_OUTPUTS = frozenset(
    "outputpath outpath outputfile outfile savepath saveto saveas downloadpath screenshotpath 保存路径 输出路径".split()
)
_PATHLIKE = re.compile(r"[^\s].*[/\\][^/\\\n]+|[^\s/\\\n][^/\\\n]*\.[A-Za-z0-9]{1,8}")
_SAVED = re.compile(
    r"(?:saved|written|wrote|created|downloaded|exported|generated|stored|rendered)\b[^\n:]{0,40}?(?:\b(?:to|at|as|in|into)\b|:)"
    r"\s*[:\"'`]?([^\s\"'`<>|*?]*[/\\][^\s\"'`<>|*?]+|[^\s\"'`<>|*?/\\]+\.[A-Za-z0-9]{1,8})"
    r"|(?:已?保存|写入|导出|下载|生成)(?:到|至|为|在|于|了)?\s*[:：]?\s*[「“\"'`]?"
    r"([^\s\"'`<>|*?，。」”]*[/\\.][^\s\"'`<>|*?，。」”]+)",
    re.IGNORECASE,
)


def made(turns: Sequence[Turn]) -> tuple[Found, ...]:
    """The files that tools made: each path once, as the last call made it."""
    places: dict[str, Found] = {}
    for call in calls(turns):
        shown = _text(call.params, "description", "caption", "title", "prompt")
        for path in _written(call):
            if one := _named(call.turn, path, "outbound", description=shown):
                key = one.local_path or one.url or ""
                places.pop(key, None)
                places[key] = one
    return tuple(places.values())


def _written(call: Call) -> Iterator[str]:
    """The paths that a call wrote to."""
    if call.error is not None:
        return
    given = (call.params.get(key) for key in ("command", "action", "operation", "method"))
    said = {value.lower() for value in given if isinstance(value, str) and value.isalpha()}
    words = said or {word.lower() for word in _WORDS.findall(call.name)}  # one tool may have several verbs
    making = not words.isdisjoint(_MAKING) and words.isdisjoint(_NOT_FILES)
    wanted = _PATHS if making else _OUTPUTS
    named = [
        value
        for key, value in call.params.items()
        if re.sub(r"[_\-\s]", "", key).lower() in wanted and isinstance(value, str) and _is_file(value, sure=making)
    ]
    if named:
        yield from named
    elif making and call.result:
        yield from ((match[1] or match[2]).rstrip(".,;:)") for match in _SAVED.finditer(call.result[:4_000]))


def _is_file(value: str, *, sure: bool) -> bool:
    """Whether a value is the path of a file: a tool that writes files may give one without a suffix (Makefile)."""
    if re.match(r"[a-z]+://", value) or "\n" in value or value.endswith(("/", "\\")):
        return False
    return _PATHLIKE.fullmatch(value.strip()) is not None or (sure and re.fullmatch(r"[A-Za-z][\w-]{2,40}", value) is not None)


# ------------------------------------------------------------------ asked for

_SORTS: tuple[tuple[Sort, re.Pattern[str]], ...] = (
    ("voice", re.compile(r"\b(?:voice|recordings?|audio)\b|语音|录音|音频")),
    ("video", re.compile(r"\b(?:videos?|clips?|footage)\b|视频|录像")),
    (
        "picture",
        re.compile(
            r"\b(?:pictures?|photos?|photographs?|images?|screenshots?|pics?|drawings?)\b|图片|照片|相片|截图|截屏|(?:张|幅|的|那)图"
            r"|图(?:发|给|呢)"
        ),
    ),
    (
        "document",
        re.compile(
            r"\b(?:documents?|pdfs?|docx?|spreadsheets?|slides|reports?|presentations?|scans?)\b|文档|表格|幻灯片|报告|扫描件|合同|论文"
        ),
    ),
)
_KINDS: dict[Sort, str] = {
    "picture": r"image/",
    "voice": r"audio/",
    "video": r"video/",
    "document": r"text/|application/(?:pdf|msword|rtf|epub|vnd\.|json|xml|yaml)",
    "file": "",
}


def wants(question: Question) -> Sort | None:
    """Which sort of file a question asks for; None when it asks for none."""
    if not question.wants_file:
        return None
    return next((sort for sort, pattern in _SORTS if pattern.search(question.text)), "file")


def fits(sort: Sort, attachment: Attachment) -> bool:
    """Whether an attachment may be of that sort; one whose type is not known may be of any."""
    kind = attachment.mime_type or mime(attachment.filename)
    return kind is None or re.match(_KINDS[sort], kind) is not None


# ------------------------------------------------------------------ kept


def text(attachment: Attachment) -> str:
    """What an attachment is found by: what it shows, says and holds, its names and tags."""
    names = dict.fromkeys(name for name in (attachment.filename, attachment.original_filename) if name)
    parts = (
        attachment.description,
        attachment.transcription,
        (attachment.extracted_text or "")[:INDEXED_CHARS],
        *names,
        " ".join(attachment.tags),
    )
    return "\n".join(part for part in parts if part)


def stale(attachment: Attachment, now: datetime) -> bool:
    """Whether it may be dropped: older than EMPTY_DAYS, and nothing is known of it, kept of it or linked to it."""
    known = (
        attachment.description,
        attachment.transcription,
        attachment.extracted_text,
        attachment.linked_memory_ids,
        attachment.blob,
        attachment.tags,
    )
    return not any(known) and now - attachment.said_at > timedelta(days=EMPTY_DAYS)
