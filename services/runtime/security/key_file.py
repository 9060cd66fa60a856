"""Changes to the API key file: under a lock, replaced as a whole, readable by its owner only."""

from __future__ import annotations

import fcntl
import os
import secrets
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from pydantic import ValidationError

from services.runtime.security.api_keys import KeyFile, KeyRecord, hash_key, read_key_file
from services.runtime.times import utc_now

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime
    from pathlib import Path

_PREFIX = "brd_"
_SECRET_BYTES = 32
_PRIVATE = 0o600


class KeyChangeError(Exception):
    """The change was refused, and nothing was changed; `field` names the invalid argument, if any."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class UnknownKeyError(KeyChangeError):
    """There is no key with this id."""


# The local stack replaces the keys whose ids begin with this.
_RESERVED = "local-"


class KeyEditor:
    """Creates, rotates and revokes keys of one file. Secrets are returned once and stored nowhere."""

    def __init__(self, path: Path) -> None:
        # The resolved file: a symbolic link to it must not be replaced by a file.
        self._path = path.resolve()

    def records(self) -> list[KeyRecord]:
        """Returns all keys, in the file's order; empty without a file. Raises KeyFileError if it cannot be read."""
        return read_key_file(self._path).keys if self._path.exists() else []

    def create(
        self,
        *,
        key_id: str,
        space: str | None,
        user: str | None,
        scopes: Collection[str],
        expires_at: datetime | None,
    ) -> tuple[KeyRecord, str]:
        """Adds a key; returns its record and its secret.

        Raises KeyChangeError if an argument is invalid or the id exists.
        """
        secret = new_secret()
        record = _valid(
            id=key_id,
            hash=hash_key(secret),
            space=space,
            user=user,
            scopes=sorted(scopes),
            expires_at=expires_at,
            created_at=utc_now(),
        )
        if space is None and "delegate" not in record.scopes:
            raise KeyChangeError(
                "only a key with the scope `delegate` goes without a space of its own", "space"
            )
        if key_id.startswith(_RESERVED):
            raise KeyChangeError(
                f"`{_RESERVED}` begins the ids of the local stack's own keys", "id"
            )
        if not record.scopes:
            raise KeyChangeError("a key needs at least one scope", "scopes")
        if expires_at is not None and expires_at <= utc_now():
            raise KeyChangeError("must lie in the future", "expires")
        with self._locked() as keys:
            if any(known.id == key_id for known in keys):
                raise KeyChangeError(f"there is a key `{key_id}` already", "id")
            self._write([*keys, record])
        return record, secret

    def rotate(self, key_id: str, *, grace: timedelta) -> tuple[KeyRecord, str]:
        """Gives an active key a new secret; the old one stays valid for `grace`.

        Raises KeyChangeError for other keys.
        """
        secret, now = new_secret(), utc_now()
        with self._locked() as keys:
            known = _find(keys, key_id)
            if known.state(now) != "active":
                raise KeyChangeError(f"the key `{key_id}` is {known.state(now)}: create a new one")
            kept: dict[str, object] = {"previous_hash": None, "previous_expires_at": None}
            if grace > timedelta():
                kept = {"previous_hash": known.hash, "previous_expires_at": now + grace}
            record = known.model_copy(update={"hash": hash_key(secret), **kept})
            self._write([record if one is known else one for one in keys])
        return record, secret

    def revoke(self, key_id: str) -> KeyRecord:
        """Revokes a key permanently, with both its secrets. Revoking one again changes nothing."""
        with self._locked() as keys:
            known = _find(keys, key_id)
            if known.revoked_at is not None:
                return known
            record = known.model_copy(update={"revoked_at": utc_now()})
            self._write([record if one is known else one for one in keys])
        return record

    @contextmanager
    def _locked(self) -> Iterator[list[KeyRecord]]:
        """Yields the current keys, without other writers until the block is left."""
        lock = self._path.with_name(f".{self._path.name}.lock")
        with os.fdopen(os.open(lock, os.O_RDWR | os.O_CREAT, _PRIVATE), "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield self.records()

    def _write(self, keys: list[KeyRecord]) -> None:
        text = KeyFile(keys=keys).model_dump_json(indent=1, exclude_none=True)
        part = self._path.with_name(f".{self._path.name}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE), "w") as file:
            file.write(text + "\n")
            if self._path.exists():
                stat = self._path.stat()
                os.fchmod(file.fileno(), stat.st_mode & 0o777)
                if os.geteuid() == 0:
                    os.fchown(file.fileno(), stat.st_uid, stat.st_gid)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self._path)


def new_secret() -> str:
    """Returns a new key: 256 random bits with a prefix that secret scanners can search for."""
    return _PREFIX + secrets.token_urlsafe(_SECRET_BYTES)


def _find(keys: list[KeyRecord], key_id: str) -> KeyRecord:
    for record in keys:
        if record.id == key_id:
            return record
    raise UnknownKeyError(f"there is no key `{key_id}`")


def _valid(**values: object) -> KeyRecord:
    try:
        return KeyRecord.model_validate(values)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        field = str(problem["loc"][0]) if problem["loc"] else ""
        raise KeyChangeError(_SENTENCES.get(field, problem["msg"]), field) from None


_SENTENCES = {
    "id": "must be 1 to 128 printable ASCII characters without spaces",
    "space": "must be 1 to 64 of A-Z a-z 0-9 _ -",
    "user": "must be 1 to 128 printable ASCII characters without spaces",
    "scopes": "must be read, write, admin, delegate or operator",
    "expires_at": "must be an instant with a time zone",
}
