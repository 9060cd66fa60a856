"""The whole stack: both stores, and Braid's processes over them."""

import asyncio
import datetime
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from deploy.local.child import Command
from deploy.local.credentials import write_private
from deploy.local.keys import ProcessKeys
from deploy.local.ports import LOOPBACK, choose
from deploy.local.processes import BRAID, ProcessSpec
from deploy.local.progress import Silent, StartProgress
from deploy.local.stores import LocalStores, all_or_first_error
from deploy.local.supervisor import Backoff, Process, Supervisor

STORES = ("postgres", "neo4j")


class LocalStack:
    """Runs the stores and the processes under one data folder.

    Args:
        data: the folder; see `LocalStores`.
        ports: "default" takes the usual ports where they are free; "free" takes any.
        extra_env: variables that every process is given on top.
        base_env: what processes inherit; this process's environment by default.
        processes: what runs; an empty list starts the stores only.
        stores: both stores, when they need other settings; None with `with_stores=False`.
        with_stores: whether there are stores at all.
        progress: told about downloads, ports and steps.

    Attributes:
        addresses: host:port of each process, known once started.
    """

    def __init__(
        self,
        data: Path,
        *,
        ports: Literal["default", "free"] = "default",
        extra_env: Mapping[str, str] | None = None,
        base_env: Mapping[str, str] | None = None,
        processes: Sequence[ProcessSpec] = BRAID,
        stores: LocalStores | None = None,
        with_stores: bool = True,
        progress: StartProgress | None = None,
        backoff: Backoff | None = None,
    ) -> None:
        self.data = data.absolute()
        self.addresses: dict[str, str] = {}
        self.stores = stores or LocalStores(self.data)
        self._names = STORES if with_stores else ()
        self._ports = ports
        self._extra = dict(extra_env or {})
        self._base = base_env
        self._specs = tuple(processes)
        self._progress = progress or Silent()
        self._keys = ProcessKeys(self.data)
        self._supervisor = Supervisor(changed=self._write_run_file, backoff=backoff)
        self._started = datetime.datetime.now(datetime.UTC)

    @property
    def run_file(self) -> Path:
        """What runs, for the `braid` command: ids, addresses, the file of keys (0600)."""
        return self.data / "run.json"

    async def start(self) -> None:
        """Start everything, as much as possible at the same time; returns when all is ready.

        Raises:
            LocalStackError: something did not start; whatever did is stopped again.
        """
        self.stores.prepare()
        try:
            await self.stores.neo4j.fetch(self._progress) if self._names else None
            self._add_units()
            await all_or_first_error(self._start_stores(), *map(self._start_late, self._specs))
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop processes, then stores, cleanly."""
        try:
            await self._supervisor.stop()
        finally:
            self.run_file.unlink(missing_ok=True)
            self.stores.release()

    def pid(self, name: str) -> int | None:
        """The process id of a store or a process, None while it does not run."""
        return self._supervisor[name].unit.pid

    def restarts(self, name: str) -> int:
        """How often a store or a process was brought back after it had crashed."""
        return self._supervisor[name].restarts

    async def start_process(self, name: str) -> None:
        """Start what was stopped or killed; returns when it is ready."""
        await self._supervisor[name].start()

    async def stop_process(self, name: str) -> None:
        """Stop cleanly; it stays away until started."""
        await self._supervisor[name].stop()

    async def kill(self, name: str, *, restart: bool = False) -> None:
        """`kill -9`; it stays away until started, or is brought back when `restart`."""
        await self._supervisor[name].kill(restart=restart)

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
