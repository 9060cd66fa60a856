// Returns which of the given episodes exist.
UNWIND $p.uuids AS uuid
MATCH (e:Episodic {uuid: uuid}) USING INDEX SEEK e:Episodic(uuid) WHERE e.group_id = $p.space
RETURN uuid ORDER BY uuid
