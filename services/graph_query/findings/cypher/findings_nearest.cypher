// Findings nearest to a vector, by the approximate index; its filter covers the space and the single-valued fields.
CYPHER 25
MATCH (f:BraidFinding)
SEARCH f IN (VECTOR INDEX braid_finding_meaning FOR $p.vector
  WHERE f.group_id = $p.space AND f.kind IN $p.kinds AND f.type_key >= $p.type_from AND f.type_key <= $p.type_until
    AND f.status_key >= $p.status_from AND f.status_key <= $p.status_until AND f.owner_key >= $p.owner_from AND f.owner_key <= $p.owner_until
    AND f.confidence_key >= $p.confidence_from AND f.confidence_key <= $p.confidence_until AND f.priority IN $p.priorities
    AND f.origin IN $p.origins AND f.created >= $p.created_from AND f.created < $p.created_until
  LIMIT $p.fetch) SCORE AS score
WITH f, score ORDER BY score DESC, f.uuid LIMIT $p.limit
RETURN collect([f.uuid, score * 2 - 1]) AS hits
