// Names of a space's entities, most mentioned first: by minus the number of mentions, as an index is read in one direction.
CREATE INDEX braid_name_by_mentions IF NOT EXISTS FOR (n:EntityName) ON (n.group_id, n.mention_rank, n.name_key, n.entity_uuid)
