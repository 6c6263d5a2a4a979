"""
Every error Yiku raises, and what the caller can do about it.

    YikuError
    ├── InvalidInput            an argument cannot be taken as it is (also a ValueError)
    │   ├── InvalidScope        a scope name outside the grammar
    │   ├── InvalidFilter       a `where` that the grammar does not know
    │   ├── TooLarge            over a documented limit
    │   └── SettingsError       a value in the arguments, YIKU_* or yiku.toml
    ├── NotFound                no such thing in the scopes this handle reads (also a LookupError)
    ├── Ambiguous               a short id that fits several items
    ├── IdempotencyMismatch     one key, two different calls
    ├── KeptOut                 it is private, or its folder is switched off: nothing was stored
    │   ├── WasErased           it was erased, and stays out
    │   └── Paused              memory is paused: nothing new is stored
    ├── CannotUndo              later changes rest on what should be undone
    ├── Closed                  the memory was closed
    ├── HomeMissing             no home at this path, and create=False
    ├── ScopeRequired           the home has no owner, so a scope must be named
    ├── ModelError              a model could not help
    │   ├── ModelUnavailable    it is not there: not installed, damaged, or its endpoint does not answer
    │   └── ModelFailed         it answered, but not with what was asked for
    └── StoreError              the disk or the database said no
        ├── StoreBusy           another process holds the store longer than the waiting time
        ├── StorageFull         no space left
        ├── ReadOnly            the store cannot be written here
        ├── Damaged             the file is not a sound database
        │   ├── Unreadable      one row holds what no value can be made of; it is left out of answers
        │   └── VectorsDamaged  only the vectors are, and they can be made anew
        ├── StoreMismatch       the file is not the one that store.id means: gone, emptied, older, another's
        │   └── ErasureUndone   an older copy was laid over the home, and holds what was erased since
        ├── ForeignStore        the file belongs to another program or another home
        ├── SchemaTooNew        written by a later version of Yiku
        ├── IndexOutdated       the search index was made by another analyzer
        ├── Stale               what a decision rested on has changed (flows decide again)
        └── Unsupported         this platform or SQLite cannot keep the promises

The docstring of a class is its message and says what to do; the detail says which thing it was.
"""


class YikuError(Exception):
    """Something went wrong in Yiku."""

    def __init__(self, detail: str = "") -> None:
        super().__init__(detail)
        self.detail = detail

    @property
    def advice(self) -> str:
        """What to do, in a sentence: the class's docstring on one line."""
        return " ".join((type(self).__doc__ or "").split())

    def __str__(self) -> str:
        return f"{self.detail}. {self.advice}" if self.detail else self.advice


class InvalidInput(YikuError, ValueError):
    """This value cannot be taken as it is, and nothing was changed. Correct it and call again."""


class InvalidScope(InvalidInput):
    """A scope is 1 to 128 letters, digits and signs such as . _ : @ - | / as an id has them, without spaces or invisible characters."""


class InvalidFilter(InvalidInput):
    """A filter maps a field to a value or to {operator: value}; see docs/python.md for the fields and operators."""


class TooLarge(InvalidInput):
    """This is over the limit; nothing was written. Import it as a file, or send it in parts."""


class SettingsError(InvalidInput):
    """A setting has a value that Yiku does not know. `yiku config` shows each value and where it came from."""


class NotFound(YikuError, LookupError):
    """`yiku list` and `yiku traces` show what is in the scopes you read."""

    def __init__(self, detail: str = "", advice: str = "") -> None:
        super().__init__(detail)
        self._advice = advice  # where another verb lists what was meant

    @property
    def advice(self) -> str:
        """Which verb lists what there is."""
        return self._advice or super().advice


class Ambiguous(YikuError, LookupError):
    """This short id fits several items. Give more of its characters."""


class IdempotencyMismatch(YikuError):
    """This idempotency key was used for a different call. Use a new key for a new call."""


class KeptOut(YikuError):
    """It stays out of memory, as you asked with <private> or for this folder. Nothing was stored."""


class WasErased(KeptOut):
    """It was erased, and stays out. `remember(…, despite_erasure=True)` keeps it again, if that is meant."""


class Paused(KeptOut):
    """Memory is paused: nothing new is kept, what is known can be found. `yiku resume` ends it."""


class CannotUndo(YikuError):
    """Later changes rest on this operation. Undo those first, newest first."""


class Closed(YikuError):
    """This memory was closed. Open it again with Memory(path)."""


class HomeMissing(YikuError):
    """There is no home at this path. Open it with create=True, or name another with --home or YIKU_HOME."""


class ScopeRequired(YikuError):
    """This home has no owner. Name a scope, or set owner in yiku.toml."""


class ModelError(YikuError):
    """The model could not do this, and nothing was lost. `search = "words"` does without one."""


class ModelUnavailable(ModelError):
    """The model is not there, and nothing was lost. `search = "words"` searches without one; learning waits for it."""


class ModelFailed(ModelError):
    """The model's answer cannot be used, and nothing was lost. `yiku config` shows which model is asked, and how."""

    def __init__(self, detail: str = "", said: str = "") -> None:
        super().__init__(detail)
        self.said = said[:2_000]  # the beginning of what it said, where it said something: to ask it for a repair
        self.prompt_tokens: int | None = None  # what it cost all the same, where the endpoint counts that
        self.completion_tokens: int | None = None


class StoreError(YikuError):
    """The store could not do this. What was acknowledged before is safe; `yiku status` says more."""


class StoreBusy(StoreError):
    """Another process is writing and did not finish in time. Nothing was written; try again."""


class StorageFull(StoreError):
    """The disk is full. Nothing was written; free some space and try again."""


class ReadOnly(StoreError):
    """The store can be read but not written here. Check the permissions and the mount."""


class Damaged(StoreError):
    """The database is damaged there; what lies elsewhere is still served. `yiku check` says what, `yiku repair` mends it."""


class Unreadable(Damaged):
    """This row cannot be read, and is left out of answers; the others are served. `yiku check` says why, `yiku repair` mends it."""

    def __init__(self, what: str, why: str, *, id: str | None = None, scope: int = 0) -> None:
        super().__init__(f"{what} {why}")
        self.id, self.scope = what if id is None else id, scope


class VectorsDamaged(Damaged):
    """The vectors are damaged, and nothing else: questions are answered by words. `yiku embed` makes them anew."""


class StoreMismatch(StoreError):
    """The database is not the one that this home had. Nothing was changed: bring the right file back, or run `yiku repair`."""


class ErasureUndone(StoreMismatch):
    """An older copy lies over this home, and holds what was erased. Nothing was changed: `yiku repair` erases it again."""


class ForeignStore(StoreError):
    """This file is a database of another program or of another home. Name the right home."""


class SchemaTooNew(StoreError):
    """A later version of Yiku wrote this store. Upgrade Yiku; the store was not touched."""


class IndexOutdated(StoreError):
    """The search index was made by another version of the analyzer. Open this home with the Yiku that wrote it."""


class Stale(StoreError):
    """What this decision rested on has changed in the meantime. Read again and decide again."""


class Unsupported(StoreError):
    """Yiku keeps its promises on Linux and macOS with SQLite 3.51.3 or later; here it cannot."""
