// Stated facts by their words beyond the first ones, for filters that few of the facts with these words pass.
CYPHER 25
CALL db.index.fulltext.queryRelationships('braid_fact_terms', $p.lucene, {skip: $p.skip, limit: $p.fetch}) YIELD relationship AS e, score
WHERE e.group_id = $p.space AND coalesce(e.valid_from, -$p.open) <= $p.until AND (coalesce(e.valid_until, $p.open) > $p.since
      OR $p.since = $p.until AND e.valid_until <= (floor(e.valid_from / 86400) + 1) * 86400 AND e.expired_at IS NULL
          AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE e.relation_key IN o.events })
  AND ($p.relation = '' OR e.relation_key = $p.relation)
WITH e, score LIMIT $p.limit
RETURN collect([e.uuid, score, e.fact, e.name, e.fact_embedding IS NOT NULL]) AS text
