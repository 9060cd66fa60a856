// Facts as they were known at an instant: the current version or a past one.
CYPHER 25
UNWIND $p.uuids AS wanted
CALL (wanted) {
  MATCH ()-[e:RELATES_TO {uuid: wanted}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space AND e.braid_known_from <= $p.known
  RETURN e AS one, e.uuid AS fact, e.source_node_uuid AS source, e.target_node_uuid AS target, '' AS prefix
  UNION ALL
  MATCH (v:FactVersion {fact_uuid: wanted}) USING INDEX SEEK v:FactVersion(fact_uuid)
  WHERE v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
  RETURN v AS one, v.fact_uuid AS fact, v.source_uuid AS source, v.target_uuid AS target, 'a_' AS prefix
}
OPTIONAL MATCH (a:Entity {uuid: source}) USING INDEX SEEK a:Entity(uuid)
OPTIONAL MATCH (b:Entity {uuid: target}) USING INDEX SEEK b:Entity(uuid)
OPTIONAL MATCH ()-[e:RELATES_TO {uuid: fact}]->() USING INDEX SEEK e:RELATES_TO(uuid)
CALL (one, e) {
  UNWIND coalesce(e.episodes, [one.episode_uuid])[..$p.citations] AS uuid
  MATCH (p:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:Episodic(group_id, uuid)
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
RETURN collect([[fact, one.fact, one.name, source, coalesce(a.name, one.source_name, ''), coalesce(labels(a), [one.source_type]), target,
  coalesce(b.name, one.target_name, ''), coalesce(labels(b), [one.target_type]), one.valid_at, one.invalid_at, one.created_at, coalesce(one.origin, 'given'),
  EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(one.relation_key, toLower(one.name)) IN o.events }],
  cited, [key IN coalesce(one.attribute_names, []) | [key, one[prefix + key]]]]) AS facts
