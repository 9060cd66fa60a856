// The entities of a name, whatever their type.
CREATE INDEX braid_name_by_key IF NOT EXISTS FOR (n:EntityName) ON (n.group_id, n.name_key)
