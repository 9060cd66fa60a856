// Changes or removes the type of entities; former types are kept with their end, for queries about the past.
UNWIND $p.rows AS row
MATCH (k:EntityName {group_id: $p.space, name_key: row[1], type: row[2]}) USING INDEX SEEK k:EntityName(group_id, name_key, type)
SET k.type = row[3]
WITH row
MATCH (n:Entity {uuid: row[0]}) USING INDEX SEEK n:Entity(uuid)
SET n.braid_types = coalesce(n.braid_types, []) + [row[2]], n.braid_types_until = coalesce(n.braid_types_until, []) + [$p.known]
FOREACH (old IN CASE row[2] WHEN '' THEN [] ELSE [row[2]] END | REMOVE n:$(old))
FOREACH (new IN CASE row[3] WHEN '' THEN [] ELSE [row[3]] END | SET n:$(new))
