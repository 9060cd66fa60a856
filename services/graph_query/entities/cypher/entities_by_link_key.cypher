// Returns the known ones of the linking keys, with the names that share each and their entities.
UNWIND $p.keys AS key
MATCH (k:EntityName {group_id: $p.space, link_key: key}) USING INDEX SEEK k:EntityName(group_id, link_key)
RETURN key, collect([k.name_key, k.entity_uuid]) AS named
