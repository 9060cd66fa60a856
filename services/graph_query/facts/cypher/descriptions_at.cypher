// Returns which episodes describe the given entities, and under which name and type.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid, group_id: $p.space})<-[m:MENTIONS]-(e:Episodic) USING INDEX SEEK n:Entity(uuid)
RETURN uuid, e.uuid AS episode, m.name AS name, m.type AS type
