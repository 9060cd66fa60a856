// Deletes all past versions of facts, and the records of who had stated and ended them.
UNWIND $p.uuids AS uuid
CALL (uuid) {
  MATCH (v:FactVersion {fact_uuid: uuid}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.group_id = $p.space
  DELETE v
}
CALL (uuid) {
  MATCH (x:FactEnding {fact_uuid: uuid}) USING INDEX SEEK x:FactEnding(fact_uuid) WHERE x.group_id = $p.space
  DELETE x
}
CALL (uuid) {
  MATCH (c:BraidPastClaim {fact_uuid: uuid}) USING INDEX SEEK c:BraidPastClaim(fact_uuid) WHERE c.group_id = $p.space
  DELETE c
}
CALL (uuid) {
  MATCH (x:BraidPastEnding {fact_uuid: uuid}) USING INDEX SEEK x:BraidPastEnding(fact_uuid) WHERE x.group_id = $p.space
  DELETE x
}
