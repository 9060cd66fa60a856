// Those of the given episodes that are of the space.
UNWIND $p.uuids AS uuid
MATCH (e:Episodic {uuid: uuid, group_id: $p.space})
RETURN uuid
