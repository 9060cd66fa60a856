// Deletes facts, with what else identifies them and the records of their sources. The last version of each, saved in
// this same write, is marked so that searches of the past find it.
UNWIND $p.uuids AS uuid
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
DELETE e
WITH uuid
CALL (uuid) {
  MATCH (x:BraidFactAlias {fact_uuid: uuid}) USING INDEX SEEK x:BraidFactAlias(fact_uuid) WHERE x.group_id = $p.space
  DELETE x
}
CALL (uuid) {
  MATCH (s:BraidFactSource {fact_uuid: uuid}) USING INDEX SEEK s:BraidFactSource(fact_uuid) WHERE s.group_id = $p.space
  DELETE s
}
MATCH (v:FactVersion {fact_uuid: uuid}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.known_until = $p.now
SET v:BraidPastFact
