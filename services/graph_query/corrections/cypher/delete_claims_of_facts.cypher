// Deletes all claims of facts; returns the facts, their ends, and the ends as stated.
UNWIND $p.uuids AS uuid
MATCH (a)-[e:RELATES_TO {uuid: uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
MATCH (c:FactClaim {fact_uuid: uuid, group_id: $p.space}) USING INDEX SEEK c:FactClaim(fact_uuid)
WITH c, uuid, a.uuid AS source, b.uuid AS target, c.document_id AS document_id, c.given AS given
DELETE c
RETURN document_id, uuid, source, target, given
