// Closes the versions of facts that are taken back; one that was appended in this same write was never known and goes, and
// the one before it, which that closed, is the last that was known.
UNWIND $p.uuids AS uuid
MATCH (v:FactVersion {fact_uuid: uuid}) WHERE v.known_until = $p.open OR v.known_until = $p.now
SET v.known_until = $p.now, v:BraidPastFact
WITH v WHERE v.known_from >= $p.now
DELETE v
