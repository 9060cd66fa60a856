// Returns the given episodes that belong to the space.
UNWIND $p.uuids AS uuid
MATCH (e:Episodic {uuid: uuid, group_id: $p.space}) USING INDEX SEEK e:Episodic(uuid)
RETURN uuid
