// Deletes the claims of facts, all of them or a claimant's; returns the claimants and the ends as stated.
UNWIND $p.uuids AS uuid
MATCH (c:FactClaim {fact_uuid: uuid}) USING INDEX SEEK c:FactClaim(fact_uuid)
WHERE c.group_id = $p.space AND ($p.claimant IS NULL OR c.document_id = $p.claimant)
WITH c, uuid, c.document_id AS document_id, c.given AS given
DELETE c
WITH document_id, uuid, given
MATCH (a)-[e:RELATES_TO {uuid: uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid)
RETURN document_id, uuid, a.uuid AS source, b.uuid AS target, given
