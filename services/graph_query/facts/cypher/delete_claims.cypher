// Deletes the claims of the given documents; returns their facts and the ends as stated.
UNWIND $p.documents AS document_id
MATCH (c:FactClaim {group_id: $p.space, claimant: document_id}) USING INDEX SEEK c:FactClaim(group_id, claimant, fact_uuid) WHERE c.fact_uuid >= ''
WITH c, document_id, c.fact_uuid AS uuid, c.given AS given
DELETE c
WITH document_id, uuid, given
MATCH (a)-[e:RELATES_TO {uuid: uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid)
RETURN document_id, uuid, a.uuid AS source, b.uuid AS target, given
