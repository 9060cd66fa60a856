"""Real Neo4j Community on a Java runtime from a wheel: Bolt on loopback, a generated password."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from deploy.local.child_process import (
    Child,
    Command,
    end_leftover,
    ended,
    run_to_end,
    running,
    until_ready,
)
from deploy.local.credentials import load_or_create, write_private
from deploy.local.errors import LocalStackError
from deploy.local.java import Java
from deploy.local.ports import LOOPBACK, free_ports, is_free
from deploy.local.waiting import Waiting

USER = "neo4j"
DATABASE = "neo4j"  # the only one that the Community edition has
REFUSED = 3  # exit code of `deploy.local.wait_for_neo4j` for a wrong password
# Java's exit code after SIGTERM.
_STOPPED = frozenset({0, 128 + signal.SIGTERM, -signal.SIGTERM})
_FOLDERS = ("conf", "data", "logs", "run", "import", "plugins")

SETTINGS: Mapping[str, str] = {
    "server.http.enabled": "false",
    "server.https.enabled": "false",
    "dbms.usage_report.enabled": "false",
    "server.memory.heap.max_size": "512m",
    "server.memory.pagecache.size": "256m",
    # Two thread pools each wait this long after everything is on disk; the default is five seconds.
    "internal.server.bolt.thread_pool_shutdown_wait_time": "200ms",
    # Queries contain user text: none is logged.
    "db.logs.query.enabled": "OFF",
}


class Neo4j:
    """One Neo4j server under a folder.

    Args:
        data: the stack's folder; all files of the server are in `data/neo4j`.
        java: the runtime and the jars.
        settings: changes to the server's settings, by name.
        record: whether it records an AOT cache (see `deploy.local.aot_cache`) if there is none yet.

    Attributes:
        recording: whether the server that was started last records one.
    """

    name = "neo4j"

    def __init__(
        self,
        data: Path,
        java: Java,
        *,
        settings: Mapping[str, str] | None = None,
        record: bool = False,
    ) -> None:
        self._home = data / "neo4j"
        self._secrets = data / "neo4j.credentials.json"
        self._log = data / "logs" / "neo4j.log"
        self._run = data / "run"
        self._java = java
        self._settings = {**SETTINGS, **(settings or {})}
        self._port = 0
        self._password = ""
        self._child: Child | None = None
        self.recording = False
        self._record = record
        self._recording = self._home / "recording.aotconf"
        # Exists from before the first file of the databases until the server has answered for the first time.
        self._unfinished = self._home / "first-start.unfinished"
        self.waiting: Waiting | None = None

    def prepare(self) -> None:
        """Generate the password and choose the port: the former one, unless it is in use."""
        for folder in _FOLDERS:
            (self._home / folder).mkdir(parents=True, exist_ok=True)
        self._password = load_or_create(self._secrets, [USER])[USER]
        self._port = self._port or self._choose_port()

    @property
    def is_first_start(self) -> bool:
        """Whether no server has ever answered here: nobody can have stored anything."""
        return self._unfinished.exists() or not self._has_databases()

    @property
    def uri(self) -> str:
        """The address of Bolt; known after `prepare`."""
        return f"bolt://{LOOPBACK}:{self._port}"

    @property
    def password(self) -> str:
        """The password of the user `neo4j`; known after `prepare`."""
        return self._password

    @property
    def pid(self) -> int | None:
        """The Java process's id while it runs."""
        return self._child.pid if self._child and self._child.running else None

    async def start(self) -> None:
        """Start; returns when the database answers queries. The jars must exist.

        What an interrupted first start has left cannot always be started: it is removed, and the start begins again.
        Until the first start has succeeded, nothing else may connect, so that nobody can have stored anything.

        Raises:
            StartError: the server ended or is stuck.
        """
        self.waiting = waiting = Waiting(self.name)
        try:
            await end_leftover(self._command([]))
            self.prepare()
            if self.is_first_start:
                waiting.report("its first start")
                await asyncio.to_thread(self._begin_first_start)
                await self._set_first_password()
            self._configure()
            await self._start_server(waiting)
            await asyncio.to_thread(self._end_first_start)
        finally:
            self.waiting = None

    async def stop(self) -> None:
        """Write a checkpoint and stop; a server that records takes some seconds longer."""
        if self._child is not None:
            await self._child.stop()

    async def kill(self) -> None:
        """`kill -9` of the server."""
        await running(self._child, self.name).kill()

    async def wait(self) -> int:
        """Wait for the server's end and return its exit code."""
        return await self._child.wait() if self._child else 0

    async def recorded(self) -> Path | None:
        """Return the recording of the last server, if it has stopped normally."""
        ended = self.recording and self.pid is None
        complete = ended and await self.wait() in _STOPPED and self._recording.exists()
        return self._recording if complete else None

    def _choose_port(self) -> int:
        kept = self._home / "port"
        port = int(kept.read_text()) if kept.exists() else 0
        if not port or not is_free(port):
            (port,) = free_ports(1)
            write_private(kept, str(port))
        return port

    def _has_databases(self) -> bool:
        return (self._home / "data" / "databases").exists()

    def _begin_first_start(self) -> None:
        write_private(self._unfinished, "")
        shutil.rmtree(self._home / "data")
        (self._home / "data").mkdir()

    def _end_first_start(self) -> None:
        """Durably: a later start must not take the databases for those of an interrupted first start."""
        if self._unfinished.exists():
            self._unfinished.unlink()
            folder = os.open(self._home, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)

    async def _start_server(self, waiting: Waiting) -> None:
        self._recording.unlink(missing_ok=True)
        recording = self._record and not self._java.aot_cache.exists()
        arguments = (f"--home-dir={self._home}", f"--config-dir={self._home / 'conf'}")
        program = self._java.server(*arguments)
        if recording:
            program = self._java.recording(self._recording, *arguments)
        self.recording = False
        self._child = await Child.start(self._command(program))
        await until_ready(self._child, self._ready(), waiting)
        self.recording = recording  # a server that never answered has no useful recording

    def _environment(self) -> dict[str, str]:
        home = str(self._home)
        # Without a locale Java cannot use paths with letters other than ASCII.
        locale = {"LC_ALL": "C.UTF-8"}
        return {**locale, "PATH": os.defpath, "NEO4J_HOME": home, "NEO4J_CONF": f"{home}/conf"}

    def _command(self, program: list[str]) -> Command:
        return Command(
            name=self.name,
            program=program,
            environment=self._environment(),
            run=self._run,
            log=self._log,
            folder=self._home,
            stop_signal=signal.SIGTERM,
            grace=120.0,  # a checkpoint of much new data, or a recording being written
        )

    def _configure(self) -> None:
        settings = {**self._settings, "server.bolt.listen_address": f"{LOOPBACK}:{self._port}"}
        text = "".join(f"{name}={value}\n" for name, value in settings.items())
        (self._home / "conf" / "neo4j.conf").write_text(text)

    async def _set_first_password(self) -> None:
        """Set the password before the first start, so that the server never runs with the default password."""
        program, *arguments = self._java.admin("dbms", "set-initial-password", self._password)
        file = self._run / "neo4j.arguments"  # other users can see a command line
        write_private(file, "".join(f'"{argument}"\n' for argument in arguments))
        command = Command(
            name="neo4j.setup",
            program=(program, f"@{file}"),
            environment=self._environment(),
            run=self._run,
            log=self._log.with_name("neo4j.setup.log"),
        )
        try:
            await end_leftover(command)
            await run_to_end(command)
        finally:
            file.unlink()

    async def _ready(self) -> None:
        """Probe in another process, see `deploy.local.wait_for_neo4j`, with the same module search path."""
        probe = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "deploy.local.wait_for_neo4j"),
            *(self.uri, str(running(self._child, self.name).pid)),
            stdin=asyncio.subprocess.PIPE,
        )
        async with ended(probe):
            await probe.communicate(self._password.encode())
        if probe.returncode == REFUSED:
            raise LocalStackError(f"Neo4j refuses the password that {self._secrets} holds")
        if probe.returncode:
            raise LocalStackError("Neo4j could not be asked whether it answers")
