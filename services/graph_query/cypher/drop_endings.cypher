// Forgets what ended facts that are no more.
UNWIND $p.uuids AS uuid
MATCH (x:FactEnding {fact_uuid: uuid})
DELETE x
