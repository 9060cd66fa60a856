// Deletes those of the given facts that nothing claims any more.
UNWIND $p.uuids AS uuid
WITH uuid WHERE NOT EXISTS { MATCH (c:FactClaim {fact_uuid: uuid}) }
MATCH ()-[e:RELATES_TO {uuid: uuid}]->()
WITH uuid, e, e.fact_embedding IS NOT NULL AS embedded
DELETE e
RETURN uuid, embedded
