"""The stack with a proxy in front of every dependency, a small disk for PostgreSQL and an injected clock."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

import psutil

from deploy.local.processes import BRAID, ProcessSpec
from deploy.local.stack import LocalStack
from deploy.local.stores import LocalStores
from tests.benchmarks.credentials import issue
from tests.faults.cases import FULL, JUMPED_AHEAD, JUMPED_BACK, KILLED, PAUSED, STOPPED, Case
from tests.stubs import rerank
from tests.stubs.chat_models import ChatScript, Turn
from tests.stubs.faulty_proxy import Endpoint, Fault, FaultyProxy
from tests.stubs.openai_server import OpenAIStub

DIMENSION = 16
WITH_MODEL = "agent_with_model"
_LOOPBACK = Endpoint("127.0.0.1", 0)
_SOCKET = ".s.PGSQL.5432"
_DISK = "size=400m"
_DAY = 86_400.0
_TARGETS = {
    "vector_search": "BRAID_VECTOR_TARGET",
    "graph_query": "BRAID_GRAPH_TARGET",
    "agent_orchestrator": "BRAID_AGENT_TARGET",
}
_DATABASES = {
    "vector database": ("DATABASE_URL", "BRAID_VECTOR_READ_DATABASE_URL"),
    "agent database": ("BRAID_AGENT_DATABASE_URL",),
}


class ProxiedStores(LocalStores):
    """The stores, with addresses of proxies for the services. Migrations connect to PostgreSQL directly."""

    def __init__(self, data: Path, sockets: Mapping[str, Path], bolt: Endpoint) -> None:
        super().__init__(data)
        self._sockets = sockets
        self._bolt = bolt

    def environment(self) -> dict[str, str]:
        """Returns the usual variables with the proxies' addresses."""
        variables = super().environment()
        for dependency, names in _DATABASES.items():
            for name in names:
                variables[name] = _through(variables[name], self._sockets[dependency])
        return variables | {"NEO4J_URI": f"bolt://{self._bolt.host}:{self._bolt.port}"}

    def direct(self) -> dict[str, str]:
        """Returns the variables without proxies."""
        return super().environment()


@dataclass
class FaultSystem:
    """The running system, and the controls for faults."""

    stack: LocalStack
    stores: ProxiedStores
    proxies: dict[str, FaultyProxy]
    clock: Path
    disk: Path | None
    stopped: list[int] = field(default_factory=list)

    async def break_(self, case: Case) -> None:
        """Injects the fault."""
        if case.fault == FULL:
            await asyncio.to_thread(self._fill_disk)
        elif case.fault in {JUMPED_AHEAD, JUMPED_BACK}:
            self._set_clock(_DAY if case.fault == JUMPED_AHEAD else -_DAY)
        elif case.fault == STOPPED:
            await self.stack.stop_process(case.dependency)
        elif case.fault == KILLED:
            await self.stack.kill(case.dependency)
        elif case.fault == PAUSED:
            self._pause(case.dependency)
        else:
            await self.proxies[case.dependency].break_as(Fault(case.fault))

    async def heal(self, case: Case) -> None:
        """Removes the fault; returns when a process that was stopped is ready."""
        if case.fault == FULL:
            self._filler.unlink()
        elif case.fault in {JUMPED_AHEAD, JUMPED_BACK}:
            self._set_clock(0.0)
        elif case.fault in {STOPPED, KILLED}:
            await self.stack.start_process(case.dependency)
        elif case.fault == PAUSED:
            self.resume()
        else:
            await self.proxies[case.dependency].heal()

    def skip_reason(self, case: Case) -> str:
        """Returns why a case cannot run on this machine, "" if it can."""
        if case.fault == FULL and self.disk is None:
            return "no small file system can be mounted here: that takes root"
        return ""

    def resume(self) -> None:
        """Resumes paused processes."""
        for pid in self.stopped:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self.stopped.clear()

    def _pause(self, name: str) -> None:
        pid = self.stack.pid(name)
        assert pid is not None, f"{name} does not run"
        process = psutil.Process(pid)
        # PostgreSQL has a process for each connection.
        for one in (process, *process.children(recursive=True)):
            self.stopped.append(one.pid)
            os.kill(one.pid, signal.SIGSTOP)

    def _set_clock(self, seconds: float) -> None:
        self.clock.write_text(str(seconds))

    @property
    def _filler(self) -> Path:
        assert self.disk is not None
        return self.disk / "filler"

    def _fill_disk(self) -> None:
        with self._filler.open("wb") as file, suppress(OSError):
            while True:
                file.write(bytes(1 << 20))
                file.flush()


