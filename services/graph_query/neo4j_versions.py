"""What was known of facts, and when: each creation, ending and revision appends a version, a removal closes the last.

A fact's edge is the projection of its latest version. Facts are created with their first one; whoever changes or
removes edges calls one of these in the same write.
"""

from __future__ import annotations

from collections.abc import Iterable

from services.graph_query.intervals import OPEN
from services.graph_query.neo4j_writer import SpaceWriter
from services.runtime.ids import derived_uuid


def version_uuid(fact: str, known_from: float) -> str:
    """Uuid of what is known of a fact from an instant on, in epoch seconds."""
    return derived_uuid("version", fact, repr(known_from))


async def append_versions(
    writer: SpaceWriter, uuids: Iterable[str], cause: str | None = None
) -> None:
    """Notes facts as their edges are now, from this write on. `cause` is the episode that changed them.

    Without it the first episode that a fact cites is taken for it. Unknown facts are passed over.
    """
    known_from = writer.now.timestamp()
    told = [
        {"fact_uuid": uuid, "uuid": version_uuid(uuid, known_from), "cause": cause}
        for uuid in sorted(uuids)
    ]
    if told:
        await writer.run("append_versions", rows=told, now=known_from, open=OPEN)


async def close_versions(writer: SpaceWriter, uuids: Iterable[str]) -> None:
    """Notes that facts are known no longer, from this write on."""
    told = sorted(uuids)
    if told:
        await writer.run("close_versions", uuids=told, now=writer.now.timestamp(), open=OPEN)
