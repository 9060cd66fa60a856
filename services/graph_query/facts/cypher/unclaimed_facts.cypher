// Returns the given facts that have no claim left, and whether they have a vector.
UNWIND $p.uuids AS uuid
WITH uuid WHERE NOT EXISTS { MATCH (c:FactClaim {fact_uuid: uuid}) USING INDEX SEEK c:FactClaim(fact_uuid) }
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
RETURN uuid, e.fact_embedding IS NOT NULL AS embedded
