"""API keys: the file of hashed keys, and the keys in force. The file is reloaded when it changes."""

from __future__ import annotations

import hashlib
import math
import os
import time
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_serializer,
    field_validator,
    model_validator,
)

from services.runtime.errors import SetupError, StoreUnavailableError
from services.runtime.ids import SPACE_PATTERN
from services.runtime.security import events
from services.runtime.security.events import SecurityEvents
from services.runtime.times import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LOOK_INTERVAL = 1.0
"""Seconds between two looks at the file."""
MAX_STALE_SECONDS = 300.0
"""Seconds for which known keys are accepted while the file cannot be read."""
# A user travels in call metadata, which holds printable ASCII only.
USER_PATTERN = "^[!-~]{1,128}$"
ALL_SCOPES = frozenset({"read", "write", "admin", "delegate", "operator"})

_HASH_PATTERN = "^sha256:[0-9a-f]{64}$"


class KeyRecord(BaseModel):
    """An API key as stored in the file: its hash, never the key itself.

    After a rotation the previous key stays valid until `previous_expires_at`. A revoked key stays in the file, so that
    its use can be distinguished from that of an unknown one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern="^[!-~]{1,128}$")
    hash: str = Field(pattern=_HASH_PATTERN)
    space: str | None = Field(default=None, pattern=SPACE_PATTERN)
    user: str | None = Field(default=None, pattern=USER_PATTERN)
    scopes: frozenset[str]
    expires_at: AwareDatetime | None = None
    created_at: AwareDatetime | None = None
    revoked_at: AwareDatetime | None = None
    previous_hash: str | None = Field(default=None, pattern=_HASH_PATTERN)
    previous_expires_at: AwareDatetime | None = None

    @field_validator("scopes")
    @classmethod
    def _known_scopes(cls, scopes: frozenset[str]) -> frozenset[str]:
        if unknown := scopes - ALL_SCOPES:
            raise ValueError(f"there is no scope {min(unknown)!r}")
        return scopes

    @field_serializer("scopes")
    def _in_order(self, scopes: frozenset[str]) -> list[str]:
        return sorted(scopes)

    def state(self, now: datetime) -> str:
        """Returns `active`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        expired = self.expires_at is not None and self.expires_at <= now
        return "expired" if expired else "active"


class KeyFile(BaseModel):
    """The API key file."""

    model_config = ConfigDict(extra="forbid")

    keys: list[KeyRecord]

    @model_validator(mode="after")
    def _unambiguous(self) -> Self:
        for name, values in (
            ("id", [record.id for record in self.keys]),
            ("hash", [record.hash for record in self.keys]),
        ):
            if len(set(values)) < len(values):
                raise ValueError(f"two keys have the same {name}")
        return self


class KeyFileError(SetupError):
    """The API key file cannot be read or is malformed."""


class KeysUnavailableError(StoreUnavailableError):
    """No key can be checked now: the key file has been unreadable for too long. The key may be valid."""

    def __init__(self) -> None:
        super().__init__(
            "api_keys",
            LOOK_INTERVAL,
            message="API keys cannot be checked now: the service cannot read its key file.",
        )


class Lookup(NamedTuple):
    """The result of looking up a presented key: its record, if any, and why it is refused; empty if it is valid."""

    record: KeyRecord | None
    refusal: str


def hash_key(key: str) -> str:
    """Returns a key's hash as stored. Keys are 256 random bits, so a plain SHA-256 is enough."""
    return "sha256:" + hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def read_key_file(path: Path) -> KeyFile:
    """Reads the file. Raises KeyFileError, which repeats nothing of the file, if it cannot be read."""
    try:
        return KeyFile.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise KeyFileError(f"the API key file cannot be read ({type(error).__name__})") from None


