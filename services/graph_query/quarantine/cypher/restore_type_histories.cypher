// Sets the former types of entities, which queries about the past use; entities that have another type by now are skipped.
UNWIND $p.rows AS row
MATCH (k:EntityName {group_id: $p.space, name_key: row[0], type: row[1]}) USING INDEX SEEK k:EntityName(group_id, name_key, type)
MATCH (n:Entity {uuid: k.entity_uuid}) USING INDEX SEEK n:Entity(uuid)
SET n.braid_types = row[2], n.braid_types_until = row[3]
