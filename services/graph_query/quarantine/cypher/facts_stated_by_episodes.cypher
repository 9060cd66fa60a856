// Returns facts that only the given episodes state.
UNWIND $p.claimants AS claimant
MATCH (c:FactClaim {group_id: $p.space, claimant: claimant}) USING INDEX SEEK c:FactClaim(group_id, claimant, fact_uuid) WHERE c.fact_uuid >= ''
WITH DISTINCT c.fact_uuid AS uuid
WHERE NOT EXISTS {
  MATCH (o:FactClaim {fact_uuid: uuid}) USING INDEX SEEK o:FactClaim(fact_uuid)
  WHERE o.group_id = $p.space AND NOT o.document_id IN $p.claimants }
RETURN uuid
