"""The stack under test: real stores, a stub for embeddings, and a key with all scopes in its space."""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import grpc

from deploy.local.stack import LocalStack
from services.runtime.channels import open_channel
from tests.benchmarks.harness import running_stack, temporary_data
from tests.stubs.openai_server import OpenAIStub

DIMENSION = 16
SPACE = "fuzzed"
PROCESSES = {"agent": "agent_orchestrator", "graph": "graph_query", "vector": "vector_search"}


@dataclass(frozen=True)
class Fuzzed:
    """The running stack, with the addresses and the credential for callers."""

    stack: LocalStack
    key: str

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Returns the metadata of gRPC calls."""
        return (("authorization", f"Bearer {self.key}"),)

    @property
    def url(self) -> str:
        """Returns the URL of the gateway."""
        return f"http://{self.stack.addresses['gateway']}"

    @contextlib.asynccontextmanager
    async def channels(self) -> AsyncIterator[dict[str, grpc.aio.Channel]]:
        """Opens channels without retries, by package."""
        async with contextlib.AsyncExitStack() as stack:
            yield {
                package: await stack.enter_async_context(
                    open_channel(self.stack.addresses[name], retry=False)
                )
                for package, name in PROCESSES.items()
            }

    def crashes(self) -> int:
        """Returns how many times a process has crashed."""
        names = ("postgres", "neo4j", "gateway", "agent_worker", *PROCESSES.values())
        return sum(self.stack.restarts(name) for name in names)


@contextlib.asynccontextmanager
async def fuzzed() -> AsyncIterator[Fuzzed]:
    """Starts everything in a temporary folder."""
    with temporary_data() as data:
        key = _issue(data)
        async with OpenAIStub(DIMENSION) as stub:
            environment = {
                "EMBEDDING_BASE_URL": stub.base_url,
                "EMBEDDING_MODEL": "stub",
                "EMBEDDING_API_KEY": "sk-stub",
                "BRAID_LOG_LEVEL": "error",
            }
            async with running_stack(data, environment) as stack:
                yield Fuzzed(stack, key)


def _issue(data: Path) -> str:
    key = secrets.token_urlsafe(32)
    entry = {
        "id": "fuzzer",
        "hash": f"sha256:{hashlib.sha256(key.encode()).hexdigest()}",
        "space": SPACE,
        "user": "fuzzer",
        "scopes": ["read", "write", "admin"],
    }
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = data / "api_keys.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps({"keys": [entry]}))
    return key
