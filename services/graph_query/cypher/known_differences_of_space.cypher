// The same as differences_of_space, of the facts as they were known at an instant.
CYPHER 25
MATCH (v:FactVersion) WHERE v.group_id = $p.space AND v.valid_from <= $p.begun AND v.fact_uuid >= ''
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
