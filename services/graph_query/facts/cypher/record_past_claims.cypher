// Records which documents had claimed facts that are deleted.
UNWIND $p.rows AS row
MERGE (:BraidPastClaim {group_id: $p.space, document_id: row[0], fact_uuid: row[1]})
