// Counts of the space's graph.
OPTIONAL MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
CALL () {
  MATCH (n:Entity) USING INDEX SEEK n:Entity(group_id, name, uuid) WHERE n.group_id = $p.space AND n.name >= '' AND n.uuid >= ''
  RETURN count(n) AS entities, sum(COUNT { (n)-[:RELATES_TO]->() }) AS facts, sum(COUNT { (n)-[:CO_OCCURS]->() }) AS local_facts
}
CALL () {
  MATCH (n:Entity) USING INDEX SEEK n:Entity(group_id, name, uuid) WHERE n.group_id = $p.space AND n.name >= '' AND n.uuid >= ''
  WITH labels(n) AS labels, count(*) AS number
  RETURN collect([labels, number]) AS types
}
CALL () {
  MATCH (p:BraidPassage) USING INDEX SEEK p:BraidPassage(group_id, uuid) WHERE p.group_id = $p.space AND p.uuid >= ''
  RETURN count(p) AS episodes
}
RETURN coalesce(s.revision, 0) AS revision, s.last_write AS last_write, entities, facts, local_facts, types, episodes
