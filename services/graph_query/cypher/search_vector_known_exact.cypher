// Facts nearest to a vector, every one compared that was known at an instant and is there still.
CYPHER 25
MATCH (v:FactVersion)
WHERE v.group_id = $p.space AND v.valid_from <= $p.until AND v.fact_uuid >= '' AND v.valid_until > $p.since AND v.known_from <= $p.known
  AND v.known_until > $p.known AND ($p.relation = '' OR toLower(v.name) = $p.relation)
  AND ($p.entity_key = '' OR v.source_uuid IN $p.only OR v.target_uuid IN $p.only)
MATCH ()-[e:RELATES_TO {uuid: v.fact_uuid}]->() WHERE e.fact_embedding IS NOT NULL
WITH e, vector.similarity.cosine(e.fact_embedding, $p.vector) AS score ORDER BY score DESC, e.uuid LIMIT $p.limit
RETURN collect([e.uuid, score * 2 - 1]) AS hits
