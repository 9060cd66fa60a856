// The entities that are meant, and, when that is one, all of its stated facts in brief.
CYPHER 25
CALL () {
  MATCH (k:EntityName {group_id: $p.space, name_key: $p.anchor.key}) WHERE k.type >= '' AND ($p.anchor.type = '' OR k.type = $p.anchor.type)
  RETURN k.entity_uuid AS uuid
  UNION
  UNWIND $p.anchor.uuids AS uuid
  RETURN uuid
}
MATCH (n:Entity {uuid: uuid}) WHERE n.group_id = $p.space
WITH n, COUNT { (n)<-[:BRAID_MENTIONS]-() } AS mentions, COUNT { (n)-[:RELATES_TO]-() } AS facts
ORDER BY mentions DESC, facts DESC, n.uuid
WITH collect(n) AS found, collect([n.uuid, n.name, labels(n), coalesce(n.summary, ''), mentions]) AS entities
CALL (found) {
  UNWIND CASE WHEN size(found) = 1 THEN found ELSE [] END AS n
  MATCH (n)-[e:RELATES_TO]-()
  WHERE e.group_id = $p.space AND ($p.relation = '' OR e.relation_key = $p.relation)
  WITH DISTINCT e
  RETURN collect([e.uuid, e.name, e.valid_from, e.valid_until, e.created_at.epochSeconds + e.created_at.microsecond / 1000000.0]) AS moments
}
RETURN entities, found[0].created_at AS first_seen, moments
