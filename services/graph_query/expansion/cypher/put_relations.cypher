// Stores relations between chunks of the space; an existing one is updated.
UNWIND $p.rows AS row
MATCH (a:Episodic {uuid: row.source, group_id: $p.space}) USING INDEX SEEK a:Episodic(uuid)
MATCH (b:Episodic {uuid: row.target, group_id: $p.space}) USING INDEX SEEK b:Episodic(uuid)
MERGE (a)-[r:BRAID_RELATION {type: row.type}]->(b)
ON CREATE SET r.created_at = $p.now
SET r.strength = row.strength, r.valid_from = row.valid_from, r.valid_until = row.valid_until, r.origin = row.origin,
  r.evidence = row.evidence, r.updated_at = $p.now
