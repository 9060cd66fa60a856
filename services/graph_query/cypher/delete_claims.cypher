// Drops what the given documents claimed; tells of which facts, and how their ends were given.
UNWIND $p.documents AS document_id
MATCH (c:FactClaim {group_id: $p.space, document_id: document_id}) WHERE c.fact_uuid >= ''
WITH c, c.fact_uuid AS uuid, c.given AS given
DELETE c
WITH uuid, given
MATCH (a)-[:RELATES_TO {uuid: uuid}]->(b)
RETURN uuid, a.uuid AS source, b.uuid AS target, given
