// Deletes a document's past claims to the given facts.
UNWIND $p.uuids AS uuid
MATCH (c:BraidPastClaim {group_id: $p.space, document_id: $p.document_id, fact_uuid: uuid}) USING INDEX SEEK c:BraidPastClaim(group_id, document_id, fact_uuid)
DELETE c
