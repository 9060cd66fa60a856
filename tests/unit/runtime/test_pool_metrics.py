"""Metrics report the use of connection pools under the names of OpenTelemetry's conventions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from pydantic import SecretStr

from services.agent_orchestrator.database import open_database
from services.agent_orchestrator.settings import AgentSettings
from services.graph_query.app import open_store as open_store_of_graph
from services.graph_query.settings import GraphSettings
from services.runtime.pool_metrics import PoolStats, observe_pools
from services.vector_search.app import open_store
from services.vector_search.settings import VectorSettings

NOWHERE = SecretStr("postgresql://nobody@127.0.0.1:1/none")
NAMES = {"db.client.connection." + name for name in ("count", "max", "pending_requests")}


class Pool:
    """A pool with the given statistics."""

    def __init__(self, name: str, numbers: PoolStats) -> None:
        self.name = name
        self.numbers = numbers

    def stats(self) -> PoolStats:
        return self.numbers


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemoryMetricReader]:
    """Reads the metrics of the process's meters."""
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    monkeypatch.setattr(metrics, "get_meter", provider.get_meter)
    yield reader
    provider.shutdown()


def read(reader: InMemoryMetricReader) -> dict[tuple[str, ...], int]:
    """Returns values by metric, pool and, if there is one, state."""
    data: Any = reader.get_metrics_data()
    return {
        (metric.name.rpartition(".")[2], *point.attributes.values()): point.value
        for metric in data.resource_metrics[0].scope_metrics[0].metrics
        for point in metric.data.data_points
        if metric.name in NAMES
    }


def test_pools_are_reported_by_name_with_their_current_statistics(
    reader: InMemoryMetricReader,
) -> None:
    reads, writes = Pool("reads", PoolStats(10, 2, 3, 0)), Pool("writes", PoolStats(5, 5, 0, 7))
    observe_pools(reads, writes)
    assert read(reader) == {
        ("count", "reads", "used"): 2,
        ("count", "reads", "idle"): 3,
        ("count", "writes", "used"): 5,
        ("count", "writes", "idle"): 0,
        ("max", "reads"): 10,
        ("max", "writes"): 5,
        ("pending_requests", "reads"): 0,
        ("pending_requests", "writes"): 7,
    }
    writes.numbers = PoolStats(5, 0, 5, 0)
    later = read(reader)
    assert later["count", "writes", "idle"] == 5
    assert later["pending_requests", "writes"] == 0


async def test_the_vector_tier_reports_its_pools(reader: InMemoryMetricReader) -> None:
    settings = VectorSettings(_env_file=None, database_url=NOWHERE, pool_size=3)
    store = await open_store(settings)
    numbers = read(reader)
    await store.close()
    assert {place[1] for place in numbers} == {"braid-vector-read", "braid-vector-write"}
    assert numbers["max", "braid-vector-read"] == 3


async def test_the_graph_tier_reports_its_pool(reader: InMemoryMetricReader) -> None:
    settings = GraphSettings(_env_file=None, neo4j_password=SecretStr("none"), pool_size=6)
    store = open_store_of_graph(settings)
    numbers = read(reader)
    await store.close()
    assert numbers == {
        ("count", "braid-graph", "used"): 0,
        ("max", "braid-graph"): 6,
        ("pending_requests", "braid-graph"): 0,
    }


async def test_the_database_of_the_orchestrator_and_its_workers_reports_its_pool(
    reader: InMemoryMetricReader,
) -> None:
    settings = AgentSettings(_env_file=None, database_url=NOWHERE, pool_size=4)
    async with open_database(settings, "braid-agent-worker"):
        numbers = read(reader)
    assert numbers == {
        ("count", "braid-agent-worker", "used"): 0,
        ("count", "braid-agent-worker", "idle"): 0,
        ("max", "braid-agent-worker"): 4,
        ("pending_requests", "braid-agent-worker"): 0,
    }
