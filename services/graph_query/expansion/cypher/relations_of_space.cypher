// A page of the space's relations, by source, target and type.
MATCH (p:BraidPassage) USING INDEX SEEK p:BraidPassage(group_id, uuid) WHERE p.group_id = $p.space AND p.uuid >= $p.source
WITH p.uuid AS source ORDER BY source
MATCH (n:Episodic {group_id: $p.space, uuid: source}) USING INDEX SEEK n:Episodic(group_id, uuid)
MATCH (n)-[r:BRAID_RELATION]->(o:Episodic)
WHERE r.type IN $p.types AND r.origin IN $p.origins
WITH source, o.uuid AS target, r
WHERE source > $p.source OR target > $p.target OR target = $p.target AND r.type > $p.type
RETURN source, target, r.type AS type, r.strength AS strength, r.valid_from AS valid_from, r.valid_until AS valid_until,
  r.origin AS origin, r.evidence AS evidence, r.created_at AS created_at, r.updated_at AS updated_at
ORDER BY source, target, type LIMIT $p.limit
