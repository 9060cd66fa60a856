// Removes those of the given entities that nothing names and no fact joins any more.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid) WHERE NOT EXISTS { (n)--() }
OPTIONAL MATCH (k:EntityName {entity_uuid: uuid}) USING INDEX SEEK k:EntityName(entity_uuid)
DELETE k
WITH DISTINCT n
DELETE n
RETURN count(*) AS deleted
