// Returns documents' versions, and their passages with the versions that contain each.
UNWIND $p.documents AS uuid
MATCH (d:Document {uuid: uuid}) USING INDEX SEEK d:Document(uuid) WHERE d.group_id = $p.space
MATCH (d)-[:HAS_EPISODE]->(e:Episodic)
MATCH (p:BraidPassage {group_id: $p.space, uuid: e.uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
RETURN uuid AS document, coalesce(d.versions, []) AS versions,
       collect([p.uuid, coalesce(p.starts, []), p.own_start, p.valid_from, p.valid_until, p.gaps]) AS passages
