// Notes which documents had claimed facts that are no more.
UNWIND $p.rows AS row
MERGE (:BraidPastClaim {group_id: $p.space, document_id: row[0], fact_uuid: row[1]})
