// Entities without a type take the one that has become known.
UNWIND $p.rows AS row
MATCH (k:EntityName {group_id: $p.space, name_key: row.key, type: ''})
SET k.type = row.type
WITH row
MATCH (n:Entity {uuid: row.uuid})
SET n:$(row.type)
