// Facts nearest to a vector by the approximate index, those of them that were known at an instant.
CYPHER 25
MATCH ()-[e:RELATES_TO]->()
SEARCH e IN (VECTOR INDEX braid_fact_meaning FOR $p.vector WHERE e.group_id = $p.space LIMIT $p.fetch) SCORE AS score
WITH e, score
WHERE e.braid_known_from <= $p.known AND e.valid_from <= $p.until AND e.valid_until > $p.since
  OR EXISTS {
    MATCH (v:FactVersion {fact_uuid: e.uuid}) USING INDEX SEEK v:FactVersion(fact_uuid)
    WHERE v.known_from <= $p.known AND v.known_until > $p.known AND v.valid_from <= $p.until AND v.valid_until > $p.since
  }
WITH e, score ORDER BY score DESC, e.uuid LIMIT $p.limit
RETURN collect([e.uuid, score * 2 - 1]) AS hits
