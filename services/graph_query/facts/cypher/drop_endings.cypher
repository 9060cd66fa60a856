// Forgets what ended facts that are no more, and tells it; what episodes that are there say of them is kept for when they are
// told again.
UNWIND $p.uuids AS uuid
MATCH (x:FactEnding {fact_uuid: uuid}) USING INDEX SEEK x:FactEnding(fact_uuid)
WHERE $p.moved OR x.cause = '' OR NOT EXISTS { MATCH (e:Episodic {group_id: $p.space, uuid: x.cause}) USING INDEX SEEK e:Episodic(group_id, uuid) }
WITH x, uuid, x.cause AS cause
DELETE x
RETURN uuid, cause
