// Returns how many facts valid at the time lie between entities and the nearest of others; no row for more than four.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid) WHERE n.group_id = $p.space
UNWIND $p.centers AS center
MATCH (c:Entity {uuid: center}) USING INDEX SEEK c:Entity(uuid) WHERE c.group_id = $p.space AND c <> n
MATCH path = shortestPath((c)-[:RELATES_TO|CO_OCCURS*..4]-(n))
WHERE all(r IN relationships(path) WHERE CASE type(r)
  WHEN 'CO_OCCURS' THEN r.valid_until IS NULL OR r.valid_until > $p.since AND r.valid_from <= $p.until
    AND (r.gaps IS NULL OR none(i IN range(0, size(r.gaps) - 1, 2) WHERE r.gaps[i] <= $p.since AND r.gaps[i + 1] > $p.until))
  ELSE coalesce(r.valid_from, -$p.open) <= $p.until AND coalesce(r.valid_until, $p.open) > $p.since END)
RETURN uuid, min(length(path)) AS distance
