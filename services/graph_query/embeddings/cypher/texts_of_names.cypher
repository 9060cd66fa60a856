// Returns the names of the given entities that exist and have a name vector.
UNWIND $p.uuids AS uuid
MATCH (e:Entity {uuid: uuid}) USING INDEX SEEK e:Entity(uuid) WHERE e.group_id = $p.space
RETURN uuid, e.name AS text
