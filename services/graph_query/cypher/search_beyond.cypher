// Stated facts by their words beyond the first: where those that pass the filter are rare among those with the words.
CYPHER 25
CALL db.index.fulltext.queryRelationships('braid_fact_terms', $p.lucene, {skip: $p.skip, limit: $p.fetch}) YIELD relationship AS e, score
WHERE e.group_id = $p.space AND coalesce(e.valid_from, -$p.open) <= $p.until AND coalesce(e.valid_until, $p.open) > $p.since
  AND ($p.relation = '' OR e.relation_key = $p.relation)
WITH e, score LIMIT $p.limit
RETURN collect([e.uuid, score]) AS text
