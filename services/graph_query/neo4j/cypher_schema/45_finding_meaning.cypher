// Findings by similarity, with the space and the fields of one value filtered inside the index; a vector is compared with those of its length.
CYPHER 25 CREATE VECTOR INDEX braid_finding_meaning IF NOT EXISTS FOR (f:BraidFinding) ON f.embedding
WITH [f.group_id, f.kind, f.type_key, f.confidence_key, f.status_key, f.priority, f.owner_key, f.origin, f.created] OPTIONS $options
