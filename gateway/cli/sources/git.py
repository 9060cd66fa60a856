"""Git repositories: the files of a branch, each valid since the commit that last changed it."""

from __future__ import annotations

import os
import subprocess
from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gateway.cli.errors import CliError
from gateway.cli.ingest.files import File, Problem, Skipped, is_text, printable
from gateway.cli.ingest.ingestion import MAX_FILE_BYTES
from gateway.cli.sources.connector import Listing
from gateway.content_types import content_type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gateway.cli.ingest.files import Found
    from gateway.cli.sources.connector import Choice, Stored

BLOB = "git_blob"
"""Among a document's metadata: the id of its content in the repository."""

_CLONE_SECONDS = 3600
_READ_SECONDS = 600
_COMMIT = b"\x01"
# Regular files, and executable ones. Links and submodules are not read.
_FILES = frozenset({b"100644", b"100755"})
_NOTHING = b"0" * 7


class Version(NamedTuple):
    """A content of a file, with the time of its commit in seconds."""

    blob: str
    time: int


class Repository:
    """The files of a repository's branch. With `history`, their earlier versions are read too."""

    def __init__(
        self, root: str, prefix: str, choice: Choice, clones: Path, into: Path, *, history: bool
    ) -> None:
        """`root` is a path or an address, with `#` and a branch if another than its default is meant.

        Remote ones are cloned into `clones`; files are read `into` a folder.
        """
        self._address, _, self._branch = root.partition("#")
        self._prefix = prefix
        self._choice = choice
        self._clones = clones
        self._into = into
        self._history = history
        self._folder = Path(self._address)
        self._versions: Mapping[str, Sequence[Version]] = {}
        self._stored: Stored = {}

    def listing(self, stored: Stored) -> Listing:
        """See the protocol."""
        self._folder = self._cloned() if _is_remote(self._address) else self._folder
        commit = self._git("rev-parse", "--verify", "--end-of-options", self._head() + "^{commit}")
        head = commit.decode().strip()
        self._versions = _versions(self._log(head))
        self._stored = stored
        listed = self._git("ls-tree", "-r", "-z", "-l", "--full-tree", head)
        found: list[Found] = []
        unreadable: list[str] = []
        for entry in filter(None, listed.split(b"\0")):
            about, _, name = entry.partition(b"\t")
            mode, _, blob, size = about.split()
            if mode not in _FILES:
                continue
            one = self._entry(os.fsdecode(name), blob.decode(), int(size))
            found += [one] if one else []
            if isinstance(one, Problem):
                unreadable.append(self._prefix + printable(Path(os.fsdecode(name))))
        return Listing(found, unreadable)

    def fetched(self, file: File) -> Iterator[Found]:
        """See the protocol."""
        path = file.id.removeprefix(self._prefix)
        for one in [*self._unread(file, self._versions.get(path, ())), file]:
            blob = one.metadata[BLOB]
            target = self._into / blob / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(self._git("cat-file", "blob", blob))
            yield replace(one, path=target)
            with suppress(OSError):
                target.unlink()

    def _unread(self, file: File, versions: Sequence[Version]) -> Sequence[File]:
        """Returns a file as it was before its last version and is not stored, oldest first, if that counts."""
        earlier = versions[:-1] if self._history else ()
        known = self._stored.get(file.id, {}).get(BLOB)
        unread: list[File] = []
        for blob, time in earlier:
            if blob == known:
                unread.clear()
            else:
                unread.append(replace(file, metadata={BLOB: blob}, valid_at=_rfc_3339(time)))
        return unread

    def _entry(self, path: str, blob: str, size: int) -> Found | None:
        kind = content_type_of(path.rpartition("/")[2])
        place = f"{self._address}/{path}"
        if path.startswith(".") or "/." in path:
            return None
        if not is_text(path):
            return Problem(printable(Path(place)), "its name is not UTF-8")
        if not self._choice.takes(path):
            return None
        if kind is None:
            return Skipped(Path(path))
        if size > MAX_FILE_BYTES:
            return Problem(place, f"is larger than {MAX_FILE_BYTES} bytes")
        versions = self._versions.get(path)
        return File(
            path=self._into / path,
            id=self._prefix + path,
            kind=kind,
            metadata={BLOB: blob},
            prefix=self._prefix,
            address=place,
            valid_at=_rfc_3339(versions[-1].time) if versions else "",
        )

    def _log(self, head: str) -> bytes:
        """Returns the commits that lead to the head, oldest first, with the files that each has changed."""
        return self._git(
            *("log", "--reverse", "--first-parent", "-m", "--raw", "--no-abbrev", "--no-renames"),
            *("-z", "--format=%x01%ct", "--end-of-options", head),
        )

    def _head(self) -> str:
        if not self._branch:
            return "HEAD"
        remote = f"refs/heads/{self._branch}"
        try:
            self._git("rev-parse", "--verify", "--quiet", "--end-of-options", remote)
        except CliError:
            raise CliError(f"{self._address} has no branch {self._branch}") from None
        return remote

    def _cloned(self) -> Path:
        """Returns the folder of a bare clone that is up to date."""
        folder = self._clones
        if not (folder / "HEAD").is_file():
            folder.parent.mkdir(parents=True, exist_ok=True)
            command = ("clone", "--bare", "--quiet", "--", self._address, str(folder))
            _run(command, _CLONE_SECONDS, self._address)
            return folder
        refs = "+refs/heads/*:refs/heads/*"
        fetch = ("-C", str(folder), "fetch", "--quiet", "--prune", "--", self._address, refs)
        _run(fetch, _CLONE_SECONDS, self._address)
        return folder

    def _git(self, *command: str) -> bytes:
        return _run(("-C", str(self._folder), *command), _READ_SECONDS, self._address)


def _run(command: Sequence[str], seconds: float, address: str) -> bytes:
    """Runs git; returns what it prints. It asks for no password, runs no hook and reaches no other kind of remote."""
    environment = {
        **os.environ,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
    }
    try:
        ended = subprocess.run(  # noqa: S603 - no shell, and the address stands after `--`
            ("git", *command),  # noqa: S607 - the user's own git
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except FileNotFoundError:
        raise CliError("git is needed to read a repository, and is not installed") from None
    except subprocess.TimeoutExpired:
        raise CliError(f"{address}: git did not end within {seconds:.0f} s") from None
    if ended.returncode:
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        raise CliError(f"{address}: {said[-1] if said else 'git failed'}")
    return ended.stdout


def _versions(log: bytes) -> Mapping[str, Sequence[Version]]:
    """Returns each file's contents with the times of their commits, oldest first.

    Of several in one second only the last counts, as the others held for no time.
    """
    versions: defaultdict[str, list[Version]] = defaultdict(list)
    time = 0
    parts = iter(log.split(b"\0"))
    for part in parts:
        text = part.lstrip(b"\n")
        if text.startswith(_COMMIT):
            # A commit's first file follows its time in the same part.
            stamp, _, text = text[1:].partition(b"\n")
            time = int(stamp)
            text = text.lstrip(b"\n")
        if not text.startswith(b":"):
            continue
        blob, path = text.split()[3], os.fsdecode(next(parts))
        if blob.startswith(_NOTHING):
            versions.pop(path, None)
            continue
        before = versions[path]
        if before and before[-1].time >= time:
            before[-1] = Version(blob.decode(), before[-1].time)
        else:
            before.append(Version(blob.decode(), time))
    return versions


def _rfc_3339(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _is_remote(address: str) -> bool:
    return "://" in address or (":" in address and not Path(address).exists())
