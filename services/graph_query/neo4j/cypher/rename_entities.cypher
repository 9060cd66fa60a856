// Sets another spelling of entities' names.
UNWIND $p.rows AS row
MATCH (n:Entity {uuid: row[0]}) USING INDEX SEEK n:Entity(uuid)
SET n.name_source = row[1], n.name = row[2]
