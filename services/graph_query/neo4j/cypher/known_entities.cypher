// Returns the given entities that do not exist yet, and those whose given spelling may be better than the
// stored one.
UNWIND $p.rows AS row
OPTIONAL MATCH (n:Entity {uuid: row[0]}) USING INDEX SEEK n:Entity(uuid)
WITH row, n, coalesce(n.name_source, 3) AS source
WHERE n IS NULL OR row[1] < source OR row[1] = source AND row[2] <> n.name
RETURN collect([row[0], n.name, source]) AS entities
