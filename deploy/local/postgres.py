"""Real PostgreSQL with pgvector from a wheel: a unix socket, passwords, unprivileged roles."""

import asyncio
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import asyncpg
import psutil

from deploy.local.child_process import (
    Child,
    Command,
    end_leftover,
    end_process,
    running,
    until_ready,
)
from deploy.local.cluster import Cluster
from deploy.local.credentials import load_or_create
from deploy.local.probes import poll
from deploy.local.provision import AGENT, ROLES, SUPERUSER, VECTOR, provision
from deploy.local.waiting import Waiting

_CONNECT = 30.0
_LEFTOVERS = 30.0
_OWNER_OF = {role: database.name for database in (VECTOR, AGENT) for role in database.roles}


class Postgres:
    """One PostgreSQL server under a folder.

    Args:
        data: the stack's folder; all files of the server are in `data/postgres`.
        settings: changes to the server's settings, by name.
    """

    name = "postgres"

    def __init__(self, data: Path, *, settings: Mapping[str, str] | None = None) -> None:
        self._cluster = Cluster(data / "postgres", settings)
        self._secrets = data / "postgres.credentials.json"
        self._log = data / "logs" / "postgres.log"
        self._run = data / "run"
        self._passwords: dict[str, str] = {}
        self._child: Child | None = None
        self.waiting: Waiting | None = None

    def prepare(self) -> None:
        """Generate the passwords, so that DSNs are known before the server runs."""
        self._passwords = load_or_create(self._secrets, (SUPERUSER, *ROLES))

    def dsn(self, role: str, database: str | None = None) -> str:
        """Return a role's DSN for asyncpg and libpq, by default for its own database."""
        name = database or _OWNER_OF.get(role, SUPERUSER)
        sockets = quote(str(self._cluster.sockets), safe="/")
        return f"postgresql://{role}:{self._passwords[role]}@/{name}?host={sockets}"

    @property
    def secrets(self) -> Path:
        """The file with the roles' passwords."""
        return self._secrets

    @property
    def admin_dsn(self) -> str:
        """The superuser's DSN, only for provisioning and for creating test databases."""
        return self.dsn(SUPERUSER)

    @property
    def pid(self) -> int | None:
        """The postmaster's process id while it runs."""
        return self._child.pid if self._child and self._child.running else None

    async def start(self) -> None:
        """Start and provision; returns when every role can connect.

        Raises:
            StartError: the server ended or is stuck.
        """
        self.waiting = waiting = Waiting(self.name)
        try:
            self.prepare()
            command = self._command()
            await end_leftover(command)
            await asyncio.to_thread(_end_orphans, self._cluster.data)
            waiting.report("its files are prepared")
            await self._cluster.prepare(
                SUPERUSER, self._passwords[SUPERUSER], run=self._run, log=self._log
            )
            self._child = await Child.start(command)
            await until_ready(self._child, self._ready(waiting), waiting)
            await self._provision()
        finally:
            self.waiting = None

    async def stop(self) -> None:
        """End sessions, write a checkpoint, stop."""
        if self._child is not None:
            await self._child.stop()

    async def kill(self) -> None:
        """`kill -9` of the postmaster; its children notice and end by themselves."""
        await running(self._child, self.name).kill()

    async def wait(self) -> int:
        """Wait for the postmaster's end and return its exit code."""
        return await self._child.wait() if self._child else 0

    async def _provision(self) -> None:
        await provision(self.admin_dsn, self._passwords)

    def _command(self) -> Command:
        return Command(
            name=self.name,
            program=(str(self._cluster.binaries / "postgres"), "-D", str(self._cluster.data)),
            environment={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            run=self._run,
            log=self._log,
            folder=self._cluster.data,
            stop_signal=signal.SIGINT,  # PostgreSQL's fast shutdown
            grace=30.0,
            user=self._cluster.user,
        )

    async def _ready(self, waiting: Waiting) -> None:
        async def answers() -> bool:
            return await self._answers(waiting)

        await poll(answers)

    async def _answers(self, waiting: Waiting) -> bool:
        try:
            connection = await asyncpg.connect(self.admin_dsn, timeout=_CONNECT)
        except asyncpg.CannotConnectNowError as error:
            waiting.report(str(error))  # such as that it recovers from a crash
            return False
        except (OSError, asyncpg.ConnectionDoesNotExistError):
            return False
        await connection.close()
        return True


def _end_orphans(data: Path) -> None:
    """Make sure that no process of this cluster runs, and that no stale lock refers to another process.

    Children of a killed postmaster keep its shared memory until they notice; until then a new
    postmaster refuses to start. Blocks.
    """
    for process in _processes_in(data):
        end_process(process, signal.SIGINT, _LEFTOVERS)
    (data / "postmaster.pid").unlink(missing_ok=True)


def _processes_in(data: Path) -> list[psutil.Process]:
    """Return PostgreSQL processes whose working folder is this cluster, the postmaster first."""
    found = (
        process
        for process in psutil.process_iter(["name"])
        if process.info["name"] == "postgres" and _folder_of(process) == data
    )
    return sorted(found, key=lambda process: process.create_time())


def _folder_of(process: psutil.Process) -> Path | None:
    try:
        return Path(process.cwd())
    except (psutil.Error, OSError):
        return None
