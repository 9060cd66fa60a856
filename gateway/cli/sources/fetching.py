"""Reads addresses of the web: politely, with a limit of bytes and time, and again only what has changed."""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urljoin, urlsplit

import httpx2

from services.runtime.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

AGENT = "braid"
_MAX_REDIRECTS = 10
_TIMEOUT = httpx2.Timeout(30.0, connect=10.0)
_MAX_SECONDS = 300.0
_ATTEMPTS = 3
_MAX_WAIT = 60.0
_BUSY = frozenset({429, 503})
_GONE = frozenset({404, 410})


class FetchError(Exception):
    """An address could not be read. `is_gone`: there is nothing at it, as its server says."""

    def __init__(self, reason: str, *, is_gone: bool = False, status: int = 0) -> None:
        super().__init__(reason)
        self.is_gone = is_gone
        self.status = status


@dataclass(frozen=True, slots=True)
class Page:
    """What is at an address: its last one after redirects, its media type in lower case, and the file with its body."""

    address: str
    kind: str
    path: Path
    robots: str = ""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is known of an answer that is kept beside its body."""

    address: str
    kind: str
    etag: str
    last_modified: str
    robots: str


class Fetcher:
    """Reads each address once, one after another, with a pause between them.

    Bodies are kept for the next one, and sent again only if they have changed.
    """

    def __init__(
        self,
        folder: Path,
        *,
        authorization: str = "",
        origin: str = "",
        pause: float = 0.2,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Bodies are kept in `folder`. `authorization` is sent to `origin` only, such as `https://docs.example.org`."""
        self._folder = folder
        self._authorization = authorization
        self._origin = origin
        self.pause = pause
        self._sleep = sleep
        self._http = httpx2.Client(headers={"user-agent": f"{AGENT}/{VERSION}"}, timeout=_TIMEOUT)
        self._asked = False
        self._pages: dict[str, Page] = {}

    def close(self) -> None:
        """Closes all connections."""
        self._http.close()

    def get(self, address: str, *, max_bytes: int) -> Page:
        """Reads an address. Raises FetchError."""
        if address not in self._pages:
            self._pages[address] = self._followed(address, max_bytes)
        return self._pages[address]

    def _followed(self, address: str, max_bytes: int) -> Page:
        """Returns what is at an address, or where it redirects to."""
        body = self._folder / hashlib.sha256(address.encode()).hexdigest()
        kept = _read_kept(body)
        seen = {address}
        asked = address
        for _ in range(_MAX_REDIRECTS):
            moved, page = self._one(asked, body, kept, max_bytes)
            if page is not None:
                return page
            asked = urldefrag(urljoin(asked, moved)).url
            if urlsplit(asked).scheme not in {"http", "https"}:
                raise FetchError("redirects to an address that is not of the web")
            if asked in seen:
                break
            seen.add(asked)
        raise FetchError("redirects without end")

    def _one(
        self, address: str, body: Path, kept: _Kept | None, max_bytes: int
    ) -> tuple[str, Page | None]:
        """Returns the address that an answer redirects to, or what it has."""
        for left in reversed(range(_ATTEMPTS)):
            if self._asked:
                self._sleep(self.pause)
            self._asked = True
            try:
                with self._http.stream(
                    "GET", address, headers=self._headers(address, kept)
                ) as answer:
                    wait = _wait(answer) if left and answer.status_code in _BUSY else 0.0
                    if not wait:
                        return self._taken(address, answer, body, kept, max_bytes)
            except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
                raise FetchError(f"cannot be read: {error or type(error).__name__}") from None
            self._sleep(wait)
        raise FetchError("its server is busy")

    def _headers(self, address: str, kept: _Kept | None) -> Mapping[str, str]:
        headers = {}
        parts = urlsplit(address)
        if self._authorization and f"{parts.scheme}://{parts.netloc}" == self._origin:
            headers["authorization"] = self._authorization
        if kept is not None and kept.address == address:
            headers["if-none-match"] = kept.etag
            headers["if-modified-since"] = kept.last_modified
        return {name: value for name, value in headers.items() if value}

    def _taken(
        self, address: str, answer: Any, body: Path, kept: _Kept | None, max_bytes: int
    ) -> tuple[str, Page | None]:
        if answer.status_code == httpx2.codes.NOT_MODIFIED and kept is not None:
            return "", Page(kept.address, kept.kind, body, kept.robots)
        if answer.is_redirect and "location" in answer.headers:
            return answer.headers["location"], None
        if not answer.is_success:
            status = answer.status_code
            raise FetchError(f"answers {status}", is_gone=status in _GONE, status=status)
        self._write(body, answer, max_bytes)
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        now = _Kept(
            address,
            kind,
            answer.headers.get("etag", ""),
            answer.headers.get("last-modified", ""),
            answer.headers.get("x-robots-tag", "").lower(),
        )
        body.with_suffix(".json").write_text(json.dumps(asdict(now)))
        return "", Page(address, kind, body, now.robots)

    def _write(self, body: Path, answer: Any, max_bytes: int) -> None:
        """Writes a body. Without what was known of the one before: a broken one is never taken for what is kept."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(FileNotFoundError):
            body.with_suffix(".json").unlink()
        until = time.monotonic() + _MAX_SECONDS
        size = 0
        with body.open("wb") as file:
            for piece in answer.iter_bytes():
                size += len(piece)
                if size > max_bytes:
                    raise FetchError(f"is larger than {max_bytes} bytes")
                if time.monotonic() > until:
                    raise FetchError(f"was not read within {_MAX_SECONDS:.0f} s")
                file.write(piece)


def _read_kept(body: Path) -> _Kept | None:
    try:
        return (
            _Kept(**json.loads(body.with_suffix(".json").read_text())) if body.is_file() else None
        )
    except (OSError, ValueError, TypeError):
        return None


def _wait(answer: Any) -> float:
    text = answer.headers.get("retry-after", "")
    return min(_MAX_WAIT, max(1.0, float(text))) if text.isdecimal() else 1.0
