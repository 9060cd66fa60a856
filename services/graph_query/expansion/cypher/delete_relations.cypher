// Deletes relations between chunks of the space, of one type or of every type.
UNWIND $p.rows AS row
MATCH (a:Episodic {uuid: row.source, group_id: $p.space}) USING INDEX SEEK a:Episodic(uuid)
MATCH (b:Episodic {uuid: row.target, group_id: $p.space}) USING INDEX SEEK b:Episodic(uuid)
CALL (row, a, b) { // Both ends are given: a lookup between them, never a join.
  MATCH (a)-[r:BRAID_RELATION]->(b) WHERE row.type IS NULL OR r.type = row.type
  RETURN r
}
WITH collect(DISTINCT r) AS gone
FOREACH (r IN gone | DELETE r)
RETURN size(gone) AS deleted
