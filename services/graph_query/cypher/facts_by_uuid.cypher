// Which of the given facts are there, and whether they have a vector.
UNWIND $p.uuids AS uuid
MATCH ()-[e:RELATES_TO {uuid: uuid}]->()
RETURN uuid, e.fact_embedding IS NOT NULL AS embedded
