// Returns the given facts that have an ending.
UNWIND $p.uuids AS uuid
MATCH (x:FactEnding {fact_uuid: uuid}) USING INDEX SEEK x:FactEnding(fact_uuid)
RETURN DISTINCT uuid
