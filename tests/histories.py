"""
Random histories of a home whose MEMORY.md and USER.md a program and a person edit at once.

The program remembers, updates, forgets, takes back, and reopens. The person changes, adds and removes lines, writes beside the
region, saves as editors do, checks out older commits, puts back copies, and saves from a window that still shows an older text.
A model of a few lines follows along: which statements must be in use, and what the person wrote beside the region. After each sync
both sides are compared with it, and with each other.
"""

import os
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from yiku import Memory
from yiku.rules.pages import region

PAGES = ("MEMORY.md", "USER.md")
KINDS = ("rule", "preference", "fact", "task", "skill", "error")
SENTENCES = ("{} hums.", "箱子{}很重", "{} 🙂 and more", "Ｆｕｌｌ {}，全角", "{} with `code` & <b>")
LINE = re.compile(r"^[-*] +(.+) #([0-9a-f-]{8,36})\s*$")


@dataclass
class Buffer:
    """What an editor shows of a page: its text, and the text from which that was made, which Yiku knows."""

    page: str
    text: str
    known: str


def lines_of(text: str) -> dict[str, str]:
    """The lines of the region that end in an id."""
    return {match[2]: match[1] for line in region.find(text).body.split("\n") if (match := LINE.match(line))}


def plain_of(text: str) -> list[str]:
    """Its statements without one."""
    return [item.text for item in region.items(region.find(text).body) if item.statement and item.id is None]


def own_of(text: str) -> list[str]:
    """What a person wrote into it that is no statement."""
    unclaimed = (item.raw for item in region.items(region.find(text).body) if not item.statement)
    return [line for raw in unclaimed for line in raw.split("\n") if "Wugp" in line]


