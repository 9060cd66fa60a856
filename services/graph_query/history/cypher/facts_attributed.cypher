// Stated facts with their ends, citations and attributes.
CYPHER 25
UNWIND $p.uuids AS wanted
MATCH ()-[e:RELATES_TO {uuid: wanted}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
MATCH (a)-[e]->(b)
CALL (e) {
  UNWIND e.episodes[..$p.citations] AS uuid
  MATCH (p:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:Episodic(group_id, uuid)
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
RETURN collect([[e.uuid, e.fact, e.name, a.uuid, a.name, labels(a), b.uuid, b.name, labels(b), e.valid_at, e.invalid_at, e.created_at,
  coalesce(e.origin, 'extracted'),
  EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE e.relation_key IN o.events }],
  cited, [key IN coalesce(e.attribute_names, []) | [key, e[key]]]]) AS facts
