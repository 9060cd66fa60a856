"""Who a credential stands for: an API key file with hashed keys, read again when it changes."""

from __future__ import annotations

import hashlib
import math
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from services.runtime.errors import (
    FieldError,
    InvalidCredentialError,
    InvalidFieldError,
    MissingScopeError,
)
from services.runtime.ids import is_space
from services.runtime.telemetry import get_logger
from services.runtime.times import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

LOCAL_SPACE = "local"
LOCAL_USER = "local"
LOOK_INTERVAL = 1.0
# A user travels in call metadata, which holds printable ASCII only.
USER_PATTERN = "^[!-~]{1,128}$"
_USER = re.compile(USER_PATTERN.strip("^$"))
ALL_SCOPES = frozenset({"read", "write", "admin", "delegate"})


@dataclass(frozen=True, slots=True)
class Identity:
    """Space, user and scopes that a call works with, and the id of its key; empty without one."""

    space: str
    user: str
    scopes: frozenset[str]
    key_id: str = ""


class KeyRecord(BaseModel):
    """One API key as the file holds it: never the key, only its hash."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    hash: str = Field(pattern="^sha256:[0-9a-f]{64}$")
    space: str | None = Field(default=None, pattern="^[A-Za-z0-9_-]{1,64}$")
    user: str | None = Field(default=None, pattern=USER_PATTERN)
    scopes: frozenset[str]
    expires_at: AwareDatetime | None = None


class KeyFile(BaseModel):
    """The API key file."""

    model_config = ConfigDict(extra="forbid")

    keys: list[KeyRecord]


class KeyFileError(Exception):
    """The API key file cannot be read or is malformed."""


class KeyRing:
    """Keys by hash. The file is looked at again on use, at most once a second, so keys rotate without a restart."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._keys: dict[str, KeyRecord] = {}
        self._stamp: tuple[int, int] | None = None
        self._looked = -math.inf

    def reload(self) -> None:
        """Reads the file if it changed. KeyFileError when it cannot be read; the keys then stay as they were."""
        try:
            stat = self._path.stat()
            stamp = (stat.st_mtime_ns, stat.st_ino)
            if stamp == self._stamp:
                return
            records = KeyFile.model_validate_json(self._path.read_bytes()).keys
        except (OSError, ValidationError) as error:
            raise KeyFileError(
                f"the API key file cannot be read ({type(error).__name__})"
            ) from None
        self._keys = {record.hash: record for record in records}
        self._stamp = stamp

    def find(self, key: str) -> KeyRecord | None:
        """The record of a key; None when it is unknown or expired. Looked up by hash, so timing tells nothing."""
        self._look_again()
        record = self._keys.get(hash_key(key))
        if record is None or (record.expires_at is not None and record.expires_at <= utc_now()):
            return None
        return record

    def _look_again(self) -> None:
        if self._clock() - self._looked < LOOK_INTERVAL:
            return
        self._looked = self._clock()
        try:
            self.reload()
        except KeyFileError as error:
            # A half-written file must not lock everybody out: the keys known so far go on working.
            get_logger("identity").error("key file", error=str(error))


def hash_key(key: str) -> str:
    """A key as the file holds it. Keys are 256 random bits, so a plain SHA-256 is enough."""
    return "sha256:" + hashlib.sha256(key.encode()).hexdigest()


class Authenticator:
    """Turns call metadata into an identity.

    Without a credential a caller is `local` in space `local`, and only where `allow_local` says that the
    server listens on loopback alone.
    """

    def __init__(self, ring: KeyRing | None, *, allow_local: bool) -> None:
        self._ring = ring
        self._allow_local = allow_local

    def identify(self, metadata: Mapping[str, str]) -> Identity:
        """The caller's identity. InvalidCredentialError when there is none to be had.

        MissingScopeError when a key names a space or a user that may not.
        """
        header = metadata.get("authorization")
        if header is None:
            return self._without_credential(metadata)
        record = self._record(header)
        if "delegate" in record.scopes:
            return _delegated(record, metadata)
        if record.space is None:
            raise InvalidCredentialError
        if "braid-space" in metadata or "braid-user" in metadata:
            raise MissingScopeError("delegate")
        return Identity(record.space, record.user or "", record.scopes, record.id)

    def _without_credential(self, metadata: Mapping[str, str]) -> Identity:
        if not self._allow_local or "braid-space" in metadata or "braid-user" in metadata:
            raise InvalidCredentialError
        return Identity(LOCAL_SPACE, LOCAL_USER, ALL_SCOPES - {"delegate"})

    def _record(self, header: str) -> KeyRecord:
        scheme, _, key = header.partition(" ")
        record = self._ring.find(key.strip()) if self._ring and scheme.lower() == "bearer" else None
        if record is None:
            raise InvalidCredentialError
        return record


def _delegated(record: KeyRecord, metadata: Mapping[str, str]) -> Identity:
    space = metadata.get("braid-space", record.space)
    if space is None:
        # A backend that forgot one would mix its tenants in whichever space were taken instead.
        raise InvalidFieldError(FieldError("metadata.braid-space", "must name the space to act in"))
    if not is_space(space):
        raise InvalidFieldError(
            FieldError("metadata.braid-space", "must be 1 to 64 of A-Z a-z 0-9 _ -")
        )
    user = metadata.get("braid-user") or record.user or ""
    if user and _USER.fullmatch(user) is None:
        raise InvalidFieldError(
            FieldError(
                "metadata.braid-user", "must be 1 to 128 printable ASCII characters without spaces"
            )
        )
    # A key that is bound to a space may name users in it, not other spaces.
    if record.space is not None and space != record.space:
        raise MissingScopeError("delegate", "The API key is bound to another space.")
    return Identity(space, user, record.scopes, record.id)
