// Findings with their subjects, as entities where these exist, and the chunks that they come from.
CYPHER 25
UNWIND $p.uuids AS wanted
MATCH (f:BraidFinding {uuid: wanted, group_id: $p.space}) USING INDEX SEEK f:BraidFinding(uuid)
CALL (f) {
  MATCH (f)-[:ABOUT]->(s:BraidSubject)
  CALL (s) {
    MATCH (k:EntityName {group_id: $p.space, name_key: s.name_key}) USING INDEX SEEK k:EntityName(group_id, name_key, type) WHERE k.type >= ''
    MATCH (n:Entity {uuid: k.entity_uuid}) USING INDEX SEEK n:Entity(uuid)
    WITH n, k.type AS type ORDER BY CASE type WHEN s.type THEN 0 ELSE 1 END, type LIMIT 1
    RETURN collect([n.uuid, n.name, type]) AS named
  }
  WITH s, named ORDER BY s.name_key, s.type
  RETURN collect(CASE WHEN size(named) > 0 THEN named[0] ELSE ['', s.name, s.type] END) AS subjects
}
CALL (f) {
  MATCH (f)-[:ABOUT]->(g:BraidFinding)
  WITH g.uuid AS uuid ORDER BY uuid
  RETURN collect(uuid) AS about
}
CALL (f) {
  MATCH (f)-[:FROM]->(s:BraidSource)
  WITH s.uuid AS uuid
  MATCH (p:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:Episodic(group_id, uuid)
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  WITH p, d ORDER BY p.uuid LIMIT $p.citations
  RETURN collect([p.uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
RETURN collect([f {.uuid, .id, .kind, .statement, .type, .confidence, .methodology, .status, .priority, .owner, .metric_names, .metric_values,
  .metric_units, .blockers, .origin, .created, .updated}, subjects, about, cited]) AS findings
