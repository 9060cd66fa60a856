// Removes episodes with what Braid keeps of them.
UNWIND $p.uuids AS uuid
MATCH (e:Episodic {uuid: uuid, group_id: $p.space})
MATCH (p:BraidPassage {uuid: uuid})
DETACH DELETE e, p
