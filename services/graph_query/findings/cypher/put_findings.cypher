// Writes findings' fields, in the order of their uuids.
UNWIND $p.rows AS row
MERGE (f:BraidFinding {uuid: row.uuid})
ON CREATE SET f.group_id = $p.space, f.created = $p.now, f.origin = row.origin
SET f += row.fields, f.updated = $p.now
