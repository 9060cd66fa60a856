// Sets active vectors of the names of entities that have one; returns how many had none before.
UNWIND $p.rows AS row
MATCH (e:Entity {uuid: row.uuid}) USING INDEX SEEK e:Entity(uuid) WHERE e.group_id = $p.space
WITH e, row, CASE WHEN e.name_embedding IS NULL THEN 1 ELSE 0 END AS more
CALL db.create.setNodeVectorProperty(e, 'name_embedding', row.vector)
RETURN sum(more) AS change
