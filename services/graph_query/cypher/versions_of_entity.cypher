// A page of an entity's facts as they were known at an instant, in time order.
CYPHER 25
CALL () {
  MATCH (k:EntityName {group_id: $p.space, name_key: $p.anchor.key}) WHERE k.type >= '' AND ($p.anchor.type = '' OR k.type = $p.anchor.type)
  RETURN k.entity_uuid AS uuid
  UNION
  UNWIND $p.anchor.uuids AS uuid
  RETURN uuid
}
CALL () {
  MATCH (k:EntityName {group_id: $p.space, name_key: $p.other.key}) WHERE k.type >= '' AND ($p.other.type = '' OR k.type = $p.other.type)
  RETURN collect(k.entity_uuid) + $p.other.uuids AS others
}
CALL (uuid, others) {
  MATCH (v:FactVersion {source_uuid: uuid})
  WHERE v.target_uuid >= '' AND $p.outgoing AND v.group_id = $p.space AND ($p.anchor.type = '' OR v.source_type IN ['', $p.anchor.type])
    AND (NOT $p.with_other OR v.target_uuid IN others AND ($p.other.type = '' OR v.target_type IN ['', $p.other.type]))
  RETURN v
  UNION
  MATCH (v:FactVersion {target_uuid: uuid})
  WHERE $p.incoming AND v.group_id = $p.space AND ($p.anchor.type = '' OR v.target_type IN ['', $p.anchor.type])
  RETURN v
}
WITH DISTINCT v
WHERE v.known_from <= $p.known AND v.known_until > $p.known AND v.valid_from <= $p.until AND v.valid_until > $p.since AND ($p.relation = '' OR toLower(v.name) = $p.relation)
  AND (v.valid_from > $p.after_from OR v.valid_from = $p.after_from AND v.fact_uuid > $p.after_uuid)
WITH v ORDER BY v.valid_from, v.fact_uuid LIMIT $p.limit
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
