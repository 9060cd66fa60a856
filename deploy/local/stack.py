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
from deploy.local.keys import ProcessKeys
from deploy.local.ports import LOOPBACK, choose
from deploy.local.processes import BRAID, ProcessSpec, has_replicas
from deploy.local.progress import Silent, StartProgress
from deploy.local.stores import LocalStores, all_or_first_error
from deploy.local.supervisor import Backoff, Process, Supervisor

_METRICS = "BRAID_METRICS_LISTEN"

# Settings of TLS, which the stack's own probes do not speak.
_TLS = ("BRAID_TLS_", "BRAID_GATEWAY_TLS_", "NEO4J_CA_", "NEO4J_CLIENT_")


class LocalStack:
    """Runs the stores and the processes under one data folder.

    Args:
        data: the folder; see `LocalStores`.
        ports: "default" takes the usual ports where they are free; "free" takes any.
        extra_env: variables that every process is given on top.
        base_env: what processes inherit; this process's environment by default.
        processes: what runs; an empty list starts the stores only.
        stores: the stores, when they need other settings than usual.
        with_stores: whether the stores are started.
        progress: told about downloads, ports and steps.

    Attributes:
        addresses: host:port of each process, known once started.
        metrics: host:port of each process's `/metrics` where BRAID_METRICS_LISTEN asks for them.
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
            if self._with_stores:
                await self.stores.fetch()  # before anything waits for the store that needs it
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

    def _add_units(self) -> None:
        self.addresses = self._choose_addresses()
        self.metrics = self._choose_metrics()
        shared = self._shared_environment()
        keys = self._keys.issue({spec.name: spec.scopes for spec in self._specs})
        if self._with_stores:
            self._supervisor.add(self.stores.neo4j)  # stopped last: it may have much to write
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
        """One address a process, from the configured port upwards: they share a machine here."""
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
            base.pop(name, None)  # a process is given only the stores that are its own
        self._warn_of_unused(base)
        base = {name: value for name, value in base.items() if not name.startswith(_TLS)}
        files = {"BRAID_DATA": str(self.data), "BRAID_API_KEYS_FILE": str(self._keys.file)}
        return {**self._draining(), **base, **self._targets(), **files}

    def _targets(self) -> dict[str, str]:
        """Where clients find each service: one address, or the list of its replicas."""
        found: dict[str, list[str]] = {}
        for spec in self._specs:
            if spec.target:
                found.setdefault(spec.target, []).append(self.addresses[spec.name])
        return {
            target: addresses[0] if len(addresses) == 1 else f"ipv4:{','.join(addresses)}"
            for target, addresses in found.items()
        }

    def _draining(self) -> dict[str, str]:
        """Without another replica there is nothing to wait for: a process then drains without a delay."""
        return {} if has_replicas(self._specs) else {"BRAID_DRAIN_DELAY_SECONDS": "0"}

    def _warn_of_unused(self, base: Mapping[str, str]) -> None:
        """A variable that has no effect here, and is said to have one elsewhere, is not passed over silently."""
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
        """Start all at once; a process waits only for the stores that its setup needs."""
        stores = ("postgres", "neo4j") if self._with_stores else ()
        ready = {name: asyncio.Event() for name in stores}

        async def start_store(name: str) -> None:
            await self._supervisor[name].start()
            ready[name].set()

        async def start_process(spec: ProcessSpec) -> None:
            for name in spec.after:
                await ready[name].wait()
            await self._supervisor[spec.name].start()

        await all_or_first_error(
            *(start_store(name) for name in stores), *(start_process(spec) for spec in self._specs)
        )

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
