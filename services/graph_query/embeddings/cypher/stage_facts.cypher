// Stages vectors of another model next to the active ones: stated facts.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
SET e.next_model = $p.model
WITH e, row
CALL db.create.setRelationshipVectorProperty(e, 'next_embedding', row.vector)
