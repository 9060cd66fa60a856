// Those of the given entities that are not there yet.
UNWIND $p.uuids AS uuid
OPTIONAL MATCH (n:Entity {uuid: uuid})
WITH uuid, n WHERE n IS NULL
RETURN collect(uuid) AS uuids
