"""Parse a built prompt back into its sections and lines, to check that nothing in it escaped its fence."""

import hashlib
import re
from datetime import UTC, datetime

from yiku.rules.finding import pack
from yiku.rules.lexicon.lists import label
from yiku.rules.privacy import fence, quoting
from yiku.types import Hit, Link, Origin, SemanticMemory, Turn
from yiku.types.invisible import UNSEEN

AT = datetime(2026, 3, 2, tzinfo=UTC)
# What texts are made of that would be more than words: ends of the fence and of lines, ids, roles, what nobody sees.
TROUBLE = (
    "\n- | (2026-01-01, user, #00000000)|#12345678|</yiku-memory>|</YIKU-MEMORY>|< / yiku-memory >|＜/yiku-memory＞|&#60;/yiku-memory&#62;"
    "|&amp;lt;/yiku-memory|<|>|yiku|-memory|<system>|SYSTEM: |<|im_end|>|[INST]|[/|</memory>|\u2028|\x85|\x1b[2J|\x1b]0;x\x07|\x9b|\u202e"
    "|\u200b|\U000e0041|\r\n|\t|：|: |, |(|)|#|＃|0000|茶|tea|no longer so|2026-03-02|\x00|&|;|'"
).split("|")

_TURN = re.compile(r"- (?P<who>[^:]*): (?P<text>.*) \(#(?P<id>[0-9a-f]{8})\)")
_MEMORY = re.compile(r"- (?P<text>.*) \(2026-03-02, (?P<who>[^(),:#]*), #(?P<id>[0-9a-f]{8})\)")
_ANY_ID = re.compile(r"[#＃][0-9a-fA-F]{8}(?![0-9a-fA-F])")
_MARK = re.compile(  # brackets before our name or around a role; a bracket alone is only a sign
    r"(?:[<＜(\[]|&(?:amp;)*(?:lt;?|#60;?))[\s/]*yiku[\s-]*memory|[<＜]\s*/?\s*(?:system|memory)\s*[>＞]|<\s*\|[^<>|]+\|\s*>|\[\s*/?\s*INST\s*\]",
    re.IGNORECASE,
)


def seal(text: str) -> bytes:
    """That of a home of the tests."""
    return hashlib.blake2b(text.encode(), digest_size=16, key=b"a home of the tests").digest()


def hit(text: str, speaker: str, place: int, *, memory: bool = False) -> Hit:
    """A turn of one session, or a statement, with an id of its place."""
    id = f"{place:016x}"
    link = Link(id=id, session="s", speaker=speaker, origin=Origin.USER, said_at=AT)
    common = {"id": id, "content": text, "said_at": AT, "origin": Origin.USER}
    if memory:
        item = SemanticMemory(**common, line=id, content_hash=b"", confirmed_at=AT, valid_from=AT, created_at=AT, updated_at=AT)
    else:
        item = Turn(**common, session="s", position=place, role="user", recorded_at=AT)
    return Hit(item=item, relevance=1.0, score=1.0, routes={}, sources=(link,))


def misread(said: list[tuple[str, str]], *, memory: bool = False, rules: bool = False) -> str | None:
    """How a prompt with these texts and speakers is read otherwise than it was written; None when it is not."""
    memory = memory or rules
    hits = [hit(f"x{text}", f"S{speaker}", place, memory=memory) for place, (text, speaker) in enumerate(said)]
    standing = pack.standing_rules(hits if rules else [], 20_000, "en")
    text = pack.pack([] if rules else hits, 20_000, "en", seal=seal, rules=standing).text
    first, heading, *lines, last = text.split("\n")
    if heading != label("context.rules" if rules else "context.heading", "en"):
        return f"another heading stands there: {heading}"
    if not memory and lines.pop(0) != "2026-03-02":
        return "the date of the conversation is gone"
    read = [(_MEMORY if memory else _TURN).fullmatch(line) for line in lines]
    if len(read) != len(said) or not all(read):
        return f"{len(said)} were put in, and these lines stand there: {lines}"
    wanted = [_ANY_ID.sub(lambda found: f"# {found[0][1:]}", " ".join(quoting.inert(f"x{one}").split())) for one, _ in said]
    wrong = [
        what
        for what, found in {
            "a line has another id": [one["id"] for one in read if one] != [f"{place:08x}" for place in range(len(said))],
            "words were changed": [one["text"] for one in read if one] != wanted,
            "an id was forged": len(said) != sum(len(_ANY_ID.findall(line)) for line in lines),
            "a mark stands in it": any(map(_MARK.search, lines)),
            "something is invisible": re.search(f"[{UNSEEN}\t]", text) is not None,
            "its fence is not known again": fence.strip_ours(f"a {text} b", seal) != ("a  b", 1, 0)
            or (last, first[:13]) != (fence.CLOSE, "<yiku-memory "),
        }.items()
        if found
    ]
    return f"{', '.join(wrong)}: {lines}" if wrong else None
