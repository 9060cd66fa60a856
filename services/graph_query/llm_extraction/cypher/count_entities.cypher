// Counts the space's entities, up to a limit.
MATCH (n:Entity) USING INDEX SEEK n:Entity(group_id, name, uuid) WHERE n.group_id = $p.space AND n.name >= '' AND n.uuid >= ''
WITH n LIMIT $p.limit
RETURN count(n) AS entities
