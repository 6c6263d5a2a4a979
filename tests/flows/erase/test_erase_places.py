"""
The list of all files of a home that can hold text: it is complete, and an erasure clears each.

Tables and their columns are found from the schema (test_erase_columns.py); this is about the files. Whoever adds a file adds its
place here, with what an erasure makes of it.
"""

import hashlib
import json
import random
import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import canaries
import integrity
import pytest
import sampling
from embedders import Hashed
from flows.erase.test_erase import LONG
from hooking import capture

from yiku import Memory
from yiku.files import inbox, transcripts
from yiku.files.vault import Home
from yiku.flows.common.handle import Handle
from yiku.flows.keep.transcripts import catch_up
from yiku.types import Turns

# The sentence is put into each of these, and is in none of them after an erasure. `scopes/<n>/` has the same files.
TEXTS = (
    r"yiku\.db",
    r"backups/[^/.][^/]*\.db",
    r"blobs/[0-9a-f]{2}/[0-9a-f]+\.z",
    r"transcripts/\d+/[^/]+\.jsonl",
    r"transcripts/lost/[^/]+\.jsonl",
    r"damaged/.+",
    r"copies/.+",
    r"MEMORY\.md",
    r"USER\.md",
    r"identity/personas/user_custom\.md",
    r"memory/\d{4}-\d\d-\d\d\.md",
    r"memory/archive/\d{4}-\d\d-\d\d\.md",
    r"memory/(?!archive/)[^\d][^/]*\.md",
    r"documents/(?!\.copied$).+",
    r"skills/.+",
    r"identity/(?!compiled/).+",
    r"identity/compiled/(soul\.summary|agent\.core|agent\.tooling|user\.summary|persona\.custom)\.md",
    r"reports/snapshot\.md",
    r"reports/days/\d{4}-\d\d-\d\d\.md",
    r"reports/[\d-]{16}[0-9a-f]{8}\.md",
    r"inbox/(events|taken)[^/]*\.jsonl",
    r"inbox/unreadable\.jsonl",
)
# What is told is never in these: names, settings, numbers, hashes.
NO_TEXTS = (
    r"yiku\.db-(wal|shm)",  # emptied; a row that is still in the WAL was in yiku.db
    r"yiku\.toml|\.gitignore|key|store\.id|reserve|paused|agents\.json",
    r"erasures/[0-9a-f]{8}-[^/]+\.json",
    r"vectors/(vectors\.db(-wal|-shm)?|lock|\d+\.columns)",
    r"transcripts/\d+/mark",
    r"identity/compiled/\.compiled_at",
    r"documents/\.copied",
    r"reports/[\d-]{16}[0-9a-f]{8}\.json",
    r"inbox/(mark|reserve|shown)",
    r"locks/(backup|consolidate|embedder|hooks|inbox|learner|note-writer|notes|sessions|transcripts|watcher|write)\.lock",
)


def place_of(name: str) -> str | None:
    """The place in the list that a file, named from the home, belongs to; None for one that nobody listed."""
    own = re.sub(r"^scopes/\d+/", "", name)
    return next((place for place in (*TEXTS, *NO_TEXTS) if re.fullmatch(place, own)), None)


def files(home: Path) -> list[str]:
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file())


def say_everywhere(home: Path, sentence: str, neighbour: str) -> str:
    """
    A sentence in each place of the list, in files beside another sentence. The id of a statement that says it.

    neighbour: what the files say besides, which is to stay
    """
    with Memory(home, owner="user:mei", durability="fast", vaults=["team:atlas"]) as memory:
        said = f"{neighbour} {sentence} 之后 Afterwards."
        write(home, "documents/deep/计划.md", f"# Plans 计划\n\n{said}\n\n- {sentence}\n- item 项\n")
        write(home, "documents/plain.txt", said)
        write(home, "skills/tea.md", f"---\nname: tea\n---\n\n> {said}\n")
        write(home, "memory/ideas.md", f"{sentence}\r\n\r\n{neighbour}\r\n")
        write(home.parent, "vault/Garden 花园.md", f"# Garden\n\n{said}\n")
        memory.notes.index_document(home.parent / "vault", update=True)
        memory.notes.append_daily(said, {"of": [sentence]}, said_at="2020-05-05T10:00")
        memory.notes.append_daily(said, {"from": "chat 聊天"})
        memory.notes.promote(said, topic="Things 事物", summary=sentence)
        write(home, "USER.md", f"{said}\n")
        turn = memory.record_turn("user", f"Hm. {sentence} Bye.", session="s1 会话")
        memory.record_turn("user", f"{LONG}{sentence}\n{LONG}", session="long")
        kept = memory.remember(sentence, source=turn.id).memory
        memory.remember("I live in Oslo. 我住在奥斯陆。")
        memory.remember(f"{sentence} Until tonight 今晚为止", expires_at=datetime.now().astimezone() + timedelta(hours=1))
        memory.remember(sentence, kind="persona_trait")
        memory.admin.consolidate(phase=4)
        memory.notes.publish()
        for name in ("SOUL.md", "AGENT.md", "personas/jarvis.md", "prompts/policies.md"):
            write(home, f"identity/{name}", f"# Tools 工具\n\n- Always: {sentence}\n- {neighbour}\n")
        memory.prompts.compile()
        memory.notes.compact(strategy="archive")
        memory.notes.sync()
        catch_up(memory._handle)
    with Memory(home, clock=lambda: datetime.now().astimezone() + timedelta(days=1)) as memory:
        assert memory.admin.consolidate().counts["expired"]
    with Memory(home) as memory:
        backup = memory.admin.backup()
        lost_transcript(memory._handle, sentence)
    capture(home, "prompt", prompt=said)
    inbox.set_aside(Home(home), f'{{"yiku":1,"id":"0","prompt":"{sentence}'.encode())
    write(home, "damaged/20260301/yiku.db", Path(backup.path).read_bytes()[:-3_000])
    write(home, "copies/pages/facts.md", f"- [{kept.id}] {sentence}\n")
    return kept.id


