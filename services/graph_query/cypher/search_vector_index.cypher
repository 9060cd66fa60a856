// Stated facts, with scores, nearest to a vector, by the approximate index with space and time inside its filter.
CYPHER 25
MATCH ()-[e:RELATES_TO]->()
SEARCH e IN (VECTOR INDEX braid_fact_meaning FOR $p.vector
  WHERE e.group_id = $p.space AND e.valid_from <= $p.until AND e.valid_until > $p.since LIMIT $p.fetch) SCORE AS score
WITH e, score ORDER BY score DESC, e.uuid LIMIT $p.limit
RETURN collect([e.uuid, score * 2 - 1, e.fact, e.name]) AS hits
