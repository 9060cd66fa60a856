// Findings of a space by the time of their creation.
CREATE INDEX braid_finding_listing IF NOT EXISTS FOR (f:BraidFinding) ON (f.group_id, f.created, f.uuid)
