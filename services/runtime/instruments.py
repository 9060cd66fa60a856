"""All metrics of Braid: declared here once, created where they are recorded, and free if nothing is exported.

Attributes have few values, all known to the operator: methods, codes, names of queries, models and tools. The space is
an attribute only of cost metrics, the key only of its requests; `Bounded` limits both.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from opentelemetry import metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from opentelemetry.metrics import CallbackOptions, Observation

    Observe = Callable[[CallbackOptions], Iterable[Observation]]

# Searches take milliseconds, uploads seconds.
DURATION_BUCKETS = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    *(1.0, 2.0, 5.0, 10.0, 30.0, 120.0),
)
"""Bounds in seconds for histograms of durations."""

MAX_VALUES = 500
OTHER = "other"


class Kind(Enum):
    """The recording type of a metric."""

    COUNTER = "counter"
    HISTOGRAM = "histogram"
    GAUGE = "gauge"


@dataclass(frozen=True, slots=True)
class Instrument:
    """A metric: its OpenTelemetry name, its unit (UCUM), its description, and its attributes; others are dropped."""

    name: str
    kind: Kind
    unit: str
    description: str
    attributes: tuple[str, ...] = ()


RPC_DURATION = Instrument(
    "rpc.server.duration",
    Kind.HISTOGRAM,
    "s",
    "RPCs by method and status code.",
    ("rpc.method", "rpc.code"),
)
HTTP_DURATION = Instrument(
    "http.server.request.duration",
    Kind.HISTOGRAM,
    "s",
    "HTTP requests by method, route and status code.",
    ("http.request.method", "http.route", "http.response.status_code"),
)
STORE_DURATION = Instrument(
    "db.client.operation.duration",
    Kind.HISTOGRAM,
    "s",
    "Statements by store and name of the query.",
    ("db.system.name", "db.query.summary"),
)
MODEL_DURATION = Instrument(
    "braid.model.duration",
    Kind.HISTOGRAM,
    "s",
    "Calls of models by kind (embedding, language, rerank), model and outcome.",
    ("kind", "model", "outcome"),
)
MODEL_TOKENS = Instrument(
    "braid.model.tokens",
    Kind.COUNTER,
    "{token}",
    "Tokens that providers counted, by space, model and direction (input, output).",
    ("space", "model", "direction"),
)
MODEL_COST = Instrument(
    "braid.model.cost",
    Kind.COUNTER,
    "{USD}",
    "Cost of those tokens at the configured prices, by space and model.",
    ("space", "model"),
)
LEG_DURATION = Instrument(
    "braid.search.leg.duration",
    Kind.HISTOGRAM,
    "s",
    "Legs of comprehensive searches by name and status.",
    ("leg", "status"),
)
TOOL_DURATION = Instrument(
    "braid.agent.tool.duration",
    Kind.HISTOGRAM,
    "s",
    "Tool calls of the agent by tool and outcome.",
    ("tool", "outcome"),
)
SECURITY_EVENTS = Instrument(
    "braid.security.events",
    Kind.COUNTER,
    "{event}",
    "Security events by name and reason, such as refused credentials.",
    ("event", "reason"),
)
REQUESTS_BY_KEY = Instrument(
    "braid.auth.requests",
    Kind.COUNTER,
    "{call}",
    "Calls admitted, by the id of their key.",
    ("key",),
)
RATE_LIMIT_REFUSALS = Instrument(
    "braid.rate_limit.refusals",
    Kind.COUNTER,
    "{call}",
    "Calls refused by a limit, by the kind of limit.",
    ("limit",),
)
ADMISSION_ACTIVE = Instrument(
    "braid.admission.active", Kind.GAUGE, "{call}", "Calls that run, by queue.", ("queue",)
)
ADMISSION_WAITING = Instrument(
    "braid.admission.waiting", Kind.GAUGE, "{call}", "Calls that wait to run, by queue.", ("queue",)
)
ADMISSION_CAPACITY = Instrument(
    "braid.admission.capacity",
    Kind.GAUGE,
    "{call}",
    "Calls that may run or wait, by queue.",
    ("queue",),
)
POOL_CONNECTIONS = Instrument(
    "db.client.connection.count",
    Kind.GAUGE,
    "{connection}",
    "Connections by pool and state (used, idle).",
    ("db.client.connection.pool.name", "db.client.connection.state"),
)
POOL_MAX = Instrument(
    "db.client.connection.max",
    Kind.GAUGE,
    "{connection}",
    "Connections that a pool may have.",
    ("db.client.connection.pool.name",),
)
POOL_WAITING = Instrument(
    "db.client.connection.pending_requests",
    Kind.GAUGE,
    "{request}",
    "Calls that wait for a connection, by pool.",
    ("db.client.connection.pool.name",),
)
EMBEDDING_CACHE_HITS = Instrument(
    "braid.embedding_cache.hits", Kind.COUNTER, "{text}", "Vectors from memory.", ("model",)
)
EMBEDDING_CACHE_MISSES = Instrument(
    "braid.embedding_cache.misses", Kind.COUNTER, "{text}", "Vectors not in memory.", ("model",)
)
EMBEDDING_STORE_HITS = Instrument(
    "braid.embedding_store.hits", Kind.COUNTER, "{text}", "Vectors from PostgreSQL.", ("model",)
)
EMBEDDING_STORE_MISSES = Instrument(
    "braid.embedding_store.misses", Kind.COUNTER, "{text}", "Vectors not there.", ("model",)
)
RESULT_CACHE_HITS = Instrument(
    "braid.vector.result_cache.hits", Kind.COUNTER, "{search}", "Searches answered from memory."
)
RESULT_CACHE_MISSES = Instrument(
    "braid.vector.result_cache.misses", Kind.COUNTER, "{search}", "Searches answered by the store."
)
JOBS = Instrument("braid.jobs", Kind.GAUGE, "{job}", "Jobs by state.", ("state",))
INGESTION_LAG = Instrument(
    "braid.ingestion.lag",
    Kind.GAUGE,
    "s",
    "Age of the oldest unfinished work, by stage (job: accepted; document: searchable, not yet in the graph).",
    ("stage",),
)
READER_PROTECTIONS = Instrument(
    "braid.reader.protection",
    Kind.GAUGE,
    "1",
    "1 where a protection holds in the processes that read uploaded files, 0 where it does not, by protection.",
    ("protection",),
)
REPLICA_LAG = Instrument(
    "braid.replica.lag",
    Kind.GAUGE,
    "s",
    "How far a read replica of PostgreSQL is behind, by its place in the list of replicas.",
    ("replica",),
)
REPLICA_USABLE = Instrument(
    "braid.replica.usable",
    Kind.GAUGE,
    "1",
    "1 where a read replica answers reads, 0 where it is left out.",
    ("replica",),
)
REPLICA_READS = Instrument(
    "braid.replica.reads",
    Kind.COUNTER,
    "{read}",
    "Reads by where they were answered (replica, primary) and why the primary was asked.",
    ("source", "reason"),
)

TURNS = Instrument(
    "braid.turns",
    Kind.COUNTER,
    "{turn}",
    "Turns of workers by stage and outcome: done, waiting (for something that is unavailable), failed, lost (to another"
    " worker) or stopped (with its own).",
    ("stage", "outcome"),
)
EVENT_LOOP_LAG = Instrument(
    "braid.event_loop.lag",
    Kind.HISTOGRAM,
    "s",
    "How late the event loop runs what is due, ten times a second.",
)
BACKGROUND_RESTARTS = Instrument(
    "braid.background.restarts",
    Kind.COUNTER,
    "{restart}",
    "Background tasks that failed and were started again, by task.",
    ("task",),
)

INSTRUMENTS = tuple(value for value in list(globals().values()) if isinstance(value, Instrument))
"""All of them."""


def counter(instrument: Instrument, meter: metrics.Meter | None = None) -> metrics.Counter:
    """Returns the counter of an instrument in this process."""
    return _meter(meter).create_counter(
        instrument.name, unit=instrument.unit, description=instrument.description
    )


def histogram(instrument: Instrument, meter: metrics.Meter | None = None) -> metrics.Histogram:
    """Returns the histogram of an instrument in this process, in seconds."""
    return _meter(meter).create_histogram(
        instrument.name,
        unit=instrument.unit,
        description=instrument.description,
        explicit_bucket_boundaries_advisory=DURATION_BUCKETS,
    )


def gauge(instrument: Instrument, observe: Observe, meter: metrics.Meter | None = None) -> None:
    """Registers `observe`, called from another thread whenever metrics are read. Once per process and instrument."""
    _meter(meter).create_observable_up_down_counter(
        instrument.name, [observe], unit=instrument.unit, description=instrument.description
    )


class Bounded:
    """Limits the values of an attribute: the first `MAX_VALUES` are kept, others become `other`."""

    def __init__(self, limit: int = MAX_VALUES) -> None:
        self._limit = limit
        self._values: set[str] = set()

    def of(self, value: str) -> str:
        """Returns the value to record."""
        if value in self._values:
            return value
        if len(self._values) >= self._limit:
            return OTHER
        self._values.add(value)
        return value


def _meter(meter: metrics.Meter | None) -> metrics.Meter:
    return meter or metrics.get_meter("braid")
