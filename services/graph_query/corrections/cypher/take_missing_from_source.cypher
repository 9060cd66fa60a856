// Deletes the records of facts that a source stated only before a revision, at most `limit`; returns the facts, and
// whether something else also states them.
MATCH (s:BraidFactSource {group_id: $p.space, source: $p.source}) USING INDEX SEEK s:BraidFactSource(group_id, source, fact_uuid)
WHERE s.fact_uuid >= '' AND ($p.first = 0 OR s.revision < $p.first)
WITH s LIMIT $p.limit
WITH s, s.fact_uuid AS uuid, s.shared AS shared
DELETE s
RETURN uuid, shared
  OR EXISTS { MATCH (o:BraidFactSource {fact_uuid: uuid}) USING INDEX SEEK o:BraidFactSource(fact_uuid) WHERE o.group_id = $p.space AND o.source <> $p.source }
  OR EXISTS { MATCH (c:FactClaim {fact_uuid: uuid}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE c.group_id = $p.space AND c.episode_uuid IS NOT NULL } AS supported
