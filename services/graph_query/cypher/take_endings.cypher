// Takes back what the given causes ended, and tells those facts.
UNWIND $p.causes AS cause
MATCH (x:FactEnding {group_id: $p.space, cause: cause}) WHERE x.fact_uuid >= ''
WITH x, x.fact_uuid AS uuid
DELETE x
RETURN DISTINCT uuid
