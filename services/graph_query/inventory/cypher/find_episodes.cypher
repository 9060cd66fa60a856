// Returns which of the given episodes exist.
UNWIND $p.uuids AS uuid
MATCH (e:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK e:Episodic(group_id, uuid)
RETURN uuid ORDER BY uuid
