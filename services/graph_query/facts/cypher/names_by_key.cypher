// Returns the types of the given names, whether questions are linked to them, and the display names of their entities
// that differ from the name given here (a stated fact's spelling has source 1). All in one row, as rows cost the driver
// time.
UNWIND $p.names AS told
MATCH (k:EntityName {group_id: $p.space, name_key: told[0]}) USING INDEX SEEK k:EntityName(group_id, name_key, type) WHERE k.type >= ''
MATCH (n:Entity {uuid: k.entity_uuid}) USING INDEX SEEK n:Entity(uuid)
RETURN collect([told[0], k.type, k.link_key IS NOT NULL,
  CASE WHEN n.name = told[1] AND n.name_source = 1 THEN null ELSE [n.uuid, n.name_source, n.name] END]) AS names
