// Deletes episodes and their Braid-specific nodes.
UNWIND $p.uuids AS uuid
MATCH (e:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK e:Episodic(group_id, uuid)
MATCH (p:BraidPassage {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
DETACH DELETE e, p
