// Vectors of facts.
UNWIND $p.uuids AS uuid
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space AND e.fact_embedding IS NOT NULL
RETURN uuid, e.fact_embedding AS vector
