// Those of the given entities that are not there yet, and those that a spelling may be better for than their own.
UNWIND $p.rows AS row
OPTIONAL MATCH (n:Entity {uuid: row[0]}) USING INDEX SEEK n:Entity(uuid)
WITH row, n, coalesce(n.name_source, 3) AS source
WHERE n IS NULL OR row[1] < source OR row[1] = source AND row[2] <> n.name
RETURN collect([row[0], n.name, source]) AS entities
