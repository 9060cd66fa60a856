// Sets the vectors of entities' names.
UNWIND $p.rows AS row
MATCH (n:Entity {uuid: row.uuid}) USING INDEX SEEK n:Entity(uuid)
CALL db.create.setNodeVectorProperty(n, 'name_embedding', row.vector)
