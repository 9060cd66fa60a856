// Deletes findings that come from the given episodes alone; returns how many, and how many of them had vectors.
UNWIND $p.uuids AS uuid
MATCH (s:BraidSource {uuid: uuid, group_id: $p.space}) USING INDEX SEEK s:BraidSource(uuid)
WITH collect(s) AS sources, COLLECT { UNWIND $p.uuids AS u MATCH (f)-[:FROM]->(s1:BraidSource {uuid: u, group_id: $p.space}) USING INDEX SEEK s1:BraidSource(uuid) RETURN DISTINCT f } AS found
FOREACH (s IN sources | DETACH DELETE s)
WITH [f IN found WHERE NOT EXISTS { (f)-[:FROM]->() }] AS gone
WITH gone, size(gone) AS deleted, size([f IN gone WHERE f.embedding IS NOT NULL]) AS embedded
FOREACH (f IN gone | DETACH DELETE f)
RETURN deleted, embedded
