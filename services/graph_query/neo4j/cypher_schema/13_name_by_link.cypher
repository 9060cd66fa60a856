// Names by the looser key that questions are linked by; a capitalised phrase that nothing else gives has none.
CREATE INDEX braid_name_by_link IF NOT EXISTS FOR (n:EntityName) ON (n.group_id, n.link_key)
