// Stated facts nearest to a vector, with scores; every fact of the space that passes the filter is compared.
CYPHER 25
MATCH ()-[e:RELATES_TO]->() USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
WHERE e.group_id = $p.space AND e.uuid >= '' AND size(e.fact_embedding) = size($p.vector) AND e.valid_from <= $p.until
  AND (e.valid_until > $p.since OR $p.since = $p.until AND e.valid_until <= (floor(e.valid_from / 86400) + 1) * 86400 AND e.expired_at IS NULL
      AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE e.relation_key IN o.events })
  AND ($p.relation = '' OR e.relation_key = $p.relation)
WITH e, vector.similarity.cosine(e.fact_embedding, $p.vector) AS score ORDER BY score DESC, e.uuid LIMIT $p.limit
RETURN collect([e.uuid, score * 2 - 1, e.fact, e.name]) AS hits
