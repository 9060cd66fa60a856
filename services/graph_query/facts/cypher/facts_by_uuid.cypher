// Returns which of the given facts exist, whether they have a vector, and their claims.
UNWIND $p.uuids AS uuid
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
RETURN uuid, e.fact_embedding IS NOT NULL AS embedded,
       COLLECT { MATCH (c:FactClaim {fact_uuid: uuid, group_id: $p.space}) USING INDEX SEEK c:FactClaim(fact_uuid) RETURN [c.document_id, c.given] } AS claims
