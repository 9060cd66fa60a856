// Records that a uuid, computed from what a fact states, identifies a fact with another uuid.
UNWIND $p.rows AS row
MERGE (x:BraidFactAlias {group_id: $p.space, identity: row[0]})
SET x.fact_uuid = row[1]
