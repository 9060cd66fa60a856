// Names by the looser key that text is linked by.
CREATE INDEX braid_name_by_link IF NOT EXISTS FOR (n:EntityName) ON (n.group_id, n.link_key)
