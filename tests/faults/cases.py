"""Which dependency misbehaves how, and what must be true of every answer meanwhile."""

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
    """What a dependency that is away takes with it.

    `legs` cannot look, `failing` operations cannot succeed, and what the agent could not ask is one of `parts`. Where
    `degraded` is set, searches in another order or by fewer means must say so.
    """

    legs: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    degraded: bool = False


@dataclass(frozen=True)
class Case:
    """A dependency and its fault. A slow one still answers: nothing has to fail."""

    dependency: str
    fault: str
    away: Expected = field(default_factory=Expected)
    operations: frozenset[str] = ALL

    @property
    def name(self) -> str:
        """As reports call it."""
        return f"{self.dependency} {self.fault}"

    @property
    def expected(self) -> Expected:
        """What must be true of answers while the fault lasts."""
        return Expected() if self.fault in {SLOW, JUMPED_AHEAD, JUMPED_BACK} else self.away


def _each(
    dependency: str, faults: tuple[str, ...], away: Expected, operations: frozenset[str] = ALL
) -> list[Case]:
    return [Case(dependency, fault, away, operations) for fault in faults]


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
_BOTH = (*OF_PROCESSES, *OF_CONNECTIONS)

CASES: tuple[Case, ...] = (
    *_each("postgres", OF_PROCESSES, _NO_POSTGRES),
    *_each("vector database", OF_CONNECTIONS, _NO_VECTOR),
    *_each("agent database", OF_CONNECTIONS, _NO_AGENT_DATABASE),
    *_each("neo4j", _BOTH, _NO_GRAPH),
    *_each("vector_search", _BOTH, _NO_VECTOR),
    *_each("graph_query", _BOTH, _NO_GRAPH),
    *_each("agent_orchestrator", _BOTH, _NO_ORCHESTRATOR),
    *_each("embedding endpoint", OF_CONNECTIONS, Expected(legs=frozenset({VECTOR}))),
    *_each(
        "rerank endpoint", OF_CONNECTIONS, Expected(degraded=True), frozenset({SEARCH, RERANKED})
    ),
    *_each(
        "language model",
        OF_CONNECTIONS,
        Expected(parts=frozenset({MODEL_PART})),
        frozenset({SEARCH, MODEL_ASK}),
    ),
    *_each("agent_worker", (PAUSED,), Expected()),
    *_each("disk", (FULL,), Expected()),
    *_each("clock", (JUMPED_AHEAD, JUMPED_BACK), Expected()),
)
# A few of different kinds, for every run of all tests.
SHORT = frozenset(
    {
        "neo4j paused",
        "vector database cut",
        "language model refusing",
        "clock jumped ahead",
    }
)
