// Returns the documents that claim facts, among the given ones and those of the given episodes.
CALL () {
  UNWIND $p.uuids AS uuid
  MATCH (p:BraidPassage {uuid: uuid, group_id: $p.space}) USING INDEX SEEK p:BraidPassage(uuid)
  RETURN p.document_id AS document_id
  UNION
  UNWIND $p.documents AS document_id
  RETURN document_id
}
WITH document_id
WHERE EXISTS { MATCH (c:FactClaim {group_id: $p.space, claimant: document_id}) USING INDEX SEEK c:FactClaim(group_id, claimant, fact_uuid) WHERE c.fact_uuid >= '' }
RETURN document_id
