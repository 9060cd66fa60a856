// Returns how the given facts end: the stated end, the current end with its cause, and all endings.
UNWIND $p.uuids AS uuid
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
RETURN uuid, e.valid_from AS since, e.valid_until AS until, CASE WHEN e.stated_until IS NULL THEN e.invalid_at ELSE e.stated_at END AS stated,
       coalesce(e.braid_ended_by, '') AS told_by,
       COLLECT { MATCH (x:FactEnding {fact_uuid: uuid}) USING INDEX SEEK x:FactEnding(fact_uuid) RETURN [x.cause, x.at] } AS endings
