// Resets the end of versions to the stated one.
UNWIND $p.uuids AS uuid
MATCH (v:FactVersion {uuid: uuid}) USING INDEX SEEK v:FactVersion(uuid) WHERE v.group_id = $p.space
SET v.invalid_at = v.stated_at, v.valid_until = v.stated_until, v.ended_by = ''
