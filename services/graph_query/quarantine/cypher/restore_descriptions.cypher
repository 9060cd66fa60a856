// Sets when episodes described entities to the stored times.
UNWIND $p.rows AS row
MATCH (e:Episodic {group_id: $p.space, uuid: row.episode})-[m:MENTIONS]->(n:Entity) USING INDEX SEEK e:Episodic(group_id, uuid)
WHERE m.name = row.name AND m.type = row.type
SET m.created_at = row.created_at, m.uuid = row.uuid
RETURN n.uuid AS uuid
