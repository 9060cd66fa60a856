// Facts of entities that were withdrawn or replaced by an instant and do not stand at it, latest first. The facts are as
// last known, with their entities' names of now or, if they exist no longer, of then.
CYPHER 25
CALL () {
  MATCH (k:EntityName {group_id: $p.space, name_key: $p.anchor.key}) USING INDEX SEEK k:EntityName(group_id, name_key, type)
  WHERE k.type >= '' AND ($p.anchor.type = '' OR k.type = $p.anchor.type)
  RETURN k.entity_uuid AS entity
  UNION
  UNWIND $p.anchor.uuids AS entity
  RETURN entity
}
CALL (entity) {
  MATCH (v:FactVersion {source_uuid: entity}) USING INDEX SEEK v:FactVersion(source_uuid, target_uuid)
  WHERE v.target_uuid >= '' AND v.group_id = $p.space
  RETURN v
  UNION
  MATCH (v:FactVersion {target_uuid: entity}) USING INDEX SEEK v:FactVersion(target_uuid) WHERE v.group_id = $p.space
  RETURN v
}
WITH DISTINCT v
WHERE v.change_kind IS NOT NULL AND v.change_replacement <> v.fact_uuid AND v.known_until <= $p.known
  AND ($p.relation = '' OR coalesce(v.relation_key, toLower(v.name)) = $p.relation)
  AND NOT EXISTS { MATCH ()-[e:RELATES_TO {uuid: v.fact_uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space AND e.braid_known_from <= $p.known }
  AND NOT EXISTS { MATCH (w:FactVersion {fact_uuid: v.fact_uuid}) USING INDEX SEEK w:FactVersion(fact_uuid)
    WHERE w.group_id = $p.space AND w.known_from <= $p.known AND w.known_until > v.known_until }
WITH v ORDER BY v.known_until DESC, v.fact_uuid LIMIT $p.limit
OPTIONAL MATCH (a:Entity {uuid: v.source_uuid}) USING INDEX SEEK a:Entity(uuid)
OPTIONAL MATCH (b:Entity {uuid: v.target_uuid}) USING INDEX SEEK b:Entity(uuid)
WITH v, a, b ORDER BY v.known_until DESC, v.fact_uuid
RETURN collect([v.known_from, v.known_until, ['', '', [v.change_kind, v.change_user, v.change_reason, v.change_episode, v.change_replacement]],
  [[v.fact_uuid, v.fact, v.name, v.source_uuid, coalesce(a.name, v.source_name, ''), coalesce(labels(a), [v.source_type]), v.target_uuid,
  coalesce(b.name, v.target_name, ''), coalesce(labels(b), [v.target_type]), v.valid_at, v.invalid_at, v.created_at, coalesce(v.origin, 'given'),
  EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(v.relation_key, toLower(v.name)) IN o.events }],
  [], [key IN coalesce(v.attribute_names, []) | [key, v['a_' + key]]]]]) AS versions
