// The same as differences_of_entity, of the facts as they were known at an instant.
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
WITH v WHERE v.known_from <= $p.known AND v.known_until > $p.known AND ($p.relation = '' OR toLower(v.name) = $p.relation)
WITH v, v.valid_from <= $p.before.until AND v.valid_until > $p.before.since AS before,
     v.valid_from <= $p.after.until AND v.valid_until > $p.after.since AS after
WHERE before <> after
WITH v, before, CASE WHEN before THEN $p.after ELSE $p.before END AS other
WHERE NOT EXISTS {
  MATCH (x:FactVersion {source_uuid: v.source_uuid, target_uuid: v.target_uuid})
  WHERE x.known_from <= $p.known AND x.known_until > $p.known
    AND toLower(x.name) = toLower(v.name) AND x.valid_from <= other.until AND x.valid_until > other.since
    AND size(coalesce(x.attribute_names, [])) = size(coalesce(v.attribute_names, []))
    AND all(key IN coalesce(v.attribute_names, []) WHERE x['a_' + key] = v['a_' + key])
}
WITH v, before LIMIT $p.limit
RETURN collect([v.fact_uuid, v.source_uuid, toLower(v.name), v.valid_from, before]) AS found
