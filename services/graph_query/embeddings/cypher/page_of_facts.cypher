// A page of the space's stated facts that start after a given start, in index order.
MATCH ()-[e:RELATES_TO]->()
USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
WHERE e.group_id = $p.space AND e.valid_from > $p.after_from AND e.uuid >= ''
WITH e ORDER BY e.group_id, e.valid_from, e.uuid LIMIT $p.limit
RETURN toString(e.valid_from) AS key, e.uuid AS uuid
