// As differences_of_entity, for the facts as they were known at an instant.
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
WHERE $p.relation = '' OR coalesce(one.relation_key, toLower(one.name)) = $p.relation
WITH one, fact, source, target, prefix, one.valid_until <= (floor(one.valid_from / 86400) + 1) * 86400 AND one.expired_at IS NULL AND coalesce(one.stated_until, one.valid_until) <= one.valid_until
     AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(one.relation_key, toLower(one.name)) IN o.events } AS event
WITH one, fact, source, target, prefix, one.valid_from <= $p.before.until AND (event OR one.valid_until > $p.before.since) AS before,
     one.valid_from <= $p.after.until AND (event OR one.valid_until > $p.after.since) AS after
WHERE before <> after
WITH one, fact, source, target, prefix, before, CASE WHEN before THEN $p.after ELSE $p.before END AS other
WHERE NOT EXISTS {
  MATCH (a:Entity {uuid: source}) USING INDEX SEEK a:Entity(uuid)
  MATCH (b:Entity {uuid: target}) USING INDEX SEEK b:Entity(uuid)
  WITH a, b LIMIT 1
  MATCH (a)-[x:RELATES_TO]->(b)
  WHERE x.braid_known_from <= $p.known AND x.relation_key = coalesce(one.relation_key, toLower(one.name)) AND x.valid_from <= other.until AND x.valid_until > other.since
    AND size(coalesce(x.attribute_names, [])) = size(coalesce(one.attribute_names, []))
    AND all(key IN coalesce(one.attribute_names, []) WHERE x[key] = one[prefix + key])
} AND NOT EXISTS {
  MATCH (x:FactVersion {source_uuid: source, target_uuid: target}) USING INDEX SEEK x:FactVersion(source_uuid, target_uuid)
  WHERE x.known_from <= $p.known AND x.known_until > $p.known
    AND coalesce(x.relation_key, toLower(x.name)) = coalesce(one.relation_key, toLower(one.name)) AND x.valid_from <= other.until AND x.valid_until > other.since
    AND size(coalesce(x.attribute_names, [])) = size(coalesce(one.attribute_names, []))
    AND all(key IN coalesce(one.attribute_names, []) WHERE x['a_' + key] = one[prefix + key])
}
WITH one, fact, source, before LIMIT $p.limit
RETURN collect([fact, source, coalesce(one.relation_key, toLower(one.name)), one.valid_from, before]) AS found
