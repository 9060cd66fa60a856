// The types of the entities with a name, in order.
MATCH (k:EntityName {group_id: $p.space, name_key: $p.key}) USING INDEX SEEK k:EntityName(group_id, name_key, type) WHERE k.type >= ''
RETURN k.type AS type ORDER BY type
