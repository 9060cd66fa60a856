// A page of an entity's facts as they were known at an instant, in time order: current versions or past ones.
CYPHER 25
CALL () {
  MATCH (k:EntityName {group_id: $p.space, name_key: $p.anchor.key}) USING INDEX SEEK k:EntityName(group_id, name_key, type)
  WHERE k.type >= '' AND ($p.anchor.type = '' OR k.type = $p.anchor.type)
  RETURN k.entity_uuid AS uuid
  UNION
  UNWIND $p.anchor.uuids AS uuid
  RETURN uuid
}
CALL () {
  MATCH (k:EntityName {group_id: $p.space, name_key: $p.other.key}) USING INDEX SEEK k:EntityName(group_id, name_key, type)
  WHERE k.type >= '' AND ($p.other.type = '' OR k.type = $p.other.type)
  RETURN collect(k.entity_uuid) + $p.other.uuids AS others
}
CALL (uuid, others) {
  MATCH (a:Entity {uuid: uuid})-[e:RELATES_TO]->(b) USING INDEX SEEK a:Entity(uuid)
  WHERE $p.outgoing AND e.group_id = $p.space AND e.braid_known_from <= $p.known
    AND ($p.anchor.type = '' OR coalesce([i IN range(0, size(coalesce(a.braid_types, [])) - 1) WHERE a.braid_types_until[i] > e.braid_known_from | a.braid_types[i]][0], [l IN labels(a) WHERE l <> 'Entity'][0], '') IN ['', $p.anchor.type])
    AND (NOT $p.with_other OR b.uuid IN others AND ($p.other.type = '' OR coalesce([i IN range(0, size(coalesce(b.braid_types, [])) - 1) WHERE b.braid_types_until[i] > e.braid_known_from | b.braid_types[i]][0], [l IN labels(b) WHERE l <> 'Entity'][0], '') IN ['', $p.other.type]))
  RETURN e AS one, e.uuid AS fact, e.source_node_uuid AS source, e.target_node_uuid AS target, '' AS prefix
  UNION
  MATCH (b:Entity {uuid: uuid})<-[e:RELATES_TO]-() USING INDEX SEEK b:Entity(uuid)
  WHERE $p.incoming AND e.group_id = $p.space AND e.braid_known_from <= $p.known
    AND ($p.anchor.type = '' OR coalesce([i IN range(0, size(coalesce(b.braid_types, [])) - 1) WHERE b.braid_types_until[i] > e.braid_known_from | b.braid_types[i]][0], [l IN labels(b) WHERE l <> 'Entity'][0], '') IN ['', $p.anchor.type])
  RETURN e AS one, e.uuid AS fact, e.source_node_uuid AS source, e.target_node_uuid AS target, '' AS prefix
  UNION
  MATCH (v:FactVersion {source_uuid: uuid}) USING INDEX SEEK v:FactVersion(source_uuid, target_uuid)
  WHERE v.target_uuid >= '' AND $p.outgoing AND v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
    AND ($p.anchor.type = '' OR v.source_type IN ['', $p.anchor.type])
    AND (NOT $p.with_other OR v.target_uuid IN others AND ($p.other.type = '' OR v.target_type IN ['', $p.other.type]))
  RETURN v AS one, v.fact_uuid AS fact, v.source_uuid AS source, v.target_uuid AS target, 'a_' AS prefix
  UNION
  MATCH (v:FactVersion {target_uuid: uuid}) USING INDEX SEEK v:FactVersion(target_uuid)
  WHERE $p.incoming AND v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
    AND ($p.anchor.type = '' OR v.target_type IN ['', $p.anchor.type])
  RETURN v AS one, v.fact_uuid AS fact, v.source_uuid AS source, v.target_uuid AS target, 'a_' AS prefix
}
WITH DISTINCT one, fact, source, target, prefix
WHERE one.valid_from <= $p.until AND (one.valid_until > $p.since
      OR NOT $p.lasting AND $p.since = $p.until AND one.valid_until <= (floor(one.valid_from / 86400) + 1) * 86400 AND one.expired_at IS NULL AND coalesce(one.stated_until, one.valid_until) <= one.valid_until
          AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(one.relation_key, toLower(one.name)) IN o.events })
  AND NOT ($p.lasting AND one.valid_until >= $p.open AND $p.since >= (floor(one.valid_from / 86400) + 1) * 86400
      AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(one.relation_key, toLower(one.name)) IN o.events })
  AND ($p.relation = '' OR coalesce(one.relation_key, toLower(one.name)) = $p.relation)
  AND (one.valid_from > $p.after_from OR one.valid_from = $p.after_from AND fact > $p.after_uuid)
WITH one, fact, source, target, prefix ORDER BY one.valid_from, fact LIMIT $p.limit
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
