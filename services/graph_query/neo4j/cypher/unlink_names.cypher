// Unmarks and returns those of these entities' names that no title and no fact states any more.
UNWIND $p.uuids AS uuid
MATCH (k:EntityName {entity_uuid: uuid, group_id: $p.space}) USING INDEX SEEK k:EntityName(entity_uuid) WHERE k.linked
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid)
WHERE NOT EXISTS { (n)-[:RELATES_TO]-() } AND NOT EXISTS { (n)<-[:MENTIONS]-() }
  AND NOT EXISTS { (n)<-[m:BRAID_MENTIONS]-() WHERE m.kind = $p.about }
SET k.linked = false
RETURN k.name_key AS key, uuid
