// Lets versions that were never known to hold on end as their facts were stated.
UNWIND $p.uuids AS uuid
MATCH (v:FactVersion {uuid: uuid}) USING INDEX SEEK v:FactVersion(uuid) WHERE v.group_id = $p.space
SET v.invalid_at = v.stated_at, v.valid_until = v.stated_until, v.ended_by = ''
