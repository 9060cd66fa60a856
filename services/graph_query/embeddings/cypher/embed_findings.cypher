// Sets active vectors of findings; returns how many findings had none before.
UNWIND $p.rows AS row
MATCH (e:BraidFinding {uuid: row.uuid}) USING INDEX SEEK e:BraidFinding(uuid) WHERE e.group_id = $p.space
WITH e, row, CASE WHEN e.embedding IS NULL THEN 1 ELSE 0 END AS more
CALL db.create.setNodeVectorProperty(e, 'embedding', row.vector)
RETURN sum(more) AS change
