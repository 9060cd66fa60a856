// Records which documents' episodes had ended facts whose endings remain in past versions only.
UNWIND $p.rows AS row
MERGE (:BraidPastEnding {group_id: $p.space, document_id: row[0], fact_uuid: row[1], cause: row[2]})
