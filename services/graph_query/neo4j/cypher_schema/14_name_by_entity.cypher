// The names of an entity.
CREATE INDEX braid_name_by_entity IF NOT EXISTS FOR (n:EntityName) ON (n.entity_uuid)
