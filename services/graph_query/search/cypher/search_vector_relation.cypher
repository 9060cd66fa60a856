// Stated facts of a relation nearest to a vector, as uuids with scores, statements and relations, by the approximate
// index, whose filter covers space, relation and time; past events too, if the relation is an event.
CYPHER 25
CALL () {
  MATCH ()-[e:RELATES_TO]->()
  SEARCH e IN (VECTOR INDEX braid_fact_meaning FOR $p.vector
    WHERE e.group_id = $p.space AND e.relation_key = $p.relation AND e.valid_from <= $p.until AND e.valid_until > $p.since LIMIT $p.fetch) SCORE AS score
  RETURN e, score
  UNION ALL
  MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE $p.since = $p.until
  UNWIND [key IN o.events WHERE key = $p.relation] AS key
  CALL (key) {
    MATCH ()-[e:RELATES_TO]->()
    SEARCH e IN (VECTOR INDEX braid_fact_meaning FOR $p.vector
      WHERE e.group_id = $p.space AND e.relation_key = key AND e.valid_until <= $p.since LIMIT $p.fetch) SCORE AS score
    RETURN e, score
  }
  WITH e, score WHERE e.valid_until <= (floor(e.valid_from / 86400) + 1) * 86400 AND e.expired_at IS NULL
  RETURN e, score
}
WITH e, score ORDER BY score DESC, e.uuid LIMIT $p.fetch
RETURN collect([e.uuid, score * 2 - 1, e.fact, e.name]) AS hits
