// An entity's stated facts that are valid at only one of two times, without an equal fact at the other time. An event
// that ended on its day counts as having happened at every later time.
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
  WITH uuid, others WHERE $p.outgoing
  MATCH (n:Entity {uuid: uuid})-[e:RELATES_TO]->(b) USING INDEX SEEK n:Entity(uuid) WHERE NOT $p.with_other OR b.uuid IN others
  RETURN e
  UNION
  WITH uuid WHERE $p.incoming
  MATCH (n:Entity {uuid: uuid})<-[e:RELATES_TO]-() USING INDEX SEEK n:Entity(uuid)
  RETURN e
}
WITH DISTINCT e WHERE e.group_id = $p.space AND ($p.relation = '' OR e.relation_key = $p.relation)
WITH e, e.valid_until <= (floor(e.valid_from / 86400) + 1) * 86400 AND e.expired_at IS NULL
     AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE e.relation_key IN o.events } AS event
WITH e, e.valid_from <= $p.before.until AND (event OR e.valid_until > $p.before.since) AS before,
     e.valid_from <= $p.after.until AND (event OR e.valid_until > $p.after.since) AS after
WHERE before <> after
MATCH (a)-[e]->(b)
WITH a, b, e, before, CASE WHEN before THEN $p.after ELSE $p.before END AS other
WHERE NOT EXISTS {
  MATCH (a)-[x:RELATES_TO]->(b)
  WHERE x.relation_key = e.relation_key AND x.valid_from <= other.until AND x.valid_until > other.since
    AND size(coalesce(x.attribute_names, [])) = size(coalesce(e.attribute_names, []))
    AND all(key IN coalesce(e.attribute_names, []) WHERE x[key] = e[key])
}
WITH e, a, before LIMIT $p.limit
RETURN collect([e.uuid, a.uuid, e.relation_key, e.valid_from, before]) AS found
