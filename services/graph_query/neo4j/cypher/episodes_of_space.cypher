// Those of the given episodes that are of the space.
UNWIND $p.uuids AS uuid
MATCH (e:Episodic {uuid: uuid, group_id: $p.space}) USING INDEX SEEK e:Episodic(uuid)
RETURN uuid
