// From entities to their neighbors at a time. A co-occurrence is ignored if a stated fact of more than a day joins the
// same entities at another time.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid})-[r:RELATES_TO|CO_OCCURS]-(m:Entity) USING INDEX SEEK n:Entity(uuid)
WHERE n.group_id = $p.space AND m <> n AND CASE type(r)
  WHEN 'CO_OCCURS' THEN $p.local AND (r.valid_until IS NULL OR r.valid_until > $p.since AND r.valid_from <= $p.until
    AND (r.gaps IS NULL OR none(i IN range(0, size(r.gaps) - 1, 2) WHERE r.gaps[i] <= $p.since AND r.gaps[i + 1] > $p.until)))
    AND NOT EXISTS {
      MATCH (n)-[x:RELATES_TO]-(m)
      WHERE x.group_id = $p.space AND (x.valid_from > $p.until OR x.valid_until <= $p.since)
        AND x.valid_until > (floor(x.valid_from / 86400) + 1) * 86400
    }
  ELSE r.group_id = $p.space AND r.valid_from <= $p.until AND (r.valid_until > $p.since
    OR $p.since = $p.until AND r.valid_until <= (floor(r.valid_from / 86400) + 1) * 86400 AND r.expired_at IS NULL
        AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE r.relation_key IN o.events }) END
WITH DISTINCT uuid, m LIMIT $p.limit
RETURN collect([uuid, m.uuid, COUNT { (m)-[:RELATES_TO]-() }]) AS steps
