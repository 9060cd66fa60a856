"""Health follows the availability of the stores."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from services.runtime.health import HealthMonitor
from tests.unit.runtime.conftest import Harness, Start

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SEARCH = "braid.agent.v1.SearchService"


class Store:
    """A store that is available while `up` is true."""

    def __init__(self) -> None:
        self.up = True

    async def probe(self) -> None:
        if not self.up:
            raise ConnectionError


async def health_of(harness: Harness, service: str = "") -> int:
    stub: Any = health_pb2_grpc.HealthStub(harness.channel)
    answer = await stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=5)
    status: int = answer.status
    return status


async def monitored(monitor: HealthMonitor, service: str) -> int:
    servicer: Any = monitor.servicer
    answer = await servicer.Check(health_pb2.HealthCheckRequest(service=service), None)
    status: int = answer.status
    return status


async def test_a_server_is_serving_from_its_start_if_its_stores_respond(
    start: Start,
) -> None:
    harness = await start(probes={"store": Store().probe})
    assert await health_of(harness) == SERVING
    assert await health_of(harness, SEARCH) == SERVING


async def test_a_server_without_its_store_is_not_serving(start: Start) -> None:
    store = Store()
    store.up = False
    harness = await start(probes={"store": store.probe})
    assert await health_of(harness, SEARCH) == NOT_SERVING


async def test_health_follows_the_store_down_and_up_again() -> None:
    store = Store()
    monitor = HealthMonitor([SEARCH], {"store": store.probe})
    seen = []
    for up in (True, False, True):
        store.up = up
        await monitor.poll()
        seen.append(await monitored(monitor, SEARCH))
    assert seen == [SERVING, NOT_SERVING, SERVING]


async def test_a_draining_server_stays_not_serving_even_if_its_stores_respond() -> None:
    monitor = HealthMonitor([SEARCH], {"store": Store().probe})
    await monitor.poll()
    await monitor.drain()
    await monitor.poll()
    assert await monitored(monitor, SEARCH) == NOT_SERVING


async def test_reflection_lists_the_services_without_a_credential(harness: Harness) -> None:
    channel: Any = harness.channel
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
    asked = reflection_pb2.ServerReflectionRequest(list_services="")
    [answer] = [a async for a in stub.ServerReflectionInfo(iter([asked]), timeout=5)]
    names = {service.name for service in answer.list_services_response.service}
    assert {SEARCH, "braid.agent.v1.IngestService", "grpc.health.v1.Health"} <= names


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
@pytest.mark.parametrize(
    ("symbol", "is_known"),
    [
        (SEARCH, True),
        (f"{SEARCH}.ComprehensiveSearch", True),
        ("braid.agent.v1.ComprehensiveSearchRequest", True),
        (f"{SEARCH}.NoSuchMethod", False),
        ("no.such.Service", False),
    ],
)
async def test_reflection_describes_services_methods_and_messages_in_both_versions(
    harness: Harness, version: str, symbol: str, is_known: bool
) -> None:
    call = harness.channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    asked = reflection_pb2.ServerReflectionRequest(file_containing_symbol=symbol)
    [answer] = [one async for one in call(iter([asked]), timeout=5)]
    assert answer.HasField("file_descriptor_response") is is_known


async def test_a_stopped_server_accepts_no_calls(start: Start) -> None:
    harness = await start()
    await harness.server.stop()
    stub: Any = health_pb2_grpc.HealthStub(harness.channel)
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await stub.Check(health_pb2.HealthCheckRequest(), timeout=1)
    assert failure.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_the_health_of_all_services_is_listed_in_one_call(start: Start) -> None:
    harness = await start(probes={"store": Store().probe})
    stub: Any = health_pb2_grpc.HealthStub(harness.channel)
    messages: Any = health_pb2
    listed = await stub.List(messages.HealthListRequest(), timeout=5)
    statuses = {name: answer.status for name, answer in listed.statuses.items()}
    assert statuses == dict.fromkeys(("", SEARCH, "braid.agent.v1.IngestService"), SERVING)
