// Deletes relations between chunks of the space, of one type or of every type.
UNWIND $p.rows AS row
MATCH (a:Episodic {group_id: $p.space, uuid: row.source}) USING INDEX SEEK a:Episodic(group_id, uuid)
MATCH (b:Episodic {group_id: $p.space, uuid: row.target}) USING INDEX SEEK b:Episodic(group_id, uuid)
CALL (row, a, b) { // Both ends are given: a lookup between them, never a join.
  MATCH (a)-[r:BRAID_RELATION]->(b) WHERE row.type IS NULL OR r.type = row.type
  RETURN r
}
WITH collect(DISTINCT r) AS gone
FOREACH (r IN gone | DELETE r)
RETURN size(gone) AS deleted
