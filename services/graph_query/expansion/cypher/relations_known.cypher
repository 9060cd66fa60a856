// Returns the stored form of given relations, by position, and which of their ends are chunks of the space.
UNWIND range(0, size($p.rows) - 1) AS place
WITH place, $p.rows[place] AS row
OPTIONAL MATCH (a:Episodic {group_id: $p.space, uuid: row.source}) USING INDEX SEEK a:Episodic(group_id, uuid)
OPTIONAL MATCH (b:Episodic {group_id: $p.space, uuid: row.target}) USING INDEX SEEK b:Episodic(group_id, uuid)
OPTIONAL MATCH (a)-[r:BRAID_RELATION]->(b) WHERE r.type = row.type
RETURN place, a IS NOT NULL AS has_source, b IS NOT NULL AS has_target, r.strength AS strength, r.valid_from AS valid_from,
  r.valid_until AS valid_until, r.origin AS origin, r.evidence AS evidence
ORDER BY place
