// Entities take another type, or lose their own.
UNWIND $p.rows AS row
MATCH (k:EntityName {group_id: $p.space, name_key: row[1], type: row[2]})
SET k.type = row[3]
WITH row
MATCH (n:Entity {uuid: row[0]})
FOREACH (old IN CASE row[2] WHEN '' THEN [] ELSE [row[2]] END | REMOVE n:$(old))
FOREACH (new IN CASE row[3] WHEN '' THEN [] ELSE [row[3]] END | SET n:$(new))
