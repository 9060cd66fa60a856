// Entities of a space by name.
CREATE INDEX braid_entity_listing IF NOT EXISTS FOR (n:Entity) ON (n.group_id, n.name, n.uuid)