def lost_transcript(handle: Handle, sentence: str) -> None:
    """A turn that only a transcript which was put aside still holds."""
    folder = transcripts.Folder(handle.paths, str(handle.own()[0]))
    turn = handle.store.turns(handle.own(), Turns(limit=1))[0]
    folder.append("gone", [transcripts.line(replace(turn, id=handle.new_id(), session="gone", position=0, content=sentence))])
    folder.put_aside(folder.path / transcripts.file_name("gone"), handle.now())


def write(home: Path, name: str, content: str | bytes) -> None:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def check_erased_everywhere(home: Path, seed: int) -> None:
    """Say it everywhere, erase it, look for it. What stood beside it is there afterwards."""
    chance = random.Random(seed)
    word, han = canaries.latin(chance), canaries.chinese(chance)
    neighbour = "The pump hums at night. 水泵夜里嗡嗡响。"
    id = say_everywhere(home, f"My watchword is {word} {han}.", neighbour)
    heard = {place_of(one.partition(":")[0]) for one in canaries.sung(home, [word, han])}
    assert {*TEXTS} == heard - {*NO_TEXTS}, "a place is not filled"
    beside = [name for name in files(home) if neighbour.encode() in (home / name).read_bytes() and name.endswith((".md", ".txt"))]
    beside = [name for name in beside if not name.startswith("identity/compiled/")]
    with Memory(home) as memory:
        erased = memory.admin.erase(id)
        assert [] == canaries.sung(home, [word, han])
        assert erased.clean, [place for place in erased.places if place.found]
        memory.notes.sync()
        memory.notes.publish()
        memory.learn()
        memory.admin.backup()
        assert () == memory.admin.check("deep").problems
    assert [] == canaries.sung(home, [word, han])
    assert [] == [name for name in beside if neighbour.encode() not in (home / name).read_bytes()]
    integrity.check(home / "yiku.db")


def test_every_file_of_a_home_lies_in_a_place_of_the_list(home):
    """A file that nobody listed: add its place, and see that an erasure reaches it."""
    say_everywhere(home, "My watchword is tulip. 暗号是郁金香。", "The pump hums.")
    with Memory(home, embedder=Hashed()) as memory:
        memory.admin.embed()
        memory.admin.erase(memory.remember("A word that goes. 走").memory.id)
        memory.sessions.end("s1 会话")
        memory.notes.watch(stopped=lambda: True)
        memory.admin.pause()
        with Memory(home, scope="team:atlas", vaults=["team:atlas"]) as other:
            other.admin.resume()
            other.remember("Our tea is green. 我们的茶")
            other.notes.publish()

    assert [] == [name for name in files(home) if place_of(name) is None]
    assert {place_of("scopes/2/MEMORY.md"), place_of("MEMORY.md")} == {r"MEMORY\.md"}
    assert place_of("cache/answers.json") is None


@pytest.mark.spec("T-39")
def test_what_is_erased_is_in_no_place_of_the_list(home):
    """A statement that stands in every place: the database, backups, blobs, transcripts, notes, pages; each was seen to hold it."""
    check_erased_everywhere(home, sampling.SEED)


def test_the_notes_of_another_scope_are_its_own(home):
    """A word that was erased here stands in notes of another scope, not indexed yet: those are somebody's own sentences."""
    with Memory(home, owner="user:mei") as memory:
        with Memory(home, scope="team:atlas", vaults=["team:atlas"]) as other:
            other.remember("Our tea is green. 我们的茶")
            number = other._handle.own()[0]
        write(home, f"scopes/{number}/documents/boats.md", "The boat Zephyrine leaks. 西风号漏水。\n")
        erased = memory.admin.erase(memory.remember("My watchword is Zephyrine. 暗号").memory.id)

    assert erased.clean, [place for place in erased.places if place.found]


def test_the_list_of_copies_holds_digests_of_this_home_alone(tmp_path):
    """Neither a path nor a sentence, nor a digest of one that another home or a bare hash function would make; before and after erasing."""
    chance = random.Random(sampling.SEED)
    word, han = canaries.latin(chance), canaries.chinese(chance)
    note = tmp_path / word / "vault" / "Garden 花园.md"
    write(note.parent, note.name, sentence := f"My watchword is {word} {han}.\n")
    said = [word, han, sentence, sentence.strip(), note.name, str(note), str(note.resolve()), "documents/vault/Garden 花园.md"]
    bare = {hashlib.new(how, text.encode()).hexdigest() for how in ("md5", "sha1", "sha256", "sha512", "blake2b") for text in said}
    kept = []
    for name in ("one", "two"):
        with Memory(home := tmp_path / name, owner="user:mei") as memory:
            memory.notes.index_document(note.parent, update=True)
            kept.append(json.loads((home / "documents" / ".copied").read_bytes()))
            memory.admin.erase(memory.remember(sentence).memory.id)
            memory.notes.index_document(note.parent, update=True)
            kept.append(json.loads((home / "documents" / ".copied").read_bytes()))
            assert [] == canaries.sung(home, [word, han]), "the original brought it back"
    one, again, two, _ = ({key, *values} for given in kept for key, values in [*given.items()])
    assert 3 == len(one) and all(re.fullmatch("[0-9a-f]{16,}", digest) for digest in one)
    assert not one & two and not {digest[:16] for digest in one | two | again} & {digest[:16] for digest in bare}
