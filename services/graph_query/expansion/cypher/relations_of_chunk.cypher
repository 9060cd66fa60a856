// A page of a chunk's relations, by source, target and type.
MATCH (n:Episodic {group_id: $p.space, uuid: $p.chunk}) USING INDEX SEEK n:Episodic(group_id, uuid)
MATCH (n)-[r:BRAID_RELATION]-(:Episodic)
WHERE r.type IN $p.types AND r.origin IN $p.origins
  AND ($p.direction = 'both' OR ($p.direction = 'outgoing') = (startNode(r) = n))
WITH r, startNode(r).uuid AS source, endNode(r).uuid AS target
WHERE source > $p.source OR source = $p.source AND (target > $p.target OR target = $p.target AND r.type > $p.type)
RETURN source, target, r.type AS type, r.strength AS strength, r.valid_from AS valid_from, r.valid_until AS valid_until,
  r.origin AS origin, r.evidence AS evidence, r.created_at AS created_at, r.updated_at AS updated_at
ORDER BY source, target, type LIMIT $p.limit
