// Returns facts that only a document states, directly or by its episodes.
MATCH (c:FactClaim {group_id: $p.space, claimant: $p.document_id}) USING INDEX SEEK c:FactClaim(group_id, claimant, fact_uuid) WHERE c.fact_uuid >= ''
WITH c.fact_uuid AS uuid
WHERE NOT EXISTS {
  MATCH (o:FactClaim {fact_uuid: uuid}) USING INDEX SEEK o:FactClaim(fact_uuid)
  WHERE o.group_id = $p.space AND o.document_id <> $p.document_id AND NOT EXISTS {
    MATCH (p:BraidPassage {group_id: $p.space, uuid: o.episode_uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
    WHERE p.document_id = $p.document_id } }
RETURN uuid LIMIT $p.limit
