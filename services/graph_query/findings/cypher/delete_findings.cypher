// Deletes findings that come from the given episodes alone; returns how many, and how many of them had vectors.
UNWIND $p.uuids AS uuid
MATCH (s:BraidSource {group_id: $p.space, uuid: uuid}) USING INDEX SEEK s:BraidSource(group_id, uuid)
WITH collect(s) AS sources, COLLECT { UNWIND $p.uuids AS u MATCH (f)-[:FROM]->(s1:BraidSource {group_id: $p.space, uuid: u}) USING INDEX SEEK s1:BraidSource(group_id, uuid) RETURN DISTINCT f } AS found
FOREACH (s IN sources | DETACH DELETE s)
WITH [f IN found WHERE NOT EXISTS { (f)-[:FROM]->() }] AS gone
WITH gone, size(gone) AS deleted, size([f IN gone WHERE f.embedding IS NOT NULL]) AS embedded
FOREACH (f IN gone | DETACH DELETE f)
RETURN deleted, embedded
