// Stages vectors of another model next to the active ones: findings.
UNWIND $p.rows AS row
MATCH (e:BraidFinding {uuid: row.uuid}) USING INDEX SEEK e:BraidFinding(uuid) WHERE e.group_id = $p.space
SET e.next_model = $p.model
WITH e, row
CALL db.create.setNodeVectorProperty(e, 'next_embedding', row.vector)
