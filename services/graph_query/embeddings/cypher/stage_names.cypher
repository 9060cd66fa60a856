// Stages vectors of another model next to the active ones: names of entities that have a vector.
UNWIND $p.rows AS row
MATCH (e:Entity {uuid: row.uuid}) USING INDEX SEEK e:Entity(uuid) WHERE e.group_id = $p.space
SET e.next_model = $p.model
WITH e, row
CALL db.create.setNodeVectorProperty(e, 'next_embedding', row.vector)
