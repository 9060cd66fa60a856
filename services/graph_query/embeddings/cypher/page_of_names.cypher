// A page of the space's entities, after a uuid, in index order.
MATCH (e:Entity) USING INDEX SEEK e:Entity(group_id, uuid)
WHERE e.group_id = $p.space AND e.uuid > $p.after_uuid
WITH e ORDER BY e.group_id, e.uuid LIMIT $p.limit
RETURN '' AS key, e.uuid AS uuid
