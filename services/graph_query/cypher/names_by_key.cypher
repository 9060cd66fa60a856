// The entities of the given names.
UNWIND $p.keys AS key
MATCH (k:EntityName {group_id: $p.space, name_key: key}) WHERE k.type >= ''
RETURN key, k.type AS type, k.entity_uuid AS uuid, k.link_key IS NOT NULL AS asked ORDER BY key, type
