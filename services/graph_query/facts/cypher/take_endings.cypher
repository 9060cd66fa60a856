// Deletes the endings set by the given causes; returns their facts.
UNWIND $p.causes AS cause
MATCH (x:FactEnding {group_id: $p.space, cause: cause}) USING INDEX SEEK x:FactEnding(group_id, cause, fact_uuid) WHERE x.fact_uuid >= ''
WITH x, x.fact_uuid AS uuid, cause
DELETE x
RETURN uuid, cause
