// Creates past versions of facts, and the records of who had stated and ended them.
UNWIND $p.rows AS row
CALL (row) {
  UNWIND row.versions AS version
  MERGE (v:FactVersion {uuid: version[0].uuid})
  SET v = version[0]
  FOREACH (_ IN CASE WHEN version[1] THEN [1] ELSE [] END | SET v:BraidPastFact)
}
CALL (row) {
  UNWIND row.endings AS ending
  MERGE (x:FactEnding {group_id: $p.space, cause: ending[0], fact_uuid: row.uuid})
  SET x.at = ending[1]
}
CALL (row) {
  UNWIND row.past_claims AS document_id
  MERGE (:BraidPastClaim {group_id: $p.space, document_id: document_id, fact_uuid: row.uuid})
}
CALL (row) {
  UNWIND row.past_endings AS ending
  MERGE (:BraidPastEnding {group_id: $p.space, document_id: ending[0], fact_uuid: row.uuid, cause: ending[1]})
}
