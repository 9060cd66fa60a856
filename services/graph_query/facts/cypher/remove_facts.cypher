// Deletes facts. The last version of each, saved in this same write, is marked so that searches of the past find it.
UNWIND $p.uuids AS uuid
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
DELETE e
WITH uuid
MATCH (v:FactVersion {fact_uuid: uuid}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.known_until = $p.now
SET v:BraidPastFact
