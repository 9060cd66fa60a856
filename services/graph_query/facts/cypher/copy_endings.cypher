// Copies the endings of facts to their copies.
UNWIND $p.rows AS row
MATCH (x:FactEnding {fact_uuid: row.from}) USING INDEX SEEK x:FactEnding(fact_uuid)
MERGE (y:FactEnding {group_id: $p.space, cause: x.cause, fact_uuid: row.uuid})
ON CREATE SET y.at = x.at
