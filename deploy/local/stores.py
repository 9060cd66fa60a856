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
    """Run all in parallel; the first error cancels the others and is raised itself, not in a group."""
    try:
        async with asyncio.TaskGroup() as group:
            for item in work:
                group.create_task(item)
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


class FolderLock:
    """Reserves a data folder for one stack; the lock is released when its process ends."""

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
        """Release the folder; has no effect if it is not locked."""
        if self._file is not None:
            self._file.close()
            self._file = None


class LocalStores:
    """Real PostgreSQL and real Neo4j under a data folder.

    Args:
        data: the folder; created if missing, and used by one stack at a time.
        cache: the folder of jars that stacks share; by default the user's cache folder.
        postgres_settings, neo4j_settings: changes to the servers' settings, by name.
        progress: receives the download of jars and the creation of the AOT cache.
        record: whether Neo4j records its AOT cache if there is none yet, for `create_aot_cache`.
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
        """Lock the folder, generate credentials, choose ports. After this `environment()` works.

        Raises:
            DataFolderInUseError: another stack holds the folder.
        """
        self._lock.acquire()
        for folder in ("logs", "run"):
            (self.data / folder).mkdir(mode=0o700, exist_ok=True)
        self.postgres.prepare()
        self.neo4j.prepare()

    def release(self) -> None:
        """Release the folder after both stores have stopped."""
        self._lock.release()

    async def fetch(self) -> None:
        """Verify Neo4j's jars and download those that are missing.

        Raises:
            JarRefusedError, JarUnavailableError: a jar does not match the lock, or is unavailable.
        """
        await self._jars.ensure(self._progress)

    async def start(self) -> None:
        """Start both stores in parallel and wait until both answer.

        Raises:
            LocalStackError: a store did not start; the other one is stopped again.
        """
        self.prepare()
        try:
            await self.fetch()
            await all_or_first_error(self.postgres.start(), self.neo4j.start())
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop both stores cleanly and release the folder."""
        try:
            await asyncio.gather(self.postgres.stop(), self.neo4j.stop())
        finally:
            self.release()

    async def create_aot_cache(self) -> None:
        """Create Neo4j's AOT cache after the stop, if it has recorded one; may be cancelled, and never raises errors.

        The folder is locked during this; if another stack has locked it already, that stack records again.
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
        """Return the variables with which Braid's processes reach the stores, as named in `.env.example`."""
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
