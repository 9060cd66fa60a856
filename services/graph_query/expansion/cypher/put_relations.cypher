// Stores relations between chunks of the space; an existing one is updated.
UNWIND $p.rows AS row
MATCH (a:Episodic {group_id: $p.space, uuid: row.source}) USING INDEX SEEK a:Episodic(group_id, uuid)
MATCH (b:Episodic {group_id: $p.space, uuid: row.target}) USING INDEX SEEK b:Episodic(group_id, uuid)
MERGE (a)-[r:BRAID_RELATION {type: row.type}]->(b)
ON CREATE SET r.created_at = $p.now
SET r.strength = row.strength, r.valid_from = row.valid_from, r.valid_until = row.valid_until, r.origin = row.origin,
  r.evidence = row.evidence, r.updated_at = $p.now
