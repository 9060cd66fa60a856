// Deletes the names of entities that are about to be removed.
UNWIND $p.uuids AS uuid
MATCH (k:EntityName {entity_uuid: uuid, group_id: $p.space}) USING INDEX SEEK k:EntityName(entity_uuid)
DELETE k
