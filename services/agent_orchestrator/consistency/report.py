"""Inconsistencies, what a repair does with each kind, and the report about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from braid.agent.v1 import consistency_pb2

Kind: TypeAlias = "consistency_pb2.InconsistencyKind.ValueType"
Action: TypeAlias = "consistency_pb2.RepairAction.ValueType"

CHUNK = consistency_pb2.INCONSISTENCY_KIND_CHUNK_WITHOUT_EPISODE
EPISODE = consistency_pb2.INCONSISTENCY_KIND_EPISODE_WITHOUT_CHUNK
DOCUMENT = consistency_pb2.INCONSISTENCY_KIND_UNKNOWN_DOCUMENT
ENTITY = consistency_pb2.INCONSISTENCY_KIND_ENTITY_WITHOUT_MENTION
DEAD = consistency_pb2.INCONSISTENCY_KIND_DEAD_JOB
UNDOCUMENTED_FACT = consistency_pb2.INCONSISTENCY_KIND_FACT_WITHOUT_DOCUMENT
UNSTATED_FACT = consistency_pb2.INCONSISTENCY_KIND_FACT_WITHOUT_SOURCE
FINDING = consistency_pb2.INCONSISTENCY_KIND_FINDING_WITHOUT_EPISODE
ONTOLOGY = consistency_pb2.INCONSISTENCY_KIND_ONTOLOGY_UNREADABLE
MEMORY = consistency_pb2.INCONSISTENCY_KIND_MEMORY_WITHOUT_DOCUMENT
MEMORY_TEXT = consistency_pb2.INCONSISTENCY_KIND_DOCUMENT_WITHOUT_MEMORY
SESSION = consistency_pb2.INCONSISTENCY_KIND_SESSION_WITHOUT_SUMMARY
UNEMBEDDED_FACT = consistency_pb2.INCONSISTENCY_KIND_FACT_WITHOUT_EMBEDDING
UNEMBEDDED_FINDING = consistency_pb2.INCONSISTENCY_KIND_FINDING_WITHOUT_EMBEDDING
UNEMBEDDED_CHUNK = consistency_pb2.INCONSISTENCY_KIND_CHUNK_WITHOUT_EMBEDDING
OLDER_GRAPH = consistency_pb2.INCONSISTENCY_KIND_GRAPH_OLDER_THAN_SEEN

ACTIONS: Mapping[Kind, Action] = {
    CHUNK: consistency_pb2.REPAIR_ACTION_SEND,
    EPISODE: consistency_pb2.REPAIR_ACTION_QUARANTINE,
    DOCUMENT: consistency_pb2.REPAIR_ACTION_QUARANTINE,
    ENTITY: consistency_pb2.REPAIR_ACTION_REMOVE,
    DEAD: consistency_pb2.REPAIR_ACTION_RETRY,
    UNDOCUMENTED_FACT: consistency_pb2.REPAIR_ACTION_QUARANTINE,
    UNSTATED_FACT: consistency_pb2.REPAIR_ACTION_QUARANTINE,
    FINDING: consistency_pb2.REPAIR_ACTION_QUARANTINE,
    ONTOLOGY: consistency_pb2.REPAIR_ACTION_NONE,
    MEMORY: consistency_pb2.REPAIR_ACTION_RESTORE,
    MEMORY_TEXT: consistency_pb2.REPAIR_ACTION_RESTORE,
    SESSION: consistency_pb2.REPAIR_ACTION_NONE,
    UNEMBEDDED_FACT: consistency_pb2.REPAIR_ACTION_EMBED,
    UNEMBEDDED_FINDING: consistency_pb2.REPAIR_ACTION_EMBED,
    UNEMBEDDED_CHUNK: consistency_pb2.REPAIR_ACTION_EMBED,
    OLDER_GRAPH: consistency_pb2.REPAIR_ACTION_ACCEPT,
}


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """One inconsistency; `document_id` is "" if it belongs to no document, `user` None if it is of no memory."""

    kind: Kind
    id: str
    document_id: str = ""
    user: str | None = None

    def shown_to(self, user: str) -> consistency_pb2.Inconsistency:
        """Returns the contract's entry: of another user's memories it has no ids."""
        private = self.user not in (None, user)
        return consistency_pb2.Inconsistency(
            kind=self.kind,
            id="" if private else self.id,
            document_id="" if private else self.document_id,
            action=ACTIONS[self.kind],
            user_id=self.user or "",
        )


@dataclass(slots=True)
class InconsistencyReport:
    """A report to a user under construction. `max_listed` bounds its size, however many inconsistencies there are."""

    user: str
    max_listed: int
    chunks: int = 0
    episodes: int = 0
    graph_documents: int = 0
    entities: int = 0
    facts: int = 0
    findings: int = 0
    memories: int = 0
    pending: int = 0
    quarantine_id: str = ""
    found: Counter[Kind] = field(default_factory=Counter)
    repaired: Counter[Kind] = field(default_factory=Counter)
    listed: list[Inconsistency] = field(default_factory=list)

    def note(self, findings: Iterable[Inconsistency]) -> None:
        """Counts findings, and lists them up to the limit."""
        for finding in findings:
            if self.found[finding.kind] < self.max_listed:
                self.listed.append(finding)
            self.found[finding.kind] += 1

    def report(self) -> consistency_pb2.ConsistencyReport:
        """Returns the contract's report."""
        listed = sorted(self.listed, key=lambda finding: finding.kind)
        return consistency_pb2.ConsistencyReport(
            chunk_count=self.chunks,
            episode_count=self.episodes,
            graph_document_count=self.graph_documents,
            entity_count=self.entities,
            fact_count=self.facts,
            finding_count=self.findings,
            memory_count=self.memories,
            pending_count=self.pending,
            quarantine_id=self.quarantine_id,
            counts=[
                consistency_pb2.InconsistencyCount(
                    kind=kind,
                    found_count=count,
                    repaired_count=self.repaired[kind],
                    action=ACTIONS[kind],
                )
                for kind, count in sorted(self.found.items())
            ],
            listed=[one.shown_to(self.user) for one in listed],
            consistent=all(self.repaired[kind] >= count for kind, count in self.found.items()),
        )
