// The last versions of a fact.
CYPHER 25
MATCH (v:FactVersion {fact_uuid: $p.uuid}) WHERE v.group_id = $p.space
WITH v ORDER BY v.known_from DESC LIMIT $p.limit
OPTIONAL MATCH (a:Entity {uuid: v.source_uuid})
OPTIONAL MATCH (b:Entity {uuid: v.target_uuid})
WITH v, a, b, [] AS cited ORDER BY v.known_from
RETURN collect([v.known_from, v.known_until, coalesce(v.episode_uuid, ''), [[v.fact_uuid, v.fact, v.name, v.source_uuid, coalesce(a.name, v.source_name, ''), coalesce(labels(a), [v.source_type]), v.target_uuid,
  coalesce(b.name, v.target_name, ''), coalesce(labels(b), [v.target_type]), v.valid_at, v.invalid_at, v.created_at, coalesce(v.origin, 'given')],
  cited, [key IN coalesce(v.attribute_names, []) | [key, v['a_' + key]]]]]) AS versions
