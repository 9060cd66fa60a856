// Returns the entities that facts join.
UNWIND $p.uuids AS uuid
MATCH (a)-[e:RELATES_TO {uuid: uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
RETURN uuid, a.uuid AS source, b.uuid AS target
