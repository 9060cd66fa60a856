// Deletes the endings of deleted facts and returns them. Endings by existing episodes are kept in case the fact is
// stated again, unless the fact has moved.
UNWIND $p.uuids AS uuid
MATCH (x:FactEnding {fact_uuid: uuid}) USING INDEX SEEK x:FactEnding(fact_uuid)
WHERE $p.moved OR x.cause = '' OR NOT EXISTS { MATCH (e:Episodic {group_id: $p.space, uuid: x.cause}) USING INDEX SEEK e:Episodic(group_id, uuid) }
WITH x, uuid, x.cause AS cause
DELETE x
RETURN uuid, cause
