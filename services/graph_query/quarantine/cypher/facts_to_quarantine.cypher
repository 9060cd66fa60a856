// Returns facts with everything that is recorded of them: the current state, who states it, how it ends, and its past
// versions. A fact that is only past has no current state.
UNWIND $p.uuids AS uuid
OPTIONAL MATCH (a)-[e:RELATES_TO {uuid: uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
RETURN uuid, properties(e) AS fact,
  CASE WHEN e IS NULL THEN null ELSE [a.name, coalesce([l IN labels(a) WHERE l <> 'Entity'][0], ''), a.braid_types, a.braid_types_until] END AS source,
  CASE WHEN e IS NULL THEN null ELSE [b.name, coalesce([l IN labels(b) WHERE l <> 'Entity'][0], ''), b.braid_types, b.braid_types_until] END AS target,
  COLLECT { MATCH (c:FactClaim {fact_uuid: uuid}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE c.group_id = $p.space
    WITH c ORDER BY c.document_id RETURN [c.document_id, c.given] } AS claims,
  COLLECT { MATCH (v:FactVersion {fact_uuid: uuid}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.group_id = $p.space
    WITH v ORDER BY v.known_from, v.uuid RETURN [properties(v), v:BraidPastFact] } AS versions,
  COLLECT { MATCH (x:FactEnding {fact_uuid: uuid}) USING INDEX SEEK x:FactEnding(fact_uuid) WHERE x.group_id = $p.space
    WITH x ORDER BY x.cause RETURN [x.cause, x.at] } AS endings,
  COLLECT { MATCH (c:BraidPastClaim {fact_uuid: uuid}) USING INDEX SEEK c:BraidPastClaim(fact_uuid) WHERE c.group_id = $p.space
    WITH c ORDER BY c.document_id RETURN c.document_id } AS past_claims,
  COLLECT { MATCH (x:BraidPastEnding {fact_uuid: uuid}) USING INDEX SEEK x:BraidPastEnding(fact_uuid) WHERE x.group_id = $p.space
    WITH x ORDER BY x.document_id, x.cause RETURN [x.document_id, x.cause] } AS past_endings
