// Lays vectors of another model beside those in use: findings.
UNWIND $p.rows AS row
MATCH (e:BraidFinding {uuid: row.uuid}) USING INDEX SEEK e:BraidFinding(uuid) WHERE e.group_id = $p.space
SET e.next_model = $p.model
WITH e, row
CALL db.create.setNodeVectorProperty(e, 'next_embedding', row.vector)
