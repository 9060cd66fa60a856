"""Both stores under one data folder, started together."""

import asyncio
import fcntl
import os
from collections.abc import Coroutine, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from deploy.local.aot_cache import create_aot_cache
from deploy.local.errors import DataFolderInUseError, LocalStackError
from deploy.local.jars import default_cache, neo4j_jars
from deploy.local.java import Java
from deploy.local.neo4j import USER, Neo4j
from deploy.local.postgres import Postgres
from deploy.local.progress import Silent, StartProgress


async def all_or_first_error(*work: Coroutine[Any, Any, None]) -> None:
    """Do all at once; the first error cancels the rest and is raised as itself, not in a group."""
    try:
        async with asyncio.TaskGroup() as group:
            for item in work:
                group.create_task(item)
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


class FolderLock:
    """Keeps a data folder to one stack; the lock goes with the process that holds it."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._file: IO[str] | None = None

    def acquire(self) -> None:
        """Take the folder.

        Raises:
            DataFolderInUseError: another stack, perhaps of this process, holds it.
        """
        self._data.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = (self._data / "lock").open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip()
            file.close()
            raise DataFolderInUseError(self._data, holder) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        self._file = file

    def release(self) -> None:
        """Give the folder back; harmless when it is not held."""
        if self._file is not None:
            self._file.close()
            self._file = None


class LocalStores:
    """Real PostgreSQL and real Neo4j under a data folder.

    Args:
        data: the folder; made when missing, and taken by one stack at a time.
        cache: where jars are shared between stacks; the user's cache folder by default.
        postgres_settings, neo4j_settings: changes to the servers' settings, by name.
        progress: told about the jars' download and about the AOT cache.
        record: whether Neo4j records its AOT cache where there is none yet, for `create_aot_cache`.
    """

    def __init__(
        self,
        data: Path,
        *,
        cache: Path | None = None,
        postgres_settings: Mapping[str, str] | None = None,
        neo4j_settings: Mapping[str, str] | None = None,
        progress: StartProgress | None = None,
        record: bool = False,
    ) -> None:
        self.data = data.absolute()
        self._jars = neo4j_jars(cache or default_cache(os.environ))
        self._progress = progress or Silent()
        self.postgres = Postgres(self.data, settings=postgres_settings)
        self._java = Java.from_jars(self._jars)
        self.neo4j = Neo4j(self.data, self._java, settings=neo4j_settings, record=record)
        self._lock = FolderLock(self.data)

    def prepare(self) -> None:
        """Take the folder, generate credentials, choose ports: `environment()` works from here on.

        Raises:
            DataFolderInUseError: another stack holds the folder.
        """
        self._lock.acquire()
        for folder in ("logs", "run"):
            (self.data / folder).mkdir(mode=0o700, exist_ok=True)
        self.postgres.prepare()
        self.neo4j.prepare()

    def release(self) -> None:
        """Give the folder back, once both stores are stopped."""
        self._lock.release()

    async def fetch(self) -> None:
        """Verify Neo4j's jars and download those that are missing.

        Raises:
            JarRefusedError, JarUnavailableError: a jar is not as locked, or not to be had.
        """
        await self._jars.ensure(self._progress)

    async def start(self) -> None:
        """Start both stores at the same time and wait until both answer.

        Raises:
            LocalStackError: a store did not start; whatever did is stopped again.
        """
        self.prepare()
        try:
            await self.fetch()
            await all_or_first_error(self.postgres.start(), self.neo4j.start())
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop both stores cleanly and give the folder back."""
        try:
            await asyncio.gather(self.postgres.stop(), self.neo4j.stop())
        finally:
            self.release()

    async def create_aot_cache(self) -> None:
        """Once stopped: make Neo4j's AOT cache if it has recorded one; may be cancelled, and never fails.

        The folder is taken meanwhile; if another stack has it by now, that one records again.
        """
        recording = await self.neo4j.recorded()
        if recording is None:
            return
        self._progress.note("Preparing Neo4j for fast starts (once, some 10 s; Ctrl-C skips it) …")
        try:
            self._lock.acquire()
            await create_aot_cache(
                self._java,
                recording,
                run=self.data / "run",
                log=self.data / "logs" / "neo4j.aot.log",
            )
        except (LocalStackError, OSError) as error:
            self._progress.note(f"Neo4j will start as slowly again: {error}")
        finally:
            self.release()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    def environment(self) -> dict[str, str]:
        """What Braid's processes need to reach the stores, by the names in `.env.example`."""
        return {
            "DATABASE_URL": self.postgres.dsn("braid_writer"),
            "BRAID_VECTOR_READ_DATABASE_URL": self.postgres.dsn("braid_reader"),
            "BRAID_VECTOR_MIGRATE_DATABASE_URL": self.postgres.dsn("braid_migrator"),
            "BRAID_AGENT_DATABASE_URL": self.postgres.dsn("braid_agent"),
            "BRAID_AGENT_MIGRATE_DATABASE_URL": self.postgres.dsn("braid_agent_migrator"),
            "NEO4J_URI": self.neo4j.uri,
            "NEO4J_USER": USER,
            "NEO4J_PASSWORD": self.neo4j.password,
        }