@asynccontextmanager
async def fault_system() -> AsyncIterator[FaultSystem]:
    """Starts everything in a temporary folder, which is removed afterwards."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="braid-faults-")))
        data, clock = folder / "data", folder / "clock"
        clock.write_text("0")
        issue(data)
        disk = stack.enter_context(_small_disk(data / "postgres"))
        model = await stack.enter_async_context(_model_endpoint())
        other = await stack.enter_async_context(_other_endpoint())
        targets = Targets(
            {"language model": model, "embedding endpoint": other, "rerank endpoint": other}
        )
        proxies = targets.proxies()
        sockets = {name: folder / name.split()[0] for name in _DATABASES}
        for name, proxy in proxies.items():
            at = _LOOPBACK
            if name in sockets:
                sockets[name].mkdir()
                at = Endpoint(path=str(sockets[name] / _SOCKET))
            await stack.enter_async_context(proxy.listening(at))
        stores = ProxiedStores(data, sockets, proxies["neo4j"].at)
        local = LocalStack(
            data,
            ports="free",
            stores=stores,
            processes=_processes(clock, _url(proxies["language model"])),
            extra_env=_environment(proxies),
        )
        targets.stack, targets.stores = local, stores
        system = FaultSystem(local, stores, proxies, clock, disk)
        stack.push_async_callback(local.stop)
        stack.callback(system.resume)
        await local.start()
        yield system


@dataclass
class Targets:
    """The proxies' targets; the stack and the stores are set after the proxies are created."""

    endpoints: dict[str, OpenAIStub]
    stack: LocalStack | None = None
    stores: ProxiedStores | None = None

    def proxies(self) -> dict[str, FaultyProxy]:
        """Creates a proxy for each dependency."""
        return {
            **{name: FaultyProxy(partial(self._process, name)) for name in _TARGETS},
            **{name: FaultyProxy(partial(self._database, name)) for name in _DATABASES},
            **{
                name: FaultyProxy(_endpoint(urlsplit(stub.base_url).netloc))
                for name, stub in self.endpoints.items()
            },
            "neo4j": FaultyProxy(self._bolt),
        }

    def _process(self, name: str) -> Endpoint:
        assert self.stack is not None
        return _endpoint(self.stack.addresses[name])

    def _database(self, name: str) -> Endpoint:
        assert self.stores is not None
        dsn = self.stores.direct()[_DATABASES[name][0]]
        return Endpoint(path=f"{parse_qs(urlsplit(dsn).query)['host'][0]}/{_SOCKET}")

    def _bolt(self) -> Endpoint:
        assert self.stores is not None
        return _endpoint(urlsplit(self.stores.direct()["NEO4J_URI"]).netloc)


def _processes(clock: Path, model_url: str) -> list[ProcessSpec]:
    """Returns Braid's processes with the injected clock, and a second orchestrator with a language model.

    The first orchestrator has none, so that the local planner answers; both are tested.
    """
    specs = [_with_clock(spec, clock) for spec in BRAID]
    (agent,) = [spec for spec in specs if spec.name == "agent_orchestrator"]
    variables = {
        "LLM_BASE_URL": model_url,
        "LLM_API_KEY": "sk-stub",
        "LLM_MODEL": "stub",
        "LLM_PROVIDER": "openai",
        "LLM_QUESTIONS_RETRY_SECONDS": "1",
        "LLM_ATTEMPT_SECONDS": "2",
    }
    program = ("/usr/bin/env", *(f"{name}={value}" for name, value in variables.items()))
    with_model = replace(
        agent,
        name=WITH_MODEL,
        program=(*program, *agent.program),
        target="",
        port=0,
        setup=(),
        setup_needs=(),
    )
    return [*specs, with_model]


def _with_clock(spec: ProcessSpec, clock: Path) -> ProcessSpec:
    *interpreter, flag, module = spec.program[: spec.program.index("-m") + 2]
    rest = spec.program[len(interpreter) + 2 :]
    program = (*interpreter, flag, "tests.faults.jumping_clock", str(clock), module, *rest)
    return replace(spec, program=program)


def _environment(proxies: Mapping[str, FaultyProxy]) -> dict[str, str]:
    return {
        **{variable: proxies[name].address for name, variable in _TARGETS.items()},
        "RERANKER_SECONDS": "0.5",
        "BRAID_LOG_LEVEL": "warning",
        "BRAID_ALLOW_LOCAL": "true",
        "EMBEDDING_BASE_URL": _url(proxies["embedding endpoint"]),
        "EMBEDDING_API_KEY": "sk-stub",
        "EMBEDDING_MODEL": "stub",
        "EMBEDDING_CACHE_ENTRIES": "0",
        "RERANKER_BASE_URL": _url(proxies["rerank endpoint"]),
        "RERANKER_API_KEY": "sk-stub",
    }


def _endpoint(address: str) -> Endpoint:
    host, _, port = address.rpartition(":")
    return Endpoint(host, int(port))


def _url(proxy: FaultyProxy) -> str:
    return f"http://{proxy.address}/v1"


@asynccontextmanager
async def _model_endpoint() -> AsyncIterator[OpenAIStub]:
    """Starts a language model with one fixed answer."""
    async with OpenAIStub(DIMENSION) as stub:
        stub.routes |= ChatScript([Turn("The Ledger Service is owned by Jonas Weber.")]).routes()
        yield stub


@asynccontextmanager
async def _other_endpoint() -> AsyncIterator[OpenAIStub]:
    """Starts an endpoint for embeddings and reranking."""
    async with OpenAIStub(DIMENSION) as stub:
        stub.routes[rerank.PATH] = rerank.by_words
        yield stub


def _through(dsn: str, folder: Path) -> str:
    return urlunsplit(urlsplit(dsn)._replace(query=f"host={folder}"))


@contextmanager
def _small_disk(at: Path) -> Iterator[Path | None]:
    """Mounts a small file system for the duration of a block; yields None if that is not possible."""
    at.mkdir(parents=True, exist_ok=True)
    mounted = _succeeds("mount", "-t", "tmpfs", "-o", _DISK, "tmpfs", str(at))
    try:
        yield at if mounted else None
    finally:
        if mounted:
            _succeeds("umount", "--lazy", str(at))


def _succeeds(*command: str) -> bool:
    done: Any = subprocess.run(command, check=False, capture_output=True)
    return bool(done.returncode == 0)