class KeyRing:
    """Keys by hash. The file is checked on use, at most once a second, so keys rotate without a restart.

    While it cannot be read, the known keys are accepted for `max_stale_seconds`; after that no key is.
    """

    def __init__(
        self,
        path: Path,
        *,
        max_stale_seconds: float = MAX_STALE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        security: SecurityEvents | None = None,
    ) -> None:
        self._path = path
        self._max_stale_seconds = max_stale_seconds
        self._clock = clock
        self._events = security or SecurityEvents()
        self._records: dict[str, KeyRecord] = {}
        self._current: dict[str, KeyRecord] = {}
        self._previous: dict[str, KeyRecord] = {}
        self._stamp: tuple[int, int] | None = None
        self._looked = -math.inf
        self._readable_at = -math.inf
        self._expired = False

    def reload(self) -> None:
        """Reads the file if it changed. Raises KeyFileError if it cannot be read; the keys then stay unchanged."""
        try:
            # Opened, because a file that may no longer be read looks unchanged.
            with self._path.open("rb") as file:
                stat = os.fstat(file.fileno())
        except OSError as error:
            raise KeyFileError(
                f"the API key file cannot be read ({type(error).__name__})"
            ) from None
        stamp = (stat.st_mtime_ns, stat.st_ino)
        if stamp == self._stamp:
            self._note_readable()
            return
        records = read_key_file(self._path).keys
        known, first = self._records, self._stamp is None
        self._records = {record.id: record for record in records}
        self._current = {record.hash: record for record in records}
        self._previous = {
            record.previous_hash: record for record in records if record.previous_hash
        }
        self._stamp = stamp
        self._note_readable()
        if not first:
            for event, key_id in _changes(known, self._records):
                self._events.record(event, key_id=key_id)

    def find(self, key: str) -> Lookup:
        """Looks up a key. The lookup is by hash, so timing reveals nothing.

        Raises KeysUnavailableError if the file has been unreadable for too long.
        """
        self._reload_if_changed()
        if self._expired:
            raise KeysUnavailableError
        hashed, now = hash_key(key), utc_now()
        if record := self._current.get(hashed):
            state = record.state(now)
            return Lookup(record, "" if state == "active" else state)
        if record := self._previous.get(hashed):
            state = record.state(now)
            if state == "active" and (record.previous_expires_at or now) <= now:
                state = "rotated"
            return Lookup(record, "" if state == "active" else state)
        return Lookup(None, "unknown")

    def all_begin_with(self, prefix: str) -> bool:
        """Returns whether the ids of all keys begin with a prefix; False while that cannot be determined."""
        self._reload_if_changed()
        known = not self._expired and self._stamp is not None
        return known and all(key_id.startswith(prefix) for key_id in self._records)

    def _note_readable(self) -> None:
        self._readable_at = self._clock()
        self._expired = False

    def _reload_if_changed(self) -> None:
        if self._clock() - self._looked < LOOK_INTERVAL:
            return
        self._looked = self._clock()
        try:
            self.reload()
        except KeyFileError as error:
            # A half-written file must not lock out all callers: the known keys stay valid for a while.
            self._events.record(events.KEY_FILE_UNREADABLE, error=str(error))
            stale = self._clock() - self._readable_at > self._max_stale_seconds
            if stale and not self._expired:
                self._events.record(events.KEY_FILE_EXPIRED, error=str(error))
            self._expired = stale


def _changes(
    before: dict[str, KeyRecord], after: dict[str, KeyRecord]
) -> Iterator[tuple[str, str]]:
    """Yields the events of keys that changed between two reads of the file."""
    for key_id, record in after.items():
        known = before.get(key_id)
        if known is None:
            yield events.KEY_ADDED, key_id
        elif record.revoked_at is not None and known.revoked_at is None:
            yield events.KEY_REVOKED, key_id
        elif record.hash != known.hash:
            yield events.KEY_ROTATED, key_id
        elif record != known:
            yield events.KEY_CHANGED, key_id
    for key_id in before.keys() - after.keys():
        yield events.KEY_REMOVED, key_id
