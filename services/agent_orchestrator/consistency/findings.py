"""What a check finds: counted by kind, the first of each listed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from braid.agent.v1 import consistency_pb2

Kind: TypeAlias = "consistency_pb2.InconsistencyKind.ValueType"

CHUNK = consistency_pb2.INCONSISTENCY_KIND_CHUNK_WITHOUT_EPISODE
EPISODE = consistency_pb2.INCONSISTENCY_KIND_EPISODE_WITHOUT_CHUNK
DOCUMENT = consistency_pb2.INCONSISTENCY_KIND_UNKNOWN_DOCUMENT
ENTITY = consistency_pb2.INCONSISTENCY_KIND_ENTITY_WITHOUT_MENTION
DEAD = consistency_pb2.INCONSISTENCY_KIND_DEAD_JOB


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is amiss; `document_id` is "" where it belongs to none."""

    kind: Kind
    id: str
    document_id: str = ""


@dataclass(slots=True)
class Tally:
    """A report in the making. Its size is bounded by `max_listed`, however much is amiss."""

    max_listed: int
    chunks: int = 0
    episodes: int = 0
    graph_documents: int = 0
    entities: int = 0
    pending: int = 0
    found: Counter[Kind] = field(default_factory=Counter)
    repaired: Counter[Kind] = field(default_factory=Counter)
    listed: list[Finding] = field(default_factory=list)

    def note(self, findings: Iterable[Finding]) -> None:
        """Counts findings, and lists them while there is room."""
        for finding in findings:
            if self.found[finding.kind] < self.max_listed:
                self.listed.append(finding)
            self.found[finding.kind] += 1

    def report(self) -> consistency_pb2.ConsistencyReport:
        """The report."""
        listed = sorted(self.listed, key=lambda finding: finding.kind)
        return consistency_pb2.ConsistencyReport(
            chunks=self.chunks,
            episodes=self.episodes,
            graph_documents=self.graph_documents,
            entities=self.entities,
            pending=self.pending,
            counts=[
                consistency_pb2.InconsistencyCount(
                    kind=kind, found=count, repaired=self.repaired[kind]
                )
                for kind, count in sorted(self.found.items())
            ],
            listed=[
                consistency_pb2.Inconsistency(kind=one.kind, id=one.id, document_id=one.document_id)
                for one in listed
            ],
            consistent=all(self.repaired[kind] >= count for kind, count in self.found.items()),
        )
