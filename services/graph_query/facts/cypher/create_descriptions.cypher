// Creates an episode's mentions of the entities that it describes, with its description of each.
MATCH (e:Episodic {group_id: $p.space, uuid: $p.episode}) USING INDEX SEEK e:Episodic(group_id, uuid)
UNWIND $p.rows AS row
MATCH (n:Entity {uuid: row.uuid}) USING INDEX SEEK n:Entity(uuid)
MERGE (e)-[m:MENTIONS]->(n)
SET m = {uuid: row.mention, group_id: $p.space, created_at: $p.now, name: row.name, type: row.type, summary: row.summary, attribute_names: row.names}
FOREACH (place IN range(0, size(row.names) - 1) | SET m['a_' + row.names[place]] = row.values[place])
