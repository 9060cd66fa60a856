// Returns the given findings that exist, with what a write is compared to.
UNWIND $p.uuids AS uuid
MATCH (f:BraidFinding {uuid: uuid, group_id: $p.space}) USING INDEX SEEK f:BraidFinding(uuid)
RETURN uuid, f.digest AS digest, f.statement AS statement, f.embedding IS NOT NULL AS embedded,
       COLLECT { MATCH (f)-[:FROM]->(s:BraidSource) RETURN s.uuid } AS episodes
