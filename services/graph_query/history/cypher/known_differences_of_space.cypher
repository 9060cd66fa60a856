// As differences_of_space, for the facts as they were known at an instant.
CYPHER 25
CALL () {
  MATCH ()-[e:RELATES_TO]->() USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
  WHERE e.group_id = $p.space AND e.valid_from <= $p.begun AND e.uuid >= '' AND e.braid_known_from <= $p.known
  RETURN e AS one, e.uuid AS fact, e.source_node_uuid AS source, e.target_node_uuid AS target, '' AS prefix
  UNION ALL
  MATCH (v:FactVersion) USING INDEX SEEK v:FactVersion(group_id, valid_from, fact_uuid)
  WHERE v.group_id = $p.space AND v.valid_from <= $p.begun AND v.fact_uuid >= '' AND v.known_from <= $p.known AND v.known_until > $p.known
  RETURN v AS one, v.fact_uuid AS fact, v.source_uuid AS source, v.target_uuid AS target, 'a_' AS prefix
}
WITH one, fact, source, target, prefix WHERE $p.relation = '' OR coalesce(one.relation_key, toLower(one.name)) = $p.relation
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
