// Sets the vectors of entities' names.
UNWIND $p.rows AS row
MATCH (n:Entity {uuid: row.uuid})
CALL db.create.setNodeVectorProperty(n, 'name_embedding', row.vector)
