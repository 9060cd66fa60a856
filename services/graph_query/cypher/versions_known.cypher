// Facts as they were known at an instant.
CYPHER 25
UNWIND $p.uuids AS wanted
MATCH (v:FactVersion {fact_uuid: wanted}) WHERE v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
OPTIONAL MATCH (a:Entity {uuid: v.source_uuid})
OPTIONAL MATCH (b:Entity {uuid: v.target_uuid})
OPTIONAL MATCH ()-[e:RELATES_TO {uuid: v.fact_uuid}]->()
CALL (v, e) {
  UNWIND coalesce(e.episodes, [v.episode_uuid])[..$p.citations] AS uuid
  MATCH (p:Episodic {uuid: uuid, group_id: $p.space})
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
RETURN collect([[v.fact_uuid, v.fact, v.name, v.source_uuid, coalesce(a.name, v.source_name, ''), coalesce(labels(a), [v.source_type]), v.target_uuid,
  coalesce(b.name, v.target_name, ''), coalesce(labels(b), [v.target_type]), v.valid_at, v.invalid_at, v.created_at, coalesce(v.origin, 'given')],
  cited, [key IN coalesce(v.attribute_names, []) | [key, v['a_' + key]]]]) AS facts
