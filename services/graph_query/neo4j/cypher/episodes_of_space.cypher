// Returns the given episodes that belong to the space.
UNWIND $p.uuids AS uuid
MATCH (e:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK e:Episodic(group_id, uuid)
RETURN uuid
