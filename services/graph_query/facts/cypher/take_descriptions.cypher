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
