// Facts nearest to a vector; every existing fact that was known at an instant is compared.
CYPHER 25
MATCH ()-[e:RELATES_TO]->() USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
WHERE e.group_id = $p.space AND e.valid_from >= -$p.open AND e.uuid >= '' AND size(e.fact_embedding) = size($p.vector) AND ($p.relation = '' OR e.relation_key = $p.relation)
  AND ($p.entity_key = '' OR e.source_node_uuid IN $p.only OR e.target_node_uuid IN $p.only)
WITH e
WHERE e.braid_known_from <= $p.known AND e.valid_from <= $p.until AND (e.valid_until > $p.since
      OR $p.since = $p.until AND e.valid_until <= (floor(e.valid_from / 86400) + 1) * 86400 AND e.expired_at IS NULL
          AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE e.relation_key IN o.events })
  OR EXISTS {
    MATCH (v:FactVersion {fact_uuid: e.uuid}) USING INDEX SEEK v:FactVersion(fact_uuid)
    WHERE v.known_from <= $p.known AND v.known_until > $p.known AND v.valid_from <= $p.until AND (v.valid_until > $p.since
      OR $p.since = $p.until AND v.valid_until <= (floor(v.valid_from / 86400) + 1) * 86400 AND coalesce(v.stated_until, v.valid_until) <= v.valid_until
          AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(v.relation_key, toLower(v.name)) IN o.events })
  }
WITH e, vector.similarity.cosine(e.fact_embedding, $p.vector) AS score ORDER BY score DESC, e.uuid LIMIT $p.limit
RETURN collect([e.uuid, score * 2 - 1]) AS hits
