"""A short version of `make bench NAME=fuzz`: random and malformed requests to every route and RPC."""

from __future__ import annotations

from contextlib import AsyncExitStack, closing

import pytest

from services.runtime.channels import open_channel
from tests.e2e.conftest import FUZZER_KEY, System
from tests.fuzz.documented import documented
from tests.fuzz.findings import Findings
from tests.fuzz.rest import RestFuzzer
from tests.fuzz.rpc import RpcFuzzer
from tests.fuzz.seeding import load
from tests.fuzz.system import PROCESSES

SEED = 1
CASES = 400
# The dimension of the local model.
DIMENSION = 384


def nothing(_done: int) -> None:
    """Ignores the progress."""


async def over_grpc(system: System) -> Findings:
    async with AsyncExitStack() as stack:
        channels = {
            package: await stack.enter_async_context(
                open_channel(system.stack.addresses[name], retry=False)
            )
            for package, name in PROCESSES.items()
        }
        key = (("authorization", f"Bearer {FUZZER_KEY}"),)
        fuzzer = RpcFuzzer(channels, key, documented(), seed=SEED, dimension=DIMENSION)
        await fuzzer.run(CASES, seconds_each=5, shown=nothing)
        return fuzzer.findings


@pytest.fixture(scope="module", autouse=True)
def _sample_data(system: System) -> None:
    system.loop.run(load(system.url, FUZZER_KEY))


def test_no_rpc_request_causes_a_defect_or_an_undocumented_status(system: System) -> None:
    found = system.loop.run(over_grpc(system))
    assert found.cases >= CASES
    assert found.report() == []


def test_no_rest_request_causes_a_defect_or_an_undocumented_status(system: System) -> None:
    with closing(RestFuzzer(system.url, FUZZER_KEY, seed=SEED)) as fuzzer:
        fuzzer.warm_up(seconds_each=3)
        fuzzer.run(CASES, seconds_each=3, shown=nothing)
    assert fuzzer.findings.cases >= CASES
    assert fuzzer.findings.report() == []