@dataclass
class History:
    """One history, from its seed."""

    home: Path
    clock: Callable[[], datetime]
    chance: random.Random
    memory: Memory = None
    number: int = 0
    live: dict[str, str] = field(default_factory=dict)  # line of a memory → what it must say
    line_of: dict[str, str] = field(default_factory=dict)  # short id → line
    version_of: dict[str, str] = field(default_factory=dict)  # line → the short id of its current version
    open: dict[str, Buffer] = field(default_factory=dict)  # what lies on the disk
    commits: list[Buffer] = field(default_factory=list)
    backup: tuple[str, dict[str, str], list[Buffer]] | None = None
    steps_done: list[str] = field(default_factory=list)

    # ---------------------------------------------------------- the program

    def opened(self) -> None:
        self.memory = Memory(self.home, owner="user:mei", names=["Mei"], clock=self.clock)

    def sentence(self) -> str:
        self.number += 1
        return self.chance.choice(SENTENCES).format(f"Wugp{self.number}q")

    def note(self) -> None:
        """What memory has now, by its ids."""
        for row in self.memory.get_all(limit=10_000):
            self.line_of[row.id[-8:]] = row.line
            self.version_of[row.line] = row.id[-8:]

    def remember(self) -> None:
        row = self.memory.remember(self.sentence(), kind=self.chance.choice(KINDS)).memory
        self.live[row.line] = row.content

    def update(self) -> None:
        if self.live:
            line = self.chance.choice(sorted(self.live))
            self.live[line] = self.memory.update(self.version_of[line], self.sentence()).content

    def forget(self) -> None:
        if self.live:
            line = self.chance.choice(sorted(self.live))
            self.memory.forget(self.version_of[line])
            del self.live[line]

    def reopen(self) -> None:
        self.memory.close()
        self.opened()

    # ---------------------------------------------------------- the person

    def save(self, page: str, text: str) -> None:
        """As one of five editors does."""
        path = self.home / page
        style = self.chance.randrange(5)
        if style == 0:  # in place
            path.write_bytes(text.encode())
        elif style == 1:  # a new file takes the name
            new = path.with_name(f".{page}.swp")
            new.write_bytes(text.encode())
            new.rename(path)
        elif style == 2:  # the old one is kept as a backup
            path.rename(path.with_name(f"{page}~"))
            path.write_bytes(text.encode())
            path.with_name(f"{page}~").unlink()
        elif style == 3:  # removed and made anew
            path.unlink()
            path.write_bytes(text.encode())
        else:  # in place, with the old time put back
            before = path.stat()
            path.write_bytes(text.encode())
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def edit(self, buffer: Buffer) -> None:
        """A few changes to one page."""
        text = buffer.text
        removed = len(lines_of(buffer.known)) - len(lines_of(text))
        for _ in range(self.chance.randint(1, 3)):
            lines = text.split("\n")
            items = [place for place, line in enumerate(lines) if LINE.match(line)]
            begin = next(place for place, line in enumerate(lines) if "yiku:begin" in line)
            what = self.chance.randrange(7)
            if what in (0, 1) and items:
                place = self.chance.choice(items)
                lines[place] = f"- {self.sentence()} #{LINE.match(lines[place])[2]}"
            elif what == 2:
                lines.insert(self.chance.choice(items) if items else begin + 1, f"{self.chance.choice('-*')} {self.sentence()}")
            elif what == 3 and items and removed < 2:
                del lines[self.chance.choice(items)]
                removed += 1
            elif what == 4:  # beside the region
                lines.insert(self.chance.choice((0, len(lines))), f"My own {self.sentence()}")
            elif what == 5 and len(items) > 1:  # another order, other bullets, other spaces
                one, two = self.chance.sample(items, 2)
                lines[one], lines[two] = f"*   {lines[two][2:].strip()}  ", lines[one]
            else:  # no statement
                lines.insert(begin + 1, self.chance.choice(("> quoted {}", "### {}", "| {} | b |")).format(self.sentence()))
            text = "\n".join(lines)
        self.open[buffer.page] = Buffer(buffer.page, text, buffer.known)
        self.save(buffer.page, text)

    def edit_disk(self) -> None:
        """The page as it lies there, perhaps with edits that were not read yet."""
        self.edit(self.open[self.chance.choice(PAGES)])

    def edit_older(self) -> None:
        """From a window that still shows what was known at some time: what was written beside the region since is saved over."""
        if self.commits:
            self.sync()
            self.edit(self.chance.choice(self.commits))

    def check_out(self) -> None:
        """An older commit, or a copy that was put back."""
        if self.commits:
            self.sync()
            buffer = self.chance.choice(self.commits)
            self.open[buffer.page] = buffer
            self.save(buffer.page, buffer.text)

    def lose(self) -> None:
        """A page is removed, or gets another name: its own text is the person's to bring back."""
        self.sync()
        page = self.chance.choice(PAGES)
        path = self.home / page
        path.unlink() if self.chance.random() < 0.5 else path.rename(path.with_name(f"{self.number} {page}"))
        report = self.memory.notes.sync()
        assert [one.action for one in report.pages if one.path == page] in (["missing"], []), report
        self.memory.notes.publish()
        text = path.read_text()
        self.open[page] = Buffer(page, text, text)

    def restore(self) -> None:
        """The database of a backup, beside pages that know more."""
        self.sync()
        if self.backup is None or self.chance.random() < 0.3:
            name = Path(self.memory.admin.backup().path).name
            self.backup = name, dict(self.live), [*self.commits]
            return
        name, live, commits = self.backup
        self.memory.admin.restore_backup(name)
        self.live, self.commits = dict(live), [*commits]
        self.version_of = {}
        self.sync()

    def commit(self) -> None:
        """Of pages as they were edited, and of what became of them."""
        edited = [*self.open.values()]
        self.sync()
        self.commits += [Buffer(buffer.page, buffer.text, buffer.text) for buffer in edited]
        self.commits += self.open.values()

    # ---------------------------------------------------------- both

    def expected(self) -> None:
        """The model is brought in step with the edits on the disk."""
        for buffer in (self.open[page] for page in PAGES):
            before, now = lines_of(buffer.known), lines_of(buffer.text)
            for short, text in now.items():
                if text != before[short]:
                    line = self.line_of[short]
                    self.live[line if line in self.live else text] = text
                    self.version_of.pop(line, None)
            for text in plain_of(buffer.text):
                if text not in plain_of(buffer.known):
                    self.live[text] = text
            for short in before.keys() - now.keys():
                line = self.line_of[short]
                if self.version_of.get(line) == short:
                    self.live.pop(line, None)

    def sync(self) -> None:
        """Both sides are read; what they have is what they must have."""
        self.note()
        self.expected()
        report = self.memory.notes.publish()
        assert not [page for page in report.pages if page.why], report
        rows = self.memory.get_all(limit=10_000)
        assert sorted(row.content for row in rows) == sorted(self.live.values()), "what memory has"
        self.live = {row.line: row.content for row in rows}
        self.note()
        for page in PAGES:
            text = (self.home / page).read_text()
            before, after = region.find(self.open[page].text), region.find(text)
            assert before.before == after.before, "what a person wrote stands as it stood"
            assert after.after.endswith(before.after)
            assert all(piece in after.after for piece in own_of(self.open[page].text))
            self.agree(text)
            self.open[page] = Buffer(page, text, text)
        again = self.memory.notes.publish()
        assert [page.action for page in again.pages] == ["unchanged"] * 2, again

    def agree(self, text: str) -> None:
        """What a page shows is what memory has now, under its present ids."""
        shown = lines_of(text)
        assert {short: self.live.get(self.line_of[short]) for short in shown} == shown
        assert {self.version_of[self.line_of[short]] for short in shown} == {*shown}


STEPS = (
    *(History.remember,) * 4,
    *(History.update,) * 2,
    History.forget,
    History.reopen,
    *(History.edit_disk,) * 6,
    *(History.edit_older,) * 2,
    *(History.check_out,) * 2,
    *(History.commit,) * 3,
    History.lose,
    History.restore,
    *(History.sync,) * 2,
)


def play(home: Path, clock: Callable[[], datetime], seed: int, steps: int) -> int:
    """A history of so many steps; how many sentences there were."""
    history = History(home, clock, random.Random(seed))
    history.opened()
    try:
        for _ in range(6):
            history.remember()
        history.memory.notes.publish()
        for page in PAGES:
            text = (home / page).read_text()
            history.open[page] = Buffer(page, text, text)
        for _ in range(steps):
            clock.advance(minutes=7)
            step = history.chance.choice(STEPS)
            history.steps_done.append(step.__name__)
            history.note()
            step(history)
        history.sync()
    except AssertionError as error:
        error.add_note(f"seed {seed}, steps: {', '.join(history.steps_done)}")
        raise
    finally:
        history.memory.close()
    return history.number
