// Entities of a space by uuid, which stays while names are spelt anew.
CREATE INDEX braid_entity_by_uuid IF NOT EXISTS FOR (n:Entity) ON (n.group_id, n.uuid)
