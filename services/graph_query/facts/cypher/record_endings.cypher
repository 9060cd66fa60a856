// Records that causes end facts, and when; a cause has one ending for each fact.
UNWIND $p.rows AS row
MERGE (x:FactEnding {group_id: $p.space, cause: row.cause, fact_uuid: row.uuid})
SET x.at = row.at
