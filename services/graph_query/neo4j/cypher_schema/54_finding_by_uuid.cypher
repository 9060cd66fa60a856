// Findings of a space by uuid.
CREATE INDEX braid_finding_by_uuid IF NOT EXISTS FOR (f:BraidFinding) ON (f.group_id, f.uuid)
