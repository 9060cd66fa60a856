// Returns the documents that claim facts, among the given ones and those of the given episodes.
CALL () {
  UNWIND $p.uuids AS uuid
  MATCH (p:BraidPassage {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
  RETURN p.document_id AS document_id
  UNION
  UNWIND $p.documents AS document_id
  RETURN document_id
}
WITH document_id
WHERE EXISTS { MATCH (c:FactClaim {group_id: $p.space, claimant: document_id}) USING INDEX SEEK c:FactClaim(group_id, claimant, fact_uuid) WHERE c.fact_uuid >= '' }
RETURN document_id
