"""The whole stack: both stores, and Braid's processes over them."""

import asyncio
import datetime
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from deploy.local.child_process import Command
from deploy.local.credentials import write_private
from deploy.local.keys import PREFIX, ProcessKeys
from deploy.local.ports import LOOPBACK, choose
from deploy.local.probes import POLL
from deploy.local.processes import BRAID, ProcessSpec, has_replicas
from deploy.local.progress import Silent, StartProgress
from deploy.local.stores import LocalStores, all_or_first_error
from deploy.local.supervisor import Backoff, Process, Supervisor

_METRICS = "BRAID_METRICS_LISTEN"

# Settings of TLS, which the stack's own probes do not support.
_TLS = ("BRAID_TLS_", "BRAID_GATEWAY_TLS_", "NEO4J_CA_", "NEO4J_CLIENT_")


class LocalStack:
    """Runs the stores and the processes under one data folder.

    Args:
        data: the folder; see `LocalStores`.
        ports: "default" uses the default ports if they are free; "free" uses any.
        extra_env: additional variables for every process.
        base_env: the environment that processes inherit; by default that of this process.
        processes: the processes to run; an empty list starts only the stores.
        stores: the stores, if they need other settings than the default.
        with_stores: whether the stores are started.
        progress: receives downloads, ports and steps.

    Attributes:
        addresses: host:port of each process, known after the start.
        metrics: host:port of each process's `/metrics`, if BRAID_METRICS_LISTEN is set.
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
        self.metrics: dict[str, str] = {}
        self.stores = stores or LocalStores(self.data, progress=progress)
        self._with_stores = with_stores
        self._ports = ports
        self._extra = dict(extra_env or {})
        self._base = base_env
        self._specs = tuple(processes)
        self._progress = progress or Silent()
        self._keys = ProcessKeys(self.data)
        self._supervisor = Supervisor(changed=self._write_run_file, backoff=backoff)
        self._ready: set[str] = set()
        self._started = datetime.datetime.now(datetime.UTC)

    @property
    def run_file(self) -> Path:
        """The file with process ids, addresses and the path of the keys, for the `braid` command (0600)."""
        return self.data / "run.json"

    async def start(self) -> None:
        """Start everything, as far as possible in parallel; returns when all is ready.

        Raises:
            LocalStackError: a unit did not start; the others are stopped again.
        """
        self.stores.prepare()
        try:
            if self._with_stores:
                await self.stores.fetch()  # before anything waits for the store
            self._add_units()
            await self._start_units()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop processes, then stores, cleanly."""
        if self.stores.neo4j.recording:
            self._progress.note("Stopping; the first stop takes some seconds longer …")
        try:
            await self._supervisor.stop()
        finally:
            self.run_file.unlink(missing_ok=True)
            self.stores.release()

    def pid(self, name: str) -> int | None:
        """Return the process id of a store or a process, None while it does not run."""
        return self._supervisor[name].unit.pid

    def restarts(self, name: str) -> int:
        """Return how often a store or a process was restarted after a crash."""
        return self._supervisor[name].restarts

    async def start_process(self, name: str) -> None:
        """Start a stopped or killed process; returns when it is ready."""
        await self._supervisor[name].start()

    async def stop_process(self, name: str) -> None:
        """Stop cleanly; it remains stopped until started."""
        await self._supervisor[name].stop()

    async def kill(self, name: str, *, restart: bool = False) -> None:
        """`kill -9`; it remains stopped until started, or is restarted if `restart`."""
        await self._supervisor[name].kill(restart=restart)

    def _add_units(self) -> None:
        self.addresses = self._choose_addresses()
        self.metrics = self._choose_metrics()
        shared = self._shared_environment()
        keys = self._keys.issue({spec.name: spec.scopes for spec in self._specs})
        if self._with_stores:
            self._supervisor.add(self.stores.neo4j)  # stopped last: it may have much data to write
            self._supervisor.add(self.stores.postgres)
        for spec in self._specs:
            self._supervisor.add(
                self._process(spec, {**shared, "BRAID_SERVICE_KEY": keys[spec.name]})
            )

    def _choose_addresses(self) -> dict[str, str]:
        wanted = {spec.name: spec.port if self._ports == "default" else 0 for spec in self._specs}
        chosen = choose(wanted)
        for name, port in chosen.items():
            if wanted[name] not in (0, port):
                self._progress.note(
                    f"Port {wanted[name]} is taken: {name} listens on {LOOPBACK}:{port}"
                )
        return {name: f"{LOOPBACK}:{port}" for name, port in chosen.items()}

    def _choose_metrics(self) -> dict[str, str]:
        """Choose one address per process, from the configured port upwards, because they share a machine."""
        base = os.environ if self._base is None else self._base
        listen = self._extra.pop(_METRICS, "") or base.get(_METRICS, "")
        if not listen:
            return {}
        port = listen.rpartition(":")[2]
        first = int(port) if port.isdecimal() else 0
        wanted = {spec.name: first and first + place for place, spec in enumerate(self._specs)}
        return {name: f"{LOOPBACK}:{chosen}" for name, chosen in choose(wanted).items()}

    def _shared_environment(self) -> dict[str, str]:
        base = dict(os.environ if self._base is None else self._base)
        for name in self.stores.environment():
            base.pop(name, None)  # a process receives only the variables of its own stores
        self._warn_of_unused(base)
        base = {name: value for name, value in base.items() if not name.startswith(_TLS)}
        own = {
            "BRAID_DATA": str(self.data),
            "BRAID_API_KEYS_FILE": str(self._keys.file),
            "BRAID_PROCESS_KEY_PREFIX": PREFIX,
        }
        return {**self._draining(), **base, **self._targets(), **own}

    def _targets(self) -> dict[str, str]:
        """Return the target of each service: one address, or the list of its replicas."""
        found: dict[str, list[str]] = {}
        for spec in self._specs:
            if spec.target:
                found.setdefault(spec.target, []).append(self.addresses[spec.name])
        return {
            target: addresses[0] if len(addresses) == 1 else f"ipv4:{','.join(addresses)}"
            for target, addresses in found.items()
        }

    def _draining(self) -> dict[str, str]:
        """Disable the drain delay if there is no other replica to which clients could move."""
        return {} if has_replicas(self._specs) else {"BRAID_DRAIN_DELAY_SECONDS": "0"}

    def _warn_of_unused(self, base: Mapping[str, str]) -> None:
        """Warn about variables that are documented but have no effect in the local stack."""
        if base.get("BRAID_API_KEYS_FILE"):
            self._progress.note(
                f"BRAID_API_KEYS_FILE is not used here: keys of your own go into {self._keys.file}"
            )
        tls = ", ".join(name for name in base if name.startswith(_TLS) and base[name])
        if tls:
            self._progress.note(f"Not used here, where all is plain text on loopback: {tls}")
        own = [name for spec in self._specs for name in (spec.listen, spec.target)]
        unused = ", ".join(name for name in own if name and base.get(name))
        if unused:
            self._progress.note(f"Not used here, where the stack chooses addresses: {unused}")

    def _process(self, spec: ProcessSpec, environment: Mapping[str, str]) -> Process:
        listen = {spec.listen: self.addresses[spec.name]} if spec.listen else {}
        metrics = {_METRICS: self.metrics[spec.name]} if self.metrics else {}
        own = {**environment, **listen, **metrics}
        return Process(
            self._command(spec.name, spec.program, own, spec.needs),
            spec.probe,
            self.addresses[spec.name],
            setup=self._command(
                f"{spec.name}.setup", spec.setup, own, spec.needs + spec.setup_needs
            )
            if spec.setup
            else None,
            blocked=lambda: not self._ready.issuperset(spec.waits_for),
        )

    def _command(
        self,
        name: str,
        program: Sequence[str],
        environment: Mapping[str, str],
        needs: Sequence[str],
    ) -> Command:
        stores = self.stores.environment()
        return Command(
            name=name,
            program=program,
            environment={**environment, **{key: stores[key] for key in needs}, **self._extra},
            run=self.data / "run",
            log=self.data / "logs" / f"{name}.log",
        )

    async def _start_units(self) -> None:
        """Start all units in parallel; a process waits only for the stores that its setup needs.

        On Neo4j's first start its processes wait for it too, see `Neo4j.start`.
        """
        stores = ("postgres", "neo4j") if self._with_stores else ()
        first = {"neo4j"} if self._with_stores and self.stores.neo4j.is_first_start else set()
        ready = {name: asyncio.Event() for name in stores}

        async def start_store(name: str) -> None:
            await self._supervisor[name].start()
            self._ready.add(name)
            ready[name].set()

        async def start_process(spec: ProcessSpec) -> None:
            for name in {*spec.after, *first.intersection(spec.waits_for)}:
                await ready[name].wait()
            await self._supervisor[spec.name].start()
            self._ready.add(spec.name)

        showing = asyncio.create_task(self._show_waits(), name="start progress")
        try:
            await all_or_first_error(
                *(start_store(name) for name in stores),
                *(start_process(spec) for spec in self._specs),
            )
        finally:
            showing.cancel()
            await asyncio.gather(showing, return_exceptions=True)
            self._progress.waits(())

    async def _show_waits(self) -> None:
        while True:
            await asyncio.sleep(POLL)
            self._progress.waits([str(waiting) for waiting in self._supervisor.waits()])

    def _write_run_file(self) -> None:
        content = {
            "pid": os.getpid(),
            "started_at": self._started.isoformat(),
            "addresses": self.addresses,
            "metrics": self.metrics,
            "processes": self._supervisor.pids(),
            "keys_file": str(self._keys.file),
        }
        write_private(self.run_file, json.dumps(content, indent=1))

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
