// How many facts of the time lie between entities and the nearest of others; nothing where there are more than four.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid}) WHERE n.group_id = $p.space
UNWIND $p.centers AS center
MATCH (c:Entity {uuid: center}) WHERE c.group_id = $p.space AND c <> n
MATCH path = shortestPath((c)-[:RELATES_TO|CO_OCCURS*..4]-(n))
WHERE all(r IN relationships(path) WHERE type(r) = 'CO_OCCURS' OR
  coalesce(r.valid_from, -$p.open) <= $p.until AND coalesce(r.valid_until, $p.open) > $p.since)
RETURN uuid, min(length(path)) AS distance
