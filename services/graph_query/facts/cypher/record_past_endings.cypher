// Notes which documents' episodes had ended facts: of what they said of these only the past is left.
UNWIND $p.rows AS row
MERGE (:BraidPastEnding {group_id: $p.space, document_id: row[0], fact_uuid: row[1], cause: row[2]})
