// The last versions of a fact, including the current one, with who withdrew or corrected each.
CYPHER 25
CALL () {
  MATCH ()-[e:RELATES_TO {uuid: $p.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space AND e.braid_known_from IS NOT NULL
  RETURN e AS one, e.uuid AS fact, e.source_node_uuid AS source, e.target_node_uuid AS target, '' AS prefix, e.braid_known_from AS known_from, $p.open AS known_until, e.braid_cause AS cause,
    e.braid_corrects AS corrects, null AS change
  UNION ALL
  MATCH (v:FactVersion {fact_uuid: $p.uuid}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.group_id = $p.space
  RETURN v AS one, v.fact_uuid AS fact, v.source_uuid AS source, v.target_uuid AS target, 'a_' AS prefix, v.known_from AS known_from, v.known_until AS known_until, v.episode_uuid AS cause,
    v.corrects AS corrects, CASE WHEN v.change_kind IS NULL THEN null ELSE [v.change_kind, v.change_user, v.change_reason, v.change_episode, v.change_replacement] END AS change
}
WITH one, fact, source, target, prefix, known_from, known_until, cause, corrects, change ORDER BY known_from DESC LIMIT $p.limit
OPTIONAL MATCH (a:Entity {uuid: source}) USING INDEX SEEK a:Entity(uuid)
OPTIONAL MATCH (b:Entity {uuid: target}) USING INDEX SEEK b:Entity(uuid)
WITH one, fact, source, target, prefix, known_from, known_until, cause, corrects, change, a, b ORDER BY known_from
RETURN collect([known_from, known_until, [coalesce(cause, ''), coalesce(corrects, ''), change], [[fact, one.fact, one.name, source, coalesce(a.name, one.source_name, ''),
  coalesce(labels(a), [one.source_type]), target, coalesce(b.name, one.target_name, ''), coalesce(labels(b), [one.target_type]),
  one.valid_at, one.invalid_at, one.created_at, coalesce(one.origin, 'given'),
  EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(one.relation_key, toLower(one.name)) IN o.events }], [], [key IN coalesce(one.attribute_names, []) | [key, one[prefix + key]]]]]) AS versions
