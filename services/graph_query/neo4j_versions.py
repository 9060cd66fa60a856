"""What was known of facts, and when: each ending, revision and removal leaves what was known before as a version.

What is known of a fact now is its edge, since the instant that the edge has. Whoever is about to change or remove
edges calls this in the same write.
"""

from __future__ import annotations

from collections.abc import Iterable

from services.graph_query.neo4j_writer import SpaceWriter
from services.runtime.ids import derived_uuid


async def keep_versions(writer: SpaceWriter, uuids: Iterable[str]) -> None:
    """Keeps facts as their edges are: known until this write. Unknown facts are passed over."""
    known_until = writer.now.timestamp()
    told = [{"fact_uuid": uuid, "uuid": _version_uuid(uuid, known_until)} for uuid in sorted(uuids)]
    if told:
        await writer.run("keep_versions", rows=told, now=known_until)


def _version_uuid(fact: str, known_until: float) -> str:
    return derived_uuid("past version", fact, repr(known_until))
