// Those of the given facts that something has ended.
UNWIND $p.uuids AS uuid
MATCH (x:FactEnding {fact_uuid: uuid})
RETURN DISTINCT uuid
