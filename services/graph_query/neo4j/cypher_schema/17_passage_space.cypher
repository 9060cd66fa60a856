// Passages of a space.
CREATE INDEX braid_passage_by_space IF NOT EXISTS FOR (n:BraidPassage) ON (n.group_id)
