// All names of the space that text is linked to, with their entities, by type.
MATCH (n:EntityName {group_id: $p.space}) USING INDEX SEEK n:EntityName(group_id, name_key, type) WHERE n.name_key >= '' AND n.type >= '' AND n.linked
WITH n ORDER BY n.name_key, n.type
RETURN n.name_key AS key, collect(n.entity_uuid) AS uuids
