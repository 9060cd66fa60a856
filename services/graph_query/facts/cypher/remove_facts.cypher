// Removes facts. The last that was known of each, which was kept in this same write, is what a search of the past finds.
UNWIND $p.uuids AS uuid
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
DELETE e
WITH uuid
MATCH (v:FactVersion {fact_uuid: uuid}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.known_until = $p.now
SET v:BraidPastFact
