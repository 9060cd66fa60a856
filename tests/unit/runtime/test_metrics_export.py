"""Metrics and traces are sent to a configured collector; without one, no exporter is loaded."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from tests.stubs.otlp_collector import Collector, otlp_collector

PROCESS = """
import sys
from opentelemetry import metrics, trace
from services.runtime.settings import RuntimeSettings
from services.runtime.telemetry import configure_telemetry

early = metrics.get_meter("braid").create_counter("braid.early")
configure_telemetry(RuntimeSettings(_env_file=None), "vector_search")
early.add(1)
metrics.get_meter("braid").create_counter("braid.late").add(3)
trace.get_tracer("braid").start_span("looked").end()
print(any(name.startswith("opentelemetry.exporter") for name in sys.modules))
"""


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector on a free port."""
    with otlp_collector() as running:
        yield running


def run(endpoint: str, process: str = PROCESS, **more: str) -> str:
    """Runs a process that records some telemetry and exits; returns what it printed."""
    environment = os.environ | {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint} | more
    ended = subprocess.run(
        [sys.executable, "-c", process],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return ended.stdout.strip()


def test_a_configured_collector_receives_metrics_and_traces(collector: Collector) -> None:
    assert run(collector.endpoint) == "True"
    counted = {name: metric.sum.data_points[0].as_int for name, metric in collector.metrics.items()}
    assert counted == {"braid.early": 1, "braid.late": 3}
    assert [span.name for span in collector.spans] == ["looked"]
    assert collector.services == {"vector_search"}


def test_without_a_collector_no_exporter_is_loaded() -> None:
    assert run("") == "False"


def test_an_unavailable_collector_does_not_prevent_a_process_from_exiting() -> None:
    started = time.monotonic()
    run("http://127.0.0.1:9")
    assert time.monotonic() - started < 20


SCRAPED = """
import re, sys, urllib.request
from services.runtime.instruments import RPC_DURATION, counter, histogram, Instrument, Kind
from services.runtime.settings import RuntimeSettings
from services.runtime import telemetry

lines = []
telemetry.sys.stderr.write = lines.append
settings = RuntimeSettings(_env_file=None)
telemetry.configure_telemetry(settings, "gateway")
port = re.search(r'"port": (\\d+)', "".join(lines))[1]
histogram(RPC_DURATION).record(0.004, {"rpc.method": "/a/B", "rpc.code": "OK", "text": "a secret"})
print(urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read().decode())
"""


def test_metrics_are_served_to_prometheus_if_an_address_is_configured() -> None:
    printed = run("", SCRAPED, BRAID_METRICS_LISTEN="127.0.0.1:0")
    [bucket] = [line for line in printed.splitlines() if 'le="0.005"' in line]
    assert bucket.startswith("rpc_server_duration_seconds_bucket{")
    assert 'rpc_method="/a/B"' in bucket
    assert 'rpc_code="OK"' in bucket
    assert bucket.endswith(" 1.0")


def test_undeclared_attributes_are_dropped() -> None:
    printed = run("", SCRAPED, BRAID_METRICS_LISTEN="127.0.0.1:0")
    assert "rpc_server_duration_seconds_count" in printed
    assert "secret" not in printed


def test_an_address_in_use_ends_the_process_with_a_message() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = subprocess.run(
            [sys.executable, "-c", PROCESS],
            env=os.environ | {"BRAID_METRICS_LISTEN": listen},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"cannot serve metrics on {listen}: ")
    assert "Traceback" not in ended.stderr
