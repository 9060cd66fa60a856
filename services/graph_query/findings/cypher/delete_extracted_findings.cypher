// Unlinks extracted findings from the given episodes and deletes those without any episode left; returns how many of
// these had vectors.
UNWIND $p.uuids AS uuid
MATCH (f:BraidFinding {origin: 'extracted'})-[r:FROM]->(s:BraidSource {group_id: $p.space, uuid: uuid}) USING INDEX SEEK s:BraidSource(group_id, uuid)
WITH f, collect(r) AS links
FOREACH (r IN links | DELETE r)
WITH f WHERE NOT EXISTS { (f)-[:FROM]->() }
WITH collect(f) AS gone
WITH gone, size([f IN gone WHERE f.embedding IS NOT NULL]) AS embedded
FOREACH (f IN gone | DETACH DELETE f)
RETURN embedded
