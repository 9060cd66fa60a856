// Sets active vectors of stated facts; returns how many facts had none before.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
WITH e, row, CASE WHEN e.fact_embedding IS NULL THEN 1 ELSE 0 END AS more
CALL db.create.setRelationshipVectorProperty(e, 'fact_embedding', row.vector)
RETURN sum(more) AS change
