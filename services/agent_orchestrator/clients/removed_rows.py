"""What the tiers report as removed, as rows of a receipt: store, kind, count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from braid.graph.internal.v1 import deletion_pb2 as graph_deletion_pb2
    from braid.vector.internal.v1 import deletion_pb2

    VectorDeletion = deletion_pb2.DeleteDocumentResponse | deletion_pb2.DeleteSpaceDocumentsResponse
    GraphDeletion = (
        graph_deletion_pb2.DeleteGraphDocumentResponse | graph_deletion_pb2.DeleteSpaceGraphResponse
    )

POSTGRESQL: Final = "postgresql"
NEO4J: Final = "neo4j"

Rows = list[tuple[str, str, int]]


def vector_rows(gone: VectorDeletion) -> Rows:
    """Returns what the vector tier has removed."""
    return [
        (POSTGRESQL, "versions", gone.deleted_version_count),
        (POSTGRESQL, "chunks", gone.deleted_chunk_count),
    ]


def graph_rows(gone: GraphDeletion) -> Rows:
    """Returns what the graph tier has removed."""
    return [
        (NEO4J, "episodes", gone.deleted_episode_count),
        (NEO4J, "facts", gone.deleted_fact_count),
        (NEO4J, "local_facts", gone.deleted_local_fact_count),
        (NEO4J, "mentions", gone.deleted_mention_count),
        (NEO4J, "entities", gone.deleted_entity_count),
        (NEO4J, "findings", gone.deleted_finding_count),
        (NEO4J, "fact_versions", gone.deleted_fact_version_count),
    ]
