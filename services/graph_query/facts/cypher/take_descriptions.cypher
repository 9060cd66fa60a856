// Takes back what episodes say of entities, and what was said of the same ones afterwards; tells how they were named.
UNWIND $p.episodes AS episode
MATCH (e:Episodic {group_id: $p.space, uuid: episode})-[m:MENTIONS]->(n:Entity) USING INDEX SEEK e:Episodic(group_id, uuid)
WITH m, n, n.uuid AS uuid, m.name AS name, m.type AS type, m.created_at AS since
CALL (n, since) {
  MATCH (n)<-[later:MENTIONS]-() WHERE later.created_at > since
  SET later = later {.uuid, .group_id, .created_at, .name, .type, summary: '', attribute_names: []}
}
DELETE m
RETURN uuid, name, type
