// Returns the findings that come from the given episodes alone.
UNWIND $p.uuids AS uuid
MATCH (f:BraidFinding)-[:FROM]->(s:BraidSource {group_id: $p.space, uuid: uuid}) USING INDEX SEEK s:BraidSource(group_id, uuid)
WITH DISTINCT f
WHERE NOT EXISTS { (f)-[:FROM]->(o:BraidSource) WHERE NOT o.uuid IN $p.uuids }
RETURN f.uuid AS uuid
