"""What a source is: from what a user gives, and as the service keeps it."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gateway.cli.api import segment
from gateway.cli.errors import CliError
from gateway.cli.ingest.files import prefix_of, source_prefix
from gateway.cli.sources.connector import Choice
from gateway.cli.sources.folder import Folder
from gateway.cli.sources.maildir import Maildir, is_maildir
from services.runtime.addresses import has_password
from services.runtime.user_folders import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gateway.cli.api import Api
    from gateway.cli.sources.connector import Connector

FOLDER, GIT, WEB, FEED, MAILDIR = KINDS = ("folder", "git", "web", "feed", "maildir")
_LOCAL = frozenset({FOLDER, MAILDIR})
_FEED_BEGINNINGS = (b"<rss", b"<feed", b"<rdf:RDF")


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """What a source is, by the names of the REST API."""

    name: str
    kind: str
    root: str
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    every_minutes: int | None = None
    credential_variable: str = ""
    with_history: bool = False
    paused: bool = False

    @classmethod
    def of(cls, source: Mapping[str, Any]) -> SourceSpec:
        """Returns a source of the REST API."""
        return cls(**{name: source[name] for name in cls.__slots__})

    @property
    def prefix(self) -> str:
        """What the ids of its documents begin with."""
        return source_prefix(self.name)

    @property
    def path(self) -> str:
        """Its path in the REST API."""
        return f"/api/sources/{segment(self.name)}"

    def put(self, api: Api) -> dict[str, Any]:
        """Lets the service keep it; returns it with its last run."""
        body = asdict(self)
        del body["name"]
        kept: dict[str, Any] = api.put(self.path, body)
        return kept

    @contextmanager
    def connector(
        self, environment: Mapping[str, str], folder: Path | None = None
    ) -> Iterator[Connector]:
        """Yields what reads it, until the block is left. `folder` is its root as the user gave it, if it is local."""
        choice = Choice(self.include, self.exclude)
        if self.kind == FOLDER:
            yield Folder(folder or Path(self.root), self.prefix, self.include, self.exclude)
        elif self.kind == MAILDIR:
            yield Maildir(folder or Path(self.root), self.prefix, choice)
        else:
            with tempfile.TemporaryDirectory(prefix="braid-") as into:
                yield from self._remote(environment, choice, Path(into))

    def _remote(
        self, environment: Mapping[str, str], choice: Choice, into: Path
    ) -> Iterator[Connector]:
        cache = cache_folder(environment) or into
        place = cache / "sources" / hashlib.sha256(self.root.encode()).hexdigest()
        if self.kind == GIT:
            from gateway.cli.sources.git import Repository  # noqa: PLC0415

            yield Repository(self.root, self.prefix, choice, place, into, history=self.with_history)
            return
        from gateway.cli.sources.feed import Feed  # noqa: PLC0415
        from gateway.cli.sources.fetching import Fetcher  # noqa: PLC0415
        from gateway.cli.sources.web import Site  # noqa: PLC0415

        parts = urlsplit(self.root)
        fetcher = Fetcher(
            place,
            authorization=self._credential(environment),
            origin=f"{parts.scheme}://{parts.netloc}",
        )
        try:
            if self.kind == FEED:
                yield Feed(self.root, self.prefix, choice, fetcher, into)
            else:
                yield Site(self.root, self.prefix, choice, fetcher)
        finally:
            fetcher.close()

    def _credential(self, environment: Mapping[str, str]) -> str:
        name = self.credential_variable
        if name and not environment.get(name):
            raise CliError(f"{self.name} needs the environment variable {name}, which is not set")
        return environment[name] if name else ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a user says of a source; None is what it is already, or the default."""

    name: str | None = None
    kind: str | None = None
    include: Sequence[str] | None = None
    exclude: Sequence[str] | None = None
    every_minutes: int | None = None
    credential_variable: str | None = None
    with_history: bool | None = None

    def applied(self, spec: SourceSpec) -> SourceSpec:
        """Returns a source as it is wanted. An empty pattern removes those before, and 0 minutes the schedule."""
        given = {
            name: getattr(self, name)
            for name in ("every_minutes", "credential_variable", "with_history")
            if getattr(self, name) is not None
        }
        for name in ("include", "exclude"):
            if (lines := getattr(self, name)) is not None:
                given[name] = [one for one in lines if one]
        if self.every_minutes == 0:
            given["every_minutes"] = None
        return replace(spec, **given)


def new_spec(what: str, wanted: Wanted) -> SourceSpec:
    """Returns the source at a path or an address. Raises CliError if there is none, or it has no name of its own."""
    kind = wanted.kind or _kind_of(what)
    if kind in _LOCAL:
        folder = Path(what)
        if not folder.is_dir():
            raise CliError(f"{what} is not a folder")
        name = prefix_of(folder, wanted.name)[:-1]
        # What is not text is sent as it is shown; whoever reads it gives the path itself.
        root = os.fsencode(folder.resolve()).decode(errors="replace")
    else:
        name = _name_of(what, kind) if wanted.name is None else wanted.name
        source_prefix(name)
        local = kind == GIT and "://" not in what and Path(what.partition("#")[0]).is_dir()
        root = _resolved(what) if local else what
    return wanted.applied(SourceSpec(name, kind, root))


def refuse_password(address: str) -> None:
    """Raises CliError for an address that holds a password."""
    if has_password(address):
        text = "a source keeps no password: use --credential-variable, or git's own helpers"
        raise CliError(text, reason="INVALID_FIELD")


def is_due(source: Mapping[str, Any], now: datetime) -> bool:
    """Whether a source's schedule says that it runs now."""
    minutes, last = source["every_minutes"], source["last_run"]
    if source["paused"] or minutes is None:
        return False
    return last is None or now >= _ended(last) + timedelta(minutes=minutes)


def _ended(run: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(run["ended_at"]).astimezone(UTC)


def _kind_of(what: str) -> str:
    path = Path(what)
    if path.is_dir():
        return MAILDIR if is_maildir(path) else FOLDER
    address = what.partition("#")[0].rstrip("/")
    scheme, _, rest = what.partition("://")
    if address.endswith(".git") or scheme in {"ssh", "git"} or (not rest and _is_scp(what)):
        return GIT
    if scheme in {"http", "https"} and rest:
        return _kind_of_address(what)
    raise CliError(
        f"{what} is neither a folder nor the address of a site, feed or repository, nor a source"
    )


def _is_scp(what: str) -> bool:
    """Whether it is an address like `git@host:path`."""
    user, at, place = what.partition("@")
    return bool(user and at and ":" in place and "/" not in user)


def _kind_of_address(address: str) -> str:
    """Returns whether an address is that of a feed or a page, by how it begins. What cannot be read is said later."""
    import httpx2  # noqa: PLC0415

    try:
        with httpx2.stream("GET", address, follow_redirects=True, timeout=10) as answer:
            head = next(answer.iter_bytes(), b"")[:4096]
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError):
        return WEB
    return FEED if any(begin in head for begin in _FEED_BEGINNINGS) else WEB


def _name_of(what: str, kind: str) -> str:
    """Returns a repository's name, or the host of a site or feed."""
    if kind == GIT:
        address = what.partition("#")[0].rstrip("/").removesuffix(".git")
        return address.replace(":", "/").rpartition("/")[2]
    return urlsplit(what).netloc.rpartition("@")[2]


def _resolved(what: str) -> str:
    path, mark, branch = what.partition("#")
    return f"{Path(path).resolve()}{mark}{branch}"
