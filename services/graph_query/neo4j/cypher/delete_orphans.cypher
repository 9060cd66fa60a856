// Deletes the given entities that no mention and no fact refers to any more.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid) WHERE NOT EXISTS { (n)--() }
OPTIONAL MATCH (k:EntityName {entity_uuid: uuid}) USING INDEX SEEK k:EntityName(entity_uuid)
DELETE k
WITH DISTINCT n
DELETE n
RETURN count(*) AS deleted
