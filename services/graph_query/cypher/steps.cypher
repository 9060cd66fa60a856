// From entities to their neighbours at a time.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid})-[r:RELATES_TO|CO_OCCURS]-(m:Entity)
WHERE n.group_id = $p.space AND m <> n AND CASE type(r) WHEN 'CO_OCCURS' THEN $p.local
  ELSE r.group_id = $p.space AND r.valid_from <= $p.until AND r.valid_until > $p.since END
WITH DISTINCT uuid, m LIMIT $p.limit
RETURN collect([uuid, m.uuid, COUNT { (m)-[:RELATES_TO]-() }]) AS steps
