// Lays vectors of another model beside those in use: entities with a vector of their name.
UNWIND $p.rows AS row
MATCH (e:Entity {uuid: row.uuid}) USING INDEX SEEK e:Entity(uuid) WHERE e.group_id = $p.space
SET e.next_model = $p.model
WITH e, row
CALL db.create.setNodeVectorProperty(e, 'next_embedding', row.vector)
