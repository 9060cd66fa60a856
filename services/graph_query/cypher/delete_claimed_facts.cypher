// Drops what the given documents claimed, and the facts that no other document claims; closes their versions.
UNWIND $p.documents AS document_id
MATCH (c:FactClaim {group_id: $p.space, document_id: document_id}) WHERE c.fact_uuid >= ''
WITH c, c.fact_uuid AS uuid
DELETE c
WITH DISTINCT uuid
WHERE NOT EXISTS { MATCH (o:FactClaim {fact_uuid: uuid}) }
MATCH (a)-[e:RELATES_TO {uuid: uuid}]->(b)
WITH uuid, e, a.uuid AS source, b.uuid AS target, e.fact_embedding IS NOT NULL AS embedded
DELETE e
WITH uuid, source, target, embedded
CALL (uuid) {
  MATCH (v:FactVersion {fact_uuid: uuid}) WHERE v.known_until = $p.open
  SET v.known_until = $p.now
}
RETURN uuid, source, target, embedded
