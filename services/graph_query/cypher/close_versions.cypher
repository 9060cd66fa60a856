// Closes the versions of facts that are taken back; one that was appended in this same write was never known and goes.
UNWIND $p.uuids AS uuid
MATCH (v:FactVersion {fact_uuid: uuid}) WHERE v.known_until = $p.open
SET v.known_until = $p.now, v:BraidPastFact
WITH v WHERE v.known_from >= $p.now
DELETE v
