// Sets vectors in use: entities with a vector of their name; tells how many more have one.
UNWIND $p.rows AS row
MATCH (e:Entity {uuid: row.uuid}) USING INDEX SEEK e:Entity(uuid) WHERE e.group_id = $p.space
WITH e, row, CASE WHEN e.name_embedding IS NULL THEN 1 ELSE 0 END AS more
CALL db.create.setNodeVectorProperty(e, 'name_embedding', row.vector)
RETURN sum(more) AS change
