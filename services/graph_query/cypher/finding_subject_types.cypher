// The types of the entities that bear a name, in their order.
MATCH (k:EntityName {group_id: $p.space, name_key: $p.key}) WHERE k.type >= ''
RETURN k.type AS type ORDER BY type
