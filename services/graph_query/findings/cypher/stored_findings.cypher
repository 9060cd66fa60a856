// Those of the given findings that are there, and what tells whether a write changes them.
UNWIND $p.uuids AS uuid
MATCH (f:BraidFinding {uuid: uuid, group_id: $p.space}) USING INDEX SEEK f:BraidFinding(uuid)
RETURN uuid, f.digest AS digest, f.statement AS statement, f.embedding IS NOT NULL AS embedded,
       COLLECT { MATCH (f)-[:FROM]->(s:BraidSource) RETURN s.uuid } AS episodes
