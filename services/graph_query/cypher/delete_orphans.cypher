// Removes those of the given entities that nothing names and no fact joins any more.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid}) WHERE NOT EXISTS { (n)--() }
OPTIONAL MATCH (k:EntityName {entity_uuid: uuid})
DELETE k
WITH DISTINCT n
DELETE n
RETURN count(*) AS deleted
