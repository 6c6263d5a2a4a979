"""
Every error Yiku raises, and what the caller can do about it.

    YikuError
    ├── InvalidInput            an argument is invalid (also a ValueError)
    │   ├── InvalidScope        a scope name outside the grammar
    │   ├── InvalidFilter       a `where` that does not match the grammar
    │   ├── TooLarge            over a documented limit
    │   ├── UnreadableConfig    a program's configuration that Yiku cannot change safely
    │   └── SettingsError       an invalid setting in the arguments, YIKU_* or yiku.toml
    ├── NotFound                not in the scopes that this handle reads (also a LookupError)
    ├── Ambiguous               a short id that matches several items
    ├── IdempotencyMismatch     one idempotency key for two different calls
    ├── KeptOut                 private, or said in an excluded folder: nothing was stored
    │   ├── WasErased           it was erased before, and is not stored again
    │   └── Paused              writing is paused
    ├── CannotUndo              later changes depend on the operation, or it cannot be taken back
    ├── Closed                  the memory is closed
    ├── HomeMissing             no home at this path, and create=False
    ├── ScopeRequired           the home has no owner, so a scope must be named
    ├── ExtraMissing            an optional package is not installed
    ├── ModelError              a model request failed
    │   ├── ModelUnavailable    not installed, damaged, or its endpoint does not answer
    │   └── ModelFailed         its answer is unusable
    └── StoreError              the disk or the database refused an operation
        ├── StoreBusy           another process held the store longer than busy_timeout_s
        ├── StorageFull         no space left
        ├── ReadOnly            the store cannot be written here
        ├── Damaged             the database file is damaged
        │   ├── Unreadable      one row cannot be decoded; it is left out of answers
        │   └── VectorsDamaged  only the vectors are damaged; they can be recomputed
        ├── StoreMismatch       not the database in store.id: missing, emptied, older or from another home
        │   └── ErasureUndone   an older copy was restored over the home, with data erased since
        ├── ForeignStore        the file belongs to another program or another home
        ├── SchemaTooNew        written by a later version of Yiku
        ├── IndexOutdated       the search index was made by another analyzer
        ├── Stale               the basis of a decision has changed (flows decide again)
        └── Unsupported         this platform or SQLite version is not supported

The docstring of a class is its message and says what to do; the detail says what it was about, and an error may have advice of its own.
"""


class YikuError(Exception):
    """Something went wrong in Yiku."""

    def __init__(self, detail: str = "", advice: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.own_advice = advice  # where that of the class does not fit

    @property
    def advice(self) -> str:
        """What to do, in a sentence: its own, else the class's docstring on one line."""
        return self.own_advice or " ".join((type(self).__doc__ or "").split())

    def __str__(self) -> str:
        return f"{self.detail}. {self.advice}" if self.detail else self.advice


class InvalidInput(YikuError, ValueError):
    """The value is invalid, and nothing was changed. Correct it and call again."""


class InvalidScope(InvalidInput):
    """A scope is 1 to 128 letters, digits and signs such as . _ : @ - | / as an id has them, without spaces or invisible characters."""


class InvalidFilter(InvalidInput):
    """A filter maps a field to a value or to {operator: value}; see docs/python.md for the fields and operators."""


class TooLarge(InvalidInput):
    """This exceeds the limit; nothing was written. Split it into parts, or import it from a file."""


class SettingsError(InvalidInput):
    """A setting has an invalid value. Correct it where it was set; docs/settings.md says what each may be."""


class UnreadableConfig(InvalidInput):
    """This configuration cannot be changed safely, and was left as it is. Mend it, or move it away and run the command again."""


class NotFound(YikuError, LookupError):
    """`yiku list` and `yiku traces` show what is in the scopes you read."""


class Ambiguous(YikuError, LookupError):
    """This short id matches several items. Give more of its characters."""


class IdempotencyMismatch(YikuError):
    """This idempotency key was used for a different call. Use a new key for a new call."""


class KeptOut(YikuError):
    """Nothing was stored: the text is marked <private>, or recording is switched off for this folder."""


class WasErased(KeptOut):
    """This was erased before, and is not stored again. `remember(…, despite_erasure=True)` stores it anyway."""


class Paused(KeptOut):
    """Memory is paused: nothing new is stored, but search works. `yiku resume` ends the pause."""


class CannotUndo(YikuError):
    """Later changes depend on this operation. Undo those first, newest first."""


class Closed(YikuError):
    """This memory is closed. Open it again with Memory(path)."""


class HomeMissing(YikuError):
    """There is no home at this path. Create one with create=True, or choose another with --home or YIKU_HOME."""


class ScopeRequired(YikuError):
    """This home has no owner. Name a scope, or set owner in yiku.toml."""


class ExtraMissing(YikuError):
    """This needs an optional part of Yiku. In a checkout of it, `pip install '.[mcp]'` installs the MCP server."""


class ModelError(YikuError):
    """The model request failed, and nothing was lost. `search = "words"` needs no model."""


class ModelUnavailable(ModelError):
    """The model is unavailable, and nothing was lost. `search = "words"` searches without one; learning waits for it."""


class ModelFailed(ModelError):
    """The model's answer is unusable, and nothing was lost. `yiku config` shows which model is used, and how."""

    def __init__(self, detail: str = "", said: str = "") -> None:
        super().__init__(detail)
        self.said = said[:2_000]  # the beginning of what it said, where it said something: to ask it for a repair
        self.prompt_tokens: int | None = None  # what it cost all the same, where the endpoint counts that
        self.completion_tokens: int | None = None


class StoreError(YikuError):
    """The store could not do this. Acknowledged writes are safe; `yiku status` says more."""


class StoreBusy(StoreError):
    """Another process is writing and did not finish in time. Nothing was written; try again."""


class StorageFull(StoreError):
    """The disk is full. Nothing was written; free some space and try again."""


class ReadOnly(StoreError):
    """The store is read-only here. Check the permissions and the mount."""


class Damaged(StoreError):
    """The database is damaged in that place; the rest still works. `yiku check` shows the damage, `yiku repair` repairs it."""


class Unreadable(Damaged):
    """This row cannot be read, and is left out of answers; the others still work. `yiku check` says why, `yiku repair` repairs it."""

    def __init__(self, what: str, why: str, *, id: str | None = None, scope: int = 0) -> None:
        super().__init__(f"{what} {why}")
        self.id, self.scope = what if id is None else id, scope


class VectorsDamaged(Damaged):
    """Only the vectors are damaged: search uses words. `yiku embed` recomputes them."""


class StoreMismatch(StoreError):
    """The database is not the one that this home had. Nothing was changed: put the right file back, or run `yiku repair`."""


class ErasureUndone(StoreMismatch):
    """An older copy was restored over this home, and contains erased data. Nothing was changed: `yiku repair` erases it again."""


class ForeignStore(StoreError):
    """This file is a database of another program or of another home. Choose the right home."""


class SchemaTooNew(StoreError):
    """A later version of Yiku wrote this store. Upgrade Yiku; the store was not touched."""


class IndexOutdated(StoreError):
    """The search index was made by another version of the analyzer. Open this home with the version of Yiku that wrote it."""


class Stale(StoreError):
    """The data behind this decision has changed in the meantime. Read again and decide again."""


class Unsupported(StoreError):
    """This platform is not supported: Yiku needs Linux or macOS, and SQLite 3.51.3 or later."""
