// Stated facts nearest to a vector, with scores, by the approximate index, whose filter covers space and time; in
// addition, the nearest past events of each relation that is an event.
CYPHER 25
CALL () {
  MATCH ()-[e:RELATES_TO]->()
  SEARCH e IN (VECTOR INDEX braid_fact_meaning FOR $p.vector
    WHERE e.group_id = $p.space AND e.valid_from <= $p.until AND e.valid_until > $p.since LIMIT $p.fetch) SCORE AS score
  RETURN e, score
  UNION ALL
  MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE $p.since = $p.until
  UNWIND o.events[..$p.events] AS key
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
