// The documents that the given episodes belong to and that claim facts.
UNWIND $p.uuids AS uuid
MATCH (p:BraidPassage {uuid: uuid, group_id: $p.space})
WITH DISTINCT p.document_id AS document_id
WHERE EXISTS { MATCH (c:FactClaim {group_id: $p.space, document_id: document_id}) WHERE c.fact_uuid >= '' }
RETURN document_id
