// Deletes episodes and their Braid-specific nodes.
UNWIND $p.uuids AS uuid
MATCH (e:Episodic {uuid: uuid, group_id: $p.space}) USING INDEX SEEK e:Episodic(uuid)
MATCH (p:BraidPassage {uuid: uuid}) USING INDEX SEEK p:BraidPassage(uuid)
DETACH DELETE e, p
