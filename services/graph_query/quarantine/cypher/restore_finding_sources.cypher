// Links findings to an episode that they come from; returns those that exist.
UNWIND $p.findings AS uuid
MATCH (f:BraidFinding {uuid: uuid, group_id: $p.space}) USING INDEX SEEK f:BraidFinding(uuid)
MERGE (s:BraidSource {group_id: $p.space, uuid: $p.episode})
MERGE (f)-[:FROM]->(s)
RETURN uuid
