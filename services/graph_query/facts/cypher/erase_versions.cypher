// Deletes all versions of facts; returns how many were already past before this write.
UNWIND $p.uuids AS uuid
MATCH (v:FactVersion {fact_uuid: uuid}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.group_id = $p.space
WITH v, v.known_until < $p.now AS past
DETACH DELETE v
RETURN sum(CASE WHEN past THEN 1 ELSE 0 END) AS deleted
