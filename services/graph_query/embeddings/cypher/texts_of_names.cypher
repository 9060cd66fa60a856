// The texts of those of the given entities with a vector of their name that are there.
UNWIND $p.uuids AS uuid
MATCH (e:Entity {uuid: uuid}) USING INDEX SEEK e:Entity(uuid) WHERE e.group_id = $p.space
RETURN uuid, e.name AS text
