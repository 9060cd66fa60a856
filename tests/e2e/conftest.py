"""The whole system as a user starts it: real stores, all processes, and the sample loaded by the `braid` command."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

import deploy.local
from deploy.local.stack import LocalStack
from services.runtime.security.api_keys import hash_key
from tests.conftest import LoopThread
from tests.stores import data_folder
from tests.stubs.otlp_collector import Collector, otlp_collector

SAMPLE = Path(deploy.local.__file__).parent / "sample"
OTHER_KEY = "a-key-of-another-space"
HOSTILE_KEY = "a-key-of-the-space-that-takes-anything"
TUTORIAL_KEY = "a-key-of-the-space-of-the-tutorial"
LEARNER_KEY = "a-key-of-the-space-of-the-tutorial-of-the-command-line"
TYPESCRIPT_KEY = "a-key-of-the-space-of-the-typescript-tutorial"
MCP_KEY = "a-key-of-the-space-of-an-assistant"
ROLES_KEY = "a-key-of-the-space-of-corrected-facts"
FUZZER_KEY = "a-key-that-may-do-everything-in-a-space-of-its-own"
MOVED_KEY = "a-key-of-the-space-that-is-exported-and-imported"
# Two users of one space.
ANN_KEY = "a-key-of-ann-in-the-team"
BEN_KEY = "a-key-of-ben-in-the-team"


# Long timeouts, so that no test fails because the machine is busy; other tests cover timeouts.
PATIENT = {
    "BRAID_TIMEOUT_SECONDS": "60",
    "BRAID_AGENT_SEARCH_SECONDS": "60",
    "BRAID_AGENT_LEG_SECONDS": "20",
    "BRAID_AGENT_QUERY_EMBEDDING_SECONDS": "20",
    "BRAID_AGENT_EXPANSION_SECONDS": "20",
}


# Runs the command as a terminal does: Ctrl-C is ignored in a process whose parent runs in the background.
_INTERRUPTIBLE = (
    "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "runpy.run_module('gateway.cli', run_name='__main__')"
)


@dataclass(frozen=True)
class System:
    """The running system and clients for it."""

    stack: LocalStack
    loop: LoopThread
    corpus: Path

    @property
    def url(self) -> str:
        """The gateway's URL."""
        return f"http://{self.stack.addresses['gateway']}"

    def client(self, key: str | None = None) -> httpx2.Client:
        """An HTTP client; without a key its space is `local`."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=90)

    def shell(self, code: str, folder: Path, key: str) -> subprocess.CompletedProcess[str]:
        """Runs a block of commands in a folder as a user would, with `braid` on the path."""
        braid = f'braid() {{ "{sys.executable}" -m gateway.cli "$@"; }}'
        return subprocess.run(
            ["bash", "-euc", f"{braid}\n{code}"],
            cwd=folder,
            env=self._environment(key),
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def braid(self, *arguments: str, key: str = "") -> subprocess.CompletedProcess[str]:
        """Runs the `braid` command as a user would; without a key its space is `local`."""
        return subprocess.run(
            [sys.executable, "-m", "gateway.cli", *arguments],
            env=self._environment(key),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    @contextmanager
    def braid_running(self, *arguments: str, key: str = "") -> Iterator[subprocess.Popen[str]]:
        """Runs the `braid` command during the block, which ends with Ctrl-C."""
        with subprocess.Popen(
            [sys.executable, "-c", _INTERRUPTIBLE, *arguments],
            env=self._environment(key),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.send_signal(signal.SIGINT)

    def _environment(self, key: str) -> dict[str, str]:
        keyed = {"BRAID_API_KEY": key} if key else {}
        state = {"XDG_STATE_HOME": str(self.corpus.parent / "state")}
        return {**os.environ, "BRAID_URL": self.url, **state, **keyed}


def copy_corpus(folder: Path) -> Path:
    """Copies the sample's notes and facts to a folder, and returns it."""
    corpus = folder / "corpus"
    corpus.mkdir()
    for path in (*SAMPLE.glob("*.md"), SAMPLE / "facts.jsonl"):
        shutil.copy(path, corpus)
    return corpus


def write_keys(data: Path) -> None:
    """Writes keys of other spaces to the key file, to which the stack adds its own."""
    records = [
        {"id": space, "hash": hash_key(key), "space": space, "scopes": ["read", "write"]}
        for space, key in (
            ("other", OTHER_KEY),
            ("hostile", HOSTILE_KEY),
            ("tutorial", TUTORIAL_KEY),
            ("typescript", TYPESCRIPT_KEY),
            ("assistant", MCP_KEY),
            ("learner", LEARNER_KEY),
            ("roles", ROLES_KEY),
        )
    ]
    records += [
        {
            "id": user,
            "hash": hash_key(key),
            "space": "team",
            "user": user,
            "scopes": ["read", "write"],
        }
        for user, key in (("ann", ANN_KEY), ("ben", BEN_KEY))
    ]
    records += [
        {
            "id": name,
            "hash": hash_key(key),
            "space": space,
            "user": name,
            "scopes": ["read", "write", "admin", *more],
        }
        for name, key, space, more in (
            ("fuzzer", FUZZER_KEY, "fuzzed", ()),
            ("mover", MOVED_KEY, "moved", ("delegate",)),
        )
    ]
    path = data / "api_keys.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps({"keys": records}))


@pytest.fixture(scope="session")
def collector() -> Iterator[Collector]:
    """A collector that receives the system's traces and metrics."""
    with otlp_collector() as running:
        yield running


@pytest.fixture(scope="session")
def system(
    stores_loop: LoopThread, tmp_path_factory: pytest.TempPathFactory, collector: Collector
) -> Iterator[System]:
    """The system with the sample corpus in space `local`."""
    with data_folder() as data:
        write_keys(data)
        telemetry = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint,
            "OTEL_METRIC_EXPORT_INTERVAL": "1000",
            "OTEL_BSP_SCHEDULE_DELAY": "200",
            "BRAID_METRICS_LISTEN": "127.0.0.1:0",
            # Its callers in space `local` have no key, although there are keys for other spaces.
            "BRAID_ALLOW_LOCAL": "true",
        }
        stack = LocalStack(data, ports="free", extra_env={**PATIENT, **telemetry})
        stores_loop.run(stack.start())
        try:
            running = System(stack, stores_loop, copy_corpus(tmp_path_factory.mktemp("sample")))
            # Given as files, so that the names of their documents are those of the files.
            files = map(str, sorted(running.corpus.iterdir()))
            loaded = running.braid("ingest", *files, "--json")
            assert loaded.returncode == 0, loaded.stderr
            yield running
        finally:
            stores_loop.run(stack.stop())
