"""Facts as the stream of messages that the contract requires."""

from __future__ import annotations

from typing import TYPE_CHECKING

from braid.agent.v1 import ingest_pb2
from braid.graph.v1.ingest_pb2 import FactInput
from braid_protocol.channel import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_FACTS = 1000
# Size in bytes at which a message is closed, so that vectors do not make it larger than a service accepts.
PART_BYTES = 1024 * 1024


def fact_parts(
    facts: Iterable[FactInput], embedding_model: str
) -> list[ingest_pb2.IngestFactsRequest]:
    """Builds all messages before the call, because gRPC reports an error in a stream of requests as a cancelled call.

    Raises TypeError for values that are not a `FactInput`, and ValueError for a fact that exceeds the maximum message
    size.
    """
    parts = [ingest_pb2.IngestFactsRequest(embedding_model=embedding_model)]
    held = 0
    for fact in facts:
        size = _size(fact)
        last = parts[-1].facts
        if len(last) == MAX_FACTS or (last and held + size > PART_BYTES):
            parts.append(ingest_pb2.IngestFactsRequest(embedding_model=embedding_model))
            held = 0
        parts[-1].facts.append(fact)
        held += size
    return parts


def _size(fact: object) -> int:
    if not isinstance(fact, FactInput):
        raise TypeError(f"facts must be FactInput, not {type(fact).__name__}")
    size = fact.ByteSize()
    if size > MAX_MESSAGE_BYTES - PART_BYTES:
        raise ValueError("a fact is larger than a message may be")
    return size
