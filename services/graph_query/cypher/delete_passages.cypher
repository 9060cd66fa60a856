// Removes episodes with what Braid keeps of them.
UNWIND $uuids AS uuid
MATCH (e:Episodic {uuid: uuid, group_id: $space})
MATCH (p:BraidPassage {uuid: uuid})
DETACH DELETE e, p
