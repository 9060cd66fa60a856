"""The fault cases: a dependency, its fault, and what must be true of every response during the fault."""

from __future__ import annotations

from dataclasses import dataclass, field

VECTOR, GRAPH = "vector", "graph"
DOCUMENTS_PART, GRAPH_PART, MODEL_PART = "documents", "graph", "language_model"
# Operations, see `tests.faults.operations`.
SEARCH, CHAT, ASK, DOCUMENT, FACT, CONVERSATION, RERANKED, MODEL_ASK = (
    "search",
    "chat",
    "ask",
    "document",
    "fact",
    "conversation",
    "reranked",
    "model_ask",
)
ALL = frozenset({SEARCH, CHAT, ASK, DOCUMENT, FACT, CONVERSATION})

STOPPED, KILLED, PAUSED = "stopped", "killed", "paused"
SLOW, REFUSING, CUT, HANGING = "slow", "refusing", "cut", "hanging"
FULL, JUMPED_AHEAD, JUMPED_BACK = "full", "jumped ahead", "jumped back"
OF_PROCESSES = (STOPPED, KILLED, PAUSED)
OF_CONNECTIONS = (SLOW, REFUSING, CUT, HANGING)


@dataclass(frozen=True)
class Expected:
    """What cannot work while a dependency is unavailable.

    The `legs` cannot search, the `failing` operations cannot succeed, and an answer of the agent must name one of the
    `parts` as unavailable. If `degraded` is set, a search without reranking must report that.
    """

    legs: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    degraded: bool = False


@dataclass(frozen=True)
class Case:
    """A dependency and its fault. If it is only slow, it still responds and nothing may fail."""

    dependency: str
    fault: str
    unavailable: Expected = field(default_factory=Expected)
    operations: frozenset[str] = ALL

    @property
    def name(self) -> str:
        """Returns the name used in reports."""
        return f"{self.dependency} {self.fault}"

    @property
    def expected(self) -> Expected:
        """Returns what cannot work during the fault."""
        return Expected() if self.fault in {SLOW, JUMPED_AHEAD, JUMPED_BACK} else self.unavailable


def _cases(
    dependency: str,
    faults: tuple[str, ...],
    unavailable: Expected,
    operations: frozenset[str] = ALL,
) -> list[Case]:
    return [Case(dependency, fault, unavailable, operations) for fault in faults]


_NO_VECTOR = Expected(legs=frozenset({VECTOR}), parts=frozenset({DOCUMENTS_PART}))
_NO_GRAPH = Expected(
    legs=frozenset({GRAPH}), failing=frozenset({FACT}), parts=frozenset({GRAPH_PART})
)
_NO_AGENT_DATABASE = Expected(failing=frozenset({DOCUMENT, CONVERSATION}))
_NO_POSTGRES = Expected(
    legs=frozenset({VECTOR}),
    failing=frozenset({DOCUMENT, CONVERSATION}),
    parts=frozenset({DOCUMENTS_PART}),
)
_NO_ORCHESTRATOR = Expected(failing=ALL)
_ALL_FAULTS = (*OF_PROCESSES, *OF_CONNECTIONS)

CASES: tuple[Case, ...] = (
    *_cases("postgres", OF_PROCESSES, _NO_POSTGRES),
    *_cases("vector database", OF_CONNECTIONS, _NO_VECTOR),
    *_cases("agent database", OF_CONNECTIONS, _NO_AGENT_DATABASE),
    *_cases("neo4j", _ALL_FAULTS, _NO_GRAPH),
    *_cases("vector_search", _ALL_FAULTS, _NO_VECTOR),
    *_cases("graph_query", _ALL_FAULTS, _NO_GRAPH),
    *_cases("agent_orchestrator", _ALL_FAULTS, _NO_ORCHESTRATOR),
    *_cases("embedding endpoint", OF_CONNECTIONS, Expected(legs=frozenset({VECTOR}))),
    *_cases(
        "rerank endpoint", OF_CONNECTIONS, Expected(degraded=True), frozenset({SEARCH, RERANKED})
    ),
    *_cases(
        "language model",
        OF_CONNECTIONS,
        Expected(parts=frozenset({MODEL_PART})),
        frozenset({SEARCH, MODEL_ASK}),
    ),
    *_cases("agent_worker", (PAUSED,), Expected()),
    *_cases("disk", (FULL,), Expected()),
    *_cases("clock", (JUMPED_AHEAD, JUMPED_BACK), Expected()),
)
# A few cases of different kinds, which every test run includes.
SHORT = frozenset(
    {
        "neo4j paused",
        "vector database cut",
        "language model refusing",
        "clock jumped ahead",
    }
)
