// Returns facts that claimants state, with the ends as stated, a page of each claimant's.
UNWIND $p.claimants AS claimant
CALL (claimant) {
  MATCH (c:FactClaim {group_id: $p.space, claimant: claimant}) USING INDEX SEEK c:FactClaim(group_id, claimant, fact_uuid) WHERE c.fact_uuid >= ''
  RETURN c LIMIT $p.limit
}
WITH claimant, c.fact_uuid AS uuid, c.given AS given
MATCH (a)-[e:RELATES_TO {uuid: uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid)
RETURN claimant, uuid, given, e.name AS relation, e.fact AS fact, e.valid_at AS valid_at,
  CASE WHEN e.stated_until IS NULL THEN e.invalid_at ELSE e.stated_at END AS invalid_at,
  [n IN [a, b] | [n.name, coalesce([l IN labels(n) WHERE l <> 'Entity'][0], ''), n.braid_types, n.braid_types_until]] AS ends
