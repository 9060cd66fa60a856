// Deletes those of the given facts that nothing claims any more; closes their versions.
UNWIND $p.uuids AS uuid
WITH uuid WHERE NOT EXISTS { MATCH (c:FactClaim {fact_uuid: uuid}) }
MATCH ()-[e:RELATES_TO {uuid: uuid}]->()
WITH uuid, e, e.fact_embedding IS NOT NULL AS embedded
DELETE e
WITH uuid, embedded
CALL (uuid) {
  MATCH (v:FactVersion {fact_uuid: uuid}) WHERE v.known_until = $p.open
  SET v.known_until = $p.now
}
RETURN uuid, embedded
