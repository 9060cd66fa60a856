// name: create_descriptions
// Creates an episode's mentions of the entities that it describes, with its description of each.
MATCH (e:Episodic {group_id: $p.space, uuid: $p.episode}) USING INDEX SEEK e:Episodic(group_id, uuid)
UNWIND $p.rows AS row
MATCH (n:Entity {uuid: row.uuid}) USING INDEX SEEK n:Entity(uuid)
MERGE (e)-[m:MENTIONS]->(n)
SET m = {uuid: row.mention, group_id: $p.space, created_at: $p.now, name: row.name, type: row.type, summary: row.summary, attribute_names: row.names}
FOREACH (place IN range(0, size(row.names) - 1) | SET m['a_' + row.names[place]] = row.values[place])

// name: refresh_descriptions
// Sets each entity's description to the latest given by any episode, or removes it.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid)
OPTIONAL MATCH (n)<-[m:MENTIONS]-() WHERE m.summary <> '' OR size(coalesce(m.attribute_names, [])) > 0
WITH n, m ORDER BY m.created_at DESC, m.uuid
WITH n, head(collect(m)) AS m
FOREACH (name IN coalesce(n.attribute_names, []) | SET n[name] = null)
SET n.summary = coalesce(m.summary, ''), n.attribute_names = coalesce(m.attribute_names, [])
FOREACH (name IN coalesce(m.attribute_names, []) | SET n[name] = m['a_' + name])

// name: set_name_vectors
// Sets the vectors of entities' names.
UNWIND $p.rows AS row
MATCH (n:Entity {uuid: row.uuid}) USING INDEX SEEK n:Entity(uuid)
CALL db.create.setNodeVectorProperty(n, 'name_embedding', row.vector)

// name: take_descriptions
// Deletes episodes' descriptions of entities and clears later descriptions of the same entities; returns the names and
// types that the deleted ones used.
UNWIND $p.episodes AS episode
MATCH (e:Episodic {group_id: $p.space, uuid: episode})-[m:MENTIONS]->(n:Entity) USING INDEX SEEK e:Episodic(group_id, uuid)
WITH m, n, n.uuid AS uuid, m.name AS name, m.type AS type, m.created_at AS since
CALL (n, since) {
  MATCH (n)<-[later:MENTIONS]-() WHERE later.created_at > since
  SET later = later {.uuid, .group_id, .created_at, .name, .type, summary: '', attribute_names: []}
}
DELETE m
RETURN uuid, name, type
